"""Contacts between triangulated surfaces: from overlapping boxes to feature pairs, each reported once.

A vertex near a triangle touches its inside, a side or a corner; the side belongs to other triangles too. Such a pair
counts if no triangle that meets there is nearer to the vertex: then the feature is the locally closest part of the
surface (the offset blocks of Chen et al., Offset Geometric Contact, 2025, section 3, decided by distances). Two
vertices count if that holds for both. Two edges count if both closest points lie inside them and it holds for one of
these: the edge of a tilted plank that comes down flat on an edge is not the nearest part of the plank, but will be.
Closest points at the ends of edges are vertex pairs and found as such.
"""

import math

import numpy as np
from numba import prange

from pliant.formulas.matrix3 import add, cross, dot, scale, subtract
from pliant.formulas.proximity import (
    CORNER_A,
    FACE,
    crossing,
    point_segment,
    point_triangle,
    point_triangle_apart,
    segment_segment,
    segments_apart,
)
from pliant.jit import kernel, parallel_kernel
from pliant.kernels.collide import EDGE_EDGE, INDEX_BITS, VERTEX_EDGE, VERTEX_FACE, VERTEX_VERTEX

# Part of a squared distance by which a face must be nearer than its sides to be told from them: a contact slides over
# the last 1e-6 of its distance from a side as if on it.
TELLING = 1e-12
# The same of an edge that is told from its triangles for another edge: surfaces that lie flat on each other bend to and
# fro about their edges, and contacts of these would come and go under load. So they go where they carry none.
FLAT = 1e-4
# Rounding between two computations of the same distance, in parts of the coordinates: in doubt a contact is kept.
DOUBT = 1e-15
# Pairs that one thread takes at a time, and how many chunks further the next one lies, a prime: pairs of vertices come
# before those of edges, which cost another time, and every thread takes chunks that follow each other.
CHUNK, STRIDE = 128, 31


@kernel
def _triple(x, i):
    return (x[i, 0], x[i, 1], x[i, 2])


@kernel
def _on_triangle(p, x, triangles, t):
    """Weights, squared distance and feature of a triangle closest to p."""
    a, b, c = _triple(x, triangles[t, 0]), _triple(x, triangles[t, 1]), _triple(x, triangles[t, 2])
    return point_triangle(p, a, b, c, TELLING)


@kernel
def _on_edges(x, edges, e, f):
    """Parameters, squared distance of the closest points of two edges, and whether both lie inside."""
    a, b = _triple(x, edges[e, 0]), _triple(x, edges[e, 1])
    return segment_segment(a, b, _triple(x, edges[f, 0]), _triple(x, edges[f, 1]), TELLING)


@kernel
def _dominated(p, squared, x, triangles, around, first, last, but, telling):
    """Whether one of the triangles around a feature, but for one to which it is the closest, is nearer to p than the
    feature, by more than a part `telling` of the squared distance."""
    distance, doubt = squared**0.5, DOUBT * max(abs(p[0]), abs(p[1]), abs(p[2]))
    for k in range(first, last):
        t = around[k]
        if t != but and distance > (_on_triangle(p, x, triangles, t)[1] * (1.0 + telling)) ** 0.5 + doubt:
            return True
    return False


@kernel
def _vertices_with_triangles(pairs, begin, last, surface, x, radius, reach, place, key_out, nodes_out, weights_out):
    """As `surface_contacts`, of pairs begin..last of vertices and triangles, into rows from `place` on; how many."""
    triangles, count = surface.triangles, 0
    for k in range(begin, last):
        node, t = surface.vertices[pairs[k, 0]], pairs[k, 1]
        i, j, l = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        if node in (i, j, l) or not surface.allowed[surface.body[node], surface.body[i]]:
            continue
        p = _triple(x, node)
        far = radius[node] + reach[node] + max(radius[i], radius[j], radius[l]) + max(reach[i], reach[j], reach[l])
        if point_triangle_apart(p, _triple(x, i), _triple(x, j), _triple(x, l)) > far * far:
            continue
        w, squared, feature = _on_triangle(p, x, triangles, t)
        thick = radius[node] + w[0] * radius[i] + w[1] * radius[j] + w[2] * radius[l]
        far = thick + reach[node] + max(reach[i], reach[j], reach[l])
        if squared > far * far:
            continue
        if surface.body[node] == surface.body[i]:
            rest = surface.rest
            if _on_triangle(_triple(rest, node), rest, triangles, t)[1] <= thick * thick:
                continue
        kind, first, second = VERTEX_FACE, node, t
        around, start, end = surface.edge_triangles, 0, 0
        if feature >= CORNER_A:
            kind, second = VERTEX_VERTEX, triangles[t, feature - CORNER_A]
            around, start, end = (
                surface.vertex_triangles,
                surface.vertex_start[second],
                surface.vertex_start[second + 1],
            )
        elif feature != FACE:
            kind, second = VERTEX_EDGE, surface.triangle_edges[t, feature - 1]
            start, end = surface.edge_start[second], surface.edge_start[second + 1]
        if _dominated(p, squared, x, triangles, around, start, end, t, TELLING):
            continue
        if kind == VERTEX_VERTEX:
            start, end = surface.vertex_start[node], surface.vertex_start[node + 1]
            if _dominated(_triple(x, second), squared, x, triangles, surface.vertex_triangles, start, end, -1, TELLING):
                continue
        row = place + count
        nodes_out[row, 0], weights_out[row, 0] = node, 1.0
        for c in range(3):
            nodes_out[row, c + 1], weights_out[row, c + 1] = triangles[t, c], -w[c]
        if kind == VERTEX_EDGE:
            # the same numbers whichever triangle found it
            a, b = surface.edges[second, 0], surface.edges[second, 1]
            along = point_segment(p, _triple(x, a), _triple(x, b))[0]
            nodes_out[row, 1], nodes_out[row, 2], nodes_out[row, 3] = a, b, b
            weights_out[row, 1], weights_out[row, 2], weights_out[row, 3] = along - 1.0, -along, 0.0
        elif kind == VERTEX_VERTEX:
            first, second = min(node, second), max(node, second)
            nodes_out[row, 0] = first
            for c in range(1, 4):
                nodes_out[row, c], weights_out[row, c] = second, (-1.0 if c == 1 else 0.0)
        key_out[row] = (kind << (2 * INDEX_BITS)) | (first << INDEX_BITS) | second
        count += 1
    return count


@kernel
def _edges_with_edges(pairs, begin, last, surface, x, radius, reach, place, key_out, nodes_out, weights_out):
    """The same of pairs of edges."""
    edges, triangles, around, count = surface.edges, surface.triangles, surface.edge_triangles, 0
    for k in range(begin, last):
        e, f = pairs[k, 0], pairs[k, 1]
        a, b, c, d = edges[e, 0], edges[e, 1], edges[f, 0], edges[f, 1]
        if a in (c, d) or b in (c, d) or not surface.allowed[surface.body[a], surface.body[c]]:
            continue
        far = max(radius[a], radius[b]) + max(reach[a], reach[b]) + max(radius[c], radius[d]) + max(reach[c], reach[d])
        ends = (_triple(x, a), _triple(x, b), _triple(x, c), _triple(x, d))
        if segments_apart(*ends) > far * far or crossing(*ends)[2] > far * far:
            continue
        s, t, squared, inside = _on_edges(x, edges, e, f)
        thick = (1.0 - s) * radius[a] + s * radius[b] + (1.0 - t) * radius[c] + t * radius[d]
        far = thick + max(reach[a], reach[b]) + max(reach[c], reach[d])
        if not inside or squared > far * far:
            continue
        if surface.body[a] == surface.body[c] and _on_edges(surface.rest, edges, e, f)[2] <= thick * thick:
            continue
        p = add(scale(1.0 - s, _triple(x, a)), scale(s, _triple(x, b)))
        if _dominated(p, squared, x, triangles, around, surface.edge_start[f], surface.edge_start[f + 1], -1, FLAT):
            q = add(scale(1.0 - t, _triple(x, c)), scale(t, _triple(x, d)))
            if _dominated(q, squared, x, triangles, around, surface.edge_start[e], surface.edge_start[e + 1], -1, FLAT):
                continue
        row = place + count
        key_out[row] = (EDGE_EDGE << (2 * INDEX_BITS)) | (e << INDEX_BITS) | f
        nodes_out[row, 0], nodes_out[row, 1], nodes_out[row, 2], nodes_out[row, 3] = a, b, c, d
        weights_out[row, 0], weights_out[row, 1] = 1.0 - s, s
        weights_out[row, 2], weights_out[row, 3] = t - 1.0, -t
        count += 1
    return count


@parallel_kernel
def surface_contacts(vertex_pairs, edge_pairs, surface, x, radius, reach, key_out, nodes_out, weights_out):
    """Contacts among pairs (k, 2) of vertices and triangles, and of edges; how many. There must be room for as many as
    pairs: chunks of them write rows of their own, which are moved together in the end.

    Reported are pairs of bodies that may touch, closer than their radii and reaches (n,) [m] together, that have no
    node in common and, within a body, were further apart at rest (n, 3) [m] than their radii. key, nodes (4) and
    weights (4): x[nodes] weighted is the vector from the second side to the first; a contact may be there twice.
    """
    own, other = len(vertex_pairs), len(edge_pairs)
    first = (own + CHUNK - 1) // CHUNK
    chunks = first + (other + CHUNK - 1) // CHUNK
    place, found = np.empty(chunks, np.int64), np.empty(chunks, np.int64)
    stride = STRIDE if chunks % STRIDE else 1
    for turn in prange(chunks):
        chunk = turn * stride % chunks
        if chunk < first:
            place[chunk] = chunk * CHUNK
            found[chunk] = _vertices_with_triangles(
                vertex_pairs,
                chunk * CHUNK,
                min(chunk * CHUNK + CHUNK, own),
                surface,
                x,
                radius,
                reach,
                place[chunk],
                key_out,
                nodes_out,
                weights_out,
            )
        else:
            begin = (chunk - first) * CHUNK
            place[chunk] = own + begin
            found[chunk] = _edges_with_edges(
                edge_pairs,
                begin,
                min(begin + CHUNK, other),
                surface,
                x,
                radius,
                reach,
                place[chunk],
                key_out,
                nodes_out,
                weights_out,
            )
    count = 0
    for chunk in range(chunks):
        for row in range(place[chunk], place[chunk] + found[chunk]):
            key_out[count] = key_out[row]
            for c in range(4):
                nodes_out[count, c], weights_out[count, c] = nodes_out[row, c], weights_out[row, c]
            count += 1
    return count


@kernel
def _between_boxes(a, b, c, p, q, r):
    """The squared distance of the boxes of two triangles: at most that of the triangles."""
    total = 0.0
    for i in range(3):
        below = min(p[i], q[i], r[i]) - max(a[i], b[i], c[i])
        above = min(a[i], b[i], c[i]) - max(p[i], q[i], r[i])
        apart = max(below, above, 0.0)
        total += apart * apart
    return total


@kernel
def least_distance(vertex_pairs, edge_pairs, x, vertices, triangles, edges, most):
    """The least distance [m] among pairs (k, 2) of vertices and triangles, and of edges, or `most` if none is less."""
    least = most * most
    for k in range(len(vertex_pairs)):
        p, t = _triple(x, vertices[vertex_pairs[k, 0]]), vertex_pairs[k, 1]
        a, b, c = _triple(x, triangles[t, 0]), _triple(x, triangles[t, 1]), _triple(x, triangles[t, 2])
        if _between_boxes(p, p, p, a, b, c) < least:
            least = min(least, point_triangle(p, a, b, c, TELLING)[1])
    for k in range(len(edge_pairs)):
        e, f = edge_pairs[k, 0], edge_pairs[k, 1]
        a, b, p, q = _triple(x, edges[e, 0]), _triple(x, edges[e, 1]), _triple(x, edges[f, 0]), _triple(x, edges[f, 1])
        if _between_boxes(a, b, b, p, q, q) < least:
            least = min(least, segment_segment(a, b, p, q, TELLING)[2])
    return math.sqrt(least)


@kernel
def _outward(x, triangles, around, first, last):
    """Sum of the normals of triangles, by area."""
    n = (0.0, 0.0, 0.0)
    for k in range(first, last):
        t = around[k]
        a = _triple(x, triangles[t, 0])
        n = add(n, cross(subtract(_triple(x, triangles[t, 1]), a), subtract(_triple(x, triangles[t, 2]), a)))
    return n


@kernel
def contact_geometry(
    key,
    nodes,
    weights,
    x,
    triangles,
    vertex_start,
    vertex_triangles,
    edge_start,
    edge_triangles,
    first_out,
    second_out,
    normal_out,
    distance_out,
):
    """Closest points (k, 3) of both sides, the unit normal from the second to the first, the distance [m].

    Where the points coincide to rounding the normal is the outward one of the second side.
    """
    mask = (1 << INDEX_BITS) - 1
    itself = np.empty(1, np.int64)
    for k in range(len(key)):
        kind, other = key[k] >> (2 * INDEX_BITS), key[k] & mask
        own = 2 if kind == EDGE_EDGE else 1
        size = 0.0
        for c in range(3):
            first_out[k, c] = second_out[k, c] = 0.0
        for m in range(4):
            for c in range(3):
                part = weights[k, m] * x[nodes[k, m], c]
                if m < own:
                    first_out[k, c] += part
                else:
                    second_out[k, c] -= part
                size = max(size, abs(part))
        n = subtract(_triple(first_out, k), _triple(second_out, k))
        length = dot(n, n) ** 0.5
        distance_out[k] = length
        if length <= 1e-15 * size:
            itself[0] = other
            around, start, end = itself, 0, 1
            if kind == VERTEX_VERTEX:
                around, start, end = vertex_triangles, vertex_start[other], vertex_start[other + 1]
            elif kind != VERTEX_FACE:
                around, start, end = edge_triangles, edge_start[other], edge_start[other + 1]
            n = _outward(x, triangles, around, start, end)
            length = dot(n, n) ** 0.5
        n = scale(1.0 / length, n) if length > 0.0 else (0.0, 0.0, 1.0)
        for c in range(3):
            normal_out[k, c] = n[c]
