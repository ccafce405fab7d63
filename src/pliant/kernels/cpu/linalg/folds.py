"""The bending of sheets that are flat at rest as a sparse matrix of numbers: the same stiffness along every axis.

A flat triangle that folds with its neighbours resists motions across its plane alone, by J^T K J with the gradients J
of its turns, and these are numbers times its normal. What those numbers make, whatever the direction, is the stiffness
of all its turns in space but for motions in its plane, which stretching resists far more.
"""

import numpy as np
from numba import prange

from pliant.jit import kernel, parallel_kernel
from pliant.kernels.cpu.linalg.sliced import multiply_slices
from pliant.kernels.lanes import LANES

# Slices that one thread takes at a time.
CHUNK = 8


@parallel_kernel
def weigh_folds(frames, rest, flat, weight, out):
    """Numbers (groups LANES, 21) of triangles: those at rest, flat (groups, 21, LANES), times weight (groups, LANES)
    and what their sharpest turn, in frames (groups, 42, LANES), makes steeper; rest (groups, 3, LANES): turns."""
    for group in prange(frames.shape[0]):
        for lane in range(LANES):
            square = 0.0
            for a in range(3):
                turn = frames[group, a, lane] + rest[group, a, lane]
                square = max(square, turn * turn)
            # f'^2, and what the torque of a turn f = 2 tan(angle / 2) makes of f''
            steep = (1.0 + 0.25 * square) * (1.0 + 0.25 * square)
            w = weight[group, lane] * steep * (1.0 + square / (2.0 + 0.5 * square))
            for k in range(21):
                out[group * LANES + lane, k] = w * flat[group, k, lane]


@parallel_kernel
def sum_folds(couple_start, source, numbers, sums):
    """Sums (couples,) of the triangles' numbers, flat, in fixed order."""
    for couple in prange(sums.shape[0]):
        total = 0.0
        for p in range(couple_start[couple], couple_start[couple + 1]):
            total += numbers[source[p]]
        sums[couple] = total


@parallel_kernel
def fill_folds(entry, sums, values_out):
    """Values (entries, LANES) of the matrix from the sums (couples,) of its couples."""
    for e in prange(entry.shape[0]):
        for lane in range(LANES):
            code = entry[e, lane]
            values_out[e, lane] = sums[code >> 1] if code >= 0 else 0.0


@kernel
def add_fold_diagonals(start, values, free, extra_inout):
    """Adds the diagonal numbers to diagonal blocks (slices, 9, LANES), where components are free."""
    for s in range(start.shape[0] - 1):
        for c in range(3):
            for lane in range(LANES):
                extra_inout[s, 4 * c, lane] += free[s, c, lane] * values[start[s], lane]


@kernel
def _add_slices(first, last, start, column, values, free, flat, out):
    """out += S x for slices first..last of flat vectors; free is 0 where a component is prescribed."""
    total = np.empty((3, LANES), values.dtype)
    second, third = flat[LANES:], flat[2 * LANES :]
    for s in range(first, last):
        for r in range(3):
            for lane in range(LANES):
                total[r, lane] = 0
        for e in range(start[s], start[s + 1]):
            for lane in range(LANES):
                offset = np.uint32(column[e, lane])  # of which the compiler knows that it counts from the start
                w = values[e, lane]
                total[0, lane] += w * flat[offset]
                total[1, lane] += w * second[offset]
                total[2, lane] += w * third[offset]
        for r in range(3):
            for lane in range(LANES):
                at = 3 * LANES * s + r * LANES + lane
                out[at] += free[at] * total[r, lane]


@parallel_kernel
def multiply_folded(matrix, free, x, out):
    """out (slices, 3, LANES) = (A + S) x for a flat vector, on several threads; free: flat."""
    slices, flat = matrix.start.shape[0] - 1, out.reshape(-1)
    for index in prange((slices + CHUNK - 1) // CHUNK):
        first = np.int64(index) * CHUNK
        last = min(first + CHUNK, slices)
        multiply_slices(first, last, matrix.start, matrix.column, matrix.values, x, out)
        _add_slices(first, last, matrix.fold_start, matrix.fold_column, matrix.fold_values, free, x, flat)


@kernel
def add_folds(matrix, free, x, out):
    """out += S x for flat vectors."""
    _add_slices(
        0, matrix.fold_start.shape[0] - 1, matrix.fold_start, matrix.fold_column, matrix.fold_values, free, x, out
    )
