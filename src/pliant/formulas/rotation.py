"""Rotations: unit quaternions (w, x, y, z), the free rigid body."""

import math

from pliant.formulas.matrix3 import cross, dot, norm, subtract
from pliant.jit import formula


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
def quaternion_rotate(q, v):
    """v turned by a unit quaternion: v + 2 w (n x v) + 2 n x (n x v)."""
    n = (q[1], q[2], q[3])
    c = cross(n, v)
    d = cross(n, c)
    return (
        v[0] + 2.0 * (q[0] * c[0] + d[0]),
        v[1] + 2.0 * (q[0] * c[1] + d[1]),
        v[2] + 2.0 * (q[0] * c[2] + d[2]),
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


@formula
def turn_jacobian(t):
    """T of d exp(t) = [T dt]x exp(t): T = I + (1 - cos a)/a^2 [t]x + (a - sin a)/a^3 [t]x^2, a = |t| (theory 2)."""
    square = dot(t, t)
    small = square < 1e-6
    safe = 1.0 if small else square
    angle = math.sqrt(safe)
    first = 0.5 - square / 24.0 if small else (1.0 - math.cos(angle)) / safe
    second = 1.0 / 6.0 - square / 120.0 if small else (angle - math.sin(angle)) / (safe * angle)
    return _of_skew(t, square, first, second)


@formula
def inverse_turn_jacobian(t):
    """T^-1 = I - [t]x/2 + (1/a^2 - (1 + cos a)/(2 a sin a)) [t]x^2: how a rotation vector t follows a turn of its
    rotation from the left; its transpose, minus that, follows a turn of what it is measured from."""
    square = dot(t, t)
    small = square < 1e-4
    safe = 1.0 if small else square
    half = 0.5 * math.sqrt(safe)
    second = 1.0 / 12.0 + square / 720.0 if small else (1.0 - half * math.cos(half) / math.sin(half)) / safe
    return _of_skew(t, square, -0.5, second)


@formula
def _of_skew(t, square, first, second):
    """I + first [t]x + second [t]x^2 (9)."""
    x, y, z = t
    return (
        1.0 + second * (x * x - square),
        second * x * y - first * z,
        second * x * z + first * y,
        second * x * y + first * z,
        1.0 + second * (y * y - square),
        second * y * z - first * x,
        second * x * z - first * y,
        second * y * z + first * x,
        1.0 + second * (z * z - square),
    )


@formula
def late_newton(inertia, momentum, w, h):
    """One Newton step for the angular velocity w at the end of a turn by h w of a free body: I w = exp(-h w) L, all in
    its principal frame at the start, in which its inertia at the end is exp(h w) I exp(-h w) and exp(h w) w = w."""
    seen = quaternion_rotate(rotation_increment(-h, w), momentum)
    t = turn_jacobian((-h * w[0], -h * w[1], -h * w[2]))
    c0, c1, c2 = cross(seen, (t[0], t[3], t[6])), cross(seen, (t[1], t[4], t[7])), cross(seen, (t[2], t[5], t[8]))
    jacobian = (
        inertia[0] - h * c0[0],
        -h * c1[0],
        -h * c2[0],
        -h * c0[1],
        inertia[1] - h * c1[1],
        -h * c2[1],
        -h * c0[2],
        -h * c1[2],
        inertia[2] - h * c2[2],
    )
    residual = (inertia[0] * w[0] - seen[0], inertia[1] * w[1] - seen[1], inertia[2] * w[2] - seen[2])
    return subtract(w, solve3(jacobian, residual))
