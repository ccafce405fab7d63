"""Loops over points that have flowed: rest gradients as seen from the plastic shape."""

import numpy as np
from numba import prange

from pliant.formulas.matrix3 import symmetric_inverse, symmetric_multiply_vector
from pliant.jit import parallel_kernel
from pliant.kernels.lanes import LANES


@parallel_kernel
def plastic_gradients(gradients, plastic, out):
    """out (groups, 3 k, LANES) = k gradients g of every point times (I + e_p)^-1; plastic (groups, 6, LANES): e_p, its
    shears doubled."""
    for group in prange(gradients.shape[0]):
        inverse = np.empty((6, LANES))
        for lane in range(LANES):
            x, y, z = plastic[group, 0, lane], plastic[group, 1, lane], plastic[group, 2, lane]
            yz, xz, xy = plastic[group, 3, lane], plastic[group, 4, lane], plastic[group, 5, lane]
            i = symmetric_inverse((1.0 + x, 1.0 + y, 1.0 + z, 0.5 * yz, 0.5 * xz, 0.5 * xy))
            inverse[0, lane], inverse[1, lane], inverse[2, lane] = i[0], i[1], i[2]
            inverse[3, lane], inverse[4, lane], inverse[5, lane] = i[3], i[4], i[5]
        for k in range(0, gradients.shape[1], 3):
            for lane in range(LANES):
                i = (inverse[0, lane], inverse[1, lane], inverse[2, lane])
                j = (inverse[3, lane], inverse[4, lane], inverse[5, lane])
                g = (gradients[group, k, lane], gradients[group, k + 1, lane], gradients[group, k + 2, lane])
                seen = symmetric_multiply_vector((i[0], i[1], i[2], j[0], j[1], j[2]), g)
                out[group, k, lane], out[group, k + 1, lane], out[group, k + 2, lane] = seen[0], seen[1], seen[2]
