"""What a file held, before it becomes a checked mesh; and what is to be written into one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from ..checks import shown
from ..errors import MeshError
from .checks import LARGEST, check_elements, check_points, check_sets, name_some
from .tet_mesh import TetMesh, tet_volumes
from .topology import inside_out
from .tri_mesh import TriMesh

LONGEST_NUMBER = 100
"""Letters of a number at most."""

TETS = {"tetra": 4, "tetra10": 10}
"""Nodes of the cells that are tets."""
COMPANIONS = {
    "tetra": {"tetra", "triangle", "quad", "line", "vertex"},
    "tetra10": {"tetra10", "triangle6", "triangle", "line3", "line", "vertex"},
    "triangle": {"triangle", "line", "vertex"},
}
"""What else a file may hold besides the cells that make the mesh; it counts for sets only."""
ALLOWED = "tets of 4 or 10 nodes, or triangles of 3"


@dataclass
class RawMesh:
    """points (n, 2 or 3) [m]; cells by type name, each (m, k) indices; sets of node indices by name, in pieces.

    The nodes of tetra10 are in the order of VTK's type 24: corners, midpoints of the edges 01, 12, 02, 03, 13, 23.
    """

    points: np.ndarray
    cells: list[tuple[str, np.ndarray]] = field(default_factory=list)
    sets: dict[str, list[np.ndarray]] = field(default_factory=dict)

    def add_to_set(self, name: str, nodes: np.ndarray) -> None:
        """Add nodes to a named set, which is made when new."""
        self.sets.setdefault(name, []).append(np.asarray(nodes, dtype=np.int64).ravel())

    def add_references(self, prefix: str, references: np.ndarray, nodes: np.ndarray) -> None:
        """Make a set prefix_N of the nodes (m, ...) whose reference (m,) is N, for every N but zero."""
        for reference, own in grouped(references):
            if reference != 0:
                self.add_to_set(f"{prefix}_{int(reference)}", nodes[own])

    def joined(self, cell_type: str, width: int) -> np.ndarray:
        """All cells of one type, (m, width)."""
        blocks = [block for name, block in self.cells if name == cell_type]
        return np.concatenate(blocks) if blocks else np.zeros((0, width), dtype=np.int64)

    def triangles(self) -> tuple[np.ndarray, np.ndarray]:
        """Points (n, 3) [m] and triangles (m, 3) of a surface, checked as arrays only. Raises MeshError."""
        if self._main_kind() != "triangle":
            raise MeshError("the file holds tets; a surface of triangles is needed")
        points = check_points(self._solid_points())
        return points, check_elements(self.joined("triangle", 3), (3,), len(points), "triangles")

    def as_given(self) -> TetMesh | TriMesh:
        """The mesh, of which tets are checked, and triangles as arrays only. Raises MeshError."""
        if self._main_kind() in TETS:
            return self.build(False)
        points, triangles = self.triangles()
        return TriMesh.trusted(points, triangles, check_sets(self._joined_sets(), len(points)))

    def build(self, repair: bool) -> TetMesh | TriMesh:
        """Make the checked mesh: of tets where there are any, else of triangles. Raises MeshError."""
        kind = self._main_kind()
        points, sets = self._solid_points(), self._joined_sets()
        if kind in TETS:
            tets = usual_orientation(points, self.joined(kind, TETS[kind]))
            return TetMesh(points, tets, sets, repair)
        return TriMesh(points, self.joined("triangle", 3), sets, repair)

    def _main_kind(self) -> str:
        """The type of the cells that make the mesh; MeshError where others would be lost."""
        found = {name for name, block in self.cells if len(block)}
        kind = main_kind(found)
        lost = found - COMPANIONS[kind]
        if lost:
            kept = {"tetra": "tets", "tetra10": "tets of 10 nodes", "triangle": "triangles"}[kind]
            raise MeshError(f"cells other than {kept} inside: {', '.join(sorted(lost))}; split them or save without")
        return kind

    def _solid_points(self) -> np.ndarray:
        """The points with three coordinates, where they have two or three."""
        points = np.asarray(self.points, dtype=np.float64)
        if points.ndim == 2 and points.shape[1] == 2:
            points = np.column_stack([points, np.zeros(len(points))])
        return points

    def _joined_sets(self) -> dict[str, np.ndarray]:
        """The nodes of each set, once each."""
        return {name: np.unique(np.concatenate(parts)) for name, parts in self.sets.items()}


def main_kind(found: set[str]) -> str:
    """The type of the cells that make the mesh, among those found in a file; MeshError when there are none or two."""
    if TETS.keys() <= found:
        raise MeshError(
            "tets of 4 nodes (tetra) and of 10 nodes (tetra10) in one file cannot be mixed; save all of one order"
        )
    for kind in (*TETS, "triangle"):
        if kind in found:
            return kind
    listed = ", ".join(sorted(found)) or "none"
    raise MeshError(f"no tets or triangles inside; cell types found: {listed}. Save {ALLOWED}")


def usual_orientation(points: np.ndarray, tets: np.ndarray) -> np.ndarray:
    """Flip all tets when most have the orientation of VTK and Gmsh, which is the opposite of ours."""
    if not tets.size or tets.min() < 0 or tets.max() >= len(points) or not (np.abs(points) < LARGEST).all():
        return tets
    mostly_flipped = (tet_volumes(points, tets) < 0).sum() * 2 > len(tets)
    return inside_out(tets) if mostly_flipped else tets


def cell_block(mesh: TetMesh | TriMesh) -> tuple[str, np.ndarray]:
    """Type and cells (m, k) of a mesh for a file: "triangle", "tetra" or "tetra10", nodes in the order of VTK."""
    if isinstance(mesh, TetMesh):
        return "tetra" if mesh.order == 1 else "tetra10", inside_out(mesh.tets)
    return "triangle", mesh.triangles


def numbers(tokens: list[str], count: int, what: str, dtype: type = np.float64) -> np.ndarray:
    """The first count tokens as numbers (count,), or MeshError when there are fewer or they are no numbers."""
    if count < 0:
        raise MeshError(f"{what}: a count is negative")
    if len(tokens) < count:
        raise MeshError(f"the file ends too early: {what} need {count} numbers, but only {len(tokens)} follow")
    return parsed(tokens[:count], what, dtype)


def parsed(words: list, what: str, dtype: type) -> np.ndarray:
    """Words as numbers, or MeshError; each word takes as much room as the longest, so that is limited."""
    if not words:
        return np.zeros(0, dtype)
    longest = max(words, key=len)
    if len(longest) > LONGEST_NUMBER:
        raise MeshError(f"{what} must be numbers, got {shown(longest)}")
    try:
        return np.array(words, dtype=np.bytes_).astype(dtype)
    except (ValueError, OverflowError) as error:
        raise MeshError(f"{what} must be numbers: {error}") from None


def grouped(values: np.ndarray) -> Iterator[tuple]:
    """Each different value, ascending, and the indices (k,) at which it stands, in order."""
    order = np.argsort(values, kind="stable")
    different, starts = np.unique(values[order], return_index=True)
    yield from zip(different, np.split(order, starts[1:]) if len(starts) else [])


def fan_triangles(corners: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Triangles (m, 3) of polygons: their corners one after the other, and how many each has."""
    starts = np.cumsum(sizes) - sizes
    fans = np.maximum(sizes - 2, 0)
    own = np.repeat(np.arange(len(sizes)), fans)
    place = np.arange(len(own)) - np.repeat(np.cumsum(fans) - fans, fans)
    first = starts[own]
    return corners[np.stack([first, first + place + 1, first + place + 2], axis=1)].reshape(-1, 3)


def check_consecutive(tags: np.ndarray, what: str) -> int:
    """First of the consecutive numbers (n,), or MeshError that names where they break."""
    broken = np.flatnonzero(np.diff(tags) != 1)
    if len(broken):
        raise MeshError(f"{what} must be numbered one after the other, but are not after {name_some(tags[broken])}")
    return int(tags[0]) if len(tags) else 0
