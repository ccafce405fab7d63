"""Where a surface passes through itself, told apart from where it merely touches itself.

An edge and a triangle that have points in common do not decide it alone: bodies along the same planes cross edge on
edge, and bodies that stand on each other touch so. But two pieces that touch come apart when each moves along its
normals by next to nothing, inward or outward: both inward if they lie side by side, one of them outward if it holds the
other. Two that pass through each other still do, whichever way they move. What happens by accident along the same
planes goes away because all points move by a little more or less than that, each in its own way.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import MeshError
from . import topology
from .meetings import CROSSING, answers, meetings, overlaps
from .repair import MERGE_TOLERANCE, consistent_orientation

SCATTER = 0.1
"""By how much, in parts of the way that points move along their normals, each is moved at random as well."""
LEAST_COSINE = 0.1
"""Where a normal of a point is steeper to a triangle than this, the point moves no farther for it."""
WAYS = ((1, 1), (0, 0), (0, 1), (1, 0))
"""How two pieces move: inward (1) or outward (0)."""


@dataclass(frozen=True, eq=False)
class Passages:
    """Edges (k, 2) that pass through triangles, the indices (k,) of these, the pieces (k, 2) of both, and pairs of
    pieces (j, 2), the lower first, that pass through each other or touch."""

    edges: np.ndarray
    triangles: np.ndarray
    pieces: np.ndarray
    touching: np.ndarray


@dataclass(frozen=True, eq=False)
class _Moved:
    """The triangles near places that have to be looked at, with points of their own for each piece.

    points: (2 c, 3), moved outward, then inward. triangles: (m, 3) of the first c points, and their indices (m,) in the
    surface. piece, node: (c,), that a point belongs to, and its index in the surface.
    """

    points: np.ndarray
    triangles: np.ndarray
    indices: np.ndarray
    piece: np.ndarray
    node: np.ndarray


def passages(points: np.ndarray, triangles: np.ndarray) -> Passages:
    """Where edges of a surface with points (n, 3) [m] and triangles (m, 3) pass through triangles without a common
    node; places where it only touches itself, to MERGE_TOLERANCE of its diagonal, are none."""
    edges = topology.unique_edges(triangles, topology.TRIANGLE_EDGES, len(points)).astype(np.int64)
    met, _ = meetings(points, edges, triangles)
    if not len(met):
        pairs = np.empty((0, 2), np.int64)
        return Passages(pairs, pairs[:, 0], pairs, pairs)
    near = np.zeros(len(points), bool)
    near[edges[met[:, 0]]] = True
    near[triangles[met[:, 1]]] = True
    moved = _moved(points, np.asarray(triangles, np.int64), near[triangles].any(axis=1))
    return _that_stay(moved)


def _moved(points: np.ndarray, triangles: np.ndarray, near: np.ndarray) -> _Moved:
    """The triangles in the mask (m,), moved outward and inward."""
    try:
        piece, flipped = consistent_orientation(triangles, len(points))
    except MeshError:  # with one side only
        piece, flipped = np.zeros(len(triangles), np.int64), np.zeros(len(triangles), bool)
    triangles = np.where(flipped[:, None], triangles[:, ::-1], triangles)
    keys, own = np.unique(piece[:, None] * len(points) + triangles, return_inverse=True)
    node, own = keys % len(points), own.reshape(-1, 3)
    corners = points[triangles].reshape(-1, 3)
    way = MERGE_TOLERANCE * np.linalg.norm(np.ptp(corners, axis=0))
    start = points[node] - corners.mean(axis=0)
    normals, scatter = _normals(start, own), np.random.default_rng(0).uniform(-SCATTER, SCATTER, (2, len(node), 3))
    both = np.concatenate([start + way * (normals + scatter[0]), start - way * (normals + scatter[1])])
    return _Moved(both, np.ascontiguousarray(own[near]), np.flatnonzero(near), keys // len(points), node)


def _normals(points: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Normals (n, 3) at points, as long as brings all triangles (m, 3) around at least 1 forward, if any can."""
    corners = points[triangles]
    sides = np.roll(corners, -1, axis=1) - corners
    sides /= np.maximum(np.linalg.norm(sides, axis=2, keepdims=True), 1e-300)
    angles = np.arccos(np.clip(-np.einsum("mij,mij->mi", sides, np.roll(sides, 1, axis=1)), -1, 1))
    faces = np.cross(sides[:, 0], sides[:, 1])
    faces /= np.maximum(np.linalg.norm(faces, axis=1, keepdims=True), 1e-300)
    nodes, parts = triangles.ravel(), (angles[:, :, None] * faces[:, None]).reshape(-1, 3)
    normals = np.column_stack([np.bincount(nodes, part, len(points)) for part in parts.T])
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)
    cosine = np.ones(len(points))
    np.minimum.at(cosine, nodes, np.einsum("mij,mj->mi", normals[triangles], faces).ravel())
    return normals / np.maximum(cosine, LEAST_COSINE)[:, None]


def _that_stay(moved: _Moved) -> Passages:
    """What passes through each other in whatever way its pieces move, and pieces that do in some way."""
    edges = topology.unique_edges(moved.triangles, topology.TRIANGLE_EDGES, len(moved.node)).astype(np.int64)
    pairs = _strangers(moved, edges)
    pieces = np.column_stack([moved.piece[edges[pairs[:, 0], 0]], moved.piece[moved.triangles[pairs[:, 1], 0]]])
    together, group = np.unique(np.sort(pieces, axis=1), axis=0, return_inverse=True)
    group, single = group.reshape(-1), together[:, 0] == together[:, 1]
    crossing = [_crossing(moved, edges, pairs, pieces, ways) for ways in WAYS]
    seen = np.array([np.bincount(group[found], minlength=len(together)) > 0 for found in crossing])
    always = np.all([met | (single & (one != other)) for met, (one, other) in zip(seen, WAYS)], axis=0)
    found = crossing[0] & always[group]
    indices = moved.indices[pairs[found, 1]]
    return Passages(moved.node[edges[pairs[found, 0]]], indices, pieces[found], together[seen.any(axis=0) & ~single])


def _strangers(moved: _Moved, edges: np.ndarray) -> np.ndarray:
    """Pairs (k, 2) of edges and triangles that may meet on their way, without a common node."""
    count = len(moved.node)
    pairs = overlaps(*(moved.points[np.concatenate([of, of + count], axis=1)] for of in (edges, moved.triangles)))
    ends, corners = moved.node[edges[pairs[:, 0]]], moved.node[moved.triangles[pairs[:, 1]]]
    return np.ascontiguousarray(pairs[~(ends[:, :, None] == corners[:, None]).any(axis=(1, 2))])


def _crossing(moved: _Moved, edges: np.ndarray, pairs: np.ndarray, pieces: np.ndarray, ways: tuple) -> np.ndarray:
    """Which pairs cross when the piece with the lower number moves the first way, the other the second."""
    count, crossing = len(moved.node), np.zeros(len(pairs), bool)
    swapped = pieces[:, 0] > pieces[:, 1]
    for which, one, other in ((~swapped, *ways), (swapped, *ways[::-1])):
        shifted = edges + one * count, moved.triangles + other * count
        crossing[which] = answers(pairs[which], moved.points, *shifted) == CROSSING
    return crossing
