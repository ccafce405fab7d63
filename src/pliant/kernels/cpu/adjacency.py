"""Which slots belong to which triple."""

import numpy as np

from pliant.jit import kernel
from pliant.kernels.lanes import LANES


@kernel
def slot_adjacency(triples, jacobian, first_offset, triple_count):
    """CSR lists: for every triple the slot offsets of its entries, in entry order; entries without Jacobian are left
    out."""
    start = np.zeros(triple_count + 1, np.int64)
    used = np.zeros(triples.shape, np.bool_)
    for entry in range(triples.shape[0]):
        for lane in range(LANES):
            for c in range(9):
                used[entry, lane] |= jacobian[entry, c, lane] != 0
            if used[entry, lane]:
                start[triples[entry, lane] + 1] += 1
    for triple in range(triple_count):
        start[triple + 1] += start[triple]
    fill = start[:-1].copy()
    offsets = np.empty(start[-1], np.int64)
    for entry in range(triples.shape[0]):
        for lane in range(LANES):
            if used[entry, lane]:
                triple = triples[entry, lane]
                offsets[fill[triple]] = first_offset + entry * 3 * LANES + lane
                fill[triple] += 1
    return start, offsets
