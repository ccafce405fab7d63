"""Nodes and triangles of surfaces against convex solids."""

import numpy as np

from pliant.formulas.matrix3 import add, multiply_vector, scale, subtract, transpose_multiply_vector
from pliant.formulas.proximity import CORNER_A, FACE, point_triangle
from pliant.jit import kernel
from pliant.kernels.collide import MOST_OF_TRIANGLE
from pliant.kernels.cpu.collide.convex import convex_pair
from pliant.kernels.cpu.shapes import shape_distance
from pliant.kernels.shapes import CONE, HULL, SPHERE, TRIANGLE

# Distance of a contact from a side or corner of a triangle, relative to its size, at which it is one of these.
TELLING = 1e-6
ZERO = (0.0, 0.0, 0.0)
UPRIGHT = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)


@kernel
def _triple(a, i):
    return (a[i, 0], a[i, 1], a[i, 2])


@kernel
def _four(a, i):
    return (a[i, 0], a[i, 1], a[i, 2], a[i, 3])


@kernel
def _nine(a, i):
    return (a[i, 0], a[i, 1], a[i, 2], a[i, 3], a[i, 4], a[i, 5], a[i, 6], a[i, 7], a[i, 8])


@kernel
def nodes_against_solids(
    pairs, x, radius, reach, code, parameter, index, hulls, origin, frame, scratch, out, pair_out, normal_out, gap_out
):
    """Contacts of points with solids, pairs (k, 2): which pair (c,), normal from the solid (c, 3), gap (c,) [m]; how
    many. radius (p,) [m] around the points, reach (k,) [m]; out: contact points to work in."""
    count = 0
    for k in range(len(pairs)):
        node, b = pairs[k, 0], pairs[k, 1]
        p, r, turned = _triple(x, node), radius[node], _nine(frame, b)
        if code[b] == CONE or code[b] == HULL:
            ball = (np.int64(SPHERE), (r, 0.0, 0.0, 0.0), np.int64(0), hulls.points)
            solid = (code[b], _four(parameter, b), index[b], hulls.points)
            found = convex_pair(
                ball, p, UPRIGHT, solid, _triple(origin, b), turned, hulls, reach[k], MOST_OF_TRIANGLE, scratch, out, 0
            )
            if found == 0:
                continue
            gap, n = out.gap[0], _triple(out.normal, 0)
        else:
            arm = transpose_multiply_vector(turned, subtract(p, _triple(origin, b)))
            gap, n = shape_distance(code[b], parameter[b], arm)
            gap, n = gap - r, multiply_vector(turned, n)
        if gap <= reach[k]:
            pair_out[count], gap_out[count] = k, gap
            normal_out[count, 0], normal_out[count, 1], normal_out[count, 2] = n[0], n[1], n[2]
            count += 1
    return count


@kernel
def triangles_against_solids(
    pairs,
    x,
    triangles,
    triangle_edges,
    edge_start,
    edge_triangles,
    radius,
    reach,
    code,
    parameter,
    index,
    hulls,
    origin,
    frame,
    scratch,
    found,
    pair_out,
    weight_out,
    normal_out,
    gap_out,
    feature_out,
):
    """Contacts of triangles with solids, pairs (k, 2), but for those at corners, which are contacts of nodes: which
    pair (c,), weights of the corners (c, 3), normal from the solid (c, 3), gap (c,) [m], feature (c,); how many there
    are, though no more are written than there is room. Contacts on a side count for the first triangle there."""
    corners, count = np.empty((3, 3)), 0
    for k in range(len(pairs)):
        t, b = pairs[k, 0], pairs[k, 1]
        for j in range(3):
            for c in range(3):
                corners[j, c] = x[triangles[t, j], c]
        thick = radius[triangles[t, 0]]
        triangle = (np.int64(TRIANGLE), (0.0, 0.0, 0.0, thick), np.int64(0), corners)
        solid, place = (code[b], _four(parameter, b), index[b], hulls.points), _triple(origin, b)
        points = convex_pair(
            triangle, ZERO, UPRIGHT, solid, place, _nine(frame, b), hulls, reach[k], MOST_OF_TRIANGLE, scratch, found, 0
        )
        for i in range(points):
            n = _triple(found.normal, i)
            p = add(_triple(found.point_a, i), scale(thick, n))
            w, _, feature = point_triangle(p, _triple(corners, 0), _triple(corners, 1), _triple(corners, 2), TELLING)
            if feature >= CORNER_A or max(w[0], w[1], w[2]) > 1.0 - TELLING:
                continue
            if feature != FACE and edge_triangles[edge_start[triangle_edges[t, feature - 1]]] != t:
                continue
            if count < len(gap_out):
                pair_out[count], gap_out[count], feature_out[count] = k, found.gap[i], found.feature[i]
                for c in range(3):
                    weight_out[count, c], normal_out[count, c] = w[c], n[c]
            count += 1
    return count
