"""Closing the gaps of joints by moving positions; see solve.drift for when."""

import numpy as np

from pliant.kernels.cpu.linalg.friction import no_friction
from pliant.kernels.cpu.linalg.mprgp import solve_mprgp
from pliant.kernels.cpu.system import transposed_product
from pliant.kernels.cpu.table import row_diagonals
from pliant.linalg.operators import rows_only
from pliant.rows.table import Rows

# Gaps of joints are closed to this part of themselves; redundant joints make more neither possible nor useful.
GAP_REDUCTION, GAP_REGULARIZATION, GAP_PRODUCTS = 0.1, 1e-3, 60


def close_joint_gaps(model, rows: Rows, inverse_mass, dtype) -> tuple[np.ndarray, int]:
    """Displacement of the triples (n + 2 b, 3) that closes the gaps -target of rigid joints, and the products it
    took."""
    diagonal = np.empty(rows.target.shape)
    geometry = (rows.start, rows.triples, rows.jacobian)
    row_diagonals(*geometry, rows.compliance, inverse_mass, GAP_REGULARIZATION, diagonal)
    compliance = rows.compliance + GAP_REGULARIZATION * diagonal
    operator = rows_only(model.triple_count, rows, compliance, inverse_mass, diagonal, dtype)
    b = (operator.scale * rows.target.ravel()).astype(dtype)
    x, unbounded = np.zeros_like(b), np.full_like(b, np.inf)
    arguments = (
        no_friction(dtype),
        x,
        np.empty((4, len(b)), dtype),
        GAP_REDUCTION,
        GAP_PRODUCTS,
        b.copy(),
        1,
    )
    products, _, _ = solve_mprgp(operator, b, -unbounded, unbounded, *arguments)
    move = np.empty((model.triple_count, 3), dtype)
    transposed_product(operator, x, move)
    return move, products
