"""Diagonal blocks of the rows' part of a primal matrix."""

import numpy as np

from pliant.jit import kernel
from pliant.kernels.cpu.linalg.sliced import invert_diagonal
from pliant.kernels.lanes import LANES


@kernel
def add_row_diagonals(rows, free, out):
    """Adds the diagonal blocks of J^T G J to out (slices, 9, LANES); free: flat, 0 for prescribed components."""
    block = np.empty((9, LANES), out.dtype)
    for s in range(rows.start.shape[0] - 1):
        g = rows.weight[s]
        for e in range(rows.start[s], rows.start[s + 1]):
            j = rows.jacobian[e]
            for c in range(3):
                for lane in range(LANES):
                    a0 = g[0, lane] * j[c, lane] + g[5, lane] * j[3 + c, lane] + g[4, lane] * j[6 + c, lane]
                    a1 = g[5, lane] * j[c, lane] + g[1, lane] * j[3 + c, lane] + g[3, lane] * j[6 + c, lane]
                    a2 = g[4, lane] * j[c, lane] + g[3, lane] * j[3 + c, lane] + g[2, lane] * j[6 + c, lane]
                    for r in range(3):
                        block[3 * r + c, lane] = j[r, lane] * a0 + j[3 + r, lane] * a1 + j[6 + r, lane] * a2
            for lane in range(LANES):
                if g[0, lane] == 0.0 and g[1, lane] == 0.0 and g[2, lane] == 0.0:
                    continue
                at = rows.offset[e, lane]
                own = out[at // (3 * LANES)]
                for r in range(3):
                    for c in range(3):
                        both = free[at + r * LANES] * free[at + c * LANES]
                        own[3 * r + c, at % LANES] += both * block[3 * r + c, lane]


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
