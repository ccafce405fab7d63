"""Drift control: after a step the rigid joints are put back together by moving positions, not velocities.

A step keeps joints to first order; turning bodies open gaps of order (h w)^2. Pulling them shut with velocities would
feed energy into the motion, so the gaps are closed by mass-weighted projections: dx = M^-1 J^T mu, (J M^-1 J^T) mu =
-C.
"""

from dataclasses import replace

import numpy as np

from pliant.kernels.cpu.rigid import turn_bodies
from pliant.model.state import State
from pliant.rows import joints as joint_rows
from pliant.rows.table import Rows
from pliant.solve.problem import Problem

# Gaps below this part of the joint's arms are left to the next step.
TOLERATED_GAP = 1e-3
# A projection is repeated, up to so many times, while a gap is larger than this part.
LARGE_GAP, MAX_PROJECTIONS = 1e-2, 3


def close_gaps(problem: Problem, state: State, solver) -> tuple[State, int]:
    """The state with bodies and nodes moved so that rigid joints fit again, and the products that took (0: nothing to
    do)."""
    model, products, tolerated = problem.model, 0, TOLERATED_GAP
    blocks = model.joints
    rigid = blocks.rigid
    if not rigid.any():
        return state, 0
    loose = np.flatnonzero(~rigid & (blocks.slice < blocks.equality_slices))
    for _ in range(MAX_PROJECTIONS):
        rows = Rows.empty(blocks.start)
        error = joint_rows.fill(blocks, rows, state.x, state.body_position, state.body_rotation, 1.0)
        rows = rows.between(0, blocks.equality_slices)
        gap = np.linalg.norm(error[blocks.slice[rigid], :, blocks.lane[rigid]], axis=1)
        if not np.any(gap > tolerated * blocks.reach[rigid]):
            break
        rows.target[blocks.slice[loose], :, blocks.lane[loose]] = 0.0
        move, used = solver.close_gaps(model, rows, problem.prediction.inverse_mass)
        state = _displaced(model, state, move)
        products, tolerated = products + used, LARGE_GAP
    return state, products


def _displaced(model, state: State, move: np.ndarray) -> State:
    """The state with nodes and bodies moved by displacement triples (n + 2 b, 3): metres and rotation vectors."""
    n, rotation = model.node_count, state.body_rotation.copy()
    turn_bodies(move[n + 1 :: 2].astype(np.float64), rotation)
    return replace(state, x=state.x + move[:n], body_position=state.body_position + move[n::2], body_rotation=rotation)
