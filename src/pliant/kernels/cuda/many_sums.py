"""Sums and greatest values over the threads of a block, in a fixed order; every thread gets them."""

from numba import cuda

from pliant.kernels.cuda.warp import device

# Numbers of shared memory: four for each of at most so many threads, and as many for sums of eight of these.
MOST_THREADS = 128
ROOM = 4 * MOST_THREADS + MOST_THREADS // 2


@device
def _store(shared, a, b, c, d):
    t, threads = cuda.threadIdx.x, cuda.blockDim.x
    cuda.syncthreads()
    shared[t], shared[threads + t], shared[2 * threads + t], shared[3 * threads + t] = a, b, c, d
    cuda.syncthreads()


@cuda.jit(device=True)
def sums4(shared, a, b, c, d):
    """The sums of four numbers of every thread."""
    t, threads = cuda.threadIdx.x, cuda.blockDim.x
    _store(shared, a, b, c, d)
    groups, second = (threads + 7) // 8, 4 * MOST_THREADS
    for part in range(t, 4 * groups, threads):
        which, group = part // groups, part % groups
        total = 0.0
        for k in range(8 * group, min(8 * group + 8, threads)):
            total += shared[which * threads + k]
        shared[second + part] = total
    cuda.syncthreads()
    a = b = c = d = 0.0
    for k in range(groups):
        a += shared[second + k]
        b += shared[second + groups + k]
        c += shared[second + 2 * groups + k]
        d += shared[second + 3 * groups + k]
    return a, b, c, d


@cuda.jit(device=True)
def greatest(shared, a):
    """The greatest of a number of every thread."""
    _store(shared, a, 0.0, 0.0, 0.0)
    found = shared[0]
    for k in range(1, cuda.blockDim.x):
        found = max(found, shared[k])
    return found
