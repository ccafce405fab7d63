"""Loops over nodes: where a step starts, trials of a line search, the gradient of its potential with the sums that
decide about it (twins of stepping.dynamics, kernels.cpu.balance and gather_nodes)."""

from numba import cuda, float64

from pliant.kernels.cuda.codes import (
    DINV,
    ENERGY,
    EXTRAPOLATED,
    FACTOR,
    FREE,
    FRESH,
    GRAVITY,
    KNOWN,
    MOST,
    NODE_SUMS,
    PROJECT,
    RECORD_WIDTH,
    REST,
    SHARE,
    START,
    STEP,
    TAKING,
    B,
    X,
)
from pliant.kernels.cuda.reduce import finish, is_last
from pliant.kernels.cuda.stored import kernel
from pliant.kernels.cuda.warp import (
    awaited,
    device,
    get,
    lanes_sum3,
    load3,
    narrow3,
    node_place,
    put,
    store3,
    warp_sum,
)

# Lanes to a node where forces are gathered.
LANES = 8
# Rounding of a node's elastic force, relative to its stiffness times its distance from the origin: as the criterion of
# Newton's method and as the measure of a step count it (solve.newton.increment, solve.residual).
EPSILON_STEP, EPSILON_BALANCE = 1e-14, 1e-13


@device
def record_place(row):
    """Where the record of a node begins."""
    return (row >> 5) * RECORD_WIDTH + (row & 31)


@device
def applied_force(row, load_start, load_index, load_weight, vectors):
    """The force [N] of all loads on a node."""
    f0 = f1 = f2 = float64(0.0)
    for k in range(get(load_start, row), get(load_start, row + 1)):
        w, at = get(load_weight, k), 3 * get(load_index, k)
        f0, f1, f2 = f0 + w * get(vectors, at), f1 + w * get(vectors, at + 1), f2 + w * get(vectors, at + 2)
    return f0, f1, f2


@device
def begin(share, target, warm, free, x, h):
    """Velocity and position of a component at the start of the iterations: free ones have `share` of the guess."""
    u = share * (target + warm) if free != 0.0 else target
    return u, x + h * u


@kernel
def predict(numbers, status, mass, drag, loads, vectors, pin, pin_start, record, x, v, previous, warm, target, u, xt):
    """Takes the end (xt, u) of the last step for the start (x, v) of the next, and writes what velocities would be
    without elements into target, the start of the iterations into u and xt.

    drag: mass damping [1/s]. loads: (start, index, weight) of the vectors [N] on each node. pin (chunks, 3, WARP): 0,
    or k for the velocity vectors[k - 1], or -k for the displacement vectors[k - 1] from pin_start.
    """
    i = cuda.grid(1)
    fresh, known, h = numbers[FRESH] != 0.0, numbers[KNOWN] != 0.0, numbers[STEP]
    extrapolated = numbers[EXTRAPOLATED] != 0.0
    if i == 0:
        status[0] = START if known else REST
        numbers[SHARE], numbers[MOST], numbers[PROJECT] = 1.0, numbers[ENERGY], 1.0
    if i >= mass.shape[0] or get(mass, i) <= 0.0:
        return
    at, own = node_place(i), record_place(i) + FREE * 32
    force = applied_force(i, loads[0], loads[1], loads[2], vectors)
    for c in range(3):
        e = at + 32 * c
        now = get(u, e)
        if fresh:
            put(warm, e, now - get(target, e))
            put(previous, e, get(v, e))
        there = get(xt, e)
        if not extrapolated:
            put(v, e, now)
        put(x, e, there)
        free = get(record, own + 32 * c)
        f = force[0] if c == 0 else (force[1] if c == 1 else force[2])
        goal = (now + h * (numbers[GRAVITY + c] + f / get(mass, i))) / (1.0 + h * get(drag, i))
        if free == 0.0:
            k, goal = get(pin, e), 0.0
            if k > 0:
                goal = get(vectors, 3 * (k - 1) + c)
            elif k < 0:
                goal = (get(pin_start, e) + get(vectors, 3 * (-k - 1) + c) - there) / h
        put(target, e, goal)
        first, where = begin(1.0 if known else 0.0, goal, get(warm, e), free, there, h)
        put(u, e, first)
        put(xt, e, where)


@kernel
def frames(numbers, x, out):
    """Where damping finds its frames: positions at the start of the step, unless others were uploaded."""
    i = cuda.grid(1)
    if i * 3 >= x.shape[0] or numbers[EXTRAPOLATED] != 0.0:
        return
    store3(out, node_place(i), load3(x, node_place(i)))


@kernel
def restart(numbers, status, when, record, x, warm, target, u, xt):
    """Another start of the iterations, with the share of the guess that the step says."""
    i = cuda.grid(1)
    if not awaited(status, when) or i * 3 >= x.shape[0]:
        return
    at, own = node_place(i), record_place(i) + FREE * 32
    for c in range(3):
        e = at + 32 * c
        free = get(record, own + 32 * c)
        first, where = begin(numbers[SHARE], get(target, e), get(warm, e), free, get(x, e), numbers[STEP])
        put(u, e, first)
        put(xt, e, where)


@kernel
def trial(numbers, status, when, record, x, base, u, xt):
    """u = base + factor times the direction, and where it leads."""
    i = cuda.grid(1)
    if not awaited(status, when) or i * 3 >= x.shape[0]:
        return
    at, own = node_place(i), record_place(i) + X * 32
    for c in range(3):
        e = at + 32 * c
        value = get(base, e) + numbers[FACTOR] * get(record, own + 32 * c)
        put(u, e, value)
        put(xt, e, get(x, e) + numbers[STEP] * value)


@kernel
def correct(numbers, status, when, record, x, base, u, xt):
    """u plus the correction that was estimated, from which it is taken back if the step says so."""
    i = cuda.grid(1)
    if not awaited(status, when) or i * 3 >= x.shape[0]:
        return
    at, own = node_place(i), record_place(i) + X * 32
    taking = numbers[TAKING] != 0.0
    for c in range(3):
        e = at + 32 * c
        old = get(u, e) if taking else get(base, e)
        value = old + get(record, own + 32 * c) if taking else old
        put(base, e, old)
        put(u, e, value)
        put(xt, e, get(x, e) + numbers[STEP] * value)


@kernel
def gather(status, when, start, code, slots, force):
    """Forces (chunks, 3, WARP) of the nodes: sums of their slots, LANES lanes to a node."""
    if not awaited(status, when):
        return
    thread = cuda.grid(1)
    slice_, lane = thread >> 5, thread & 31
    if slice_ >= start.shape[0] - 1:
        return
    f0 = f1 = f2 = float64(0.0)
    for k in range(get(start, slice_), get(start, slice_ + 1)):
        at = get(code, k * 32 + lane)
        if at >= 0:
            f = load3(slots, at)
            f0, f1, f2 = f0 + f[0], f1 + f[1], f2 + f[2]
    f = lanes_sum3((f0, f1, f2), LANES)
    if lane % LANES == 0:
        store3(force, node_place(slice_ * (32 // LANES) + lane // LANES), f)


@device
def squared(w, a):
    """w times the square of a vector, component by component."""
    return w[0] * a[0] * a[0] + w[1] * a[1] * a[1] + w[2] * a[2] * a[2]


@device
def dot(a, b):
    """a . b"""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@device
def local_square(record, own, g):
    """g^T D^-1 g with the inverse diagonal block last assembled."""
    d, e = load3(record, own + DINV * 32), load3(record, own + DINV * 32 + 96)
    mixed = e[0] * g[1] * g[2] + e[1] * g[0] * g[2] + e[2] * g[0] * g[1]
    return squared(d, g) + 2.0 * mixed


@device
def node_terms(h, m, bare, stiff, damped, free, f, v, goal, old, p):
    """The gradient of a node's velocity v, and its part of most sums; m: its mass with drag, bare: without; stiff,
    damped: stiffness [N/m] and damping [N s/m] around it; f: force of the elements, goal: what would be without,
    old: the velocity before the step, p: its position at the start."""
    own = (m * (v[0] - goal[0]), m * (v[1] - goal[1]), m * (v[2] - goal[2]))
    push = (m * (goal[0] - old[0]), m * (goal[1] - old[1]), m * (goal[2] - old[2]))
    force = (h * f[0], h * f[1], h * f[2])
    left = (own[0] + force[0], own[1] + force[1], own[2] + force[2])
    w = 1.0 / (m + h * (h * stiff + damped))
    weight, heavy = (w * free[0], w * free[1], w * free[2]), (m * free[0], m * free[1], m * free[2])
    inertia = v[0] * (0.5 * m * v[0] - m * goal[0]) + v[1] * (0.5 * m * v[1] - m * goal[1])
    inertia += v[2] * (0.5 * m * v[2] - m * goal[2])
    kick = squared(heavy, (goal[0] - old[0], goal[1] - old[1], goal[2] - old[2]))
    change = squared(heavy, (v[0] - old[0], v[1] - old[1], v[2] - old[2]))
    far = h * stiff * max(abs(p[0]), abs(p[1]), abs(p[2]))
    blur = EPSILON_BALANCE * far
    floor = EPSILON_STEP * far
    g = (free[0] * left[0], free[1] * left[1], free[2] * left[2])
    squares = (squared(weight, left), squared(weight, own), squared(weight, push), squared(weight, force))
    rounding = blur * blur * (weight[0] + weight[1] + weight[2])
    return g, (inertia, kick, change, m * dot(v, v)), squares, rounding, floor * floor / (bare + h * h * stiff)


@device
def add_node(totals, numbers, row, f, mass, drag, stiff, damped, x, u, target, v, record):
    """The right side of a node with force f into its record; its part of the sums on top of totals."""
    at, own, h = node_place(row), record_place(row), numbers[STEP]
    bare = get(mass, row)
    if bare <= 0.0:
        return totals
    m = bare * (1.0 + h * get(drag, row))
    free = load3(record, own + FREE * 32)
    motion = (load3(u, at), load3(target, at), load3(v, at), load3(x, at))
    g, energies, squares, rounding, floor = node_terms(h, m, bare, get(stiff, row), get(damped, row), free, f, *motion)
    store3(record, own + B * 32, narrow3((-g[0], -g[1], -g[2])))
    local, end = local_square(record, own, g), dot(g, load3(record, own + X * 32))
    return (
        totals[0] + energies[0],
        totals[1] + energies[1],
        totals[2] + energies[2],
        totals[3] + energies[3],
        totals[4] + local,
        totals[5] + end,
        totals[6] + dot(g, g),
        totals[7] + squares[0],
        totals[8] + squares[1],
        totals[9] + squares[2],
        totals[10] + squares[3],
        totals[11] + rounding,
        totals[12] + floor,
    )


@kernel
def gradient(numbers, status, when, force, mass, drag, stiff, damped, x, u, target, v, record, sums, blocks, partials,
             tail_blocks, tail, totals, arrived):  # fmt: skip
    """-free (M (u - u*) + h f) into the records as the right side of the next linear system; then the block of threads
    that is last adds up all sums (see `reduce.finish`) and decides what comes next.

    stiff, damped: stiffness [N/m] and damping [N s/m] around every node; sums [NODE_SUMS][blocks of threads].
    """
    if not awaited(status, when):
        return
    shared = cuda.shared.array((NODE_SUMS, 8), float64)
    lane, warp, zero = cuda.threadIdx.x & 31, cuda.threadIdx.x >> 5, float64(0.0)
    own = (zero, zero, zero, zero, zero, zero, zero, zero, zero, zero, zero, zero, zero)
    row = cuda.grid(1)
    while row < mass.shape[0]:
        f = load3(force, node_place(row))
        own = add_node(own, numbers, row, f, mass, drag, stiff, damped, x, u, target, v, record)
        row += cuda.gridsize(1)
    # one after the other, not in a loop: so that none of them waits for another
    own = (
        warp_sum(own[0]),
        warp_sum(own[1]),
        warp_sum(own[2]),
        warp_sum(own[3]),
        warp_sum(own[4]),
        warp_sum(own[5]),
        warp_sum(own[6]),
        warp_sum(own[7]),
        warp_sum(own[8]),
        warp_sum(own[9]),
        warp_sum(own[10]),
        warp_sum(own[11]),
        warp_sum(own[12]),
    )
    if lane == 0:
        for j in range(NODE_SUMS):
            shared[j, warp] = own[j]
    cuda.syncthreads()
    if cuda.threadIdx.x < NODE_SUMS:
        j, total = cuda.threadIdx.x, zero
        for k in range(8):
            total += shared[j, k]
        put(sums, j * cuda.gridDim.x + cuda.blockIdx.x, total)
    if is_last(arrived):
        finish(numbers, status, blocks, partials, sums, tail_blocks, tail, totals)
