"""Block Gauss-Seidel over the contacts of rigid bodies, every contact met in turn by Coulomb's law, accelerated by
conjugate directions (Silcowitz-Hansen, Niebe and Erleben 2010).

Of a contact there are its three directions, which are the same for both bodies, their moments about these, what they
turn these by, and a 3x3 block: two thirds of what Jacobians of any rows would be to read and to multiply.
"""

import math

import numpy as np

from pliant.jit import kernel
from pliant.kernels.lanes import LANES

# Passes over normal and tangent impulses of a contact that slides.
LOCAL_PASSES = 3
# Determinant of a contact's block, relative to the product of its diagonal, below which it is singular.
SINGULAR = 1e-12
# Places of a contact's numbers: directions (3, 3), moments about the first body and about the second, what impulses
# turn these by (each 3, 3), inverse masses (2), J M^-1 J^T + R (6: 00, 11, 22, 12, 02, 01), its inverse (6), steps of
# normal and of tangent impulses for a rate of 1 m/s (2), compliances (3), friction.
FIRST, SECOND, TURN_FIRST, TURN_SECOND, MASSES, BLOCK, INVERSE, STEPS, SOFT, ROUGH = (
    9,
    18,
    27,
    36,
    45,
    47,
    53,
    59,
    61,
    64,
)
NUMBERS = 65


@kernel
def _turned(m, a, b, c):
    """A symmetric matrix (6: xx, yy, zz, yz, xz, xy) times a vector."""
    return m[0] * a + m[5] * b + m[4] * c, m[5] * a + m[1] * b + m[3] * c, m[4] * a + m[3] * b + m[2] * c


@kernel
def _gather(start, triples, jacobian, inverse_mass, compliance, friction, s, lane, ends_out, out):
    """The numbers of a contact, and the linear triples (2,) of its bodies; that of a body that does not move is one
    beyond all others."""
    out[:] = 0.0
    ends_out[:] = inverse_mass.shape[0]
    block = np.zeros((3, 3))
    for side in range((start[s + 1] - start[s]) // 2):
        entry = start[s] + 2 * side
        triple = triples[entry, lane]
        if triple == triples[entry + 1, lane]:  # nothing in this lane
            continue
        ends_out[side], out[MASSES + side] = triple, inverse_mass[triple, 0]
        for row in range(3):
            moment, turn = FIRST + 9 * side + 3 * row, TURN_FIRST + 9 * side + 3 * row
            for c in range(3):
                if side == 0:
                    out[3 * row + c] = jacobian[entry, 3 * row + c, lane]
                out[moment + c] = jacobian[entry + 1, 3 * row + c, lane]
            a, b, c = _turned(inverse_mass[triple + 1], out[moment], out[moment + 1], out[moment + 2])
            out[turn], out[turn + 1], out[turn + 2] = a, b, c
    for row in range(3):
        for column in range(3):
            total = 0.0
            for c in range(3):
                total += (out[MASSES] + out[MASSES + 1]) * out[3 * row + c] * out[3 * column + c]
                total += out[FIRST + 3 * row + c] * out[TURN_FIRST + 3 * column + c]
                total += out[SECOND + 3 * row + c] * out[TURN_SECOND + 3 * column + c]
            block[row, column] = total
        out[SOFT + row] = compliance[s, row, lane]
        block[row, row] += out[SOFT + row]
    out[ROUGH] = friction[s, lane]
    _invert(block, out)


@kernel
def _invert(block, out):
    """Write a block (3, 3), its inverse, or zeros where it is singular, and steps of impulses."""
    b00, b11, b22, b12, b02, b01 = block[0, 0], block[1, 1], block[2, 2], block[1, 2], block[0, 2], block[0, 1]
    out[BLOCK], out[BLOCK + 1], out[BLOCK + 2] = b00, b11, b22
    out[BLOCK + 3], out[BLOCK + 4], out[BLOCK + 5] = b12, b02, b01
    if b00 > 0.0:
        out[STEPS], out[STEPS + 1] = 1.0 / b00, 1.0 / (max(b11, b22) + abs(b12))
    c0, c1, c2 = b11 * b22 - b12 * b12, b02 * b12 - b01 * b22, b01 * b12 - b02 * b11
    determinant = b00 * c0 + b01 * c1 + b02 * c2
    if determinant > SINGULAR * b00 * b11 * b22:
        out[INVERSE], out[INVERSE + 5], out[INVERSE + 4] = c0 / determinant, c1 / determinant, c2 / determinant
        out[INVERSE + 1] = (b00 * b22 - b02 * b02) / determinant
        out[INVERSE + 2] = (b00 * b11 - b01 * b01) / determinant
        out[INVERSE + 3] = (b01 * b02 - b00 * b12) / determinant


@kernel
def _touch(k, own, lack0, lack1, lack2, n, a, b):
    """Impulses of contact k whose rates lack (lack0, lack1, lack2) with impulses (n, a, b): it opens, sticks or
    slides."""
    friction, per_normal, step = own[k, ROUGH], own[k, STEPS], own[k, STEPS + 1]
    if friction == 0.0:
        return max(n + lack0 * per_normal, 0.0), 0.0, 0.0
    i00, i01, i02, i12 = own[k, INVERSE], own[k, INVERSE + 5], own[k, INVERSE + 4], own[k, INVERSE + 3]
    stuck = n + i00 * lack0 + i01 * lack1 + i02 * lack2
    first = a + i01 * lack0 + own[k, INVERSE + 1] * lack1 + i12 * lack2
    second = b + i02 * lack0 + i12 * lack1 + own[k, INVERSE + 2] * lack2
    limit = friction * stuck
    if i00 > 0.0 and limit > 0.0 and first * first + second * second <= limit * limit:
        return stuck, first, second
    w01, w02, w12 = own[k, BLOCK + 5], own[k, BLOCK + 4], own[k, BLOCK + 3]
    w11, w22, n0, a0, b0 = own[k, BLOCK + 1], own[k, BLOCK + 2], n, a, b
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
def _rate(k, row, own, v, w, z):
    """The rate of a row, for the difference v of two bodies' velocities and their angular ones w and z."""
    i, j, m = 3 * row, FIRST + 3 * row, SECOND + 3 * row
    a = own[k, i] * v[0] + own[k, i + 1] * v[1] + own[k, i + 2] * v[2]
    b = own[k, j] * w[0] + own[k, j + 1] * w[1] + own[k, j + 2] * w[2]
    return a + b + own[k, m] * z[0] + own[k, m + 1] * z[1] + own[k, m + 2] * z[2]


@kernel
def _push(k, place, own, d0, d1, d2):
    """A sum of three triples of numbers from a place on."""
    return (
        own[k, place] * d0 + own[k, place + 3] * d1 + own[k, place + 6] * d2,
        own[k, place + 1] * d0 + own[k, place + 4] * d1 + own[k, place + 7] * d2,
        own[k, place + 2] * d0 + own[k, place + 5] * d1 + own[k, place + 8] * d2,
    )


@kernel
def _add(u_inout, triple, factor, v):
    u_inout[triple, 0] += factor * v[0]
    u_inout[triple, 1] += factor * v[1]
    u_inout[triple, 2] += factor * v[2]


@kernel
def _kick(k, own, s, t, d0, d1, d2, u_inout):
    """Change velocities (triples, 3) of bodies at triples s and t by changes of the impulses of contact k."""
    push = _push(k, 0, own, d0, d1, d2)
    _add(u_inout, s, own[k, MASSES], push)
    _add(u_inout, t, -own[k, MASSES + 1], push)
    _add(u_inout, s + 1, 1.0, _push(k, TURN_FIRST, own, d0, d1, d2))
    _add(u_inout, t + 1, 1.0, _push(k, TURN_SECOND, own, d0, d1, d2))


@kernel
def _sweep(order, ends, own, target, slow, impulse_inout, u_inout):
    """One pass over all contacts; the square of what changed, as an energy [J], and the largest speed that a normal row
    lacked in parts of what is slow."""
    moved, worst, count = 0.0, 0.0, own.shape[0]
    for turn in range(count):
        k = turn if order > 0 else count - 1 - turn
        s, t = ends[k, 0], ends[k, 1]
        v = (u_inout[s, 0] - u_inout[t, 0], u_inout[s, 1] - u_inout[t, 1], u_inout[s, 2] - u_inout[t, 2])
        w = (u_inout[s + 1, 0], u_inout[s + 1, 1], u_inout[s + 1, 2])
        z = (u_inout[t + 1, 0], u_inout[t + 1, 1], u_inout[t + 1, 2])
        l0, l1, l2 = impulse_inout[k, 0], impulse_inout[k, 1], impulse_inout[k, 2]
        lack = target[k, 0] - _rate(k, 0, own, v, w, z) - own[k, SOFT] * l0
        if l0 == 0.0 and lack <= 0.0:  # open, and it stays so
            continue
        worst = max(worst, lack / slow[k])
        first = target[k, 1] - _rate(k, 1, own, v, w, z) - own[k, SOFT + 1] * l1
        second = target[k, 2] - _rate(k, 2, own, v, w, z) - own[k, SOFT + 2] * l2
        n, a, b = _touch(k, own, lack, first, second, l0, l1, l2)
        d0, d1, d2 = n - l0, a - l1, b - l2
        if d0 == 0.0 and d1 == 0.0 and d2 == 0.0:
            continue
        impulse_inout[k, 0], impulse_inout[k, 1], impulse_inout[k, 2] = n, a, b
        moved += d0 * d0 * own[k, BLOCK] + d1 * d1 * own[k, BLOCK + 1] + d2 * d2 * own[k, BLOCK + 2]
        _kick(k, own, s, t, d0, d1, d2, u_inout)
    return moved, worst


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
    start,
    triples,
    jacobian,
    target,
    compliance,
    friction,
    slow,
    inverse_mass,
    impulse_inout,
    u_inout,
    mobility_out,
    least,
    most,
    tolerance,
):
    """Sweeps over contacts, forth and back, until one changes no more than `tolerance` [J] and no normal row lacks more
    than what is slow (slices, LANES) [m/s], but at least
    `least` and at most `most` of them; returns how many, what the last one changed [J], and the
    most that a row lacked in parts of what is slow.

    impulse_inout (slices, 3, LANES); u_inout (triples, 3): velocities without impulses, then with them.
    mobility_out (slices, LANES): what normal impulses move.
    """
    slices, triple_count = start.shape[0] - 1, u_inout.shape[0]
    ends, own = np.empty((slices * LANES, 2), np.int64), np.empty((slices * LANES, NUMBERS))
    aims, lacking, place = np.empty((slices * LANES, 3)), np.empty(slices * LANES), np.empty(slices * LANES, np.int64)
    impulse, count = np.empty((slices * LANES, 3)), 0
    # bodies that do not move, behind the others, stay at rest
    u = np.zeros((triple_count + 2, 3))
    u[:triple_count] = u_inout
    for i in range(slices * LANES):
        s, lane = i // LANES, i % LANES
        _gather(start, triples, jacobian, inverse_mass, compliance, friction, s, lane, ends[count], own[count])
        mobility_out[s, lane] = own[count, BLOCK]
        if not own[count, BLOCK] > 0.0:
            continue
        for row in range(3):
            aims[count, row], impulse[count, row] = target[s, row, lane], impulse_inout[s, row, lane]
        lacking[count], place[count] = slow[s, lane], i
        _kick(count, own, ends[count, 0], ends[count, 1], impulse[count, 0], impulse[count, 1], impulse[count, 2], u)
        count += 1
    rows, impulse = (ends, own[:count], aims, lacking), impulse[:count]
    impulse_before, impulse_along = impulse.copy(), np.zeros_like(impulse)
    u_before, u_along = u.copy(), np.zeros_like(u)
    last, moved, worst, sweeps = np.inf, np.inf, np.inf, 0
    going = most > 0
    while going:
        moved, worst = _sweep(1 - 2 * (sweeps % 2), *rows, impulse, u)
        sweeps += 1
        going = sweeps < most and moved > 0.0 and (sweeps < least or moved > tolerance or worst > 1.0)
        if going:
            share = moved / last if moved < last else 0.0
            _go_on(share, impulse_before, impulse_along, impulse)
            _go_on(share, u_before, u_along, u)
        last = moved
    for k in range(count):
        s, lane = place[k] // LANES, place[k] % LANES
        for row in range(3):
            impulse_inout[s, row, lane] = impulse[k, row]
    u_inout[:] = u[:triple_count]
    return sweeps, moved, worst
