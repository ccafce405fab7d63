"""Cholesky factors of a matrix of 3x3 blocks within a band, and solves with them, by one block of threads.

The band holds rows of w + 1 blocks, the last on the diagonal. Factors take the place of the matrix, with inverses of
the diagonal blocks. Every sum has a fixed order.
"""

import math

from numba import cuda

from pliant.kernels.cuda.warp import device, get, put


@device
def place(row, column, width):
    """Where the block of two rows lies in the band."""
    return (row * (width + 1) + column - row + width) * 9


@device
def inverse_factor(band, at):
    """Inverse (6: 00 10 11 20 21 22) of the lower Cholesky factor of a diagonal block, and whether it has one."""
    a, b, c = get(band, at), get(band, at + 3), get(band, at + 4)
    d, e, f = get(band, at + 6), get(band, at + 7), get(band, at + 8)
    good = a > 0.0
    i0 = 1.0 / math.sqrt(a) if a > 0.0 else 0.0
    l10, l20 = b * i0, d * i0
    c -= l10 * l10
    good = good and c > 0.0
    i1 = 1.0 / math.sqrt(c) if c > 0.0 else 0.0
    l21 = (e - l20 * l10) * i1
    f -= l20 * l20 + l21 * l21
    good = good and f > 0.0
    i2 = 1.0 / math.sqrt(f) if f > 0.0 else 0.0
    m10, m21 = -l10 * i0 * i1, -l21 * i1 * i2
    return (i0, m10, i1, -(l20 * i0 + l21 * m10) * i2, m21, i2), good


@device
def update_pair(band, first, second, target):
    """target -= first second^T, blocks of the band."""
    for r in range(3):
        p, q, s = get(band, first + 3 * r), get(band, first + 3 * r + 1), get(band, first + 3 * r + 2)
        for c in range(3):
            at = second + 3 * c
            total = p * get(band, at) + q * get(band, at + 1) + s * get(band, at + 2)
            put(band, target + 3 * r + c, get(band, target + 3 * r + c) - total)


@cuda.jit(device=True)
def factorise(band, count, width, pairs):
    """Factors in place of the matrix; whether it is positive. All threads of the block take part."""
    t, threads, good = cuda.threadIdx.x, cuda.blockDim.x, True
    for j in range(count):
        cuda.syncthreads()
        at = place(j, j, width)
        inverse, own = inverse_factor(band, at)
        good = good and own
        below = min(width, count - 1 - j)
        for r in range(t, 3 * below, threads):
            row = place(j + 1 + r // 3, j, width) + 3 * (r % 3)
            a, b, c = get(band, row), get(band, row + 1), get(band, row + 2)
            put(band, row, a * inverse[0])
            put(band, row + 1, a * inverse[1] + b * inverse[2])
            put(band, row + 2, a * inverse[3] + b * inverse[4] + c * inverse[5])
        cuda.syncthreads()
        if t == 0:
            put(band, at, inverse[0])
            put(band, at + 3, inverse[1])
            put(band, at + 4, inverse[2])
            put(band, at + 6, inverse[3])
            put(band, at + 7, inverse[4])
            put(band, at + 8, inverse[5])
        for p in range(t, below * (below + 1) // 2, threads):
            i, k = j + 1 + pairs[p, 0], j + 1 + pairs[p, 1]
            update_pair(band, place(i, j, width), place(k, j, width), place(i, k, width))
    cuda.syncthreads()
    return good


@cuda.jit(device=True)
def solve(band, count, width, right, out):
    """out (n, 3) solves the factorised system for a right side (n, 3), which is overwritten."""
    t, threads = cuda.threadIdx.x, cuda.blockDim.x
    for j in range(count):
        cuda.syncthreads()
        at = place(j, j, width)
        a, b, c = right[j, 0], right[j, 1], right[j, 2]
        y0 = get(band, at) * a
        y1 = get(band, at + 3) * a + get(band, at + 4) * b
        y2 = get(band, at + 6) * a + get(band, at + 7) * b + get(band, at + 8) * c
        for r in range(t, 3 * min(width, count - 1 - j), threads):
            i, c_ = j + 1 + r // 3, r % 3
            row = place(i, j, width) + 3 * c_
            right[i, c_] -= get(band, row) * y0 + get(band, row + 1) * y1 + get(band, row + 2) * y2
        if t == 0:
            out[j, 0], out[j, 1], out[j, 2] = y0, y1, y2
    cuda.syncthreads()
    for k in range(count):
        j = count - 1 - k
        at = place(j, j, width)
        a, b, c = out[j, 0], out[j, 1], out[j, 2]
        x0 = get(band, at) * a + get(band, at + 3) * b + get(band, at + 6) * c
        x1 = get(band, at + 4) * b + get(band, at + 7) * c
        x2 = get(band, at + 8) * c
        above = min(width, j)
        for r in range(t, 3 * above, threads):
            i, c_ = j - 1 - r // 3, r % 3
            row = place(j, i, width) + c_
            out[i, c_] -= get(band, row) * x0 + get(band, row + 3) * x1 + get(band, row + 6) * x2
        if t == 0:
            right[j, 0], right[j, 1], right[j, 2] = x0, x1, x2
        cuda.syncthreads()
    for r in range(t, 3 * count, threads):
        out[r // 3, r % 3] = right[r // 3, r % 3]
    cuda.syncthreads()
