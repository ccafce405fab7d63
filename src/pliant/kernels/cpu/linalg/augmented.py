"""A preconditioner for a matrix with a few stiff rows: P = P0 + J^T G J, inverted by Woodbury's identity.

With P0 near A0, P is as near to A0 + J^T G J, however stiff G: joints cost conjugate gradients no iterations.
"""

import numpy as np

from pliant.jit import kernel
from pliant.kernels.cpu.linalg.envelope import solve_envelope
from pliant.kernels.cpu.linalg.sliced import multiply_blocks
from pliant.kernels.cpu.linalg.two_level import (
    apply_two_level,
    factorise_dense,
    prolong,
    restrict,
    solve_dense,
)
from pliant.kernels.lanes import LANES


@kernel
def _moves(p, s, moved):
    """Whether any piece in a slice is moved (pieces,)."""
    found = False
    for lane in range(LANES):
        found = found or (p.piece[s, lane] >= 0 and moved[p.piece[s, lane]])
    return found


@kernel
def _answer(p, right, first, last, moved, answer_out):
    """The answer P0^-1 right (slices, 3, LANES), all zero so far, for what is zero but in slices from first on, before
    last; the slices between which it is not zero: few where bodies are rigid. moved (pieces,): room."""
    multiply_blocks(p.inverse[first:last], right[first:last], answer_out[first:last])
    restrict(p, right, first, last, p.work)
    solve_envelope(p.start, p.first, p.coarse, p.work)
    for piece in range(moved.shape[0]):
        moved[piece] = False
        for k in range(6 * piece, 6 * piece + 6):
            moved[piece] = moved[piece] or p.work[k] != 0
    for s in range(right.shape[0]):
        if _moves(p, s, moved):
            prolong(p, s, p.work, answer_out)
            first, last = min(first, s), max(last, s + 1)
    return first, last


@kernel
def augment(base, rows, which, free, answers_out, extent_out, factors_out):
    """Answers, all zero so far, the slices (m, 2) between which they are not zero, and factors for the rows `which`
    (m, 3): slice, row in its block, lane; free: flat."""
    right = np.zeros(answers_out.shape[1:], answers_out.dtype)
    flat, moved = right.reshape(-1), np.empty(base.work.shape[0] // 6, np.bool_)
    for k in range(which.shape[0]):
        s, row, lane = which[k]
        first, last = right.shape[0], 0
        for e in range(rows.start[s], rows.start[s + 1]):
            at = rows.offset[e, lane]
            first, last = min(first, at // (3 * LANES)), max(last, at // (3 * LANES) + 1)
            for c in range(3):
                flat[at + c * LANES] += free[at + c * LANES] * rows.jacobian[e, 3 * row + c, lane]
        extent_out[k, 0], extent_out[k, 1] = _answer(base, right, first, last, moved, answers_out[k])
        for e in range(rows.start[s], rows.start[s + 1]):
            for c in range(3):
                flat[rows.offset[e, lane] + c * LANES] = 0
    for k in range(which.shape[0]):
        s, row, lane = which[k]
        for other in range(which.shape[0]):
            answer, total = answers_out[other].reshape(-1), 0.0
            for e in range(rows.start[s], rows.start[s + 1]):
                at = rows.offset[e, lane]
                for c in range(3):
                    total += rows.jacobian[e, 3 * row + c, lane] * free[at + c * LANES] * answer[at + c * LANES]
            factors_out[k, other] = total
        factors_out[k, k] += 1.0 / rows.weight[s, row, lane]
    for k in range(which.shape[0]):
        for other in range(k):
            mean = 0.5 * (factors_out[k, other] + factors_out[other, k])
            factors_out[k, other], factors_out[other, k] = mean, mean
    factorise_dense(factors_out)


@kernel
def apply_augmented(preconditioner, r, z):
    """z = P0^-1 r - P0^-1 J^T (G^-1 + J P0^-1 J^T)^-1 J P0^-1 r."""
    p = preconditioner
    apply_two_level(p.base, r, z)
    flat_z, work = z.reshape(-1), p.work
    for k in range(work.shape[0]):
        s, row, lane = p.which[k, 0], p.which[k, 1], p.which[k, 2]
        total = 0.0
        for e in range(p.start[s], p.start[s + 1]):
            at = p.offset[e, lane]
            for c in range(3):
                total += p.jacobian[e, 3 * row + c, lane] * p.free[at + c * LANES] * flat_z[at + c * LANES]
        work[k] = total
    solve_dense(p.factors, work)
    for k in range(work.shape[0]):
        first, last, share = 3 * LANES * p.extent[k, 0], 3 * LANES * p.extent[k, 1], z.dtype.type(work[k])
        answer, own = p.answers[k].reshape(-1)[first:last], flat_z[first:last]
        for i in range(own.shape[0]):
            own[i] -= share * answer[i]
