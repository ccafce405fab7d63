"""Coordinates of joints: angles between two frames, and how they follow turns of the frames; the frame of a face.

A frame is a 3x3 matrix (9) with its axes in columns. An angle q between frames a and b follows their angular velocities
by q' = t . (w_b - w_a); every formula returns q [rad] and t.
"""

import math

from pliant.formulas.joints import cross_matrix, face_jacobian, face_normal
from pliant.formulas.matrix3 import (
    add,
    add_matrices,
    cross,
    dot,
    multiply,
    multiply_transpose,
    negative,
    norm,
    outer,
    scale,
    subtract,
)
from pliant.formulas.rotation import quaternion_unit, rotation_vector
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
    spin = outer(n, t)
    j0 = multiply(across, face_jacobian(0.0, 1.0, subtract(p2, p1), n, length))
    j1 = multiply(across, face_jacobian(0.0, 1.0, subtract(p0, p2), n, length))
    j2 = multiply(across, face_jacobian(0.0, 1.0, subtract(p1, p0), n, length))
    return add_matrices(j0, negative(spin)), add_matrices(j1, spin), j2


@formula
def rotation_error(a, b):
    """Rotation vector [rad] of b a^T, angle in [0, pi], of two frames; by the quaternion with its largest part first
    (Shepperd)."""
    r = multiply_transpose(b, a)
    trace = r[0] + r[4] + r[8]
    if trace >= r[0] and trace >= r[4] and trace >= r[8]:
        q = (1.0 + trace, r[7] - r[5], r[2] - r[6], r[3] - r[1])
    elif r[0] >= r[4] and r[0] >= r[8]:
        q = (r[7] - r[5], 1.0 + r[0] - r[4] - r[8], r[1] + r[3], r[2] + r[6])
    elif r[4] >= r[8]:
        q = (r[2] - r[6], r[1] + r[3], 1.0 - r[0] + r[4] - r[8], r[5] + r[7])
    else:
        q = (r[3] - r[1], r[2] + r[6], r[5] + r[7], 1.0 - r[0] - r[4] + r[8])
    return rotation_vector(quaternion_unit(q))
