"""Drift control: after a step the rigid joints are put back together by moving positions, not velocities.

A step keeps joints to first order; turning bodies open gaps of order (h w)^2. Pulling them shut with velocities would
feed energy into the motion, so the gaps are closed by mass-weighted projections: dx = M^-1 J^T mu, (J M^-1 J^T) mu =
-C.
"""

import numpy as np

from pliant.kernels.cpu.rigid import turn_bodies
from pliant.rows import joints as joint_rows
from pliant.rows.table import Rows

# Gaps below this part of the joint's arms are left to the next step.
TOLERATED_GAP = 1e-3
# A projection is repeated, up to so many times, while a gap is larger than this part.
LARGE_GAP, MAX_PROJECTIONS = 1e-2, 3


def close_gaps(model, state, solver, inverse_mass: np.ndarray) -> int:
    """Move bodies and nodes so that rigid joints fit again; returns the products that took (0: nothing to do)."""
    blocks, products, tolerated = model.joints, 0, TOLERATED_GAP
    rigid = blocks.compliance == 0
    if not rigid.any():
        return 0
    for _ in range(MAX_PROJECTIONS):
        rows = Rows.empty(blocks.start)
        joint_rows.fill(blocks, rows, state.x, state.body_position, state.body_rotation, 1.0)
        gap = np.linalg.norm(rows.target[blocks.slice, :, blocks.lane], axis=1)
        if not np.any(gap[rigid] > tolerated * blocks.reach[rigid]):
            break
        rows.target[blocks.slice[~rigid], :, blocks.lane[~rigid]] = 0.0
        move, used = solver.close_gaps(model, rows, inverse_mass)
        _displace(model, state, move)
        products, tolerated = products + used, LARGE_GAP
    return products


def _displace(model, state, move: np.ndarray) -> None:
    """Move nodes and bodies by displacement triples (n + 2 b, 3): metres and rotation vectors."""
    n = model.node_count
    state.x = state.x + move[:n]
    state.body_position = state.body_position + move[n::2]
    turn_bodies(move[n + 1 :: 2].astype(np.float64), state.body_rotation)
