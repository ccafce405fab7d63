"""Anchors of joints: where they are, their frames, and the Jacobians of their velocities.

An anchor is a tuple (kind, nodes or body (3), local point (3), offset, frame (4)): a point fixed in the world, in a
rigid body, or on a face of a soft body, or a node; rows.joints.Anchors says what the numbers mean.
"""

from pliant.formulas.coordinates import face_frame, face_turns
from pliant.formulas.joints import cross_matrix, face_jacobian, face_normal, face_point
from pliant.formulas.matrix3 import add, multiply, multiply_vector, negative, subtract
from pliant.formulas.rotation import quaternion_matrix, quaternion_multiply
from pliant.jit import formula, kernel
from pliant.kernels.joints import BODY, FACE, NODE

UNIT = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)


@formula
def vector_at(a, i):
    """Row i of (n, 3) as a tuple."""
    return (a[i, 0], a[i, 1], a[i, 2])


@formula
def quaternion_at(a, i):
    """Row i of (n, 4) as a tuple."""
    return (a[i, 0], a[i, 1], a[i, 2], a[i, 3])


@formula
def anchor_at(anchors, k):
    """The anchor k as a tuple."""
    index = (anchors.held[k, 0], anchors.held[k, 1], anchors.held[k, 2])
    return anchors.kind[k], index, vector_at(anchors.local, k), anchors.offset[k], quaternion_at(anchors.frame, k)


@formula
def anchor_point(anchor, x, body_position, body_rotation):
    """World position of an anchor, and of a rigid body its arm from the centre of mass."""
    kind, index, local, offset, _ = anchor
    if kind == BODY:
        b = index[0]
        arm = multiply_vector(quaternion_matrix(quaternion_at(body_rotation, b)), local)
        return add(vector_at(body_position, b), arm), arm
    if kind == FACE:
        return face_point(vector_at(x, index[0]), vector_at(x, index[1]), vector_at(x, index[2]), local, offset), local
    if kind == NODE:
        return vector_at(x, index[0]), local
    return local, local


@kernel
def anchor_frame(anchor, x, body_rotation):
    """The joint's frame (9, axes in columns) on the side of an anchor; nodes have none of their own."""
    kind, index, _, _, frame = anchor
    if kind == BODY:
        return quaternion_matrix(quaternion_multiply(quaternion_at(body_rotation, index[0]), frame))
    if kind == FACE:
        face = face_frame(vector_at(x, index[0]), vector_at(x, index[1]), vector_at(x, index[2]))
        return multiply(face, quaternion_matrix(frame))
    return quaternion_matrix(frame)


@formula
def store(jacobian, triples, entry, lane, triple, j):
    """Write the Jacobian (9) of a triple."""
    triples[entry, lane] = triple
    for c in range(9):
        jacobian[entry, c, lane] = j[c]


@formula
def _add(jacobian, entry, lane, j):
    for c in range(9):
        jacobian[entry, c, lane] += j[c]


@kernel
def store_point(anchor, arm, rows, x, entry, lane, triples, jacobian):
    """Write `rows` (9) times the Jacobians of an anchor's velocity; returns the next free entry. arm: of a rigid
    body."""
    kind, index, local, offset, _ = anchor
    if kind == BODY:
        first = x.shape[0] + 2 * index[0]
        store(jacobian, triples, entry, lane, first, rows)
        store(jacobian, triples, entry + 1, lane, first + 1, multiply(rows, negative(cross_matrix(arm))))
        return entry + 2
    if kind == FACE:
        p0, p1, p2 = vector_at(x, index[0]), vector_at(x, index[1]), vector_at(x, index[2])
        n, length = face_normal(p0, p1, p2)
        j0 = face_jacobian(local[0], offset, subtract(p2, p1), n, length)
        j1 = face_jacobian(local[1], offset, subtract(p0, p2), n, length)
        j2 = face_jacobian(local[2], offset, subtract(p1, p0), n, length)
        store(jacobian, triples, entry, lane, index[0], multiply(rows, j0))
        store(jacobian, triples, entry + 1, lane, index[1], multiply(rows, j1))
        store(jacobian, triples, entry + 2, lane, index[2], multiply(rows, j2))
        return entry + 3
    if kind == NODE:
        store(jacobian, triples, entry, lane, index[0], rows)
        return entry + 1
    return entry


@kernel
def add_turn(anchor, rows, x, entry, lane, jacobian):
    """Add `rows` (9) times the Jacobians of an anchor's angular velocity to what `store_point` wrote at `entry`."""
    kind, index, _, _, _ = anchor
    if kind == BODY:
        _add(jacobian, entry + 1, lane, rows)
    elif kind == FACE:
        turns = face_turns(vector_at(x, index[0]), vector_at(x, index[1]), vector_at(x, index[2]))
        _add(jacobian, entry, lane, multiply(rows, turns[0]))
        _add(jacobian, entry + 1, lane, multiply(rows, turns[1]))
        _add(jacobian, entry + 2, lane, multiply(rows, turns[2]))


@kernel
def store_turn(anchor, rows, x, entry, lane, triples, jacobian):
    """Write `rows` (9) times the Jacobians of the angular velocity of an anchor; returns the next free entry."""
    kind, index, _, _, _ = anchor
    if kind == BODY:
        store(jacobian, triples, entry, lane, x.shape[0] + 2 * index[0] + 1, rows)
        return entry + 1
    if kind == FACE:
        turns = face_turns(vector_at(x, index[0]), vector_at(x, index[1]), vector_at(x, index[2]))
        store(jacobian, triples, entry, lane, index[0], multiply(rows, turns[0]))
        store(jacobian, triples, entry + 1, lane, index[1], multiply(rows, turns[1]))
        store(jacobian, triples, entry + 2, lane, index[2], multiply(rows, turns[2]))
        return entry + 3
    return entry
