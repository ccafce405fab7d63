"""Passes of conjugate gradients as launches of their own, for matrices with rows of contacts and joints.

The preconditioner is that of `solving`: inverse diagonal blocks plus the rigid motions of aggregates. Vectors (rows, 4)
float32 lie in global memory. Kernels leave at once when flags[0] says that it is over; so many passes are one graph. A
number that all blocks of threads need is summed by each of them, in the same order. scalars[k]: r.z of pass k.
"""

from functools import cache

from numba import config, cuda, float32, float64

from pliant.kernels.cuda.codes import ARM, DIAG, FREE
from pliant.kernels.cuda.exchange import THREADS, block_sum, inverse_times, total
from pliant.kernels.cuda.matrix import blocks_of, symmetric, times
from pliant.kernels.cuda.nodes import record_place
from pliant.kernels.cuda.stored import kernel
from pliant.kernels.cuda.warp import device, get, lanes_sum3, load3, put, warp_sum

# Passes of a graph; places of the scalars behind those of its passes: r.z of the first pass, the least, passes so far,
# passes when it was least, the square of the tolerance.
CHUNK = 24
FIRST, LEAST, PASSES, BEST, LIMIT = range(CHUNK + 1, CHUNK + 6)
SCALARS = CHUNK + 6
# Flags: whether it is over, whether the matrix was found not to be positive.
OVER, INDEFINITE, FLAGS = 0, 1, 2
# Passes after which a solve that has not come nearer ends, and most passes.
PATIENT, MOST_PASSES = 60, 2000

if config.ENABLE_CUDASIM:

    def load_quad(a, at):
        """Three of the four numbers at a place that is a multiple of four."""
        return a[at], a[at + 1], a[at + 2]

else:
    from pliant.kernels.cuda.ptx import load4 as load_quad


@device
def load_row(a, at):
    """Three numbers side by side."""
    return (get(a, at), get(a, at + 1), get(a, at + 2))


@device
def store_row(a, at, v):
    """The same, written."""
    put(a, at, v[0])
    put(a, at + 1, v[1])
    put(a, at + 2, v[2])


@device
def dot(a, b):
    """a . b"""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@device
def pushed(j, f):
    """J^T f of a Jacobian by rows."""
    return (
        j[0] * f[0] + j[3] * f[1] + j[6] * f[2],
        j[1] * f[0] + j[4] * f[1] + j[7] * f[2],
        j[2] * f[0] + j[5] * f[1] + j[8] * f[2],
    )


@device
def load_block(a, at):
    """Nine numbers side by side."""
    p, q, r = load_row(a, at), load_row(a, at + 3), load_row(a, at + 6)
    return (p[0], p[1], p[2], q[0], q[1], q[2], r[0], r[1], r[2])


@cache
def make_multiply(T):
    """The kernel w = A p of a matrix with T lanes to a row."""
    nodes = 32 // T

    @kernel(key=(T,))
    def multiply(flags, start, column, values, record, entry_start, entry_row, entry_jacobian, push, p, w, part):
        """w = A p, with J^T push of the rows' entries at each node, and parts of p.w."""
        if flags[OVER] != 0:
            return
        thread, own = cuda.grid(1), float64(0.0)
        slice_, lane = thread >> 5, thread & 31
        if slice_ < start.shape[0] - 1:
            w0 = w1 = w2 = float32(0.0)
            for k in range(get(start, slice_), get(start, slice_ + 1)):
                first, second = blocks_of(k, lane, values)
                a = times(first, load_quad(p, get(column, k * 64 + lane)))
                b = times(second, load_quad(p, get(column, k * 64 + 32 + lane)))
                w0, w1, w2 = w0 + a[0] + b[0], w1 + a[1] + b[1], w2 + a[2] + b[2]
            row = slice_ * nodes + lane // T
            e, last = get(entry_start, row) + lane % T, get(entry_start, row + 1)
            while e < last:
                a = pushed(load_block(entry_jacobian, 9 * e), load_row(push, 3 * get(entry_row, e)))
                w0, w1, w2 = w0 + a[0], w1 + a[1], w2 + a[2]
                e += T
            w0, w1, w2 = lanes_sum3((w0, w1, w2), T)
            if lane % T == 0:
                at = record_place(row)
                here = load_row(p, 4 * row)
                d = symmetric(load3(record, at + DIAG * 32), load3(record, at + DIAG * 32 + 96), here)
                free = load3(record, at + FREE * 32)
                found = (free[0] * (w0 + d[0]), free[1] * (w1 + d[1]), free[2] * (w2 + d[2]))
                store_row(w, 4 * row, found)
                own = float64(dot(found, here))
        shared = cuda.shared.array(4, float64)
        own = block_sum(own, shared)
        if cuda.threadIdx.x == 0:
            put(part, cuda.blockIdx.x, own)

    return multiply


@cache
def make_stretch(T):
    """The kernel of parts of u^T K u with T lanes to a row, from differences: a common motion stretches nothing."""
    nodes = 32 // T

    @kernel(key=(T,))
    def stretch(start, column, values, u, part):
        thread, own = cuda.grid(1), float64(0.0)
        slice_, lane = thread >> 5, thread & 31
        if slice_ < start.shape[0] - 1:
            row = slice_ * nodes + lane // T
            here = load_row(u, 4 * row)
            for k in range(get(start, slice_), get(start, slice_ + 1)):
                first, second = blocks_of(k, lane, values)
                x = load_quad(u, get(column, k * 64 + lane))
                y = load_quad(u, get(column, k * 64 + 32 + lane))
                a = times(first, (x[0] - here[0], x[1] - here[1], x[2] - here[2]))
                b = times(second, (y[0] - here[0], y[1] - here[1], y[2] - here[2]))
                own += float64(dot(a, here) + dot(b, here))
        shared = cuda.shared.array(4, float64)
        own = block_sum(own, shared)
        if cuda.threadIdx.x == 0:
            put(part, cuda.blockIdx.x, own)

    return stretch


@device
def restricted(size, record, r, sums, shared):
    """P^T r of the aggregate of a block of threads into its six sums."""
    zero = float64(0.0)
    c0 = c1 = c2 = c3 = c4 = c5 = zero
    q = cuda.threadIdx.x
    while q < size:
        row = cuda.blockIdx.x * size + q
        f, a = load_row(r, 4 * row), load3(record, record_place(row) + ARM * 32)
        c0, c1, c2 = c0 + float64(f[0]), c1 + float64(f[1]), c2 + float64(f[2])
        c3 += float64(a[1] * f[2] - a[2] * f[1])
        c4 += float64(a[2] * f[0] - a[0] * f[2])
        c5 += float64(a[0] * f[1] - a[1] * f[0])
        q += THREADS
    c0, c1, c2 = block_sum(c0, shared), block_sum(c1, shared), block_sum(c2, shared)
    c3, c4, c5 = block_sum(c3, shared), block_sum(c4, shared), block_sum(c5, shared)
    if cuda.threadIdx.x == 0:
        at = 6 * cuda.blockIdx.x
        store_row(sums, at, (float32(c0), float32(c1), float32(c2)))
        store_row(sums, at + 3, (float32(c3), float32(c4), float32(c5)))


@kernel
def restrict(size, record, r, sums):
    """P^T r of every column, a block of threads to an aggregate."""
    column = cuda.blockIdx.y
    restricted(size, record, r[column], sums[column], cuda.shared.array(4, float64))


@kernel
def update(flags, k, scalars, parts, part, size, record, p, w, x, r, sums):
    """x += alpha p, r -= alpha w with alpha = r.z / p.w, and P^T r; p.w is the sum of `parts` numbers."""
    if flags[OVER] != 0:
        return
    shared = cuda.shared.array(4, float64)
    curvature = total(part, parts, shared)
    positive = curvature > 0.0
    if not positive and cuda.blockIdx.x == 0 and cuda.threadIdx.x == 0:
        flags[INDEFINITE] = 1  # not yet over: other blocks are still to read that
    alpha = float32(scalars[k] / curvature) if positive else float32(0.0)
    q = cuda.threadIdx.x
    while q < size:
        at = 4 * (cuda.blockIdx.x * size + q)
        y, z, s, t = load_row(x, at), load_row(p, at), load_row(r, at), load_row(w, at)
        store_row(x, at, (y[0] + alpha * z[0], y[1] + alpha * z[1], y[2] + alpha * z[2]))
        store_row(r, at, (s[0] - alpha * t[0], s[1] - alpha * t[1], s[2] - alpha * t[2]))
        q += THREADS
    cuda.syncthreads()
    restricted(size, record, r, sums, shared)


@kernel
def coarse_multiply(flags, n, width, inverse, sums, answer):
    """The coarse inverse (n, width) times the sums of every column, a warp to a row."""
    if flags[OVER] != 0:
        return
    thread, column = cuda.grid(1), cuda.blockIdx.y
    row, lane = thread >> 5, thread & 31
    if row >= n:
        return
    value, k = float32(0.0), lane
    while k < n:
        value += get(inverse, row * width + k) * sums[column, k]
        k += 32
    value = warp_sum(value)
    if lane == 0:
        answer[column, row] = value


@kernel
def prolong(flags, size, aggregates, record, r, answer, z, part):
    """z = D^-1 r + P answer of every column, and parts of r.z of the first."""
    if flags[OVER] != 0:
        return
    row, column, own = cuda.grid(1), cuda.blockIdx.y, float64(0.0)
    if row < size * aggregates:
        right = load_row(r[column], 4 * row)
        found, at = inverse_times(record, row, right), record_place(row)
        a, free, k = load3(record, at + ARM * 32), load3(record, at + FREE * 32), 6 * (row // size)
        t, w = load_row(answer[column], k), load_row(answer[column], k + 3)
        moved = (
            found[0] + free[0] * (t[0] + w[1] * a[2] - w[2] * a[1]),
            found[1] + free[1] * (t[1] + w[2] * a[0] - w[0] * a[2]),
            found[2] + free[2] * (t[2] + w[0] * a[1] - w[1] * a[0]),
        )
        store_row(z[column], 4 * row, moved)
        own = float64(dot(right, moved))
    shared = cuda.shared.array(4, float64)
    own = block_sum(own, shared)
    if column == 0 and cuda.threadIdx.x == 0:
        put(part, cuda.blockIdx.x, own)


@device
def ends(flags, scalars, product):
    """By one thread: whether r.z has become small enough, or will not."""
    done, first = scalars[PASSES], scalars[FIRST]
    if done == 0.0:
        first = scalars[FIRST] = scalars[LEAST] = product
        scalars[BEST] = 0.0
    if product < scalars[LEAST]:
        scalars[LEAST], scalars[BEST] = product, done
    stuck = done - scalars[BEST] >= PATIENT or done >= MOST_PASSES
    if not product >= 0.0:
        flags[INDEFINITE] = 1
    if not product > scalars[LIMIT] * first or stuck or flags[INDEFINITE] != 0:
        flags[OVER] = 1
    scalars[PASSES] = done + 1.0


@kernel
def direction(flags, k, scalars, part, rows, z, p):
    """p = z + beta p, and whether that is needed; k: the pass of this graph; before the first of all
    it is 0, without beta."""
    if flags[OVER] != 0:
        return
    shared, row = cuda.shared.array(4, float64), cuda.grid(1)
    product = total(part, cuda.gridDim.x, shared)
    beta = float32(0.0) if k == 0 else float32(product / scalars[k - 1])
    if row < rows:
        a, b = load_row(z, 4 * row), load_row(p, 4 * row)
        store_row(p, 4 * row, (a[0] + beta * b[0], a[1] + beta * b[1], a[2] + beta * b[2]))
    if cuda.blockIdx.x == 0 and cuda.threadIdx.x == 0:
        scalars[k] = product
        ends(flags, scalars, product)


@kernel
def carry(scalars):
    """The last r.z of a graph becomes the first of the next."""
    scalars[0] = scalars[CHUNK]
