"""Anchors of joints and their Jacobians (BV appendix A), rotational error, spring form of a soft row."""

import math

from pliant.formulas.matrix3 import add, cross, dot, norm, scale, subtract
from pliant.jit import formula


@formula
def cross_matrix(a):
    """[a]x, so that [a]x b = a x b (BV eq. 55)."""
    zero = a[0] - a[0]
    return (zero, -a[2], a[1], a[2], zero, -a[0], -a[1], a[0], zero)


@formula
def face_normal(p0, p1, p2):
    """Unit normal of a triangle and twice its area."""
    n = cross(subtract(p1, p0), subtract(p2, p0))
    length = norm(n)
    return scale(1.0 / length, n), length


@formula
def face_point(p0, p1, p2, barycentric, offset):
    """alpha p0 + beta p1 + gamma p2 + delta n (BV before eq. 54)."""
    n, _ = face_normal(p0, p1, p2)
    p = add(add(scale(barycentric[0], p0), scale(barycentric[1], p1)), scale(barycentric[2], p2))
    return add(p, scale(offset, n))


@formula
def face_jacobian(weight, offset, edge, n, length):
    """weight I + delta (C - O) for one node; `edge` is p_i - p_j opposite to it (BV eq. 62-65).

    C = [edge]x / |n_u| and O = n (n x edge)^T / |n_u| with the unit normal n.
    """
    s = offset / length
    m = cross(n, edge)
    return (
        weight - s * n[0] * m[0],
        s * (-edge[2] - n[0] * m[1]),
        s * (edge[1] - n[0] * m[2]),
        s * (edge[2] - n[1] * m[0]),
        weight - s * n[1] * m[1],
        s * (-edge[0] - n[1] * m[2]),
        s * (-edge[1] - n[2] * m[0]),
        s * (edge[0] - n[2] * m[1]),
        weight - s * n[2] * m[2],
    )


@formula
def soft_row(compliance, damping, h):
    """Compliance R and the factor f of the target b = -f C of a row with error C (theory section 2).

    With k = 1/compliance: R = 1/(h (h k + d)), f = k/(h k + d); compliance 0 is the rigid limit R = 0, f = 1/h.
    """
    f = 1.0 / (h + compliance * damping)
    return compliance * f / h, f


@formula
def tangent_frame(n):
    """Two unit tangents that complete the unit normal n to a right-handed frame (Duff et al. 2017)."""
    sign = math.copysign(1.0, n[2])
    a = -1.0 / (sign + n[2])
    b = n[0] * n[1] * a
    return (1.0 + sign * n[0] * n[0] * a, sign * b, -sign * n[0]), (b, sign + n[1] * n[1] * a, -n[1])


@formula
def turning_stiffness(arm, pull):
    """Positive part of (r . f) I - (r f^T + f r^T)/2 in Voigt order (6): how a force f at the arm r of a body resists
    its turning.

    Its eigenvectors are r/|r| - f/|f|, r/|r| + f/|f| and r x f; the eigenvalues (r.f + |r||f|)/2, (r.f - |r||f|)/2 and
    r.f. The second is never positive, the third is for a force that pulls outwards.
    """
    size, strength = norm(arm), norm(pull)
    there = size > 0.0 and strength > 0.0
    r = scale(1.0 / size if there else 0.0, arm)
    f = scale(1.0 / strength if there else 0.0, pull)
    along = dot(r, f)
    half = 0.5 * size * strength * (along + 1.0)
    whole = max(size * strength * along, 0.0)
    d = subtract(r, f)
    n = cross(r, f)
    dd, nn = dot(d, d), dot(n, n)
    # parallel vectors: every direction across them is alike; opposite ones resist nothing
    straight = nn < 1e-20
    share = half / (1.0 if dd < 1e-20 else dd)
    normal = whole / (1.0 if straight else nn)
    across = whole if straight else 0.0
    share, normal = (0.0 if straight else share), (0.0 if straight else normal)
    return (
        share * d[0] * d[0] + normal * n[0] * n[0] + across * (1.0 - r[0] * r[0]),
        share * d[1] * d[1] + normal * n[1] * n[1] + across * (1.0 - r[1] * r[1]),
        share * d[2] * d[2] + normal * n[2] * n[2] + across * (1.0 - r[2] * r[2]),
        share * d[1] * d[2] + normal * n[1] * n[2] - across * r[1] * r[2],
        share * d[0] * d[2] + normal * n[0] * n[2] - across * r[0] * r[2],
        share * d[0] * d[1] + normal * n[0] * n[1] - across * r[0] * r[1],
    )
