"""Small compiled helpers on vectors of triples (n, 3) and their diagonal blocks (n, 3, 3).

(NumPy's products wake BLAS threads, whose spinning slows ours, and einsum takes its time over small blocks.)
"""

import numpy as np

from pliant.formulas.matrix3 import positive_inverse
from pliant.jit import kernel

# Pivots of an inverse below this part of their diagonal number are rounding.
LEAST_PIVOT = 1e-15


@kernel
def dot(a, b):
    """Sum of a b over arrays (n, 3)."""
    total = 0.0
    for i in range(a.shape[0]):
        for c in range(a.shape[1]):
            total += a[i, c] * b[i, c]
    return total


@kernel
def multiply_diagonal(blocks, u):
    """blocks u (n, 3) for diagonal blocks (n, 3, 3)."""
    out = np.empty_like(u)
    for i in range(u.shape[0]):
        for r in range(3):
            out[i, r] = blocks[i, r, 0] * u[i, 0] + blocks[i, r, 1] * u[i, 1] + blocks[i, r, 2] * u[i, 2]
    return out


@kernel
def quadratic_diagonal(blocks, u):
    """u^T blocks u."""
    total = 0.0
    for i in range(u.shape[0]):
        for r in range(3):
            total += u[i, r] * (blocks[i, r, 0] * u[i, 0] + blocks[i, r, 1] * u[i, 1] + blocks[i, r, 2] * u[i, 2])
    return total


@kernel
def inverse_blocks(voigt):
    """Blocks (n, 3, 3): inverses of symmetric positive ones in Voigt order (n, 6); components that have nothing at all
    have nothing there either."""
    out = np.empty((voigt.shape[0], 3, 3))
    for k in range(voigt.shape[0]):
        s = voigt[k]
        i = positive_inverse((s[0], s[1], s[2], s[3], s[4], s[5]), LEAST_PIVOT)
        out[k, 0, 0], out[k, 1, 1], out[k, 2, 2] = i[0], i[1], i[2]
        out[k, 1, 2] = out[k, 2, 1] = i[3]
        out[k, 0, 2] = out[k, 2, 0] = i[4]
        out[k, 0, 1] = out[k, 1, 0] = i[5]
    return out
