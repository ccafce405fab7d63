"""Lanes of a warp: loads and stores of small tuples, sums in a fixed order.

Indices are unsigned where they index: of signed ones Numba must ask whether they are negative, which takes an array's
length and twenty to a hundred registers.
"""

from numba import config, cuda, float32, uint64

WARP = 32
FULL = 0xFFFFFFFF
# Numba's simulator knows no such option.
INLINE = {} if config.ENABLE_CUDASIM else {"forceinline": True}


def device(function):
    """A function of the GPU, inlined into its callers."""
    return cuda.jit(device=True, **INLINE)(function)


@device
def get(a, at):
    """a[at]"""
    return a[uint64(at)]


@device
def put(a, at, value):
    """a[at] = value"""
    a[uint64(at)] = value


@device
def get3(a, at, stride):
    """Three numbers, a stride apart."""
    return (get(a, at), get(a, at + stride), get(a, at + 2 * stride))


@device
def put3(a, at, stride, v):
    """The same, written."""
    put(a, at, v[0])
    put(a, at + stride, v[1])
    put(a, at + 2 * stride, v[2])


@device
def load3(a, at):
    """Three components of a lane."""
    return (a[uint64(at)], a[uint64(at + 32)], a[uint64(at + 64)])


@device
def load9(a, at):
    """Nine components of a lane."""
    p, q, r = load3(a, at), load3(a, at + 96), load3(a, at + 192)
    return (p[0], p[1], p[2], q[0], q[1], q[2], r[0], r[1], r[2])


@device
def store3(a, at, v):
    """Three components of a lane."""
    a[uint64(at)], a[uint64(at + 32)], a[uint64(at + 64)] = v[0], v[1], v[2]


@device
def store9(a, at, v):
    """Nine components of a lane."""
    store3(a, at, (v[0], v[1], v[2]))
    store3(a, at + 96, (v[3], v[4], v[5]))
    store3(a, at + 192, (v[6], v[7], v[8]))


@device
def plus(a, b):
    """a + b, nine numbers."""
    p, q = (a[0] + b[0], a[1] + b[1], a[2] + b[2]), (a[3] + b[3], a[4] + b[4], a[5] + b[5])
    return (p[0], p[1], p[2], q[0], q[1], q[2], a[6] + b[6], a[7] + b[7], a[8] + b[8])


@device
def cross3(a, b):
    """a x b"""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@device
def narrow3(v):
    """Three numbers as float32."""
    return (float32(v[0]), float32(v[1]), float32(v[2]))


@device
def warp_sum(v):
    """The sum over the lanes of a warp, in every lane."""
    v += cuda.shfl_xor_sync(FULL, v, 16)
    v += cuda.shfl_xor_sync(FULL, v, 8)
    v += cuda.shfl_xor_sync(FULL, v, 4)
    v += cuda.shfl_xor_sync(FULL, v, 2)
    v += cuda.shfl_xor_sync(FULL, v, 1)
    return v


@device
def lanes_sum3(v, lanes):
    """Sums of three numbers over `lanes` lanes side by side (a power of two), in each of these."""
    a, b, c = v
    o = lanes >> 1
    while o > 0:
        a += cuda.shfl_xor_sync(FULL, a, o)
        b += cuda.shfl_xor_sync(FULL, b, o)
        c += cuda.shfl_xor_sync(FULL, c, o)
        o >>= 1
    return a, b, c


@device
def awaited(status, when):
    """Whether the step waits for what runs in these statuses (bits)."""
    return (1 << status[0]) & when != 0


@device
def own_lane(status, when, groups):
    """Group and lane of this thread among so many groups; the group is -1 if there is none for it to do."""
    thread = cuda.grid(1)
    there = awaited(status, when) and thread < groups * 32
    return (thread >> 5 if there else -1), thread & 31


@device
def node_place(row):
    """Where the first component of a node lies in a vector (chunks, 3, WARP)."""
    return (row >> 5) * 96 + (row & 31)
