"""Diagonal blocks of the rows' part of a primal matrix."""

import numpy as np

from pliant.jit import kernel
from pliant.kernels.cpu.linalg.sliced import invert_diagonal
from pliant.kernels.lanes import LANES


@kernel
def add_row_diagonals(rows, free, out):
    """Adds the diagonal blocks of J^T G J to out (slices, 9, LANES); free: flat, 0 for prescribed components."""
    for s in range(rows.start.shape[0] - 1):
        for lane in range(LANES):
            g = rows.weight[s, :, lane]
            if g[0] == 0.0 and g[1] == 0.0 and g[2] == 0.0:
                continue
            for e in range(rows.start[s], rows.start[s + 1]):
                at = rows.offset[e, lane]
                j = rows.jacobian[e, :, lane]
                for c in range(3):
                    a0 = g[0] * j[c] + g[5] * j[3 + c] + g[4] * j[6 + c]
                    a1 = g[5] * j[c] + g[1] * j[3 + c] + g[3] * j[6 + c]
                    a2 = g[4] * j[c] + g[3] * j[3 + c] + g[2] * j[6 + c]
                    for r in range(3):
                        both = free[at + r * LANES] * free[at + c * LANES]
                        value = both * (j[r] * a0 + j[3 + r] * a1 + j[6 + r] * a2)
                        out[at // (3 * LANES), 3 * r + c, at % LANES] += value


@kernel
def invert_touched(rows, free, start, values, extra, work, touched, inverse_inout):
    """The inverse diagonal blocks (slices, 9, LANES) of those triples that rows act on, with what these add; extra
    (slices, 9, LANES): what others have been inverted with, of which `work` is a copy, and stays one. touched (slices,
    LANES): zeros, and stays so."""
    add_row_diagonals(rows, free, work)
    least = 8.0 * np.finfo(values.dtype).eps
    for s in range(rows.start.shape[0] - 1):
        for lane in range(LANES):
            if rows.weight[s, 0, lane] == 0.0 and rows.weight[s, 1, lane] == 0.0 and rows.weight[s, 2, lane] == 0.0:
                continue
            for e in range(rows.start[s], rows.start[s + 1]):
                touched[rows.offset[e, lane] // (3 * LANES), rows.offset[e, lane] % LANES] = 1
    for at in range(touched.shape[0]):
        for own in range(LANES):
            if touched[at, own]:
                invert_diagonal(values[start[at]], work[at], own, least, inverse_inout[at])
                touched[at, own] = 0
                for k in range(9):
                    work[at, k, own] = extra[at, k, own]
