"""Which pairs may touch at all: what things say of each other, boxes around whole things, pairs found before."""

import math

import numpy as np

from pliant.formulas.matrix3 import cross, dot, positive_inverse, subtract, symmetric_multiply_vector
from pliant.jit import kernel
from pliant.kernels.cpu.search import first_not_below

# Pivots below this part of their diagonal number are rounding.
LEAST_PIVOT = 1e-12


@kernel
def _has(keys, key):
    """Whether a key is among sorted keys."""
    place = first_not_below(keys, 0, len(keys), key)
    return place < len(keys) and keys[place] == key


@kernel
def _accept(manners, a, b):
    """Whether two different things may touch."""
    if not (manners.collides[a] and manners.collides[b]) or (manners.still[a] and manners.still[b]):
        return False
    if (manners.group[a] & manners.mask[b]) == 0 or (manners.group[b] & manners.mask[a]) == 0:
        return False
    if manners.family[a] == manners.family[b] and manners.family[a] >= 0:
        return False
    return not _has(manners.excluded, min(a, b) * len(manners.collides) + max(a, b))


@kernel
def may_touch(manners, a, b, out):
    """Whether pairs of different things a, b (k,) may touch, out (k,) bool."""
    for k in range(len(a)):
        out[k] = _accept(manners, a[k], b[k])


@kernel
def _may_part(manners, members, i, thing, loose, other):
    """Whether primitive i of members (m, 1 to 3) and a thing may touch, and something can part them: nothing parts what
    is held still from what stays."""
    if not _accept(manners, thing[members[i, 0]], other):
        return False
    moves = not manners.still[other]
    for j in range(members.shape[1]):
        moves = moves or loose[members[i, j]]
    return moves


@kernel
def keys_of_pairs(manners, pairs, members, convex, thing, loose, soft_count, body_count, keys_out):
    """Keys primitive * body_count + body of the pairs (k, 2) of primitives with nodes members (m, 1 to 3) and entries
    of `convex` that may touch; how many. Nothing can part what is held still from a body that stays."""
    count = 0
    for k in range(len(pairs)):
        primitive, body = pairs[k, 0], convex[pairs[k, 1]]
        if _may_part(manners, members, primitive, thing, loose, soft_count + body):
            keys_out[count] = primitive * body_count + body
            count += 1
    return count


@kernel
def points_at_planes(manners, x, points, wide, thing, loose, soft_count, planes, normals, heights, pairs_out):
    """Pairs (k, 2) of points (m, 1) and of planes (p,), with normals (p, 3) and heights (p,) [m] along them, that may
    touch and are within `wide` (n,) [m] of each other, or behind; how many."""
    count = 0
    for i in range(len(points)):
        v = points[i, 0]
        for j in range(len(planes)):
            height = x[v, 0] * normals[j, 0] + x[v, 1] * normals[j, 1] + x[v, 2] * normals[j, 2]
            close = height - heights[j] <= wide[v]
            if close and _may_part(manners, points, i, thing, loose, soft_count + planes[j]):
                pairs_out[count, 0], pairs_out[count, 1] = v, planes[j]
                count += 1
    return count


@kernel
def members_near(manners, x, y, wide, members, thing, loose, soft_count, low, high, bodies, pairs_out):
    """Pairs (k, 2) of primitives, with nodes members (m, 1 to 3) that go from x to y (n, 3), wider by wide (n,) [m],
    and bodies (b,), ascending, with boxes low, high (all bodies, 3) [m], that overlap and may touch; sorted, points by
    their own numbers. How many there are, though no more are written than there is room."""
    count, width = 0, members.shape[1]
    own_low, own_high = np.empty(3), np.empty(3)
    for i in range(len(members)):
        most = wide[members[i, 0]]
        for j in range(1, width):
            most = max(most, wide[members[i, j]])
        for c in range(3):
            lowest, highest = math.inf, -math.inf
            for j in range(width):
                n = members[i, j]
                lowest, highest = min(lowest, x[n, c], y[n, c]), max(highest, x[n, c], y[n, c])
            own_low[c], own_high[c] = lowest - most, highest + most
        for j in range(len(bodies)):
            b = bodies[j]
            meet = own_low[0] <= high[b, 0] and low[b, 0] <= own_high[0]
            meet = meet and own_low[1] <= high[b, 1] and low[b, 1] <= own_high[1]
            meet = meet and own_low[2] <= high[b, 2] and low[b, 2] <= own_high[2]
            if meet and _may_part(manners, members, i, thing, loose, soft_count + b):
                if count < len(pairs_out):
                    pairs_out[count, 0], pairs_out[count, 1] = members[i, 0] if width == 1 else i, b
                count += 1
    return count


@kernel
def _planes_near(manners, low, high, bodies, soft_count, planes, normals, heights, count, pairs_out):
    """Pairs, after `count` others, of bodies with planes, as `bodies_near` has them; how many there are then."""
    for k in range(len(planes)):
        for i in range(len(bodies)):
            a, deepest = bodies[i], 0.0
            for c in range(3):
                deepest += normals[k, c] * (low[a, c] if normals[k, c] > 0.0 else high[a, c])
            if deepest <= heights[k] and _accept(manners, soft_count + a, soft_count + planes[k]):
                pairs_out[count, 0], pairs_out[count, 1] = a, planes[k]
                count += 1
    return count


@kernel
def planes_near(manners, low, high, bodies, soft_count, planes, normals, heights, pairs_out):
    """Pairs (k, 2) of bodies (b,), ascending, with planes (p,), of normals (p, 3) and heights (p,) [m], that their
    boxes low, high (all bodies, 3) [m] reach; sorted by planes. How many."""
    return _planes_near(manners, low, high, bodies, soft_count, planes, normals, heights, 0, pairs_out)


@kernel
def _meet(low, high, a, b):
    """Whether boxes a and b of low, high (n, 3) have points in common."""
    below = (low[a, 0] <= high[b, 0]) & (low[a, 1] <= high[b, 1]) & (low[a, 2] <= high[b, 2])
    return below & (low[b, 0] <= high[a, 0]) & (low[b, 1] <= high[a, 1]) & (low[b, 2] <= high[a, 2])


@kernel
def boxes_leaving(bodies, low, high, outer_low, outer_high, out):
    """Which of the bodies (b,) have boxes low, high (n, 3) that do not lie within others, out (b,), in order; how many.
    What is no number does not."""
    count = 0
    for i in range(len(bodies)):
        b, within = bodies[i], True
        for c in range(3):
            within = within and low[b, c] >= outer_low[b, c] and high[b, c] <= outer_high[b, c]
        if not within:
            out[count] = b
            count += 1
    return count


@kernel
def pairs_of(manners, some, bodies, soft_count, low, high, among, pairs_out):
    """Pairs (k, 2), in ascending order of their members, of some bodies (s,), which `among` (n,) tells, with others of
    bodies (b,) that may touch and whose boxes low, high (n, 3) overlap. How many there are, though no more are written
    than there is room."""
    count = 0
    for i in range(len(some)):
        for j in range(len(bodies)):
            a, b = some[i], bodies[j]
            if a == b or (among[b] and b < a) or not _meet(low, high, a, b):
                continue
            if _accept(manners, soft_count + a, soft_count + b):
                if count < len(pairs_out):
                    pairs_out[count, 0], pairs_out[count, 1] = min(a, b), max(a, b)
                count += 1
    return count


@kernel
def without_these(pairs, among, pairs_out):
    """The pairs (k, 2) of which no member is among some (n,), in their order; how many."""
    count = 0
    for k in range(len(pairs)):
        if not (among[pairs[k, 0]] or among[pairs[k, 1]]):
            pairs_out[count, 0], pairs_out[count, 1] = pairs[k, 0], pairs[k, 1]
            count += 1
    return count


@kernel
def overlapping_of(pairs, low, high, pairs_out):
    """Those of the pairs (k, 2) whose boxes low, high (n, 3) overlap, in their order; how many."""
    count = 0
    for k in range(len(pairs)):
        a, b = pairs[k, 0], pairs[k, 1]
        if _meet(low, high, a, b):
            pairs_out[count, 0], pairs_out[count, 1] = a, b
            count += 1
    return count


@kernel
def bodies_near(manners, low, high, bodies, soft_count, planes, normals, heights, pairs_out):
    """Pairs (k, 2) of bodies (b,), ascending, with boxes low, high (all bodies, 3) [m], that overlap and may touch;
    then with planes (p,), of normals (p, 3) and heights (p,) [m], that boxes reach; each sorted. How many."""
    count = 0
    for i in range(len(bodies)):
        a = bodies[i]
        for j in range(i + 1, len(bodies)):
            b = bodies[j]
            if _meet(low, high, a, b) and _accept(manners, soft_count + a, soft_count + b):
                pairs_out[count, 0], pairs_out[count, 1] = a, b
                count += 1
    return _planes_near(manners, low, high, bodies, soft_count, planes, normals, heights, count, pairs_out)


@kernel
def _in_order(pairs, side, count, pairs_out):
    """The pairs (k, 2) in ascending order of one of their members, below count; others of the same stay in order."""
    first = np.zeros(count + 1, np.int64)
    for k in range(len(pairs)):
        first[pairs[k, side] + 1] += 1
    for i in range(count):
        first[i + 1] += first[i]
    for k in range(len(pairs)):
        place = first[pairs[k, side]]
        pairs_out[place, 0], pairs_out[place, 1] = pairs[k, 0], pairs[k, 1]
        first[pairs[k, side]] += 1


@kernel
def bodies_in_order(manners, near, bodies, soft_count, pairs_out):
    """The pairs of bodies (b,), ascending, that may touch, of pairs near (k, 2) of entries of `bodies`, first before
    second, in any order; sorted. How many."""
    half, whole = np.empty_like(near), np.empty_like(near)
    _in_order(near, 1, len(bodies), half)
    _in_order(half, 0, len(bodies), whole)
    count = 0
    for k in range(len(whole)):
        a, b = bodies[whole[k, 0]], bodies[whole[k, 1]]
        if _accept(manners, soft_count + a, soft_count + b):
            pairs_out[count, 0], pairs_out[count, 1] = a, b
            count += 1
    return count


@kernel
def plane_times(manners, start, end, bodies, radius, soft_count, planes, times_inout):
    """Lowers times (all bodies,) to the part of their way that bodies (b,) may go before their cores, as deep as their
    radii (all bodies,) [m], are below planes (p,), about. start, end: boxes low, high (all bodies, 3) [m], normals
    (p, 3) and heights (p,) [m] at the start and at the end."""
    for k in range(len(planes)):
        for i in range(len(bodies)):
            b, first, last = bodies[i], -start[3][k], -end[3][k]
            for c in range(3):
                first += start[2][k, c] * (start[0][b, c] if start[2][k, c] > 0.0 else start[1][b, c])
                last += end[2][k, c] * (end[0][b, c] if end[2][k, c] > 0.0 else end[1][b, c])
            if first > -radius[b] and last < -radius[b] and _accept(manners, soft_count + b, soft_count + planes[k]):
                times_inout[b] = min(times_inout[b], (first + radius[b]) / max(first - last, 1e-300))


@kernel
def leave_near(start, end, margin, new_start, new_end, new_margin, out):
    """Which points' ways from new_start to new_end (n, 3) do not stay so close to those from start to end that points
    within the new margins (n,) [m] of them are within the old margins of these, out (n,) bool; how many.

    A point of a way is no further from the other way than the ends of both are from each other. Points with a margin
    of minus infinity are near nothing.
    """
    count = 0
    for i in range(len(margin)):
        left = margin[i] - new_margin[i]
        a = b = 0.0
        for c in range(3):
            a += (new_start[i, c] - start[i, c]) ** 2
            b += (new_end[i, c] - end[i, c]) ** 2
        stays = new_margin[i] == -math.inf or (left >= 0.0 and max(a, b) <= left * left)
        out[i] = not stays
        count += not stays
    return count


@kernel
def boxes_of_things(x, y, wide, vertices, starts, low_out, high_out):
    """Boxes (t, 3) of things, whose points vertices[starts[t] : starts[t + 1]] go from x to y (p, 3) [m], wider by
    wide (p,) [m]."""
    for t in range(len(starts)):
        last = starts[t + 1] if t + 1 < len(starts) else len(vertices)
        for c in range(3):
            low, high = math.inf, -math.inf
            for k in range(starts[t], last):
                p = vertices[k]
                low = min(low, min(x[p, c], y[p, c]) - wide[p])
                high = max(high, max(x[p, c], y[p, c]) + wide[p])
            low_out[t, c], high_out[t, c] = low, high


@kernel
def boxes_meet(low, high, wide, other_low, other_high, other_wide, both):
    """Whether any boxes low, high (m, 3), wider by wide (m,) [m], and others (n, 3) overlap where both (m, n) says that
    they matter."""
    for i in range(len(low)):
        for j in range(len(other_low)):
            if both[i, j]:
                apart = False
                for c in range(3):
                    apart = apart or low[i, c] - wide[i] > other_high[j, c] + other_wide[j]
                    apart = apart or other_low[j, c] - other_wide[j] > high[i, c] + wide[i]
                if not apart:
                    return True
    return False


@kernel
def largest_straying(x, velocity, nodes):
    """The largest speed [m/s] of points x[nodes] (k, 3) beside their common rigid motion, the best in the sense of
    least squares."""
    count = len(nodes)
    c0 = c1 = c2 = v0 = v1 = v2 = 0.0
    for k in range(count):
        n = nodes[k]
        c0, c1, c2 = c0 + x[n, 0], c1 + x[n, 1], c2 + x[n, 2]
        v0, v1, v2 = v0 + velocity[n, 0], v1 + velocity[n, 1], v2 + velocity[n, 2]
    centre, mean = (c0 / count, c1 / count, c2 / count), (v0 / count, v1 / count, v2 / count)
    a0 = a1 = a2 = a3 = a4 = a5 = m0 = m1 = m2 = 0.0
    for k in range(count):
        n = nodes[k]
        r = subtract((x[n, 0], x[n, 1], x[n, 2]), centre)
        m = cross(r, subtract((velocity[n, 0], velocity[n, 1], velocity[n, 2]), mean))
        a0, a1, a2 = a0 + r[1] * r[1] + r[2] * r[2], a1 + r[0] * r[0] + r[2] * r[2], a2 + r[0] * r[0] + r[1] * r[1]
        a3, a4, a5 = a3 - r[1] * r[2], a4 - r[0] * r[2], a5 - r[0] * r[1]
        m0, m1, m2 = m0 + m[0], m1 + m[1], m2 + m[2]
    spin = symmetric_multiply_vector(positive_inverse((a0, a1, a2, a3, a4, a5), LEAST_PIVOT), (m0, m1, m2))
    worst = 0.0
    for k in range(count):
        n = nodes[k]
        r = subtract((x[n, 0], x[n, 1], x[n, 2]), centre)
        left = subtract(subtract((velocity[n, 0], velocity[n, 1], velocity[n, 2]), mean), cross(spin, r))
        worst = max(worst, dot(left, left))
    return np.sqrt(worst)
