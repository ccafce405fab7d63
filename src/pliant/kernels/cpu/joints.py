"""Loops that fill the rows of joints, and the stiffness that their tension gives to bodies."""

from pliant.formulas.joints import cross_matrix, face_jacobian, face_normal, face_point, soft_row
from pliant.formulas.matrix3 import add, dot, multiply_vector, norm, scale, subtract
from pliant.formulas.rotation import quaternion_matrix, quaternion_multiply, rotation_vector
from pliant.jit import kernel

BALL, ANGULAR, DISTANCE = 0, 1, 2


WORLD, BODY, FACE, NODE = 0, 1, 2, 3


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
        _store(jacobian, triples, entry, lane, first, (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0), sign)
        _store(jacobian, triples, entry + 1, lane, first + 1, cross_matrix(arm), -sign)
        return entry + 2
    if kind == FACE:
        p0, p1, p2 = _vector(x, index[0]), _vector(x, index[1]), _vector(x, index[2])
        n, length = face_normal(p0, p1, p2)
        _store(
            jacobian, triples, entry, lane, index[0], face_jacobian(local[0], offset, subtract(p2, p1), n, length), sign
        )
        _store(
            jacobian,
            triples,
            entry + 1,
            lane,
            index[1],
            face_jacobian(local[1], offset, subtract(p0, p2), n, length),
            sign,
        )
        _store(
            jacobian,
            triples,
            entry + 2,
            lane,
            index[2],
            face_jacobian(local[2], offset, subtract(p1, p0), n, length),
            sign,
        )
        return entry + 3
    if kind == NODE:
        _store(jacobian, triples, entry, lane, index[0], (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0), sign)
        return entry + 1
    return entry


@kernel
def _contract(jacobian, first, last, lane, n):
    """Replace J by the single row n^T J in row 0."""
    for entry in range(first, last):
        for c in range(3):
            total = 0.0
            for r in range(3):
                total += n[r] * jacobian[entry, 3 * r + c, lane]
                if r > 0:
                    jacobian[entry, 3 * r + c, lane] = 0.0
            jacobian[entry, c, lane] = total


@kernel
def _relative_rotation(kind_a, body_a, kind_b, body_b, rest, rotation):
    """Rotation vector, in world axes, by which b is turned away from its rest orientation relative to a."""
    qa, qb = (1.0, 0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0)
    if kind_a == BODY:
        qa = _quaternion(rotation, body_a)
    if kind_b == BODY:
        qb = _quaternion(rotation, body_b)
    goal = quaternion_multiply(qa, rest)
    return rotation_vector(quaternion_multiply(qb, (goal[0], -goal[1], -goal[2], -goal[3])))


@kernel
def fill_blocks(
    family,
    a_kind,
    a_index,
    a_local,
    a_offset,
    b_kind,
    b_index,
    b_local,
    b_offset,
    rest,
    compliance,
    damping,
    start,
    slice_,
    lane_,
    x,
    body_position,
    body_rotation,
    h,
    triples,
    jacobian,
    compliance_out,
    target_out,
):
    """Jacobian, compliance and target of every joint block at the current positions."""
    for k in range(family.shape[0]):
        s, lane = slice_[k], lane_[k]
        entry = start[s]
        if family[k] == ANGULAR:
            error = _relative_rotation(
                a_kind[k], a_index[k, 0], b_kind[k], b_index[k, 0], _quaternion(rest, k), body_rotation
            )
            unit = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
            if a_kind[k] == BODY:
                _store(jacobian, triples, entry, lane, x.shape[0] + 2 * a_index[k, 0] + 1, unit, -1.0)
                entry += 1
            if b_kind[k] == BODY:
                _store(jacobian, triples, entry, lane, x.shape[0] + 2 * b_index[k, 0] + 1, unit, 1.0)
        else:
            la, lb = _vector(a_local, k), _vector(b_local, k)
            pa = anchor_point(a_kind[k], a_index[k], la, a_offset[k], x, body_position, body_rotation)
            pb = anchor_point(b_kind[k], b_index[k], lb, b_offset[k], x, body_position, body_rotation)
            error = subtract(pb, pa)
            entry = store_anchor(
                a_kind[k], a_index[k], la, a_offset[k], -1.0, x, body_rotation, entry, lane, triples, jacobian
            )
            entry = store_anchor(
                b_kind[k], b_index[k], lb, b_offset[k], 1.0, x, body_rotation, entry, lane, triples, jacobian
            )
            if family[k] == DISTANCE:
                length = norm(error)
                n = scale(1.0 / length, error) if length > 1e-12 else (0.0, 0.0, 1.0)
                _contract(jacobian, start[s], entry, lane, n)
                error = (length - rest[k, 0], 0.0, 0.0)
        softness, factor = soft_row(compliance[k], damping[k], h)
        for row in range(3):
            compliance_out[s, row, lane] = softness
            target_out[s, row, lane] = -factor * error[row]


@kernel
def _add_tension(kind, body, local, impulse, sign, h, rotation, out):
    """Adds h^2 K = h (impulse . arm) (I - n n^T), n along the arm, for an anchor that is pulled outwards."""
    if kind != BODY:
        return
    arm = multiply_vector(quaternion_matrix(_quaternion(rotation, body)), local)
    square = dot(arm, arm)
    pull = sign * h * dot(impulse, arm)
    if pull > 0.0 and square > 0.0:
        s = pull / square
        out[body, 0] += pull - s * arm[0] * arm[0]
        out[body, 1] += pull - s * arm[1] * arm[1]
        out[body, 2] += pull - s * arm[2] * arm[2]
        out[body, 3] -= s * arm[1] * arm[2]
        out[body, 4] -= s * arm[0] * arm[2]
        out[body, 5] -= s * arm[0] * arm[1]


@kernel
def add_tensions(family, a_kind, a_index, a_local, b_kind, b_index, b_local, slice_, lane_, impulse, rotation, h, out):
    """Rotational stiffness times h^2 (b, 6) that the ball joints' last impulses (slices, 3, LANES) give to bodies."""
    for k in range(family.shape[0]):
        if family[k] == BALL:
            s, lane = slice_[k], lane_[k]
            l = (impulse[s, 0, lane], impulse[s, 1, lane], impulse[s, 2, lane])
            _add_tension(a_kind[k], a_index[k, 0], _vector(a_local, k), l, -1.0, h, rotation, out)
            _add_tension(b_kind[k], b_index[k, 0], _vector(b_local, k), l, 1.0, h, rotation, out)
