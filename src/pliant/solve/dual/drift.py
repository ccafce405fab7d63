"""Drift control: after a step rows that are linear in the velocity are put where they were meant to be, by moving
positions, not velocities.

A step meets joints to first order; turning bodies open gaps of order (h w)^2 and stretch stiff springs by as much.
Pulling them shut with velocities would feed energy into the motion, so positions are moved by h w, where w is the
velocity of least energy, against masses, springs and elements, with J w + R mu = -gap / h (theory section 2).
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from pliant.model.state import State
from pliant.rows import joints as joint_rows
from pliant.rows.table import Rows
from pliant.solve.problem import Problem, Solution

# Gaps below this part of the joint's arms are left to the next step, of stiff springs less, by their energy. A
# projection is repeated, up to so many times, while a gap is larger than the second part of them. A solver for which
# closing them is cheap says less (`gap_parts`).
TOLERATED_GAP, LARGE_GAP, MAX_PROJECTIONS, STIFFEST = 1e-3, 1e-3, 8, 1e-2
# The part of a gap that a projection may leave before one with levelled masses is tried instead; and the part of the
# arms up to which gaps are left open where neither closes them by iterations: redundant joints make that slow.
CLOSING, STUCK = 0.5, 1e-2
# How many times the lightest the heaviest rigid body is where masses are worth levelling.
UNEVEN = 10.0
# Joints have strayed that are open by this part of their arms before they are put back together, or by this part after
# it; limits [rad] by the same, and what it pushes things that touch into each other by.
STRAYED, OPEN = 0.05, 5e-3
# Part of a motion from which on, where putting joints back takes it back, it is taken from the velocities too.
TAKEN_BACK = 0.25


def straying(model, state: State) -> float:
    """How far rigid joints are open and limits overrun, in parts of what counts as strayed."""
    blocks = model.joints
    if not len(blocks.family):
        return 0.0
    return _open_by(blocks, _rows_at(blocks, state, 1.0)[1]) / OPEN


def close_gaps(problem: Problem, solution: Solution, state: State, solver) -> State:
    """The state with bodies and nodes moved so that rigid joints fit again, limits and ropes are not overrun and
    springs are as long as their rows say; the report is told the products that took and how far joints strayed."""
    model, info, h, blocks = problem.model, solution.info, problem.h, problem.model.joints
    if not len(blocks.family):
        return state
    rows, error = _rows_at(blocks, state, h)
    measure = _measures(problem)
    meant = _meant(problem, solution, measure)
    tolerated, large_gap, stuck = getattr(solver, "gap_parts", (TOLERATED_GAP, LARGE_GAP, STUCK))
    rigid = blocks.rigid | blocks.rigid_limits
    apart = _apart(blocks, error, meant)
    size = _sizes(blocks, apart)
    gap, large = _largest(size, measure), _largest(size, np.where(measure < np.inf, blocks.reach, np.inf)) / STRAYED
    back = np.zeros(solution.u.shape)
    for _ in range(MAX_PROJECTIONS):
        if not gap > tolerated:
            break
        before = gap
        for own in _weighings(problem):
            move, used = solver.close_gaps(own, state, _to_close(blocks, rows, apart, h))
            moved = _displaced(model, state, h * move)
            found = _rows_at(blocks, moved, h)
            info.drift_iterations += used
            left = _apart(blocks, found[1], meant)
            size = _sizes(blocks, left)
            gap = _largest(size, measure)
            if gap <= CLOSING * before:
                break
        back += move
        large = max(large, _pushed(problem, h * move) / OPEN)
        state, (rows, error), apart = moved, found, left
        if gap > CLOSING * before and _open_by(blocks, error) <= stuck:
            break
        measure = np.where(rigid, large_gap / tolerated * blocks.reach, measure)
        gap = _largest(size, measure)
    info.straying = max(large, _open_by(blocks, error) / OPEN)
    return _slowed(problem, solution, state, back)


def _slowed(problem: Problem, solution: Solution, state: State, back: np.ndarray) -> State:
    """The state with velocities that have lost what putting things back, by velocities (triples, 3), took of the step's
    motion, where that is much: joints and springs that resist a motion to second order alone stop it, and what forces
    would have done along the way is not done."""
    model, dot = problem.model, problem.model.device.linalg.triples.dot
    back = model.free_triples * back
    pull = model.device.linalg.triples.multiply_diagonal(problem.mass, back)
    taken, motion = -dot(pull, solution.u), model.device.linalg.triples.quadratic_diagonal(problem.mass, solution.u)
    if not taken > TAKEN_BACK * motion:
        return state
    u = state.velocity_triples() + min(1.0, taken / dot(pull, back)) * back
    n = model.node_count
    return state.changed(v=u[:n], body_velocity=u[n::2], body_angular_velocity=u[n + 1 :: 2])


def _apart(blocks, error: np.ndarray, meant: np.ndarray) -> np.ndarray:
    """By how much (slices, 3, LANES) [m or rad] rows are from where they are meant to be: equalities, and limits and
    ropes that are overrun."""
    apart = error - meant
    apart[blocks.equality_slices :] = 0.0
    own = (blocks.slice[blocks.rigid_limits], slice(0, 2), blocks.lane[blocks.rigid_limits])
    apart[own] = np.minimum(error[own], 0.0)
    return apart


def _to_close(blocks, rows: Rows, apart: np.ndarray, h: float) -> Rows:
    """The joints' rows with velocities that close gaps (slices, 3, LANES) in h [s] as targets, without limits that are
    not overrun and without motors."""
    gone = apart[blocks.equality_slices :] == 0.0
    rows = replace(rows, target=-apart / h, jacobian=rows.jacobian.copy(), compliance=rows.compliance.copy())
    rows.compliance[blocks.equality_slices :] = 0.0
    for s, without in enumerate(gone, start=blocks.equality_slices):
        entries = slice(rows.start[s], rows.start[s + 1])
        rows.jacobian[entries] *= ~np.repeat(without, 3, axis=0)
    return rows


def _weighings(problem: Problem) -> Iterator[Problem]:
    """The problem; and, where masses are uneven, with all rigid bodies as heavy as the heaviest. Where light links are
    stretched out between heavy bodies, turning them far costs nothing and closes no gap; then the heavy ones have to
    move."""
    yield problem
    inverse, n = problem.prediction.inverse_mass.copy(), problem.model.node_count
    weight = inverse[n::2, :1]
    least = weight[weight > 0].min(initial=np.inf)
    if weight.max(initial=0.0) > UNEVEN * least:
        share = least / np.maximum(weight, 1e-300)
        inverse[n::2] *= share
        inverse[n + 1 :: 2] *= share
        yield replace(problem, prediction=replace(problem.prediction, inverse_mass=inverse))


def _rows_at(blocks, state: State, h: float) -> tuple[Rows, np.ndarray]:
    """The joints' rows at a state, and their errors (slices, 3, LANES) [m or rad]."""
    rows = Rows.empty(blocks.start)
    return rows, joint_rows.fill(blocks, rows, state.pose, h)


def _meant(problem: Problem, solution: Solution, measure: np.ndarray) -> np.ndarray:
    """Errors (slices, 3, LANES) that joints have at the end of the step: none of rigid ones; of stiff springs, whose
    gaps are measured (n,), by their impulses, for an error of their rates that is nothing beside the motion stores much
    energy; of others by their rates."""
    rows, blocks = problem.rows, problem.model.joints
    if blocks.rigid.all():
        return np.zeros_like(rows.error)
    table = rows.table.between(0, rows.joint_slices)
    rate = np.empty(table.target.shape)
    problem.model.device.rows.row_rates(table.start, table.triples, table.jacobian, solution.u, rate)
    stiff = (measure < np.inf) & ~blocks.rigid & (blocks.slice < blocks.equality_slices)
    place = (blocks.slice[stiff], slice(None), blocks.lane[stiff])
    rate[place] = table.target[place] - table.compliance[place] * solution.impulses[place]
    meant = rows.error + problem.h * rate
    meant[blocks.slice[blocks.rigid], :, blocks.lane[blocks.rigid]] = 0.0
    return meant


def _measures(problem: Problem) -> np.ndarray:
    """What the gaps of every block (n,) are measured by: the arms of rigid joints; of springs less, as their energy
    grows beside that of a motion by as much in the step; nothing of soft ones, of soft limits and of motors."""
    blocks, table = problem.model.joints, problem.rows.table.between(0, problem.rows.joint_slices)
    if blocks.rigid.all():
        return blocks.reach
    mobility = np.empty(table.target.shape)
    geometry, row_mobilities = (table.start, table.triples, table.jacobian), problem.model.device.table.row_mobilities
    row_mobilities(*geometry, problem.prediction.inverse_mass, mobility)
    place = (blocks.slice, slice(None), blocks.lane)
    ratio = (table.compliance[place].max(axis=1) / np.maximum(mobility[place].max(axis=1), 1e-300)) ** 0.5
    springs = np.where(ratio < 1.0, blocks.reach * np.maximum(ratio, STIFFEST), np.inf)
    springs[blocks.slice >= blocks.equality_slices] = np.inf
    return np.where(blocks.rigid | blocks.rigid_limits, blocks.reach, springs)


def _sizes(blocks, gap: np.ndarray) -> np.ndarray:
    """How large the gaps (slices, 3, LANES) of blocks (n,) are."""
    own = gap.transpose(0, 2, 1)[blocks.slice, blocks.lane]
    return np.sqrt(own[:, 0] ** 2 + own[:, 1] ** 2 + own[:, 2] ** 2)


def _largest(size: np.ndarray, measure: np.ndarray) -> float:
    """The largest gap relative to its measure, both (n,)."""
    return float((size / measure).max(initial=0.0))


def _pushed(problem: Problem, move: np.ndarray) -> float:
    """How far displacements (triples, 3) [m] push things into each other where they touch, relative to their size, with
    what they were deep before."""
    rows, table = problem.rows, problem.rows.table
    if not len(rows.contacts):
        return 0.0
    rate = np.empty(table.target.shape)
    geometry = (table.start, table.triples, table.jacobian)
    problem.model.device.rows.row_rates(*geometry, move.astype(np.float64), rate)
    push = -rate.ravel()[rows.contact_index]
    deep = np.where(push > 0.0, push + np.maximum(-rows.contacts.gap, 0.0), 0.0)
    return float((deep / problem.model.colliders.size_of(rows.contacts)).max())


def _open_by(blocks, error: np.ndarray) -> float:
    """The largest error of rigid joints relative to their reach, or overrun of a rigid limit [rad]."""
    limits = blocks.rigid_limits
    overrun = -error[blocks.slice[limits], :2, blocks.lane[limits]].min(initial=0.0)
    return max(_largest(_sizes(blocks, error), np.where(blocks.rigid, blocks.reach, np.inf)), float(overrun))


def _displaced(model, state: State, move: np.ndarray) -> State:
    """The state with nodes and bodies moved by displacement triples (n + 2 b, 3): metres and rotation vectors."""
    n, rotation = model.node_count, state.body_rotation.copy()
    model.device.rigid.turn_bodies(move[n + 1 :: 2].astype(np.float64), rotation)
    return replace(state, x=state.x + move[:n], body_position=state.body_position + move[n::2], body_rotation=rotation)
