"""Closest points of two convex cores (Gilbert, Johnson and Keerthi 1988), by the smallest of all sub-simplices."""

import numpy as np

from pliant.formulas.closest import closest_on_segment, triangle_weights
from pliant.formulas.matrix3 import add, cross, dot, scale, subtract
from pliant.jit import kernel
from pliant.kernels.cpu.collide.solids import difference_support

FAR, APART, DEEP = range(3)
MOST_ITERATIONS = 64
# A duality gap this small beside the squared distance ends the iteration.
CLOSE = 1e-15
# Distance of the cores, relative to the size of what is searched, below which a normal has too few digits.
TOUCHING = 1e-8
# Volume of a tetrahedron beside the product of its edges, below which it is flat.
FLAT = 1e-12


@kernel
def _row(simplex, i):
    return (simplex[i, 3], simplex[i, 4], simplex[i, 5])


@kernel
def closest_on_face(simplex, i, j, k):
    """Closest point to the origin of a triangle of the simplex; its weights into the column of the trial."""
    a, b, c = _row(simplex, i), _row(simplex, j), _row(simplex, k)
    (wa, wb, wc), normal, square = triangle_weights(a, b, c)
    if square > 0.0 and wa >= 0.0 and wb >= 0.0 and wc >= 0.0:
        point = scale(dot(a, normal) / square, normal)
    else:
        point, share = closest_on_segment(a, b)
        wa, wb, wc = 1.0 - share, share, 0.0
        other, share = closest_on_segment(b, c)
        if dot(other, other) < dot(point, point):
            point, wa, wb, wc = other, 0.0, 1.0 - share, share
        other, share = closest_on_segment(c, a)
        if dot(other, other) < dot(point, point):
            point, wa, wb, wc = other, share, 0.0, 1.0 - share
    simplex[i, 6], simplex[j, 6], simplex[k, 6] = wa, wb, wc
    return point


@kernel
def _contains_origin(simplex):
    """Whether a tetrahedron that is not flat holds the origin; its weights are then in the last column."""
    a, b, c, d = _row(simplex, 0), _row(simplex, 1), _row(simplex, 2), _row(simplex, 3)
    one, two, three = subtract(a, d), subtract(b, d), subtract(c, d)
    volume = dot(one, cross(two, three))
    size = dot(one, one) * dot(two, two) * dot(three, three)
    if volume * volume <= FLAT * FLAT * size:
        return False
    wa = -dot(d, cross(two, three)) / volume
    wb = -dot(d, cross(three, one)) / volume
    wc = -dot(d, cross(one, two)) / volume
    wd = 1.0 - wa - wb - wc
    if wa < 0.0 or wb < 0.0 or wc < 0.0 or wd < 0.0:
        return False
    simplex[0, 6], simplex[1, 6], simplex[2, 6], simplex[3, 6] = wa, wb, wc, wd
    return True


@kernel
def _closest(simplex, count):
    """Closest point of the simplex to the origin, its weights into the last column; the newest point takes part."""
    for i in range(4):
        simplex[i, 6] = 0.0
    if count == 1:
        simplex[0, 6] = 1.0
        return _row(simplex, 0)
    if count == 2:
        point, share = closest_on_segment(_row(simplex, 0), _row(simplex, 1))
        simplex[0, 6], simplex[1, 6] = 1.0 - share, share
        return point
    if count == 3:
        return closest_on_face(simplex, 0, 1, 2)
    if _contains_origin(simplex):
        return (0.0, 0.0, 0.0)
    best, least, point = 0, np.inf, (0.0, 0.0, 0.0)
    for skipped in range(3):
        other = closest_on_face(simplex, (skipped + 1) % 3, (skipped + 2) % 3, 3)
        if dot(other, other) < least:
            best, least, point = skipped, dot(other, other), other
    closest_on_face(simplex, (best + 1) % 3, (best + 2) % 3, 3)
    simplex[best, 6] = 0.0
    return point


@kernel
def _keep_carrying(simplex, count):
    """Drop the points without weight; returns how many are left."""
    kept = 0
    for i in range(count):
        if simplex[i, 6] > 0.0:
            for c in range(7):
                simplex[kept, c] = simplex[i, c]
            kept += 1
    return kept


@kernel
def _is_known(simplex, count, w):
    known = False
    for i in range(count):
        known |= simplex[i, 3] == w[0] and simplex[i, 4] == w[1] and simplex[i, 5] == w[2]
    return known


@kernel
def carried_point(simplex, count):
    """Point of a that the weights of the answer mean."""
    a = (0.0, 0.0, 0.0)
    for i in range(count):
        a = add(a, scale(simplex[i, 7], (simplex[i, 0], simplex[i, 1], simplex[i, 2])))
    return a


@kernel
def closest_cores(core_a, points_a, frame, offset, core_b, points_b, cutoff, simplex):
    """Closest points of two cores in b's frame: how they lie, their difference (3), the point of a.

    FAR: farther apart than the cutoff [m], nothing else is known. DEEP: the cores touch or overlap; the difference is
    zero and the point of a one of both. simplex (4, 8): scratch; columns are a point of a, the difference, its weight
    in the trial and in the answer.
    """
    v = offset if dot(offset, offset) > 0.0 else (1.0, 0.0, 0.0)
    a = (0.0, 0.0, 0.0)
    count, square, size = 0, np.inf, 0.0
    for _ in range(MOST_ITERATIONS):
        a, w = difference_support(core_a, points_a, frame, offset, core_b, points_b, (-v[0], -v[1], -v[2]))
        along = dot(v, w)
        if along > 0.0 and along * along > cutoff * cutoff * dot(v, v):
            return FAR, v, a
        if count > 0 and (square - along <= CLOSE * square or _is_known(simplex, count, w)):
            break
        for c in range(3):
            simplex[count, c], simplex[count, 3 + c] = a[c], w[c]
        size = max(size, dot(w, w))
        trial = _closest(simplex, count + 1)
        if dot(trial, trial) >= square:
            break
        v, square = trial, dot(trial, trial)
        count = _keep_carrying(simplex, count + 1)
        for i in range(count):
            simplex[i, 7] = simplex[i, 6]
        if square <= TOUCHING * TOUCHING * size:
            return DEEP, (0.0, 0.0, 0.0), carried_point(simplex, count)
    return APART, v, carried_point(simplex, count)
