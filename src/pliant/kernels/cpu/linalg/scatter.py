"""Blocks of elements and rows into the blocks of a factorised matrix."""

import numpy as np
from numba import prange

from pliant.formulas.matrix3 import symmetric_multiply_vector
from pliant.jit import kernel, parallel_kernel
from pliant.kernels.cpu.linalg.block_ldl import inverse_diagonals, restrict
from pliant.kernels.cpu.search import first_not_below
from pliant.kernels.lanes import LANES, load6


@parallel_kernel
def gather_upper(code, sums, diagonal, mass, values_out):
    """Upper blocks (k, 3, 3): sums (couples, 9) of element blocks by code (k,), 2 * couple + (1 if transposed) or -1;
    plus mass blocks (n, 3, 3) at the blocks diagonal (n,)."""
    for p in prange(code.shape[0]):
        total, there, out = sums[max(code[p], 0) >> 1], 1.0 if code[p] >= 0 else 0.0, values_out[p]
        if code[p] & 1:
            for r in range(3):
                for c in range(3):
                    out[r, c] = there * total[3 * c + r]
        else:
            for r in range(3):
                for c in range(3):
                    out[r, c] = there * total[3 * r + c]
    for i in prange(diagonal.shape[0]):
        for r in range(3):
            for c in range(3):
                values_out[diagonal[i], r, c] += mass[i, r, c]


@kernel
def _block_of(place, column_start, row, one, other):
    """The upper block of a pattern that couples two triples, or -1."""
    first, second = min(place[one], place[other]), max(place[one], place[other])
    low = first_not_below(row, column_start[second], column_start[second + 1], first)
    return low if low < column_start[second + 1] and row[low] == first else -1


@kernel
def _acts(jacobian, entry, lane):
    """Whether an entry of a row block has a Jacobian: lanes that are not used have none."""
    size = 0.0
    for c in range(9):
        size += abs(jacobian[entry, c, lane])
    return size > 0.0


@kernel
def _group_entries(place, column_start, row, triples, jacobian, first, last, lane, group_out, block_out):
    """Groups (w,), from 0 on, of the entries of a row block, in each of which a pattern couples all pairs, -1 for those
    that do nothing; and the blocks (w, w) of the pairs in a group. Whether there is one group at most."""
    together = True
    for e in range(last - first):
        group_out[e] = 0 if _acts(jacobian, first + e, lane) else -1
        f = 0
        while group_out[e] >= 0 and f <= e:
            if group_out[f] == group_out[e]:
                block = _block_of(place, column_start, row, triples[first + e, lane], triples[first + f, lane])
                block_out[e, f] = block_out[f, e] = block
                if block < 0:
                    group_out[e] += 1
                    f, together = -1, False
            f += 1
    return together


@kernel
def scatter_rows(place, column_start, row, start, triples, jacobian, weight, values_inout):
    """Adds J_i^T G J_j of all row blocks to the upper blocks (k, 3, 3) of a pattern; whether all of it is there. Where
    the pattern does not couple all triples of a block, these are parted into groups which it does, and pairs between
    two groups are left out: what is left is positive, which it is not if single pairs are. place (n,): of each triple
    in the pattern; weight (slices, 6, LANES): G."""
    whole, width = True, 1
    for s in range(start.shape[0] - 1):
        width = max(width, start[s + 1] - start[s])
    group, blocks = np.empty(width, np.int64), np.empty((width, width), np.int64)
    for s in range(start.shape[0] - 1):
        for lane in range(LANES):
            g = load6(weight, s, lane)
            if g[0] == 0.0 and g[1] == 0.0 and g[2] == 0.0:
                continue
            first, last = start[s], start[s + 1]
            if not _group_entries(place, column_start, row, triples, jacobian, first, last, lane, group, blocks):
                whole = False
            for i in range(first, last):
                for j in range(first, last):
                    # both orders of a pair come by; of two entries of one triple all count
                    if group[i - first] < 0 or group[i - first] != group[j - first]:
                        continue
                    if place[triples[i, lane]] > place[triples[j, lane]]:
                        continue
                    out = values_inout[blocks[i - first, j - first]]
                    for c in range(3):
                        column = symmetric_multiply_vector(
                            g, (jacobian[j, c, lane], jacobian[j, 3 + c, lane], jacobian[j, 6 + c, lane])
                        )
                        for r in range(3):
                            out[r, c] += (
                                jacobian[i, r, lane] * column[0]
                                + jacobian[i, 3 + r, lane] * column[1]
                                + jacobian[i, 6 + r, lane] * column[2]
                            )
    return whole


@kernel
def _add_pairs(pairs, jacobian, weight, values_inout):
    """Adds J_i^T G J_j of pairs (m, 5) of entries: i, j, slice, lane, and the block that it belongs to."""
    for k in range(pairs.shape[0]):
        i, j, s, lane, index = pairs[k, 0], pairs[k, 1], pairs[k, 2], pairs[k, 3], pairs[k, 4]
        g = load6(weight, s, lane)
        if g[0] == 0.0 and g[1] == 0.0 and g[2] == 0.0:
            continue
        for c in range(3):
            j0, j1, j2 = jacobian[j, c, lane], jacobian[j, 3 + c, lane], jacobian[j, 6 + c, lane]
            g0, g1, g2 = symmetric_multiply_vector(g, (j0, j1, j2))
            for r in range(3):
                own = jacobian[i, r, lane] * g0 + jacobian[i, 3 + r, lane] * g1 + jacobian[i, 6 + r, lane] * g2
                values_inout[index, r, c] += own


@kernel
def assemble_pairs(order, column_start, row, diagonal, pairs, mass, jacobian, weight, free, values_out, inverse_out):
    """Upper blocks (k, 3, 3) of M + J^T G J in a pattern, prescribed components as in the unit matrix, and the inverses
    (n, 6) of its diagonal blocks. order (n,): of triples in the pattern; diagonal (n,): their blocks; pairs (m, 5): of
    entries of one row block that meet in one of these blocks (i, j, slice, lane, block)."""
    values_out[:] = 0.0
    for i in range(diagonal.shape[0]):
        block = values_out[diagonal[i]]
        for r in range(3):
            for c in range(3):
                block[r, c] = mass[i, r, c]
    _add_pairs(pairs, jacobian, weight, values_out)
    restrict(order, column_start, row, free, values_out)
    inverse_diagonals(diagonal, values_out, inverse_out)
