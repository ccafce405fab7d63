"""The shallowest direction out of an overlap of two cores, by an expanding polytope (van den Bergen 2001).

Distances of faces are signed, so that the polytope may start anywhere inside a minus b: whether it holds the origin
does not matter, and a tetrahedron of farthest points will do. Every direction that was searched bounds the depth from
above by the cores' own extents; the best of them is the answer, so that rounding can make it worse but never wrong.
"""

import numpy as np

from pliant.formulas.closest import triangle_weights
from pliant.formulas.matrix3 import cross, dot, norm, scale, subtract
from pliant.jit import kernel
from pliant.kernels.cpu.collide.gjk import carried_point, closest_on_face
from pliant.kernels.cpu.collide.solids import difference_support

# Thickness of a minus b, relative to its size, below which it has no inside.
THIN = 1e-10
# Heights above a face that do not count, relative to the size.
LEVEL = 1e-12


@kernel
def _difference(points, i):
    return (points[i, 3], points[i, 4], points[i, 5])


@kernel
def _store(points, i, a, w):
    for c in range(3):
        points[i, c], points[i, 3 + c] = a[c], w[c]


@kernel
def _across(d):
    """A unit vector across d."""
    x, y, z = abs(d[0]), abs(d[1]), abs(d[2])
    axis = (1.0, 0.0, 0.0) if x <= y and x <= z else ((0.0, 1.0, 0.0) if y <= z else (0.0, 0.0, 1.0))
    side = cross(d, axis)
    length = norm(side)
    return scale(1.0 / length, side) if length > 0.0 else (0.0, 0.0, 1.0)


@kernel
def _first_points(core_a, points_a, frame, offset, core_b, points_b, point):
    """Up to four points that span a minus b: how many, its size, and a direction across all that was found."""
    size, longest = 0.0, 0.0
    for axis in range(3):
        for end in range(2):
            up = 1.0 - 2.0 * end
            d = (up if axis == 0 else 0.0, up if axis == 1 else 0.0, up if axis == 2 else 0.0)
            a, w = difference_support(core_a, points_a, frame, offset, core_b, points_b, d)
            _store(point, 2 + end, a, w)
            size = max(size, norm(w))
        length = norm(subtract(_difference(point, 2), _difference(point, 3)))
        if axis == 0 or length > longest:
            longest = length
            for c in range(6):
                point[0, c], point[1, c] = point[3, c], point[2, c]
    if longest <= THIN * size:
        return 1, size, (0.0, 0.0, 1.0)
    start = _difference(point, 0)
    line = scale(1.0 / longest, subtract(_difference(point, 1), start))
    side = _across(line)
    farthest = 0.0
    for _ in range(4):
        a, w = difference_support(core_a, points_a, frame, offset, core_b, points_b, side)
        distance = norm(cross(line, subtract(w, start)))
        if distance > farthest:
            farthest = distance
            _store(point, 2, a, w)
        side = cross(line, side)
    if farthest <= THIN * size:
        return 2, size, side
    normal = cross(line, subtract(_difference(point, 2), start))
    normal = scale(1.0 / norm(normal), normal)
    farthest = 0.0
    for end in range(2):
        a, w = difference_support(core_a, points_a, frame, offset, core_b, points_b, scale(2.0 * end - 1.0, normal))
        distance = abs(dot(normal, subtract(w, start)))
        if distance > farthest:
            farthest = distance
            _store(point, 3, a, w)
    return (4 if farthest > THIN * size else 3), size, normal


@kernel
def _add_triangle(point, plane, triangle, count, i, j, k):
    """A face with its plane; one without area has no plane, and lies too far out to be chosen."""
    triangle[count, 0], triangle[count, 1], triangle[count, 2] = i, j, k
    a, b, c = _difference(point, i), _difference(point, j), _difference(point, k)
    _, normal, square = triangle_weights(a, b, c)
    if square > 0.0:
        normal = scale(1.0 / np.sqrt(square), normal)
        plane[count, 3] = (dot(normal, a) + dot(normal, b) + dot(normal, c)) / 3.0
    else:
        normal, plane[count, 3] = (0.0, 0.0, 0.0), np.inf
    for axis in range(3):
        plane[count, axis] = normal[axis]
    return count + 1


@kernel
def _start(point, plane, triangle):
    """The tetrahedron's four faces, seen counterclockwise from outside."""
    origin = _difference(point, 0)
    one, two = subtract(_difference(point, 1), origin), subtract(_difference(point, 2), origin)
    left = dot(cross(one, two), subtract(_difference(point, 3), origin)) > 0.0
    i, j = (2, 1) if left else (1, 2)
    count = _add_triangle(point, plane, triangle, 0, 0, i, j)
    count = _add_triangle(point, plane, triangle, count, 0, j, 3)
    count = _add_triangle(point, plane, triangle, count, j, i, 3)
    return _add_triangle(point, plane, triangle, count, i, 0, 3)


@kernel
def _open(plane, triangle, edge, count, w, level):
    """Take away the faces that see w: how many faces are left, and how many edges bound the hole."""
    edges, face = 0, 0
    while face < count:
        height = plane[face, 0] * w[0] + plane[face, 1] * w[1] + plane[face, 2] * w[2] - plane[face, 3]
        if not height > level:
            face += 1
            continue
        for side in range(3):
            i, j = triangle[face, side], triangle[face, (side + 1) % 3]
            twin = -1
            for k in range(edges):
                if edge[k, 0] == j and edge[k, 1] == i:
                    twin = k
            if twin >= 0:
                edges -= 1
                edge[twin, 0], edge[twin, 1] = edge[edges, 0], edge[edges, 1]
            else:
                edge[edges, 0], edge[edges, 1] = i, j
                edges += 1
        count -= 1
        for c in range(3):
            triangle[face, c] = triangle[count, c]
        for c in range(4):
            plane[face, c] = plane[count, c]
    return count, edges


@kernel
def _witness(point, triangle, face, simplex):
    """Point of a that belongs to the point of a face nearest to the origin."""
    for k in range(3):
        for c in range(6):
            simplex[k, c] = point[triangle[face, k], c]
    closest_on_face(simplex, 0, 1, 2)
    for k in range(3):
        simplex[k, 7] = simplex[k, 6]
    return carried_point(simplex, 3)


@kernel
def shallowest(core_a, points_a, frame, offset, core_b, points_b, enough, scratch):
    """Unit normal from b to a along which two overlapping cores part soonest, a point of a, and the depth [m] along
    the normal; in b's frame. enough: depth that may be left to gain, relative to the size.

    The flag is false where a minus b has no inside (depth and point are not set then): the normal is across it.
    """
    point, plane, triangle, edge = scratch.point, scratch.plane, scratch.triangle, scratch.edge
    points, size, across = _first_points(core_a, points_a, frame, offset, core_b, points_b, point)
    if points < 4:
        return False, (scale(-1.0, across) if dot(across, offset) < 0.0 else across), (0.0, 0.0, 0.0), 0.0
    faces = _start(point, plane, triangle)
    normal, witness, depth = across, offset, np.inf
    while points < point.shape[0]:
        face = 0
        for k in range(1, faces):
            if plane[k, 3] < plane[face, 3]:
                face = k
        if plane[face, 3] == np.inf:
            break
        outward = (plane[face, 0], plane[face, 1], plane[face, 2])
        a, w = difference_support(core_a, points_a, frame, offset, core_b, points_b, outward)
        bound = dot(outward, w)
        if bound < depth:
            normal, witness, depth = scale(-1.0, outward), _witness(point, triangle, face, scratch.simplex), bound
        if not depth - plane[face, 3] > enough * size or bound - plane[face, 3] <= LEVEL * size:
            break
        faces, edges = _open(plane, triangle, edge, faces, w, LEVEL * size)
        if edges == 0 or faces + edges > plane.shape[0]:
            break
        _store(point, points, a, w)
        for k in range(edges):
            faces = _add_triangle(point, plane, triangle, faces, edge[k, 0], edge[k, 1], points)
        points += 1
    return True, normal, witness, depth
