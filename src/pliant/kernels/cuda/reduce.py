"""The block of threads that comes last sums what all have left, in a fixed order, and decides what comes next."""

from numba import cuda, float64

from pliant.kernels.cuda.codes import NODE_SUMS, NUMBERS, T_SLOPE, TAIL_SUMS
from pliant.kernels.cuda.decisions import estimated, evaluated
from pliant.kernels.cuda.stored import kernel
from pliant.kernels.cuda.warp import FULL, awaited, device, get, warp_sum

# Threads of a block, and the sums that it makes.
THREADS = 256
FOUND = NODE_SUMS + TAIL_SUMS + 3


@device
def is_last(arrived):
    """Whether this block of threads is the last to come here; what the others have written before can then be read."""
    told = cuda.shared.array(1, float64)
    cuda.threadfence()
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        told[0] = cuda.atomic.add(arrived, 0, 1)
        if told[0] == cuda.gridDim.x - 1:
            arrived[0] = 0
    cuda.syncthreads()
    cuda.threadfence()
    return told[0] == cuda.gridDim.x - 1


@device
def finish(numbers, status, blocks, partials, sums, tail_blocks, tail, totals):
    """After an evaluation: partials [3][blocks] of elements (energies, numbers of inverted ones, h times half
    of viscous powers), sums [NODE_SUMS][blocks of threads] of nodes, tail
    [TAIL_SUMS][tail_blocks] of conjugate gradients; the sums of the nodes are left in totals."""
    found, n = cuda.shared.array(FOUND, float64), cuda.shared.array(NUMBERS, float64)
    shared = cuda.shared.array((3, 8), float64)
    tid, lane, warp = cuda.threadIdx.x, cuda.threadIdx.x & 31, cuda.threadIdx.x >> 5
    e = i = p = total = float64(0.0)
    for k in range(tid, blocks, THREADS):
        e, i, p = e + get(partials, k), i + get(partials, blocks + k), p + get(partials, 2 * blocks + k)
    # eight lanes to a sum, so that all are made at once
    q, part = tid >> 3, tid & 7
    if q < NODE_SUMS:
        for k in range(part, cuda.gridDim.x, 8):
            total += get(sums, q * cuda.gridDim.x + k)
    elif q < NODE_SUMS + TAIL_SUMS:
        for k in range(part, tail_blocks, 8):
            total += get(tail, (q - NODE_SUMS) * tail_blocks + k)
    e, i, p = warp_sum(e), warp_sum(i), warp_sum(p)
    total += cuda.shfl_xor_sync(FULL, total, 4)
    total += cuda.shfl_xor_sync(FULL, total, 2)
    total += cuda.shfl_xor_sync(FULL, total, 1)
    if lane == 0:
        shared[0, warp], shared[1, warp], shared[2, warp] = e, i, p
    if part == 0 and q < NODE_SUMS + TAIL_SUMS:
        found[q] = total
        if q < NODE_SUMS:
            totals[q] = total
    if tid < NUMBERS:
        n[tid] = numbers[tid]
    cuda.syncthreads()
    if tid < 3:
        total = float64(0.0)
        for k in range(8):
            total += shared[tid, k]
        found[NODE_SUMS + TAIL_SUMS + tid] = total
    cuda.syncthreads()
    if tid == 0:
        tail_sums, of_elements = found[NODE_SUMS : NODE_SUMS + TAIL_SUMS], found[NODE_SUMS + TAIL_SUMS :]
        status[0] = evaluated(n, status[0], found, of_elements, tail_sums)
    cuda.syncthreads()
    if tid < NUMBERS:
        numbers[tid] = n[tid]


@kernel
def conclude(numbers, status, when, tail_blocks, tail, totals):
    """After an estimate of the next correction. Two warps."""
    if not awaited(status, when):
        return
    n, sums = cuda.shared.array(NUMBERS, float64), cuda.shared.array(NODE_SUMS, float64)
    tid, total = cuda.threadIdx.x, float64(0.0)
    if tid < NUMBERS:
        n[tid] = numbers[tid]
    if tid < NODE_SUMS:
        sums[tid] = totals[tid]
    for k in range(tid & 31, tail_blocks, 32):
        total += get(tail, T_SLOPE * tail_blocks + k)
    total = warp_sum(total)
    cuda.syncthreads()
    if tid == 0:
        status[0] = estimated(n, sums, -total)
    cuda.syncthreads()
    if tid < NUMBERS:
        numbers[tid] = n[tid]
