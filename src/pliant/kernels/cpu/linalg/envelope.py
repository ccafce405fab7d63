"""Symmetric matrices in envelopes: of every row what lies between its first number that is not zero and its diagonal.

Rows come in blocks of SIX, the motions of a piece; those of block k lie between the columns of block first[k] and its
own, 6 (k - first[k] + 1) of them, from start[k] on, row after row. Factors stay within the envelope.
"""

import math

import numpy as np

from pliant.jit import formula, kernel

# Rows of a block.
SIX = 6
# Least pivot, as a part of its diagonal number: well below what `safety` leaves of any motion of a matrix that is not
# negative.
LEAST_PIVOT = 1e-9


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
def copy_rows(start, first, a, wide_start, wide_first, out):
    """The numbers of an envelope in a wider one, out, which are zero elsewhere."""
    for k in range(first.shape[0]):
        width, wide = SIX * (k - first[k] + 1), SIX * (k - wide_first[k] + 1)
        for r in range(SIX):
            own, to = start[k] + r * width, wide_start[k] + r * wide + wide - width
            for c in range(width):
                out[to + c] = a[own + c]


@formula
def _six_rows(a, at, width, count):
    """The first numbers of six rows from `at` on."""
    return (
        a[at : at + count],
        a[at + width : at + width + count],
        a[at + 2 * width : at + 2 * width + count],
        a[at + 3 * width : at + 3 * width + count],
        a[at + 4 * width : at + 4 * width + count],
        a[at + 5 * width : at + 5 * width + count],
    )


@kernel
def _multiply_rows(a, at, width, other, across, count, out):
    """out (6, 6): products of six rows with six others, over so many numbers. (Two rows at a time, for which the others
    are read once.)"""
    q0, q1, q2, q3, q4, q5 = _six_rows(a, other, across, count)
    for r in range(0, SIX, 2):
        u, v = a[at + r * width : at + r * width + count], a[at + (r + 1) * width : at + (r + 1) * width + count]
        s0, s1, s2, s3, s4, s5 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        t0, t1, t2, t3, t4, t5 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for j in range(u.shape[0]):
            s, t = u[j], v[j]
            s0, s1, s2 = s0 + q0[j] * s, s1 + q1[j] * s, s2 + q2[j] * s
            s3, s4, s5 = s3 + q3[j] * s, s4 + q4[j] * s, s5 + q5[j] * s
            t0, t1, t2 = t0 + q0[j] * t, t1 + q1[j] * t, t2 + q2[j] * t
            t3, t4, t5 = t3 + q3[j] * t, t4 + q4[j] * t, t5 + q5[j] * t
        out[r, 0], out[r, 1], out[r, 2], out[r, 3], out[r, 4], out[r, 5] = s0, s1, s2, s3, s4, s5
        out[r + 1, 0], out[r + 1, 1], out[r + 1, 2] = t0, t1, t2
        out[r + 1, 3], out[r + 1, 4], out[r + 1, 5] = t3, t4, t5


@kernel
def factorise_envelope(start, first, safety, a_inout):
    """L of A = L L^T, one over the diagonal on it; A's diagonal numbers count `safety` times.

    A row that has nothing on its diagonal gets zero there: what cannot move stays. So does a motion in which A has no
    stiffness beyond those before it, or a negative one, and its row is zero: a small pivot in its place would make all
    that follow larger and larger. (LAPACK would wake BLAS threads, whose spinning slows ours.)
    """
    product = np.empty((SIX, SIX))
    for k in range(first.shape[0]):
        width = SIX * (k - first[k] + 1)
        for m in range(first[k], k + 1):
            both, across = max(first[k], first[m]), SIX * (m - first[m] + 1)
            at, other = start[k] + SIX * (both - first[k]), start[m] + SIX * (both - first[m])
            _multiply_rows(a_inout, at, width, other, across, SIX * (m - both), product)
            own, its = start[k] + SIX * (m - first[k]), start[m] + SIX * (m - first[m])
            for r in range(SIX):
                for c in range(r if m == k else SIX):
                    total = a_inout[own + r * width + c] - product[r, c]
                    for i in range(c):
                        total -= a_inout[own + r * width + i] * a_inout[its + c * across + i]
                    a_inout[own + r * width + c] = total * a_inout[its + c * across + c]
                if m == k:
                    whole = safety * a_inout[own + r * width + r]
                    total = whole - product[r, r]
                    for i in range(r):
                        total -= a_inout[own + r * width + i] * a_inout[own + r * width + i]
                    moves = whole > 0.0 and total > LEAST_PIVOT * whole
                    a_inout[own + r * width + r] = 1.0 / math.sqrt(total) if moves else 0.0
                    if not moves:
                        for i in range(start[k] + r * width, own + r * width + r):
                            a_inout[i] = 0.0


@kernel
def solve_envelope(start, first, a, x_inout):
    """x = A^-1 x with the factors of `factorise_envelope`. (By rows both ways: their numbers lie side by side.)"""
    zero = x_inout.dtype.type(0)
    for k in range(first.shape[0]):
        count = SIX * (k - first[k])
        width, part, own = count + SIX, x_inout[SIX * first[k] : SIX * k], x_inout[SIX * k : SIX * k + SIX]
        r0, r1, r2, r3, r4, r5 = _six_rows(a, start[k], width, count)
        t0, t1, t2, t3, t4, t5 = zero, zero, zero, zero, zero, zero
        for j in range(part.shape[0]):
            v = part[j]
            t0, t1, t2 = t0 + r0[j] * v, t1 + r1[j] * v, t2 + r2[j] * v
            t3, t4, t5 = t3 + r3[j] * v, t4 + r4[j] * v, t5 + r5[j] * v
        own[0], own[1], own[2] = own[0] - t0, own[1] - t1, own[2] - t2
        own[3], own[4], own[5] = own[3] - t3, own[4] - t4, own[5] - t5
        for r in range(SIX):
            at = start[k] + r * width + count
            for c in range(r):
                own[r] -= a[at + c] * own[c]
            own[r] *= a[at + r]
    for turn in range(first.shape[0]):
        k = first.shape[0] - 1 - turn
        count = SIX * (k - first[k])
        width, part, own = count + SIX, x_inout[SIX * first[k] : SIX * k], x_inout[SIX * k : SIX * k + SIX]
        for back in range(SIX):
            r = SIX - 1 - back
            at = start[k] + r * width + count
            own[r] *= a[at + r]
            for c in range(r):
                own[c] -= a[at + c] * own[r]
        r0, r1, r2, r3, r4, r5 = _six_rows(a, start[k], width, count)
        v0, v1, v2, v3, v4, v5 = own[0], own[1], own[2], own[3], own[4], own[5]
        for j in range(part.shape[0]):
            part[j] -= (r0[j] * v0 + r1[j] * v1 + r2[j] * v2) + (r3[j] * v3 + r4[j] * v4 + r5[j] * v5)
