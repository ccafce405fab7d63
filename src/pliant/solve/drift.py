"""Drift control: after a step the rigid joints are put back together by moving positions, not velocities.

A step keeps joints to first order; turning bodies open gaps of order (h w)^2. Pulling them shut with velocities would feed
energy into the motion, so the gaps are closed by one mass-weighted projection: dx = M^-1 J^T mu, (J M^-1 J^T) mu = -C.
"""

import numpy as np

from pliant.kernels.cpu.rigid import turn_bodies
from pliant.kernels.cpu.system import transposed_product
from pliant.kernels.lanes import LANES
from pliant.linalg.friction import no_friction
from pliant.linalg.mprgp import solve_mprgp
from pliant.linalg.operators import SystemOperator
from pliant.rows import joints as joint_rows
from pliant.rows.table import Rows, row_diagonals, slot_adjacency

# Gaps below this part of the joint's arms are left to the next step.
TOLERATED_GAP = 1e-3
# Gaps are reduced to this part of themselves; redundant joints make more neither possible nor useful.
REDUCTION = 0.1
REGULARIZATION = 1e-3
MAX_PRODUCTS = 60


def close_gaps(model, state, inverse_mass: np.ndarray, dtype) -> int:
    """Move bodies and nodes so that rigid joints fit again; returns the products that took (0: nothing to do)."""
    blocks = model.joints
    rigid = blocks.compliance == 0
    if not rigid.any():
        return 0
    rows = Rows.empty(blocks.start)
    joint_rows.fill(blocks, rows, state.x, state.body_position, state.body_rotation, 1.0)
    gap = np.linalg.norm(rows.target[blocks.slice, :, blocks.lane], axis=1)
    if not np.any(gap[rigid] > TOLERATED_GAP * blocks.reach[rigid]):
        return 0
    rows.target[blocks.slice[~rigid], :, blocks.lane[~rigid]] = 0.0
    operator, b = _operator(model, rows, inverse_mass, np.dtype(dtype))
    x, unbounded = np.zeros_like(b), np.full_like(b, np.inf)
    work = np.empty((4, len(b)), b.dtype)
    arguments = (no_friction(b.dtype), x, work, REDUCTION, MAX_PRODUCTS, b.copy(), 1)
    products, _, _ = solve_mprgp(operator, b, -unbounded, unbounded, *arguments)
    move = np.empty((model.triple_count, 3), b.dtype)
    transposed_product(operator, x, move)
    n = model.node_count
    state.x = state.x + move[:n]
    state.body_position = state.body_position + move[n::2]
    turn_bodies(move[n + 1 :: 2].astype(np.float64), state.body_rotation)
    return products


def _operator(model, rows: Rows, inverse_mass, dtype) -> tuple[SystemOperator, np.ndarray]:
    """The joints' rows alone, scaled, and the scaled right-hand side -C; compliant rows are left out by a stiff diagonal."""
    diagonal = np.empty(rows.target.shape)
    geometry = (rows.start, rows.triples, rows.jacobian)
    row_diagonals(*geometry, rows.compliance, inverse_mass, REGULARIZATION, diagonal)
    adjacency = slot_adjacency(rows.triples, rows.jacobian, 0, model.triple_count)
    no_elements = np.zeros((0, 9, LANES), dtype)
    operator = SystemOperator(
        nodes=np.zeros((0, 4, LANES), np.int32),
        gradients=no_elements,
        rotation=no_elements,
        compliance=np.zeros((0, 2, LANES), dtype),
        basis=np.zeros(9, dtype),
        ones=np.zeros(3, dtype),
        start=rows.start,
        triples=rows.triples,
        jacobian=rows.jacobian.astype(dtype),
        compliance_rows=(REGULARIZATION * diagonal + rows.compliance).astype(dtype),
        adjacency_start=np.zeros(model.triple_count + 1, np.int64),
        adjacency=np.zeros(0, np.int64),
        row_adjacency_start=adjacency[0],
        row_adjacency=adjacency[1],
        inverse_mass=inverse_mass.astype(dtype),
        scale=(1 / np.sqrt(diagonal)).ravel().astype(dtype),
        velocity=np.empty((model.triple_count, 3), dtype),
        slots=np.zeros(rows.triples.size * 3 + 1, dtype),
    )
    return operator, (operator.scale * rows.target.ravel()).astype(dtype)
