"""The sliced matrix of a step and its assembly.

A slice is one warp: 32 / T nodes side by side, T lanes to a node; off-diagonal entry k of a node lies in step k // T,
lane k % T. Two steps make a pair: values (pairs, 18, WARP), columns (pairs, 2, WARP) as places in a vector (nodes, 4).
Diagonal blocks lie with the nodes' records.
"""

from functools import cache

from numba import cuda, float32

from pliant.kernels.cuda.codes import DIAG, DINV, FREE, RECORD_WIDTH, STEP
from pliant.kernels.cuda.ptx import load4, store4
from pliant.kernels.cuda.stored import kernel
from pliant.kernels.cuda.warp import awaited, device, get, lanes_sum3, load3, load9, store3, store9

# Threads of a block.
THREADS = 128


@device
def blocks_of(pair, lane, values):
    """Both blocks of a lane in a pair of steps."""
    return load9(values, pair * 576 + lane), load9(values, pair * 576 + 288 + lane)


@device
def pair_of(pair, lane, column, values):
    """What a lane loads of a pair of steps: two columns and two blocks."""
    first, second = blocks_of(pair, lane, values)
    return get(column, pair * 64 + lane), get(column, pair * 64 + 32 + lane), first, second


@device
def times(v, x):
    """A block times a vector."""
    return (
        v[0] * x[0] + v[1] * x[1] + v[2] * x[2],
        v[3] * x[0] + v[4] * x[1] + v[5] * x[2],
        v[6] * x[0] + v[7] * x[1] + v[8] * x[2],
    )


@device
def applied(loaded, u):
    """What a pair of steps makes of the vector u (nodes, 4)."""
    j, k, first, second = loaded
    x, y = load4(u, j), load4(u, k)
    p, q = times(first, x), times(second, y)
    return p[0] + q[0], p[1] + q[1], p[2] + q[2]


@device
def stretched(loaded, u, mine):
    """The same of the differences between u and a vector at the lane's own node."""
    j, k, first, second = loaded
    x, y = load4(u, j), load4(u, k)
    p = times(first, (x[0] - mine[0], x[1] - mine[1], x[2] - mine[2]))
    q = times(second, (y[0] - mine[0], y[1] - mine[1], y[2] - mine[2]))
    return p[0] + q[0], p[1] + q[1], p[2] + q[2]


@device
def symmetric(d, e, x):
    """A symmetric block (d: xx, yy, zz; e: yz, xz, xy) times x."""
    return (
        d[0] * x[0] + e[2] * x[1] + e[1] * x[2],
        e[2] * x[0] + d[1] * x[1] + e[0] * x[2],
        e[1] * x[0] + e[0] * x[1] + d[2] * x[2],
    )


@kernel
def edges(status, when, list_start, code, place, blocks, values):
    """Every edge once, into both its places: a warp takes one upper entry of 32 nodes and sums its elements' blocks.

    place [2][steps][WARP]: where an entry and its mirror image lie; code: twice the place of a block, + 1 if it is to
    be transposed.
    """
    if not awaited(status, when):
        return
    thread = cuda.grid(1)
    step, lane = thread >> 5, thread & 31
    steps = list_start.shape[0] - 1
    if step >= steps:
        return
    v0 = v1 = v2 = v3 = v4 = v5 = v6 = v7 = v8 = float32(0.0)
    q, last = get(list_start, step), get(list_start, step + 1)
    following = get(code, q * 32 + lane)
    while q < last:
        now = following
        following = get(code, (q + 1) * 32 + lane)
        if now >= 0:
            at = now >> 1
            # in a transposed block 1-3, 2-6, 5-7 change places
            one, two, five = (96, 192, 224) if now & 1 else (32, 64, 160)
            v0 += get(blocks, at)
            v1 += get(blocks, at + one)
            v2 += get(blocks, at + two)
            v3 += get(blocks, at + 128 - one)
            v4 += get(blocks, at + 128)
            v5 += get(blocks, at + five)
            v6 += get(blocks, at + 256 - two)
            v7 += get(blocks, at + 384 - five)
            v8 += get(blocks, at + 256)
        q += 1
    here, there = get(place, step * 32 + lane), get(place, (steps + step) * 32 + lane)
    if here >= 0:
        store9(values, here, (v0, v1, v2, v3, v4, v5, v6, v7, v8))
        store9(values, there, (v0, v3, v6, v1, v4, v7, v2, v5, v8))


@device
def masked_inverse(d, e, free):
    """Inverse of a symmetric block over its free components, with nothing elsewhere."""
    one = float32(1.0)
    a = d[0] if free[0] != 0.0 else one
    b = d[1] if free[1] != 0.0 else one
    c = d[2] if free[2] != 0.0 else one
    p, q, r = free[1] * free[2] * e[0], free[0] * free[2] * e[1], free[0] * free[1] * e[2]
    aa, qq, rr = b * c - p * p, p * r - b * q, p * q - c * r
    det = a * aa + r * rr + q * qq
    scale = one / det if det > 0.0 else float32(0.0)
    bb, cc = scale * (a * c - q * q), scale * (a * b - r * r)
    own = (free[0] * scale * aa, free[1] * bb, free[2] * cc)
    return own, (
        free[1] * free[2] * scale * (q * r - a * p),
        free[0] * free[2] * scale * qq,
        free[0] * free[1] * scale * rr,
    )


@cache
def make_diagonals(T):
    """The kernel that completes a matrix with T lanes to a node."""
    nodes = 32 // T

    @kernel(key=(T,))
    def diagonals(numbers, status, when, start, values, mass, drag, record):
        """Diagonal blocks, minus the sums of the others plus mass, and their inverses."""
        if not awaited(status, when):
            return
        thread = cuda.grid(1)
        slice_, lane = thread >> 5, thread & 31
        if slice_ >= start.shape[0] - 1:
            return
        row = slice_ * nodes + lane // T
        s0 = s1 = s2 = s3 = s4 = s5 = float32(0.0)
        k, last = get(start, slice_), get(start, slice_ + 1)
        while k < last:
            v, w = blocks_of(k, lane, values)
            s0, s1, s2 = s0 + v[0] + w[0], s1 + v[4] + w[4], s2 + v[8] + w[8]
            s3, s4, s5 = s3 + v[5] + w[5], s4 + v[2] + w[2], s5 + v[1] + w[1]
            k += 1
        s0, s1, s2 = lanes_sum3((s0, s1, s2), T)
        s3, s4, s5 = lanes_sum3((s3, s4, s5), T)
        if lane % T == 0 and row < mass.shape[0]:
            own = (row >> 5) * RECORD_WIDTH + (row & 31)
            m = float32(get(mass, row) * (1.0 + numbers[STEP] * get(drag, row)))
            d, e = (m - s0, m - s1, m - s2), (-s3, -s4, -s5)
            store3(record, own + DIAG * 32, d)
            store3(record, own + DIAG * 32 + 96, e)
            d, e = masked_inverse(d, e, load3(record, own + FREE * 32))
            store3(record, own + DINV * 32, d)
            store3(record, own + DINV * 32 + 96, e)

    return diagonals


@cache
def make_multiply(T):
    """The kernel w = A u of vectors (nodes, 4), to be measured and compared alone."""
    nodes = 32 // T

    @kernel(key=(T,))
    def multiply(start, column, values, record, u, w):
        thread = cuda.grid(1)
        slice_, lane = thread >> 5, thread & 31
        if slice_ >= start.shape[0] - 1:
            return
        w0 = w1 = w2 = float32(0.0)
        k, last = get(start, slice_), get(start, slice_ + 1)
        loaded = pair_of(k, lane, column, values)
        while k < last:
            k += 1
            following = pair_of(k, lane, column, values)
            t = applied(loaded, u)
            w0, w1, w2 = w0 + t[0], w1 + t[1], w2 + t[2]
            loaded = following
        w0, w1, w2 = lanes_sum3((w0, w1, w2), T)
        row = slice_ * nodes + lane // T
        if lane % T == 0:
            own = (row >> 5) * RECORD_WIDTH + (row & 31) + DIAG * 32
            d = symmetric(load3(record, own), load3(record, own + 96), load4(u, 4 * row))
            store4(w, 4 * row, w0 + d[0], w1 + d[1], w2 + d[2], float32(0.0))

    return multiply
