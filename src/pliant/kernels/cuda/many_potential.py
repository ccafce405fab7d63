"""The incremental potential of one scene of many (twin of solve.newton.increment): a block of threads evaluates it,
assembles its Hessian, and measures a step."""

from numba import cuda

from pliant.kernels.cuda.many_arrays import (
    AHEAD,
    DRAG,
    FORESEEN,
    GRADIENT,
    GRAVITY,
    HARD,
    IMPULSE,
    ITERATE,
    MASS,
    PREDICTED,
    SOFT,
    STIFFNESS,
)
from pliant.kernels.cuda.many_elements import energy_of_motion, evaluate_tets, stiffness_of_tets
from pliant.kernels.cuda.many_rows import (
    add_impulses,
    add_row_blocks,
    best_impulses,
    evaluate_rows,
    inverse_weight,
    row_errors,
)
from pliant.kernels.cuda.many_sums import greatest, sums4
from pliant.kernels.cuda.warp import device

# Rounding: of energies; of a node's elastic force relative to its stiffness times its distance from the origin; of such
# a force where a step is measured, and of a steady motion there; of a joint's error.
SLACK, FORCE_ROUNDING, MEASURED_ROUNDING, STEADY, ERROR_ROUNDING = 1e-13, 1e-14, 1e-13, 1e-11, 1e-15


@device
def heavy(scenes, i, j, h):
    """Mass [kg] of a node with the drag of mass damping."""
    return scenes.nodes[i, j, MASS] * (1.0 + h * scenes.nodes[i, j, DRAG])


@device
def distance(x, j):
    """The largest coordinate of a node."""
    return max(abs(x[j, 0]), abs(x[j, 1]), abs(x[j, 2]))


@cuda.jit(device=True)
def predict(structure, scenes, states, i, h, vectors):
    """Velocities after outer forces alone, and the start of the iterations; a thread's parts of twice the kinetic
    energy [J] that these forces give and of the motion that rounding makes."""
    kick = rounding = 0.0
    for j in range(cuda.threadIdx.x, vectors.shape[1], cuda.blockDim.x):
        mass, stiffness = scenes.nodes[i, j, MASS], scenes.nodes[i, j, STIFFNESS]
        drag = 1.0 + h * scenes.nodes[i, j, DRAG]
        for c in range(3):
            v, free = states.v[i, j, c], structure.free[j, c]
            pushed = (v + h * (scenes.scene[i, GRAVITY + c] + scenes.force[i, j, c] / mass)) / drag
            goal = pushed if free > 0.0 else 0.0
            vectors[PREDICTED, j, c] = goal
            vectors[ITERATE, j, c] = goal + free * states.change[i, j, c]
            kick += free * mass * drag * (goal - v) * (goal - v)
        small = h * FORCE_ROUNDING * stiffness * distance(states.x[i], j)
        rounding += small * small / (mass + h * h * stiffness)
    return kick, rounding


@cuda.jit(device=True)
def row_rounding(shared, states, i, h, rows):
    """Twice the energy [J] that the rounding of the joints' errors makes."""
    far = stiff = 0.0
    for j in range(cuda.threadIdx.x, states.x.shape[1], cuda.blockDim.x):
        far = max(far, distance(states.x[i], j))
    for b in range(cuda.threadIdx.x, rows.shape[1], cuda.blockDim.x):
        for r in range(3):
            stiff += rows[HARD, b, r] / rows[SOFT, b, r]
    size = max(greatest(shared, far), 1.0)
    stiff, _, _, _ = sums4(shared, stiff, 0.0, 0.0, 0.0)
    return stiff * (ERROR_ROUNDING * size / h) * (ERROR_ROUNDING * size / h)


@cuda.jit(device=True)
def evaluate(many, own, which, with_tets):
    """Phi [J] at the velocities vectors[which], the part of it that gaps of joints make, the elastic energy, and how
    many tets are inverted; its gradient is kept. with_tets: else only rows are evaluated."""
    structure, scenes, blocks = many.structure, many.scenes, many.blocks
    states, work, i, slot, h = many.states, many.work, own.scene, own.slot, own.h
    vectors, rows = work.vectors[slot], work.rows[slot]
    u, ahead, gradient = vectors[which], vectors[AHEAD], vectors[GRADIENT]
    t, threads, count = cuda.threadIdx.x, cuda.blockDim.x, u.shape[0]
    cuda.syncthreads()
    for j in range(t, count, threads):
        for c in range(3):
            ahead[j, c] = states.x[i, j, c] + h * u[j, c]
    cuda.syncthreads()
    energy = loss = inverted = of_joints = 0.0
    if with_tets:
        energy, loss, inverted = evaluate_tets(
            scenes, i, structure.tets, ahead, u, h, own.damped, work.frames[slot], work.forces[slot]
        )
    if rows.shape[1] > 0:
        triples, jacobian = work.triples[slot], work.jacobian[slot]
        of_joints = evaluate_rows(scenes, blocks, i, h, states.angle[i], ahead, work.bodies, triples, jacobian, rows)
    cuda.syncthreads()
    forces, value = work.forces[slot], loss
    for j in range(t, count, threads):
        mass = heavy(scenes, i, j, h)
        for c in range(3):
            force = 0.0
            for k in range(structure.slot_start[j], structure.slot_start[j + 1]):
                code = structure.slots[k]
                force += forces[code >> 2, 3 * (code & 3) + c]
            moved, push = mass * u[j, c], mass * vectors[PREDICTED, j, c]
            gradient[j, c] = moved - push + h * force
            value += u[j, c] * (0.5 * moved - push)
    value, energy, of_joints, inverted = sums4(own.shared, value, energy, of_joints, inverted)
    if rows.shape[1] > 0:
        add_impulses(blocks, work.triples[slot], work.jacobian[slot], rows, IMPULSE, -1, -1.0, gradient)
        cuda.syncthreads()
    return value + energy + of_joints, of_joints, energy, inverted


@cuda.jit(device=True)
def assemble(many, own, project):
    """The Hessian at what was last evaluated, into the band; the elements' blocks are kept."""
    structure, scenes, blocks = many.structure, many.scenes, many.blocks
    work, i, slot, h = many.work, own.scene, own.slot, own.h
    t, threads, rows = cuda.threadIdx.x, cuda.blockDim.x, work.rows[slot]
    ahead, stiffness = work.vectors[slot, AHEAD], work.stiffness[slot]
    stiffness_of_tets(scenes, i, structure.tets, ahead, h, project, own.damped, work.frames[slot], stiffness)
    for k in range(t, ahead.shape[0] * (own.width + 1) * 9, threads):
        own.band[k] = 0.0
    cuda.syncthreads()
    for k in range(t, structure.block_place.shape[0] * 9, threads):
        number, part = k // 9, k % 9
        p, q = part // 3, part % 3
        total = 0.0
        for at in range(structure.block_start[number], structure.block_start[number + 1]):
            code = structure.block_codes[at]
            pair = code >> 2
            c = 3 * q + p if code & 1 else part
            entry = stiffness[pair // 6, 9 * (pair % 6) + c]
            total += -entry if code & 2 else entry
        row, column = structure.block_row[number], structure.block_column[number]
        total *= structure.free[row, p] * structure.free[column, q]
        if row == column and p == q:
            total += heavy(scenes, i, row, h) if structure.free[row, p] > 0.0 else 1.0
        own.band[structure.block_place[number] + part] = total
    cuda.syncthreads()
    if rows.shape[1] > 0:
        add_row_blocks(structure, blocks, work.triples[slot], work.jacobian[slot], rows, own.width, own.band)
        cuda.syncthreads()


@cuda.jit(device=True)
def motion_scale(many, own, kick):
    """Twice the energy [J] of the motion in this step: the measure of corrections (twin of StepCriterion.scale)."""
    structure, scenes = many.structure, many.scenes
    states, work, i, slot, h = many.states, many.work, own.scene, own.slot, own.h
    u = work.vectors[slot, ITERATE]
    motion = energy_of_motion(structure.tets, u, work.stiffness[slot])
    changed = whole = 0.0
    for j in range(cuda.threadIdx.x, u.shape[0], cuda.blockDim.x):
        mass = heavy(scenes, i, j, h)
        for c in range(3):
            more = structure.free[j, c] * (u[j, c] - states.v[i, j, c])
            changed += mass * more * more
            whole += mass * u[j, c] * u[j, c]
    motion, changed, whole, _ = sums4(own.shared, motion, changed, whole, 0.0)
    return kick + max(motion, 0.0) + changed + SLACK * whole


@cuda.jit(device=True)
def imbalance(many, own):
    """How far the iterate, evaluated last, is from its equations (twin of solve.residual)."""
    structure, scenes, blocks = many.structure, many.scenes, many.blocks
    states, work, i, slot, h = many.states, many.work, own.scene, own.slot, own.h
    vectors, rows = work.vectors[slot], work.rows[slot]
    u, predicted, joined = vectors[ITERATE], vectors[PREDICTED], vectors[AHEAD]
    t, threads, count, forces = cuda.threadIdx.x, cuda.blockDim.x, u.shape[0], work.forces[slot]
    errors = 0.0
    best_impulses(rows)
    cuda.syncthreads()
    for j in range(t, count, threads):  # positions ahead are not needed any more
        for c in range(3):
            joined[j, c] = 0.0
    cuda.syncthreads()
    if rows.shape[1] > 0:
        triples, jacobian = work.triples[slot], work.jacobian[slot]
        add_impulses(blocks, triples, jacobian, rows, FORESEEN, -1, 1.0, joined)
        errors = row_errors(structure, scenes, blocks, i, h, triples, jacobian, rows)
        cuda.syncthreads()
    balance = inertia = applied = elastic = pulled = rounding = 0.0
    for j in range(t, count, threads):
        mass, weight = heavy(scenes, i, j, h), inverse_weight(scenes, i, j, h)
        kick = h * MEASURED_ROUNDING * scenes.nodes[i, j, STIFFNESS] * distance(states.x[i], j)
        for c in range(3):
            w, force = weight * structure.free[j, c], 0.0
            for k in range(structure.slot_start[j], structure.slot_start[j + 1]):
                code = structure.slots[k]
                force += forces[code >> 2, 3 * (code & 3) + c]
            moved, push = mass * (u[j, c] - predicted[j, c]), mass * (predicted[j, c] - states.v[i, j, c])
            left = moved + h * force - joined[j, c]
            balance += left * left * w
            inertia += moved * moved * w
            applied += push * push * w
            elastic += h * h * force * force * w
            pulled += joined[j, c] * joined[j, c] * w
            rounding += kick * kick * w + STEADY * STEADY * mass * u[j, c] * u[j, c]
    balance, inertia, applied, elastic = sums4(own.shared, balance, inertia, applied, elastic)
    pulled, rounding, errors, _ = sums4(own.shared, pulled, rounding, errors, 0.0)
    most = max(max(inertia, applied), max(elastic, pulled))
    return ((max(balance - rounding, 0.0) + errors) / most) ** 0.5 if most > rounding else 0.0
