"""Sums over all blocks of threads of box problems, in a fixed order."""

import math

from numba import cuda, float64

from pliant.kernels.cuda import mprgp_decisions as d
from pliant.kernels.cuda.impulses import meet
from pliant.kernels.cuda.warp import FULL, device, get, put, warp_sum

THREADS, WARPS = 256, 8
WIDTH = d.SUMS + 1
SHARED = WARPS * WIDTH
# Most blocks of threads: one looks at the flags of all.
MOST_BLOCKS = THREADS


@device
def warp_least(v):
    """The least number of the lanes of a warp, in every lane."""
    for o in (16, 8, 4, 2, 1):
        v = min(v, cuda.shfl_xor_sync(FULL, v, o))
    return v


@device
def leave(own, least, count, of_warps):
    """The sums of every warp of this block of threads of the first `count` numbers, and its least of one more."""
    lane, warp = cuda.threadIdx.x & 31, cuda.threadIdx.x >> 5
    for j in range(count):
        value = warp_sum(own[j])
        if lane == 0:
            of_warps[j * WARPS + warp] = value
    least = warp_least(least)
    if lane == 0:
        of_warps[d.ROOM * WARPS + warp] = least


@device
def leave_two(first, second, of_warps):
    """The same of two sums alone."""
    first, second = warp_sum(first), warp_sum(second)
    if cuda.threadIdx.x & 31 == 0:
        of_warps[cuda.threadIdx.x >> 5], of_warps[WARPS + (cuda.threadIdx.x >> 5)] = first, second


@device
def publish(part, half, count, of_warps):
    """What the warps have left, as one number each, for all blocks of threads; part [2][WIDTH][blocks]: one half is
    written while others may still read the other."""
    j = cuda.threadIdx.x
    if j < count or j == d.ROOM:
        value = of_warps[j * WARPS]
        for k in range(1, WARPS):
            other = of_warps[j * WARPS + k]
            value = value + other if j < d.SUMS else min(value, other)
        put(part, (half * WIDTH + j) * cuda.gridDim.x + cuda.blockIdx.x, value)


@device
def publish_two(part, half, units, of_warps):
    """The same of two sums alone, from the warps that have units."""
    j = cuda.threadIdx.x
    if j < 2:
        value, k = of_warps[j * WARPS], 1
        while k < WARPS and 32 * k < units:
            value += of_warps[j * WARPS + k]
            k += 1
        put(part, (half * WIDTH + j) * cuda.gridDim.x + cuda.blockIdx.x, value)


@device
def total(part, own, least, count, of_warps, found, flags, epoch):
    """Sums over the grid of the first `count` of SUMS numbers, and the least of one more, into found. The epoch of its
    barrier."""
    lane, warp, blocks, half = cuda.threadIdx.x & 31, cuda.threadIdx.x >> 5, cuda.gridDim.x, epoch & 1
    leave(own, least, count, of_warps)
    cuda.syncthreads()
    publish(part, half, count, of_warps)
    epoch = meet(flags, epoch)
    if warp < count or warp == d.ROOM:
        value = float64(0.0) if warp < d.SUMS else math.inf
        for k in range(lane, blocks, 32):
            other = get(part, (half * WIDTH + warp) * blocks + k)
            value = value + other if warp < d.SUMS else min(value, other)
        value = warp_sum(value) if warp < d.SUMS else warp_least(value)
        if lane == 0:
            found[warp] = value
    cuda.syncthreads()
    return epoch


@device
def part_at(part, at, k, blocks):
    """The part of a block of threads, 0 if there is none."""
    return get(part, at + k) if k < blocks else float64(0.0)


@device
def two_totals(part, half, found):
    """By the first warp: the first two sums over the grid into found. All loads are on their way before the first is
    waited for."""
    blocks, k = cuda.gridDim.x, cuda.threadIdx.x
    at = half * WIDTH * blocks
    other = at + blocks
    a, e = part_at(part, at, k, blocks), part_at(part, other, k, blocks)
    b, f = part_at(part, at, k + 32, blocks), part_at(part, other, k + 32, blocks)
    c, g = part_at(part, at, k + 64, blocks), part_at(part, other, k + 64, blocks)
    first, second = part_at(part, at, k + 96, blocks), part_at(part, other, k + 96, blocks)
    j = k + 128
    while j < blocks:
        first, second = first + get(part, at + j), second + get(part, other + j)
        j += 32
    first, second = warp_sum((a + b) + (c + first)), warp_sum((e + f) + (g + second))
    if k == 0:
        found[0], found[1] = first, second
