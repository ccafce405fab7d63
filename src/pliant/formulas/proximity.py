"""Closest points of points, segments and triangles, all of them tuples [m].

Every closest point is one of a few candidates (ends, sides, the inside), each of which is a point of the segment or
triangle whatever the rounding, and the nearest is taken: so a distance is never too small, and parallel, flat or tiny
things need no cases of their own. Where lower-dimensional candidates are as near as higher ones, they win: `tolerance`
says by how much of the squared distance the higher one must be nearer.
"""

from pliant.formulas.matrix3 import add, cross, dot, scale, subtract
from pliant.jit import formula

# Squared sine below which two directions have no normal that could be told from rounding.
FLAT = 1e-28
# Rounding of squared distances, in parts of the squared size of what is measured.
ROUNDING = 1e-30
# Features of a triangle (a, b, c).
FACE, SIDE_AB, SIDE_BC, SIDE_CA, CORNER_A, CORNER_B, CORNER_C = range(7)


@formula
def point_point(p, q):
    """Squared distance [m^2] of two points."""
    d = subtract(p, q)
    return dot(d, d)


@formula
def interval_gap(low, high, other_low, other_high):
    """How far [m] two intervals are apart, 0 where they overlap."""
    return max(low - other_high, other_low - high, 0.0)


@formula
def point_triangle_apart(p, a, b, c):
    """A bound from below of the squared distance [m^2] of a point and a triangle: that of the box around it."""
    x = interval_gap(p[0], p[0], min(a[0], b[0], c[0]), max(a[0], b[0], c[0]))
    y = interval_gap(p[1], p[1], min(a[1], b[1], c[1]), max(a[1], b[1], c[1]))
    z = interval_gap(p[2], p[2], min(a[2], b[2], c[2]), max(a[2], b[2], c[2]))
    return x * x + y * y + z * z


@formula
def segments_apart(p0, p1, q0, q1):
    """A bound from below of the squared distance [m^2] of two segments: that of the boxes around them."""
    x = interval_gap(min(p0[0], p1[0]), max(p0[0], p1[0]), min(q0[0], q1[0]), max(q0[0], q1[0]))
    y = interval_gap(min(p0[1], p1[1]), max(p0[1], p1[1]), min(q0[1], q1[1]), max(q0[1], q1[1]))
    z = interval_gap(min(p0[2], p1[2]), max(p0[2], p1[2]), min(q0[2], q1[2]), max(q0[2], q1[2]))
    return x * x + y * y + z * z


@formula
def point_segment(p, a, b):
    """Parameter t in [0, 1] of the point a + t (b - a) that is closest to p, and the squared distance [m^2]."""
    ab, ap = subtract(b, a), subtract(p, a)
    length, along = dot(ab, ab), dot(ab, ap)
    t = min(max(along / length, 0.0), 1.0) if length > 0.0 else 0.0
    # from the nearer end, so that t = 1 is that end exactly
    far = t > 0.5
    d = subtract(subtract(p, b) if far else ap, scale(t - 1.0 if far else t, ab))
    return t, dot(d, d)


@formula
def _above_face(p, a, b, c):
    """Weights (3) of the foot of p in the plane of a triangle, and the squared distance; 1e300 if it lies outside."""
    ab, ac, ap = subtract(b, a), subtract(c, a), subtract(p, a)
    n = cross(ab, ac)
    size = dot(n, n)
    spans = size > FLAT * dot(ab, ab) * dot(ac, ac)
    inverse = 1.0 / size if spans else 0.0
    w1, w2 = dot(n, cross(ap, ac)) * inverse, dot(n, cross(ab, ap)) * inverse
    w0 = 1.0 - w1 - w2
    inside = spans and w0 > 0.0 and w1 > 0.0 and w2 > 0.0
    d = subtract(ap, add(scale(w1, ab), scale(w2, ac)))
    return (w0, w1, w2), (dot(d, d) if inside else 1e300)


@formula
def point_triangle(p, a, b, c, tolerance):
    """The point of a triangle closest to p: weights (3) of the corners, squared distance [m^2], feature (FACE ...)."""
    inside, d_face = _above_face(p, a, b, c)
    (t_ab, d_ab), (t_bc, d_bc), (t_ca, d_ca) = point_segment(p, a, b), point_segment(p, b, c), point_segment(p, c, a)
    d_a, d_b, d_c = point_point(p, a), point_point(p, b), point_point(p, c)
    d_side, d_corner = min(d_ab, d_bc, d_ca), min(d_a, d_b, d_c)
    size = max(d_a, d_b, d_c)
    bound = min(d_face, d_side, d_corner) * (1.0 + tolerance) + ROUNDING * size
    if d_corner <= bound:
        if d_a == d_corner:
            return (1.0, 0.0, 0.0), d_a, CORNER_A
        if d_b == d_corner:
            return (0.0, 1.0, 0.0), d_b, CORNER_B
        return (0.0, 0.0, 1.0), d_c, CORNER_C
    if d_side <= bound:
        if d_ab == d_side:
            return (1.0 - t_ab, t_ab, 0.0), d_ab, SIDE_AB
        if d_bc == d_side:
            return (0.0, 1.0 - t_bc, t_bc), d_bc, SIDE_BC
        return (t_ca, 0.0, 1.0 - t_ca), d_ca, SIDE_CA
    return inside, d_face, FACE


@formula
def crossing(p0, p1, q0, q1):
    """Parameters and squared distance of the closest points of two lines; 1e300 if one is not inside its segment."""
    u, v, r = subtract(p1, p0), subtract(q1, q0), subtract(p0, q0)
    n = cross(u, v)
    size = dot(n, n)
    spans = size > FLAT * dot(u, u) * dot(v, v)
    inverse = 1.0 / size if spans else 0.0
    s, t = dot(cross(v, r), n) * inverse, dot(cross(u, r), n) * inverse
    inside = spans and s > 0.0 and s < 1.0 and t > 0.0 and t < 1.0
    d = add(r, subtract(scale(s, u), scale(t, v)))
    return s, t, (dot(d, d) if inside else 1e300)


@formula
def segment_segment(p0, p1, q0, q1, tolerance):
    """Closest points p0 + s (p1 - p0) and q0 + t (q1 - q0) of two segments: s, t, the squared distance [m^2], and
    whether both lie inside. Of parallel segments the first of the ends that are equally near."""
    s, t, d_inside = crossing(p0, p1, q0, q1)
    (t_p0, d_p0), (t_p1, d_p1) = point_segment(p0, q0, q1), point_segment(p1, q0, q1)
    (s_q0, d_q0), (s_q1, d_q1) = point_segment(q0, p0, p1), point_segment(q1, p0, p1)
    d_end = min(d_p0, d_p1, d_q0, d_q1)
    size = max(point_point(p0, q0), point_point(p1, q0), point_point(p0, q1), point_point(p1, q1))
    if d_end > d_inside * (1.0 + tolerance) + ROUNDING * size:
        return s, t, d_inside, True
    if d_p0 == d_end:
        return 0.0, t_p0, d_p0, False
    if d_p1 == d_end:
        return 1.0, t_p1, d_p1, False
    if d_q0 == d_end:
        return s_q0, 0.0, d_q0, False
    return s_q1, 1.0, d_q1, False
