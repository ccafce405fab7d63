"""Sparse L D L^T of symmetric positive matrices of 3x3 blocks: numbers of the factors, solves, products."""

from typing import NamedTuple

import numpy as np

from pliant.jit import kernel


class BlockFactor(NamedTuple):
    """order (n,): node at each place; start (n + 1,), row (k,), lower (k, 3, 3): columns of L; inverse (n, 3, 3):
    D^-1."""

    order: np.ndarray
    start: np.ndarray
    row: np.ndarray
    lower: np.ndarray
    inverse: np.ndarray


@kernel
def _elimination_tree(column_start, row):
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
def _inverse3(a, out):
    """out = a^-1 for a 3x3 matrix."""
    c00 = a[1, 1] * a[2, 2] - a[1, 2] * a[2, 1]
    c01 = a[1, 2] * a[2, 0] - a[1, 0] * a[2, 2]
    c02 = a[1, 0] * a[2, 1] - a[1, 1] * a[2, 0]
    s = 1.0 / (a[0, 0] * c00 + a[0, 1] * c01 + a[0, 2] * c02)
    out[0, 0], out[1, 0], out[2, 0] = c00 * s, c01 * s, c02 * s
    out[0, 1] = (a[0, 2] * a[2, 1] - a[0, 1] * a[2, 2]) * s
    out[1, 1] = (a[0, 0] * a[2, 2] - a[0, 2] * a[2, 0]) * s
    out[2, 1] = (a[0, 1] * a[2, 0] - a[0, 0] * a[2, 1]) * s
    out[0, 2] = (a[0, 1] * a[1, 2] - a[0, 2] * a[1, 1]) * s
    out[1, 2] = (a[0, 2] * a[1, 0] - a[0, 0] * a[1, 2]) * s
    out[2, 2] = (a[0, 0] * a[1, 1] - a[0, 1] * a[1, 0]) * s


@kernel
def factorise(column_start, row, parent, start, values, row_out, lower_out, inverse_out):
    """Numbers of L and D^-1 from the upper blocks `values` (k, 3, 3)."""
    n = column_start.shape[0] - 1
    filled, flag = np.zeros(n, np.int64), np.full(n, -1)
    pattern, path = np.empty(n, np.int64), np.empty(n, np.int64)
    y, diagonal, l = np.zeros((n, 3, 3)), np.empty((3, 3)), np.empty((3, 3))
    for k in range(n):
        top = n
        flag[k] = k
        for p in range(column_start[k], column_start[k + 1]):
            i = row[p]
            y[i] = values[p]
            length = 0
            while flag[i] != k:
                path[length] = i
                length += 1
                flag[i] = k
                i = parent[i]
            while length > 0:
                top -= 1
                length -= 1
                pattern[top] = path[length]
        diagonal[:] = y[k]
        y[k] = 0.0
        for q in range(top, n):
            i = pattern[q]
            yi = y[i]
            for p in range(start[i], start[i] + filled[i]):
                yj, block = y[row_out[p]], lower_out[p]
                for r in range(3):
                    for c in range(3):
                        yj[r, c] -= block[r, 0] * yi[0, c] + block[r, 1] * yi[1, c] + block[r, 2] * yi[2, c]
            inverse = inverse_out[i]
            for r in range(3):
                for c in range(3):
                    l[r, c] = yi[0, r] * inverse[0, c] + yi[1, r] * inverse[1, c] + yi[2, r] * inverse[2, c]
            for r in range(3):
                for c in range(3):
                    diagonal[r, c] -= l[r, 0] * yi[0, c] + l[r, 1] * yi[1, c] + l[r, 2] * yi[2, c]
            p = start[i] + filled[i]
            row_out[p] = k
            lower_out[p] = l
            filled[i] += 1
            y[i] = 0.0
        _inverse3(diagonal, inverse_out[k])


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
def restrict(order, column_start, row, free, values_inout):
    """Makes the rows and columns of prescribed components (free (n, 3) zero) those of the unit matrix."""
    for column in range(column_start.shape[0] - 1):
        j = order[column]
        for p in range(column_start[column], column_start[column + 1]):
            i = order[row[p]]
            for r in range(3):
                for c in range(3):
                    values_inout[p, r, c] *= free[i, r] * free[j, c]
                if i == j:
                    values_inout[p, r, r] += 1.0 - free[i, r]


@kernel
def inverse_diagonals(diagonal_blocks, values, out):
    """Inverse of every diagonal block in Voigt order (n, 6)."""
    inverse = np.empty((3, 3))
    for k in range(diagonal_blocks.shape[0]):
        _inverse3(values[diagonal_blocks[k]], inverse)
        out[k, 0], out[k, 1], out[k, 2] = inverse[0, 0], inverse[1, 1], inverse[2, 2]
        out[k, 3], out[k, 4], out[k, 5] = inverse[1, 2], inverse[0, 2], inverse[0, 1]


@kernel
def solve_factored(factor, x_inout):
    """x = A^-1 x for x (n, 3), nodes in their own order."""
    n = factor.order.shape[0]
    z = np.empty((n, 3))
    for k in range(n):
        node = factor.order[k]
        z[k, 0], z[k, 1], z[k, 2] = x_inout[node, 0], x_inout[node, 1], x_inout[node, 2]
    for k in range(n):
        a, b, c = z[k, 0], z[k, 1], z[k, 2]
        for p in range(factor.start[k], factor.start[k + 1]):
            l, target = factor.lower[p], factor.row[p]
            z[target, 0] -= l[0, 0] * a + l[0, 1] * b + l[0, 2] * c
            z[target, 1] -= l[1, 0] * a + l[1, 1] * b + l[1, 2] * c
            z[target, 2] -= l[2, 0] * a + l[2, 1] * b + l[2, 2] * c
    for k in range(n - 1, -1, -1):
        d = factor.inverse[k]
        a = d[0, 0] * z[k, 0] + d[0, 1] * z[k, 1] + d[0, 2] * z[k, 2]
        b = d[1, 0] * z[k, 0] + d[1, 1] * z[k, 1] + d[1, 2] * z[k, 2]
        c = d[2, 0] * z[k, 0] + d[2, 1] * z[k, 1] + d[2, 2] * z[k, 2]
        for p in range(factor.start[k], factor.start[k + 1]):
            l, source = factor.lower[p], factor.row[p]
            s0, s1, s2 = z[source, 0], z[source, 1], z[source, 2]
            a -= l[0, 0] * s0 + l[1, 0] * s1 + l[2, 0] * s2
            b -= l[0, 1] * s0 + l[1, 1] * s1 + l[2, 1] * s2
            c -= l[0, 2] * s0 + l[1, 2] * s1 + l[2, 2] * s2
        z[k, 0], z[k, 1], z[k, 2] = a, b, c
    for k in range(n):
        node = factor.order[k]
        x_inout[node, 0], x_inout[node, 1], x_inout[node, 2] = z[k, 0], z[k, 1], z[k, 2]
