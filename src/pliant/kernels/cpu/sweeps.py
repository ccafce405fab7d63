"""Block Gauss-Seidel over the contacts of rigid bodies, every contact met in turn by Coulomb's law, accelerated by
momentum (Nesterov 1983).

What forth and back do together has no complex eigenvalues where nothing opens or slides, so momentum carries from one
such pair of sweeps to the next; between single ones it would grow without bounds. Conjugate directions, which need the
curvature, begin anew with every contact that opens.

Contacts are met in groups of lanes, no two of which move the same body. Each comes after all that it would come after
were they met one by one, those that carry load at first before the others, so that groups lead to what single contacts
would.

Of a contact there are its three directions, which are the same for both bodies, their moments about these, what they
turn these by, and a 3x3 block: two thirds of what Jacobians of any rows would be to read and to multiply.
"""

import math

import numpy as np

from pliant.jit import formula, kernel
from pliant.kernels.cpu.sweep_groups import (
    AIM,
    BLOCK,
    FIRST,
    INVERSE,
    MASSES,
    NUMBERS,
    ROUGH,
    SECOND,
    SLOW,
    SOFT,
    STEPS,
    TURN_FIRST,
    TURN_SECOND,
    gather_contact,
    group_contacts,
)
from pliant.kernels.lanes import LANES

# Places of what is found for a group of contacts: what the velocities of both bodies change by (12), new impulses (3),
# the energy of the change, and what a normal row lacks in parts of what is slow.
NEW, ENERGY, LACK = 12, 15, 16
FOUND = 17
# The most momentum, part of the change by a pair of sweeps, that is carried on; how many times the least so far a pair
# changes where momentum does harm, as friction may make it do; and the part of the most with which it begins anew.
MOMENTUM, RUNAWAY, CALMER = 0.85, 3.0, 0.8


@formula
def _one(numbers, g, place, lane):
    """A number of a lane of group g, numbers (groups, places * LANES): lanes at constant distances vectorise."""
    return numbers[g, place * LANES + lane]


@formula
def _three(numbers, g, place, lane):
    """Three numbers of a lane of group g from a place on."""
    return _one(numbers, g, place, lane), _one(numbers, g, place + 1, lane), _one(numbers, g, place + 2, lane)


@formula
def _six(numbers, g, place, lane):
    """Six numbers of a lane of group g from a place on."""
    a, b = _three(numbers, g, place, lane), _three(numbers, g, place + 3, lane)
    return a[0], a[1], a[2], b[0], b[1], b[2]


@formula
def _write(out, place, lane, v):
    """Write three numbers of a lane, out (1, places * LANES), from a place on."""
    out[0, place * LANES + lane] = v[0]
    out[0, (place + 1) * LANES + lane] = v[1]
    out[0, (place + 2) * LANES + lane] = v[2]


@formula
def _stuck(inverse, lack, impulse):
    """Impulses with which a contact would stick; inverse: (00, 11, 22, 12, 02, 01)."""
    i00, i11, i22, i12, i02, i01 = inverse
    return (
        impulse[0] + i00 * lack[0] + i01 * lack[1] + i02 * lack[2],
        impulse[1] + i01 * lack[0] + i11 * lack[1] + i12 * lack[2],
        impulse[2] + i02 * lack[0] + i12 * lack[1] + i22 * lack[2],
    )


@formula
def _slid(block, steps, friction, lack, impulse, n, a, b):
    """One pass over the normal impulse n and the tangent ones a, b of a contact that slides or opens, which lacked
    something with the impulses that it had; block: (00, 11, 22, 12, 02, 01)."""
    d1, d2 = a - impulse[1], b - impulse[2]
    n = max(impulse[0] + (lack[0] - block[5] * d1 - block[4] * d2) * steps[0], 0.0)
    d0 = n - impulse[0]
    a += steps[1] * (lack[1] - block[5] * d0 - block[1] * d1 - block[3] * d2)
    b += steps[1] * (lack[2] - block[4] * d0 - block[3] * d1 - block[2] * d2)
    square, limit = a * a + b * b, friction * n
    size = math.sqrt(square)
    shrink = limit / size if size > limit else 1.0
    return n, a * shrink, b * shrink


@formula
def _touched(block, inverse, steps, friction, lack, impulse):
    """Impulses of a contact whose rates lack something with the impulses that it has: it opens, sticks or slides."""
    n, a, b = _slid(block, steps, friction, lack, impulse, impulse[0], impulse[1], impulse[2])
    stuck, first, second = _stuck(inverse, lack, impulse)
    limit = friction * stuck
    sticks = (inverse[0] > 0.0) & (limit > 0.0) & (first * first + second * second <= limit * limit)
    open_ = (impulse[0] == 0.0) & (lack[0] <= 0.0)
    n, a, b = (stuck if sticks else n), (first if sticks else a), (second if sticks else b)
    return (impulse[0] if open_ else n), (impulse[1] if open_ else a), (impulse[2] if open_ else b), open_


@formula
def _rate(own, g, place, lane, v, w, z):
    """The rate of the row whose direction is at a place, for the difference v of two bodies' velocities and their
    angular ones w and z."""
    i, j, k = _three(own, g, place, lane), _three(own, g, FIRST + place, lane), _three(own, g, SECOND + place, lane)
    a = i[0] * v[0] + i[1] * v[1] + i[2] * v[2]
    b = j[0] * w[0] + j[1] * w[1] + j[2] * w[2]
    return a + b + k[0] * z[0] + k[1] * z[1] + k[2] * z[2]


@formula
def _push(own, g, place, lane, d):
    """A sum of three triples of numbers from a place on."""
    i, j, k = _three(own, g, place, lane), _three(own, g, place + 3, lane), _three(own, g, place + 6, lane)
    return (
        i[0] * d[0] + j[0] * d[1] + k[0] * d[2],
        i[1] * d[0] + j[1] * d[1] + k[1] * d[2],
        i[2] * d[0] + j[2] * d[1] + k[2] * d[2],
    )


@kernel
def _meet(own, g, impulse, felt, found_out):
    """Meet the contacts of group g, whose bodies have velocities felt (1, 9 * LANES); found_out (1, FOUND * LANES)."""
    for lane in range(LANES):
        v, w, z = _three(felt, 0, 0, lane), _three(felt, 0, 3, lane), _three(felt, 0, 6, lane)
        now, aim, soft = _three(impulse, g, 0, lane), _three(own, g, AIM, lane), _three(own, g, SOFT, lane)
        lack = (
            aim[0] - _rate(own, g, 0, lane, v, w, z) - soft[0] * now[0],
            aim[1] - _rate(own, g, 3, lane, v, w, z) - soft[1] * now[1],
            aim[2] - _rate(own, g, 6, lane, v, w, z) - soft[2] * now[2],
        )
        block, inverse = _six(own, g, BLOCK, lane), _six(own, g, INVERSE, lane)
        steps = (_one(own, g, STEPS, lane), _one(own, g, STEPS + 1, lane))
        n, a, b, open_ = _touched(block, inverse, steps, _one(own, g, ROUGH, lane), lack, now)
        d = (n - now[0], a - now[1], b - now[2])
        push, first, second = _push(own, g, 0, lane, d), _one(own, g, MASSES, lane), _one(own, g, MASSES + 1, lane)
        _write(found_out, 0, lane, (first * push[0], first * push[1], first * push[2]))
        _write(found_out, 3, lane, _push(own, g, TURN_FIRST, lane, d))
        _write(found_out, 6, lane, (-second * push[0], -second * push[1], -second * push[2]))
        _write(found_out, 9, lane, _push(own, g, TURN_SECOND, lane, d))
        _write(found_out, NEW, lane, (n, a, b))
        found_out[0, ENERGY * LANES + lane] = d[0] * d[0] * block[0] + d[1] * d[1] * block[1] + d[2] * d[2] * block[2]
        found_out[0, LACK * LANES + lane] = 0.0 if open_ else lack[0] * _one(own, g, SLOW, lane)


@kernel
def _closing(own, g, impulse, felt):
    """How many contacts of group g have an impulse or close, with velocities felt (1, 9 * LANES) by their bodies."""
    count = 0.0
    for lane in range(LANES):
        v, w, z = _three(felt, 0, 0, lane), _three(felt, 0, 3, lane), _three(felt, 0, 6, lane)
        carried = _one(impulse, g, 0, lane)
        lack = _one(own, g, AIM, lane) - _rate(own, g, 0, lane, v, w, z) - _one(own, g, SOFT, lane) * carried
        count += 1.0 if (carried != 0.0) | (lack > 0.0) else 0.0
    return count


@formula
def _feel(ends, g, u, felt_out):
    """The velocities that the contacts of group g feel, of u (bodies + 1, 6): the difference of their bodies' linear
    ones, and both angular ones, felt_out (1, 9 * LANES)."""
    for lane in range(LANES):
        s, t = ends[g, 0, lane], ends[g, 1, lane]
        for c in range(3):
            felt_out[0, c * LANES + lane] = u[s, c] - u[t, c]
            felt_out[0, (3 + c) * LANES + lane], felt_out[0, (6 + c) * LANES + lane] = u[s, 3 + c], u[t, 3 + c]


@kernel
def _sweep(order, loaded, ends, own, impulse_inout, u_inout, felt, found):
    """One pass over all groups; the square of what changed, as an energy [J], and the largest speed that a normal row
    lacked in parts of what is slow. Of groups after those that were loaded at first, most have no contact that closes.
    u_inout (bodies + 1, 6): linear and angular velocities; felt (1, 9 * LANES), found (1, FOUND * LANES): room."""
    moved, worst, count = 0.0, 0.0, own.shape[0]
    for turn in range(count):
        g = turn if order > 0 else count - 1 - turn
        _feel(ends, g, u_inout, felt)
        if g >= loaded and _closing(own, g, impulse_inout, felt) == 0.0:
            continue
        _meet(own, g, impulse_inout, felt, found)
        for lane in range(LANES):
            s, t = ends[g, 0, lane], ends[g, 1, lane]
            for c in range(6):
                u_inout[s, c] += found[0, c * LANES + lane]
                u_inout[t, c] += found[0, (6 + c) * LANES + lane]
            moved += found[0, ENERGY * LANES + lane]
            worst = max(worst, found[0, LACK * LANES + lane])
        for i in range(3 * LANES):
            impulse_inout[g, i] = found[0, NEW * LANES + i]
    return moved, worst


@kernel
def _lacking(ends, own, impulse, u, felt):
    """The largest speed that a normal row lacks with velocities u (bodies + 1, 6), in parts of what is slow; felt
    (1, 9 * LANES): room."""
    worst = 0.0
    for g in range(own.shape[0]):
        _feel(ends, g, u, felt)
        for lane in range(LANES):
            v, w, z = _three(felt, 0, 0, lane), _three(felt, 0, 3, lane), _three(felt, 0, 6, lane)
            lack = _one(own, g, AIM, lane) - _rate(own, g, 0, lane, v, w, z)
            lack -= _one(own, g, SOFT, lane) * _one(impulse, g, 0, lane)
            worst = max(worst, lack * _one(own, g, SLOW, lane))
    return worst


@kernel
def _kick(own, ends, impulse, group, lane, u_inout):
    """Change velocities (bodies + 1, 6) by the impulses of a contact."""
    d = _three(impulse, group, 0, lane)
    push, s, t = _push(own, group, 0, lane, d), ends[group, 0, lane], ends[group, 1, lane]
    turn, other = _push(own, group, TURN_FIRST, lane, d), _push(own, group, TURN_SECOND, lane, d)
    for c in range(3):
        u_inout[s, c] += _one(own, group, MASSES, lane) * push[c]
        u_inout[t, c] -= _one(own, group, MASSES + 1, lane) * push[c]
        u_inout[s, 3 + c] += turn[c]
        u_inout[t, 3 + c] += other[c]


@kernel
def _go_on(momentum, before_inout, now_inout):
    """From `now` on by a part of the change from `before`, which becomes what `now` was."""
    for i in range(now_inout.size):
        now, before = now_inout[i], before_inout[i]
        now_inout[i], before_inout[i] = now + momentum * (now - before), now


@kernel
def _accelerated(loaded, ends, own, least, most, tolerance, impulse_inout, u_inout):
    """Sweeps forth and back, accelerated by momentum, until one changes no more than `tolerance` [J] and no normal row
    lacks more than what is slow where it leads, at least and at most so many; how many, what the last one changed, and
    the most that a row lacked in parts of what is slow."""
    impulse_before, u_before = impulse_inout.copy(), u_inout.copy()
    felt, found = np.zeros((1, 9 * LANES)), np.zeros((1, FOUND * LANES))
    forth, lowest, age, largest = np.inf, np.inf, 1.0, MOMENTUM
    moved, worst, sweeps, done = np.inf, np.inf, 0, False
    while sweeps < most and not done:
        back, before = sweeps % 2 == 1, worst
        moved, worst = _sweep(-1 if back else 1, loaded, ends, own, impulse_inout, u_inout, felt, found)
        sweeps += 1
        done = not moved > 0.0 or (sweeps >= least and moved <= tolerance and max(worst, before) <= 1.0)
        # what others take from a contact that was met before them may be given back before it is met again, for ever
        if done and worst > 0.0:
            worst = _lacking(ends, own, impulse_inout, u_inout, felt)
            done = worst <= 1.0
        if back and sweeps < most and not done:
            if forth + moved > RUNAWAY * lowest:
                age, largest, lowest = 1.0, CALMER * largest, np.inf
            older = 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * age * age))
            momentum, age, lowest = min((age - 1.0) / older, largest), older, min(forth + moved, lowest)
            _go_on(momentum, impulse_before.reshape(-1), impulse_inout.reshape(-1))
            _go_on(momentum, u_before.reshape(-1), u_inout.reshape(-1))
        forth = moved
    return sweeps, moved, worst


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
    than what is slow (slices, LANES) [m/s], but at least `least` and at most `most` of them; returns how many, what the
    last one changed [J], and the most that a row lacks in parts of what is slow.

    impulse_inout (slices, 3, LANES); u_inout (triples, 3): velocities without impulses, then with them.
    mobility_out (slices, LANES): what normal impulses move.
    """
    slices, triple_count = start.shape[0] - 1, u_inout.shape[0]
    group, place = np.empty((slices, LANES), np.int64), np.zeros((slices, LANES), np.int64)
    both, one = np.empty((slices, LANES, 2), np.int64), np.empty(NUMBERS)
    loaded, count = group_contacts(start, triples, impulse_inout, triple_count, group, place, both)
    own, impulse = np.zeros((count, NUMBERS * LANES)), np.zeros((count, 3 * LANES))
    # linear and angular velocities; bodies that do not move, behind the others, stay at rest
    ends, u = np.full((count, 2, LANES), np.uint64(triple_count // 2)), np.zeros((triple_count // 2 + 1, 6))
    for i in range(triple_count):
        for c in range(3):
            u[i // 2, 3 * (i % 2) + c] = u_inout[i, c]
    for s in range(slices):
        for lane in range(LANES):
            g, k = group[s, lane], place[s, lane]
            mobility_out[s, lane] = 0.0
            if g < 0:
                continue
            gather_contact(start, triples, jacobian, inverse_mass, compliance, friction, s, lane, one)
            mobility_out[s, lane] = one[BLOCK]
            if not one[BLOCK] > 0.0:
                continue
            for side in range(2):
                ends[g, side, k] = both[s, lane, side] // 2
            one[SLOW] = 1.0 / slow[s, lane]
            for row in range(3):
                one[AIM + row], impulse[g, row * LANES + k] = target[s, row, lane], impulse_inout[s, row, lane]
            for i in range(NUMBERS):
                own[g, i * LANES + k] = one[i]
            _kick(own, ends, impulse, g, k, u)
    sweeps, moved, worst = _accelerated(loaded, ends, own, least, most, tolerance, impulse, u)
    for s in range(slices):
        for lane in range(LANES):
            if mobility_out[s, lane] > 0.0:
                for row in range(3):
                    impulse_inout[s, row, lane] = impulse[group[s, lane], row * LANES + place[s, lane]]
    for i in range(triple_count):
        for c in range(3):
            u_inout[i, c] = u[i // 2, 3 * (i % 2) + c]
    return sweeps, moved, worst
