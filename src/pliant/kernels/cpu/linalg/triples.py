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
    x, y, z = 0.0, 0.0, 0.0  # three sums, none of which waits for another
    for i in range(a.shape[0]):
        x += a[i, 0] * b[i, 0]
        y += a[i, 1] * b[i, 1]
        z += a[i, 2] * b[i, 2]
    return x + y + z


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
    x, y, z = 0.0, 0.0, 0.0
    for i in range(u.shape[0]):
        a, b, c = u[i, 0], u[i, 1], u[i, 2]
        x += a * (blocks[i, 0, 0] * a + blocks[i, 0, 1] * b + blocks[i, 0, 2] * c)
        y += b * (blocks[i, 1, 0] * a + blocks[i, 1, 1] * b + blocks[i, 1, 2] * c)
        z += c * (blocks[i, 2, 0] * a + blocks[i, 2, 1] * b + blocks[i, 2, 2] * c)
    return x + y + z


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
