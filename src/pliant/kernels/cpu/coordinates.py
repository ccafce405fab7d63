"""Coordinates of joints, for limits, motors and couplings: their values and Jacobians."""

from pliant.formulas.coordinates import axis, hinge_angle, swing_angle, twist_angle
from pliant.formulas.matrix3 import cross, dot, norm, outer, scale, subtract
from pliant.jit import kernel
from pliant.kernels.cpu.anchors import add_turn, anchor_at, anchor_frame, anchor_point, store_point, store_turn
from pliant.kernels.joints import SWING, TRAVEL, TWIST


@kernel
def coordinate(kind, a, b, near, factor, pose, entry, lane, triples, jacobian):
    """The value of a coordinate [m or rad] between two anchors, and the next free entry; writes its gradient, times
    each of three factors, as rows. near: an angle is within half a turn of it."""
    x, position, rotation = pose
    frame = anchor_frame(a, x, rotation)
    if kind == TRAVEL:
        pa, arm_a = anchor_point(a, x, position, rotation)
        pb, arm_b = anchor_point(b, x, position, rotation)
        z, d = axis(frame, 2), subtract(pb, pa)
        first = entry
        entry = store_point(a, arm_a, outer(factor, scale(-1.0, z)), x, entry, lane, triples, jacobian)
        add_turn(a, outer(factor, cross(z, d)), x, first, lane, jacobian)
        entry = store_point(b, arm_b, outer(factor, z), x, entry, lane, triples, jacobian)
        return dot(z, d), entry
    other = anchor_frame(b, x, rotation)
    if kind == SWING:
        q, turn = swing_angle(frame, other)
    elif kind == TWIST:
        q, turn = twist_angle(frame, other, near)
    else:
        q, turn = hinge_angle(frame, other, near)
    entry = store_turn(a, outer(factor, scale(-1.0, turn)), x, entry, lane, triples, jacobian)
    entry = store_turn(b, outer(factor, turn), x, entry, lane, triples, jacobian)
    return q, entry


@kernel
def path_length(blocks, k, factor, x, position, rotation, triples, jacobian):
    """Length [m] of the path of a block from side a through its further anchors to side b; writes its gradient, times
    each of three factors, as rows."""
    lane, entry = blocks.lane[k], blocks.start[blocks.slice[k]]
    here = anchor_at(blocks.a, k)
    point, arm = anchor_point(here, x, position, rotation)
    total, along = 0.0, (0.0, 0.0, 0.0)
    for m in range(blocks.more_start[k], blocks.more_start[k + 1] + 1):
        there = anchor_at(blocks.more, m) if m < blocks.more_start[k + 1] else anchor_at(blocks.b, k)
        target, next_arm = anchor_point(there, x, position, rotation)
        d = subtract(target, point)
        length = norm(d)
        onward = scale(1.0 / length if length > 0.0 else 0.0, d)
        entry = store_point(here, arm, outer(factor, subtract(along, onward)), x, entry, lane, triples, jacobian)
        here, point, arm, along, total = there, target, next_arm, onward, total + length
    store_point(here, arm, outer(factor, along), x, entry, lane, triples, jacobian)
    return total
