"""MPRGP in one cooperative launch."""

import math

from numba import cuda, float64, int32

from pliant.kernels.cuda import mprgp_decisions as d
from pliant.kernels.cuda.box_rows import (
    Vectors,
    along,
    clamped,
    enter_disc,
    expand_row,
    glide_row,
    move_row,
    projected_square,
    refresh_contact,
    released,
    room_left,
    split_row,
    tangent_gap,
)
from pliant.kernels.cuda.impulse_hand import at_hand, fill, lane3
from pliant.kernels.cuda.impulse_sums import (
    MOST_BLOCKS,
    SHARED,
    WIDTH,
    leave_two,
    publish_two,
    total,
    two_totals,
)
from pliant.kernels.cuda.impulses import (
    apply,
    element_product,
    meet,
    push,
    row_product,
    sum_up,
    take_common,
)
from pliant.kernels.cuda.stored import kernel
from pliant.kernels.cuda.warp import device, get, put
from pliant.kernels.lanes import LANES

NUMBERS = d.NUMBERS
# Places of sizes behind those of `impulse_places.Sizes`: whether what blocks of threads keep at hand fits into shared
# memory, and how many numbers that is.
FITS, FLOATS, INTEGERS = 11, 12, 13


@device
def rows_of(own, u):
    """How many rows a unit has."""
    return 6 if get(own.place, u) < own.sizes[2] else 3


@device
def before_product(own, v, n, action):
    """What an action does with every row before its product."""
    u = cuda.threadIdx.x
    while u < own.sizes[0]:
        i = u
        for _ in range(rows_of(own, u)):
            if action == d.STEP:
                put(v.p, i, along(get(v.phi, i), -n[d.BETA], get(v.p, i)))
            elif action == d.POWER:
                old = get(v.direction, i) if n[d.POWERED] == 0.0 else get(v.product, i)
                put(v.direction, i, n[d.FACTOR] * old)
            elif action == d.START:
                put(v.x, i, clamped(get(v.x, i), get(v.low, i), get(v.high, i)))
            elif action == d.RELEASE:
                put(v.p, i, released(v, i))
            elif action == d.EXPAND:
                expand_row(v, i, n[d.LENGTH], n[d.EXPANSION])
            i += own.sizes[1]
        u += cuda.blockDim.x


@device
def slope_sums(own, v):
    """Curvature and slope of a direction, and the least room along it."""
    curve = slope = float64(0.0)
    least = math.inf
    u = cuda.threadIdx.x
    while u < own.sizes[0]:
        i = u
        for _ in range(rows_of(own, u)):
            p = get(v.p, i)
            curve, slope = curve + p * get(v.product, i), slope + p * get(v.g, i)
            least = min(least, room_left(v, i))
            i += own.sizes[1]
        u += cuda.blockDim.x
    return curve, slope, least


@device
def two_dots(own, a, b, c):
    """a . a and b . c"""
    of_a = of_b = float64(0.0)
    u = cuda.threadIdx.x
    while u < own.sizes[0]:
        i = u
        for _ in range(rows_of(own, u)):
            x = get(a, i)
            of_a, of_b = of_a + x * x, of_b + get(b, i) * get(c, i)
            i += own.sizes[1]
        u += cuda.blockDim.x
    return of_a, of_b


@device
def split_sums(own, v, n, action):
    """A new gradient, by a move or by a product, and its sums."""
    s0 = s1 = s2 = s3 = s4 = float64(0.0)
    inverse = 1.0 / n[d.ALPHA]
    u = cuda.threadIdx.x
    while u < own.sizes[0]:
        i = u
        for _ in range(rows_of(own, u)):
            if action == d.MOVED:
                move_row(v, i, n[d.LENGTH])
            else:
                put(v.g, i, get(v.product, i) - get(v.b, i))
            t = split_row(v, i, inverse)
            s0, s1, s2, s3, s4 = s0 + t[0], s1 + t[1], s2 + t[2], s3 + t[3], s4 + t[4]
            i += own.sizes[1]
        u += cuda.blockDim.x
    return s0, s1, s2, s3, s4


@device
def contact_sums(own, contacts, v, n, action):
    """What contacts do once gradients are known: new bounds, impulses within their discs, or nothing but the squares of
    what is left, of all rows."""
    left, cone, stride = float64(0.0), n[d.CONE] != 0.0, own.sizes[1]
    u = cuda.threadIdx.x
    while u < own.sizes[0]:
        i, rows, place = u, rows_of(own, u), get(own.place, u)
        row = place - own.sizes[2]
        if row >= 0 and get(contacts.friction, row) > 0.0:
            rows, scale = 1, lane3(contacts.scale, place)
            if action == d.BOUNDS:
                refresh_contact(v, contacts, scale, row, i, stride, n[d.RELAXATION], cone)
            elif action == d.DISCS:
                enter_disc(v, contacts, scale, row, i, stride, cone)
            else:
                left += tangent_gap(v, contacts, scale, row, i, stride, cone)
        for _ in range(rows):
            left += projected_square(v, i)
            i += stride
        u += cuda.blockDim.x
    return left


@device
def glide_rows(v, i, stride, q, step, beta):
    """Three rows of a unit take a step of conjugate gradients, with their part q of A A g; their parts of the sums."""
    a, b = glide_row(v, i, q[0], step, beta), glide_row(v, i + stride, q[1], step, beta)
    c = glide_row(v, i + 2 * stride, q[2], step, beta)
    return a[0] + b[0] + c[0], a[1] + b[1] + c[1]


@device
def glide_units(own, v, stride, step, beta):
    """All units take a step of conjugate gradients; squares of their new gradients, and these times their products."""
    square = curve = float64(0.0)
    u = cuda.threadIdx.x
    while u < own.sizes[0]:
        if rows_of(own, u) == 6:
            first, second = element_product(own, u, v.product)
            a = glide_rows(v, u, stride, first, step, beta)
            b = glide_rows(v, u + 3 * stride, stride, second, step, beta)
            square, curve = square + a[0] + b[0], curve + a[1] + b[1]
        else:
            a = glide_rows(v, u, stride, row_product(own, u, v.product), step, beta)
            square, curve = square + a[0], curve + a[1]
        u += cuda.blockDim.x
    return square, curve


@device
def glide(own, v, n, part, of_warps, found, flags, epoch):
    """Conjugate gradients without bounds, whose product and sums go round together (Ghysels and Vanroose 2014): blocks
    of threads meet once a pass. product: A g."""
    stride = own.sizes[1]
    square, curve = two_dots(own, v.g, v.g, v.product)
    while n[d.ACTION] == d.GLIDE:
        half = epoch & 1
        push(own, v.product)
        leave_two(square, curve, of_warps)
        cuda.syncthreads()
        publish_two(part, half, own.sizes[0], of_warps)
        sum_up(own, half)
        epoch = meet(flags, epoch)
        if cuda.threadIdx.x < 32:
            two_totals(part, half, found)
            if cuda.threadIdx.x == 0:
                d.glided(n, found[0], found[1])
        take_common(own, half, 32)
        cuda.syncthreads()
        if n[d.ACTION] == d.GLIDE:
            square, curve = glide_units(own, v, stride, n[d.LENGTH], n[d.BETA])
    return epoch


@device
def act(own, contacts, v, n, flags, epoch):
    """Does an action: the epoch it ends in, its sums, the least room, and how many sums there are."""
    action, count, left, zero = int(n[d.ACTION]), 2, float64(0.0), float64(0.0)
    sums, least = (zero, zero, zero, zero, zero), math.inf
    if action < d.MOVED:
        before_product(own, v, n, action)
        source = v.x
        if action == d.POWER:
            source = v.direction
        elif action in (d.STEP, d.RELEASE):
            source = v.p
        elif action == d.SLOPE:
            source = v.g
        epoch = apply(own, source, v.product, flags, epoch)
    if action in (d.STEP, d.RELEASE):
        curve, slope, least = slope_sums(own, v)
        sums = (curve, slope, zero, zero, zero)
    elif action in (d.BEGIN, d.POWER, d.SLOPE):
        first = v.b
        if action != d.BEGIN:
            first = v.product
        of_first, of_direction = two_dots(own, first, v.direction, v.direction)
        sums = (of_first, of_direction, zero, zero, zero)
    elif action <= d.MOVED:
        sums, count = split_sums(own, v, n, action), 5
    else:
        left = contact_sums(own, contacts, v, n, action)
        sums, count = (left, zero, zero, zero, zero), 1
    return epoch, sums, least, count


@device
def vectors_at_hand(s, own, floats):
    """Vectors in the last of the numbers that a block of threads keeps at hand."""
    size = s.sizes[9] * own.sizes[1]
    at = s.sizes[FLOATS] - 9 * size
    first = (floats[at:], floats[at + size :], floats[at + 2 * size :], floats[at + 3 * size :])
    second = (floats[at + 4 * size :], floats[at + 5 * size :], floats[at + 6 * size :], floats[at + 7 * size :])
    return Vectors(*first, *second, floats[at + 8 * size :])


@device
def take_vectors(own, given, v, bounded):
    """Impulses, right sides, bounds and directions of the own units, from vectors (n,)."""
    u = cuda.threadIdx.x
    while u < own.sizes[0]:
        i, place = u, get(own.place, u)
        for _ in range(rows_of(own, u)):
            put(v.x, i, get(given.x, place))
            put(v.b, i, get(given.b, place))
            put(v.low, i, get(given.low, place) if bounded else -math.inf)
            put(v.high, i, get(given.high, place) if bounded else math.inf)
            put(v.direction, i, get(given.direction, place) if bounded else 0.0)
            put(v.p, i, 0.0)
            put(v.phi, i, 0.0)
            i, place = i + own.sizes[1], place + LANES
        u += cuda.blockDim.x


@device
def give_vectors(own, v, given):
    """Impulses, gradients, bounds and directions of the own units, to vectors (n,)."""
    u = cuda.threadIdx.x
    while u < own.sizes[0]:
        i, place = u, get(own.place, u)
        for _ in range(rows_of(own, u)):
            put(given.x, place, get(v.x, i))
            put(given.g, place, get(v.g, i))
            put(given.low, place, get(v.low, i))
            put(given.high, place, get(v.high, i))
            put(given.direction, place, get(v.direction, i))
            i, place = i + own.sizes[1], place + LANES
        u += cuda.blockDim.x


@kernel
def solve(s, given, contacts, part, flags, numbers):
    """Solves a box problem from x on; numbers: see `mprgp_decisions`; flags: of the barrier, and the last epoch."""
    n, of_warps = cuda.shared.array(NUMBERS, float64), cuda.shared.array(SHARED, float64)
    found = cuda.shared.array(WIDTH, float64)
    floats, integers = cuda.shared.array(0, float64), cuda.shared.array(0, int32)
    if s.sizes[FITS] == 0:
        floats = s.floats[cuda.blockIdx.x * s.sizes[FLOATS] :]
        integers = s.integers[cuda.blockIdx.x * s.sizes[INTEGERS] :]
    else:
        integers = integers[2 * s.sizes[FLOATS] :]
    own = at_hand(s, floats, integers)
    v = vectors_at_hand(s, own, floats)
    fill(s, own)
    take_vectors(own, given, v, numbers[d.BOUNDED] != 0.0)
    if cuda.threadIdx.x < d.NUMBERS:
        n[cuda.threadIdx.x] = numbers[cuda.threadIdx.x]
    epoch = flags[MOST_BLOCKS]
    cuda.cg.this_grid().sync()
    while n[d.ACTION] != d.DONE:
        if n[d.ACTION] == d.GLIDE:
            epoch = glide(own, v, n, part, of_warps, found, flags, epoch)
        else:
            epoch, sums, least, count = act(own, contacts, v, n, flags, epoch)
            epoch = total(part, sums, least, count, of_warps, found, flags, epoch)
            if cuda.threadIdx.x == 0:
                d.decide(n, found, found[d.ROOM])
        cuda.syncthreads()
    give_vectors(own, v, given)
    if cuda.blockIdx.x == 0 and cuda.threadIdx.x < d.NUMBERS:
        numbers[cuda.threadIdx.x] = n[cuda.threadIdx.x]
        if cuda.threadIdx.x == 0:
            flags[MOST_BLOCKS] = epoch
