"""Loops over the blocks of joints: errors and Jacobians at any positions, and how their forces resist turning."""

from typing import NamedTuple

import numpy as np

from pliant.formulas.joints import (
    cross_matrix,
    face_jacobian,
    face_normal,
    face_point,
    hinge_angle,
    tangent_frame,
    turning_stiffness,
)
from pliant.formulas.matrix3 import add, cross, multiply, multiply_vector, norm, scale, subtract, transpose
from pliant.formulas.rotation import (
    inverse_turn_jacobian,
    quaternion_matrix,
    quaternion_multiply,
    rotation_vector,
    turn_jacobian,
)
from pliant.jit import kernel

# Families of blocks: points held together, orientations held together, a distance; the axes of a hinge held together,
# and its angle kept within limits or driven.
BALL, ANGULAR, DISTANCE, ALIGN, LIMIT, MOTOR = 0, 1, 2, 3, 4, 5
WORLD, BODY, FACE, NODE = 0, 1, 2, 3
UNIT = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)


class JointArrays(NamedTuple):
    """The constant arrays of all blocks (n of them), as rows.joints.JointBlocks describes them."""

    family: np.ndarray
    a_kind: np.ndarray
    a_index: np.ndarray
    a_local: np.ndarray
    a_offset: np.ndarray
    a_frame: np.ndarray
    b_kind: np.ndarray
    b_index: np.ndarray
    b_local: np.ndarray
    b_offset: np.ndarray
    b_frame: np.ndarray
    rest: np.ndarray
    start: np.ndarray
    slice: np.ndarray
    lane: np.ndarray


@kernel
def _vector(a, i):
    return (a[i, 0], a[i, 1], a[i, 2])


@kernel
def _quaternion(a, i):
    return (a[i, 0], a[i, 1], a[i, 2], a[i, 3])


@kernel
def _store(jacobian, triples, entry, lane, triple, j, sign):
    triples[entry, lane] = triple
    for c in range(9):
        jacobian[entry, c, lane] = sign * j[c]


@kernel
def anchor_point(kind, index, local, offset, x, body_position, body_rotation):
    """World position of an anchor."""
    if kind == BODY:
        b = index[0]
        return add(_vector(body_position, b), multiply_vector(quaternion_matrix(_quaternion(body_rotation, b)), local))
    if kind == FACE:
        return face_point(_vector(x, index[0]), _vector(x, index[1]), _vector(x, index[2]), local, offset)
    if kind == NODE:
        return _vector(x, index[0])
    return local


@kernel
def store_anchor(kind, index, local, offset, sign, x, body_rotation, entry, lane, triples, jacobian):
    """Writes the Jacobians of an anchor's velocity; returns the next free entry."""
    if kind == BODY:
        b = index[0]
        arm = multiply_vector(quaternion_matrix(_quaternion(body_rotation, b)), local)
        first = x.shape[0] + 2 * b
        _store(jacobian, triples, entry, lane, first, UNIT, sign)
        _store(jacobian, triples, entry + 1, lane, first + 1, cross_matrix(arm), -sign)
        return entry + 2
    if kind == FACE:
        p0, p1, p2 = _vector(x, index[0]), _vector(x, index[1]), _vector(x, index[2])
        n, length = face_normal(p0, p1, p2)
        j0 = face_jacobian(local[0], offset, subtract(p2, p1), n, length)
        j1 = face_jacobian(local[1], offset, subtract(p0, p2), n, length)
        j2 = face_jacobian(local[2], offset, subtract(p1, p0), n, length)
        _store(jacobian, triples, entry, lane, index[0], j0, sign)
        _store(jacobian, triples, entry + 1, lane, index[1], j1, sign)
        _store(jacobian, triples, entry + 2, lane, index[2], j2, sign)
        return entry + 3
    if kind == NODE:
        _store(jacobian, triples, entry, lane, index[0], UNIT, sign)
        return entry + 1
    return entry


@kernel
def _rotate_rows(jacobian, first, last, lane, rows):
    """Replace J by rows J, rows (9) a 3x3 matrix."""
    for entry in range(first, last):
        j = jacobian[entry, :, lane]
        new = multiply(rows, (j[0], j[1], j[2], j[3], j[4], j[5], j[6], j[7], j[8]))
        for c in range(9):
            jacobian[entry, c, lane] = new[c]


@kernel
def _frame(kind, body, frame, rotation):
    """Orientation (quaternion) of a joint's frame on one side."""
    if kind == BODY:
        return quaternion_multiply(_quaternion(rotation, body), frame)
    return frame


@kernel
def _store_turns(blocks, k, entry, lane, nodes, ja, jb, triples, jacobian):
    """Writes the Jacobians (9) of the angular velocities of both sides."""
    if blocks.a_kind[k] == BODY:
        _store(jacobian, triples, entry, lane, nodes + 2 * blocks.a_index[k, 0] + 1, ja, 1.0)
        entry += 1
    if blocks.b_kind[k] == BODY:
        _store(jacobian, triples, entry, lane, nodes + 2 * blocks.b_index[k, 0] + 1, jb, 1.0)


@kernel
def _fill_turning(blocks, k, x, rotation, triples, jacobian):
    """Rows of a block between orientations; returns its errors [rad]."""
    lane, entry, family = blocks.lane[k], blocks.start[blocks.slice[k]], blocks.family[k]
    qa = _frame(blocks.a_kind[k], blocks.a_index[k, 0], _quaternion(blocks.a_frame, k), rotation)
    qb = _frame(blocks.b_kind[k], blocks.b_index[k, 0], _quaternion(blocks.b_frame, k), rotation)
    if family == ANGULAR:
        error = rotation_vector(quaternion_multiply(qb, (qa[0], -qa[1], -qa[2], -qa[3])))
        jb = inverse_turn_jacobian(error)
        ja = transpose(jb)
        ja = (-ja[0], -ja[1], -ja[2], -ja[3], -ja[4], -ja[5], -ja[6], -ja[7], -ja[8])
        _store_turns(blocks, k, entry, lane, x.shape[0], ja, jb, triples, jacobian)
        return error
    a, b = quaternion_matrix(qa), quaternion_matrix(qb)
    if family == ALIGN:
        axis, first, second = (b[2], b[5], b[8]), (a[0], a[3], a[6]), (a[1], a[4], a[7])
        u, v = cross(axis, first), cross(axis, second)
        error = (
            axis[0] * first[0] + axis[1] * first[1] + axis[2] * first[2],
            axis[0] * second[0] + axis[1] * second[1] + axis[2] * second[2],
            0.0,
        )
        jb = (u[0], u[1], u[2], v[0], v[1], v[2], 0.0, 0.0, 0.0)
    else:
        limit, low, high = family == LIMIT, blocks.rest[k, 0], blocks.rest[k, 1]
        angle, axis = hinge_angle(a, b, 0.5 * (low + high) if limit else 0.0)
        error = (angle - low, high - angle, 0.0) if limit else (angle, 0.0, 0.0)
        s = -1.0 if limit else 0.0
        jb = (axis[0], axis[1], axis[2], s * axis[0], s * axis[1], s * axis[2], 0.0, 0.0, 0.0)
    ja = (-jb[0], -jb[1], -jb[2], -jb[3], -jb[4], -jb[5], 0.0, 0.0, 0.0)
    _store_turns(blocks, k, entry, lane, x.shape[0], ja, jb, triples, jacobian)
    return error


@kernel
def _fill_points(blocks, k, x, body_position, body_rotation, tangents, triples, jacobian):
    """Rows of a block between points; returns its errors [m]. tangents: a distance gets the two directions across as
    its second and third row."""
    lane, first = blocks.lane[k], blocks.start[blocks.slice[k]]
    la, lb = _vector(blocks.a_local, k), _vector(blocks.b_local, k)
    a, b = (blocks.a_kind[k], blocks.a_index[k]), (blocks.b_kind[k], blocks.b_index[k])
    pa = anchor_point(a[0], a[1], la, blocks.a_offset[k], x, body_position, body_rotation)
    pb = anchor_point(b[0], b[1], lb, blocks.b_offset[k], x, body_position, body_rotation)
    error = subtract(pb, pa)
    entry = store_anchor(a[0], a[1], la, blocks.a_offset[k], -1.0, x, body_rotation, first, lane, triples, jacobian)
    entry = store_anchor(b[0], b[1], lb, blocks.b_offset[k], 1.0, x, body_rotation, entry, lane, triples, jacobian)
    if blocks.family[k] == DISTANCE:
        length = norm(error)
        n = scale(1.0 / length, error) if length > 0.0 else (0.0, 0.0, 1.0)
        t1, t2 = tangent_frame(n)
        s = 1.0 if tangents else 0.0
        rows = (n[0], n[1], n[2], s * t1[0], s * t1[1], s * t1[2], s * t2[0], s * t2[1], s * t2[2])
        _rotate_rows(jacobian, first, entry, lane, rows)
        error = (length - blocks.rest[k, 0], 0.0, 0.0)
    return error


@kernel
def fill_blocks(blocks, x, body_position, body_rotation, tangents, triples, jacobian, error_out):
    """Jacobians and errors C (slices, 3, LANES) [m or rad] of every block at these positions; angular columns are for
    turns in world axes."""
    for k in range(blocks.family.shape[0]):
        if blocks.family[k] == BALL or blocks.family[k] == DISTANCE:
            error = _fill_points(blocks, k, x, body_position, body_rotation, tangents, triples, jacobian)
        else:
            error = _fill_turning(blocks, k, x, body_rotation, triples, jacobian)
        for row in range(3):
            error_out[blocks.slice[k], row, blocks.lane[k]] = error[row]


@kernel
def follow_turns(start, triples, node_count, turn, jacobian_inout):
    """Angular columns of J times T(turn) of their bodies (b, 3): Jacobians for turns from where the step began (theory
    section 2)."""
    for entry in range(start[-1]):
        for lane in range(triples.shape[1]):
            place = triples[entry, lane] - node_count
            if place < 0 or place % 2 == 0:
                continue
            j = jacobian_inout[entry, :, lane]
            new = (j[0], j[1], j[2], j[3], j[4], j[5], j[6], j[7], j[8])
            new = multiply(new, turn_jacobian(_vector(turn, place // 2)))
            for c in range(9):
                jacobian_inout[entry, c, lane] = new[c]


@kernel
def _add_turning(kind, body, local, pull, h, rotation, out):
    """Adds h^2 times the stiffness against turning (6) of a body pulled at an anchor by an impulse [N s]."""
    if kind != BODY:
        return
    arm = multiply_vector(quaternion_matrix(_quaternion(rotation, body)), local)
    stiffness = turning_stiffness(arm, pull)
    for c in range(6):
        out[body, c] += h * stiffness[c]


@kernel
def add_turning_stiffness(blocks, impulse, jacobian, body_rotation, h, out):
    """out (b, 6) += h^2 K: how bodies resist turning against the impulses (slices, 3, LANES) of joints at points."""
    for k in range(blocks.family.shape[0]):
        if blocks.family[k] != BALL and blocks.family[k] != DISTANCE:
            continue
        s, lane = blocks.slice[k], blocks.lane[k]
        pull = (impulse[s, 0, lane], impulse[s, 1, lane], impulse[s, 2, lane])
        if blocks.family[k] == DISTANCE:
            side = 1.0 if blocks.b_kind[k] == BODY else -1.0
            last = blocks.start[s]
            if blocks.b_kind[k] == BODY and blocks.a_kind[k] != WORLD:
                last += 2 if blocks.a_kind[k] == BODY else (3 if blocks.a_kind[k] == FACE else 1)
            j = jacobian[last, :, lane]
            pull = scale(side * pull[0], (j[0], j[1], j[2]))
        _add_turning(
            blocks.a_kind[k], blocks.a_index[k, 0], _vector(blocks.a_local, k), scale(-1.0, pull), h, body_rotation, out
        )
        _add_turning(blocks.b_kind[k], blocks.b_index[k, 0], _vector(blocks.b_local, k), pull, h, body_rotation, out)


@kernel
def distance_curvatures(blocks, impulse, error, h, curvature_inout):
    """Curvature (slices, 6, LANES) across distances under tension: h |impulse| / length on their second and third
    rows, as they turn."""
    for k in range(blocks.family.shape[0]):
        if blocks.family[k] == DISTANCE:
            s, lane = blocks.slice[k], blocks.lane[k]
            length = blocks.rest[k, 0] + error[s, 0, lane]
            across = h * max(-impulse[s, 0, lane], 0.0) / length if length > 0.0 else 0.0
            curvature_inout[s, 1, lane], curvature_inout[s, 2, lane] = across, across
