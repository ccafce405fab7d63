"""Joints at the end of a step instead of its start: their rows are filled anew where a velocity leads (theory 2).

Rows are linear in the velocity u. Filled at the start, C + h J u = 0, they are met to first order; filled where u_k
leads, C_k + h J_k (u - u_k) = 0, a few repetitions meet C = 0 itself, with forces along the Jacobian at the end. How
that Jacobian turns, with a body held in tension or a loaded spring, is a stiffness without which the repetitions of
light links that carry heavy loads would not settle.
"""

import numpy as np

from pliant.kernels.cpu.rigid import turn_bodies
from pliant.kernels.cpu.rows import row_rates
from pliant.rows import joints as joint_rows
from pliant.rows.table import Rows, concatenate
from pliant.solve.problem import StepRows


def relinearise(model, state, rows: StepRows, u: np.ndarray, impulse: np.ndarray, h: float) -> np.ndarray:
    """Fill the joints of a step of length h from `state` where velocities u (triples, 3) lead; contacts stay. Returns
    h^2 times the stiffness (triples, 3, 3) that the joints' impulses (slices, 3, LANES) have when bodies and springs
    turn."""
    n, blocks, joints = model.node_count, model.joints, Rows.empty(model.joints.start)
    rotation = state.body_rotation.copy()
    turn_bodies(h * np.ascontiguousarray(u[n + 1 :: 2]), rotation)
    joint_rows.fill(blocks, joints, state.x + h * u[:n], state.body_position + h * u[n::2], rotation, h)
    stiffness = np.zeros((model.triple_count, 3, 3))
    turning = joint_rows.tensions(blocks, np.ascontiguousarray(impulse), rotation, h)
    stiffness[n + 1 :: 2] = turning[:, [0, 5, 4, 5, 1, 3, 4, 3, 2]].reshape(-1, 3, 3)
    _add_turning_distances(blocks, joints, impulse, h, stiffness)
    rate = np.empty(joints.target.shape)
    row_rates(joints.start, joints.triples, joints.jacobian, u, rate)
    # b = -f (C_k - h J_k u_k), f = 1 / (h + compliance damping) as in formulas.joints.soft_row
    share = np.ones((joints.slices, rate.shape[2]))
    share[blocks.slice, blocks.lane] = h / (h + blocks.compliance * blocks.damping)
    joints.target += share[:, None] * rate
    rows.joints, rows.table = joints, concatenate([joints, rows.touching])
    return stiffness


def _add_turning_distances(blocks, joints: Rows, impulse: np.ndarray, h: float, out: np.ndarray) -> None:
    """Adds h |impulse| / length (|j|^2 - j j^T), j the row of each of the k triples a distance touches, times k: at
    least the stiffness of its turning, and without coupling."""
    which = np.flatnonzero(blocks.family == joint_rows.DISTANCE)
    slices, lanes = blocks.slice[which], blocks.lane[which]
    gap = -joints.target[slices, 0, lanes] * (h + blocks.compliance[which] * blocks.damping[which])
    length = np.maximum(blocks.rest[which, 0] + gap, 1e-12)
    width = joints.start[slices + 1] - joints.start[slices]
    pull = width * h * np.abs(impulse[slices, 0, lanes]) / length
    for k in range(int(width.max(initial=0))):
        some = k < width
        entry, lane = joints.start[slices[some]] + k, lanes[some]
        j = joints.jacobian[entry, :3, lane]
        block = np.einsum("ei,ei->e", j, j)[:, None, None] * np.eye(3) - j[:, :, None] * j[:, None, :]
        np.add.at(out, joints.triples[entry, lane], pull[some, None, None] * block)
