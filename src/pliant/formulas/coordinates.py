"""Coordinates of joints: angles between two frames, and how they follow turns of the frames; the frame of a face.

A frame is a 3x3 matrix (9) with its axes in columns. An angle q between frames a and b follows their angular velocities
by q' = t . (w_b - w_a); every formula returns q [rad] and t.
"""

import math

from pliant.formulas.joints import cross_matrix, face_jacobian, face_normal
from pliant.formulas.matrix3 import add, cross, dot, multiply, norm, scale, subtract
from pliant.jit import formula


@formula
def axis(frame, k):
    """The axis k of a frame."""
    return (frame[k], frame[3 + k], frame[6 + k])


@formula
def nearest_turn(angle, near):
    """The angle [rad], up to full turns, within half a turn of `near`."""
    return angle - 2.0 * math.pi * math.floor((angle - near) / (2.0 * math.pi) + 0.5)


@formula
def hinge_angle(a, b, near):
    """Angle by which the x axis of b is turned about the z axis of a, within half a turn of `near`."""
    x, first, second = axis(b, 0), axis(a, 0), axis(a, 1)
    along, across = dot(x, first), dot(x, second)
    angle = nearest_turn(math.atan2(across, along), near)
    square = along * along + across * across
    inverse = 1.0 / square if square > 0.0 else 0.0
    turn = subtract(scale(along * inverse, cross(x, second)), scale(across * inverse, cross(x, first)))
    return angle, turn


@formula
def swing_angle(a, b):
    """Angle from 0 to pi between the z axes; where they are parallel it follows no turn."""
    first, second = axis(a, 2), axis(b, 2)
    normal = cross(first, second)
    size = norm(normal)
    return math.atan2(size, dot(first, second)), scale(1.0 / size if size > 0.0 else 0.0, normal)


@formula
def twist_angle(a, b, near):
    """Angle by which b is turned about the z axis after the shortest turn from the z axis of a to that of b, within
    half a turn of `near`; there is none where they are opposite."""
    cosine = dot(axis(b, 0), axis(a, 0)) + dot(axis(b, 1), axis(a, 1))
    sine = dot(axis(b, 0), axis(a, 1)) - dot(axis(b, 1), axis(a, 0))
    both = 1.0 + dot(axis(a, 2), axis(b, 2))
    turn = scale(1.0 / both if both > 0.0 else 0.0, add(axis(a, 2), axis(b, 2)))
    return nearest_turn(math.atan2(sine, cosine), near), turn


@formula
def face_frame(p0, p1, p2):
    """The frame of a triangle: x along its first edge, z along its normal."""
    n, _ = face_normal(p0, p1, p2)
    edge = subtract(p1, p0)
    e = scale(1.0 / norm(edge), edge)
    t = cross(n, e)
    return (e[0], t[0], n[0], e[1], t[1], n[1], e[2], t[2], n[2])


@formula
def face_turns(p0, p1, p2):
    """Three matrices (9): the angular velocity of `face_frame` is the sum of them times the nodes' velocities.

    n' = w x n gives w across the normal as n x n', the turning of the first edge within the face gives w along it.
    """
    n, length = face_normal(p0, p1, p2)
    edge = subtract(p1, p0)
    size = norm(edge)
    t = scale(1.0 / (size * size), cross(n, edge))
    across = cross_matrix(n)
    spin = (
        n[0] * t[0],
        n[0] * t[1],
        n[0] * t[2],
        n[1] * t[0],
        n[1] * t[1],
        n[1] * t[2],
        n[2] * t[0],
        n[2] * t[1],
        n[2] * t[2],
    )
    j0 = multiply(across, face_jacobian(0.0, 1.0, subtract(p2, p1), n, length))
    j1 = multiply(across, face_jacobian(0.0, 1.0, subtract(p0, p2), n, length))
    j2 = multiply(across, face_jacobian(0.0, 1.0, subtract(p1, p0), n, length))
    return _sum(j0, -1.0, spin), _sum(j1, 1.0, spin), j2


@formula
def _sum(a, s, b):
    """a + s b of matrices (9)."""
    return (
        a[0] + s * b[0],
        a[1] + s * b[1],
        a[2] + s * b[2],
        a[3] + s * b[3],
        a[4] + s * b[4],
        a[5] + s * b[5],
        a[6] + s * b[6],
        a[7] + s * b[7],
        a[8] + s * b[8],
    )


@formula
def rotation_error(a, b):
    """Rotation vector [rad] of b a^T, angle in [0, pi], of two frames."""
    r00 = b[0] * a[0] + b[1] * a[1] + b[2] * a[2]
    r01 = b[0] * a[3] + b[1] * a[4] + b[2] * a[5]
    r02 = b[0] * a[6] + b[1] * a[7] + b[2] * a[8]
    r10 = b[3] * a[0] + b[4] * a[1] + b[5] * a[2]
    r11 = b[3] * a[3] + b[4] * a[4] + b[5] * a[5]
    r12 = b[3] * a[6] + b[4] * a[7] + b[5] * a[8]
    r20 = b[6] * a[0] + b[7] * a[1] + b[8] * a[2]
    r21 = b[6] * a[3] + b[7] * a[4] + b[8] * a[5]
    r22 = b[6] * a[6] + b[7] * a[7] + b[8] * a[8]
    return _rotation_vector_of(r00, r01, r02, r10, r11, r12, r20, r21, r22)


@formula
def _rotation_vector_of(r00, r01, r02, r10, r11, r12, r20, r21, r22):
    """Rotation vector of a rotation matrix, by its quaternion with the largest part first (Shepperd)."""
    trace = r00 + r11 + r22
    if trace >= r00 and trace >= r11 and trace >= r22:
        w, x, y, z = 1.0 + trace, r21 - r12, r02 - r20, r10 - r01
    elif r00 >= r11 and r00 >= r22:
        w, x, y, z = r21 - r12, 1.0 + r00 - r11 - r22, r01 + r10, r02 + r20
    elif r11 >= r22:
        w, x, y, z = r02 - r20, r01 + r10, 1.0 - r00 + r11 - r22, r12 + r21
    else:
        w, x, y, z = r10 - r01, r02 + r20, r12 + r21, 1.0 - r00 - r11 + r22
    size = math.sqrt(x * x + y * y + z * z)
    sign = 1.0 if w >= 0.0 else -1.0
    angle = 2.0 * math.atan2(size, sign * w)
    # near zero the angle is 2 size / w, whatever the size of the quaternion
    factor = sign * (angle / size if size > 1e-12 * abs(w) else 2.0 / abs(w))
    return (factor * x, factor * y, factor * z)
