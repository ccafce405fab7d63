"""Signed distances of points to shapes, with the outward normal, and the closest points of two segments."""

import math

from pliant.formulas.matrix3 import dot, norm, subtract
from pliant.jit import formula

# Lengths [m] up to which a vector has no direction.
NO_LENGTH = 1e-12


@formula
def _direction(d, length):
    """d / length, or z when length is zero."""
    safe = length > NO_LENGTH
    inverse = 1.0 / length if safe else 0.0
    return (d[0] * inverse, d[1] * inverse, d[2] * inverse if safe else 1.0)


@formula
def sphere_distance(p, radius):
    """Distance [m] of p to a sphere at the origin, and the normal."""
    length = norm(p)
    return length - radius, _direction(p, length)


@formula
def capsule_distance(p, radius, half_length):
    """Distance of p to a capsule along z."""
    z = min(max(p[2], -half_length), half_length)
    d = (p[0], p[1], p[2] - z)
    length = norm(d)
    return length - radius, _direction(d, length)


@formula
def box_distance(p, half):
    """Distance of p to a box; inside, and on a face, the nearest face decides."""
    outside = (
        p[0] - min(max(p[0], -half[0]), half[0]),
        p[1] - min(max(p[1], -half[1]), half[1]),
        p[2] - min(max(p[2], -half[2]), half[2]),
    )
    length = norm(outside)
    depth0, depth1, depth2 = abs(p[0]) - half[0], abs(p[1]) - half[1], abs(p[2]) - half[2]
    deepest = max(depth0, depth1, depth2)
    along0 = deepest == depth0
    along1 = (not along0) and deepest == depth1
    inward = (
        math.copysign(1.0, p[0]) if along0 else 0.0,
        math.copysign(1.0, p[1]) if along1 else 0.0,
        0.0 if along0 or along1 else math.copysign(1.0, p[2]),
    )
    beyond = length > NO_LENGTH
    n = _direction(outside, length)
    return (
        length if beyond else deepest,
        (n[0] if beyond else inward[0], n[1] if beyond else inward[1], n[2] if beyond else inward[2]),
    )


@formula
def cylinder_distance(p, radius, half_length):
    """Distance of p to a cylinder along z; inside, the nearest face decides."""
    r = math.sqrt(p[0] * p[0] + p[1] * p[1])
    safe = r > 1e-12
    cx, cy = (p[0] / r if safe else 1.0), (p[1] / r if safe else 0.0)
    radial, axial = r - radius, abs(p[2]) - half_length
    up = math.copysign(1.0, p[2])
    outer_r, outer_z = max(radial, 0.0), max(axial, 0.0)
    length = math.sqrt(outer_r * outer_r + outer_z * outer_z)
    beyond = length > 0.0
    side = radial > axial
    inverse = 1.0 / length if beyond else 0.0
    wr = outer_r * inverse if beyond else (1.0 if side else 0.0)
    wz = outer_z * inverse if beyond else (0.0 if side else 1.0)
    return (length if beyond else max(radial, axial)), (wr * cx, wr * cy, wz * up)


@formula
def closest_on_segments(p, u, q, v):
    """Parameters s, t in [-1, 1] of the closest points p + s u and q + t v of two segments given by centre and half
    vector."""
    w = subtract(p, q)
    a, b, c = dot(u, u), dot(u, v), dot(v, v)
    d, e = dot(u, w), dot(v, w)
    determinant = a * c - b * b
    s = min(max((b * e - c * d) / determinant, -1.0), 1.0) if determinant > 1e-12 * a * c else 0.0
    t = (b * s + e) / c if c > 0.0 else 0.0
    t_clamped = min(max(t, -1.0), 1.0)
    s_again = min(max((b * t_clamped - d) / a, -1.0), 1.0) if a > 0.0 else 0.0
    return (s if t == t_clamped else s_again), t_clamped


@formula
def contact_target(gap, allowed, rate, speed_before, restitution, threshold, h):
    """Target normal velocity [m/s] of a contact: its gap, which is `gap` at the normal velocity `rate`, may become
    `allowed`; one that is met fast bounces.

    speed_before: normal velocity at the start of the step, negative when approaching (L 2.2.2).
    """
    closing = rate + (allowed - gap) / h
    reaches = gap - allowed - h * rate + h * speed_before <= 0.0
    bounces = restitution > 0.0 and speed_before < -threshold and reaches
    return max(closing, -restitution * speed_before) if bounces else closing


@formula
def bounded_impulse(rest, weight, low, high):
    """Impulse of a soft row clamp(weight rest, low, high), its slope against the velocity, and its potential [J].

    rest = b - J u, weight = 1 / R (theory section 2, primal form).
    """
    free = weight * rest
    l = min(max(free, low), high)
    inside = l == free
    return l, (weight if inside else 0.0), (0.5 * free * rest if inside else l * (rest - 0.5 * l / weight))


@formula
def cone_impulse(y, friction, normal, tangent):
    """Impulse of a soft frictional contact: y = (n, t1, t2) projected on Coulomb's cone in the norm of the compliances.

    normal, tangent: compliances of the rows. Returns the impulse (3), its slopes against -J u (nn, 11, 22, 12, n2, n1),
    and the potential [J] (Castro, Permenter and Han 2022, section IV).
    """
    radius = math.sqrt(y[1] * y[1] + y[2] * y[2])
    sticks = radius <= friction * y[0]
    opens = y[0] <= -friction * tangent / normal * radius
    safe = radius if radius > 0.0 else 1.0
    d1, d2 = y[1] / safe, y[2] / safe
    share = 1.0 / (1.0 + friction * friction * tangent / normal)
    n = share * (y[0] + friction * tangent / normal * radius)
    t = friction * n
    along, across = friction * friction * share / normal, t / (safe * tangent)
    slides_nn, slides_n1, slides_n2 = share / normal, friction * share / normal * d1, friction * share / normal * d2
    l0, l1, l2 = n, t * d1, t * d2
    l0, l1, l2 = (y[0] if sticks else l0), (y[1] if sticks else l1), (y[2] if sticks else l2)
    l0, l1, l2 = (0.0 if opens else l0), (0.0 if opens else l1), (0.0 if opens else l2)
    there = 0.0 if opens else 1.0
    return (
        (l0, l1, l2),
        (
            there * (1.0 / normal if sticks else slides_nn),
            there * (1.0 / tangent if sticks else along * d1 * d1 + across * d2 * d2),
            there * (1.0 / tangent if sticks else along * d2 * d2 + across * d1 * d1),
            there * (0.0 if sticks else (along - across) * d1 * d2),
            there * (0.0 if sticks else slides_n2),
            there * (0.0 if sticks else slides_n1),
        ),
        0.5 * (normal * l0 * l0 + tangent * (l1 * l1 + l2 * l2)),
    )
