"""Numbers of nodes between the order of the host, (n, 3), and that of the GPU; sums over nodes for the host."""

from numba import cuda, float32, float64

from pliant.kernels.cuda.codes import ARM, DINV, FREE
from pliant.kernels.cuda.matrix import symmetric
from pliant.kernels.cuda.nodes import local_square, record_place
from pliant.kernels.cuda.stored import kernel
from pliant.kernels.cuda.warp import device, get, load3, node_place, put, store3, warp_sum

# Threads of a block.
THREADS = 128


@device
def block_sum(value, shared):
    """The sum of a number over a block of THREADS threads, in all of them; shared: four numbers of the block."""
    value = warp_sum(value)
    cuda.syncthreads()
    if cuda.threadIdx.x & 31 == 0:
        shared[cuda.threadIdx.x >> 5] = value
    cuda.syncthreads()
    return shared[0] + shared[1] + shared[2] + shared[3]


@device
def total(part, count, shared):
    """The sum of `count` numbers, in every thread of a block."""
    value, k = float64(0.0), cuda.threadIdx.x
    while k < count:
        value += get(part, k)
        k += THREADS
    return block_sum(value, shared)


@kernel
def spread(place, raw, out):
    """Rows (chunks, 3, WARP) from the numbers (n, 3) of nodes; place (n,): their rows."""
    i = cuda.grid(1)
    if i < place.shape[0]:
        store3(out, node_place(get(place, i)), (get(raw, 3 * i), get(raw, 3 * i + 1), get(raw, 3 * i + 2)))


@kernel
def collect(place, values, raw):
    """Numbers (n, 3) of nodes from rows (chunks, 3, WARP)."""
    i = cuda.grid(1)
    if i < place.shape[0]:
        v = load3(values, node_place(get(place, i)))
        put(raw, 3 * i, v[0])
        put(raw, 3 * i + 1, v[1])
        put(raw, 3 * i + 2, v[2])


@kernel
def spread_quads(place, raw, record, out):
    """The free components of numbers (n, 3) float64 of nodes as a vector (rows, 4) float32."""
    i = cuda.grid(1)
    if i < place.shape[0]:
        row = get(place, i)
        free = load3(record, record_place(row) + FREE * 32)
        for k in range(3):
            put(out, 4 * row + k, free[k] * float32(get(raw, 3 * i + k)))


@kernel
def collect_quads(place, values, raw):
    """Numbers (n, 3) float64 of nodes from a vector (rows, 4) float32."""
    i = cuda.grid(1)
    if i < place.shape[0]:
        for k in range(3):
            put(raw, 3 * i + k, float64(get(values, 4 * get(place, i) + k)))


@kernel
def collect_arms(count, rows, record, raw):
    """Arms (count, 3) of some rows from the centres of their aggregates."""
    i = cuda.grid(1)
    if i < count:
        arm = load3(record, record_place(get(rows, i)) + ARM * 32)
        for k in range(3):
            put(raw, 3 * i + k, float64(arm[k]))


@kernel
def local_squares(place, raw, record, part):
    """Parts of g^T D^-1 g for numbers g (n, 3) of nodes, one of every block of threads."""
    i, own = cuda.grid(1), float64(0.0)
    if i < place.shape[0]:
        at = record_place(get(place, i))
        own = local_square(record, at, (get(raw, 3 * i), get(raw, 3 * i + 1), get(raw, 3 * i + 2)))
    shared = cuda.shared.array(4, float64)
    own = block_sum(own, shared)
    if cuda.threadIdx.x == 0:
        put(part, cuda.blockIdx.x, own)


@device
def inverse_times(record, row, r):
    """The inverse diagonal block of a row times a vector."""
    at = record_place(row) + DINV * 32
    return symmetric(load3(record, at), load3(record, at + 96), r)
