"""Linear operators as named tuples of arrays, with one compiled `apply` for each kind.

Iterative methods (mprgp, pgs) are written once and compiled for the operator they are given. Every operator carries a
diagonal `scale` (split Jacobi preconditioning, BV 3.5): what it applies is scale A scale.
"""

from typing import NamedTuple

import numpy as np
from numba import types
from numba.extending import overload

from pliant.jit import kernel
from pliant.kernels.cpu.linalg.block_ldl import BlockFactor, solve_factored
from pliant.kernels.cpu.system import row_product, transposed_product


class DenseOperator(NamedTuple):
    """A dense symmetric matrix (n, n)."""

    matrix: np.ndarray
    scale: np.ndarray


class SystemOperator(NamedTuple):
    """J M^-1 J^T + R of elements and row slices, matrix-free; see kernels.cpu.system for the layout.

    nodes (groups, 4, LANES), gradients, rotation (groups, 9, LANES), compliance (groups, 2, LANES), basis (9,),
    ones (3,): elements. start (slices + 1), triples (entries, LANES), jacobian (entries, 9, LANES),
    compliance_rows (slices, 3, LANES): rows. adjacency*: slots of each triple. inverse_mass (triples, 6).
    velocity (triples, 3), slots: work space.
    """

    nodes: np.ndarray
    gradients: np.ndarray
    rotation: np.ndarray
    compliance: np.ndarray
    basis: np.ndarray
    ones: np.ndarray
    start: np.ndarray
    triples: np.ndarray
    jacobian: np.ndarray
    compliance_rows: np.ndarray
    adjacency_start: np.ndarray
    adjacency: np.ndarray
    row_adjacency_start: np.ndarray
    row_adjacency: np.ndarray
    inverse_mass: np.ndarray
    scale: np.ndarray
    velocity: np.ndarray
    slots: np.ndarray


class EliminatedOperator(NamedTuple):
    """J A^-1 J^T + R over row slices, A the factorised matrix of the nodes; `rows` has no elements and gathers
    forces."""

    rows: SystemOperator
    factor: BlockFactor
    scale: np.ndarray


def apply(operator, x, out):
    """out = scale A scale x. (Compiled code only: the overloads below say how for each operator.)"""
    raise TypeError(f"no compiled product for {type(operator).__name__}")


@kernel
def apply_dense(operator, x, out):
    """Product with a dense matrix."""
    n = x.shape[0]
    for i in range(n):
        total = 0.0
        for j in range(n):
            total += operator.matrix[i, j] * (operator.scale[j] * x[j])
        out[i] = operator.scale[i] * total


@kernel
def apply_system(operator, x, out):
    """Product with J M^-1 J^T + R."""
    transposed_product(operator, x, operator.velocity)
    row_product(operator, operator.velocity, x, out)


@kernel
def apply_transposed(operator, x):
    """rows.velocity = A^-1 J^T (scale x): the nodes through the factors, rigid bodies through their inverse masses."""
    velocity = operator.rows.velocity
    transposed_product(operator.rows, x, velocity)
    solve_factored(operator.factor, velocity[: operator.factor.order.shape[0]])


@kernel
def apply_eliminated(operator, x, out):
    """Product with J A^-1 J^T + R."""
    apply_transposed(operator, x)
    row_product(operator.rows, operator.rows.velocity, x, out)


COMPILED_PRODUCTS = {DenseOperator: apply_dense, SystemOperator: apply_system, EliminatedOperator: apply_eliminated}


@overload(apply)
def _apply(operator, x, out):
    product = isinstance(operator, types.NamedTuple) and COMPILED_PRODUCTS.get(operator.instance_class)
    if not product:
        return None

    def implementation(operator, x, out):
        product(operator, x, out)

    return implementation
