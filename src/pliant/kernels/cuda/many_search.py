"""What decisions about one scene of many are made with, by one block of threads: what is wanted next; vectors, right
sides, impulses that are foreseen."""

from numba import cuda

from pliant.kernels.cuda.many_arrays import (
    ANSWER,
    DO,
    ELASTIC,
    EVALUATE,
    FORESEEN,
    GAPS,
    GRADIENT,
    IMPULSE,
    KIND,
    MATRIX,
    NEW,
    NEW_ELASTIC,
    NEW_GAPS,
    NEW_UPSIDE,
    PHASE,
    RIGHT,
    SOLVE,
    SOLVED,
    UPSIDE,
    VALUE,
    WHICH,
)
from pliant.kernels.cuda.many_band import solve
from pliant.kernels.cuda.many_rows import add_impulses, foresee, renew_rows, row_gap, row_lag
from pliant.kernels.cuda.many_sums import greatest, sums4
from pliant.kernels.cuda.warp import device


@device
def finite(v):
    """Whether a number is one."""
    return v - v == 0.0


@device
def evaluate_next(m, phase, which):
    """The potential at a vector is wanted."""
    m[DO], m[PHASE], m[WHICH] = EVALUATE, phase, which


@device
def solve_next(m, phase, pull):
    """An answer is wanted: for minus the gradient, or for the pull of joints."""
    m[DO], m[PHASE], m[KIND] = SOLVE, phase, 1.0 if pull else 0.0
    m[SOLVED] += 1.0


@device
def matrix_next(m, exact):
    """Factors of the Hessian are wanted: as it is, or projected."""
    m[DO], m[KIND] = MATRIX, 1.0 if exact else 0.0


@device
def accept(m):
    """What was evaluated last is the iterate's."""
    m[VALUE], m[GAPS], m[ELASTIC], m[UPSIDE] = m[NEW], m[NEW_GAPS], m[NEW_ELASTIC], m[NEW_UPSIDE]


@cuda.jit(device=True)
def correct(many, own, pull):
    """The answer for minus the gradient; or (pull) for what takes the joints' gaps, as last evaluated, to first
    order."""
    structure, work, slot = many.structure, many.work, own.slot
    vectors = work.vectors[slot]
    right, gradient = vectors[RIGHT], vectors[GRADIENT]
    t, threads, count = cuda.threadIdx.x, cuda.blockDim.x, right.shape[0]
    cuda.syncthreads()
    for j in range(t, count, threads):
        for c in range(3):
            right[j, c] = 0.0 if pull else -structure.free[j, c] * gradient[j, c]
    cuda.syncthreads()
    if pull:
        add_impulses(
            many.blocks, work.triples[slot], work.jacobian[slot], work.rows[slot], IMPULSE, FORESEEN, 1.0, right
        )
        cuda.syncthreads()
        for j in range(t, count, threads):
            for c in range(3):
                right[j, c] *= structure.free[j, c]
        cuda.syncthreads()
    solve(own.band, count, own.width, right, vectors[ANSWER])


@cuda.jit(device=True)
def move(many, own, start, factor, along, out):
    """vectors[out] = vectors[start] + factor vectors[along]."""
    vectors = many.work.vectors[own.slot]
    cuda.syncthreads()
    for j in range(cuda.threadIdx.x, vectors.shape[1], cuda.blockDim.x):
        for c in range(3):
            vectors[out, j, c] = vectors[start, j, c] + factor * vectors[along, j, c]
    cuda.syncthreads()


@cuda.jit(device=True)
def product(many, own, along):
    """The product of the gradient and a vector over free components."""
    structure, vectors, total = many.structure, many.work.vectors[own.slot], 0.0
    for j in range(cuda.threadIdx.x, vectors.shape[1], cuda.blockDim.x):
        for c in range(3):
            total += structure.free[j, c] * vectors[GRADIENT, j, c] * vectors[along, j, c]
    return sums4(own.shared, total, 0.0, 0.0, 0.0)[0]


@cuda.jit(device=True)
def largest_gap(many, own):
    """The largest gap of a rigid joint relative to its reach."""
    rows = many.work.rows[own.slot]
    return greatest(own.shared, row_gap(many.scenes, own.scene, rows)) if rows.shape[1] > 0 else 0.0


@cuda.jit(device=True)
def lag_of_rows(many, own, without_gaps):
    """How far rows are from being met, as an energy [J]."""
    rows = many.work.rows[own.slot]
    if rows.shape[1] == 0:
        return 0.0
    return sums4(own.shared, row_lag(many.scenes, own.scene, rows, without_gaps), 0.0, 0.0, 0.0)[0]


@cuda.jit(device=True)
def expect(many, own, along):
    """Foresee the impulses of joints at the end of a step along vectors[along]."""
    work, slot = many.work, own.slot
    direction, rows = work.vectors[slot, along], work.rows[slot]
    if rows.shape[1] > 0:
        foresee(many.scenes, many.blocks, own.scene, work.triples[slot], work.jacobian[slot], direction, rows)


@cuda.jit(device=True)
def renew(many, own):
    """Bring shifts up to date; what it changes the potential by [J]. The gradient follows."""
    blocks, work, slot = many.blocks, many.work, own.slot
    rows, gradient, change = work.rows[slot], work.vectors[slot, GRADIENT], 0.0
    for turn in range(2):
        cuda.syncthreads()
        scale = 1.0 if turn == 0 else -1.0
        add_impulses(blocks, work.triples[slot], work.jacobian[slot], rows, IMPULSE, -1, scale, gradient)
        cuda.syncthreads()
        if turn == 0:
            change = renew_rows(many.scenes, own.scene, rows)
    return sums4(own.shared, change, 0.0, 0.0, 0.0)[0]
