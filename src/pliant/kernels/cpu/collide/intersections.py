"""Which edges pass through which triangles, as far as rounding lets tell; and how often a surface surrounds a point."""

import math

from pliant.formulas.matrix3 import cross, dot, norm, subtract
from pliant.jit import kernel
from pliant.kernels.collide import APART, CROSSING, UNSURE

# Bound of the rounding of a 3 x 3 determinant of differences, in parts of the sum of its terms' sizes (Shewchuk 1997,
# section 4.3, has 7.8e-16 for a fixed order of operations, which compilers do not keep).
ROUNDING = 4e-15


@kernel
def _triple(x, i):
    return (x[i, 0], x[i, 1], x[i, 2])


@kernel
def _side(a, b, c, d):
    """On which side of the plane a, b, c lies d: 1, -1, or 0 if rounding hides it."""
    u, v, w = subtract(a, d), subtract(b, d), subtract(c, d)
    volume = dot(u, cross(v, w))
    size = (
        abs(u[0]) * (abs(v[1] * w[2]) + abs(v[2] * w[1]))
        + abs(u[1]) * (abs(v[2] * w[0]) + abs(v[0] * w[2]))
        + abs(u[2]) * (abs(v[0] * w[1]) + abs(v[1] * w[0]))
    )
    if abs(volume) <= ROUNDING * size:
        return 0
    return 1 if volume > 0.0 else -1


@kernel
def _separates(axis, p, q, b, c):
    """Whether segment and triangle are apart along an axis, whatever the rounding. Coordinates from its first
    corner."""
    size = norm(axis) * (norm(p) + norm(q) + norm(b) + norm(c))
    low, high = min(0.0, dot(axis, b), dot(axis, c)), max(0.0, dot(axis, b), dot(axis, c))
    first, second = dot(axis, p), dot(axis, q)
    return min(first, second) - high > ROUNDING * size or low - max(first, second) > ROUNDING * size


@kernel
def _apart_in_plane(p, q, a, b, c):
    """Whether a line within the plane of the triangle separates segment and triangle; no is no answer."""
    p, q, b, c = subtract(p, a), subtract(q, a), subtract(b, a), subtract(c, a)
    normal, other = cross(b, c), subtract(c, b)
    if _separates(cross(normal, b), p, q, b, c) or _separates(cross(normal, c), p, q, b, c):
        return True
    return _separates(cross(normal, other), p, q, b, c) or _separates(cross(normal, subtract(q, p)), p, q, b, c)


@kernel
def edge_triangle_answers(pairs, x, edges, triangles, answer_out):
    """For pairs (k, 2) of edges and triangles: APART, CROSSING (inside through inside) or UNSURE; neighbours that share
    a node are apart."""
    for k in range(len(pairs)):
        e, t = pairs[k, 0], pairs[k, 1]
        p, q = edges[e, 0], edges[e, 1]
        answer_out[k] = APART
        neighbours = False
        for c in range(3):
            neighbours |= triangles[t, c] == p or triangles[t, c] == q
        if neighbours:
            continue
        p, q = _triple(x, p), _triple(x, q)
        a, b, c = _triple(x, triangles[t, 0]), _triple(x, triangles[t, 1]), _triple(x, triangles[t, 2])
        above, below = _side(a, b, c, p), _side(a, b, c, q)
        if above * below > 0:
            continue
        ab, bc, ca = _side(p, q, a, b), _side(p, q, b, c), _side(p, q, c, a)
        if ab * bc < 0 or bc * ca < 0 or ca * ab < 0:
            continue
        if above * below < 0 and ab * bc > 0 and bc * ca > 0:
            answer_out[k] = CROSSING
        elif not _apart_in_plane(p, q, a, b, c):
            answer_out[k] = UNSURE


@kernel
def windings(points, x, triangles, winding_out):
    """How often a closed surface with outward triangles (m, 3) surrounds points (k, 3): 1 inside, 0 outside, between
    on it. Sum of solid angles (van Oosterom and Strackee 1983, equation 8)."""
    for k in range(len(points)):
        p, total = _triple(points, k), 0.0
        for t in range(len(triangles)):
            a = subtract(_triple(x, triangles[t, 0]), p)
            b = subtract(_triple(x, triangles[t, 1]), p)
            c = subtract(_triple(x, triangles[t, 2]), p)
            la, lb, lc = norm(a), norm(b), norm(c)
            below = la * lb * lc + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb
            total += math.atan2(dot(a, cross(b, c)), below)
        winding_out[k] = total / (2.0 * math.pi)
