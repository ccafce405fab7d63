"""Loops over row blocks for the primal form: J^T W J into blocks, J^T into impulses, impulses from velocities."""

from pliant.jit import kernel
from pliant.kernels.lanes import LANES


@kernel
def add_row_blocks(first, second, place, jacobian, weight, block_index, values_inout):
    """Adds J_i^T W J_j for pairs of entries (first, second) of row blocks at place (slice, lane) to the blocks named.

    weight (slices, 3, LANES) is R^-1; a block index k < 0 stands for block -2 - k, stored transposed.
    """
    for k in range(first.shape[0]):
        i, j, s, lane = first[k], second[k], place[k, 0], place[k, 1]
        index = block_index[k]
        for r in range(3):
            for c in range(3):
                total = 0.0
                for row in range(3):
                    total += weight[s, row, lane] * jacobian[i, 3 * row + r, lane] * jacobian[j, 3 * row + c, lane]
                if index >= 0:
                    values_inout[index, r, c] += total
                else:
                    values_inout[-2 - index, c, r] += total


@kernel
def add_row_impulses(start, triples, jacobian, impulse, out):
    """out (triples, 3) += J^T impulse; impulse (slices, 3, LANES)."""
    for s in range(start.shape[0] - 1):
        for entry in range(start[s], start[s + 1]):
            for lane in range(LANES):
                triple = triples[entry, lane]
                for row in range(3):
                    for c in range(3):
                        out[triple, c] += jacobian[entry, 3 * row + c, lane] * impulse[s, row, lane]


@kernel
def row_impulses(start, triples, jacobian, target, weight, velocity, out):
    """out (slices * 3 * LANES,) = W (b - J u): the impulses of eliminated rows."""
    for s in range(start.shape[0] - 1):
        for row in range(3):
            for lane in range(LANES):
                rate = 0.0
                for entry in range(start[s], start[s + 1]):
                    triple = triples[entry, lane]
                    for c in range(3):
                        rate += jacobian[entry, 3 * row + c, lane] * velocity[triple, c]
                out[(s * 3 + row) * LANES + lane] = weight[s, row, lane] * (target[s, row, lane] - rate)
