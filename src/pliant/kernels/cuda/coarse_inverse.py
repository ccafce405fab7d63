"""The dense inverse of the coarse matrix, in one cooperative launch."""

import math
from functools import cache

from numba import cuda, float32, float64
from numba.cuda.libdevice import fast_fdividef

from pliant.kernels.cuda.pcg import make_meet
from pliant.kernels.cuda.stored import kernel
from pliant.kernels.cuda.warp import device, get, put

# Threads of a block.
THREADS = 512
# The pivot (of a matrix with a unit diagonal) below which a motion is left out.
LEAST_PIVOT = 1e-11
# Largest block of pivots, and how many of its rows are on their way at once.
MOST_PIVOTS, CHUNK = 22, 8
# Rows of a panel: what is beyond a block of pivots has no factors.
PANEL = -(-MOST_PIVOTS // CHUNK) * CHUNK


def inverse_bytes(blocks: int, m: int) -> int:
    """Shared memory [bytes] of a block of threads in which its rows of the coarse matrix lie."""
    return 8 * 6 * m * 6 * m * blocks


@cache
def make_invert(blocks, m, width, at_hand):
    """The kernel that inverts the coarse matrix, in one cooperative launch of `blocks` blocks: Gauss and Jordan by
    blocks of pivots, one sync each. Each block of threads owns 6 m rows of the 6 m blocks; at_hand: it keeps them in
    shared memory (`inverse_bytes`).

    coarse (n, n), which is lost, panel (2, PANEL, n), finite, scale (n,): work space; inverse (n, width) float32; flags
    (blocks,), epochs (1,): of barriers (`pcg.make_meet`).
    """
    rows, n, threads = 6 * m, 6 * m * blocks, THREADS
    pivots = max(k for k in range(2, MOST_PIVOTS + 1, 2) if n % k == 0 and k * k <= threads)
    width_of_factors, meet = -(-pivots // CHUNK) * CHUNK, make_meet(blocks)
    entries, factors = 2 * pivots * pivots, rows * width_of_factors

    @device
    def reciprocal(value):
        """Of a number that float32 can hold: two steps of Newton's method from its answer, quicker than to divide."""
        r = float64(fast_fdividef(float32(1.0), float32(value)))
        r += r * (1.0 - value * r)
        return r + r * (1.0 - value * r)

    @device
    def inverse_of_pair(a, b, d):
        """The inverse (xx, xy, yy) of [[a, b], [b, d]]; of a pivot that only rounding tells from zero, nothing."""
        there = a > LEAST_PIVOT
        x = reciprocal(a) if there else 0.0
        below, e = (a, a * d - b * b) if there else (1.0, d)  # the second pivot is e / below
        y, t = below * reciprocal(e) if e > LEAST_PIVOT * below else 0.0, b * x
        return x + t * t * y, -t * y, y

    @device
    def invert_pivots(pivot, tid):
        """The inverse of the block of pivots at the beginning of pivot (2, pivots, pivots), an entry to a thread, two
        pivots at once, from one half into the other; where the half begins in which it ends."""
        r, c, size = tid // pivots, tid % pivots, pivots * pivots
        value = get(pivot, tid) if r < pivots else float64(0.0)
        for p in range(0, pivots, 2):
            now, then = (p >> 1 & 1) * size, (1 - (p >> 1 & 1)) * size
            if r < pivots:
                at = now + p * (pivots + 1)
                e, f, g = inverse_of_pair(get(pivot, at), get(pivot, at + 1), get(pivot, at + pivots + 1))
                r0, r1 = get(pivot, now + r * pivots + p), get(pivot, now + r * pivots + p + 1)
                c0, c1 = get(pivot, now + p * pivots + c), get(pivot, now + (p + 1) * pivots + c)
                w0, w1 = e * c0 + f * c1, f * c0 + g * c1
                if r == p:
                    value = e if c == p else (f if c == p + 1 else w0)
                elif r == p + 1:
                    value = f if c == p else (g if c == p + 1 else w1)
                elif c == p:
                    value = -(r0 * e + r1 * f)
                elif c == p + 1:
                    value = -(r0 * f + r1 * g)
                else:
                    value -= r0 * w0 + r1 * w1
                put(pivot, then + tid, value)
            cuda.syncthreads()
        return (pivots >> 1 & 1) * size

    @device
    def find_factors(co, pivot, at, mine, base, first, k0, tid):
        """What each own row, from base on, takes of the rows of pivots, whose inverse begins at pivot[at]; into co
        (rows, width_of_factors)."""
        e = tid
        while e < rows * pivots:
            i, q = e // pivots, e % pivots
            row = first + i
            total = float64(0.0)
            if k0 <= row < k0 + pivots:
                total = -get(pivot, at + (row - k0) * pivots + q)
            else:
                for p in range(pivots):
                    total += get(mine, base + i * n + k0 + p) * get(pivot, at + p * pivots + q)
            put(co, i * width_of_factors + q, total)
            e += threads

    @device
    def less(a, c, p):
        """a - p c, six numbers."""
        return (a[0] - c[0] * p, a[1] - c[1] * p, a[2] - c[2] * p, a[3] - c[3] * p, a[4] - c[4] * p, a[5] - c[5] * p)

    @device
    def both_less(a, b, co, at, p, r):
        """Six numbers of two columns minus the factors of their rows, from co[at] on, times p and r."""
        w = width_of_factors
        c = (get(co, at), get(co, at + w), get(co, at + 2 * w), get(co, at + 3 * w), get(co, at + 4 * w))
        c = (c[0], c[1], c[2], c[3], c[4], get(co, at + 5 * w))
        return less(a, c, p), less(b, c, r)

    @device
    def rows_of(panel, at):
        """Entries of CHUNK rows of a panel."""
        p = (get(panel, at), get(panel, at + n), get(panel, at + 2 * n), get(panel, at + 3 * n))
        at += 4 * n
        return (
            p[0],
            p[1],
            p[2],
            p[3],
            get(panel, at),
            get(panel, at + n),
            get(panel, at + 2 * n),
            get(panel, at + 3 * n),
        )

    @device
    def before(mine, base, first, k0, i, j):
        """An entry of an own row; rows of pivots begin anew."""
        return float64(0.0) if k0 <= first + i < k0 + pivots else get(mine, base + i * n + j)

    @device
    def column(mine, base, first, k0, i, j):
        """Entries of six own rows from i on."""
        a, b = before(mine, base, first, k0, i, j), before(mine, base, first, k0, i + 1, j)
        c, d = before(mine, base, first, k0, i + 2, j), before(mine, base, first, k0, i + 3, j)
        return (a, b, c, d, before(mine, base, first, k0, i + 4, j), before(mine, base, first, k0, i + 5, j))

    @device
    def eliminated(a, b, co, panel, now, i, j, k):
        """Entries a and b of six own rows from i on in columns j and k after a block of pivots; entries of the panel
        are on their way before any is needed."""
        q = 0
        while q < width_of_factors:
            at, own = now + q * n, i * width_of_factors + q
            p, r = rows_of(panel, at + j), rows_of(panel, at + k)
            a, b = both_less(a, b, co, own, p[0], r[0])
            a, b = both_less(a, b, co, own + 1, p[1], r[1])
            a, b = both_less(a, b, co, own + 2, p[2], r[2])
            a, b = both_less(a, b, co, own + 3, p[3], r[3])
            a, b = both_less(a, b, co, own + 4, p[4], r[4])
            a, b = both_less(a, b, co, own + 5, p[5], r[5])
            a, b = both_less(a, b, co, own + 6, p[6], r[6])
            a, b = both_less(a, b, co, own + 7, p[7], r[7])
            q += CHUNK
        return a, b

    @device
    def keep(value, co, mine, base, panel, then, first, k0, i, j):
        """Writes an entry of an own row, of the next rows of pivots into the other panel as well."""
        value = -get(co, i * width_of_factors + j - k0) if k0 <= j < k0 + pivots else value
        put(mine, base + i * n + j, value)
        row = first + i
        if k0 + pivots <= row < k0 + 2 * pivots:
            put(panel, then + (row - k0 - pivots) * n + j, value)

    @device
    def keep6(a, co, mine, base, panel, then, first, k0, i, j):
        """The same of six own rows from i on."""
        keep(a[0], co, mine, base, panel, then, first, k0, i, j)
        keep(a[1], co, mine, base, panel, then, first, k0, i + 1, j)
        keep(a[2], co, mine, base, panel, then, first, k0, i + 2, j)
        keep(a[3], co, mine, base, panel, then, first, k0, i + 3, j)
        keep(a[4], co, mine, base, panel, then, first, k0, i + 4, j)
        keep(a[5], co, mine, base, panel, then, first, k0, i + 5, j)

    @device
    def eliminate(co, mine, base, panel, now, then, first, k0, tid):
        """Own rows after a block of pivots, two columns to a thread."""
        j = tid
        while j < n:
            there = j + threads < n
            k = j + threads if there else j
            for part in range(m):
                i = 6 * part
                a, b = column(mine, base, first, k0, i, j), column(mine, base, first, k0, i, k)
                a, b = eliminated(a, b, co, panel, now, i, j, k)
                keep6(a, co, mine, base, panel, then, first, k0, i, j)
                if there:
                    keep6(b, co, mine, base, panel, then, first, k0, i, k)
            j += 2 * threads

    @kernel(key=(blocks, m, width, at_hand), max_registers=128)
    def invert(work, panel, scale, inverse, flags, epochs):
        cuda.cg.this_grid()  # so that all blocks are launched together
        pivot = cuda.shared.array(entries, float64)
        co = cuda.shared.array(factors, float64)
        tid, block = cuda.threadIdx.x, cuda.blockIdx.x
        first, panel_size, epoch = block * rows, width_of_factors * n, epochs[0]
        mine = cuda.shared.array(0, float64) if at_hand else work
        base = 0 if at_hand else first * n
        for i in range(tid, rows, threads):
            own = get(work, (first + i) * (n + 1))
            put(scale, first + i, 1.0 / math.sqrt(own) if own > 0.0 else 0.0)
        for k in range(tid, factors, threads):
            put(co, k, 0.0)
        epoch += 1
        meet(flags, tid, block, epoch)
        for i in range(rows):
            row, j = first + i, tid
            while j < n:
                value = get(work, row * n + j) * get(scale, row) * get(scale, j)
                put(mine, base + i * n + j, value)
                if row < pivots:
                    put(panel, row * n + j, value)
                j += threads
        epoch += 1
        meet(flags, tid, block, epoch)
        for step in range(n // pivots):
            k0, now, then = step * pivots, (step & 1) * panel_size, (1 - (step & 1)) * panel_size
            if tid < pivots * pivots:
                put(pivot, tid, get(panel, now + tid // pivots * n + k0 + tid % pivots))
            cuda.syncthreads()
            ended = invert_pivots(pivot, tid)
            find_factors(co, pivot, ended, mine, base, first, k0, tid)
            cuda.syncthreads()
            eliminate(co, mine, base, panel, now, then, first, k0, tid)
            epoch += 1
            meet(flags, tid, block, epoch)
        for i in range(rows):
            row, j = first + i, tid
            while j < n:
                value = get(mine, base + i * n + j) * get(scale, row) * get(scale, j)
                put(inverse, row * width + j, float32(value))
                j += threads
        if first + tid == 0:
            epochs[0] = epoch

    return invert
