"""Newton's method for steps of many scenes: one block of threads takes all steps of a scene, and no other knows of it.
A step that does not converge here is left to the host."""

import math

from numba import config, cuda, float64

from pliant.jit import cache_folder
from pliant.kernels.cuda.many_arrays import (
    AT_REST,
    CONVERGED,
    COUNT,
    DO,
    DONE,
    ELASTIC,
    END,
    ENERGY,
    ERROR,
    EVALUATE,
    FORESEEN,
    IMBALANCE,
    INVERTED,
    ITERATE,
    ITERATIONS,
    KICK,
    KIND,
    LEFT_OVER,
    MACHINE,
    MATRIX,
    MOST_ITERATIONS,
    NEW,
    NEW_ELASTIC,
    NEW_GAPS,
    NEW_UPSIDE,
    OFF,
    PHASE,
    POSITIVE,
    PREDICTED,
    RESIDUAL,
    ROUNDING,
    SHORTEST,
    SHORTEST_LENGTH,
    SOLVE,
    SOLVED,
    SOLVES,
    STATUS,
    STEP,
    STUCK,
    TAKEN,
    TOLERANCE,
    TRIAL,
    UPSIDE,
    WHICH,
    Many,
    Own,
)
from pliant.kernels.cuda.many_band import factorise
from pliant.kernels.cuda.many_decisions import MOST_INVERTED, decide
from pliant.kernels.cuda.many_elements import take_frames
from pliant.kernels.cuda.many_potential import assemble, evaluate, predict
from pliant.kernels.cuda.many_search import correct, evaluate_next, finite
from pliant.kernels.cuda.many_sums import ROOM, greatest, sums4

# The most [rad or m] that a step may change a coordinate by: beyond that the host takes it.
LARGEST_TURN = 1.5


@cuda.jit(device=True)
def begin(many, own, rotates, m):
    """What a step asks: the prediction and the frames of damping; it begins at rest."""
    scenes, states, work, i, slot = many.scenes, many.states, many.work, own.scene, own.slot
    for k in range(MACHINE):
        m[k] = 0.0
    m[LEFT_OVER] = m[SHORTEST_LENGTH] = 1.0
    m[OFF] = math.inf
    kick, rounding = predict(many.structure, scenes, states, i, own.h, work.vectors[slot])
    if own.damped:
        take_frames(scenes, i, many.structure.tets, states.x[i], rotates, work.frames[slot])
    for j in range(cuda.threadIdx.x, work.vectors.shape[2], cuda.blockDim.x):
        for c in range(3):
            work.vectors[slot, TRIAL, j, c] = 0.0
    m[KICK], m[ROUNDING], _, _ = sums4(own.shared, kick, rounding, 0.0, 0.0)
    evaluate_next(m, AT_REST, TRIAL)


@cuda.jit(device=True)
def newton(many, own, numbers, rotates, m):
    """One step of a scene, which ends in the iterate."""
    begin(many, own, rotates, m)
    known = finite(many.states.report[own.scene, ENERGY])
    while m[DO] != END:
        if m[DO] == EVALUATE:
            with_tets = m[PHASE] != AT_REST or not known
            m[NEW], m[NEW_GAPS], m[NEW_ELASTIC], m[NEW_UPSIDE] = evaluate(many, own, int(m[WHICH]), with_tets)
        elif m[DO] == SOLVE:
            correct(many, own, m[KIND] == 1.0)
        elif m[DO] == MATRIX:
            assemble(many, own, m[KIND] == 0.0)
            positive = factorise(own.band, many.work.vectors.shape[2], own.width, many.structure.pairs)
            m[POSITIVE] = 1.0 if positive else 0.0
        decide(many, own, m, numbers[TOLERANCE], numbers[MOST_ITERATIONS])
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        report = many.states.report[own.scene]
        report[ITERATIONS], report[SOLVES], report[RESIDUAL] = m[COUNT], m[SOLVED], m[LEFT_OVER]
        report[IMBALANCE], report[SHORTEST] = m[OFF], m[SHORTEST_LENGTH]


@cuda.jit(device=True)
def turned(many, own):
    """The most [rad or m] that a coordinate of a joint has changed by in the step."""
    blocks, states, rows, most = many.blocks, many.states, many.work.rows[own.slot], 0.0
    count = rows.shape[1]
    for b in range(cuda.threadIdx.x, count, cuda.blockDim.x):
        k = own.scene * count + b
        r = blocks.which[k, 1] - 1  # the row that its coordinate is read from
        if r >= 0:
            q = (rows[ERROR, b, r] - blocks.rest[k, r]) / blocks.factor[k, r]
            most = max(most, abs(q - states.angle[own.scene, blocks.which[k, 0]]))
    return greatest(own.shared, most)


@cuda.jit(device=True)
def keep(many, own, m):
    """Let a step that has converged be the state."""
    blocks, states, work, i = many.blocks, many.states, many.work, own.scene
    vectors, rows, t, threads = work.vectors[own.slot], work.rows[own.slot], cuda.threadIdx.x, cuda.blockDim.x
    for j in range(t, vectors.shape[1], threads):
        for c in range(3):
            u = vectors[ITERATE, j, c]
            states.before[i, j, c] = states.v[i, j, c]
            states.change[i, j, c] = u - vectors[PREDICTED, j, c]
            states.v[i, j, c] = u
            states.x[i, j, c] += own.h * u
    count = rows.shape[1]
    for b in range(t, count, threads):
        k = i * count + b
        for r in range(3):
            states.impulse[i, b, r] = rows[FORESEEN, b, r]
            if blocks.which[k, 1] == 1 + r:
                q = (rows[ERROR, b, r] - blocks.rest[k, r]) / blocks.factor[k, r]
                states.angle[i, blocks.which[k, 0]] = q
    cuda.syncthreads()
    if t == 0:
        states.report[i, ENERGY], states.report[i, INVERTED] = m[ELASTIC], m[UPSIDE]
        states.report[i, TAKEN] += 1.0
    cuda.syncthreads()


def advance_scenes(structure, scenes, blocks, states, work, numbers, todo, damped, rotates, width, in_shared):
    """Take todo[i] steps of every scene i, or as many as converge; the status says which."""
    shared, dynamic = cuda.shared.array(ROOM, float64), cuda.shared.array(0, float64)
    m, slot = cuda.local.array(MACHINE, float64), cuda.blockIdx.x
    many = Many(structure, scenes, blocks, states, work)
    band = dynamic if in_shared else work.band[slot]
    for i in range(slot, states.x.shape[0], cuda.gridDim.x):
        own, status = Own(i, slot, numbers[STEP], damped, width, band, shared), DONE
        for _ in range(todo[i]):
            m[CONVERGED] = 0.0
            if states.report[i, INVERTED] <= MOST_INVERTED * structure.tets.shape[0]:
                newton(many, own, numbers, rotates, m)
            if m[CONVERGED] == 0.0 or not (turned(many, own) <= LARGEST_TURN):
                status = STUCK
                break
            keep(many, own, m)
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            states.report[i, STATUS] = status
        cuda.syncthreads()


def _kept(function):
    """The kernel, compiled once for all processes: kept in the folder of this module's compiled code."""
    dispatcher = cuda.jit(function)
    if config.ENABLE_CUDASIM:
        return dispatcher
    from numba.cuda.core import config as settings

    before, settings.CACHE_DIR = settings.CACHE_DIR, str(cache_folder(__name__))
    try:
        dispatcher.enable_caching()
    finally:
        settings.CACHE_DIR = before
    return dispatcher


# For laws of ours; and for users' own, which other processes do not know.
advance, advance_new = _kept(advance_scenes), cuda.jit(advance_scenes)
