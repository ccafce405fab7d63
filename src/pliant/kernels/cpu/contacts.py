"""Loops that fill the rows of contacts, and find their impulses again."""

import math

import numpy as np

from pliant.formulas.contact import contact_target
from pliant.formulas.joints import cross_matrix, tangent_frame
from pliant.formulas.matrix3 import add, dot, multiply, norm, scale, subtract
from pliant.jit import kernel
from pliant.kernels.lanes import LANES


@kernel
def contact_forces(normal, impulse, out):
    """Impulses (k, 3) along normals and tangents in world axes, out (k, 3)."""
    for k in range(normal.shape[0]):
        n = (normal[k, 0], normal[k, 1], normal[k, 2])
        t1, t2 = tangent_frame(n)
        for c in range(3):
            out[k, c] = impulse[k, 0] * n[c] + impulse[k, 1] * t1[c] + impulse[k, 2] * t2[c]


@kernel
def turn_impulses(known, normal_then, impulse_then, normal_now, index, out):
    """Impulses (k, 3) of contacts that are known (k,), along normals and tangents that there were, along those that
    there are, into out (rows,) at the places (k,) of their normal rows: tangents, which follow normals, may jump."""
    for k in range(known.shape[0]):
        if not known[k]:
            continue
        first, second = tangent_frame((normal_then[k, 0], normal_then[k, 1], normal_then[k, 2]))
        rubbing = add(scale(impulse_then[k, 1], first), scale(impulse_then[k, 2], second))
        first, second = tangent_frame((normal_now[k, 0], normal_now[k, 1], normal_now[k, 2]))
        out[index[k]] = impulse_then[k, 0]
        out[index[k] + LANES], out[index[k] + 2 * LANES] = dot(rubbing, first), dot(rubbing, second)


@kernel
def push_out(which, node, weight, normal, index, target, rate, out):
    """What velocities of nodes (n, 3) lack for the rates of contacts, of which `which` (k,) are of nodes with solids,
    whose normal rows are at index (c,). Of several of a node those of triangles count before its own, which are deeper
    and would push it further than its neighbours; of these that which lacks most, the last of those that lack as
    much."""
    flat_target, flat_rate = target.reshape(-1), rate.reshape(-1)
    for c in range(3):
        most = np.zeros(out.shape[0])
        for place in range(which.shape[0]):
            k = which[place]
            i, lack = node[k, c], flat_target[index[k]] - flat_rate[index[k]]
            if weight[k, c] > 0.0 and lack > 0.0 and lack >= most[i]:
                square = weight[k, 0] ** 2 + weight[k, 1] ** 2 + weight[k, 2] ** 2
                most[i], share = lack, lack / square * weight[k, c]
                out[i, 0], out[i, 1], out[i, 2] = share * normal[k, 0], share * normal[k, 1], share * normal[k, 2]


@kernel
def _shift(old, new):
    """The way (3,) from the middle of points (m, 3) to that of as many others; none where there are more or fewer."""
    if old.shape[0] != new.shape[0]:
        return 0.0, 0.0, 0.0
    share = 1.0 / new.shape[0]
    return (
        share * (new[:, 0].sum() - old[:, 0].sum()),
        share * (new[:, 1].sum() - old[:, 1].sum()),
        share * (new[:, 2].sum() - old[:, 2].sum()),
    )


@kernel
def _match_nearest(old, new, first, out):
    """Of points (m, 3) and others (k, 3) match again and again the two that are nearest: `first` plus the number of the
    one matched with each of the others, out (k,), -1 where none is left."""
    shift, taken = _shift(old, new), np.zeros(old.shape[0], np.bool_)
    out[:] = -1
    for _ in range(min(old.shape[0], new.shape[0])):
        nearest, i_best, j_best = np.inf, 0, 0
        for i in range(old.shape[0]):
            for j in range(new.shape[0]):
                if taken[i] or out[j] >= 0:
                    continue
                x, y, z = (
                    new[j, 0] - old[i, 0] - shift[0],
                    new[j, 1] - old[i, 1] - shift[1],
                    new[j, 2] - old[i, 2] - shift[2],
                )
                if x * x + y * y + z * z < nearest:
                    nearest, i_best, j_best = x * x + y * y + z * z, i, j
        taken[i_best], out[j_best] = True, first + i_best


@kernel
def match_points(old_pair, old, new_pair, new, out):
    """Match points (m, 3) with others (k, 3) of the same pair, pairs (m,), (k,) in order: which one each of the others
    goes on for, out (k,), -1 for none."""
    i, j = 0, 0
    while j < new.shape[0]:
        pair, until = new_pair[j], j
        while until < new.shape[0] and new_pair[until] == pair:
            until += 1
        while i < old.shape[0] and old_pair[i] < pair:
            i += 1
        stop = i
        while stop < old.shape[0] and old_pair[stop] == pair:
            stop += 1
        _match_nearest(old[i:stop], new[j:until], i, out[j:until])
        i, j = stop, until


@kernel
def _along(directions, triple, velocity):
    """The first direction of a block (9) on the velocity of a triple."""
    return (
        directions[0] * velocity[triple, 0] + directions[1] * velocity[triple, 1] + directions[2] * velocity[triple, 2]
    )


@kernel
def _store(directions, sign, triple, entry, lane, triples, jacobian):
    """Writes sign times a block (9) on one triple."""
    triples[entry, lane] = triple
    for c in range(9):
        jacobian[entry, c, lane] = sign * directions[c]


@kernel
def _place(centre, k, side):
    return centre[k, side, 0], centre[k, side, 1], centre[k, side, 2]


@kernel
def _row(a, i):
    return a[i, 0], a[i, 1], a[i, 2]


@kernel
def _piece_shares(point, origin, half, here, behind, before, share, own):
    """How the point that is touched of a piece moves: shares in the line from share[own, 0] of the way to `behind` to
    share[own, 1] of that to `before`; in the way from there to its point, by a part of which it is moved towards it;
    that part, and that way."""
    to_behind = scale(share[own, 0], subtract(behind, here))
    to_before = scale(share[own, 1], subtract(before, here))
    along, middle = subtract(to_before, to_behind), scale(0.5, add(to_before, to_behind))
    square = max(dot(along, along), 1e-300)
    reach = half / math.sqrt(square)
    at = 0.5 + min(max(dot(subtract(point, origin), along) / square, -reach), reach)
    beside = min(max(-dot(to_behind, along) / square, 0.0), 1.0)  # where on the line the point is
    off = scale(-1.0, add(to_behind, scale(beside, along)))  # from there to the point
    part, way = 1.0, dot(off, off)
    if way > 1e-12 * square:
        part = min(max(dot(subtract(subtract(origin, here), middle), off) / way, 0.0), 1.0)
    on_line = ((1.0 - at) * share[own, 0], at * share[own, 1])
    return on_line, (-(1.0 - beside) * share[own, 0], -beside * share[own, 1]), part, off


@kernel
def find_ends(
    body, point, place, share, far, immobile, position, origin, half, ends_out, part_out, bend_out, off_out, centre_out
):  # fmt: skip
    """Rigid bodies ends_out (k, 2, m) that move the points (k, 3) touched of bodies (k, 2) at positions (b, 3), -1 for
    those that are immobile (b,), by what parts of their motion, and by what parts of that without what is along off_out
    (k, 2, 3), times its square; and places centre_out (k, 2, 3) about which they turn them.

    A body by itself moves all of it. A point of a rod, with a `place` (b,) among pieces, at origins (b, 3) and so long
    to both sides, half (p,) [m], that reach by shares (p, 2) into segments to the bodies far (p, 2), moves what is
    touched of its piece together with these, as the piece follows them, whatever frames do, and turns it about the line
    on which the piece lies. Moved towards its point by w / (1 + w^2 / m^2)^(1/2) of a way w, it follows changes of w by
    that part c, along w by c^3: c (1 - (1 - c^2) w w^T / w^2).
    """
    for k in range(len(body)):
        for side in range(2):
            b = body[k, side]
            if b < 0:
                continue
            here, own = _row(position, b), (place[b] if b < len(place) else np.int64(-1))
            centre = here
            ends_out[k, side, 0], part_out[k, side, 0] = (np.int64(-1) if immobile[b] else b), 1.0
            if own >= 0:
                behind, before = _row(position, far[own, 0]), _row(position, far[own, 1])
                given = (_row(point, k), _row(origin, b), half[own], here, behind, before)
                line, way, part, off = _piece_shares(*given, share, own)
                lost = math.sqrt(max(1.0 - part * part, 0.0)) / max(norm(off), 1e-300)
                off_out[k, side, 0], off_out[k, side, 1], off_out[k, side, 2] = scale(lost, off)
                for end in range(2):
                    other, there = far[own, end], before if end else behind
                    part_out[k, side, 0] -= line[end]
                    bend_out[k, side, 0] -= part * way[end]
                    centre = add(centre, scale(line[end] + part * way[end], subtract(there, here)))
                    if share[own, end] != 0.0:
                        part_out[k, side, 1 + end], bend_out[k, side, 1 + end] = line[end], part * way[end]
                        ends_out[k, side, 1 + end] = np.int64(-1) if immobile[other] else other
            centre_out[k, side, 0], centre_out[k, side, 1], centre_out[k, side, 2] = centre


@kernel
def _across(directions, off):
    """Directions (9) less what they have of a vector: d - (d . off) off, each."""
    a = directions[0] * off[0] + directions[1] * off[1] + directions[2] * off[2]
    b = directions[3] * off[0] + directions[4] * off[1] + directions[5] * off[2]
    c = directions[6] * off[0] + directions[7] * off[1] + directions[8] * off[2]
    return (
        directions[0] - a * off[0], directions[1] - a * off[1], directions[2] - a * off[2],
        directions[3] - b * off[0], directions[4] - b * off[1], directions[5] - b * off[2],
        directions[6] - c * off[0], directions[7] - c * off[1], directions[8] - c * off[2],
    )  # fmt: skip


@kernel
def _blend(a, x, b, y):
    """a x + b y of two blocks (9)."""
    return (
        a * x[0] + b * y[0], a * x[1] + b * y[1], a * x[2] + b * y[2],
        a * x[3] + b * y[3], a * x[4] + b * y[4], a * x[5] + b * y[5],
        a * x[6] + b * y[6], a * x[7] + b * y[7], a * x[8] + b * y[8],
    )  # fmt: skip


@kernel
def fill_contacts(
    node,
    weight,
    ends,
    part,
    bend,
    off,
    centre,
    point,
    normal,
    gap,
    allowed,
    friction,
    restitution,
    threshold,
    passed,
    u_before,
    u_at,
    node_count,
    h,
    start,
    slice_,
    lane_,
    triples,
    jacobian,
    target,
    low,
    high,
    friction_out,
):
    """Jacobian, target and bounds of every contact block.

    node, weight (k, 4): nodes of both sides and their shares, negative on the second side; ends, part, bend, off,
    centre: rigid bodies of the sides, see `find_ends`. gap (k,) [m] is that at the velocities u_at, allowed (k,) the
    one with which the step may end. passed (k,) [m/s]: speeds with which contacts end impacts that are passed on, no
    number where Newton's law of the contact alone counts.
    """
    for k in range(node.shape[0]):
        s, lane = slice_[k], lane_[k]
        n = (normal[k, 0], normal[k, 1], normal[k, 2])
        t1, t2 = tangent_frame(n)
        directions = (n[0], n[1], n[2], t1[0], t1[1], t1[2], t2[0], t2[1], t2[2])
        entry, before, rate = start[s], 0.0, 0.0
        for j in range(4):
            if node[k, j] >= 0 and weight[k, j] != 0.0:
                _store(directions, weight[k, j], node[k, j], entry, lane, triples, jacobian)
                before += weight[k, j] * _along(directions, node[k, j], u_before)
                rate += weight[k, j] * _along(directions, node[k, j], u_at)
                entry += 1
        for side in range(2):
            arm = subtract((point[k, 0], point[k, 1], point[k, 2]), _place(centre, k, side))
            turned = multiply(directions, cross_matrix(arm))
            across = _across(directions, _place(off, k, side))
            for end in range(ends.shape[2]):
                if ends[k, side, end] < 0:
                    continue
                sign, triple = 1.0 - 2.0 * side, node_count + 2 * ends[k, side, end]
                pushed = _blend(part[k, side, end], directions, bend[k, side, end], across)
                _store(pushed, sign, triple, entry, lane, triples, jacobian)
                _store(turned, -sign * part[k, side, end], triple + 1, entry + 1, lane, triples, jacobian)
                turning = part[k, side, end] * _along(turned, triple + 1, u_before)
                before += sign * (_along(pushed, triple, u_before) - turning)
                turning = part[k, side, end] * _along(turned, triple + 1, u_at)
                rate += sign * (_along(pushed, triple, u_at) - turning)
                entry += 2
        own = restitution[k] if passed[k] != passed[k] else 0.0
        target[s, 0, lane] = contact_target(gap[k], allowed[k], rate, before, own, threshold, h)
        if passed[k] > target[s, 0, lane]:
            target[s, 0, lane] = passed[k]
        low[s, 0, lane] = 0.0
        low[s, 1, lane], high[s, 1, lane], low[s, 2, lane], high[s, 2, lane] = 0.0, 0.0, 0.0, 0.0
        friction_out[s, lane] = friction[k]
