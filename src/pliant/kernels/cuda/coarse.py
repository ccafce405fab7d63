"""The coarse level of the preconditioner: rigid motions of aggregates of nodes, and P^T A P (twin of
kernels.cpu.linalg.two_level); its inverse: `coarse_inverse`."""

from numba import cuda, float64

from pliant.kernels.cuda.codes import ARM, DIAG, FREE, RECORD_WIDTH
from pliant.kernels.cuda.matrix import blocks_of
from pliant.kernels.cuda.stored import kernel
from pliant.kernels.cuda.warp import cross3, device, get, load3, narrow3, node_place, plus, put, store3, warp_sum

# Threads of a block.
THREADS = 128
# What is added to the diagonal, relative, against motions that only rounding tells apart.
SAFETY = 1e-7


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
