"""Sparse L D L^T of symmetric positive matrices of 3x3 blocks: numbers of the factors, solves, products.

L is unit lower triangular and D diagonal, number by number: blocks only save indices. No block is ever inverted, for
an inverse in numbers loses the square of the block's condition; so the factors are those of A to rounding, as
Cholesky's are.
"""

import math

import numpy as np

from pliant.formulas.matrix3 import positive_inverse, symmetric_multiply_vector
from pliant.jit import kernel

# Of a pivot below the first part of its diagonal number even the sign may be rounding: it counts as positive, and for
# no less than the second part.
DOUBTFUL_PIVOT, LEAST_PIVOT = 1e-12, 1e-15


@kernel
def elimination_tree(column_start, row):
    """Parents, and the number of blocks below the diagonal in each column of L."""
    n = column_start.shape[0] - 1
    parent, flag, counts = np.full(n, -1), np.full(n, -1), np.zeros(n, np.int64)
    for k in range(n):
        flag[k] = k
        for p in range(column_start[k], column_start[k + 1]):
            i = row[p]
            while flag[i] != k:
                if parent[i] == -1:
                    parent[i] = k
                counts[i] += 1
                flag[i] = k
                i = parent[i]
    return parent, counts


@kernel
def inverse_pivot(pivot, whole):
    """1 / pivot; whole: the number of the matrix at its place. Zero where the matrix has nothing there at all."""
    size = abs(whole)
    if abs(pivot) < DOUBTFUL_PIVOT * size:
        pivot = max(abs(pivot), LEAST_PIVOT * size)
    return 1.0 / pivot if pivot != 0.0 else 0.0


@kernel
def _factorise_pivot(d, whole, out):
    """out (6,) from the lower triangle of a diagonal block d (3, 3); whole (3,): its diagonal before elimination."""
    i0 = inverse_pivot(d[0, 0], whole[0])
    l10, l20 = d[1, 0] * i0, d[2, 0] * i0
    i1 = inverse_pivot(d[1, 1] - l10 * d[1, 0], whole[1])
    rest = d[2, 1] - l20 * d[1, 0]
    l21 = rest * i1
    i2 = inverse_pivot(d[2, 2] - l20 * d[2, 0] - l21 * rest, whole[2])
    out[0], out[1], out[2], out[3], out[4], out[5] = l10, l20, l21, i0, i1, i2


@kernel
def factorise(column_start, row, parent, start, values, row_out, lower_out, pivot_out):
    """Numbers of L and D from the upper blocks `values` (k, 3, 3); of diagonal blocks the lower triangle counts."""
    n = column_start.shape[0] - 1
    out = (np.zeros(n, np.int64), row_out, lower_out, pivot_out)
    factorise_run(0, 0, n, column_start, row, parent, start, values, *out)


@kernel
def factorise_run(begin, first, end, column_start, row, parent, start, values, filled, row_out, lower_out, pivot_out):
    """The same of columns from `first` to `end`, which have nothing to do with those before `begin`; those from there
    on to `first` are done. filled (n,): blocks of every column that are there."""
    n = end - begin  # columns are counted from the first
    flag = np.full(n, -1)
    pattern, path = np.empty(n, np.int64), np.empty(n, np.int64)
    y, diagonal, whole = np.zeros((n, 3, 3)), np.empty((3, 3)), np.empty(3)
    parent, start, pivot_out = parent[begin:end], start[begin:end], pivot_out[begin:end]
    filled = filled[begin:end]
    for k in range(first - begin, n):
        top = n
        flag[k] = k
        for p in range(column_start[begin + k], column_start[begin + k + 1]):
            i = row[p] - begin
            for r in range(3):  # loops: assigned slices are slower
                for c in range(3):
                    y[i, r, c] = values[p, r, c]
            length = 0
            while flag[i] != k:
                path[length] = i
                length += 1
                flag[i] = k
                i = parent[i] - begin
            while length > 0:
                top -= 1
                length -= 1
                pattern[top] = path[length]
        for r in range(3):
            whole[r] = y[k, r, r]
            for c in range(3):
                diagonal[r, c], y[k, r, c] = y[k, r, c], 0.0
        for q in range(top, n):
            i = pattern[q]
            yi, pivot = y[i], pivot_out[i]
            for c in range(3):  # the block's own triangle first
                yi[1, c] -= pivot[0] * yi[0, c]
                yi[2, c] -= pivot[1] * yi[0, c] + pivot[2] * yi[1, c]
            # as numbers of their own they stay in registers
            a0, a1, a2, b0, b1, b2 = yi[0, 0], yi[0, 1], yi[0, 2], yi[1, 0], yi[1, 1], yi[1, 2]
            c0, c1, c2 = yi[2, 0], yi[2, 1], yi[2, 2]
            for p in range(start[i], start[i] + filled[i]):
                yj, block = y[row_out[p] - begin], lower_out[p]
                for r in range(3):
                    l0, l1, l2 = block[r, 0], block[r, 1], block[r, 2]
                    yj[r, 0] -= l0 * a0 + l1 * b0 + l2 * c0
                    yj[r, 1] -= l0 * a1 + l1 * b1 + l2 * c1
                    yj[r, 2] -= l0 * a2 + l1 * b2 + l2 * c2
            p = start[i] + filled[i]
            l = lower_out[p]
            for r in range(3):
                l0, l1, l2 = yi[0, r] * pivot[3], yi[1, r] * pivot[4], yi[2, r] * pivot[5]
                l[r, 0], l[r, 1], l[r, 2] = l0, l1, l2
                diagonal[r, 0] -= l0 * a0 + l1 * b0 + l2 * c0
                diagonal[r, 1] -= l0 * a1 + l1 * b1 + l2 * c1
                diagonal[r, 2] -= l0 * a2 + l1 * b2 + l2 * c2
            row_out[p] = begin + k
            filled[i] += 1
            for r in range(3):
                for c in range(3):
                    yi[r, c] = 0.0
        _factorise_pivot(diagonal, whole, pivot_out[k])


@kernel
def symmetric_product(order, column_start, row, values, x, out):
    """out = A x for x (n, 3), from the upper blocks of A."""
    out[:] = 0.0
    for column in range(column_start.shape[0] - 1):
        j = order[column]
        for p in range(column_start[column], column_start[column + 1]):
            i = order[row[p]]
            for r in range(3):
                for c in range(3):
                    out[i, r] += values[p, r, c] * x[j, c]
                    if i != j:
                        out[j, r] += values[p, c, r] * x[i, c]


@kernel
def symmetric_quadratic(order, column_start, row, values, x):
    """x^T A x for x (n, 3), from the upper blocks of A."""
    total = 0.0
    for column in range(column_start.shape[0] - 1):
        x0, x1, x2 = x[order[column], 0], x[order[column], 1], x[order[column], 2]
        a0, a1, a2 = 0.0, 0.0, 0.0  # A x of the rows above
        for p in range(column_start[column], column_start[column + 1] - 1):
            i, v = order[row[p]], values[p]
            a0 += v[0, 0] * x[i, 0] + v[1, 0] * x[i, 1] + v[2, 0] * x[i, 2]
            a1 += v[0, 1] * x[i, 0] + v[1, 1] * x[i, 1] + v[2, 1] * x[i, 2]
            a2 += v[0, 2] * x[i, 0] + v[1, 2] * x[i, 1] + v[2, 2] * x[i, 2]
        v = values[column_start[column + 1] - 1]  # the diagonal
        b0 = v[0, 0] * x0 + 2.0 * (v[1, 0] * x1 + v[2, 0] * x2 + a0)
        b1 = v[1, 1] * x1 + 2.0 * (v[2, 1] * x2 + a1)
        total += x0 * b0 + x1 * b1 + x2 * (v[2, 2] * x2 + 2.0 * a2)
    return total


@kernel
def restrict(order, column_start, row, free, values_inout):
    """Makes the rows and columns of prescribed components (free (n, 3) zero) those of the unit matrix."""
    for column in range(column_start.shape[0] - 1):
        j = order[column]
        for p in range(column_start[column], column_start[column + 1]):
            i = order[row[p]]
            for r in range(3):
                for c in range(3):
                    values_inout[p, r, c] *= free[i, r] * free[j, c]
                if i == j and free[i, r] == 0.0:  # no sum with 1 - free: reassociated, it rounds small numbers off
                    values_inout[p, r, r] = 1.0


@kernel
def inverse_diagonals(diagonal_blocks, values, out):
    """Inverse of every diagonal block in Voigt order (n, 6)."""
    for k in range(diagonal_blocks.shape[0]):
        a = values[diagonal_blocks[k]]
        inverse = positive_inverse((a[0, 0], a[1, 1], a[2, 2], a[2, 1], a[2, 0], a[1, 0]), LEAST_PIVOT)
        for c in range(6):
            out[k, c] = inverse[c]


@kernel
def norm_by_diagonals(inverse, u):
    """sqrt(u^T D^-1 u) for u (n, 3) with the inverses (n, 6) of diagonal blocks D."""
    total = 0.0
    for k in range(u.shape[0]):
        i = inverse[k]
        own = symmetric_multiply_vector((i[0], i[1], i[2], i[3], i[4], i[5]), (u[k, 0], u[k, 1], u[k, 2]))
        total += u[k, 0] * own[0] + u[k, 1] * own[1] + u[k, 2] * own[2]
    return math.sqrt(max(total, 0.0))


@kernel
def solve_factored(factor, x_inout):
    """x = A^-1 x for x (n, 3), nodes in their own order."""
    n = factor.order.shape[0]
    solve_run(0, n, factor, np.empty((n, 3)), x_inout)


@kernel
def solve_run(begin, end, factor, z, x_inout):
    """The same of columns from begin to end; z (n, 3): room."""
    for k in range(begin, end):
        node = factor.order[k]
        z[k, 0], z[k, 1], z[k, 2] = x_inout[node, 0], x_inout[node, 1], x_inout[node, 2]
    for k in range(begin, end):
        pivot, a = factor.pivot[k], z[k, 0]
        b = z[k, 1] - pivot[0] * a
        c = z[k, 2] - (pivot[1] * a + pivot[2] * b)
        for p in range(factor.start[k], factor.start[k + 1]):
            l, target = factor.lower[p], factor.row[p]
            z[target, 0] -= l[0, 0] * a + l[0, 1] * b + l[0, 2] * c
            z[target, 1] -= l[1, 0] * a + l[1, 1] * b + l[1, 2] * c
            z[target, 2] -= l[2, 0] * a + l[2, 1] * b + l[2, 2] * c
        z[k, 0], z[k, 1], z[k, 2] = a * pivot[3], b * pivot[4], c * pivot[5]
    for k in range(end - 1, begin - 1, -1):
        pivot, a, b, c = factor.pivot[k], z[k, 0], z[k, 1], z[k, 2]
        for p in range(factor.start[k], factor.start[k + 1]):
            l, source = factor.lower[p], factor.row[p]
            s0, s1, s2 = z[source, 0], z[source, 1], z[source, 2]
            a -= l[0, 0] * s0 + l[1, 0] * s1 + l[2, 0] * s2
            b -= l[0, 1] * s0 + l[1, 1] * s1 + l[2, 1] * s2
            c -= l[0, 2] * s0 + l[1, 2] * s1 + l[2, 2] * s2
        b -= pivot[2] * c
        z[k, 0], z[k, 1], z[k, 2] = a - (pivot[0] * b + pivot[1] * c), b, c
    for k in range(begin, end):
        node = factor.order[k]
        x_inout[node, 0], x_inout[node, 1], x_inout[node, 2] = z[k, 0], z[k, 1], z[k, 2]
