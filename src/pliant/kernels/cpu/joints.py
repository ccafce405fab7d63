"""Loops over the blocks of joints: errors and Jacobians at any positions, and how their forces resist turning."""

import numpy as np

from pliant.formulas.coordinates import axis, rotation_error
from pliant.formulas.joints import tangent_frame, turning_stiffness
from pliant.formulas.matrix3 import (
    add,
    cross,
    dot,
    multiply_vector,
    negative,
    norm,
    scale,
    subtract,
    transpose,
    transpose_multiply_vector,
)
from pliant.formulas.rotation import inverse_turn_jacobian, quaternion_matrix, turn_jacobian
from pliant.jit import formula, kernel
from pliant.kernels.cpu.anchors import (
    UNIT,
    add_turn,
    anchor_at,
    anchor_frame,
    anchor_point,
    quaternion_at,
    store_point,
    store_turn,
    vector_at,
)
from pliant.kernels.cpu.coordinates import coordinate, path_length
from pliant.kernels.joints import (
    ALIGN,
    ANGULAR,
    BALL,
    BODY,
    BROKEN,
    COUPLING,
    DISTANCE,
    FACE,
    LENGTH,
    LIMIT,
    LINE,
    MOTOR,
    NODE,
    PLANE,
    ROPE,
    TRAVEL,
)

BACK = (-1.0, 0.0, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0, -1.0)


@formula
def fill_turning(blocks, k, x, rotation, triples, jacobian):
    """Rows of a block between orientations; returns its errors [rad]."""
    lane, entry, family = blocks.lane[k], blocks.start[blocks.slice[k]], blocks.family[k]
    a, b = anchor_at(blocks.a, k), anchor_at(blocks.b, k)
    frame_a, frame_b = anchor_frame(a, x, rotation), anchor_frame(b, x, rotation)
    if family == ANGULAR:
        error = rotation_error(frame_a, frame_b)
        jb = inverse_turn_jacobian(error)
        ja = negative(transpose(jb))
    else:
        z = axis(frame_a, 2)
        if family == ALIGN:
            own, first, second = axis(frame_b, 2), axis(frame_a, 0), axis(frame_a, 1)
            u, v = cross(own, first), cross(own, second)
            error = (dot(own, first), dot(own, second), 0.0)
            jb = (u[0], u[1], u[2], v[0], v[1], v[2], 0.0, 0.0, 0.0)
        else:
            own = axis(frame_b, 0)
            u = cross(own, z)
            error = (dot(own, z), 0.0, 0.0)
            jb = (u[0], u[1], u[2], 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        ja = negative(jb)
    entry = store_turn(a, ja, x, entry, lane, triples, jacobian)
    store_turn(b, jb, x, entry, lane, triples, jacobian)
    return error


@formula
def fill_points(blocks, k, x, position, rotation, triples, jacobian):
    """Rows of a block between points: held together, or on a line or in a plane of side a; returns its errors [m]."""
    lane, first, family = blocks.lane[k], blocks.start[blocks.slice[k]], blocks.family[k]
    a, b = anchor_at(blocks.a, k), anchor_at(blocks.b, k)
    pa, arm_a = anchor_point(a, x, position, rotation)
    pb, arm_b = anchor_point(b, x, position, rotation)
    d = subtract(pb, pa)
    if family == BALL:
        entry = store_point(a, arm_a, BACK, x, first, lane, triples, jacobian)
        store_point(b, arm_b, UNIT, x, entry, lane, triples, jacobian)
        return d
    frame = anchor_frame(a, x, rotation)
    on_line = family == LINE
    u = axis(frame, 0) if on_line else axis(frame, 2)
    v = axis(frame, 1) if on_line else (0.0, 0.0, 0.0)
    rows = (u[0], u[1], u[2], v[0], v[1], v[2], 0.0, 0.0, 0.0)
    entry = store_point(a, arm_a, negative(rows), x, first, lane, triples, jacobian)
    ud, vd = cross(u, d), cross(v, d)  # the directions turn with side a
    add_turn(a, (ud[0], ud[1], ud[2], vd[0], vd[1], vd[2], 0.0, 0.0, 0.0), x, first, lane, jacobian)
    store_point(b, arm_b, rows, x, entry, lane, triples, jacobian)
    return (dot(u, d), dot(v, d), 0.0)


@kernel
def _fill_distance(blocks, k, x, position, rotation, tangents, triples, jacobian):
    """The row of a distance or rope; returns its errors [m]. tangents: the two directions across as second and third
    row, without errors."""
    lane, first, s = blocks.lane[k], blocks.start[blocks.slice[k]], blocks.factor[k, 0]
    if blocks.more_start[k + 1] > blocks.more_start[k]:
        length = path_length(blocks, k, (s, 0.0, 0.0), x, position, rotation, triples, jacobian)
        return (s * length + blocks.rest[k, 0], 0.0, 0.0)
    a, b = anchor_at(blocks.a, k), anchor_at(blocks.b, k)
    pa, arm_a = anchor_point(a, x, position, rotation)
    pb, arm_b = anchor_point(b, x, position, rotation)
    d = subtract(pb, pa)
    length = norm(d)
    n = scale(1.0 / length, d) if length > 0.0 else (0.0, 0.0, 1.0)
    t1, t2 = tangent_frame(n)
    t = 1.0 if tangents else 0.0
    rows = (s * n[0], s * n[1], s * n[2], t * t1[0], t * t1[1], t * t1[2], t * t2[0], t * t2[1], t * t2[2])
    entry = store_point(a, arm_a, negative(rows), x, first, lane, triples, jacobian)
    store_point(b, arm_b, rows, x, entry, lane, triples, jacobian)
    return (s * length + blocks.rest[k, 0], 0.0, 0.0)


@formula
def _fill_coordinate(blocks, k, near, x, position, rotation, triples, jacobian):
    """Rows of a block on the coordinate of a joint, or on two in a ratio; returns its errors [m or rad]."""
    lane, entry = blocks.lane[k], blocks.start[blocks.slice[k]]
    a, b, kind = anchor_at(blocks.a, k), anchor_at(blocks.b, k), blocks.coordinate[k, 0]
    pose = (x, position, rotation)
    if blocks.family[k] == COUPLING:
        r, m = (blocks.ratio[k, 0], blocks.ratio[k, 1]), blocks.more_start[k]
        rows = (r[0], 0.0, 0.0)
        first, entry = coordinate(kind, a, b, near[blocks.which[k, 0]], rows, pose, entry, lane, triples, jacobian)
        a, b, rows = anchor_at(blocks.more, m), anchor_at(blocks.more, m + 1), (r[1], 0.0, 0.0)
        kind = blocks.coordinate[k, 1]
        second, entry = coordinate(kind, a, b, near[blocks.which[k, 1]], rows, pose, entry, lane, triples, jacobian)
        return (r[0] * first + r[1] * second + blocks.rest[k, 0], 0.0, 0.0)
    s, rest = vector_at(blocks.factor, k), vector_at(blocks.rest, k)
    if kind == LENGTH:
        q = path_length(blocks, k, s, x, position, rotation, triples, jacobian)
    else:
        q, entry = coordinate(kind, a, b, near[blocks.which[k, 0]], s, pose, entry, lane, triples, jacobian)
    return (s[0] * q + rest[0], s[1] * q + rest[1], s[2] * q + rest[2])


@kernel
def fill_directions(blocks, which, x, body_rotation, triples, jacobian):
    """Jacobians of the blocks `which` (k,), all of them between orientations, for turns in world axes."""
    for k in which:
        fill_turning(blocks, k, x, body_rotation, triples, jacobian)


@kernel
def _fill_anchored(blocks, k, x, body_position, body_rotation, triples, jacobian):
    """Jacobian and error of block k between points or orientations."""
    if blocks.family[k] in (BALL, LINE, PLANE):
        return fill_points(blocks, k, x, body_position, body_rotation, triples, jacobian)
    return fill_turning(blocks, k, x, body_rotation, triples, jacobian)


@kernel
def fill_held(blocks, near, x, body_position, body_rotation, tangents, triples, jacobian, error_out):
    """`fill_blocks` where all blocks are between points or orientations."""
    for k in range(blocks.family.shape[0]):
        if blocks.family[k] == BROKEN:
            continue
        error = _fill_anchored(blocks, k, x, body_position, body_rotation, triples, jacobian)
        for row in range(3):
            error_out[blocks.slice[k], row, blocks.lane[k]] = error[row]


@kernel
def fill_blocks(blocks, near, x, body_position, body_rotation, tangents, triples, jacobian, error_out):
    """Jacobians and errors C (slices, 3, LANES) [m or rad] of every block at these positions; angular columns are for
    turns in world axes. near (m,): angles [rad] of which coordinates are within half a turn."""
    for k in range(blocks.family.shape[0]):
        family = blocks.family[k]
        if family == BROKEN:
            continue
        if family in (DISTANCE, ROPE):
            error = _fill_distance(blocks, k, x, body_position, body_rotation, tangents, triples, jacobian)
        elif family in (LIMIT, MOTOR, COUPLING):
            error = _fill_coordinate(blocks, k, near, x, body_position, body_rotation, triples, jacobian)
        else:
            error = _fill_anchored(blocks, k, x, body_position, body_rotation, triples, jacobian)
        for row in range(3):
            error_out[blocks.slice[k], row, blocks.lane[k]] = error[row]


@kernel
def follow_turns(start, triples, node_count, turn, jacobian_inout):
    """Angular columns of J times T(turn) of their bodies (b, 3): Jacobians for turns from where the step began (theory
    section 2)."""
    turns = np.empty((turn.shape[0], 9))
    for b in range(turn.shape[0]):
        own = turn_jacobian(vector_at(turn, b))
        for c in range(9):
            turns[b, c] = own[c]
    for entry in range(start[-1]):
        for lane in range(triples.shape[1]):
            place = triples[entry, lane] - node_count
            if place < 0 or place % 2 == 0:
                continue
            b = place // 2
            for r in range(0, 9, 3):
                j0, j1 = jacobian_inout[entry, r, lane], jacobian_inout[entry, r + 1, lane]
                j2 = jacobian_inout[entry, r + 2, lane]
                for c in range(3):
                    jacobian_inout[entry, r + c, lane] = j0 * turns[b, c] + j1 * turns[b, 3 + c] + j2 * turns[b, 6 + c]


@kernel
def late_torques(turn, torque_inout):
    """Torques (b, 3) by turns from where a step began, as torques where it ends: T^-T of each; what is more, in place.
    turn (b, 3): rotation vectors of the step."""
    for b in range(turn.shape[0]):
        seen = vector_at(torque_inout, b)
        inverse = inverse_turn_jacobian(vector_at(turn, b))
        late = transpose_multiply_vector(inverse, seen)
        for c in range(3):
            torque_inout[b, c] = late[c] - seen[c]


@formula
def _add_turning(anchor, impulse, jacobian, entry, lane, h, rotation, out):
    """Adds h^2 times the stiffness against turning (6) of a body pulled at an anchor, whose Jacobians stand at an
    entry, by the impulse (3) of its block; returns the next entry."""
    kind, index, local, _, _ = anchor
    if kind == BODY:
        j = jacobian[entry, :, lane]
        pull = add(scale(impulse[0], (j[0], j[1], j[2])), scale(impulse[1], (j[3], j[4], j[5])))
        pull = add(pull, scale(impulse[2], (j[6], j[7], j[8])))
        frame = quaternion_matrix(quaternion_at(rotation, index[0]))
        stiffness = turning_stiffness(multiply_vector(frame, local), pull)
        for c in range(6):
            out[index[0], c] += h * stiffness[c]
        return entry + 2
    if kind == FACE:
        return entry + 3
    return entry + 1 if kind == NODE else entry


@formula
def holds_points(blocks, k):
    """Whether the forces of a block act at its anchors."""
    family = blocks.family[k]
    if family in (LIMIT, MOTOR):
        return blocks.coordinate[k, 0] == TRAVEL or blocks.coordinate[k, 0] == LENGTH
    return family in (BALL, DISTANCE, LINE, PLANE, ROPE)


@kernel
def add_turning_stiffness(blocks, impulse, jacobian, body_rotation, h, out):
    """out (b, 6) += h^2 K: how bodies resist turning against the impulses (slices, 3, LANES) of joints at points."""
    for k in range(blocks.family.shape[0]):
        if not holds_points(blocks, k):
            continue
        s, lane = blocks.slice[k], blocks.lane[k]
        entry, family = blocks.start[s], blocks.family[k]
        alone = family == DISTANCE or family == ROPE  # the rows across carry no impulse
        across = 0.0 if alone else 1.0
        pull = (impulse[s, 0, lane], across * impulse[s, 1, lane], across * impulse[s, 2, lane])
        entry = _add_turning(anchor_at(blocks.a, k), pull, jacobian, entry, lane, h, body_rotation, out)
        for m in range(blocks.more_start[k], blocks.more_start[k + 1]):
            entry = _add_turning(anchor_at(blocks.more, m), pull, jacobian, entry, lane, h, body_rotation, out)
        _add_turning(anchor_at(blocks.b, k), pull, jacobian, entry, lane, h, body_rotation, out)


@kernel
def distance_curvatures(blocks, impulse, error, h, curvature_inout):
    """Curvature (slices, 6, LANES) across distances and ropes under tension: h |impulse| / length on their second and
    third rows, as they turn."""
    for k in range(blocks.family.shape[0]):
        family = blocks.family[k]
        if (family != DISTANCE and family != ROPE) or blocks.more_start[k + 1] > blocks.more_start[k]:
            continue
        s, lane, sign = blocks.slice[k], blocks.lane[k], blocks.factor[k, 0]
        length = sign * (error[s, 0, lane] - blocks.rest[k, 0])
        across = h * max(-sign * impulse[s, 0, lane], 0.0) / length if length > 0.0 else 0.0
        curvature_inout[s, 1, lane], curvature_inout[s, 2, lane] = across, across


@kernel
def follow_coordinates(free, near, x, body_position, body_rotation, out):
    """out (m,): the free coordinates [m or rad], angles within half a turn of `near` (m,)."""
    pose, none = (x, body_position, body_rotation), (0.0, 0.0, 0.0)
    triples, jacobian = np.zeros((6, 1), np.int32), np.zeros((6, 9, 1))
    for k in range(free.kind.shape[0]):
        arguments = (near[k], none, pose, 0, 0, triples, jacobian)
        out[k] = coordinate(free.kind[k], anchor_at(free.a, k), anchor_at(free.b, k), *arguments)[0]


@kernel
def coordinate_rates(free, which, near, x, body_position, body_rotation, velocity, out):
    """out (m,): how fast the free coordinates `which` (k,) change [m/s or rad/s] with velocities (triples, 3)."""
    pose, first = (x, body_position, body_rotation), (1.0, 0.0, 0.0)
    triples, jacobian = np.zeros((6, 1), np.int32), np.zeros((6, 9, 1))
    for k in which:
        arguments = (near[k], first, pose, 0, 0, triples, jacobian)
        _, last = coordinate(free.kind[k], anchor_at(free.a, k), anchor_at(free.b, k), *arguments)
        out[k] = 0.0
        for entry in range(last):
            u = vector_at(velocity, triples[entry, 0])
            out[k] += dot((jacobian[entry, 0, 0], jacobian[entry, 1, 0], jacobian[entry, 2, 0]), u)


@formula
def _spin_of(anchor, node_count, velocity):
    """Angular velocity of what an anchor holds on to, and whether it is known: a face has none of its own."""
    kind, index, _, _, _ = anchor
    if kind == BODY:
        return vector_at(velocity, node_count + 2 * index[0] + 1), True
    return (0.0, 0.0, 0.0), kind != FACE and kind != NODE


@kernel
def foresee_coordinates(free, which, near, x, body_position, body_rotation, velocity, h, out):
    """out (m,): where the free coordinates `which` (k,) will about be after h [s] with velocities (triples, 3), so that
    whole turns in a step are counted.

    An angle changes no faster than its sides turn against each other. (Where axes are not held together, near the
    direction in which there is no angle, its rate is without bounds, and it would be many turns off.)
    """
    coordinate_rates(free, which, near, x, body_position, body_rotation, velocity, out)
    for k in which:
        rate = out[k]
        if free.kind[k] != TRAVEL:
            first, known = _spin_of(anchor_at(free.a, k), x.shape[0], velocity)
            second, also = _spin_of(anchor_at(free.b, k), x.shape[0], velocity)
            if known and also:
                most = norm(subtract(second, first))
                rate = min(max(rate, -most), most)
        out[k] = near[k] + h * rate
