"""Rows of joints of one scene of many, by one block of threads: the method of multipliers (twin of rows.potential, for
joints alone). A thread has whole blocks; sums over rows are added by `many_sums`."""

from numba import cuda

from pliant.formulas.contact import bounded_impulse
from pliant.kernels.cpu.anchors import anchor_at
from pliant.kernels.cpu.coordinates import coordinate
from pliant.kernels.cpu.joints import fill_points, fill_turning
from pliant.kernels.cuda.many_arrays import (
    BASE,
    COMPLIANCE,
    DAMPING,
    DRAG,
    ERROR,
    FORESEEN,
    GAIN,
    GOAL,
    HARD,
    HIGH,
    IMPULSE,
    LOW,
    MASS,
    MOBILITY,
    PER_REACH,
    RATE,
    SHIFT,
    SLOPE,
    SOFT,
    SOFTNESS,
    START,
    STIFFNESS,
)
from pliant.kernels.cuda.warp import device
from pliant.kernels.joints import ON_COORDINATES, POINTS

# As rows.potential has them: rows that can move nothing, the compliance with which they get no impulse, and the part of
# the energy of a compliance that counts as what closing a gap will move.
NO_MOBILITY, NO_IMPULSE, STIFF_PART = 1e-12, 1e12, 1e-2


@cuda.jit(device=True)
def fill(blocks, k, angle, x, bodies, triples, jacobian):
    """Errors (3) of block k at positions x (n, 3), and its Jacobians; angle: near which its coordinate is."""
    family = blocks.family[k]
    if family in POINTS:
        return fill_points(blocks, k, x, bodies, bodies, triples, jacobian)
    if family not in ON_COORDINATES:
        return fill_turning(blocks, k, x, bodies, triples, jacobian)
    factor = (blocks.factor[k, 0], blocks.factor[k, 1], blocks.factor[k, 2])
    entry, pose = blocks.start[blocks.slice[k]], (x, bodies, bodies)
    a, b = anchor_at(blocks.a, k), anchor_at(blocks.b, k)
    q, _ = coordinate(blocks.coordinate[k, 0], a, b, angle, factor, pose, entry, 0, triples, jacobian)
    rest = (blocks.rest[k, 0], blocks.rest[k, 1], blocks.rest[k, 2])
    return (factor[0] * q + rest[0], factor[1] * q + rest[1], factor[2] * q + rest[2])


@device
def first_block():
    """The first block of a joint that a thread has: neighbours go to different warps, for they differ in kind."""
    t, warps = cuda.threadIdx.x, max(cuda.blockDim.x // 32, 1)
    return (t % 32) * warps + t // 32 if cuda.blockDim.x >= 32 else t


@device
def inverse_mass(scenes, i, j, h):
    """What a row feels of a node's mass: with drag, and with the stiffness of the elements around it."""
    mass = scenes.nodes[i, j, MASS]
    held = h * (h * scenes.nodes[i, j, STIFFNESS] + scenes.nodes[i, j, DAMPING])
    return 1.0 / (mass * (1.0 + h * scenes.nodes[i, j, DRAG]) * (1.0 + held / mass))


@device
def entry_square(jacobian, entry, row, c):
    """The square of a component of a row's Jacobian."""
    j = jacobian[entry, 3 * row + c, 0]
    return j * j


@cuda.jit(device=True)
def begin_rows(many, own):
    """Rows at the start of a step, where they were evaluated last: targets, mobilities, compliances; shifts are the
    last impulses."""
    structure, scenes, blocks, states = many.structure, many.scenes, many.blocks, many.states
    i, h, rows = own.scene, own.h, many.work.rows[own.slot]
    triples, jacobian = many.work.triples[own.slot], many.work.jacobian[own.slot]
    for b in range(first_block(), rows.shape[1], cuda.blockDim.x):
        for r in range(3):
            held = loose = 0.0
            for entry in range(blocks.start[b], blocks.start[b + 1]):
                j = triples[entry, 0]
                w = inverse_mass(scenes, i, j, h)
                for c in range(3):
                    square = w * entry_square(jacobian, entry, r, c)
                    loose += square
                    held += structure.free[j, c] * square
            dead = held <= NO_MOBILITY * loose
            felt = (loose if loose > 0.0 else 1.0) if dead else held
            compliance = scenes.rows[i, COMPLIANCE, b, r]
            rigid, error = compliance == 0.0, rows[ERROR, b, r]
            soft = NO_IMPULSE if dead else scenes.rows[i, SOFTNESS, b, r]
            rows[START, b, r] = error
            rows[MOBILITY, b, r] = felt
            rows[SOFT, b, r] = soft * felt if rigid else compliance
            rows[HARD, b, r] = 1.0 if rigid and not dead else 0.0
            rows[GOAL, b, r] = scenes.rows[i, BASE, b, r] + scenes.rows[i, GAIN, b, r] * error
            rows[SHIFT, b, r] = states.impulse[i, b, r] if rigid and not dead else 0.0
            rows[FORESEEN, b, r] = states.impulse[i, b, r]


@device
def respond(scenes, i, rows, b):
    """Impulses of a block at the rates it has; returns their potential [J]."""
    energy = 0.0
    for r in range(3):
        soft = rows[SOFT, b, r]
        rest = rows[GOAL, b, r] + soft * rows[SHIFT, b, r] - rows[RATE, b, r]
        low, high = scenes.rows[i, LOW, b, r], scenes.rows[i, HIGH, b, r]
        impulse, slope, own = bounded_impulse(rest, 1.0 / soft, low, high)
        rows[IMPULSE, b, r], rows[SLOPE, b, r] = impulse, slope
        energy += own
    return energy


@cuda.jit(device=True)
def evaluate_rows(scenes, blocks, i, h, angle, ahead, bodies, triples, jacobian, rows):
    """Errors, Jacobians and impulses of rows at positions `ahead`; a thread's part of their potential [J]."""
    count, energy = rows.shape[1], 0.0
    for b in range(first_block(), count, cuda.blockDim.x):
        k = i * count + b
        error = fill(blocks, k, angle[blocks.which[k, 0]], ahead, bodies, triples, jacobian)
        for r in range(3):
            rows[ERROR, b, r] = error[r]
            rows[RATE, b, r] = (error[r] - rows[START, b, r]) / h
        energy += respond(scenes, i, rows, b)
    return energy


@cuda.jit(device=True)
def renew_rows(scenes, i, rows):
    """Shifts of rigid rows follow their impulses; a thread's part of what that changes the potential by [J]."""
    change = 0.0
    for b in range(first_block(), rows.shape[1], cuda.blockDim.x):
        change -= respond(scenes, i, rows, b)
        for r in range(3):
            if rows[HARD, b, r] > 0.0:
                rows[SHIFT, b, r] = rows[IMPULSE, b, r]
        change += respond(scenes, i, rows, b)
    return change


@cuda.jit(device=True)
def add_impulses(blocks, triples, jacobian, rows, what, less, scale, out):
    """out (n, 3) += scale J^T (rows[what] - rows[less]), less < 0: nothing; by three threads, each with a component."""
    c = cuda.threadIdx.x
    for part in range(c, 3, cuda.blockDim.x):
        for b in range(rows.shape[1]):
            for entry in range(blocks.start[b], blocks.start[b + 1]):
                total = 0.0
                for r in range(3):
                    impulse = rows[what, b, r] - (rows[less, b, r] if less >= 0 else 0.0)
                    total += jacobian[entry, 3 * r + part, 0] * impulse
                out[triples[entry, 0], part] += scale * total


@device
def row_rate(blocks, triples, jacobian, u, b, r):
    """J u of a row."""
    rate = 0.0
    for entry in range(blocks.start[b], blocks.start[b + 1]):
        j = triples[entry, 0]
        for c in range(3):
            rate += jacobian[entry, 3 * r + c, 0] * u[j, c]
    return rate


@cuda.jit(device=True)
def foresee(scenes, blocks, i, triples, jacobian, direction, rows):
    """Estimate impulses at the end of a step along a direction (n, 3)."""
    for b in range(first_block(), rows.shape[1], cuda.blockDim.x):
        for r in range(3):
            rate = row_rate(blocks, triples, jacobian, direction, b, r)
            ahead = rows[IMPULSE, b, r] - rows[SLOPE, b, r] * rate
            rows[FORESEEN, b, r] = min(max(ahead, scenes.rows[i, LOW, b, r]), scenes.rows[i, HIGH, b, r])


@cuda.jit(device=True)
def row_gap(scenes, i, rows):
    """The largest gap of a thread's rigid joints relative to their reach."""
    gap = 0.0
    for b in range(first_block(), rows.shape[1], cuda.blockDim.x):
        for r in range(3):
            own = abs(rows[ERROR, b, r]) * rows[HARD, b, r] * scenes.rows[i, PER_REACH, b, r]
            gap = max(gap, own if own == own else 1e300)
    return gap


@cuda.jit(device=True)
def row_lag(scenes, i, rows, without_gaps):
    """A thread's part of how far rows are from being met, as an energy [J]; rows with gaps count or not."""
    total = 0.0
    for b in range(first_block(), rows.shape[1], cuda.blockDim.x):
        for r in range(3):
            soft = rows[SOFT, b, r]
            error = rows[HARD, b, r] * soft * (rows[IMPULSE, b, r] - rows[SHIFT, b, r])
            if without_gaps and scenes.rows[i, PER_REACH, b, r] > 0.0:
                error = 0.0
            total += error * error / min(rows[MOBILITY, b, r], soft / STIFF_PART)
    return total


@cuda.jit(device=True)
def best_impulses(rows):
    """Impulses of rigid rows become those foreseen, which gaps of the size of rounding do not disturb; others stay."""
    for b in range(first_block(), rows.shape[1], cuda.blockDim.x):
        for r in range(3):
            if rows[HARD, b, r] == 0.0:
                rows[FORESEEN, b, r] = rows[IMPULSE, b, r]


@cuda.jit(device=True)
def row_errors(structure, scenes, blocks, i, h, triples, jacobian, rows):
    """A thread's part of the squares of errors of rows in velocity, over their mobilities (twin of solve.residual)."""
    total = 0.0
    for b in range(first_block(), rows.shape[1], cuda.blockDim.x):
        for r in range(3):
            mobility = 0.0
            for entry in range(blocks.start[b], blocks.start[b + 1]):
                j = triples[entry, 0]
                for c in range(3):
                    own = structure.free[j, c] * inverse_weight(scenes, i, j, h)
                    mobility += own * entry_square(jacobian, entry, r, c)
            if mobility > 0.0:
                impulse = rows[FORESEEN, b, r]
                lacking = rows[GOAL, b, r] - rows[RATE, b, r] - scenes.rows[i, COMPLIANCE, b, r] * impulse
                moved = impulse + lacking / mobility
                change = min(max(moved, scenes.rows[i, LOW, b, r]), scenes.rows[i, HIGH, b, r]) - impulse
                total += change * change * mobility
    return total


@device
def inverse_weight(scenes, i, j, h):
    """The mobility of a node with the stiffness of elements around it (twin of kernels.cpu.balance)."""
    own = 1.0 / (scenes.nodes[i, j, MASS] * (1.0 + h * scenes.nodes[i, j, DRAG]))
    held = h * (h * scenes.nodes[i, j, STIFFNESS] + scenes.nodes[i, j, DAMPING])
    return own / (1.0 + held * own)


@cuda.jit(device=True)
def add_row_blocks(structure, blocks, triples, jacobian, rows, width, band):
    """Adds J^T G J to the band, over free components; nine threads, each with one number of every block."""
    for part in range(cuda.threadIdx.x, 9, cuda.blockDim.x):
        p, q = part // 3, part % 3
        for b in range(rows.shape[1]):
            for first in range(blocks.start[b], blocks.start[b + 1]):
                for second in range(blocks.start[b], blocks.start[b + 1]):
                    row, column = triples[first, 0], triples[second, 0]
                    if row < column:
                        continue
                    total = 0.0
                    for r in range(3):
                        total += jacobian[first, 3 * r + p, 0] * rows[SLOPE, b, r] * jacobian[second, 3 * r + q, 0]
                    total *= structure.free[row, p] * structure.free[column, q]
                    band[(row * (width + 1) + column - row + width) * 9 + part] += total
