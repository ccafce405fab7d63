"""Diagonal blocks of the rows' part of a primal matrix."""

from pliant.jit import kernel
from pliant.kernels.lanes import LANES


@kernel
def add_row_diagonals(rows, free, out):
    """Adds the diagonal blocks of J^T G J to out (slices, 9, LANES); free: flat, 0 for prescribed components."""
    for s in range(rows.start.shape[0] - 1):
        for lane in range(LANES):
            g = rows.weight[s, :, lane]
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
