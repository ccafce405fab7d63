"""The kernel of conjugate gradients for one layout, with the trial of Newton's step that follows from it."""

import math
from functools import cache

from numba import cuda, float32, float64

from pliant.kernels.cuda import codes as c
from pliant.kernels.cuda.codes import ARM, DIAG, DINV, RECORD_WIDTH, B, X
from pliant.kernels.cuda.layout import OWN, inverse_width, registers, segments
from pliant.kernels.cuda.matrix import applied, pair_of, stretched, symmetric
from pliant.kernels.cuda.pcg import (
    SA,
    SD,
    SP,
    SR,
    SS,
    SW,
    SX,
    SZ,
    dot3,
    free_part,
    go_on,
    make_coarse_correction,
    make_meet,
    make_reduce_out,
)
from pliant.kernels.cuda.ptx import store4
from pliant.kernels.cuda.stored import kernel
from pliant.kernels.cuda.warp import (
    cross3,
    device,
    get,
    get3,
    lanes_sum3,
    load3,
    node_place,
    put,
    put3,
    store3,
    warp_sum,
)


@cache
def make_solve(blocks, threads, m, T, size):
    """The kernel for so many blocks of threads, each with m aggregates of `size` rows, T lanes to a row."""
    per_slice, warps = 32 // T, threads // 32
    share, slices, rows, n = warps // m, size // (32 // T), m * size, 6 * blocks * m
    width = inverse_width(blocks, threads, m)
    rc, sc = OWN * rows, OWN * rows + width
    jobs, own_rows = 6 * m * segments(threads, m), 6 * m
    meet, reduce_out = make_meet(blocks), make_reduce_out(blocks, threads, m)
    coarse_correction = make_coarse_correction(threads, m, width)

    @device
    def take_right_side(mine, record, scale, base, agg, first, step):
        """Vectors of the start into shared memory; the block's part of b^T D^-1 b and of P^T b."""
        zero = float32(0.0)
        nothing = (zero, zero, zero)
        d0 = c0 = c1 = c2 = c3 = c4 = c5 = zero
        q = first
        while q < size:
            l = agg * size + q
            own = ((base + l) >> 5) * RECORD_WIDTH + ((base + l) & 31)
            f = load3(record, own + B * 32)
            f = (scale * f[0], scale * f[1], scale * f[2])
            kk, ll, a = (
                load3(record, own + DINV * 32),
                load3(record, own + DINV * 32 + 96),
                load3(record, own + ARM * 32),
            )
            put3(mine, SR * rows + l, rows, f)
            put3(mine, SX * rows + l, rows, nothing)
            put3(mine, SP * rows + l, rows, nothing)
            put3(mine, SS * rows + l, rows, nothing)
            put3(mine, SW * rows + l, rows, nothing)
            put3(mine, SZ * rows + l, rows, nothing)
            put3(mine, SD * rows + l, rows, kk)
            put3(mine, (SD + 3) * rows + l, rows, ll)
            put3(mine, SA * rows + l, rows, a)
            d0 += dot3(f, symmetric(kk, ll, f))
            t = cross3(a, f)
            c0, c1, c2, c3, c4, c5 = c0 + f[0], c1 + f[1], c2 + f[2], c3 + t[0], c4 + t[1], c5 + t[2]
            q += step
        return (d0, zero), (c0, c1, c2), (c3, c4, c5)

    @device
    def update(mine, zc, say, u, base, agg, first, step):
        """p, s, x, r and the preconditioned residual of own rows; it goes to all blocks through u (rows, 4)."""
        alpha, beta, zero = say[2], say[1], float32(0.0)
        t, w = get3(zc, 6 * agg, 1), get3(zc, 6 * agg + 3, 1)
        q = first
        while q < size:
            l = agg * size + q
            z, p, s = get3(mine, SZ * rows + l, rows), get3(mine, SP * rows + l, rows), get3(mine, SS * rows + l, rows)
            y, x, r = get3(mine, SW * rows + l, rows), get3(mine, SX * rows + l, rows), get3(mine, SR * rows + l, rows)
            kk, ll = get3(mine, SD * rows + l, rows), get3(mine, (SD + 3) * rows + l, rows)
            p = (z[0] + beta * p[0], z[1] + beta * p[1], z[2] + beta * p[2])
            s = (y[0] + beta * s[0], y[1] + beta * s[1], y[2] + beta * s[2])
            r = (r[0] - alpha * s[0], r[1] - alpha * s[1], r[2] - alpha * s[2])
            z = symmetric(kk, ll, r)
            turn = cross3(w, get3(mine, SA * rows + l, rows))
            whole = free_part(kk, (t[0] + turn[0], t[1] + turn[1], t[2] + turn[2]))
            z = (z[0] + whole[0], z[1] + whole[1], z[2] + whole[2])
            store4(u, 4 * (base + l), z[0], z[1], z[2], zero)
            put3(mine, SZ * rows + l, rows, z)
            put3(mine, SP * rows + l, rows, p)
            put3(mine, SS * rows + l, rows, s)
            put3(mine, SR * rows + l, rows, r)
            put3(mine, SX * rows + l, rows, (x[0] + alpha * p[0], x[1] + alpha * p[1], x[2] + alpha * p[2]))
            q += step

    @device
    def product(loaded, k, last, lane, column, values, u):
        """The pair that is loaded, then those from k on, summed over the lanes of a row."""
        w0 = w1 = w2 = float32(0.0)
        while k < last:
            following = pair_of(k, lane, column, values)
            t = applied(loaded, u)
            w0, w1, w2 = w0 + t[0], w1 + t[1], w2 + t[2]
            loaded = following
            k += 1
        t = applied(loaded, u)
        return lanes_sum3((w0 + t[0], w1 + t[1], w2 + t[2]), T)

    @device
    def multiply(mine, record, loaded, k, last, start, column, values, u, base, agg, sub, lane):
        """w = A z of own rows, and the block's part of r.z, w.z and P^T w."""
        zero = float32(0.0)
        d0 = d1 = c0 = c1 = c2 = c3 = c4 = c5 = zero
        at = sub
        while at < slices:
            w = product(loaded, k + 1, last, lane, column, values, u)
            here = at
            at += share
            if at < slices:
                slice_ = (base + agg * size) // per_slice + at
                k, last = get(start, slice_), get(start, slice_ + 1)
                loaded = pair_of(k, lane, column, values)
            if lane % T == 0:
                l = agg * size + here * per_slice + lane // T
                own = ((base + l) >> 5) * RECORD_WIDTH + ((base + l) & 31) + DIAG * 32
                z, r = get3(mine, SZ * rows + l, rows), get3(mine, SR * rows + l, rows)
                e = symmetric(load3(record, own), load3(record, own + 96), z)
                w = free_part(get3(mine, SD * rows + l, rows), (w[0] + e[0], w[1] + e[1], w[2] + e[2]))
                put3(mine, SW * rows + l, rows, w)
                d0, d1 = d0 + dot3(r, z), d1 + dot3(w, z)
                t = cross3(get3(mine, SA * rows + l, rows), w)
                c0, c1, c2, c3, c4, c5 = c0 + w[0], c1 + w[1], c2 + w[2], c3 + t[0], c4 + t[1], c5 + t[2]
        return (d0, d1), (c0, c1, c2), (c3, c4, c5)

    @device
    def step_whole(mine, numbers, record, unit, mass, drag, x, u64, base64, xt, u, base, agg, first, step):
        """u += d and where it leads; g.d and d^T M d of own rows. u (rows, 4) gets the free part of the velocities."""
        slope = heavy = float64(0.0)
        h = numbers[c.STEP]
        q = first
        while q < size:
            l = agg * size + q
            i = base + l
            at, own = node_place(i), (i >> 5) * RECORD_WIDTH + (i & 31)
            d, f = get3(mine, SX * rows + l, rows), load3(record, own + B * 32)
            d = (float32(unit * d[0]), float32(unit * d[1]), float32(unit * d[2]))
            old, place = load3(u64, at), load3(x, at)
            new = (old[0] + float64(d[0]), old[1] + float64(d[1]), old[2] + float64(d[2]))
            store3(record, own + X * 32, d)
            store3(base64, at, old)
            store3(u64, at, new)
            store3(xt, at, (place[0] + h * new[0], place[1] + h * new[1], place[2] + h * new[2]))
            new32 = (float32(new[0]), float32(new[1]), float32(new[2]))
            v = free_part(get3(mine, SD * rows + l, rows), new32)
            put3(mine, SZ * rows + l, rows, v)
            put3(mine, SX * rows + l, rows, d)
            store4(u, 4 * i, v[0], v[1], v[2], float32(0.0))
            slope -= float64(dot3(f, d))
            heavy += get(mass, i) * (1.0 + h * get(drag, i)) * float64(dot3(d, d))
            q += step
        return slope, heavy

    @device
    def stretch(mine, start, column, values, u, base, agg, sub, lane):
        """u^T K u and d^T K u of own rows, from differences of velocities: a common motion stretches nothing."""
        motion = along = float64(0.0)
        at = sub
        while at < slices:
            slice_, l = (base + agg * size) // per_slice + at, agg * size + at * per_slice + lane // T
            v = get3(mine, SZ * rows + l, rows)
            w0 = w1 = w2 = float32(0.0)
            for k in range(get(start, slice_), get(start, slice_ + 1)):
                t = stretched(pair_of(k, lane, column, values), u, v)
                w0, w1, w2 = w0 + t[0], w1 + t[1], w2 + t[2]
            w = lanes_sum3((w0, w1, w2), T)
            if lane % T == 0:
                motion += float64(dot3(w, v))
                along += float64(dot3(w, get3(mine, SX * rows + l, rows)))
            at += share
        return motion, along

    @device
    def estimate_slope(mine, record, unit, base, agg, first, step):
        """The correction d of own rows, and their part of g.d."""
        slope, q = float64(0.0), first
        while q < size:
            l = agg * size + q
            own = ((base + l) >> 5) * RECORD_WIDTH + ((base + l) & 31)
            d = get3(mine, SX * rows + l, rows)
            d = (float32(unit * d[0]), float32(unit * d[1]), float32(unit * d[2]))
            store3(record, own + X * 32, d)
            slope -= float64(dot3(load3(record, own + B * 32), d))
            q += step
        return slope

    @device
    def write_tail(red, tail, block, warp, lane, slope, motion, along, heavy):
        """The block's sums into tail [TAIL_SUMS][blocks]."""
        sums = (warp_sum(slope), warp_sum(motion), warp_sum(along), warp_sum(heavy))
        if lane == 0:
            for j in range(4):
                red[j * 32 + warp] = sums[j]
        cuda.syncthreads()
        if warp < 4:
            total = warp_sum(red[warp * 32 + lane] if lane < warps else float64(0.0))
            if lane == 0:
                put(tail, warp * blocks + block, total)

    @device
    def report(numbers, status, keep, exact_failed, estimate):
        """By one thread: what it took, and what comes next."""
        passes = keep[5] - 1.0
        numbers[c.PRODUCTS] += passes
        numbers[c.INDEFINITE] = keep[6]
        if estimate:
            return
        if numbers[c.ITERATIONS] == 0.0:
            numbers[c.FIRST_PASSES] = passes
        if exact_failed:
            numbers[c.PROJECT] = 1.0
            return
        numbers[c.PASSES], numbers[c.SIZE] = passes, math.sqrt(max(keep[4], 0.0))
        status[0] = c.TRYING

    @kernel(key=(blocks, threads, m, T, size), max_registers=registers(threads))
    def solve(numbers, status, when, start, column, values, inverse, mass, drag, x, u64, base64, xt, record, u, part,
              wc, tail, flags, epochs):  # fmt: skip
        """Direction and trial (when: ITERATE), or the slope of an estimate (when: ESTIMATE)."""
        if status[0] != when:
            return
        cuda.cg.this_grid()  # so that all blocks are launched together
        mine = cuda.shared.array(0, float32)
        red, say = cuda.shared.array(256, float32), cuda.shared.array(5, float32)
        zpart, zc = cuda.shared.array(jobs, float32), cuda.shared.array(own_rows, float32)
        keep, red64 = cuda.shared.array(11, float64), cuda.shared.array(128, float64)
        tid, block = cuda.threadIdx.x, cuda.blockIdx.x
        lane, warp = tid & 31, tid >> 5
        agg, sub = warp // share, warp % share
        base, first, step = block * rows, sub * 32 + lane, share * 32
        epoch, estimate = epochs[0], when == c.ESTIMATE
        exact = numbers[c.PROJECT] == 0.0 and not estimate
        length = math.sqrt(numbers[c.SQUARE])
        unit = length if length > 0.0 else 1.0
        scale = 1.0 / unit
        d, f, t = take_right_side(mine, record, float32(scale), base, agg, first, step)
        reduce_out(red, warp, lane, block, d, f, t, part, wc)
        k = tid
        while k < width:
            put(mine, rc + k, float32(0.0))
            put(mine, sc + k, float32(0.0))
            k += threads
        if tid == 0:
            keep[5], keep[6] = -1.0, 0.0
        epoch += 1
        meet(flags, tid, block, epoch)
        slice_ = (base + agg * size) // per_slice + (sub if sub < slices else 0)
        k0, last0 = get(start, slice_), get(start, slice_ + 1)
        while True:
            ahead = get(wc, tid) if tid < n else float32(0.0)  # on its way while sums are made
            if warp == 0:
                t0 = t1 = float64(0.0)
                k = lane
                while k < blocks:
                    t0 += float64(get(part, k))
                    t1 += float64(get(part, blocks + k))
                    k += 32
                t0, t1 = warp_sum(t0), warp_sum(t1)
                if lane == 0:
                    go_on(t0, t1, numbers, scale, estimate, keep, say)
            cuda.syncthreads()
            if say[4] == float32(0.0):
                break
            coarse_correction(mine, rc, sc, n, wc, ahead, inverse, say, zpart, zc, tid, lane, warp, block)
            update(mine, zc, say, u, base, agg, first, step)
            loaded = pair_of(k0, lane, column, values)
            epoch += 1
            meet(flags, tid, block, epoch)
            d, f, t = multiply(mine, record, loaded, k0, last0, start, column, values, u, base, agg, sub, lane)
            reduce_out(red, warp, lane, block, d, f, t, part, wc)
            epoch += 1
            meet(flags, tid, block, epoch)
        exact_failed = exact and (keep[6] != 0.0 or (keep[5] <= 1.0 and keep[4] > 0.0))
        slope = motion = along = heavy = float64(0.0)
        if estimate:
            slope = estimate_slope(mine, record, unit, base, agg, first, step)
        elif not exact_failed:
            slope, heavy = step_whole(
                mine, numbers, record, unit, mass, drag, x, u64, base64, xt, u, base, agg, first, step
            )
            epoch += 1
            meet(flags, tid, block, epoch)
            motion, along = stretch(mine, start, column, values, u, base, agg, sub, lane)
        write_tail(red64, tail, block, warp, lane, slope, motion, along, heavy)
        if block == 0 and tid == 0:
            epochs[0] = epoch
            report(numbers, status, keep, exact_failed, estimate)

    return solve
