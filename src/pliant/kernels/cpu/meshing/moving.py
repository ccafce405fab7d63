"""Closest points on triangles, and nodes of tets that are moved until the smallest dihedral angles are large enough."""

import numpy as np

from pliant.formulas.matrix3 import cross, dot, subtract
from pliant.formulas.proximity import point_triangle
from pliant.jit import kernel

# How nodes may move: anywhere, on the surface, on sharp edges, not at all.
FREE, SURFACE, CURVE, FIXED = range(4)
# The measure of a tet that is flat or inside out; cosines are at most 1.
FLAT = 2.0
# Lengths of trial steps, in parts of the size.
STEPS = (0.3, 0.15, 0.07, 0.03, 0.012)
DIAGONAL = 0.5773502691896258


@kernel
def _triple(x, i):
    return (x[i, 0], x[i, 1], x[i, 2])


@kernel
def _distance_to_box(p, node, k):
    """Squared distance [m^2] of a point from a box."""
    total = 0.0
    for c in range(3):
        d = max(node[k, c] - p[c], p[c] - node[k, c + 3], 0.0)
        total += d * d
    return total


@kernel
def _closest(p, corners, order, node):
    """The point of triangles (m, 9) closest to p, and the triangle; the tree is one of `collide.bvh`."""
    leaves, count = len(node) // 2, len(order)
    stack = np.empty(128, np.int64)
    stack[0], size = 1, 1
    best, found, place = 1e300, -1, p
    while size > 0:
        size -= 1
        k = stack[size]
        if _distance_to_box(p, node, k) >= best:
            continue
        if k >= leaves:
            for i in range(count * (k - leaves) // leaves, count * (k - leaves + 1) // leaves):
                t = order[i]
                a = (corners[t, 0], corners[t, 1], corners[t, 2])
                b = (corners[t, 3], corners[t, 4], corners[t, 5])
                c = (corners[t, 6], corners[t, 7], corners[t, 8])
                w, d, _ = point_triangle(p, a, b, c, 0.0)
                if d < best or (d == best and t < found):
                    best, found = d, t
                    place = (
                        w[0] * a[0] + w[1] * b[0] + w[2] * c[0],
                        w[0] * a[1] + w[1] * b[1] + w[2] * c[1],
                        w[0] * a[2] + w[1] * b[2] + w[2] * c[2],
                    )
            continue
        near, far = 2 * k, 2 * k + 1
        if _distance_to_box(p, node, near) > _distance_to_box(p, node, far):
            near, far = far, near
        stack[size], stack[size + 1] = far, near
        size += 2
    return place, found


@kernel
def closest_points(points, corners, order, node, place_out, triangle_out):
    """For points (k, 3) the closest points (k, 3) [m] on triangles (m, 9), and which triangles these are on."""
    for i in range(len(points)):
        place, triangle_out[i] = _closest(_triple(points, i), corners, order, node)
        for c in range(3):
            place_out[i, c] = place[c]


@kernel
def _largest_cosine(a, b, c, d):
    """Cosine of the smallest dihedral angle of a tet with det[a-d, b-d, c-d] > 0; FLAT for any other."""
    u, v, w = subtract(a, d), subtract(b, d), subtract(c, d)
    if not dot(u, cross(v, w)) > 0.0:
        return FLAT
    # outward normals of the faces opposite a, b, c, d
    na, nb, nc = cross(w, v), cross(u, w), cross(v, u)
    nd = (-na[0] - nb[0] - nc[0], -na[1] - nb[1] - nc[1], -na[2] - nb[2] - nc[2])
    la, lb, lc, ld = dot(na, na), dot(nb, nb), dot(nc, nc), dot(nd, nd)
    largest = max(-dot(na, nb) / np.sqrt(la * lb), -dot(na, nc) / np.sqrt(la * lc), -dot(na, nd) / np.sqrt(la * ld))
    largest = max(largest, -dot(nb, nc) / np.sqrt(lb * lc), -dot(nb, nd) / np.sqrt(lb * ld))
    return max(largest, -dot(nc, nd) / np.sqrt(lc * ld))


@kernel
def _tet_cosine(points, tets, e):
    a, b = _triple(points, tets[e, 0]), _triple(points, tets[e, 1])
    return _largest_cosine(a, b, _triple(points, tets[e, 2]), _triple(points, tets[e, 3]))


@kernel
def tet_cosines(points, tets, cosine_out):
    """Cosine of the smallest dihedral angle of each tet (m,); 2 for flat and inverted ones."""
    for e in range(len(tets)):
        cosine_out[e] = _tet_cosine(points, tets, e)


@kernel
def _worst_around(points, tets, starts, incident, v, enough):
    """The largest cosine of the tets around a node; any that is not below `enough` will do."""
    worst = -1.0
    for c in range(starts[v], starts[v + 1]):
        worst = max(worst, _tet_cosine(points, tets, incident[c]))
        if worst >= enough:
            return worst
    return worst


@kernel
def _direction(k):
    """14 directions: along axes and diagonals of a cube."""
    if k < 6:
        sign = 1.0 - 2.0 * (k & 1)
        return (sign if k < 2 else 0.0, sign if 2 <= k < 4 else 0.0, sign if k >= 4 else 0.0)
    k -= 6
    return (
        DIAGONAL * (1.0 - 2.0 * (k & 1)),
        DIAGONAL * (1.0 - 2.0 * ((k >> 1) & 1)),
        DIAGONAL * (1.0 - 2.0 * (k >> 2)),
    )


@kernel
def improve(points, tets, starts, incident, nodes, kind, enough, size, surface, curves):
    """Move the nodes, one after the other, so that the largest cosine around each shrinks to `enough` or as far as it
    goes: the best of trial steps, put back on the surface or the curve. Returns how many moved.

    surface, curves: (corners (m, 9), order, node) of triangles and of sharp edges.
    """
    moved = 0
    for i in range(len(nodes)):
        v = nodes[i]
        if kind[v] == FIXED:
            continue
        worst = _worst_around(points, tets, starts, incident, v, 1e300)
        if worst <= enough:
            continue
        start, changed = worst, False
        for step in STEPS:
            for _ in range(4):
                home, best, better = _triple(points, v), worst, False
                place = home
                for k in range(14):
                    d = _direction(k)
                    length = step * size
                    p = (home[0] + length * d[0], home[1] + length * d[1], home[2] + length * d[2])
                    if kind[v] == SURFACE:
                        p, _ = _closest(p, surface[0], surface[1], surface[2])
                    elif kind[v] == CURVE:
                        p, _ = _closest(p, curves[0], curves[1], curves[2])
                    points[v, 0], points[v, 1], points[v, 2] = p
                    found = _worst_around(points, tets, starts, incident, v, best)
                    if found < best - 1e-9:
                        best, place, better = found, p, True
                points[v, 0], points[v, 1], points[v, 2] = place
                if not better:
                    break
                worst, changed = best, True
                if worst <= enough:
                    break
            if worst <= enough:
                break
        if changed and worst < start:
            moved += 1
    return moved
