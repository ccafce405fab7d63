"""A step of rigid bodies in joints in one call: the first iteration of Newton's method, where it is the last.

The loops are those that iterations use, in the same order (solve.newton.minimise); only what they share is not handed
back and forth. A step that is not done after it, or in which anything is not as it mostly is, is left to them.
"""

import math

import numpy as np

from pliant.jit import kernel
from pliant.kernels.cpu.ahead import (
    add_turning_blocks,
    evaluate_rows,
    follow_joints,
    largest_gap,
    lead_joints,
    row_mismatch,
    soften_rows,
)
from pliant.kernels.cpu.balance import (
    add_pulls,
    balance_squares,
    balance_weights,
    inertia_terms,
    mass_blocks,
    row_errors,
)
from pliant.kernels.cpu.joints import fill_blocks, late_torques
from pliant.kernels.cpu.kinks import model_gradient
from pliant.kernels.cpu.linalg.block_ldl import factorise, norm_by_diagonals, solve_factored
from pliant.kernels.cpu.linalg.scatter import assemble_pairs
from pliant.kernels.cpu.linalg.triples import dot, multiply_diagonal, quadratic_diagonal
from pliant.kernels.cpu.rows import add_row_impulses, row_rates
from pliant.kernels.cpu.table import count_rows
from pliant.kernels.rows import LinearRows


@kernel
def _take(factor, source, out):
    """Writes factor times an array. (Slices that are assigned take several times as long to compile.)"""
    from_, to = source.reshape(-1), out.reshape(-1)
    for i in range(to.shape[0]):
        to[i] = factor * from_[i]


@kernel
def _clear(out):
    """Writes zeros."""
    to = out.reshape(-1)
    for i in range(to.shape[0]):
        to[i] = 0.0


@kernel
def _begin(tree, given, h, most, room, warm, estimate_out):
    """Masses, and rows as a potential that starts from impulses `warm` (slices, 3, LANES) (rows.potential)."""
    start, triples, jacobian, target, low, _, friction, compliance = given.rows
    _clear(room.mass)
    mass_blocks(np.empty(0), tree.mass, tree.static, given.inverse_mass, room.mass)
    _take(1.0, multiply_diagonal(room.mass, given.predicted), room.push)
    masses = (given.inverse_mass, given.inverse_mass[:0], given.inverse_mass)
    table = (start, triples, jacobian, compliance, low, friction, *masses)
    others = (1.0, 1.0, 1.0, 1.0, 0, start.shape[0] - 1)  # there are no contacts
    soften_rows(
        *table, tree.softness, *others, most.no_mobility, most.no_impulse, room.mobility, room.hard, room.compliance
    )
    for s in range(target.shape[0]):
        for row in range(target.shape[1]):
            for lane in range(target.shape[2]):
                own = warm[s, row, lane] if room.hard[s, row, lane] else 0.0
                room.shift[s, row, lane] = own
                beyond = room.compliance[s, row, lane] - compliance[s, row, lane]
                room.target[s, row, lane] = target[s, row, lane] + beyond * own
                estimate_out[s, row, lane] = warm[s, row, lane]
    _clear(room.slip)


@kernel
def _evaluate(tree, given, h, room, estimate, u):
    """The potential [J] at velocities u, and the part of it that rows are; all that belongs to it stays in the room."""
    start, triples, jacobian, _, low, high, friction, _ = given.rows
    value = inertia_terms(room.mass, room.push, u, room.gradient)
    places = (triples, jacobian, room.error)
    lead_joints(tree.coordinates, tree.watched, given.pose, h, u, room.turn, room.pose)
    fill_blocks(tree.blocks, *room.pose, True, *places)
    follow_joints(tree.blocks.start, given.error, h, given.pose[1].shape[0], room.turn, *places, room.rate)
    rows = (start, triples, jacobian, room.target, low, high, friction, room.compliance)
    answers = (room.slip, room.impulse, room.curvature, room.gradient)
    of_joints, _ = evaluate_rows(rows, u, tree.blocks, estimate, room.error, h, room.rate, *answers)
    return value + of_joints, of_joints


@kernel
def _restrict(free, vector_inout):
    for i in range(free.shape[0]):
        for c in range(3):
            vector_inout[i, c] *= free[i, c]


@kernel
def _factorise(tree, given, h, room, estimate):
    """The Hessian at what was last evaluated, and its factors."""
    _take(1.0, room.mass, room.assembled)
    jacobian = given.rows[2]
    add_turning_blocks(tree.blocks, estimate, jacobian, room.pose[3], h, 0, room.assembled)
    places = (tree.order, tree.column_start, tree.row, tree.diagonal, tree.pairs)
    assemble_pairs(*places, room.assembled, jacobian, room.curvature, tree.free, room.values, room.inverse)
    columns = (tree.column_start, tree.row, tree.parent, tree.start)
    factors = room.factors
    factorise(*columns, room.values, factors.row, factors.lower, factors.pivot)


@kernel
def _direction(tree, given, room, little, estimate_out):
    """Newton's direction into the room; the size of the gradient, and whether rows push at its end as they do at its
    start: then `estimate_out` are their impulses there (solve.newton.kinks)."""
    start, triples, jacobian, _, low, high, friction, _ = given.rows
    _restrict(tree.free, room.gradient)
    size = norm_by_diagonals(room.inverse, room.gradient)
    _take(-1.0, room.gradient, room.direction)
    solve_factored(room.factors, room.direction)
    row_rates(start, triples, jacobian, room.direction, room.change)
    bounds = (room.target, low, high, room.compliance, friction)
    rows = LinearRows(*bounds, tree.tangents, room.impulse, room.curvature)
    for s in range(room.ahead.shape[0]):
        for row in range(3):
            for lane in range(room.ahead.shape[2]):
                room.ahead[s, row, lane] = room.rate[s, row, lane] + room.change[s, row, lane]
    pull = multiply_diagonal(room.assembled, room.direction)
    slope = (room.gradient, pull, tree.free, room.ahead, room.rate)
    model_gradient(start, triples, jacobian, rows, *slope, estimate_out, room.foreseen, room.left)
    for s in range(room.foreseen.shape[0]):
        for row in range(room.foreseen.shape[1]):
            for lane in range(room.foreseen.shape[2]):
                if room.foreseen[s, row, lane] != room.curvature[s, row, lane]:
                    return size, False
    return size, norm_by_diagonals(room.inverse, room.left) <= little * size


@kernel
def _rounding(room, h, most):
    """Twice the energy [J] that the rounding of the joints' errors makes."""
    total = 0.0
    for s in range(room.hard.shape[0]):
        for row in range(room.hard.shape[1]):
            for lane in range(room.hard.shape[2]):
                if room.hard[s, row, lane]:
                    total += 1.0 / room.compliance[s, row, lane]
    return total * (most.blur * most.size / h) ** 2


@kernel
def _scale(tree, given, room, u, rounding):
    """Twice the energy [J] of the motion in a step, the measure of corrections."""
    _take(1.0, given.kick, room.right)
    _restrict(tree.free, room.right)
    total = quadratic_diagonal(room.mass, room.right)
    for i in range(u.shape[0]):
        for c in range(3):
            room.right[i, c] = tree.free[i, c] * (u[i, c] - given.before[i, c])
    return total + quadratic_diagonal(room.mass, room.right) + rounding * quadratic_diagonal(room.mass, u)


@kernel
def _left(tree, given, h, room, u, size, slope, most):
    """What is left to correct at velocities u after a step with that slope, relative to the motion (the residual of
    solve.newton.criteria), estimated once more where that is worth it."""
    scale, blur = _scale(tree, given, room, u, most.rounding), _rounding(room, h, most)
    slips, joints = (room.slip, room.slip), (tree.per_reach, False, most.stiff_part)
    rows = (room.hard, room.compliance, room.impulse, room.shift, room.mobility, given.rows[6])
    lag = row_mismatch(*rows, *slips, *joints, np.empty((0, 3, room.impulse.shape[2])))
    left = abs(slope) + lag
    found = 0.0 if left <= blur else math.sqrt(left / scale) if scale > 0.0 else 1.0
    _restrict(tree.free, room.gradient)
    if found <= most.tolerance:
        return found
    if found * norm_by_diagonals(room.inverse, room.gradient) > most.promising * most.tolerance * size:
        return found
    _take(-1.0, room.gradient, room.right)
    solve_factored(room.factors, room.right)
    left = -dot(room.gradient, room.right)
    if left < 0.0:
        return math.inf
    left += lag
    return 0.0 if left <= blur else math.sqrt(left / scale) if scale > 0.0 else 1.0


@kernel
def _imbalance(tree, given, h, room, u, impulse, most):
    """How far velocities and impulses are from the equations of the step, as solve.residual measures it."""
    start, triples, jacobian, target, low, high, friction, compliance = given.rows
    _clear(room.stiffness)
    add_pulls(tree.blocks, tree.points, tree.reach, impulse, h, 0, room.stiffness)
    balance_weights(given.inverse_mass, room.stiffness, tree.free, room.weight)
    _clear(room.right)
    add_row_impulses(start, triples, jacobian, impulse, room.right)
    motion = (room.mass, u, given.predicted, given.before, np.empty((0, 3)))
    balance, inertia, applied, _, joined = balance_squares(*motion, h, room.right, room.weight)
    bounds = (target, compliance, low, high, friction)
    errors = row_errors(start, triples, jacobian, *bounds, room.weight, u, room.rate, impulse, most.no_row)
    rounding = most.steady**2 * quadratic_diagonal(room.mass, u)
    largest = max(inertia, applied, joined)
    return math.sqrt((max(balance - rounding, 0.0) + errors) / largest) if largest > rounding else 0.0


@kernel
def _late_torques(given, room, u, torque_out):
    """What the torques (b, 3) [N m s] of joints are more at the end of the step than seen from its start, by what
    bodies turn at u."""
    for i in range(u.shape[0]):
        for c in range(3):
            room.right[i, c] = u[i, c] - given.predicted[i, c]
    taken = multiply_diagonal(room.mass, room.right)
    for b in range(torque_out.shape[0]):
        for c in range(3):
            torque_out[b, c] = taken[2 * b + 1, c]
    late_torques(room.turn, torque_out)


@kernel
def straight_step(tree, given, h, most, warm, room, u_out, impulse_out, torque_out):
    """Whether a step from impulses `warm` (slices, 3, LANES) is done after one iteration; its residual, its imbalance,
    how many rows it has, and how many systems were solved: velocities (triples, 3), impulses (slices, 3, LANES) and
    late torques (b, 3) at its end."""
    _begin(tree, given, h, most, room, warm, impulse_out)
    value, of_joints = _evaluate(tree, given, h, room, impulse_out, given.first)
    gap = largest_gap(room.error, room.hard, tree.per_reach, tree.per_range)
    if not (math.isfinite(value) and value - of_joints <= 0.0 and gap <= most.fitted):
        return False, 1.0, 1.0, 0
    _factorise(tree, given, h, room, impulse_out)
    size, same = _direction(tree, given, room, most.little, impulse_out)
    slope = dot(room.gradient, room.direction)
    if not (same and slope < 0.0):
        return False, 1.0, 1.0, 0
    for i in range(u_out.shape[0]):
        for c in range(3):
            u_out[i, c] = given.first[i, c] + room.direction[i, c]
    highest = value + most.sufficient * slope + 100.0 * most.rounding * (abs(value) + abs(slope))
    value, _ = _evaluate(tree, given, h, room, impulse_out, u_out)
    if not value <= highest:
        return False, 1.0, 1.0, 0
    residual = _left(tree, given, h, room, u_out, size, slope, most)
    end, gap = dot(room.gradient, room.direction), largest_gap(room.error, room.hard, tree.per_reach, tree.per_range)
    if not (abs(end) <= most.overshoot * abs(slope) and residual <= most.tolerance and gap <= most.closed):
        return False, 1.0, 1.0, 0
    if not np.abs(room.turn).max() < most.unique:
        return False, 1.0, 1.0, 0
    for s in range(impulse_out.shape[0]):
        for row in range(impulse_out.shape[1]):
            for lane in range(impulse_out.shape[2]):
                if not room.hard[s, row, lane]:
                    impulse_out[s, row, lane] = room.impulse[s, row, lane]
    imbalance = _imbalance(tree, given, h, room, u_out, impulse_out, most)
    _late_torques(given, room, u_out, torque_out)
    return imbalance <= most.imbalance, residual, imbalance, count_rows(given.rows[0], given.rows[2])
