"""A preconditioner for a matrix with a few stiff rows: P = P0 + J^T G J, inverted by Woodbury's identity.

With P0 near A0, P is as near to A0 + J^T G J, however stiff G: joints cost conjugate gradients no iterations.
"""

import numpy as np

from pliant.jit import kernel
from pliant.kernels.cpu.linalg.two_level import apply_two_level, factorise_dense, solve_dense
from pliant.kernels.lanes import LANES


@kernel
def augment(base, rows, which, free, answers_out, factors_out):
    """Answers and factors for the rows `which` (m, 3): slice, row in its block, lane; free: flat."""
    right = np.empty(answers_out.shape[1:], answers_out.dtype)
    flat = right.reshape(-1)
    for k in range(which.shape[0]):
        s, row, lane = which[k]
        for i in range(flat.shape[0]):
            flat[i] = 0
        for e in range(rows.start[s], rows.start[s + 1]):
            at = rows.offset[e, lane]
            for c in range(3):
                flat[at + c * LANES] += free[at + c * LANES] * rows.jacobian[e, 3 * row + c, lane]
        apply_two_level(base, right, answers_out[k])
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
        answer, share = p.answers[k].reshape(-1), z.dtype.type(work[k])
        for i in range(flat_z.shape[0]):
            flat_z[i] -= share * answer[i]
