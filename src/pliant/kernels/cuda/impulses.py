"""The dual operator J M^-1 J^T + R on a GPU, matrix-free (twin of kernels.cpu.system).

Vectors of impulses lie as on the CPU: elements (groups, 6, LANES), then row blocks (slices, 3, LANES). Units are what a
thread owns: an element with its six rows, or a row. Elements write slots; rows are summed by the triples that they
push. The Jacobians and compliances of rows come scaled, so that a product asks for no scales but those of elements.
"""

from typing import NamedTuple

from numba import cuda, float64

from pliant.formulas.elements import element_compliance, element_gradient, element_impulses, strain_rate
from pliant.formulas.matrix3 import symmetric_multiply_vector
from pliant.kernels.cuda.ptx import acquire, release
from pliant.kernels.cuda.warp import device, get, lanes_sum3, put
from pliant.kernels.lanes import LANES

# Lanes to a triple where its pushes are summed.
SHARE = 4


class System(NamedTuple):
    """`kernels.operators.SystemOperator` on a GPU, all arrays flat; of_rows: what `triples` is; jacobian,
    compliance_rows: scaled; row_adjacency, row_place: where the Jacobian of an entry lies and the first row that it
    belongs to; sizes: lanes of elements, units, triples."""

    nodes: object
    gradients: object
    rotation: object
    compliance: object
    basis: object
    ones: object
    start: object
    of_rows: object
    jacobian: object
    compliance_rows: object
    adjacency_start: object
    adjacency: object
    row_adjacency_start: object
    row_adjacency: object
    row_place: object
    inverse_mass: object
    scale: object
    velocity: object
    slots: object
    sizes: object


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
def lane3(a, at):
    """Three numbers of a lane."""
    return get(a, at), get(a, at + LANES), get(a, at + 2 * LANES)


@device
def lane9(a, at):
    """Nine numbers of a lane."""
    p, q, r = lane3(a, at), lane3(a, at + 3 * LANES), lane3(a, at + 6 * LANES)
    return (p[0], p[1], p[2], q[0], q[1], q[2], r[0], r[1], r[2])


@device
def put_lane3(a, at, v):
    """Three numbers of a lane, written."""
    put(a, at, v[0])
    put(a, at + LANES, v[1])
    put(a, at + 2 * LANES, v[2])


@device
def scaled3(a, scale, at):
    """Three numbers of a lane times their scales."""
    v, s = lane3(a, at), lane3(scale, at)
    return v[0] * s[0], v[1] * s[1], v[2] * s[2]


@device
def scaled6(a, scale, at):
    """Six numbers of a lane times their scales."""
    p, q = scaled3(a, scale, at), scaled3(a, scale, at + 3 * LANES)
    return (p[0], p[1], p[2], q[0], q[1], q[2])


@device
def triple_at(a, at):
    """Three numbers side by side."""
    return get(a, at), get(a, at + 1), get(a, at + 2)


@device
def nine_at(a):
    """The first nine numbers."""
    p, q, r = triple_at(a, 0), triple_at(a, 3), triple_at(a, 6)
    return (p[0], p[1], p[2], q[0], q[1], q[2], r[0], r[1], r[2])


@device
def write_slots(s, x):
    """J^T (scale x) of the elements, each into its own slots (groups, 12, LANES)."""
    unit = cuda.grid(1)
    while unit < s.sizes[0]:
        group, lane = unit // LANES, unit % LANES
        at, out = group * 9 * LANES + lane, group * 12 * LANES + lane
        l = scaled6(x, s.scale, group * 6 * LANES + lane)
        i = element_impulses(l, lane9(s.rotation, at), lane9(s.gradients, at), nine_at(s.basis))
        put_lane3(s.slots, out, (i[0], i[1], i[2]))
        put_lane3(s.slots, out + 3 * LANES, (i[3], i[4], i[5]))
        put_lane3(s.slots, out + 6 * LANES, (i[6], i[7], i[8]))
        put_lane3(s.slots, out + 9 * LANES, (-(i[0] + i[3] + i[6]), -(i[1] + i[4] + i[7]), -(i[2] + i[5] + i[8])))
        unit += cuda.gridsize(1)


@device
def write_velocities(s, x):
    """velocity = M^-1 J^T (scale x): every triple sums the slots of its elements and the pushes of its rows, by SHARE
    lanes."""
    thread = cuda.grid(1)
    while thread < (s.sizes[2] * SHARE + 31) // 32 * 32:
        triple, lane = thread // SHARE, thread % SHARE
        there = triple < s.sizes[2]
        f0 = f1 = f2 = float64(0.0)
        if there:
            for k in range(get(s.adjacency_start, triple) + lane, get(s.adjacency_start, triple + 1), SHARE):
                f = lane3(s.slots, get(s.adjacency, k))
                f0, f1, f2 = f0 + f[0], f1 + f[1], f2 + f[2]
            for k in range(get(s.row_adjacency_start, triple) + lane, get(s.row_adjacency_start, triple + 1), SHARE):
                l, j = lane3(x, get(s.row_place, k)), lane9(s.jacobian, get(s.row_adjacency, k))
                f0 += j[0] * l[0] + j[3] * l[1] + j[6] * l[2]
                f1 += j[1] * l[0] + j[4] * l[1] + j[7] * l[2]
                f2 += j[2] * l[0] + j[5] * l[1] + j[8] * l[2]
        f = lanes_sum3((f0, f1, f2), SHARE)
        if there and lane == 0:
            m, n = triple_at(s.inverse_mass, 6 * triple), triple_at(s.inverse_mass, 6 * triple + 3)
            v = symmetric_multiply_vector((m[0], m[1], m[2], n[0], n[1], n[2]), f)
            put(s.velocity, 3 * triple, v[0])
            put(s.velocity, 3 * triple + 1, v[1])
            put(s.velocity, 3 * triple + 2, v[2])
        thread += cuda.gridsize(1)


@device
def difference(s, at, last):
    """The velocity of the node at a place of `nodes`, less another."""
    v = triple_at(s.velocity, 3 * get(s.nodes, at))
    return v[0] - last[0], v[1] - last[1], v[2] - last[2]


@device
def element_product(s, unit, x, out):
    """scale (J velocity + R scale x) of an element."""
    group, lane = unit // LANES, unit % LANES
    at, own, place = group * 4 * LANES + lane, group * 9 * LANES + lane, group * 6 * LANES + lane
    last = triple_at(s.velocity, 3 * get(s.nodes, at + 3 * LANES))
    d0, d1 = difference(s, at, last), difference(s, at + LANES, last)
    moving = element_gradient(d0, d1, difference(s, at + 2 * LANES, last), lane9(s.gradients, own))
    e = strain_rate(moving, lane9(s.rotation, own), nine_at(s.basis))
    single, coupled = get(s.compliance, group * 2 * LANES + lane), get(s.compliance, group * 2 * LANES + LANES + lane)
    r = element_compliance(scaled6(x, s.scale, place), single, coupled, triple_at(s.ones, 0))
    p, q = lane3(s.scale, place), lane3(s.scale, place + 3 * LANES)
    put_lane3(out, place, (p[0] * (e[0] + r[0]), p[1] * (e[1] + r[1]), p[2] * (e[2] + r[2])))
    put_lane3(out, place + 3 * LANES, (q[0] * (e[3] + r[3]), q[1] * (e[4] + r[4]), q[2] * (e[5] + r[5])))


@device
def row_product(s, row, x, out):
    """scale (J velocity + R scale x) of a row."""
    slice_, lane, place = row // (3 * LANES), row % LANES, 6 * s.sizes[0] + row
    entry, last = get(s.start, slice_), get(s.start, slice_ + 1)
    total = float64(get(s.compliance_rows, row) * get(x, place))
    at = row % (3 * LANES) // LANES * 3 * LANES + lane
    following = get(s.of_rows, entry * LANES + lane) if entry < last else 0
    while entry < last:  # the next triple is on its way while this one's velocity is
        triple, here = following, entry
        entry += 1
        following = get(s.of_rows, min(entry, last - 1) * LANES + lane)
        v, j = triple_at(s.velocity, 3 * triple), lane3(s.jacobian, here * 9 * LANES + at)
        total += j[0] * v[0] + j[1] * v[1] + j[2] * v[2]
    put(out, place, total)


@device
def apply(s, x, out, flags, epoch):
    """out = scale (J M^-1 J^T + R) scale x, once all blocks of threads are here; own rows of out are written."""
    epoch = meet(flags, epoch)
    if s.sizes[0] > 0:
        write_slots(s, x)
        epoch = meet(flags, epoch)
    write_velocities(s, x)
    epoch = meet(flags, epoch)
    unit = cuda.grid(1)
    while unit < s.sizes[1]:
        if unit < s.sizes[0]:
            element_product(s, unit, x, out)
        else:
            row_product(s, unit - s.sizes[0], x, out)
        unit += cuda.gridsize(1)
    return epoch
