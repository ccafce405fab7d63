"""Rotations: the rotation nearest to a deformation gradient, unit quaternions (w, x, y, z), the free rigid body."""

import math

from pliant.formulas.matrix3 import cross, dot, multiply_vector, norm, scale, subtract
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
def jacobi_sweep(s, v):
    """One cyclic Jacobi sweep on a symmetric matrix s (xx, yy, zz, yz, xz, xy); v (9) collects the rotations."""
    s00, s11, s22, s12, s02, s01 = s
    v0, v1, v2, v3, v4, v5, v6, v7, v8 = v
    c, n, t = jacobi_angle(s00, s11, s01)
    s00, s11, s01 = s00 - t * s01, s11 + t * s01, 0.0
    s02, s12 = c * s02 - n * s12, n * s02 + c * s12
    v0, v1, v3, v4, v6, v7 = (
        c * v0 - n * v1,
        n * v0 + c * v1,
        c * v3 - n * v4,
        n * v3 + c * v4,
        c * v6 - n * v7,
        n * v6 + c * v7,
    )
    c, n, t = jacobi_angle(s00, s22, s02)
    s00, s22, s02 = s00 - t * s02, s22 + t * s02, 0.0
    s01, s12 = c * s01 - n * s12, n * s01 + c * s12
    v0, v2, v3, v5, v6, v8 = (
        c * v0 - n * v2,
        n * v0 + c * v2,
        c * v3 - n * v5,
        n * v3 + c * v5,
        c * v6 - n * v8,
        n * v6 + c * v8,
    )
    c, n, t = jacobi_angle(s11, s22, s12)
    s11, s22, s12 = s11 - t * s12, s22 + t * s12, 0.0
    s01, s02 = c * s01 - n * s02, n * s01 + c * s02
    v1, v2, v4, v5, v7, v8 = (
        c * v1 - n * v2,
        n * v1 + c * v2,
        c * v4 - n * v5,
        n * v4 + c * v5,
        c * v7 - n * v8,
        n * v7 + c * v8,
    )
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
def nearest_rotation(f):
    """The rotation R (det +1) that maximises tr(R^T F): the polar factor, also of inverted and flat elements.

    Right singular vectors by Jacobi on F^T F; the two largest give the first two left ones, the third follow by cross
    products, so the sign of an inversion falls on the smallest singular value (theory section 4).
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
    u1 = unit(multiply_vector(f, v1))
    u1 = select(largest > TINY, u1, v1)
    image = multiply_vector(f, v2)
    image = subtract(image, scale(dot(u1, image), u1))
    # a flat or needle-like element: any direction across u1 will do; take the one nearest to v2, or else to v3
    spare2, spare3 = subtract(v2, scale(dot(u1, v2), u1)), subtract(v3, scale(dot(u1, v3), u1))
    spare = select(dot(spare2, spare2) > 0.1, spare2, spare3)
    image = select(dot(image, image) > 1e-24 * largest, image, spare)
    u2 = unit(image)
    u3 = cross(u1, u2)
    return (
        u1[0] * v1[0] + u2[0] * v2[0] + u3[0] * v3[0],
        u1[0] * v1[1] + u2[0] * v2[1] + u3[0] * v3[1],
        u1[0] * v1[2] + u2[0] * v2[2] + u3[0] * v3[2],
        u1[1] * v1[0] + u2[1] * v2[0] + u3[1] * v3[0],
        u1[1] * v1[1] + u2[1] * v2[1] + u3[1] * v3[1],
        u1[1] * v1[2] + u2[1] * v2[2] + u3[1] * v3[2],
        u1[2] * v1[0] + u2[2] * v2[0] + u3[2] * v3[0],
        u1[2] * v1[1] + u2[2] * v2[1] + u3[2] * v3[1],
        u1[2] * v1[2] + u2[2] * v2[2] + u3[2] * v3[2],
    )


@formula
def quaternion_matrix(q):
    """Rotation matrix (9) of a unit quaternion."""
    w, x, y, z = q
    return (
        1.0 - 2.0 * (y * y + z * z),
        2.0 * (x * y - w * z),
        2.0 * (x * z + w * y),
        2.0 * (x * y + w * z),
        1.0 - 2.0 * (x * x + z * z),
        2.0 * (y * z - w * x),
        2.0 * (x * z - w * y),
        2.0 * (y * z + w * x),
        1.0 - 2.0 * (x * x + y * y),
    )


@formula
def quaternion_multiply(a, b):
    """a b: first rotate by b, then by a."""
    return (
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    )


@formula
def quaternion_unit(q):
    s = 1.0 / math.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    return (s * q[0], s * q[1], s * q[2], s * q[3])


@formula
def rotation_increment(h, w):
    """Unit quaternion of the rotation by h w (exponential map)."""
    half = 0.5 * h * norm(w)
    # sin(half) / half by its series near zero
    s = 0.5 * h * (1.0 - half * half / 6.0 if half < 1e-4 else math.sin(half) / half)
    return (math.cos(half), s * w[0], s * w[1], s * w[2])


@formula
def rotation_vector(q):
    """Rotation vector (axis times angle, angle in [0, pi]) of a unit quaternion."""
    sign = 1.0 if q[0] >= 0.0 else -1.0
    s = math.sqrt(q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    angle = 2.0 * math.atan2(s, sign * q[0])
    factor = sign * (angle / s if s > 1e-12 else 2.0)
    return (factor * q[1], factor * q[2], factor * q[3])


@formula
def cayley_step(h, speed):
    """The step h' with which Cayley's map turns by exactly h |w|: tan(h |w| / 2) = h' |w| / 2, for up to 2.4 rad."""
    half = 0.5 * h * speed
    half_capped = half if half < 1.2 else 1.2
    return h * (1.0 + half * half / 3.0 if half < 1e-4 else math.tan(half_capped) / half)


@formula
def midpoint_residual(inertia, old, mid, step):
    """Euler's equations midway, body frame: I (w_new - w_old) + h' w_mid x I w_mid, w_new = 2 w_mid - w_old."""
    torque = cross(mid, (inertia[0] * mid[0], inertia[1] * mid[1], inertia[2] * mid[2]))
    return (
        2.0 * inertia[0] * (mid[0] - old[0]) + step * torque[0],
        2.0 * inertia[1] * (mid[1] - old[1]) + step * torque[1],
        2.0 * inertia[2] * (mid[2] - old[2]) + step * torque[2],
    )


@formula
def solve3(a, b):
    """a^-1 b by Cramer's rule, for a well-conditioned 3x3 matrix (9)."""
    c0, c1, c2 = (a[0], a[3], a[6]), (a[1], a[4], a[7]), (a[2], a[5], a[8])
    inverse = 1.0 / dot(c0, cross(c1, c2))
    return (
        inverse * dot(b, cross(c1, c2)),
        inverse * dot(c0, cross(b, c2)),
        inverse * dot(c0, cross(c1, b)),
    )


@formula
def midpoint_newton(inertia, old, mid, step):
    """One Newton step for the midpoint angular velocity of a free body in its principal frame."""
    i0, i1, i2 = inertia
    residual = midpoint_residual(inertia, old, mid, step)
    jacobian = (
        2.0 * i0,
        step * (i2 - i1) * mid[2],
        step * (i2 - i1) * mid[1],
        step * (i0 - i2) * mid[2],
        2.0 * i1,
        step * (i0 - i2) * mid[0],
        step * (i1 - i0) * mid[1],
        step * (i1 - i0) * mid[0],
        2.0 * i2,
    )
    return subtract(mid, solve3(jacobian, residual))
