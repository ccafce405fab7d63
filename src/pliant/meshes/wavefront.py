"""Wavefront .obj surfaces: points, faces (polygons are cut into fans of triangles) and groups, which become sets."""

from pathlib import Path

import numpy as np

from ..checks import shown
from ..errors import MeshError
from .raw_mesh import RawMesh
from .tet_mesh import TetMesh
from .tri_mesh import TriMesh

MOST_GROUPS = 100
"""To how many groups a face belongs at most."""


def read_wavefront(path: Path) -> RawMesh:
    """Read points, faces and the names of objects and groups; all else is skipped."""
    points: list[list[float]] = []
    triangles: list[list[int]] = []
    groups: dict[str, list[int]] = {}
    current: list[list[int]] = []
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        words = line.split("#", 1)[0].split()
        keyword = words[0] if words else ""
        try:
            if keyword == "v":
                points.append([float(word) for word in words[1:4]])
            elif keyword == "f":
                fan = face_fan(words[1:], len(points))
                triangles += fan
                for group in current:
                    group += [node for triangle in fan for node in triangle]
            elif keyword in ("g", "o"):
                if len(words) > MOST_GROUPS:
                    raise ValueError(f"more than {MOST_GROUPS} groups at once")
                current = [groups.setdefault(name, []) for name in words[1:]]
        except ValueError as error:
            said = shown(line.strip())
            raise MeshError(f"line {number} of the .obj file makes no sense: {said} ({error})") from None
    if any(len(point) != 3 for point in points):
        raise MeshError("every 'v' line of an .obj file needs three coordinates")
    cells = [("triangle", np.array(triangles, dtype=np.int64))] if triangles else []
    sets = {name: [np.array(nodes, dtype=np.int64)] for name, nodes in groups.items() if nodes}
    return RawMesh(np.array(points).reshape(-1, 3), cells, sets)


def face_fan(words: list[str], point_count: int) -> list[list[int]]:
    """Triangles of a face line; indices count from 1, or backward from the last point when negative."""
    if len(words) < 3:
        raise ValueError("a face needs three points at least")
    nodes = [int(word.split("/", 1)[0]) for word in words]
    if 0 in nodes:
        raise ValueError("points are numbered from 1")
    nodes = [node - 1 if node > 0 else point_count + node for node in nodes]
    return [[nodes[0], nodes[i], nodes[i + 1]] for i in range(1, len(nodes) - 1)]


def wavefront_text(mesh: TetMesh | TriMesh) -> str:
    """Text of an .obj file; sets are not kept."""
    points = ("v " + " ".join(map(repr, point)) for point in mesh.points.tolist())
    faces = ("f " + " ".join(map(str, row)) for row in (mesh.triangles + 1).tolist())
    return "\n".join([*points, *faces]) + "\n"
