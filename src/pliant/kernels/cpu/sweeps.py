"""Block Gauss-Seidel over the contacts of rigid bodies, every contact met in turn by Coulomb's law, accelerated by
conjugate directions (Silcowitz-Hansen, Niebe and Erleben 2010)."""

import math

import numpy as np

from pliant.jit import kernel
from pliant.kernels.lanes import LANES

# Passes over normal and tangent impulses of a contact that slides.
LOCAL_PASSES = 3
# Triples that a contact may push: two of each body.
TRIPLES = 4
# Determinant of a contact's block, relative to the product of its diagonal, below which it is singular.
SINGULAR = 1e-12


@kernel
def _gather(start, triples, jacobian, inverse_mass, compliance, s, lane, triple_out, jacobian_out, kick_out, block_out):
    """The triples (4,) of a block, J (3, 12), M^-1 J^T (3, 12) transposed, and J M^-1 J^T + R (3, 3)."""
    jacobian_out[:], kick_out[:] = 0.0, 0.0
    triple_out[:] = 0
    for k in range(start[s + 1] - start[s]):
        entry = start[s] + k
        triple = triples[entry, lane]
        triple_out[k] = triple
        m = inverse_mass[triple]
        for row in range(3):
            a = jacobian[entry, 3 * row, lane]
            b = jacobian[entry, 3 * row + 1, lane]
            c = jacobian[entry, 3 * row + 2, lane]
            jacobian_out[row, 3 * k], jacobian_out[row, 3 * k + 1], jacobian_out[row, 3 * k + 2] = a, b, c
            kick_out[row, 3 * k] = m[0] * a + m[5] * b + m[4] * c
            kick_out[row, 3 * k + 1] = m[5] * a + m[1] * b + m[3] * c
            kick_out[row, 3 * k + 2] = m[4] * a + m[3] * b + m[2] * c
    for row in range(3):
        for column in range(3):
            total = 0.0
            for c in range(3 * TRIPLES):
                total += jacobian_out[row, c] * kick_out[column, c]
            block_out[row, column] = total
        block_out[row, row] += compliance[s, row, lane]


@kernel
def _inverse(block, out):
    """The inverse (3, 3) of a block, or zeros where it is singular."""
    c0 = block[1, 1] * block[2, 2] - block[1, 2] * block[1, 2]
    c1 = block[0, 2] * block[1, 2] - block[0, 1] * block[2, 2]
    c2 = block[0, 1] * block[1, 2] - block[0, 2] * block[1, 1]
    determinant = block[0, 0] * c0 + block[0, 1] * c1 + block[0, 2] * c2
    out[:] = 0.0
    if determinant > SINGULAR * block[0, 0] * block[1, 1] * block[2, 2]:
        out[0, 0], out[0, 1], out[0, 2] = c0 / determinant, c1 / determinant, c2 / determinant
        out[1, 1] = (block[0, 0] * block[2, 2] - block[0, 2] * block[0, 2]) / determinant
        out[2, 2] = (block[0, 0] * block[1, 1] - block[0, 1] * block[0, 1]) / determinant
        out[1, 2] = (block[0, 1] * block[0, 2] - block[0, 0] * block[1, 2]) / determinant


@kernel
def _touch(k, block, inverse, steps, friction, lack0, lack1, lack2, n, a, b):
    """Impulses of a contact whose rates lack (lack0, lack1, lack2) with impulses (n, a, b): it opens, sticks or
    slides. steps (n, 2): of normal impulses and of tangential ones, for a rate of 1 m/s."""
    if friction == 0.0:
        return max(n + lack0 * steps[k, 0], 0.0), 0.0, 0.0
    i00, i01, i02, i12 = inverse[k, 0, 0], inverse[k, 0, 1], inverse[k, 0, 2], inverse[k, 1, 2]
    stuck = n + i00 * lack0 + i01 * lack1 + i02 * lack2
    first = a + i01 * lack0 + inverse[k, 1, 1] * lack1 + i12 * lack2
    second = b + i02 * lack0 + i12 * lack1 + inverse[k, 2, 2] * lack2
    limit = friction * stuck
    if i00 > 0.0 and limit > 0.0 and first * first + second * second <= limit * limit:
        return stuck, first, second
    per_normal, step = steps[k, 0], steps[k, 1]
    w01, w02, w11, w12, w22 = block[k, 0, 1], block[k, 0, 2], block[k, 1, 1], block[k, 1, 2], block[k, 2, 2]
    n0, a0, b0 = n, a, b
    for _ in range(LOCAL_PASSES):
        d1, d2 = a - a0, b - b0
        n = max(n0 + (lack0 - w01 * d1 - w02 * d2) * per_normal, 0.0)
        d0 = n - n0
        a += step * (lack1 - w01 * d0 - w11 * d1 - w12 * d2)
        b += step * (lack2 - w02 * d0 - w12 * d1 - w22 * d2)
        square, limit = a * a + b * b, friction * n
        if square > limit * limit:
            shrink = limit / math.sqrt(square)
            a, b = a * shrink, b * shrink
    return n, a, b


@kernel
def _lack(k, row, target, jacobian, compliance, v, impulse):
    """What the rate of a row lacks, for velocities v (12,) and its impulse; three sums at a time, for each waits for
    itself. (No views of arrays here: counting who holds them takes longer than the sums.)"""
    a = jacobian[k, row, 0] * v[0] + jacobian[k, row, 3] * v[3]
    b = jacobian[k, row, 1] * v[1] + jacobian[k, row, 4] * v[4]
    c = jacobian[k, row, 2] * v[2] + jacobian[k, row, 5] * v[5]
    a += jacobian[k, row, 6] * v[6] + jacobian[k, row, 9] * v[9]
    b += jacobian[k, row, 7] * v[7] + jacobian[k, row, 10] * v[10]
    c += jacobian[k, row, 8] * v[8] + jacobian[k, row, 11] * v[11]
    return target[k, row] - (a + b + c) - compliance[k, row] * impulse


@kernel
def _sweep(order, triple, jacobian, kick, block, inverse, steps, target, compliance, friction, impulse_inout, u_inout):
    """One pass over all blocks; the square of what changed, as an energy [J]."""
    v = np.zeros(3 * TRIPLES)
    moved, count = 0.0, block.shape[0]
    for turn in range(count):
        k = turn if order > 0 else count - 1 - turn
        if block[k, 0, 0] == 0.0:
            continue
        for i in range(TRIPLES):
            t = triple[k, i]
            v[3 * i], v[3 * i + 1], v[3 * i + 2] = u_inout[t, 0], u_inout[t, 1], u_inout[t, 2]
        l0, l1, l2 = impulse_inout[k, 0], impulse_inout[k, 1], impulse_inout[k, 2]
        lack = _lack(k, 0, target, jacobian, compliance, v, l0)
        if l0 == 0.0 and lack <= 0.0:  # open, and it stays so
            continue
        first = _lack(k, 1, target, jacobian, compliance, v, l1)
        second = _lack(k, 2, target, jacobian, compliance, v, l2)
        n, a, b = _touch(k, block, inverse, steps, friction[k], lack, first, second, l0, l1, l2)
        d0, d1, d2 = n - l0, a - l1, b - l2
        if d0 == 0.0 and d1 == 0.0 and d2 == 0.0:
            continue
        impulse_inout[k, 0], impulse_inout[k, 1], impulse_inout[k, 2] = n, a, b
        moved += d0 * d0 * block[k, 0, 0] + d1 * d1 * block[k, 1, 1] + d2 * d2 * block[k, 2, 2]
        for c in range(3 * TRIPLES):
            v[c] = kick[k, 0, c] * d0 + kick[k, 1, c] * d1 + kick[k, 2, c] * d2
        for i in range(TRIPLES):
            t = triple[k, i]
            u_inout[t, 0] += v[3 * i]
            u_inout[t, 1] += v[3 * i + 1]
            u_inout[t, 2] += v[3 * i + 2]
    return moved


@kernel
def _go_on(share, before, along_inout, now_inout):
    """From `now` on along the direction so far; both follow the change from `before`, which becomes where they are."""
    for i in range(now_inout.shape[0]):
        for c in range(3):
            change = now_inout[i, c] - before[i, c]
            now_inout[i, c] += share * along_inout[i, c]
            along_inout[i, c] = share * along_inout[i, c] + change
            before[i, c] = now_inout[i, c]


@kernel
def sweep_contacts(
    start, triples, jacobian, target, compliance, friction, inverse_mass, impulse_inout, u_inout, most, tolerance
):
    """Sweeps over contacts, forth and back, until one changes no more than `tolerance` [J], or `most` of them; returns
    how many, and what the last one changed [J].

    impulse_inout (slices, 3, LANES); u_inout (triples, 3): velocities without impulses, then with them.
    """
    count = (start.shape[0] - 1) * LANES
    triple, block = np.zeros((count, TRIPLES), np.int64), np.zeros((count, 3, 3))
    inverse, steps = np.zeros((count, 3, 3)), np.zeros((count, 2))
    jac, kick = np.zeros((count, 3, 3 * TRIPLES)), np.zeros((count, 3, 3 * TRIPLES))
    aims, soft, rough, impulse = np.empty((count, 3)), np.empty((count, 3)), np.empty(count), np.empty((count, 3))
    for k in range(count):
        s, lane = k // LANES, k % LANES
        _gather(start, triples, jacobian, inverse_mass, compliance, s, lane, triple[k], jac[k], kick[k], block[k])
        rough[k] = friction[s, lane]
        _inverse(block[k], inverse[k])
        own = block[k]
        if own[0, 0] > 0.0:
            steps[k, 0], steps[k, 1] = 1.0 / own[0, 0], 1.0 / (max(own[1, 1], own[2, 2]) + abs(own[1, 2]))
        for row in range(3):
            aims[k, row], soft[k, row] = target[s, row, lane], compliance[s, row, lane]
            impulse[k, row] = impulse_inout[s, row, lane]
            for i in range(3 * TRIPLES):
                u_inout[triple[k, i // 3], i % 3] += kick[k, row, i] * impulse[k, row]
    impulse_before, impulse_along = impulse.copy(), np.zeros_like(impulse)
    u_before, u_along = u_inout.copy(), np.zeros_like(u_inout)
    last, moved, sweeps = np.inf, np.inf, 0
    while sweeps < most and moved > tolerance:
        moved = _sweep(
            1 - 2 * (sweeps % 2), triple, jac, kick, block, inverse, steps, aims, soft, rough, impulse, u_inout
        )
        sweeps += 1
        if moved > tolerance and sweeps < most:
            share = moved / last if moved < last else 0.0
            _go_on(share, impulse_before, impulse_along, impulse)
            _go_on(share, u_before, u_along, u_inout)
        last = moved
    for k in range(count):
        for row in range(3):
            impulse_inout[k // LANES, row, k % LANES] = impulse[k, row]
    return sweeps, moved
