"""The dual operator J M^-1 J^T + R on a GPU, matrix-free (twin of kernels.cpu.system).

Vectors of impulses lie as on the CPU: elements (groups, 6, LANES), then row blocks (slices, 3, LANES). A block of
threads owns units (`impulse_places`) and keeps at hand, in shared memory if there is room, all that a product asks for:
what units push by, the velocities of the triples that they hold, their own numbers. Blocks meet once for a product.
All is computed in float64, of numbers in float32 or float64. Loops over units are not ranges: of a range with a step
that is not known beforehand Numba divides.
"""

from numba import cuda, float64

from pliant.formulas.elements import element_compliance, element_gradient, element_impulses, strain_rate
from pliant.formulas.matrix3 import symmetric_multiply_vector
from pliant.kernels.cuda.impulse_hand import strided9
from pliant.kernels.cuda.ptx import acquire, release
from pliant.kernels.cuda.warp import device, get, get3, lanes_sum3, put3

# Lanes to a common triple where all blocks' pushes on it are summed.
SHARE_BITS = 2
SHARE = 1 << SHARE_BITS


@device
def meet(flags, epoch):
    """A barrier of all blocks of threads, as `pcg.make_meet`: everyone raises a flag and looks at all flags. The epoch
    that it began."""
    epoch += 1
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        release(flags, cuda.blockIdx.x, epoch)
    if cuda.threadIdx.x < cuda.gridDim.x:
        while acquire(flags, cuda.threadIdx.x) < epoch:
            pass
    cuda.syncthreads()
    return epoch


@device
def scaled6(own, x, u):
    """The six impulses of an element times their scales."""
    stride = own.sizes[1]
    p, q = get3(own.numbers, 18 * stride + u, stride), get3(own.numbers, 21 * stride + u, stride)
    a, b = get3(x, u, stride), get3(x, u + 3 * stride, stride)
    return (p[0] * a[0], p[1] * a[1], p[2] * a[2], q[0] * b[0], q[1] * b[1], q[2] * b[2])


@device
def push(own, x):
    """J^T (scale x) of every unit, entry by entry; x: a vector at hand, a column to a unit."""
    stride = own.sizes[1]
    u = cuda.threadIdx.x
    while u < own.sizes[0]:
        if get(own.place, u) < own.sizes[2]:
            g, r = strided9(own.numbers, u, stride), strided9(own.numbers, 9 * stride + u, stride)
            i = element_impulses(scaled6(own, x, u), r, g, own.basis)
            put3(own.push, u, stride, (i[0], i[1], i[2]))
            put3(own.push, u + 3 * stride, stride, (i[3], i[4], i[5]))
            put3(own.push, u + 6 * stride, stride, (i[6], i[7], i[8]))
            last = (-(i[0] + i[3] + i[6]), -(i[1] + i[4] + i[7]), -(i[2] + i[5] + i[8]))
            put3(own.push, u + 9 * stride, stride, last)
        else:
            l = get3(x, u, stride)
            for e in range(get(own.entries, u)):
                j = strided9(own.numbers, (3 + 9 * e) * stride + u, stride)
                f0 = j[0] * l[0] + j[3] * l[1] + j[6] * l[2]
                f1 = j[1] * l[0] + j[4] * l[1] + j[7] * l[2]
                f2 = j[2] * l[0] + j[5] * l[1] + j[8] * l[2]
                put3(own.push, 3 * e * stride + u, stride, (f0, f1, f2))
        u += cuda.blockDim.x


@device
def set_velocity(own, k, f):
    """The velocity of a triple that all pushes on it make."""
    m, n = get3(own.mass, 6 * k, 1), get3(own.mass, 6 * k + 3, 1)
    v = symmetric_multiply_vector((m[0], m[1], m[2], n[0], n[1], n[2]), f)
    put3(own.velocity, 3 * k, 1, v)


@device
def sum_up(own, half):
    """What is pushed on every triple: velocities of those that this block of threads has for itself, the others for
    exchange."""
    stride, shift = own.sizes[1], own.sizes[7]
    lanes = 1 << shift
    thread = cuda.threadIdx.x
    while thread < ((own.sizes[3] << shift) + 31) >> 5 << 5:
        k, lane = thread >> shift, thread & (lanes - 1)
        f0 = f1 = f2 = float64(0.0)
        if k < own.sizes[3]:
            j, last = get(own.push_start, k) + lane, get(own.push_start, k + 1)
            while j < last:
                f = get3(own.push, get(own.pushes, j), stride)
                f0, f1, f2 = f0 + f[0], f1 + f[1], f2 + f[2]
                j += lanes
        f = lanes_sum3((f0, f1, f2), lanes)
        if lane == 0 and k < own.sizes[4]:
            put3(own.exchange, 3 * (half * own.sizes[6] + own.sizes[5] + k), 1, f)
        elif lane == 0 and k < own.sizes[3]:
            set_velocity(own, k, f)
        thread += cuda.blockDim.x


@device
def take_common(own, half, first):
    """Velocities of common triples, from what all blocks of threads push them by; first: the thread with which it
    begins, of a warp."""
    thread = cuda.threadIdx.x - first
    thread = thread + cuda.blockDim.x if thread < 0 else thread
    while thread < (own.sizes[4] * SHARE + 31) >> 5 << 5:
        k, lane = thread >> SHARE_BITS, thread & (SHARE - 1)
        f0 = f1 = f2 = float64(0.0)
        if k < own.sizes[4]:
            j, last = get(own.mate_start, k) + lane, get(own.mate_start, k + 1)
            while j < last:
                f = get3(own.exchange, 3 * (half * own.sizes[6] + get(own.mates, j)), 1)
                f0, f1, f2 = f0 + f[0], f1 + f[1], f2 + f[2]
                j += SHARE
        f = lanes_sum3((f0, f1, f2), SHARE)
        if lane == 0 and k < own.sizes[4]:
            set_velocity(own, k, f)
        thread += cuda.blockDim.x


@device
def difference(own, at, last):
    """The velocity of the triple of an entry, less another."""
    v = get3(own.velocity, 3 * get(own.spots, at), 1)
    return v[0] - last[0], v[1] - last[1], v[2] - last[2]


@device
def element_product(own, u, x):
    """scale (J velocity + R scale x) of an element."""
    stride = own.sizes[1]
    last = get3(own.velocity, 3 * get(own.spots, 3 * stride + u), 1)
    d0, d1, d2 = difference(own, u, last), difference(own, stride + u, last), difference(own, 2 * stride + u, last)
    moving = element_gradient(d0, d1, d2, strided9(own.numbers, u, stride))
    e = strain_rate(moving, strided9(own.numbers, 9 * stride + u, stride), own.basis)
    single, coupled = get(own.numbers, 24 * stride + u), get(own.numbers, 25 * stride + u)
    r = element_compliance(scaled6(own, x, u), single, coupled, own.ones)
    p, q = get3(own.numbers, 18 * stride + u, stride), get3(own.numbers, 21 * stride + u, stride)
    first = (p[0] * (e[0] + r[0]), p[1] * (e[1] + r[1]), p[2] * (e[2] + r[2]))
    return first, (q[0] * (e[3] + r[3]), q[1] * (e[4] + r[4]), q[2] * (e[5] + r[5]))


@device
def row_product(own, u, x):
    """scale (J velocity + R scale x) of a row block."""
    stride = own.sizes[1]
    c, l = get3(own.numbers, u, stride), get3(x, u, stride)
    t0, t1, t2 = c[0] * l[0], c[1] * l[1], c[2] * l[2]
    for e in range(get(own.entries, u)):
        v = get3(own.velocity, 3 * get(own.spots, e * stride + u), 1)
        j = strided9(own.numbers, (3 + 9 * e) * stride + u, stride)
        t0 += j[0] * v[0] + j[1] * v[1] + j[2] * v[2]
        t1 += j[3] * v[0] + j[4] * v[1] + j[5] * v[2]
        t2 += j[6] * v[0] + j[7] * v[1] + j[8] * v[2]
    return t0, t1, t2


@device
def apply(own, x, out, flags, epoch):
    """out = scale (J M^-1 J^T + R) scale x of the own units, vectors at hand; the epoch that it ends in."""
    push(own, x)
    cuda.syncthreads()
    half, stride = epoch & 1, own.sizes[1]
    sum_up(own, half)
    epoch = meet(flags, epoch)
    take_common(own, half, 0)
    cuda.syncthreads()
    u = cuda.threadIdx.x
    while u < own.sizes[0]:
        if get(own.place, u) < own.sizes[2]:
            first, second = element_product(own, u, x)
            put3(out, u, stride, first)
            put3(out, u + 3 * stride, stride, second)
        else:
            put3(out, u, stride, row_product(own, u, x))
        u += cuda.blockDim.x
    return epoch
