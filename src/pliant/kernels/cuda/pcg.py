"""Preconditioned conjugate gradients in one cooperative launch (Chronopoulos and Gear 1989: two grid syncs a pass).

Preconditioner: inverse diagonal blocks plus P C P^T with the dense inverse C of the coarse matrix. P^T r follows by
recurrence from P^T w, which the block that owns an aggregate sums alone, so the coarse level costs no sync. All vectors
live in shared memory; only the matrix streams, and the preconditioned residual passes from block to block. The first
entries of the matrix are loaded before the sync.
"""

from functools import cache

from numba import cuda, float32

from pliant.kernels.cuda import codes as c
from pliant.kernels.cuda.layout import segments
from pliant.kernels.cuda.ptx import acquire, load4, release
from pliant.kernels.cuda.warp import device, get, put, warp_sum

# Vectors w, r, p, s, x, z, the inverse diagonal block and the arm of a node, in shared memory (layout.OWN of them).
SW, SR, SP, SS, SX, SZ, SD, SA = 0, 3, 6, 9, 12, 15, 18, 24
# Newton's forcing (Eisenstat and Walker 1996): of the first linear system of a step, and the bounds of later ones. More
# than three digits are dear here: recurrences in float32 lose them on slender bodies.
FIRST_FORCING, LARGEST_FORCING, SMALLEST_FORCING = 0.05, 0.1, 1e-3
# Passes after which a solve that has not come nearer ends.
PATIENT = 60
# How exactly the next correction is estimated, and most passes.
ESTIMATE_FORCING, MOST_PASSES = 0.2, 2000


@device
def dot3(a, b):
    """a . b"""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@device
def dot4(a, mine, at):
    """Four numbers times four of shared memory."""
    return a[0] * get(mine, at) + a[1] * get(mine, at + 1) + a[2] * get(mine, at + 2) + a[3] * get(mine, at + 3)


@device
def free_part(d, v):
    """A vector without its prescribed components, which have nothing in the inverse block d."""
    zero = float32(0.0)
    return (v[0] if d[0] != zero else zero, v[1] if d[1] != zero else zero, v[2] if d[2] != zero else zero)


@device
def forcing_of(numbers, square, estimate):
    """How exactly to solve, from the square of the right side's local norm."""
    if estimate:
        return ESTIMATE_FORCING
    last = numbers[c.LAST_SIZE]
    if last > 0.0:
        return min(max(0.9 * square / (last * last), SMALLEST_FORCING), LARGEST_FORCING)
    return FIRST_FORCING


@device
def go_on(t0, t1, numbers, scale, estimate, keep, say):
    """By one thread, after every pass. keep: 0 gamma of the start, 1 gamma, 2 alpha, 3 tolerance, 4 square of the right
    side, 5 pass, 6 whether not positive, 7 least gamma, 8 its pass, 9 one over gamma, 10 one over gamma and alpha, so
    that one division waits for no other; say: alpha of the coarse level, beta, alpha,
    whether s is kept, whether to go on. Pass -1 only preconditions the right side: with alpha = -1, p = s = 0 and w = b
    it is the same code."""
    step = keep[5]
    keep[5] = step + 1.0
    if step < 0.0:
        keep[4] = t0 / (scale * scale)
        keep[3] = forcing_of(numbers, keep[4], estimate)
        say[0], say[1], say[2], say[3], say[4] = -1.0, 0.0, 0.0, 0.0, 1.0
        return
    curvature, beta = t1, 0.0
    if step == 0.0:
        keep[0] = t0
        keep[7], keep[8] = t0, 0.0
    else:
        beta, curvature = t0 * keep[9], t1 - t0 * t0 * keep[10]
    alpha, inverse = t0 / curvature, 1.0 / t0
    keep[1] = t0
    most = keep[3] * keep[3] * keep[0]
    if t0 < keep[7]:
        keep[7], keep[8] = t0, step
    enough = t0 <= most or step >= MOST_PASSES or step - keep[8] >= PATIENT
    if enough or not curvature > 0.0:
        if not enough:
            keep[6] = 1.0
        say[4] = 0.0
        return
    keep[2], keep[9], keep[10] = alpha, inverse, curvature * inverse * inverse
    say[0], say[1], say[2], say[3], say[4] = alpha, beta, alpha, 1.0, 1.0


@cache
def make_meet(blocks):
    """A barrier of all blocks: everyone raises a flag and looks at all flags; half the way of an atomic counter."""

    @device
    def meet(flags, tid, block, epoch):
        cuda.syncthreads()
        if tid == 0:
            release(flags, block, epoch)
        if tid < blocks:
            while acquire(flags, tid) < epoch:
                pass
        cuda.syncthreads()

    return meet


@cache
def make_coarse_correction(threads, m, width):
    """P^T r by recurrence, and the own part of C P^T r into zc; t: the number of wc that this thread takes first."""
    warps, own_rows = threads // 32, 6 * m
    parts = segments(threads, m)
    jobs, turns = own_rows * parts, width // (512 * parts)

    @device
    def coarse_correction(mine, rc, sc, n, wc, t, inverse, say, zpart, zc, tid, lane, warp, block):
        k = tid
        while k < n:
            t += say[1] * get(mine, sc + k)
            put(mine, rc + k, get(mine, rc + k) - say[0] * t)
            put(mine, sc + k, say[3] * t)
            k += threads
            if k < n:
                t = get(wc, k)
        cuda.syncthreads()
        job = warp
        while job < jobs:
            total = float32(0.0)
            at = (block * own_rows + job // parts) * width
            k = (job % parts * turns * 128 + lane) * 4
            turn = 0
            while turn < turns:
                a, b = load4(inverse, at + k), load4(inverse, at + k + 128)
                c, d = load4(inverse, at + k + 256), load4(inverse, at + k + 384)
                total += dot4(a, mine, rc + k)
                total += dot4(b, mine, rc + k + 128)
                total += dot4(c, mine, rc + k + 256)
                total += dot4(d, mine, rc + k + 384)
                k += 512
                turn += 1
            total = warp_sum(total)
            if lane == 0:
                zpart[job] = total
            job += warps
        cuda.syncthreads()
        if tid < own_rows:
            total = float32(0.0)
            for part in range(parts):
                total += zpart[tid * parts + part]
            zc[tid] = total
        cuda.syncthreads()

    return coarse_correction


@cache
def make_reduce_out(blocks, threads, m):
    """Two dots of a block into part [2][blocks], six sums of each of its aggregates into wc."""
    warps = threads // 32
    share = warps // m

    @device
    def reduce_out(red, warp, lane, block, d, f, t, part, wc):
        d0, d1 = warp_sum(d[0]), warp_sum(d[1])
        c0, c1, c2 = warp_sum(f[0]), warp_sum(f[1]), warp_sum(f[2])
        c3, c4, c5 = warp_sum(t[0]), warp_sum(t[1]), warp_sum(t[2])
        if lane == 0:
            red[warp], red[32 + warp] = d0, d1
            red[64 + warp], red[96 + warp], red[128 + warp] = c0, c1, c2
            red[160 + warp], red[192 + warp], red[224 + warp] = c3, c4, c5
        cuda.syncthreads()
        if warp < 2:
            v = warp_sum(red[warp * 32 + lane] if lane < warps else float32(0.0))
            if lane == 0:
                put(part, warp * blocks + block, v)
        elif warp < 8 and lane < m:
            v = float32(0.0)
            for k in range(share):
                v += red[warp * 32 + lane * share + k]
            put(wc, 6 * (block * m + lane) + warp - 2, v)

    return reduce_out
