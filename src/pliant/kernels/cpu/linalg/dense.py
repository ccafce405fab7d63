"""Rows into one dense matrix, and its factors."""

import math

from pliant.formulas.matrix3 import symmetric_multiply_vector
from pliant.jit import kernel
from pliant.kernels.lanes import LANES, load6


@kernel
def add_dense_rows(start, triples, jacobian, weight, matrix_inout):
    """Adds J^T G J of row blocks, weights G (slices, 6, LANES) in Voigt order, to the lower half of a matrix
    (3 n, 3 n)."""
    for s in range(start.shape[0] - 1):
        for lane in range(LANES):
            g = load6(weight, s, lane)
            if g[0] == 0.0 and g[1] == 0.0 and g[2] == 0.0:
                continue
            for j in range(start[s], start[s + 1]):
                column = 3 * triples[j, lane]
                for c in range(3):
                    pushed = symmetric_multiply_vector(
                        g, (jacobian[j, c, lane], jacobian[j, 3 + c, lane], jacobian[j, 6 + c, lane])
                    )
                    if pushed[0] == 0.0 and pushed[1] == 0.0 and pushed[2] == 0.0:
                        continue
                    for i in range(start[s], start[s + 1]):
                        row = 3 * triples[i, lane]
                        if row < column:
                            continue
                        for r in range(3):
                            matrix_inout[row + r, column + c] += (
                                jacobian[i, r, lane] * pushed[0]
                                + jacobian[i, 3 + r, lane] * pushed[1]
                                + jacobian[i, 6 + r, lane] * pushed[2]
                            )


@kernel
def factorise_lower(a_inout):
    """L of A = L L^T in place of the lower half of A (n, n), L^T in the upper one, one over the diagonal on it, as
    `two_level.solve_dense` takes them; whether A is positive."""
    n = a_inout.shape[0]
    for j in range(n):
        row = a_inout[j]
        total = row[j]
        for k in range(j):
            total -= row[k] * row[k]
        if not total > 0.0:
            return False
        inverse = 1.0 / math.sqrt(total)
        row[j] = inverse
        for i in range(j + 1, n):
            other, total = a_inout[i], a_inout[i, j]
            for k in range(j):
                total -= other[k] * row[k]
            other[j] = total * inverse
    for i in range(n):
        for j in range(i):
            a_inout[j, i] = a_inout[i, j]
    return True
