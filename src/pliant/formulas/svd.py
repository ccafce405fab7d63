"""Singular values of a deformation gradient, the nearest rotation, the positive part of a symmetric matrix."""

import math

from pliant.formulas.matrix3 import (
    cross,
    dot,
    multiply_transpose,
    multiply_vector,
    rotate_symmetric_diagonal,
    scale,
    subtract,
)
from pliant.jit import formula

TINY = 1e-150


@formula
def jacobi_angle(app, aqq, apq):
    """Cosine, sine and tangent of the Jacobi rotation that annuls the off-diagonal entry apq."""
    difference = aqq - app
    sign = 1.0 if difference >= 0.0 else -1.0
    t = 2.0 * apq * sign / (abs(difference) + math.sqrt(difference * difference + 4.0 * apq * apq) + TINY)
    c = 1.0 / math.sqrt(1.0 + t * t)
    return c, t * c, t


@formula
def turn(c, n, a, b):
    """The pair (a, b) turned by the angle with cosine c and sine n."""
    return c * a - n * b, n * a + c * b


@formula
def jacobi_sweep(s, v):
    """One cyclic Jacobi sweep on a symmetric matrix s (xx, yy, zz, yz, xz, xy); v (9) collects the rotations."""
    s00, s11, s22, s12, s02, s01 = s
    v0, v1, v2, v3, v4, v5, v6, v7, v8 = v
    c, n, t = jacobi_angle(s00, s11, s01)
    s00, s11, s01 = s00 - t * s01, s11 + t * s01, 0.0
    s02, s12 = turn(c, n, s02, s12)
    (v0, v1), (v3, v4), (v6, v7) = turn(c, n, v0, v1), turn(c, n, v3, v4), turn(c, n, v6, v7)
    c, n, t = jacobi_angle(s00, s22, s02)
    s00, s22, s02 = s00 - t * s02, s22 + t * s02, 0.0
    s01, s12 = turn(c, n, s01, s12)
    (v0, v2), (v3, v5), (v6, v8) = turn(c, n, v0, v2), turn(c, n, v3, v5), turn(c, n, v6, v8)
    c, n, t = jacobi_angle(s11, s22, s12)
    s11, s22, s12 = s11 - t * s12, s22 + t * s12, 0.0
    s01, s02 = turn(c, n, s01, s02)
    (v1, v2), (v4, v5), (v7, v8) = turn(c, n, v1, v2), turn(c, n, v4, v5), turn(c, n, v7, v8)
    return (s00, s11, s22, s12, s02, s01), (v0, v1, v2, v3, v4, v5, v6, v7, v8)


@formula
def select(condition, a, b):
    """a where the condition holds, else b, for 3-vectors."""
    return (a[0] if condition else b[0], a[1] if condition else b[1], a[2] if condition else b[2])


@formula
def unit(a):
    """a / |a|; zero stays zero."""
    return scale(1.0 / math.sqrt(dot(a, a) + TINY), a)


@formula
def signed_svd(f):
    """F = U diag(s) V^T with rotations U, V (det +1), s0 >= s1 >= |s2|: the sign of an inversion falls on the last.

    Right singular vectors by Jacobi on F^T F; the two largest give the first two left ones, the third follow by cross
    products, also for flat and needle-like elements (theory section 4). Returns U (9), s (3), V (9).
    """
    c0, c1, c2 = (f[0], f[3], f[6]), (f[1], f[4], f[7]), (f[2], f[5], f[8])
    s = (dot(c0, c0), dot(c1, c1), dot(c2, c2), dot(c1, c2), dot(c0, c2), dot(c0, c1))
    v = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
    s, v = jacobi_sweep(s, v)
    s, v = jacobi_sweep(s, v)
    s, v = jacobi_sweep(s, v)
    s, v = jacobi_sweep(s, v)
    a, b, c = (v[0], v[3], v[6]), (v[1], v[4], v[7]), (v[2], v[5], v[8])
    smallest_last = s[2] <= s[0]
    a, c = select(smallest_last, a, c), select(smallest_last, c, a)
    sa, sc = (s[0] if smallest_last else s[2]), (s[2] if smallest_last else s[0])
    keep = sc <= s[1]
    b, sb = select(keep, b, c), (s[1] if keep else sc)
    larger_first = sb <= sa
    v1, v2 = select(larger_first, a, b), select(larger_first, b, a)
    v3 = cross(v1, v2)
    largest = sa if larger_first else sb
    image1, image2, image3 = multiply_vector(f, v1), multiply_vector(f, v2), multiply_vector(f, v3)
    u1 = select(largest > TINY, unit(image1), v1)
    across = subtract(image2, scale(dot(u1, image2), u1))
    # a flat or needle-like element: any direction across u1 will do; take the one nearest to v2, or else to v3
    spare2, spare3 = subtract(v2, scale(dot(u1, v2), u1)), subtract(v3, scale(dot(u1, v3), u1))
    spare = select(dot(spare2, spare2) > 0.1, spare2, spare3)
    u2 = unit(select(dot(across, across) > 1e-24 * largest, across, spare))
    u3 = cross(u1, u2)
    return (
        (u1[0], u2[0], u3[0], u1[1], u2[1], u3[1], u1[2], u2[2], u3[2]),
        (dot(u1, image1), dot(u2, image2), dot(u3, image3)),
        (v1[0], v2[0], v3[0], v1[1], v2[1], v3[1], v1[2], v2[2], v3[2]),
    )


@formula
def polar_step(a):
    """A Newton step (a + a^-T) / 2 towards the rotation nearest to a matrix a (9) of positive determinant, to which
    such steps converge quadratically (Higham 1986, eq. 3.7), and that determinant."""
    r0, r1, r2 = (a[0], a[1], a[2]), (a[3], a[4], a[5]), (a[6], a[7], a[8])
    c0, c1, c2 = cross(r1, r2), cross(r2, r0), cross(r0, r1)
    volume = dot(r0, c0)
    half = 0.5 / (volume if volume > TINY else 1.0)
    first = (0.5 * a[0] + half * c0[0], 0.5 * a[1] + half * c0[1], 0.5 * a[2] + half * c0[2])
    second = (0.5 * a[3] + half * c1[0], 0.5 * a[4] + half * c1[1], 0.5 * a[5] + half * c1[2])
    third = (0.5 * a[6] + half * c2[0], 0.5 * a[7] + half * c2[1], 0.5 * a[8] + half * c2[2])
    return (*first, *second, *third), volume


@formula
def nearest_rotation(f):
    """The rotation R (det +1) that maximises tr(R^T F): the polar factor, also of inverted and flat elements."""
    u, _, v = signed_svd(f)
    return multiply_transpose(u, v)


@formula
def positive_part(s):
    """The nearest positive semi-definite matrix to a symmetric one (six numbers in Voigt order)."""
    d, v = s, (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
    d, v = jacobi_sweep(d, v)
    d, v = jacobi_sweep(d, v)
    d, v = jacobi_sweep(d, v)
    d, v = jacobi_sweep(d, v)
    clamped = (max(d[0], 0.0), max(d[1], 0.0), max(d[2], 0.0))
    return rotate_symmetric_diagonal(v, clamped)
