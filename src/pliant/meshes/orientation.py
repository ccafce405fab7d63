"""Which way closed pieces of a surface point: outward, and those wholly inside others, which are cavities, inward."""

from __future__ import annotations

import numpy as np

from .compiled import collision_kernels
from .meetings import overlaps
from .passing import Passages, passages
from .repair import consistent_orientation, is_closed, signed_volume

SEEN = 8
"""Corners, and middles of triangles, at most, by which a piece is seen to be inside another."""


def orient_surface(points: np.ndarray, triangles: np.ndarray, passed: Passages | None = None) -> np.ndarray:
    """Flip triangles so that neighbours agree, and so that closed pieces point outward.

    Pieces that pass through each other, as `passed` says, or is found out, are one body and each point outward. What
    lies wholly inside another body is a cavity and points inward, away from the solid; pieces there that pass through
    each other point as they did. Open pieces keep the orientation of most of their triangles.
    """
    piece, flipped = consistent_orientation(triangles, len(points))
    oriented = np.where(flipped[:, None], triangles[:, ::-1], triangles)
    members = np.split(np.argsort(piece, kind="stable"), np.cumsum(np.bincount(piece))[:-1])
    closed = np.array([is_closed(oriented[some], len(points)) for some in members])
    for number, some in enumerate(members):
        if signed_volume(points, oriented[some]) < 0 if closed[number] else flipped[some].mean() > 0.5:
            oriented[some] = oriented[some, ::-1]
    if len(members) == 1:
        return oriented
    inner, outer = _boxes_that_meet(points, oriented, members)
    if not len(inner):
        return oriented
    passed = passages(points, triangles) if passed is None else passed
    body = _bodies(passed.pieces, len(members))
    cavities = []
    for number in np.unique(inner[closed[inner]]):
        around = np.unique(body[outer[(inner == number) & closed[outer]]])
        bodies = [np.flatnonzero((body == one) & closed) for one in around if one != body[number]]
        depth = sum(_is_inside(points, oriented, members, number, others) for others in bodies)
        some = members[number]
        alone = (body == body[number]).sum() == 1
        if depth % 2 and (alone or (triangles[some] != oriented[some]).any(axis=1).mean() > 0.5):
            cavities.append(some)
    for some in cavities:
        oriented[some] = oriented[some, ::-1]
    return oriented


def _boxes_that_meet(points: np.ndarray, triangles: np.ndarray, members: list) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of pieces whose boxes overlap, both ways round: the first and the second of each."""
    corners = [points[triangles[some]].reshape(-1, 3) for some in members]
    boxes = np.array([[some.min(axis=0), some.max(axis=0)] for some in corners])
    pairs = overlaps(boxes, boxes)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    return pairs[:, 0], pairs[:, 1]


def _bodies(pairs: np.ndarray, count: int) -> np.ndarray:
    """The number of the body (count,) of each piece: pieces that pass through each other are one body."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    graph = coo_array((np.ones(len(pairs), np.int8), tuple(pairs.T)), shape=(count, count))
    return connected_components(graph, directed=False)[1]


def _is_inside(points: np.ndarray, triangles: np.ndarray, members: list, number: int, others: np.ndarray) -> bool:
    """Whether other pieces, which point outward, wind around one that does not pass through them.

    Of some of its points that is taken whose winding number is nearest to a whole one: others may lie on the surface.
    """
    own = triangles[members[number]]
    own = own[:: -(-len(own) // SEEN)]
    around = np.ascontiguousarray(np.concatenate([triangles[members[other]] for other in others]), np.int64)
    seen = np.concatenate([points[own[:, 0]], points[own].mean(axis=1)])
    winding = np.empty(len(seen))
    collision_kernels().intersections.windings(seen, points, around, winding)
    return bool(winding[np.abs(winding - np.rint(winding)).argmin()] > 0.5)
