"""Where the boundary of a mesh meets itself: faces that pass through or touch each other, neighbours folded together.

Upright tets do not exclude it: nodes that move onto sharp edges may carry the boundary over other parts of it. Two
faces with one node in common cross only if the edge of one that is opposite to it meets the other, hence edges and
faces without a common node are compared; two with a common edge meet elsewhere only if folded flat onto each other.
"""

from __future__ import annotations

import numpy as np

from ..errors import MeshError
from . import topology
from .meetings import meetings
from .surface_faults import Fault, crossed_triangles
from .tri_mesh import area_vectors

NARROW = 5.0
"""Outer angle between neighbouring faces [degrees] below which moving nodes must not bring it."""
FLAT = 0.01
"""Outer angle [degrees] below which neighbouring faces lie on each other."""


class Boundary:
    """Outward faces (m, 3) of a closed boundary over so many points, their edges, and the two faces at each edge."""

    def __init__(self, faces: np.ndarray, count: int):
        self.faces = np.ascontiguousarray(faces, np.int64)
        directed = self.faces[:, topology.TRIANGLE_EDGES].reshape(-1, 2)
        group, counts = topology.group_counts(topology.set_keys(directed, count))
        order = np.argsort(group, kind="stable")
        first = np.cumsum(counts) - counts
        self.edges = np.sort(directed[order[first]], axis=1)
        self.joined = np.flatnonzero(counts == 2)
        self._sides = order[first[self.joined][:, None] + np.arange(2)] // 3

    def outer_angles(self, points: np.ndarray) -> np.ndarray:
        """Angles (e,) [degrees] outside of the edges in `joined`, between their faces: 180 where it is flat, near 0 or
        360 where the faces lie on each other."""
        normals = area_vectors(points, self.faces)
        normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)
        one, other = normals[self._sides[:, 0]], normals[self._sides[:, 1]]
        ends = self.edges[self.joined]
        opposite = self.faces[self._sides[:, 1]].sum(axis=1) - ends.sum(axis=1)
        rising = np.einsum("ij,ij->i", one, points[opposite] - points[ends[:, 0]])
        turn = np.arctan2(np.linalg.norm(np.cross(one, other), axis=1), np.einsum("ij,ij->i", one, other))
        return 180.0 - np.copysign(np.degrees(turn), rising)

    def tangled(self, points: np.ndarray, moved: np.ndarray, least: np.ndarray) -> np.ndarray:
        """Nodes where the boundary meets itself or neighbours are closer than `least` (e,) [degrees] from outside, of
        faces with a node that has moved (n,)."""
        faces, edges = moved[self.faces].any(axis=1), moved[self.edges].any(axis=1)
        folded = self.edges[self.joined[self.outer_angles(points) < least]]
        found = [folded[moved[folded].any(axis=1)].ravel()]
        for some_edges, some_faces in ((self.edges[edges], self.faces), (self.edges[~edges], self.faces[faces])):
            if len(some_edges) and len(some_faces):
                pairs, _ = meetings(points, some_edges, some_faces)
                found += [some_edges[pairs[:, 0]].ravel(), some_faces[pairs[:, 1]].ravel()]
        return np.unique(np.concatenate(found))

    def faults(self, points: np.ndarray) -> list[Fault]:
        """Where the boundary meets itself, and where neighbouring faces lie on each other."""
        pairs, _ = meetings(points, self.edges, self.faces)
        found = crossed_triangles("faces of the boundary that others pass through or touch", points, self.edges, pairs)
        folded = self.edges[self.joined[self.outer_angles(points) < FLAT]]
        if len(folded):
            found.append(Fault("edges at which the boundary is folded", "edge", folded, points[folded].mean(axis=1)))
        return found


def refuse_tangles(points: np.ndarray, faces: np.ndarray, remedy: str) -> None:
    """Raise MeshError that says what to use, and names the places, where a boundary with outward faces (m, 3) over
    points (n, 3) [m] meets itself."""
    found = Boundary(faces, len(points)).faults(points)
    if found:
        lines = "\n".join(f"  {fault}" for fault in found)
        raise MeshError(f"the boundary of the mesh meets itself; use {remedy}:\n{lines}")
