"""Small dense systems with several right sides, in loops of their own: threads of a library would cost more than the
arithmetic, far more where several programs share a machine."""

import numpy as np

from pliant.jit import kernel


@kernel
def _solve_row(a, i, first, last, x_inout):
    """Row i of x (n, k) less those from first to last times the factors, and over the pivot, whose inverse stands
    there."""
    row = x_inout[i]
    for k in range(first, last):
        factor, other = a[i, k], x_inout[k]
        if factor != 0.0:
            for c in range(row.shape[0]):
                row[c] -= factor * other[c]
    for c in range(row.shape[0]):
        row[c] *= a[i, i]


@kernel
def solve_columns(a, x_inout):
    """x (n, k) = A^-1 x with the factors (n, n) of `dense.factorise_lower`."""
    n = x_inout.shape[0]
    for i in range(n):
        _solve_row(a, i, 0, i, x_inout)
    for i in range(n - 1, -1, -1):
        _solve_row(a, i, i + 1, n, x_inout)


@kernel
def met_exactly(weight, products):
    """S = (1 + W P)^-1 W of weights W and products P = J Y (n, n) of stiff rows (Woodbury's identity), by elimination
    with pivots of rows."""
    n = weight.shape[0]
    work = np.zeros((n, 2 * n))  # 1 + W P, W
    for i in range(n):
        row = work[i]
        for k in range(n):
            factor, other = weight[i, k], products[k]
            row[n + k] = factor
            if factor != 0.0:
                for j in range(n):
                    row[j] += factor * other[j]
        row[i] += 1.0
    for k in range(n):
        _pivot(work, k)
        row = work[k]
        for i in range(k + 1, n):
            factor, other = work[i, k] / row[k], work[i]
            if factor != 0.0:
                for j in range(k + 1, 2 * n):
                    other[j] -= factor * row[j]
    for k in range(n - 1, -1, -1):
        row = work[k]
        for i in range(k + 1, n):
            factor, other = row[i], work[i]
            if factor != 0.0:
                for j in range(n, 2 * n):
                    row[j] -= factor * other[j]
        for j in range(n, 2 * n):
            row[j] /= row[k]
    return work[:, n:].copy()


@kernel
def _pivot(work, k):
    """Exchanges row k with the one below that has the largest number in column k."""
    best = k
    for i in range(k + 1, work.shape[0]):
        if abs(work[i, k]) > abs(work[best, k]):
            best = i
    if best != k:
        for j in range(k, work.shape[1]):
            work[k, j], work[best, j] = work[best, j], work[k, j]
