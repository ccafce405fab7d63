"""Continuous detection: until when do moving vertices, edges and triangles keep their distance."""

import numpy as np
from numba import prange

from pliant.formulas.matrix3 import add, cross, dot, norm, scale, subtract
from pliant.formulas.proximity import FACE, interval_gap, point_triangle, segment_segment
from pliant.jit import kernel, parallel_kernel

# Advances after which the time reached is returned as it is: it is safe at any of them.
MOST_ADVANCES = 512
# Rounding of distances, in parts of the size of the coordinates.
ROUNDING = 1e-14
# Pairs that one thread takes at a time.
CHUNK = 256


@kernel
def _place(x, i, origin):
    return (x[i, 0] - origin[0], x[i, 1] - origin[1], x[i, 2] - origin[2])


@kernel
def _moved(start, motion, i, t):
    return (start[i, 0] + t * motion[i, 0], start[i, 1] + t * motion[i, 1], start[i, 2] + t * motion[i, 2])


@kernel
def _separation(start, motion, t, own):
    """Unit vector from the second side to the first at time t and the distance: a point and a triangle (own = 1), or
    two segments."""
    a, b = _moved(start, motion, 0, t), _moved(start, motion, 1, t)
    c, d = _moved(start, motion, 2, t), _moved(start, motion, 3, t)
    if own == 1:
        w, _, feature = point_triangle(a, b, c, d, 0.0)
        inside, across = feature == FACE, cross(subtract(c, b), subtract(d, b))
        n = add(add(scale(w[0], subtract(a, b)), scale(w[1], subtract(a, c))), scale(w[2], subtract(a, d)))
    else:
        s, r, _, inside = segment_segment(a, b, c, d, 0.0)
        across = cross(subtract(b, a), subtract(d, c))
        n = add(scale(1.0 - s, subtract(a, c)), scale(s, subtract(b, c)))
        n = subtract(n, scale(r, subtract(d, c)))
    distance = norm(n)
    if inside:  # a normal that is right to rounding however small the distance
        n = scale(-1.0, across) if dot(across, n) < 0.0 else across
    length = norm(n)
    return scale(1.0 / length if length > 0.0 else 0.0, n), distance


@kernel
def _keeps(start, motion, own, n, t, least):
    """Time from t for which the nodes of both sides stay further apart than `least` along the unit vector n, or more
    than 1. The distance is never less than that along any direction."""
    longest = 2.0
    for i in range(own):
        for j in range(own, 4):
            apart, closing = 0.0, 0.0
            for c in range(3):
                change = motion[i, c] - motion[j, c]
                apart += n[c] * (start[i, c] - start[j, c] + t * change)
                closing -= n[c] * change
            if apart < least:  # rounding of n: it tells nothing
                longest = 0.0
            elif closing > 0.0:
                longest = min(longest, (apart - least) / closing)
    return longest


@kernel
def _impact(start, motion, own, minimum, keep, slack):
    """Time of one pair; see `impact_times`."""
    size, speed_a, speed_b = 0.0, 0.0, 0.0
    for i in range(4):
        v = norm((motion[i, 0], motion[i, 1], motion[i, 2]))
        if i < own:
            speed_a = max(speed_a, v)
        else:
            speed_b = max(speed_b, v)
        size = max(size, norm((start[i, 0], start[i, 1], start[i, 2])) + v)
    speed = speed_a + speed_b
    n, distance = _separation(start, motion, 0.0, own)
    minimum = min(minimum, keep * distance) + ROUNDING * size
    gap = distance - minimum
    if speed == 0.0:
        return 1.0
    if gap <= 0.0:
        return 0.0
    final, t = slack * gap, 0.0
    for _ in range(MOST_ADVANCES):
        # additive advance (Li et al. 2021, algorithm 1): no point moves further than `speed`; and along the present
        # normal the sides approach as their nodes do, which lets them slide past each other
        lipschitz = (gap - 0.5 * final) / speed
        along = _keeps(start, motion, own, n, t, minimum + 0.5 * final)
        t += max(lipschitz, along)
        if t >= 1.0:
            return 1.0
        n, distance = _separation(start, motion, t, own)
        gap = distance - minimum
        if gap <= final:
            return t
    return t


@kernel
def _stay_apart(start, motion, own, minimum):
    """Whether the boxes of the ways of both sides are further apart than the minimum [m], which proves that they keep
    it."""
    squared, size = 0.0, 0.0
    for c in range(3):
        low, high, other_low, other_high = np.inf, -np.inf, np.inf, -np.inf
        for i in range(4):
            a, b = start[i, c], start[i, c] + motion[i, c]
            if i < own:
                low, high = min(low, a, b), max(high, a, b)
            else:
                other_low, other_high = min(other_low, a, b), max(other_high, a, b)
        gap = interval_gap(low, high, other_low, other_high)
        squared += gap * gap
        size += max(high, other_high) - min(low, other_low)
    least = minimum + ROUNDING * size
    return squared > least * least


@kernel
def _impacts(nodes, begin, last, own, start, end, radius, keep, slack, time_out):
    """As `impact_times`, of pairs begin..last."""
    at, motion = np.empty((4, 3)), np.empty((4, 3))
    for k in range(begin, last):
        origin, mean = _place(start, nodes[k, 0], (0.0, 0.0, 0.0)), (0.0, 0.0, 0.0)
        for i in range(4):
            p = _place(start, nodes[k, i], origin)
            move = subtract(_place(end, nodes[k, i], origin), p)
            mean = add(mean, scale(0.25, move))
            for c in range(3):
                at[i, c], motion[i, c] = p[c], move[c]
        for i in range(4):
            for c in range(3):
                motion[i, c] -= mean[c]
        first, second = radius[nodes[k, 0]], radius[nodes[k, own]]
        for i in range(1, 4):
            if i < own:
                first = max(first, radius[nodes[k, i]])
            else:
                second = max(second, radius[nodes[k, i]])
        apart = _stay_apart(at, motion, own, first + second)
        time_out[k] = 1.0 if apart else _impact(at, motion, own, first + second, keep, slack)


@parallel_kernel
def impact_times(nodes, own, start, end, radius, keep, slack, time_out):
    """Times (k,) in [0, 1] up to which pairs keep their distance when all nodes move straight from start to end (n, 3).

    nodes (k, 4): a vertex and a triangle (own = 1) or two edges (own = 2). Until the time returned the distance is
    above the largest radii (n,) [m] of both sides together, or above the part `keep` of what it is at the start where
    that is less; never later than the first time at which it is not. Unless that is 1, the part of the first gap
    (distance less minimum) that is left then is at most `slack`. 0 if there is no gap.
    """
    count = len(nodes)
    for chunk in prange((count + CHUNK - 1) // CHUNK):
        _impacts(
            nodes, chunk * CHUNK, min(chunk * CHUNK + CHUNK, count), own, start, end, radius, keep, slack, time_out
        )


@kernel
def earliest_times(time, body_a, body_b, earliest_out):
    """Earliest time (bodies,) of the pairs that each body has a part in; there stays what is earlier already."""
    for k in range(len(time)):
        earliest_out[body_a[k]] = min(earliest_out[body_a[k]], time[k])
        earliest_out[body_b[k]] = min(earliest_out[body_b[k]], time[k])
