"""Nodes and triangles of surfaces against convex solids."""

import math

import numpy as np
from numba import prange

from pliant.formulas.matrix3 import add, cross, dot, multiply_vector, norm, scale, subtract, transpose_multiply_vector
from pliant.formulas.proximity import CORNER_A, FACE, SIDE_AB, point_triangle
from pliant.jit import kernel, parallel_kernel
from pliant.kernels.collide import MOST_OF_TRIANGLE
from pliant.kernels.cpu.collide.convex import convex_pair
from pliant.kernels.cpu.collide.manifold import NAMES
from pliant.kernels.cpu.collide.solids import core_of, rounding, support
from pliant.kernels.cpu.shapes import shape_distance
from pliant.kernels.shapes import CONE, HULL, SPHERE, TRIANGLE

# Distance of a contact from a side or corner of a triangle, relative to its size, at which it is one of these.
TELLING = 1e-6
# Depth of a contact on a side or at a corner, in parts of a triangle's side, with which it counts for every triangle
# there, and the part of it that a corner's node must see for that not to be so.
DEEP, SEEN = 2e-4, 0.5
# Cosine of the angle between a way out over a side of a triangle and the next triangle there from which on it leads
# into that: sharp corners that have gone through a surface beside a side would be led on inside.
INWARD = 0.1
# How much deeper a corner in a valley may be behind a triangle than the shortest way out is long.
VALLEY = 2.0
# The feature of a point of a solid that has gone through a triangle.
THROUGH = NAMES - 1
# Pairs that one thread takes at a time.
CHUNK = 128
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
def _shape_gap(p, r, code, parameter, origin, frame, b):
    """Gap [m] and normal of a point of radius r [m] and solid b, of whose shape the signed distance is known."""
    turned = _nine(frame, b)
    arm = transpose_multiply_vector(turned, subtract(p, _triple(origin, b)))
    gap, n = shape_distance(code[b], parameter[b], arm)
    return gap - r, multiply_vector(turned, n)


@kernel
def _write_node(k, gap, n, count, pair_out, normal_out, gap_out):
    pair_out[count], gap_out[count] = k, gap
    normal_out[count, 0], normal_out[count, 1], normal_out[count, 2] = n[0], n[1], n[2]
    return count + 1


@kernel
def nodes_against_shapes(pairs, x, radius, reach, code, parameter, origin, frame, pair_out, normal_out, gap_out):
    """As `nodes_against_solids`, where no solid is a cone or a hull: most scenes need not compile what these need."""
    count = 0
    for k in range(len(pairs)):
        node, b = pairs[k, 0], pairs[k, 1]
        gap, n = _shape_gap(_triple(x, node), radius[node], code, parameter, origin, frame, b)
        if gap <= reach[k]:
            count = _write_node(k, gap, n, count, pair_out, normal_out, gap_out)
    return count


@kernel
def nodes_against_solids(
    pairs, x, radius, reach, code, parameter, index, hulls, origin, frame, scratch, out, pair_out, normal_out, gap_out
):
    """Contacts of points with solids, pairs (k, 2): which pair (c,), normal from the solid (c, 3), gap (c,) [m]; how
    many. radius (p,) [m] around the points, reach (k,) [m]; out: contact points to work in."""
    count = 0
    for k in range(len(pairs)):
        node, b = pairs[k, 0], pairs[k, 1]
        p, r = _triple(x, node), radius[node]
        if code[b] == CONE or code[b] == HULL:
            ball = (np.int64(SPHERE), (r, 0.0, 0.0, 0.0), np.int64(0), hulls.points)
            solid, place = (code[b], _four(parameter, b), index[b], hulls.points), _triple(origin, b)
            found = convex_pair(
                ball, p, UPRIGHT, solid, place, _nine(frame, b), hulls, reach[k], MOST_OF_TRIANGLE, scratch, out, 0
            )
            if found == 0:
                continue
            gap, n = out.gap[0], _triple(out.normal, 0)
        else:
            gap, n = _shape_gap(p, r, code, parameter, origin, frame, b)
        if gap <= reach[k]:
            count = _write_node(k, gap, n, count, pair_out, normal_out, gap_out)
    return count


@kernel
def _counts(t, w, feature, triangle_edges, edge_start, edge_triangles):
    """Whether a contact at a feature counts for triangle t: at corners nodes have it, on a side the first triangle."""
    if feature >= CORNER_A or max(w[0], w[1], w[2]) > 1.0 - TELLING:
        return False
    return feature == FACE or edge_triangles[edge_start[triangle_edges[t, feature - 1]]] == t


@kernel
def _write_triangle(k, feature, w, n, gap, count, pair_out, weight_out, normal_out, gap_out, feature_out):
    if count < len(gap_out):
        pair_out[count], gap_out[count], feature_out[count] = k, gap, feature
        for c in range(3):
            weight_out[count, c], normal_out[count, c] = w[c], n[c]
    return count + 1


@kernel
def _next_triangle(t, side, x, triangles, triangle_edges, edge_start, edge_triangles):
    """The direction, of length 1, from one of the sides (0 to 2) of triangle t into the next triangle there, at right
    angles to it; nothing at a rim."""
    edge = triangle_edges[t, side]
    if edge < 0:  # of rods
        return ZERO
    a, b = triangles[t, side], triangles[t, (side + 1) % 3]
    for k in range(edge_start[edge], edge_start[edge + 1]):
        other = edge_triangles[k]
        if other == t:
            continue
        for j in range(3):
            c = triangles[other, j]
            if c != a and c != b:
                along, into = subtract(_triple(x, b), _triple(x, a)), subtract(_triple(x, c), _triple(x, a))
                into = subtract(into, scale(dot(into, along) / dot(along, along), along))
                return scale(1.0 / norm(into), into) if norm(into) > 0.0 else ZERO
    return ZERO


@kernel
def _through(solid, place, frame, hulls, corners, thick, side, into, depth):
    """The point of a solid that is farthest behind the plane of a triangle, on the side where less of the solid is:
    whether it has its foot inside the triangle, or lies in a valley, not far behind that side from which the next
    triangle, in the direction into, rises; the weights of the nearest point, the normal from the solid, and the gap
    [m]. depth [m]: that along the shortest way out."""
    core, a, b, c = core_of(solid, hulls, 0.0), _triple(corners, 0), _triple(corners, 1), _triple(corners, 2)
    flat = cross(subtract(b, a), subtract(c, a))
    if norm(flat) == 0.0:
        return False, ZERO, flat, 0.0
    flat = scale(1.0 / norm(flat), flat)
    along = transpose_multiply_vector(frame, flat)
    up = add(place, multiply_vector(frame, support(core, solid[3], along)))
    down = add(place, multiply_vector(frame, support(core, solid[3], scale(-1.0, along))))
    height, behind = dot(flat, subtract(up, a)), -dot(flat, subtract(down, a))
    n, tip = scale(-1.0, flat), down
    if behind > height:
        n, tip, behind = flat, up, height
    w, square, feature = point_triangle(tip, a, b, c, 0.0)
    gap, rises = -behind - rounding(solid) - thick, feature == SIDE_AB + side and dot(n, into) < -TELLING
    below = square <= (1.0 + TELLING) * behind * behind or (rises and -gap <= VALLEY * depth)
    return below and behind > 0.0, w, n, gap


@kernel
def _triangles_of_chunk(first, last, pairs, x, surface, radius, reach, parameter, origin, answers):
    """As `triangles_against_spheres`, of pairs first..last, into rows from `first` on; how many."""
    triangles, triangle_edges, edge_start, edge_triangles = surface
    count = first
    for k in range(first, last):
        t, b = pairs[k, 0], pairs[k, 1]
        corner_a, corner_b = _triple(x, triangles[t, 0]), _triple(x, triangles[t, 1])
        corner_c, centre = _triple(x, triangles[t, 2]), _triple(origin, b)
        w, square, _ = point_triangle(centre, corner_a, corner_b, corner_c, 0.0)
        apart = math.sqrt(square)
        gap = apart - parameter[b, 0] - radius[triangles[t, 0]]
        if not gap <= reach[k]:
            continue
        p = add(add(scale(w[0], corner_a), scale(w[1], corner_b)), scale(w[2], corner_c))
        w, _, feature = point_triangle(p, corner_a, corner_b, corner_c, TELLING)
        if not _counts(t, w, feature, triangle_edges, edge_start, edge_triangles):
            continue
        across = (
            subtract(p, centre) if apart > 0.0 else cross(subtract(corner_b, corner_a), subtract(corner_c, corner_a))
        )
        n = scale(1.0 / norm(across), across)
        count = _write_triangle(k, 0, w, n, gap, count, *answers)
    return count - first


@parallel_kernel
def triangles_against_spheres(
    pairs,
    x,
    triangles,
    triangle_edges,
    edge_start,
    edge_triangles,
    radius,
    reach,
    parameter,
    origin,
    pair_out,
    weight_out,
    normal_out,
    gap_out,
    feature_out,
):
    """As `triangles_against_solids`, where all solids are spheres, which is little to compile; there is room for as
    many contacts as pairs."""
    chunks = (len(pairs) + CHUNK - 1) // CHUNK
    found = np.empty(chunks, np.int64)
    for index in prange(chunks):
        chunk = np.int64(index)
        surface, answers = (
            (triangles, triangle_edges, edge_start, edge_triangles),
            (pair_out, weight_out, normal_out, gap_out, feature_out),
        )
        last = min(chunk * CHUNK + CHUNK, len(pairs))
        found[chunk] = _triangles_of_chunk(
            chunk * CHUNK, last, pairs, x, surface, radius, reach, parameter, origin, answers
        )
    count = 0
    for chunk in range(chunks):
        for row in range(chunk * CHUNK, chunk * CHUNK + found[chunk]):
            pair_out[count], gap_out[count], feature_out[count] = pair_out[row], gap_out[row], feature_out[row]
            for c in range(3):
                weight_out[count, c], normal_out[count, c] = weight_out[row, c], normal_out[row, c]
            count += 1
    return count


@kernel
def mark_spared(node, body, gap, names, corner_gap, radius, spare, out):
    """Which contacts (k,) of triangles with nodes (k, 4) and bodies (k, 2) are deeper than those of their corners, of
    which all three have one, by no more than a part `spare` of their radius (n,) [m]. names (m,): of contacts of nodes,
    node << 24 | body, sorted, and their gaps (m,) [m]."""
    start, place = np.empty(len(radius) + 1, np.int64), 0
    for i in range(len(radius)):
        start[i] = place
        while place < len(names) and names[place] >> 24 == i:
            place += 1
    start[len(radius)] = place
    for k in range(len(gap)):
        low, there = np.inf, 0
        for c in range(3):
            i = node[k, c]
            for at in range(start[i], start[i + 1]) if i >= 0 else range(0):
                if names[at] == (i << 24) | body[k, 1]:
                    low, there = min(low, corner_gap[at]), there + 1
        out[k] = there == 3 and gap[k] >= low - spare * radius[node[k, 0]]


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
    """Contacts of triangles with solids, pairs (k, 2), but for those at corners, which nodes have if they see them:
    which pair (c,), weights of the corners (c, 3), normal from the solid (c, 3), gap (c,) [m], feature (c,); how many
    there are, though no more are written than there is room. Those on a side that are not deep count for the first
    triangle there. What has gone through a triangle beside a side, over which the shortest way out of it leads into the
    next one, is pushed out along the triangle's own normal."""
    corners, count, answers = np.empty((3, 3)), 0, (pair_out, weight_out, normal_out, gap_out, feature_out)
    surface = (x, triangles, triangle_edges, edge_start, edge_triangles)
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
            if found.gap[i] < 0.0 and FACE < feature < CORNER_A:
                side = feature - SIDE_AB
                into = _next_triangle(t, side, *surface)
                if dot(n, into) < -INWARD:
                    beside = (side, into, -found.gap[i])
                    below, foot, out, gap = _through(solid, place, _nine(frame, b), hulls, corners, thick, *beside)
                    if below:
                        count = _write_triangle(k, THROUGH, foot, out, gap, count, *answers)
                        break
            if not _counts(t, w, feature, triangle_edges, edge_start, edge_triangles):
                # what is deep counts nevertheless: triangles may lie as a valley around a corner of a solid, each with
                # a contact along its own normal; and a corner of theirs beside a solid into which the sides lead from
                # there: then its node sees little of it
                along = subtract(_triple(corners, 1), _triple(corners, 0))
                if found.gap[i] > -DEEP * norm(along):
                    continue
                if max(w[0], w[1], w[2]) <= 1.0 - TELLING:
                    flat = cross(along, subtract(_triple(corners, 2), _triple(corners, 0)))
                    if abs(dot(n, flat)) < (1.0 - TELLING) * norm(flat):
                        continue
                else:
                    if code[b] == CONE or code[b] == HULL:
                        ball = (np.int64(SPHERE), (thick, 0.0, 0.0, 0.0), np.int64(0), hulls.points)
                        seen = convex_pair(
                            ball, p, UPRIGHT, solid, place, _nine(frame, b), hulls, reach[k], 3, scratch, found, points
                        )
                        own = found.gap[points] if seen > 0 else np.inf
                    else:
                        own = _shape_gap(p, thick, code, parameter, origin, frame, b)[0]
                    if own < SEEN * found.gap[i]:
                        continue
            count = _write_triangle(k, found.feature[i], w, n, found.gap[i], count, *answers)
    return count
