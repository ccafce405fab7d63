"""Symmetric matrices in envelopes: of every row what lies between its first number that is not zero and its diagonal.

Rows come in blocks of SIX, the motions of a piece; those of block k lie between the columns of block first[k] and its
own, 6 (k - first[k] + 1) of them, from start[k] on, row after row. Factors stay within the envelope.
"""

import math

from pliant.jit import formula, kernel

# Rows of a block.
SIX = 6
# A pivot below this part of its diagonal number is rounding, and counts as this part.
LEAST_PIVOT = 1e-15


@formula
def place(start, first, row, column):
    """Where the number in a row and in a column within its envelope lies."""
    k = row // SIX
    return start[k] + (row - SIX * k) * SIX * (k - first[k] + 1) + column - SIX * first[k]


@kernel
def place_rows(first, start_out):
    """Where the rows of every block begin (pieces + 1,); the last is how many numbers there are."""
    start_out[0] = 0
    for k in range(first.shape[0]):
        start_out[k + 1] = start_out[k] + SIX * SIX * (k - first[k] + 1)


@kernel
def factorise_envelope(start, first, safety, a_inout):
    """L of A = L L^T, one over the diagonal on it; A's diagonal numbers count `safety` times.

    A row that has nothing on its diagonal gets zero there: what cannot move stays. (LAPACK would wake BLAS threads,
    whose spinning slows ours.)
    """
    for i in range(SIX * first.shape[0]):
        begin = SIX * first[i // SIX]
        at = place(start, first, i, begin)
        row = a_inout[at : at + i - begin + 1]
        whole = safety * row[i - begin]
        for j in range(begin, i + 1):
            both = max(begin, SIX * first[j // SIX])
            own, to = row[both - begin : j - begin], place(start, first, j, both)
            other, total = a_inout[to : to + j - both], whole if i == j else row[j - begin]
            for k in range(own.shape[0]):
                total -= own[k] * other[k]
            if i == j:
                row[i - begin] = 1.0 / math.sqrt(max(total, LEAST_PIVOT * whole)) if whole > 0.0 else 0.0
            else:
                row[j - begin] = total * a_inout[to + j - both]


@kernel
def solve_envelope(start, first, a, x_inout):
    """x = A^-1 x with the factors of `factorise_envelope`. (By rows both ways: their numbers lie side by side.)"""
    n = SIX * first.shape[0]
    for i in range(n):
        begin = SIX * first[i // SIX]
        at = place(start, first, i, begin)
        row, part, total = a[at : at + i - begin], x_inout[begin:i], x_inout[i]
        for k in range(row.shape[0]):
            total -= row[k] * part[k]
        x_inout[i] = total * a[at + i - begin]
    for turn in range(n):
        i = n - 1 - turn
        begin = SIX * first[i // SIX]
        at = place(start, first, i, begin)
        row, part, share = a[at : at + i - begin], x_inout[begin:i], x_inout[i] * a[at + i - begin]
        x_inout[i] = share
        for k in range(row.shape[0]):
            part[k] -= row[k] * share
