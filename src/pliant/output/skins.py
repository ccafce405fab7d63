"""The surfaces of soft bodies as they are drawn and exported: the boundary of the mesh, or a drawing that follows."""

import numpy as np

from pliant.meshes import TriMesh
from pliant.meshes.shaping import find_features

SHARP = 40.0
"""Drawn surfaces look rounded where they turn by less than this [degrees], and have an edge where they turn by more."""


class Skin:
    """What is seen of a soft body: triangles (m, 3) between k points; of a sheet there are two sides.

    shaded: points of a drawing on sharp edges are there once for every side, so that shading does not round them.
    """

    def __init__(self, body, shaded: bool = False):
        self.embedded, self.sheet = body.embedding, isinstance(body.mesh, TriMesh)
        if self.embedded is None:
            self.nodes, triangles = np.unique(body.mesh.boundary_triangles, return_inverse=True)
        elif shaded:
            corners = body.drawing.triangles.astype(np.int64)
            patch = find_features(body.drawing.points, corners, SHARP).patch
            sides, triangles = np.unique(corners * (patch.max() + 1) + patch[:, None], return_inverse=True)
            self.nodes = sides // (patch.max() + 1)
        else:
            self.nodes, triangles = np.arange(len(body.drawing.points)), body.drawing.triangles
        self.triangles = triangles.reshape(-1, 3)

    def at(self, values: np.ndarray) -> np.ndarray:
        """Positions (k, 3) or a field (k, ...) at the points, from those at the nodes of the body (n, ...)."""
        return (np.asarray(values) if self.embedded is None else self.embedded.follow(values))[self.nodes]


def skin_surface(body, positions: np.ndarray) -> TriMesh:
    """The skin of a soft body with its nodes at positions (n, 3) [m]."""
    skin = Skin(body)
    return TriMesh.trusted(skin.at(positions), skin.triangles)
