"""Loops over block matrices in sliced rows: gathering, products, inverse diagonal blocks."""

from typing import NamedTuple

import numpy as np
from numba import prange

from pliant.jit import kernel, parallel_kernel
from pliant.kernels.lanes import LANES


class SlicedMatrix(NamedTuple):
    """start (slices + 1,); column (entries, LANES): flat offset of the column's first component in a vector; values
    (entries, 9, LANES). The first entry of every row is its diagonal block."""

    start: np.ndarray
    column: np.ndarray
    values: np.ndarray


@kernel
def _pack(place, values, out):
    for i in range(place.shape[0]):
        s, lane = place[i] // LANES, place[i] % LANES
        for c in range(3):
            out[s, c, lane] = values[i, c]


@kernel
def _unpack(place, vector, out):
    for i in range(place.shape[0]):
        s, lane = place[i] // LANES, place[i] % LANES
        for c in range(3):
            out[i, c] = vector[s, c, lane]


@parallel_kernel
def gather_matrix(start, column, part_start, source, target, blocks, free, diagonal, sums, values_out):
    """Values of the matrix: sums of element blocks (k, 9), plus `diagonal` (slices, 9, LANES).

    free (slices, 3, LANES): rows and columns of prescribed components become those of the unit matrix. sums
    (entries LANES, 9): work space. Each part of the rows is summed by one thread, in the order of the elements.
    """
    slices, parts = start.shape[0] - 1, part_start.shape[0] - 1
    flat = free.reshape(-1)
    for part in prange(parts):
        first, last = part * slices // parts, (part + 1) * slices // parts
        sums[start[first] * LANES : start[last] * LANES] = 0
        for p in range(part_start[part], part_start[part + 1]):
            code, total = source[p], sums[target[p]]
            b = blocks[code // 2]
            if code % 2 == 0:
                for k in range(9):
                    total[k] += b[k]
            else:
                for r in range(3):
                    for c in range(3):
                        total[3 * r + c] += b[3 * c + r]
        for s in range(first, last):
            for e in range(start[s], start[s + 1]):
                for r in range(3):
                    for c in range(3):
                        for lane in range(LANES):
                            both = free[s, r, lane] * flat[column[e, lane] + c * LANES]
                            values_out[e, 3 * r + c, lane] = both * sums[e * LANES + lane, 3 * r + c]
            own = start[s]
            for r in range(3):
                for c in range(3):
                    for lane in range(LANES):
                        both = free[s, r, lane] * free[s, c, lane]
                        values_out[own, 3 * r + c, lane] += both * diagonal[s, 3 * r + c, lane]
                        if r == c:
                            values_out[own, 3 * r + c, lane] += 1 - both


@kernel
def multiply_slices(first, last, start, column, values, flat, out):
    """out (slices, 3, LANES) = A x for slices first..last; flat: x as one line of numbers."""
    total, x = np.empty((3, LANES), values.dtype), np.empty((3, LANES), values.dtype)
    for s in range(first, last):
        for r in range(3):
            for lane in range(LANES):
                total[r, lane] = 0
        for e in range(start[s], start[s + 1]):
            for lane in range(LANES):
                offset = column[e, lane]
                x[0, lane], x[1, lane], x[2, lane] = flat[offset], flat[offset + LANES], flat[offset + 2 * LANES]
            for lane in range(values.shape[2]):
                for r in range(3):
                    total[r, lane] += (
                        values[e, 3 * r, lane] * x[0, lane]
                        + values[e, 3 * r + 1, lane] * x[1, lane]
                        + values[e, 3 * r + 2, lane] * x[2, lane]
                    )
        for r in range(3):
            for lane in range(LANES):
                out[s, r, lane] = total[r, lane]


@kernel
def multiply_blocks(blocks, x, out):
    """out = blocks x for a matrix of diagonal blocks (slices, 9, LANES) and vectors (slices, 3, LANES)."""
    for s in range(x.shape[0]):
        for row in range(3):
            for lane in range(x.shape[2]):
                out[s, row, lane] = (
                    blocks[s, 3 * row, lane] * x[s, 0, lane]
                    + blocks[s, 3 * row + 1, lane] * x[s, 1, lane]
                    + blocks[s, 3 * row + 2, lane] * x[s, 2, lane]
                )


@kernel
def invert_diagonals(start, values, extra, out):
    """out (slices, 9, LANES): inverse of every diagonal block plus `extra` (slices, 9, LANES)."""
    for s in range(start.shape[0] - 1):
        e = start[s]
        for lane in range(LANES):
            a = np.empty(9)
            for k in range(9):
                a[k] = values[e, k, lane] + extra[s, k, lane]
            c0 = a[4] * a[8] - a[5] * a[7]
            c1 = a[5] * a[6] - a[3] * a[8]
            c2 = a[3] * a[7] - a[4] * a[6]
            determinant = a[0] * c0 + a[1] * c1 + a[2] * c2
            scale = 1.0 / determinant if determinant > 0.0 else 0.0
            out[s, 0, lane], out[s, 3, lane], out[s, 6, lane] = c0 * scale, c1 * scale, c2 * scale
            out[s, 1, lane] = (a[2] * a[7] - a[1] * a[8]) * scale
            out[s, 4, lane] = (a[0] * a[8] - a[2] * a[6]) * scale
            out[s, 7, lane] = (a[1] * a[6] - a[0] * a[7]) * scale
            out[s, 2, lane] = (a[1] * a[5] - a[2] * a[4]) * scale
            out[s, 5, lane] = (a[2] * a[3] - a[0] * a[5]) * scale
            out[s, 8, lane] = (a[0] * a[4] - a[1] * a[3]) * scale
