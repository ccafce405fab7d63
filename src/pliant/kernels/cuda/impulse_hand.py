"""What a block of threads keeps at hand of a dual operator, in shared memory if there is room."""

from typing import NamedTuple

from numba import cuda, float64

from pliant.kernels.cuda.warp import device, get, get3, put
from pliant.kernels.lanes import LANES


class System(NamedTuple):
    """`kernels.operators.SystemOperator` on a GPU, all arrays flat, and who owns what of it
    (`impulse_places.Places`); exchange (2, places, 3): pushes on common triples, one half while others may still read
    the other; floats, integers: what blocks of threads keep at hand if shared memory is too small for it (fits 0)."""

    gradients: object
    rotation: object
    compliance: object
    basis: object
    ones: object
    start: object
    jacobian: object
    compliance_rows: object
    inverse_mass: object
    scale: object
    order: object
    spots: object
    first: object
    common: object
    triple: object
    push_start: object
    pushes: object
    mate_start: object
    mates: object
    exchange: object
    floats: object
    integers: object
    sizes: object


class Own(NamedTuple):
    """What a block of threads keeps at hand. Of units (a column to each): pushes (entries, 3), numbers, places of their
    first rows, how many entries, the triples of these. Of triples: velocity (triples, 3), inverse mass (triples, 6),
    lists of pushes, and of mates of the common ones."""

    push: object
    velocity: object
    numbers: object
    mass: object
    place: object
    entries: object
    spots: object
    push_start: object
    pushes: object
    mate_start: object
    mates: object
    basis: object
    ones: object
    exchange: object
    # units of this block, most units of one, rows of all elements, triples of this block, common ones, their first
    # place, all places, bits of the lanes to sum up a triple by
    sizes: object


@device
def lane3(a, at):
    """Three numbers of a lane."""
    return get(a, at), get(a, at + LANES), get(a, at + 2 * LANES)


@device
def strided9(a, at, stride):
    """Nine numbers, a stride apart."""
    p, q = get3(a, at, stride), get3(a, at + 3 * stride, stride)
    r = get3(a, at + 6 * stride, stride)
    return (p[0], p[1], p[2], q[0], q[1], q[2], r[0], r[1], r[2])


# ---- what a block of threads keeps at hand


@device
def at_hand(s, floats, integers):
    """The arrays of this block of threads in its parts of two arrays, of which vectors take the last floats; `fill`
    fills them."""
    n, block = s.sizes, cuda.blockIdx.x
    own, entries, triples = n[2], n[3], n[4]
    first, units = get(s.first, block), min(own, n[1] - block * own)
    velocity = 3 * entries * own
    numbers = velocity + 3 * triples
    mass = numbers + n[7] * own
    spots = 2 * own
    push_start = spots + entries * own
    pushes = push_start + triples + 1
    mate_start = pushes + n[5]
    sizes = (units, own, 6 * n[0], get(s.first, block + 1) - first, get(s.common, block), first, n[8], n[10])
    lists = (integers[push_start:], integers[pushes:], integers[mate_start:], integers[mate_start + triples + 1 :])
    of_units = (integers, integers[own:], integers[spots:])
    of_floats = (floats, floats[velocity:], floats[numbers:], floats[mass:])
    return Own(*of_floats, *of_units, *lists, strided9(s.basis, 0, 1), get3(s.ones, 0, 1), s.exchange, sizes)


@device
def fill(s, own):
    """Copies what belongs to this block of threads."""
    n, first = s.sizes, cuda.blockIdx.x * s.sizes[2]
    u = cuda.threadIdx.x
    while u < own.sizes[0]:
        unit = get(s.order, first + u)
        for e in range(n[3]):
            put(own.spots, e * own.sizes[1] + u, get(s.spots, (first + u) * n[3] + e))
        if unit < n[0]:
            fill_element(s, own, u, unit)
        else:
            fill_rows(s, own, u, unit - n[0])
        u += cuda.blockDim.x
    at = own.sizes[5]
    before, mates_before = get(s.push_start, at), get(s.mate_start, at)
    k = cuda.threadIdx.x
    while k < own.sizes[3] + 1:
        put(own.push_start, k, get(s.push_start, at + k) - before)
        put(own.mate_start, k, get(s.mate_start, at + k) - mates_before)
        if k < own.sizes[3]:
            for c in range(6):
                put(own.mass, 6 * k + c, get(s.inverse_mass, 6 * get(s.triple, at + k) + c))
        k += cuda.blockDim.x
    k = cuda.threadIdx.x
    while k < get(s.push_start, at + own.sizes[3]) - before:
        put(own.pushes, k, get(s.pushes, before + k))
        k += cuda.blockDim.x
    k = cuda.threadIdx.x
    while k < get(s.mate_start, at + own.sizes[3]) - mates_before:
        put(own.mates, k, get(s.mates, mates_before + k))
        k += cuda.blockDim.x


@device
def fill_element(s, own, u, unit):
    """Gradients, rotation, scales and compliances of an element."""
    group, lane, stride = unit // LANES, unit % LANES, own.sizes[1]
    put(own.place, u, group * 6 * LANES + lane)
    put(own.entries, u, 4)
    for c in range(9):
        put(own.numbers, c * stride + u, get(s.gradients, (group * 9 + c) * LANES + lane))
        put(own.numbers, (9 + c) * stride + u, get(s.rotation, (group * 9 + c) * LANES + lane))
    for c in range(6):
        put(own.numbers, (18 + c) * stride + u, get(s.scale, (group * 6 + c) * LANES + lane))
    for c in range(2):
        put(own.numbers, (24 + c) * stride + u, get(s.compliance, (group * 2 + c) * LANES + lane))


@device
def fill_rows(s, own, u, block):
    """Compliances and Jacobians of a row block, scaled."""
    slice_, lane, stride = block // LANES, block % LANES, own.sizes[1]
    place, first = own.sizes[2] + slice_ * 3 * LANES + lane, get(s.start, slice_)
    entries = get(s.start, slice_ + 1) - first
    put(own.place, u, place)
    put(own.entries, u, entries)
    for r in range(3):
        scale = float64(get(s.scale, place + r * LANES))
        compliance = float64(get(s.compliance_rows, (slice_ * 3 + r) * LANES + lane))
        put(own.numbers, r * stride + u, scale * scale * compliance)
        for e in range(entries):
            for c in range(3):
                j = float64(get(s.jacobian, ((first + e) * 9 + 3 * r + c) * LANES + lane))
                put(own.numbers, (3 + 9 * e + 3 * r + c) * stride + u, scale * j)
