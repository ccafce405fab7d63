"""Edges and triangles that have points in common: trees over boxes find the pairs, signs of determinants decide."""

from __future__ import annotations

import numpy as np

from .compiled import collision_kernels

APART, CROSSING = 0, 1
"""Answers of `edge_triangle_answers` for an edge that stays off a triangle, and for one that passes through it, inside
through inside; any other means that they touch, or cross by less than rounding shows."""
LEAF = 4
"""Triangles in a leaf of a tree of boxes, at most."""


def meetings(points: np.ndarray, edges: np.ndarray, triangles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pairs (k, 2) of edges (e, 2) and triangles (m, 3) without a common node that have points in common, and the
    answers (k,) for them: CROSSING, or that they touch as far as rounding shows."""
    triangles = np.ascontiguousarray(triangles, np.int64)
    pairs = overlaps(points[edges], points[triangles])
    answer = answers(pairs, points, edges, triangles)
    pairs, answer = pairs[answer != APART], answer[answer != APART]
    order = np.lexsort((pairs[:, 1], pairs[:, 0]))
    return pairs[order], answer[order]


def answers(pairs: np.ndarray, points: np.ndarray, edges: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """The answers (k,) for pairs (k, 2) of edges and triangles."""
    found = np.empty(len(pairs), np.int64)
    collision_kernels().intersections.edge_triangle_answers(pairs, points, edges, triangles, found)
    return found


def box_tree(corners: np.ndarray) -> tuple:
    """A tree over the boxes of elements with corners (m, k, 3): order, boxes, boxes of nodes, groups of both."""
    low, high = np.ascontiguousarray(corners.min(axis=1)), np.ascontiguousarray(corners.max(axis=1))
    count, leaves = len(corners), 1
    while leaves * LEAF < count:
        leaves *= 2
    order, group = np.empty(count, np.int64), np.full(count, -1)
    box, node, node_group = np.empty((count, 6)), np.empty((2 * leaves, 6)), np.empty(2 * leaves, np.int64)
    loops = collision_kernels().bvh
    loops.order_boxes(low, high, group, leaves, order)
    loops.fit_tree(low, high, group, order, box, node, node_group)
    return order, box, node, node_group, group


def overlaps(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Pairs (k, 2) of elements with corners first and second whose boxes overlap."""
    columns = (*box_tree(first), *box_tree(second), False)
    pairs = np.empty((32 * len(first) + 16, 2), np.int64)
    count = collision_kernels().bvh.overlapping_pairs(*columns, pairs)
    if count > len(pairs):
        pairs = np.empty((count, 2), np.int64)
        collision_kernels().bvh.overlapping_pairs(*columns, pairs)
    return pairs[:count]
