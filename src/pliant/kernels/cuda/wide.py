"""Rows of contacts and joints that hold several nodes, or nodes and rigid bodies, within conjugate gradients.

A row block q has three rows: entries with Jacobians (3, 3) at nodes, a symmetric weight G (xx, yy, zz, yz, xz, xy), and
entries at rigid bodies, which are eliminated: with y = E t for the rates t = J u of all blocks, a block pushes by
G (t - J_r y). Stiff blocks, those of joints, come first; the preconditioner meets them exactly by Woodbury's identity,
z - Y S J z with answers Y of the rest of it. Blocks that hold one node, and nothing else that moves, are part of its
diagonal block (`hold`).
"""

from numba import cuda, float32, float64

from pliant.kernels.cuda.codes import DIAG, DINV, FREE
from pliant.kernels.cuda.exchange import block_sum
from pliant.kernels.cuda.matrix import masked_inverse, symmetric, times
from pliant.kernels.cuda.nodes import record_place
from pliant.kernels.cuda.passes import OVER, dot, load_block, load_row, store_row
from pliant.kernels.cuda.stored import kernel
from pliant.kernels.cuda.warp import device, get, load3, put, store3, warp_sum

# Rigid triples of a row block, linear and angular: couplings of two joints hold four bodies.
BODY_ENTRIES = 8
# Places of the counts: row blocks, stiff ones, numbers of rigid bodies.
BLOCKS, STIFF, BODIES, COUNTS = 0, 1, 2, 3


@kernel
def hold(count, rows, extra, record):
    """Adds extra (count, 12) to rows: six numbers to their diagonal blocks, six more to what is inverted of these."""
    i = cuda.grid(1)
    if i >= count:
        return
    at = record_place(get(rows, i))
    d, e = load3(record, at + DIAG * 32), load3(record, at + DIAG * 32 + 96)
    p, q = load_row(extra, 12 * i), load_row(extra, 12 * i + 3)
    d, e = (d[0] + p[0], d[1] + p[1], d[2] + p[2]), (e[0] + q[0], e[1] + q[1], e[2] + q[2])
    store3(record, at + DIAG * 32, d)
    store3(record, at + DIAG * 32 + 96, e)
    p, q = load_row(extra, 12 * i + 6), load_row(extra, 12 * i + 9)
    d, e = (d[0] + p[0], d[1] + p[1], d[2] + p[2]), (e[0] + q[0], e[1] + q[1], e[2] + q[2])
    d, e = masked_inverse(d, e, load3(record, at + FREE * 32))
    store3(record, at + DINV * 32, d)
    store3(record, at + DINV * 32 + 96, e)


@kernel
def rates(flags, counts, which, start, node, jacobian, u, out):
    """J u of the first counts[which] row blocks, for every column of u (columns, rows 4); a warp to a block."""
    if flags[OVER] != 0:
        return
    thread, column = cuda.grid(1), cuda.blockIdx.y
    q, lane = thread >> 5, thread & 31
    if q >= counts[which]:
        return
    t0 = t1 = t2 = float32(0.0)
    e, last = get(start, q) + lane, get(start, q + 1)
    while e < last:
        t = times(load_block(jacobian, 9 * e), load_row(u[column], 4 * get(node, e)))
        t0, t1, t2 = t0 + t[0], t1 + t[1], t2 + t[2]
        e += 32
    t0, t1, t2 = warp_sum(t0), warp_sum(t1), warp_sum(t2)
    if lane == 0:
        store_row(out[column], 3 * q, (t0, t1, t2))


@device
def row_times(matrix, row, width, count, vector, lane, out):
    """A row of a matrix (., width) times `count` numbers, by a warp."""
    value, k = float32(0.0), lane
    while k < count:
        value += get(matrix, row * width + k) * get(vector, k)
        k += 32
    value = warp_sum(value)
    if lane == 0:
        put(out, row, value)


@kernel
def respond(flags, counts, width, matrix, rate, out):
    """y = E t of the rigid bodies: matrix (., width) times the rates, a warp to a number."""
    if flags[OVER] != 0:
        return
    thread = cuda.grid(1)
    row, lane = thread >> 5, thread & 31
    if row >= counts[BODIES]:
        return
    row_times(matrix, row, width, 3 * counts[BLOCKS], rate, lane, out)


@kernel
def push(flags, counts, weight, body, body_jacobian, answer, rate, out):
    """G (t - J_r y) of every row block; body (blocks, BODY_ENTRIES): where its rigid triples are in y, or -1."""
    if flags[OVER] != 0:
        return
    q = cuda.grid(1)
    if q >= counts[BLOCKS]:
        return
    t = load_row(rate, 3 * q)
    for k in range(BODY_ENTRIES):
        e = BODY_ENTRIES * q + k
        at = get(body, e)
        if at >= 0:
            moved = times(load_block(body_jacobian, 9 * e), load_row(answer, at))
            t = (t[0] - moved[0], t[1] - moved[1], t[2] - moved[2])
    g = load_row(weight, 6 * q), load_row(weight, 6 * q + 3)
    store_row(out, 3 * q, symmetric(g[0], g[1], t))


@kernel
def columns(entry_start, entry_row, entry_jacobian, rows, out):
    """J^T of the stiff rows, a column (rows, 4) to each."""
    row, column = cuda.grid(1), cuda.blockIdx.y
    if row >= rows:
        return
    a = b = c = float32(0.0)
    for e in range(get(entry_start, row), get(entry_start, row + 1)):
        if get(entry_row, e) == column // 3:
            j = load_row(entry_jacobian, 9 * e + 3 * (column % 3))
            a, b, c = a + j[0], b + j[1], c + j[2]
    store_row(out[column], 4 * row, (a, b, c))


@kernel
def weigh(flags, counts, width, matrix, rate, out):
    """S t of the stiff rows: matrix (., width), a warp to a number."""
    if flags[OVER] != 0:
        return
    thread = cuda.grid(1)
    row, lane = thread >> 5, thread & 31
    if row >= 3 * counts[STIFF]:
        return
    row_times(matrix, row, width, 3 * counts[STIFF], rate, lane, out)


@kernel
def correct(flags, counts, rows, answers, share, r, z, part):
    """z -= Y share, and parts of r.z."""
    if flags[OVER] != 0:
        return
    row, own = cuda.grid(1), float64(0.0)
    if row < rows:
        v = load_row(z, 4 * row)
        for column in range(3 * counts[STIFF]):
            y, s = load_row(answers[column], 4 * row), get(share, column)
            v = (v[0] - s * y[0], v[1] - s * y[1], v[2] - s * y[2])
        store_row(z, 4 * row, v)
        own = float64(dot(v, load_row(r, 4 * row)))
    shared = cuda.shared.array(4, float64)
    own = block_sum(own, shared)
    if cuda.threadIdx.x == 0:
        put(part, cuda.blockIdx.x, own)


@kernel
def add_coarse(count, aggregate, aggregates, dense, coarse):
    """Adds dense (6 count, 6 count) of some aggregates to the coarse matrix (6 aggregates, 6 aggregates)."""
    i, n = cuda.grid(1), 6 * count
    if i >= n * n:
        return
    r, c = i // n, i % n
    at = (6 * get(aggregate, r // 6) + r % 6) * 6 * aggregates + 6 * get(aggregate, c // 6) + c % 6
    put(coarse, at, get(coarse, at) + get(dense, i))
