"""MPRGP in one cooperative launch."""

import math

from numba import cuda, float64

from pliant.kernels.cuda import mprgp_decisions as d
from pliant.kernels.cuda.box_rows import (
    along,
    clamped,
    enter_disc,
    expand_row,
    first_row,
    glide_row,
    move_row,
    projected_square,
    refresh_contact,
    released,
    room_left,
    split_row,
    tangent_gap,
)
from pliant.kernels.cuda.impulses import apply, meet
from pliant.kernels.cuda.stored import kernel
from pliant.kernels.cuda.warp import FULL, device, get, put, warp_sum
from pliant.kernels.lanes import LANES

THREADS, WARPS = 512, 16
WIDTH, NUMBERS = d.SUMS + 1, d.NUMBERS
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
def total(part, turn, own, least, count, of_warps, found, flags, epoch):
    """Sums over the grid of the first `count` of SUMS numbers, and the least of one more, into found; part
    [2][WIDTH][blocks]: one half is written while others may still read the other. The epoch of its barrier."""
    lane, warp, blocks = cuda.threadIdx.x & 31, cuda.threadIdx.x >> 5, cuda.gridDim.x
    for j in range(count):
        value = warp_sum(own[j])
        if lane == 0:
            of_warps[j * WARPS + warp] = value
    least = warp_least(least)
    if lane == 0:
        of_warps[d.ROOM * WARPS + warp] = least
    cuda.syncthreads()
    j = cuda.threadIdx.x
    if j < count or j == d.ROOM:
        value = of_warps[j * WARPS]
        for k in range(1, WARPS):
            other = of_warps[j * WARPS + k]
            value = value + other if j < d.SUMS else min(value, other)
        put(part, (turn * WIDTH + j) * blocks + cuda.blockIdx.x, value)
    epoch = meet(flags, epoch)
    if warp < count or warp == d.ROOM:
        value = float64(0.0) if warp < d.SUMS else math.inf
        for k in range(lane, blocks, 32):
            other = get(part, (turn * WIDTH + warp) * blocks + k)
            value = value + other if warp < d.SUMS else min(value, other)
        value = warp_sum(value) if warp < d.SUMS else warp_least(value)
        if lane == 0:
            found[warp] = value
    cuda.syncthreads()
    return epoch


@device
def before_product(s, v, n, action):
    """What an action does with every row before its product."""
    unit = cuda.grid(1)
    while unit < s.sizes[1]:
        i, rows = first_row(unit, s.sizes[0])
        for _ in range(rows):
            if action == d.STEP:
                put(v.p, i, along(get(v.phi, i), -n[d.BETA], get(v.p, i)))
            elif action == d.POWER:
                old = get(v.direction, i) if n[d.POWERED] == 0.0 else get(v.product, i)
                put(v.direction, i, n[d.FACTOR] * old)
            elif action == d.START:
                put(v.x, i, clamped(get(v.x, i), get(v.low, i), get(v.high, i)))
            elif action == d.RELEASE:
                put(v.p, i, released(v, i))
            elif action == d.EXPAND:
                expand_row(v, i, n[d.LENGTH], n[d.EXPANSION])
            elif action == d.GLIDE and n[d.BEGUN] != 0.0:
                glide_row(v, i, n[d.LENGTH], n[d.BETA])
            i += LANES
        unit += cuda.gridsize(1)


@device
def slope_sums(s, v):
    """Curvature and slope of a direction, and the least room along it."""
    curve = slope = float64(0.0)
    least, unit = math.inf, cuda.grid(1)
    while unit < s.sizes[1]:
        i, rows = first_row(unit, s.sizes[0])
        for _ in range(rows):
            p = get(v.p, i)
            curve, slope = curve + p * get(v.product, i), slope + p * get(v.g, i)
            least = min(least, room_left(v, i))
            i += LANES
        unit += cuda.gridsize(1)
    return curve, slope, least


@device
def two_dots(s, a, b, c):
    """a . a and b . c"""
    of_a = of_b = float64(0.0)
    unit = cuda.grid(1)
    while unit < s.sizes[1]:
        i, rows = first_row(unit, s.sizes[0])
        for _ in range(rows):
            x, y, z = float64(get(a, i)), float64(get(b, i)), float64(get(c, i))
            of_a, of_b = of_a + x * x, of_b + y * z
            i += LANES
        unit += cuda.gridsize(1)
    return of_a, of_b


@device
def split_sums(s, v, n, action):
    """A new gradient, by a move or by a product, and its sums."""
    s0 = s1 = s2 = s3 = s4 = float64(0.0)
    inverse, unit = 1.0 / n[d.ALPHA], cuda.grid(1)
    while unit < s.sizes[1]:
        i, rows = first_row(unit, s.sizes[0])
        for _ in range(rows):
            if action == d.MOVED:
                move_row(v, i, n[d.LENGTH])
            else:
                put(v.g, i, get(v.product, i) - get(v.b, i))
            t = split_row(v, i, inverse)
            s0, s1, s2, s3, s4 = s0 + t[0], s1 + t[1], s2 + t[2], s3 + t[3], s4 + t[4]
            i += LANES
        unit += cuda.gridsize(1)
    return s0, s1, s2, s3, s4


@device
def contact_sums(s, v, n, action):
    """What contacts do once gradients are known to all: new bounds, impulses within their discs, or nothing but the
    squares of what is left, of all rows."""
    left, cone, unit = float64(0.0), n[d.CONE] != 0.0, cuda.grid(1)
    while unit < s.sizes[1]:
        i, rows = first_row(unit, s.sizes[0])
        row = unit - s.sizes[0]
        if row >= 0 and get(v.friction, row) > 0.0:
            if action == d.BOUNDS:
                refresh_contact(v, s.scale, row, i, n[d.RELAXATION], cone)
            elif action == d.DISCS:
                enter_disc(v, s.scale, row, i, cone)
            else:
                left += tangent_gap(v, s.scale, row, i, cone)
        if row < 0 or get(v.friction, row) >= 0.0:  # tangents have -1
            for _ in range(rows):
                left += projected_square(v, i)
                i += LANES
        unit += cuda.gridsize(1)
    return left


@device
def act(s, v, n, flags, epoch):
    """Does an action: the epoch it ends in, its sums, the least room, and how many sums there are."""
    action, count, left, zero = int(n[d.ACTION]), 2, float64(0.0), float64(0.0)
    sums, least = (zero, zero, zero, zero, zero), math.inf
    if action < d.MOVED:
        before_product(s, v, n, action)
        source = v.x
        if action == d.POWER:
            source = v.direction
        elif action in (d.STEP, d.RELEASE):
            source = v.p
        elif action == d.GLIDE:
            source = v.g
        epoch = apply(s, source, v.product, flags, epoch)
    if action in (d.STEP, d.RELEASE):
        curve, slope, least = slope_sums(s, v)
        sums = (curve, slope, zero, zero, zero)
    elif action in (d.BEGIN, d.POWER, d.GLIDE):
        first, second, third = v.b, v.direction, v.direction
        if action == d.POWER:
            first = v.product
        elif action == d.GLIDE:
            first, second, third = v.g, v.g, v.product
        of_first, of_others = two_dots(s, first, second, third)
        sums = (of_first, of_others, zero, zero, zero)
    elif action <= d.MOVED:
        sums, count = split_sums(s, v, n, action), 5
    else:
        left = contact_sums(s, v, n, action)
        sums, count = (left, zero, zero, zero, zero), 1
    return epoch, sums, least, count


@kernel
def solve(s, v, part, flags, numbers):
    """Solves a box problem from x on; numbers: see `mprgp_decisions`; flags: of the barrier, and the last epoch."""
    n, of_warps = cuda.shared.array(NUMBERS, float64), cuda.shared.array(SHARED, float64)
    found = cuda.shared.array(WIDTH, float64)
    if cuda.threadIdx.x < d.NUMBERS:
        n[cuda.threadIdx.x] = numbers[cuda.threadIdx.x]
    epoch, turn = flags[MOST_BLOCKS], 0
    cuda.cg.this_grid().sync()
    while n[d.ACTION] != d.DONE:
        epoch, sums, least, count = act(s, v, n, flags, epoch)
        epoch = total(part, turn, sums, least, count, of_warps, found, flags, epoch)
        if cuda.threadIdx.x == 0:
            d.decide(n, found, found[d.ROOM])
        cuda.syncthreads()
        turn = 1 - turn
    if cuda.blockIdx.x == 0 and cuda.threadIdx.x < d.NUMBERS:
        numbers[cuda.threadIdx.x] = n[cuda.threadIdx.x]
        if cuda.threadIdx.x == 0:
            flags[MOST_BLOCKS] = epoch
