"""Linear operators (kernels.operators), with one compiled `apply` for each kind.

Iterative methods (mprgp, pgs) are written once and compiled for the operator they are given. Every operator carries a
diagonal `scale` (split Jacobi preconditioning, BV 3.5): what it applies is scale A scale.
"""

from numba import types
from numba.extending import overload

from pliant.jit import kernel
from pliant.kernels.cpu.linalg.block_ldl import solve_factored
from pliant.kernels.cpu.system import row_product, transposed_product
from pliant.kernels.operators import DenseOperator, EliminatedOperator, SystemOperator


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
