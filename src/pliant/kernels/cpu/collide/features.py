"""Faces, sides and edges with which a solid meets what lies along a direction d; all in the solid's frame.

A face is flat: of a box, a hull, a triangle, the end of a cylinder or cone. A side is the line of a cylinder, cone or
capsule that is farthest along d. Corners are written with a number that names them from step to step.
"""

import math

import numpy as np

from pliant.formulas.matrix3 import cross, dot, norm, scale, subtract
from pliant.formulas.support import side_normal
from pliant.jit import kernel
from pliant.kernels.collide import MOST_CORNERS
from pliant.kernels.cpu.collide.solids import discs_of, rounding
from pliant.kernels.shapes import BOX, CONE, CYLINDER, HULL, TRIANGLE

# A direction, as a tilt, by which the rim points of an upright cylinder are turned: near zero tilt they stay on the
# body, beyond it one of them is the deepest, and they pass from one to the other without a jump.
RIM_TILT = 1e-4
# Points of a rim that is clipped; of one that clips, which is drawn around the rim, so that equal rims stay whole.
RIM, CLIPPING_RIM = 8, 24
INNER_RADIUS = math.cos(math.pi / CLIPPING_RIM)


@kernel
def _point(points, i):
    return (points[i, 0], points[i, 1], points[i, 2])


@kernel
def _farthest(points, start, stop, d):
    best, most = start, -np.inf
    for i in range(start, stop):
        along = dot(_point(points, i), d)
        if along > most:
            best, most = i, along
    return best


@kernel
def _hull_face(index, hulls, d):
    """Of the faces around the farthest vertex along d, the one that looks most along d; cosine and number."""
    vertex = _farthest(hulls.points, hulls.vertex_range[index, 0], hulls.vertex_range[index, 1], d)
    best, most = -1, -2.0
    for face in range(hulls.face_range[index, 0], hulls.face_range[index, 1]):
        cosine = dot(_point(hulls.face_normal, face), d)
        if cosine > most:
            for k in range(hulls.face_start[face], hulls.face_start[face + 1]):
                if hulls.face_vertex[k] == vertex:
                    best, most = face, cosine
    return most, best


@kernel
def _triangle_normal(points, index):
    origin = _point(points, index)
    normal = cross(subtract(_point(points, index + 1), origin), subtract(_point(points, index + 2), origin))
    length = norm(normal)
    return scale(1.0 / length, normal) if length > 0.0 else (0.0, 0.0, 1.0)


@kernel
def best_face(solid, hulls, d):
    """The face that looks most along d: cosine, number of the face, its outward normal; number -1 if there is none."""
    code, _, index, points = solid
    if code == BOX:
        x, y, z = abs(d[0]), abs(d[1]), abs(d[2])
        axis = 0 if x >= y and x >= z else (1 if y >= z else 2)
        up = d[axis] >= 0.0
        sign = 1.0 if up else -1.0
        normal = (sign if axis == 0 else 0.0, sign if axis == 1 else 0.0, sign if axis == 2 else 0.0)
        return abs(d[axis]), 2 * axis + (1 if up else 0), normal
    if code in (CYLINDER, CONE):
        if d[2] >= 0.0:
            return d[2], (1 if code == CYLINDER else -1), (0.0, 0.0, 1.0)
        return -d[2], 0, (0.0, 0.0, -1.0)
    if code == HULL:
        cosine, face = _hull_face(index, hulls, d)
        return cosine, face, _point(hulls.face_normal, face)
    if code == TRIANGLE:
        normal = _triangle_normal(points, index)
        cosine = dot(normal, d)
        return abs(cosine), (1 if cosine >= 0.0 else 0), (normal if cosine >= 0.0 else scale(-1.0, normal))
    return -2.0, -1, d


@kernel
def _write(polygon, mark, row, p, name):
    for c in range(3):
        polygon[row, c] = p[c]
    mark[row, 0], mark[row, 1] = name, row
    return row + 1


@kernel
def _box_face(half, face, polygon, mark):
    axis, up = face // 2, face % 2
    i, j = (axis + 1) % 3, (axis + 2) % 3
    for corner in range(4):
        turn = corner if up == 1 else 3 - corner
        first, second = (0 if turn == 1 or turn == 2 else 1), (0 if turn >= 2 else 1)
        polygon[corner, axis] = half[axis] if up == 1 else -half[axis]
        polygon[corner, i] = half[i] if first == 1 else -half[i]
        polygon[corner, j] = half[j] if second == 1 else -half[j]
        mark[corner, 0], mark[corner, 1] = (up << axis) | (first << i) | (second << j), corner
    return 4


@kernel
def rim_direction(d):
    """Unit vector (x, y) to the point of a rim that is farthest along d, or nearly so: see RIM_TILT."""
    x, y = d[0] + RIM_TILT, d[1]
    length = math.sqrt(x * x + y * y)
    return (x / length if length > 0.0 else 1.0), (y / length if length > 0.0 else 0.0)


@kernel
def _rim(radius, height, face, d, count, polygon, mark):
    """Points of an end's rim, evenly spread, the first of them the farthest along d."""
    x, y = rim_direction(d)
    c, s = math.cos(2.0 * math.pi / count), math.sin(2.0 * math.pi / count)
    s = s if face == 1 else -s
    for k in range(count):
        _write(polygon, mark, k, (radius * x, radius * y, height), k)
        x, y = c * x - s * y, s * x + c * y
    return count


@kernel
def write_face(solid, hulls, face, d, rim_points, radius_share, polygon, mark):
    """Corners of a face, counterclockwise seen from outside; how many. Of very large faces every so many'th corner."""
    code, parameter, index, points = solid
    if code == BOX:
        return _box_face(parameter, face, polygon, mark)
    if code == TRIANGLE:
        for k in range(3):
            _write(polygon, mark, k, _point(points, index + (k if face == 1 else 2 - k)), k if face == 1 else 2 - k)
        return 3
    if code == HULL:
        start, stop = hulls.face_start[face], hulls.face_start[face + 1]
        stride = (stop - start + MOST_CORNERS - 1) // MOST_CORNERS
        count = 0
        for k in range(start, stop, stride):
            vertex = hulls.face_vertex[k]
            count = _write(polygon, mark, count, _point(hulls.points, vertex), vertex - hulls.vertex_range[index, 0])
        return count
    height = parameter[1] if face == 1 else -parameter[1]
    return _rim(radius_share * parameter[0], height, face, d, rim_points, polygon, mark)


@kernel
def _side(discs, d, polygon, mark):
    """Ends of the line of a round solid that is farthest along d."""
    across = math.sqrt(d[0] * d[0] + d[1] * d[1])
    x, y = (d[0] / across if across > 0.0 else 1.0), (d[1] / across if across > 0.0 else 0.0)
    _write(polygon, mark, 0, (discs[0] * x, discs[0] * y, discs[1]), MOST_CORNERS)
    _write(polygon, mark, 1, (discs[2] * x, discs[2] * y, discs[3]), MOST_CORNERS + 1)
    return 2 if discs[3] > discs[1] else 1


@kernel
def _thicken(polygon, count, radius, d):
    if radius > 0.0:
        for k in range(count):
            for c in range(3):
                polygon[k, c] += radius * d[c]


@kernel
def write_nearest(solid, hulls, d, polygon, mark):
    """The face or the side that looks most along d, with its thickness: how many corners, and its number."""
    cosine, face, _ = best_face(solid, hulls, d)
    flat = solid[0] in (BOX, HULL, TRIANGLE)
    if not flat:
        discs = discs_of(solid)
        across, along = side_normal(discs)
        flat = face >= 0 and cosine > across * math.sqrt(d[0] * d[0] + d[1] * d[1]) + along * d[2]
        if not flat:
            count = _side(discs, d, polygon, mark)
            _thicken(polygon, count, rounding(solid), d)
            return count, 2
    count = write_face(solid, hulls, face, d, RIM, 1.0, polygon, mark)
    _thicken(polygon, count, rounding(solid), d)
    return count, face


@kernel
def write_reference(solid, hulls, face, d, polygon, mark):
    """A face that others are clipped by, with its thickness: how many corners."""
    count = write_face(solid, hulls, face, d, CLIPPING_RIM, 1.0 / INNER_RADIUS, polygon, mark)
    _thicken(polygon, count, rounding(solid), d)
    return count


@kernel
def _slope(p, q, d):
    """Sine of the angle by which the segment pq falls from across d."""
    edge = subtract(q, p)
    length = norm(edge)
    return abs(dot(edge, d)) / length if length > 0.0 else 2.0


@kernel
def _corner_edge(code, index, points, hulls, d, polygon, mark):
    """Of the edges that leave the farthest vertex along d, the one most across d."""
    start, stop = index, index + 3
    if code == HULL:
        start, stop = hulls.vertex_range[index, 0], hulls.vertex_range[index, 1]
    vertex = _farthest(points, start, stop, d)
    p, best, least = _point(points, vertex), vertex, 2.0
    if code == TRIANGLE:
        for other in range(start, stop):
            slope = _slope(p, _point(points, other), d)
            if other != vertex and slope < least:
                best, least = other, slope
    else:
        for face in range(hulls.face_range[index, 0], hulls.face_range[index, 1]):
            first, last = hulls.face_start[face], hulls.face_start[face + 1]
            for k in range(first, last):
                if hulls.face_vertex[k] == vertex:
                    other = hulls.face_vertex[k + 1 if k + 1 < last else first]
                    slope = _slope(p, _point(points, other), d)
                    if slope < least:
                        best, least = other, slope
    _write(polygon, mark, 0, _point(points, min(vertex, best)), min(vertex, best) - start)
    _write(polygon, mark, 1, _point(points, max(vertex, best)), max(vertex, best) - start)
    return 2 if best != vertex else 1


@kernel
def write_edge(solid, hulls, d, polygon, mark):
    """The edge or side that is farthest along d and most across it, with its thickness: 2 points, or 1."""
    code, parameter, index, points = solid
    if code == BOX:
        x, y, z = abs(d[0]), abs(d[1]), abs(d[2])
        axis = 0 if x <= y and x <= z else (1 if y <= z else 2)
        for end in range(2):
            name = 0
            for c in range(3):
                up = end == 1 if c == axis else d[c] >= 0.0
                polygon[end, c] = parameter[c] if up else -parameter[c]
                name |= (1 << c) if up else 0
            mark[end, 0], mark[end, 1] = name, end
        return 2
    if code in (HULL, TRIANGLE):
        count = _corner_edge(code, index, points, hulls, d, polygon, mark)
    else:
        count = _side(discs_of(solid), d, polygon, mark)
    _thicken(polygon, count, rounding(solid), d)
    return count
