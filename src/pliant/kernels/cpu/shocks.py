"""What sweeps over contacts have not stopped, stopped body by body from below (shock propagation: Guendelman, Bridson
and Fedkiw 2003, "Nonconvex rigid bodies with stacking").

A body gives way to those below it, which are as they will be; what it pushes them with then is not passed on to them in
this step, but in the next one, which begins with the impulses found.
"""

import numpy as np

from pliant.jit import kernel
from pliant.kernels.cpu.sweep_groups import symmetric_times
from pliant.kernels.lanes import LANES

# Passes over the contacts of a body, and by how much of what they lacked at first contacts may lack in the end.
PASSES, LEFT = 12, 0.2


@kernel
def _upper(triples, start, s, lane, rank, side_out):
    """The body of a contact that gives way, and its side, side_out (1,): of two that move the one of higher rank; -1
    for none."""
    body = -1
    for side in range((start[s + 1] - start[s]) // 2):
        entry = start[s] + 2 * side
        triple = triples[entry, lane]
        if triple == triples[entry + 1, lane] or rank[triple // 2] < 0:
            continue
        if body < 0 or rank[triple // 2] > rank[body]:
            body, side_out[0] = triple // 2, side
    return body


@kernel
def _normal_rate(start, triples, jacobian, u, s, lane):
    """The rate of a contact's normal row."""
    rate = 0.0
    for entry in range(start[s], start[s + 1]):
        triple = triples[entry, lane]
        for c in range(3):
            rate += jacobian[entry, c, lane] * u[triple, c]
    return rate


@kernel
def _response(jacobian, inverse_mass, entry, lane, triple):
    """What a normal impulse of 1 N s on one side changes the velocities of a body by (2, 3)."""
    a = symmetric_times(
        inverse_mass[triple], jacobian[entry, 0, lane], jacobian[entry, 1, lane], jacobian[entry, 2, lane]
    )
    b = symmetric_times(
        inverse_mass[triple + 1],
        jacobian[entry + 1, 0, lane],
        jacobian[entry + 1, 1, lane],
        jacobian[entry + 1, 2, lane],
    )
    return a, b


@kernel
def _give_way(start, triples, jacobian, least, slow, inverse_mass, places, sides, pushed, impulse_inout, u_inout):
    """Let a body give way by its contacts at places (k,), and sides (k,) of these that it is; pushed (k,): room."""
    worst = 0.0
    for turn in range(PASSES):
        worst = 0.0
        for k in range(len(places)):
            s, lane = places[k] // LANES, places[k] % LANES
            if turn == 0:
                pushed[k] = 0.0
            lack = least[s, lane] - _normal_rate(start, triples, jacobian, u_inout, s, lane)
            if pushed[k] == 0.0 and lack <= slow[s, lane]:
                continue
            worst = max(worst, lack / slow[s, lane])
            entry = start[s] + 2 * sides[k]
            triple = triples[entry, lane]
            a, b = _response(jacobian, inverse_mass, entry, lane, triple)
            felt = 0.0
            for c in range(3):
                felt += jacobian[entry, c, lane] * a[c] + jacobian[entry + 1, c, lane] * b[c]
            if not felt > 0.0:
                continue
            change = max(pushed[k] + lack / felt, 0.0) - pushed[k]
            pushed[k] += change
            impulse_inout[s, 0, lane] += change
            for c in range(3):
                u_inout[triple, c] += change * a[c]
                u_inout[triple + 1, c] += change * b[c]
        if worst <= 1.0 + LEFT:
            break


@kernel
def stop_shocks(start, triples, jacobian, least, slow, inverse_mass, rank, impulse_inout, u_inout):
    """Stop normal rates below the least (slices, LANES) [m/s] by more than what is slow (slices, LANES) [m/s], infinite
    where there is no contact, from below: rank (bodies,), -1 for those that do not move.

    impulse_inout (slices, 3, LANES), u_inout (triples, 3): impulses and velocities so far.
    """
    slices, count = start.shape[0] - 1, len(rank)
    first, side = np.zeros(count + 2, np.int64), np.zeros(1, np.int64)
    body = np.full(slices * LANES, -1)
    own_side = np.zeros(slices * LANES, np.int64)
    for p in range(slices * LANES):
        s, lane = p // LANES, p % LANES
        if slow[s, lane] == np.inf:
            continue
        body[p] = _upper(triples, start, s, lane, rank, side)
        own_side[p] = side[0]
        if body[p] >= 0:
            first[rank[body[p]] + 2] += 1
    for r in range(count + 1):
        first[r + 1] += first[r]
    places, sides = np.empty(first[count + 1], np.int64), np.empty(first[count + 1], np.int64)
    for p in range(slices * LANES):
        if body[p] >= 0:
            r = rank[body[p]] + 1
            places[first[r]], sides[first[r]] = p, own_side[p]
            first[r] += 1
    pushed = np.empty(len(places))
    rows = (start, triples, jacobian, least, slow, inverse_mass)
    for r in range(count):
        low, high = first[r], first[r + 1]
        if low < high:
            _give_way(*rows, places[low:high], sides[low:high], pushed[low:high], impulse_inout, u_inout)
