"""Loops of the two-level preconditioner: its coarse matrix, dense factors, and its application."""

import math

import numpy as np
from numba import prange

from pliant.jit import kernel, parallel_kernel
from pliant.kernels.cpu.linalg.envelope import SIX, place, solve_envelope
from pliant.kernels.cpu.linalg.sliced import multiply_blocks
from pliant.kernels.lanes import LANES

# A pivot of a dense matrix below this part of its diagonal number is rounding, and counts as this part.
LEAST_PIVOT = 1e-15


@parallel_kernel
def place_arms(piece_start, piece_row, triple, x, arm_out):
    """Arms (slices, 3, LANES) of the nodes at x (n, 3) from the centres of their pieces; those of bodies stay zero."""
    for index in prange(piece_start.shape[0] - 1):
        piece = np.int64(index)
        for c in range(3):
            total, count = 0.0, 0
            for p in range(piece_start[piece], piece_start[piece + 1]):
                i = triple[piece_row[p] // LANES, piece_row[p] % LANES]
                if i < x.shape[0]:
                    total += x[i, c]
                    count += 1
            for p in range(piece_start[piece], piece_start[piece + 1]):
                s, lane = piece_row[p] // LANES, piece_row[p] % LANES
                if triple[s, lane] < x.shape[0]:
                    arm_out[s, c, lane] = x[triple[s, lane], c] - total / count


@kernel
def factorise_dense(a_inout):
    """L of A = L L^T in the lower triangle, one over the diagonal on it.

    A row that has nothing on its diagonal gets zero there: what cannot move stays. (LAPACK would wake BLAS threads,
    whose spinning slows ours.)
    """
    for i in range(a_inout.shape[0]):
        whole = a_inout[i, i]
        for j in range(i + 1):
            total = a_inout[i, j]
            for k in range(j):
                total -= a_inout[i, k] * a_inout[j, k]
            if i == j:
                a_inout[i, i] = 1.0 / math.sqrt(max(total, LEAST_PIVOT * whole)) if whole > 0.0 else 0.0
            else:
                a_inout[i, j] = total * a_inout[j, j]


@kernel
def solve_dense(a, x_inout):
    """x = A^-1 x with the factors of `factorise_dense`. (By rows of the lower triangle both ways: of indices that begin
    at 0 the compiler knows that none is negative, and vectorises.)"""
    n = a.shape[0]
    for i in range(n):
        total = x_inout[i]
        for k in range(i):
            total -= a[i, k] * x_inout[k]
        x_inout[i] = total * a[i, i]
    for row in range(n):
        i = n - 1 - row
        share = x_inout[i] * a[i, i]
        x_inout[i] = share
        for k in range(i):
            x_inout[k] -= a[i, k] * share


@kernel
def _flush(total, i_piece, j_piece, i_turns, arm, mask, envelope, coarse):
    """coarse[i, j] += P_i^T total for a row triple with this arm, where it lies within the envelope (start, first);
    total (3, 6) is then zero."""
    start, first = envelope
    if first[i_piece] <= j_piece <= i_piece:
        at, width = place(start, first, SIX * i_piece, SIX * j_piece), SIX * (i_piece - first[i_piece] + 1)
        for c in range(6):
            f0, f1, f2 = mask[0] * total[0, c], mask[1] * total[1, c], mask[2] * total[2, c]
            if i_turns == 0:
                coarse[at + c] += f0
                coarse[at + width + c] += f1
                coarse[at + 2 * width + c] += f2
                coarse[at + 3 * width + c] += arm[1] * f2 - arm[2] * f1
                coarse[at + 4 * width + c] += arm[2] * f0 - arm[0] * f2
                coarse[at + 5 * width + c] += arm[0] * f1 - arm[1] * f0
            else:
                coarse[at + 3 * width + c] += f0
                coarse[at + 4 * width + c] += f1
                coarse[at + 5 * width + c] += f2
    total[:] = 0.0


@kernel
def _add_block(block, turns, arm, mask, total):
    """total (3, 6) += block P_j for a column triple."""
    for r in range(3):
        k0, k1, k2 = block[3 * r] * mask[0], block[3 * r + 1] * mask[1], block[3 * r + 2] * mask[2]
        if turns == 0:
            total[r, 0] += k0
            total[r, 1] += k1
            total[r, 2] += k2
            total[r, 3] += k2 * arm[1] - k1 * arm[2]
            total[r, 4] += k0 * arm[2] - k2 * arm[0]
            total[r, 5] += k1 * arm[0] - k0 * arm[1]
        else:
            total[r, 3] += k0
            total[r, 4] += k1
            total[r, 5] += k2


@kernel
def _within_pieces(s, start, column, values, same, turns, arms, free, arm, total, own_out):
    """P_i^T A_ij P_j (36, LANES) of the rows i of a slice, over the columns j of their own pieces; arm (3, LANES),
    total (18, LANES): work space. Prescribed rows and columns are unit ones: a mask for rows serves both."""
    for k in range(18):
        for lane in range(LANES):
            total[k, lane] = 0.0
    for e in range(start[s], start[s + 1]):
        for lane in range(LANES):
            at = column[e, lane]
            arm[0, lane], arm[1, lane], arm[2, lane] = arms[at], arms[at + LANES], arms[at + 2 * LANES]
        for r in range(3):
            for lane in range(LANES):
                w = same[e, lane]
                k0, k1, k2 = w * values[e, 3 * r, lane], w * values[e, 3 * r + 1, lane], w * values[e, 3 * r + 2, lane]
                total[6 * r, lane] += k0
                total[6 * r + 1, lane] += k1
                total[6 * r + 2, lane] += k2
                total[6 * r + 3, lane] += k2 * arm[1, lane] - k1 * arm[2, lane]
                total[6 * r + 4, lane] += k0 * arm[2, lane] - k2 * arm[0, lane]
                total[6 * r + 5, lane] += k1 * arm[0, lane] - k0 * arm[1, lane]
    for lane in range(LANES):
        at, turn = s * 3 * LANES + lane, turns[s, lane]
        a0, a1, a2 = arms[at], arms[at + LANES], arms[at + 2 * LANES]
        m0, m1, m2 = free[s, 0, lane], free[s, 1, lane], free[s, 2, lane]
        for c in range(6):
            # an angular triple couples with itself alone, and turns its body
            moved = c if turn == 0 else c - 3
            f0, f1, f2 = 0.0, 0.0, 0.0
            if moved >= 0:
                f0, f1, f2 = m0 * total[moved, lane], m1 * total[6 + moved, lane], m2 * total[12 + moved, lane]
            own_out[c, lane] = f0 if turn == 0 else 0.0
            own_out[6 + c, lane] = f1 if turn == 0 else 0.0
            own_out[12 + c, lane] = f2 if turn == 0 else 0.0
            own_out[18 + c, lane] = a1 * f2 - a2 * f1 if turn == 0 else f0
            own_out[24 + c, lane] = a2 * f0 - a0 * f2 if turn == 0 else f1
            own_out[30 + c, lane] = a0 * f1 - a1 * f0 if turn == 0 else f2


@kernel
def _between_pieces(own, coarsening, column, values, piece, turns, arm, free, envelope, coarse_inout):
    """Adds what couples a piece with those before it, row by row; columns of one piece are summed before they are seen
    from the row."""
    total, block = np.zeros((3, 6)), np.empty(9)
    first, last = coarsening.cross_start[own], coarsening.cross_start[own + 1]
    for q in range(first, last):
        entry, row = coarsening.cross[q], coarsening.cross_row[q]
        e, lane = entry // LANES, entry % LANES
        other_slice, other_lane = column[e, lane] // (3 * LANES), column[e, lane] % LANES
        other = piece[other_slice, other_lane]
        for k in range(9):
            block[k] = values[e, k, lane]
        arms, mask = arm[other_slice, :, other_lane], free[other_slice, :, other_lane]
        _add_block(block, turns[other_slice, other_lane], arms, mask, total)
        if q + 1 < last and coarsening.cross_row[q + 1] == row:
            after = coarsening.cross[q + 1]
            at = column[after // LANES, after % LANES]
            if piece[at // (3 * LANES), at % LANES] == other:
                continue
        s, lane = row // LANES, row % LANES
        _flush(total, own, other, turns[s, lane], arm[s, :, lane], free[s, :, lane], envelope, coarse_inout)


@parallel_kernel
def add_coarse_matrix(coarsening, start, column, values, piece, turns, arm, free, envelope, coarse_inout):
    """coarse += P^T A P, in the envelope (start, first) of its rows.

    One thread takes all rows of a piece, and with them its rows of the coarse matrix.
    """
    own, arms = coarsening.own, arm.reshape(-1)
    for s in prange(start.shape[0] - 1):
        one_arm, total = np.empty((3, LANES)), np.empty((18, LANES))
        _within_pieces(s, start, column, values, coarsening.same, turns, arms, free, one_arm, total, own[s])
    for index in prange(coarsening.start.shape[0] - 1):
        k = np.int64(index)
        for p in range(coarsening.start[k], coarsening.start[k + 1]):
            s, lane = coarsening.row[p] // LANES, coarsening.row[p] % LANES
            for r in range(6):
                at = place(envelope[0], envelope[1], SIX * k + r, SIX * k)
                for c in range(6):
                    coarse_inout[at + c] += own[s, 6 * r + c, lane]
        _between_pieces(k, coarsening, column, values, piece, turns, arm, free, envelope, coarse_inout)


@kernel
def widen_envelope(rows, piece, first_inout):
    """Lets the envelope hold what rows couple."""
    for s in range(rows.start.shape[0] - 1):
        for lane in range(LANES):
            if rows.weight[s, 0, lane] == 0.0 and rows.weight[s, 1, lane] == 0.0 and rows.weight[s, 2, lane] == 0.0:
                continue
            least = first_inout.shape[0]
            for e in range(rows.start[s], rows.start[s + 1]):
                own = piece[rows.offset[e, lane] // (3 * LANES), rows.offset[e, lane] % LANES]
                least = min(least, own) if own >= 0 else least
            for e in range(rows.start[s], rows.start[s + 1]):
                own = piece[rows.offset[e, lane] // (3 * LANES), rows.offset[e, lane] % LANES]
                if own >= 0:
                    first_inout[own] = min(first_inout[own], least)


@kernel
def add_coarse_rows(rows, piece, turns, arm, free, envelope, coarse_inout):
    """coarse += P^T J^T G J P, as far as the envelope (start, first) holds it."""
    total, block = np.zeros((3, 6)), np.empty(9)
    for s in range(rows.start.shape[0] - 1):
        for lane in range(LANES):
            g = rows.weight[s, :, lane]
            if g[0] == 0.0 and g[1] == 0.0 and g[2] == 0.0:
                continue
            for e in range(rows.start[s], rows.start[s + 1]):
                at = rows.offset[e, lane]
                i, i_lane = at // (3 * LANES), at % LANES
                if piece[i, i_lane] < 0:
                    continue
                for f in range(rows.start[s], rows.start[s + 1]):
                    at = rows.offset[f, lane]
                    j, j_lane = at // (3 * LANES), at % LANES
                    if piece[j, j_lane] < 0 or piece[j, j_lane] > piece[i, i_lane]:
                        continue
                    for c in range(3):
                        a, b, d = (
                            rows.jacobian[f, c, lane],
                            rows.jacobian[f, 3 + c, lane],
                            rows.jacobian[f, 6 + c, lane],
                        )
                        w0 = g[0] * a + g[5] * b + g[4] * d
                        w1 = g[5] * a + g[1] * b + g[3] * d
                        w2 = g[4] * a + g[3] * b + g[2] * d
                        for r in range(3):
                            block[3 * r + c] = (
                                rows.jacobian[e, r, lane] * w0
                                + rows.jacobian[e, 3 + r, lane] * w1
                                + rows.jacobian[e, 6 + r, lane] * w2
                            )
                    _add_block(block, turns[j, j_lane], arm[j, :, j_lane], free[j, :, j_lane], total)
                    _flush(
                        total,
                        piece[i, i_lane],
                        piece[j, j_lane],
                        turns[i, i_lane],
                        arm[i, :, i_lane],
                        free[i, :, i_lane],
                        envelope,
                        coarse_inout,
                    )


@kernel
def restrict(p, r, first, last, solved):
    """solved = P^T r of slices from first on, before last; others of r are zero."""
    piece, turns, arm, free = p.piece, p.turns, p.arm, p.free
    solved[:] = 0
    for s in range(first, last):
        for lane in range(LANES):
            k = 6 * piece[s, lane]
            if k < 0:
                continue
            f0, f1, f2 = free[s, 0, lane] * r[s, 0, lane], free[s, 1, lane] * r[s, 1, lane], r[s, 2, lane]
            f2 *= free[s, 2, lane]
            if turns[s, lane] == 0:
                a0, a1, a2 = arm[s, 0, lane], arm[s, 1, lane], arm[s, 2, lane]
                solved[k] += f0
                solved[k + 1] += f1
                solved[k + 2] += f2
                solved[k + 3] += a1 * f2 - a2 * f1
                solved[k + 4] += a2 * f0 - a0 * f2
                solved[k + 5] += a0 * f1 - a1 * f0
            else:
                solved[k + 3] += f0
                solved[k + 4] += f1
                solved[k + 5] += f2


@kernel
def prolong(p, s, solved, z):
    """z += P solved in a slice s."""
    piece, turns, arm, free = p.piece, p.turns, p.arm, p.free
    for lane in range(LANES):
        k = 6 * piece[s, lane]
        if k < 0:
            continue
        w0, w1, w2 = solved[k + 3], solved[k + 4], solved[k + 5]
        if turns[s, lane] == 0:
            a0, a1, a2 = arm[s, 0, lane], arm[s, 1, lane], arm[s, 2, lane]
            z[s, 0, lane] += free[s, 0, lane] * (solved[k] + w1 * a2 - w2 * a1)
            z[s, 1, lane] += free[s, 1, lane] * (solved[k + 1] + w2 * a0 - w0 * a2)
            z[s, 2, lane] += free[s, 2, lane] * (solved[k + 2] + w0 * a1 - w1 * a0)
        else:
            z[s, 0, lane] += free[s, 0, lane] * w0
            z[s, 1, lane] += free[s, 1, lane] * w1
            z[s, 2, lane] += free[s, 2, lane] * w2


@kernel
def apply_two_level(preconditioner, r, z):
    """z = D^-1 r + P (P^T A P)^-1 P^T r."""
    p = preconditioner
    multiply_blocks(p.inverse, r, z)
    restrict(p, r, 0, r.shape[0], p.work)
    solve_envelope(p.start, p.first, p.coarse, p.work)
    for s in range(r.shape[0]):
        prolong(p, s, p.work, z)
