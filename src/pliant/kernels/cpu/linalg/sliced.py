"""Loops over block matrices in sliced rows: gathering, products, inverse diagonal blocks."""

import numpy as np
from numba import prange

from pliant.formulas.matrix3 import positive_inverse
from pliant.jit import kernel, parallel_kernel
from pliant.kernels.lanes import LANES


@kernel
def pack(place, values, out):
    """(n, 3) -> (slices, 3, LANES) in the matrix's order."""
    for i in range(place.shape[0]):
        s, lane = place[i] // LANES, place[i] % LANES
        for c in range(3):
            out[s, c, lane] = values[i, c]


@kernel
def pack_free(place, values, free, scale, out):
    """The same of scale times the free components (n, 3)."""
    for i in range(place.shape[0]):
        s, lane = place[i] // LANES, place[i] % LANES
        for c in range(3):
            out[s, c, lane] = scale * values[i, c] * free[i, c]


@kernel
def largest(values):
    """The largest size of a number of an array (n, 3); NaN where there is one."""
    found = 0.0
    for i in range(values.shape[0]):
        for c in range(3):
            size = abs(values[i, c])
            found = size if not size <= found else found
    return found


@kernel
def unpack(place, vector, out):
    """(slices, 3, LANES) -> (n, 3)."""
    for i in range(place.shape[0]):
        s, lane = place[i] // LANES, place[i] % LANES
        for c in range(3):
            out[i, c] = vector[s, c, lane]


@kernel
def local_square(place, inverse, values):
    """The sum of v^T D^-1 v over values v (n, 3), with inverse diagonal blocks (slices, 9, LANES)."""
    total = 0.0
    for i in range(place.shape[0]):
        s, lane = place[i] // LANES, place[i] % LANES
        for r in range(3):
            row = 0.0
            for c in range(3):
                row += inverse[s, 3 * r + c, lane] * values[i, c]
            total += values[i, r] * row
    return total


@parallel_kernel
def gather_sums(gathering, blocks, sums):
    """Sums (couples, 9) of element blocks (k, 9). Each couple is summed by one thread, in the order of its blocks."""
    couple_start, turned, source = gathering.couple_start, gathering.turned, gathering.source
    for couple in prange(turned.shape[0]):
        total = sums[couple]
        for k in range(9):
            total[k] = 0
        for p in range(couple_start[couple], turned[couple]):
            b = blocks[source[p]]
            for k in range(9):
                total[k] += b[k]
        for p in range(turned[couple], couple_start[couple + 1]):
            b = blocks[source[p]]
            for r in range(3):
                for c in range(3):
                    total[3 * r + c] += b[3 * c + r]


@parallel_kernel
def fill_slices(gathering, start, sums, mass, values_out):
    """Values of the matrix: sums (couples, 9) of `gather_sums` plus mass blocks (n, 3, 3) of the triples."""
    entry = gathering.entry
    for s in prange(start.shape[0] - 1):
        for e in range(start[s], start[s + 1]):
            for lane in range(LANES):
                code = entry[e, lane]
                total = sums[max(code, 0) >> 1]
                there = values_out.dtype.type(1 if code >= 0 else 0)
                down, across = (1, 3) if code & 1 else (3, 1)
                for r in range(3):
                    for c in range(3):
                        values_out[e, 3 * r + c, lane] = there * total[down * r + across * c]
        own = start[s]
        for lane in range(LANES):
            i = gathering.triple[s, lane]
            if i >= 0:
                for r in range(3):
                    for c in range(3):
                        values_out[own, 3 * r + c, lane] += values_out.dtype.type(mass[i, r, c])
    flat = values_out.reshape(-1)
    for place in gathering.zero:
        flat[place] = 0
    for place in gathering.one:
        flat[place] = 1


@kernel
def multiply_slices(first, last, start, column, values, flat, out):
    """out (slices, 3, LANES) = A x for slices first..last; flat: x as one line of numbers."""
    total, x = np.empty((3, LANES), values.dtype), np.empty((3, LANES), values.dtype)
    second, third = flat[LANES:], flat[2 * LANES :]
    for s in range(first, last):
        for r in range(3):
            for lane in range(LANES):
                total[r, lane] = 0
        for e in range(start[s], start[s + 1]):
            for lane in range(LANES):
                offset = np.uint32(column[e, lane])  # of which the compiler knows that it counts from the start
                x[0, lane], x[1, lane], x[2, lane] = flat[offset], second[offset], third[offset]
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
def invert_diagonal(block, more, lane, least, out):
    """out (9, LANES): inverse of one lane of diagonal blocks plus `more` (9, LANES); positive, whatever it is. Pivots
    below the part `least` of their diagonal numbers are rounding."""
    xx = np.float64(block[0, lane]) + np.float64(more[0, lane])
    yy = np.float64(block[4, lane]) + np.float64(more[4, lane])
    zz = np.float64(block[8, lane]) + np.float64(more[8, lane])
    yz = np.float64(block[7, lane]) + np.float64(more[7, lane])
    xz = np.float64(block[6, lane]) + np.float64(more[6, lane])
    xy = np.float64(block[3, lane]) + np.float64(more[3, lane])
    i = positive_inverse((xx, yy, zz, yz, xz, xy), least)
    out[0, lane], out[4, lane], out[8, lane] = i[0], i[1], i[2]
    out[5, lane], out[2, lane], out[1, lane] = i[3], i[4], i[5]
    out[7, lane], out[6, lane], out[3, lane] = i[3], i[4], i[5]


@kernel
def invert_diagonals(start, values, extra, out):
    """out (slices, 9, LANES): inverse of every diagonal block plus `extra` (slices, 9, LANES); positive, whatever they
    are."""
    least = 8.0 * np.finfo(values.dtype).eps
    for s in range(start.shape[0] - 1):
        for lane in range(LANES):
            invert_diagonal(values[start[s]], extra[s], lane, least, out[s])
