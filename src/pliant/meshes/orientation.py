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
    lies wholly inside another body without touching it is a cavity and points inward, away from the solid; pieces
    there that pass through each other point as they did. Open pieces keep the orientation of most of their triangles.
    """
    piece, flipped = consistent_orientation(triangles, len(points))
    oriented = np.where(flipped[:, None], triangles[:, ::-1], triangles)
    members = np.split(np.argsort(piece, kind="stable"), np.cumsum(np.bincount(piece))[:-1])
    closed = np.array([is_closed(oriented[some], len(points)) for some in members])
    for number, some in enumerate(members):
        if signed_volume(points, oriented[some]) < 0 if closed[number] else flipped[some].mean() > 0.5:
            oriented[some] = oriented[some, ::-1]
    inner, outer = _boxes_that_meet(points, [oriented[some] for some in members], closed)
    if len(inner):
        passed = passages(points, triangles) if passed is None else passed
        outward = [oriented[some] for some in members]
        same = np.array([(triangles[some] == oriented[some]).all(axis=1).mean() > 0.5 for some in members])
        for number in _cavities(points, outward, inner, outer, passed, same):
            oriented[members[number]] = outward[number][:, ::-1]
    return oriented


def _boxes_that_meet(points: np.ndarray, pieces: list, closed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of closed pieces whose boxes overlap, both ways round: the first and the second of each."""
    if closed.sum() < 2:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    corners = [points[triangles].reshape(-1, 3) for triangles in pieces]
    boxes = np.array([[some.min(axis=0), some.max(axis=0)] for some in corners])
    pairs = overlaps(boxes, boxes)
    pairs = pairs[(pairs[:, 0] != pairs[:, 1]) & closed[pairs].all(axis=1)]
    return pairs[:, 0], pairs[:, 1]


def _cavities(
    points: np.ndarray, pieces: list, inner: np.ndarray, outer: np.ndarray, passed: Passages, same: np.ndarray
) -> list[int]:
    """The pieces, of those with outward triangles, that are cavities.

    inner, outer: pairs with boxes that overlap; same: pieces that were outward before, which counts for those inside
    another body that pass through each other.
    """
    body = _bodies(passed.pieces, len(pieces))
    touching = np.concatenate([passed.touching, _with_common_nodes(pieces, len(points))])
    found = []
    for number in np.unique(inner):
        bodies = np.unique(body[outer[inner == number]])
        others = [np.intersect1d(outer, np.flatnonzero(body == one)) for one in bodies if one != body[number]]
        around = [some for some in others if _is_inside(points, pieces, number, some)]
        touched = touching[(touching == number).any(axis=1)]
        free = len(around) % 2 and not np.isin(touched, np.concatenate(around)).any()
        if free and (not same[number] or (body == body[number]).sum() == 1):
            found.append(int(number))
    return found


def _bodies(pairs: np.ndarray, count: int) -> np.ndarray:
    """The number of the body (count,) of each piece: pieces that pass through each other are one body."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    graph = coo_array((np.ones(len(pairs), np.int8), tuple(pairs.T)), shape=(count, count))
    return connected_components(graph, directed=False)[1]


def _with_common_nodes(pieces: list, count: int) -> np.ndarray:
    """Pairs (k, 2) of pieces, over so many points, with a common node."""
    keys = np.unique(
        np.concatenate([np.unique(piece).astype(np.int64) * len(pieces) + i for i, piece in enumerate(pieces)])
    )
    node, piece = np.divmod(keys, len(pieces))
    shared = np.flatnonzero(np.bincount(node, minlength=count) > 1)
    groups = [piece[np.searchsorted(node, one) : np.searchsorted(node, one, "right")] for one in shared]
    pairs = [np.column_stack([np.repeat(group, len(group)), np.tile(group, len(group))]) for group in groups]
    return np.unique(np.concatenate([np.empty((0, 2), np.int64), *pairs]), axis=0)


def _is_inside(points: np.ndarray, pieces: list, number: int, others: np.ndarray) -> bool:
    """Whether other pieces wind around one that does not pass through them.

    Of some of its points that is taken whose winding number is nearest to a whole one: others may lie on the surface.
    """
    own = pieces[number]
    own = own[:: -(-len(own) // SEEN)]
    around = np.ascontiguousarray(np.concatenate([pieces[other] for other in others]), np.int64)
    seen = np.concatenate([points[own[:, 0]], points[own].mean(axis=1)])
    winding = np.empty(len(seen))
    collision_kernels().intersections.windings(seen, points, around, winding)
    return bool(winding[np.abs(winding - np.rint(winding)).argmin()] > 0.5)
