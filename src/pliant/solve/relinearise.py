"""Joints at the end of a step instead of its start: their rows are filled anew where a velocity leads (theory 2).

Rows are linear in the velocity u. Filled at the start, C + h J u = 0, they are met to first order; filled where u_k
leads, C_k + h J_k (u - u_k) = 0, a few repetitions meet C = 0 itself, with forces along the Jacobian at the end. How
that Jacobian turns with a body held in tension is a stiffness (rows.joints.tensions), without which the repetitions of
light links that carry heavy loads would not settle.
"""

import numpy as np

from pliant.kernels.cpu.rigid import turn_bodies
from pliant.kernels.cpu.rows import row_rates
from pliant.rows import joints as joint_rows
from pliant.rows.assemble import StepRows
from pliant.rows.table import Rows, concatenate


def relinearise(model, state, rows: StepRows, u: np.ndarray, impulse: np.ndarray, h: float) -> np.ndarray:
    """Fill the joints of a step of length h from `state` where velocities u (triples, 3) lead; contacts stay. Returns
    h^2 times the stiffness (b, 3, 3) [kg m2] that the joints' impulses (slices, 3, LANES) give to turns of bodies."""
    n, blocks, joints = model.node_count, model.joints, Rows.empty(model.joints.start)
    rotation = state.body_rotation.copy()
    turn_bodies(h * np.ascontiguousarray(u[n + 1 :: 2]), rotation)
    joint_rows.fill(blocks, joints, state.x + h * u[:n], state.body_position + h * u[n::2], rotation, h)
    rate = np.empty(joints.target.shape)
    row_rates(joints.start, joints.triples, joints.jacobian, u, rate)
    # b = -f (C_k - h J_k u_k), f = 1 / (h + compliance damping) as in formulas.joints.soft_row
    share = np.ones((joints.slices, rate.shape[2]))
    share[blocks.slice, blocks.lane] = h / (h + blocks.compliance * blocks.damping)
    joints.target += share[:, None] * rate
    rows.joints, rows.table = joints, concatenate([joints, rows.touching])
    turning = joint_rows.tensions(blocks, np.ascontiguousarray(impulse), rotation, h)
    return turning[:, [0, 5, 4, 5, 1, 3, 4, 3, 2]].reshape(-1, 3, 3)
