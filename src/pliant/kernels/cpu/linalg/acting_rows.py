"""Rows that act: of many contacts most are open, and have no part in a product with the matrix."""

from pliant.jit import kernel
from pliant.kernels.lanes import LANES


@kernel
def _acts(weight, s, lane):
    return weight[s, 0, lane] != 0.0 or weight[s, 1, lane] != 0.0 or weight[s, 2, lane] != 0.0


@kernel
def count_acting(start, weight, entries_out):
    """How many slices the blocks need whose weights (slices, 6, LANES) are not zero, blocks of one width together;
    entries_out (1,): how many entries."""
    slices, entries, lanes, width = 0, 0, LANES, -1
    for s in range(start.shape[0] - 1):
        for lane in range(LANES):
            if _acts(weight, s, lane):
                own = start[s + 1] - start[s]
                if lanes == LANES or own != width:
                    slices, entries, lanes, width = slices + 1, entries + own, 0, own
                lanes += 1
    entries_out[0] = entries
    return slices


@kernel
def gather_acting(start, offset, jacobian, weight, start_out, offset_out, jacobian_out, weight_out):
    """These blocks, in the same order, as row terms of their own; room is as `count_acting` says, and all zero."""
    slices, lanes, width = 0, LANES, -1
    for s in range(start.shape[0] - 1):
        for lane in range(LANES):
            if _acts(weight, s, lane):
                own = start[s + 1] - start[s]
                if lanes == LANES or own != width:
                    slices, lanes, width = slices + 1, 0, own
                    start_out[slices] = start_out[slices - 1] + own
                first = start_out[slices - 1]
                for e in range(own):
                    offset_out[first + e, lanes] = offset[start[s] + e, lane]
                    for k in range(9):
                        jacobian_out[first + e, k, lanes] = jacobian[start[s] + e, k, lane]
                for k in range(6):
                    weight_out[slices - 1, k, lanes] = weight[s, k, lane]
                lanes += 1
