"""The coarse level of the preconditioner: rigid motions of aggregates of nodes, P^T A P, and its dense inverse (twin of
kernels.cpu.linalg.two_level)."""

import math
from functools import cache

from numba import cuda, float32, float64

from pliant.kernels.cuda.codes import ARM, DIAG, FREE, RECORD_WIDTH
from pliant.kernels.cuda.matrix import blocks_of
from pliant.kernels.cuda.stored import kernel
from pliant.kernels.cuda.warp import cross3, device, get, load3, narrow3, node_place, plus, put, store3, warp_sum

# Threads of a block: of tasks and arms, and of the inverse.
THREADS, INVERSE_THREADS = 128, 512
# What is added to the diagonal, relative, against motions that only rounding tells apart, and the pivot (of a matrix
# with a unit diagonal) below which a motion is left out.
SAFETY, LEAST_PIVOT = 1e-7, 1e-11
# Largest block of pivots.
MOST_PIVOTS = 22


@device
def turned(b, a):
    """B C with C w = w x arm: the arm times each row."""
    p, q, r = cross3(a, (b[0], b[1], b[2])), cross3(a, (b[3], b[4], b[5])), cross3(a, (b[6], b[7], b[8]))
    return (p[0], p[1], p[2], q[0], q[1], q[2], r[0], r[1], r[2])


@device
def crossed(b, a):
    """C^T B: the arm times each column."""
    p, q, r = cross3(a, (b[0], b[3], b[6])), cross3(a, (b[1], b[4], b[7])), cross3(a, (b[2], b[5], b[8]))
    return (p[0], q[0], r[0], p[1], q[1], r[1], p[2], q[2], r[2])


@device
def masked(v, f, g):
    """A block without its prescribed rows and columns, in float64."""
    return (
        float64(f[0] * v[0] * g[0]),
        float64(f[0] * v[1] * g[1]),
        float64(f[0] * v[2] * g[2]),
        float64(f[1] * v[3] * g[0]),
        float64(f[1] * v[4] * g[1]),
        float64(f[1] * v[5] * g[2]),
        float64(f[2] * v[6] * g[0]),
        float64(f[2] * v[7] * g[1]),
        float64(f[2] * v[8] * g[2]),
    )


@device
def entry(at, i, values, record):
    """The block at a place, or the diagonal one of the record i."""
    if at < 0:
        d, g = load3(record, i + DIAG * 32), load3(record, i + DIAG * 32 + 96)
        return (d[0], g[2], g[1], g[2], d[1], g[0], g[1], g[0], d[2])
    first, second = blocks_of(at >> 6, at & 31, values)
    return second if at & 32 else first


@kernel
def tasks(begin, end, row, col, place, values, record, part):
    """36 sums of each task, a warp to a task: entries begin..end of the matrix between two aggregates. place: step 32 +
    lane of an entry, -1 for the diagonal."""
    thread = cuda.grid(1)
    task, lane = thread >> 5, thread & 31
    if task >= begin.shape[0]:
        return
    zero = float64(0.0)
    tt = (zero, zero, zero, zero, zero, zero, zero, zero, zero)
    tw, wt, ww = tt, tt, tt
    for e in range(get(begin, task) + lane, get(end, task), 32):
        r, s = get(row, e), get(col, e)
        i, j = (r >> 5) * RECORD_WIDTH + (r & 31), (s >> 5) * RECORD_WIDTH + (s & 31)
        block = entry(get(place, e), i, values, record)
        b = masked(block, load3(record, i + FREE * 32), load3(record, j + FREE * 32))
        right, arm = turned(b, load3(record, j + ARM * 32)), load3(record, i + ARM * 32)
        tt, tw = plus(tt, b), plus(tw, right)
        wt, ww = plus(wt, crossed(b, arm)), plus(ww, crossed(right, arm))
    for k in range(9):
        at = task * 36 + k // 3 * 6 + k % 3
        s0, s1, s2, s3 = warp_sum(tt[k]), warp_sum(tw[k]), warp_sum(wt[k]), warp_sum(ww[k])
        if lane == 0:
            put(part, at, s0)
            put(part, at + 3, s1)
            put(part, at + 18, s2)
            put(part, at + 21, s3)


@kernel
def clear(coarse):
    """Zeros."""
    i = cuda.grid(1)
    if i < coarse.shape[0]:
        put(coarse, i, 0.0)


@kernel
def pair_sums(pair_start, pair, aggregates, part, coarse):
    """The sums of the tasks of every pair of aggregates into coarse (6 aggregates, 6 aggregates)."""
    thread = cuda.grid(1)
    p, k = thread // 36, thread % 36
    if p >= pair.shape[0]:
        return
    total = float64(0.0)
    for task in range(get(pair_start, p), get(pair_start, p + 1)):
        total += get(part, task * 36 + k)
    a, b = get(pair, p) // aggregates, get(pair, p) % aggregates
    if a == b and k // 6 == k % 6:
        total *= 1.0 + SAFETY
    put(coarse, (6 * a + k // 6) * 6 * aggregates + 6 * b + k % 6, total)


@kernel
def arms(x, mass, size, record):
    """Arms of the nodes from the centre of their aggregate, `size` rows each, where it is now; a block of threads to an
    aggregate. (Arms at rest would cost a slender beam that turns five times the passes.)"""
    shared = cuda.shared.array((4, 4), float64)
    tid, lane, warp = cuda.threadIdx.x, cuda.threadIdx.x & 31, cuda.threadIdx.x >> 5
    s0 = s1 = s2 = s3 = float64(0.0)
    q = tid
    while q < size:
        i = cuda.blockIdx.x * size + q
        if get(mass, i) > 0.0:
            p = load3(x, node_place(i))
            s0, s1, s2, s3 = s0 + p[0], s1 + p[1], s2 + p[2], s3 + 1.0
        q += THREADS
    s0, s1, s2, s3 = warp_sum(s0), warp_sum(s1), warp_sum(s2), warp_sum(s3)
    if lane == 0:
        shared[0, warp], shared[1, warp], shared[2, warp], shared[3, warp] = s0, s1, s2, s3
    cuda.syncthreads()
    count = max(shared[3, 0] + shared[3, 1] + shared[3, 2] + shared[3, 3], 1.0)
    c0 = (shared[0, 0] + shared[0, 1] + shared[0, 2] + shared[0, 3]) / count
    c1 = (shared[1, 0] + shared[1, 1] + shared[1, 2] + shared[1, 3]) / count
    c2 = (shared[2, 0] + shared[2, 1] + shared[2, 2] + shared[2, 3]) / count
    q = tid
    while q < size:
        i = cuda.blockIdx.x * size + q
        if get(mass, i) > 0.0:
            p = load3(x, node_place(i))
            own = (i >> 5) * RECORD_WIDTH + (i & 31) + ARM * 32
            store3(record, own, narrow3((p[0] - c0, p[1] - c1, p[2] - c2)))
        q += THREADS


@cache
def make_invert(blocks, m, width):
    """The kernel that inverts the coarse matrix, in one cooperative launch of `blocks` blocks: Gauss and Jordan by
    blocks of pivots, one sync each. Each block of threads owns 6 m rows of the 6 m blocks.

    coarse (n, n), which is lost, panel (2, pivots, n), scale (n,): work space; inverse (n, width) float32.
    """
    rows, n, threads = 6 * m, 6 * m * blocks, INVERSE_THREADS
    pivots = max(k for k in range(1, MOST_PIVOTS + 1) if n % k == 0 and k * k <= threads)

    @device
    def invert_pivots(pivot, tid):
        """The block of pivots in place, an entry to a thread."""
        r, c = tid // pivots, tid % pivots
        for p in range(pivots):
            value = float64(0.0)
            if r < pivots:
                rp, pc = pivot[r, p], pivot[p, c]
                d = 1.0 / pivot[p, p] if pivot[p, p] > LEAST_PIVOT else 0.0
                if r == p:
                    value = d if c == p else pc * d
                else:
                    value = -rp * d if c == p else pivot[r, c] - rp * pc * d
            cuda.syncthreads()
            if r < pivots:
                pivot[r, c] = value
            cuda.syncthreads()

    @device
    def find_factors(co, pivot, work, first, k0, tid):
        """What each own row takes of the rows of pivots."""
        e = tid
        while e < rows * pivots:
            i, q = e // pivots, e % pivots
            row = first + i
            total = float64(0.0)
            if k0 <= row < k0 + pivots:
                total = -pivot[row - k0, q]
            else:
                for p in range(pivots):
                    total += get(work, row * n + k0 + p) * pivot[p, q]
            co[i, q] = total
            e += threads

    @device
    def eliminate(co, work, panel, now, then, first, k0, tid):
        """Own rows after a block of pivots; the next rows of pivots into the other panel."""
        j = tid
        while j < n:
            inside = k0 <= j < k0 + pivots
            pv = cuda.local.array(pivots, float64)
            for q in range(pivots):
                pv[q] = get(panel, now + q * n + j)
            for i in range(rows):
                row = first + i
                old = float64(0.0) if k0 <= row < k0 + pivots else get(work, row * n + j)
                for q in range(pivots):
                    old -= co[i, q] * pv[q]
                if inside:
                    old = -co[i, j - k0]
                put(work, row * n + j, old)
                if k0 + pivots <= row < k0 + 2 * pivots:
                    put(panel, then + (row - k0 - pivots) * n + j, old)
            j += threads

    @kernel(key=(blocks, m, width), max_registers=128)
    def invert(work, panel, scale, inverse):
        grid = cuda.cg.this_grid()
        pivot, co = cuda.shared.array((pivots, pivots), float64), cuda.shared.array((rows, pivots), float64)
        tid, first = cuda.threadIdx.x, cuda.blockIdx.x * rows
        if tid < rows:
            own = get(work, (first + tid) * (n + 1))
            put(scale, first + tid, 1.0 / math.sqrt(own) if own > 0.0 else 0.0)
        grid.sync()
        for i in range(rows):
            row, j = first + i, tid
            while j < n:
                value = get(work, row * n + j) * get(scale, row) * get(scale, j)
                put(work, row * n + j, value)
                if row < pivots:
                    put(panel, row * n + j, value)
                j += threads
        grid.sync()
        for step in range(n // pivots):
            k0, now, then = step * pivots, (step & 1) * pivots * n, (1 - (step & 1)) * pivots * n
            e = tid
            while e < pivots * pivots:
                pivot[e // pivots, e % pivots] = get(panel, now + e // pivots * n + k0 + e % pivots)
                e += threads
            cuda.syncthreads()
            invert_pivots(pivot, tid)
            find_factors(co, pivot, work, first, k0, tid)
            cuda.syncthreads()
            eliminate(co, work, panel, now, then, first, k0, tid)
            grid.sync()
        for i in range(rows):
            row, j = first + i, tid
            while j < n:
                value = get(work, row * n + j) * get(scale, row) * get(scale, j)
                put(inverse, row * width + j, float32(value))
                j += threads

    return invert
