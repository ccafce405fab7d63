"""Loops that fill the rows of contacts."""

from pliant.formulas.contact import restitution_target
from pliant.formulas.joints import cross_matrix, tangent_frame
from pliant.formulas.matrix3 import multiply, subtract
from pliant.jit import kernel

# Part of a penetration that is pushed out in one step, and the largest speed [m/s] with which that is done.
RECOVERY = 0.2


MAX_RECOVERY = 1.0


@kernel
def _store_side(directions, sign, triple, arm, has_angular, entry, lane, triples, jacobian, u_before):
    """Writes +-directions J of one side; returns the speed along the first direction and the next free entry."""
    speed = 0.0
    for c in range(9):
        jacobian[entry, c, lane] = sign * directions[c]
    triples[entry, lane] = triple
    for c in range(3):
        speed += sign * directions[c] * u_before[triple, c]
    if not has_angular:
        return speed, entry + 1
    turned = multiply(directions, cross_matrix(arm))
    triples[entry + 1, lane] = triple + 1
    for c in range(9):
        jacobian[entry + 1, c, lane] = -sign * turned[c]
    for c in range(3):
        speed -= sign * turned[c] * u_before[triple + 1, c]
    return speed, entry + 2


@kernel
def fill_contacts(
    node,
    a,
    b,
    moving_b,
    point,
    normal,
    gap,
    friction,
    restitution,
    threshold,
    body_position,
    u_before,
    node_count,
    h,
    start,
    slice_,
    lane_,
    triples,
    jacobian,
    target,
    low,
    high,
    friction_out,
):
    """Jacobian, target and bounds of every contact block."""
    for k in range(node.shape[0]):
        s, lane = slice_[k], lane_[k]
        n = (normal[k, 0], normal[k, 1], normal[k, 2])
        t1, t2 = tangent_frame(n)
        directions = (n[0], n[1], n[2], t1[0], t1[1], t1[2], t2[0], t2[1], t2[2])
        p = (point[k, 0], point[k, 1], point[k, 2])
        entry = start[s]
        if node[k] >= 0:
            speed, entry = _store_side(directions, 1.0, node[k], p, False, entry, lane, triples, jacobian, u_before)
        else:
            centre = (body_position[a[k], 0], body_position[a[k], 1], body_position[a[k], 2])
            first = node_count + 2 * a[k]
            speed, entry = _store_side(
                directions, 1.0, first, subtract(p, centre), True, entry, lane, triples, jacobian, u_before
            )
        if moving_b[k]:
            centre = (body_position[b[k], 0], body_position[b[k], 1], body_position[b[k], 2])
            first = node_count + 2 * b[k]
            more, entry = _store_side(
                directions, -1.0, first, subtract(p, centre), True, entry, lane, triples, jacobian, u_before
            )
            speed += more
        target[s, 0, lane] = restitution_target(gap[k], speed, restitution[k], threshold, h, RECOVERY, MAX_RECOVERY)
        low[s, 0, lane] = 0.0
        low[s, 1, lane], high[s, 1, lane], low[s, 2, lane], high[s, 2, lane] = 0.0, 0.0, 0.0, 0.0
        friction_out[s, lane] = friction[k]
