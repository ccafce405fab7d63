"""Stereolithography's .stl surfaces, text and binary: triangles without common points; equal points are made one.

They are written in binary, whose coordinates have single precision.
"""

import re
from pathlib import Path

import numpy as np

from ..errors import MeshError
from .raw_mesh import RawMesh, parsed
from .tri_mesh import TriMesh, area_vectors

RECORD = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
HEADER_BYTES = 80
TITLE = b"binary STL, written by pliant"
"""What stands in the header; not `solid`, with which texts begin."""
VERTEX = re.compile(rb"\bvertex\s+(\S+)\s+(\S+)\s+(\S+)")


def read_stl(path: Path) -> RawMesh:
    """Points and triangles; a file is binary if its length is that of so many triangles as it says."""
    data = path.read_bytes()
    corners = binary_corners(data) if is_binary(data) else text_corners(data)
    if not (np.abs(corners) < np.inf).all():
        raise MeshError("the .stl file holds coordinates that are not finite")
    points, numbers = np.unique(corners, axis=0, return_inverse=True)
    return RawMesh(points, [("triangle", numbers.reshape(-1, 3))])


def is_binary(data: bytes) -> bool:
    """Whether the file is binary."""
    count = int.from_bytes(data[HEADER_BYTES : HEADER_BYTES + 4], "little")
    return len(data) >= HEADER_BYTES + 4 and len(data) == HEADER_BYTES + 4 + count * RECORD.itemsize


def binary_corners(data: bytes) -> np.ndarray:
    """Corners (3 n, 3) of all triangles."""
    return np.frombuffer(data, RECORD, offset=HEADER_BYTES + 4)["corners"].reshape(-1, 3).astype(np.float64)


def text_corners(data: bytes) -> np.ndarray:
    """Corners (3 n, 3) of all triangles."""
    words = VERTEX.findall(data) if data.lstrip()[:5].lower() == b"solid" else []
    if not words:
        raise MeshError("not a .stl file: neither a text of triangles nor as long as so many as it says")
    whole = data.rstrip().rpartition(b"\n")[2].split()[:1] == [b"endsolid"]
    if not whole or data.count(b"endfacet") * 3 != len(words):
        raise MeshError("the .stl file ends too early, or has facets that are no triangles")
    flat = [word for corner in words for word in corner]
    return parsed(flat, "the corners of the .stl file", np.float64).reshape(-1, 3)


def stl_bytes(mesh: TriMesh) -> bytes:
    """The file of a surface; triangles without area have a normal of zero."""
    corners = mesh.points[mesh.triangles]
    if not (np.abs(corners) <= np.finfo(np.float32).max).all():
        raise MeshError(".stl files hold numbers of single precision, below 3.4e38; use .ply or .obj")
    normals = area_vectors(mesh.points, mesh.triangles)
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    records = np.zeros(len(mesh.triangles), RECORD)
    records["normal"] = np.divide(normals, lengths, out=np.zeros_like(normals), where=lengths > 0)
    records["corners"] = corners
    return TITLE.ljust(HEADER_BYTES) + len(records).to_bytes(4, "little") + records.tobytes()
