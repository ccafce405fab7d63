"""The bending of sheets that are flat at rest as a sparse matrix of numbers: the same stiffness along every axis.

A flat triangle that folds with its neighbours resists motions across its plane alone, by J^T K J with the gradients J
of its turns, and these are numbers times its normal. What those numbers make, whatever the direction, is the stiffness
of all its turns in space but for motions in its plane, which stretching resists far more.
"""

import numpy as np
from numba import prange

from pliant.jit import formula, kernel, parallel_kernel
from pliant.kernels.cpu.linalg.sliced import multiply_slices
from pliant.kernels.lanes import LANES

# Slices that one thread takes at a time, and rows of a slice that a loop does.
CHUNK, FOUR = 8, 4


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


@formula
def _add_four(free, at, total, out):
    """out += free total for four numbers from `at` on."""
    out[at] += free[at] * total[0]
    out[at + 1] += free[at + 1] * total[1]
    out[at + 2] += free[at + 2] * total[2]
    out[at + 3] += free[at + 3] * total[3]


@kernel(ordered=True)
def _add_slices(first, last, start, column, values, free, flat, out):
    """out += S x for slices first..last of flat vectors; free is 0 where a component is prescribed.

    Four rows at a time, number by number: there is little to do with what is read from all over, and vectors would
    have to be gathered."""
    second, third, none = flat[LANES:], flat[2 * LANES :], values.dtype.type(0)
    for s in range(first, last):
        for lane in range(0, LANES, FOUR):
            x0, x1, x2, x3 = none, none, none, none
            y0, y1, y2, y3 = none, none, none, none
            z0, z1, z2, z3 = none, none, none, none
            for e in range(start[s], start[s + 1]):
                # of offsets without a sign the compiler knows that they count from the start
                i, w = np.uint32(column[e, lane]), values[e, lane]
                x0, y0, z0 = x0 + w * flat[i], y0 + w * second[i], z0 + w * third[i]
                i, w = np.uint32(column[e, lane + 1]), values[e, lane + 1]
                x1, y1, z1 = x1 + w * flat[i], y1 + w * second[i], z1 + w * third[i]
                i, w = np.uint32(column[e, lane + 2]), values[e, lane + 2]
                x2, y2, z2 = x2 + w * flat[i], y2 + w * second[i], z2 + w * third[i]
                i, w = np.uint32(column[e, lane + 3]), values[e, lane + 3]
                x3, y3, z3 = x3 + w * flat[i], y3 + w * second[i], z3 + w * third[i]
            at = 3 * LANES * s + lane
            _add_four(free, at, (x0, x1, x2, x3), out)
            _add_four(free, at + LANES, (y0, y1, y2, y3), out)
            _add_four(free, at + 2 * LANES, (z0, z1, z2, z3), out)


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
