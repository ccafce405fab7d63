"""Meshes: tet solids and triangle surfaces, generated, checked, measured, read and written; no physics."""

from .figures import figure
from .files import read, write
from .from_surface import MeshingOptions, tetrahedralize
from .generate import box, cylinder, sphere
from .mesh_quality import Quality, quality
from .sheets import disk, grid
from .tet_mesh import TetMesh
from .tri_mesh import TriMesh

__all__ = [
    "MeshingOptions",
    "Quality",
    "TetMesh",
    "TriMesh",
    "box",
    "cylinder",
    "disk",
    "figure",
    "grid",
    "quality",
    "read",
    "sphere",
    "tetrahedralize",
    "write",
]
