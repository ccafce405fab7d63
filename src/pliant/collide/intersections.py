"""Whether surfaces pass through each other or lie inside each other; a judge that rounding does not deceive."""

import numpy as np

from pliant.collide.surface_contacts import Surfaces
from pliant.kernels.collide import APART, CROSSING, UNSURE
from pliant.kernels.device import Device

# An edge and a triangle that have points in common, but do not cross inside through inside.
TOUCHING = UNSURE


def intersections(surfaces: Surfaces, x: np.ndarray, exact: bool = True) -> tuple[np.ndarray, np.ndarray]:
    """Pairs (k, 2) of edges and triangles with points in common at positions x (n, 3) [m], sorted, and how: CROSSING
    (inside through inside) or TOUCHING (at a corner or side, or within one plane).

    Neighbours, which share a node, and bodies that may not touch are left out. What floating point cannot tell is
    decided by exact arithmetic, or, if not exact, said to touch. Triangles without area have only their sides, as
    edges.
    """
    index = surfaces.index
    surfaces.fit(x, x, np.zeros(len(x)))
    pairs = surfaces.pairs("edges", "triangles")
    edge_body, triangle_body = surfaces.body[index.edges[:, 0]], surfaces.body[index.triangles[:, 0]]
    pairs = pairs[surfaces.allowed[edge_body[pairs[:, 0]], triangle_body[pairs[:, 1]]]]
    answer = np.empty(len(pairs), np.int64)
    surfaces.kernels.intersections.edge_triangle_answers(pairs, x, index.edges, index.triangles, answer)
    for k in np.flatnonzero(answer == UNSURE) if exact else ():
        edge, triangle = pairs[k]
        answer[k] = exact_answer(*x[index.edges[edge]], *x[index.triangles[triangle]])
    pairs, answer = pairs[answer != APART], answer[answer != APART]
    order = np.lexsort((pairs[:, 1], pairs[:, 0]))
    return pairs[order], answer[order]


def exact_answer(p, q, a, b, c) -> int:
    """APART, CROSSING or TOUCHING for the segment p, q and the triangle a, b, c (3) each, without rounding."""
    p, q, a, b, c = _whole_numbers((p, q, a, b, c))
    normal = _cross(_minus(b, a), _minus(c, a))
    if not any(normal):
        return APART
    above, below = _sign(_dot(normal, _minus(p, a))), _sign(_dot(normal, _minus(q, a)))
    if above * below > 0:
        return APART
    if above == below == 0:
        drop = next(axis for axis in range(3) if normal[axis])
        return _flat_answer(*([point[(drop + 1) % 3], point[(drop + 2) % 3]] for point in (p, q, a, b, c)))
    sides = [_sign(_dot(_minus(q, p), _cross(_minus(s, p), _minus(e, p)))) for s, e in ((a, b), (b, c), (c, a))]
    if min(sides) < 0 < max(sides):
        return APART
    return CROSSING if above * below < 0 and all(sides) else TOUCHING


def _whole_numbers(points) -> list[tuple[int, ...]]:
    """Points scaled by a power of two that makes all their coordinates whole."""
    ratios = [[float(number).as_integer_ratio() for number in point] for point in points]
    scale = max(below for point in ratios for _, below in point)
    return [tuple(above * (scale // below) for above, below in point) for point in ratios]


def _flat_answer(p, q, a, b, c) -> int:
    """The same for two numbers each."""
    corners = ((a, b), (b, c), (c, a))
    for point in (p, q):
        turns = [_turn(start, end, point) for start, end in corners]
        if not min(turns) < 0 < max(turns):
            return TOUCHING
    return TOUCHING if any(_segments_meet(p, q, start, end) for start, end in corners) else APART


def _segments_meet(p, q, a, b) -> bool:
    if _turn(p, q, a) * _turn(p, q, b) > 0 or _turn(a, b, p) * _turn(a, b, q) > 0:
        return False
    return all(max(p[k], q[k]) >= min(a[k], b[k]) and max(a[k], b[k]) >= min(p[k], q[k]) for k in range(2))


def _turn(a, b, c) -> int:
    return _sign((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))


def _sign(number) -> int:
    return (number > 0) - (number < 0)


def _minus(a, b):
    return tuple(left - right for left, right in zip(a, b))


def _dot(a, b):
    return sum(left * right for left, right in zip(a, b))


def _cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def inside(device: Device, points: np.ndarray, x: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Which of points (k, 3) [m] lie inside the closed surface with outward triangles (m, 3) over x (n, 3) [m]."""
    found = np.empty(len(points))
    device.collide.intersections.windings(np.ascontiguousarray(points, np.float64), x, triangles, found)
    return found > 0.5
