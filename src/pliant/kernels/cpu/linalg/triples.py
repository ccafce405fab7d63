"""Small compiled helpers on vectors of triples (n, 3) and their diagonal blocks (n, 3, 3).

(NumPy's products wake BLAS threads, whose spinning slows ours, and einsum takes its time over small blocks.)
"""

import numpy as np

from pliant.jit import kernel


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
