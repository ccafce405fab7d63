"""Contact points of two features along a normal: polygons and segments clipped by a face, pairs of edges, and fewer
points where there are too many. All in one frame; rows of `found` are the point of a, that of b, and the gap."""

import numpy as np

from pliant.formulas.contact import closest_on_segments
from pliant.formulas.matrix3 import add, cross, dot, norm, scale, subtract
from pliant.jit import kernel

# Corners may lie outside the clipping face by this part of its size: footprints that are the same stay whole.
OUTSIDE = 1e-5
# Sine of an angle below which edges are parallel, and across the normal.
PARALLEL = 0.02
# Of two corners the one is dropped that spans less area, unless they are equal but for this part; then the first.
EQUAL = 1e-6
# Marks of corners and edges of the clipping face follow those of the clipped one; no feature has more than 34.
CLIPPER = 34
# Names of features of one pair are below this; the faces that touch are told by what is above.
NAMES = 2048
FEATURES = 65536


@kernel
def _at(polygon, i):
    return (polygon[i, 0], polygon[i, 1], polygon[i, 2])


@kernel
def _put(polygon, mark, row, p, corner, edge):
    for c in range(3):
        polygon[row, c] = p[c]
    mark[row, 0], mark[row, 1] = corner, edge
    return row + 1


@kernel
def _crossing(p, q, high, low):
    """Where the segment from p (at height high) to q (at height low) has height zero."""
    return add(p, scale(high / (high - low), subtract(q, p)))


@kernel
def _crossing_name(edge, side, sides):
    """Name of the point where a clipped polygon's edge meets a side of the face: a corner of the face if it lies on one
    of the face's own sides, else of both edges."""
    if edge >= CLIPPER:
        before = edge - CLIPPER
        return CLIPPER * CLIPPER + (0 if before == 0 and side == sides - 1 else side)
    return edge * CLIPPER + side


@kernel
def clip_polygon(polygon, mark, count, sides, outward):
    """Clip polygon[0] of count corners by the face polygon[2], seen counterclockwise along -outward (Sutherland and
    Hodgman 1974): which of polygon[0] and polygon[1] holds the answer, and how many corners it has."""
    for k in range(count):
        mark[0, k, 0] = k * CLIPPER + CLIPPER - 1
    now = 0
    for side in range(sides):
        origin = _at(polygon[2], side)
        edge = subtract(_at(polygon[2], (side + 1) % sides), origin)
        inward = cross(outward, edge)
        slack = OUTSIDE * dot(edge, edge)
        kept = 0
        for k in range(count):
            follower = (k + 1) % count
            p, q = _at(polygon[now], k), _at(polygon[now], follower)
            high, low = dot(inward, subtract(p, origin)), dot(inward, subtract(q, origin))
            if high >= -slack:
                leaves = low < -slack and high <= slack
                label = side + CLIPPER if leaves else mark[now, k, 1]
                kept = _put(polygon[1 - now], mark[1 - now], kept, p, mark[now, k, 0], label)
            if high > slack and low < -slack:
                name = _crossing_name(mark[now, k, 1], side, sides)
                kept = _put(polygon[1 - now], mark[1 - now], kept, _crossing(p, q, high, low), name, side + CLIPPER)
            elif high < -slack and low > slack:
                name = _crossing_name(mark[now, k, 1], side, sides)
                kept = _put(polygon[1 - now], mark[1 - now], kept, _crossing(p, q, high, low), name, mark[now, k, 1])
        now, count = 1 - now, min(kept, polygon.shape[1] - 2)
    return now, count


@kernel
def clip_segment(polygon, mark, sides, outward):
    """Clip the two points of polygon[0] by the face polygon[2]: how many are left (0 or 2; in polygon[0])."""
    p, q = _at(polygon[0], 0), _at(polygon[0], 1)
    start, stop, first, last = 0.0, 1.0, CLIPPER - 1, CLIPPER - 1
    for side in range(sides):
        origin = _at(polygon[2], side)
        edge = subtract(_at(polygon[2], (side + 1) % sides), origin)
        inward = cross(outward, edge)
        slack = OUTSIDE * dot(edge, edge)
        high, low = dot(inward, subtract(p, origin)), dot(inward, subtract(q, origin))
        if high < -slack and low < -slack:
            return 0
        if high < -slack and high / (high - low) > start:
            start, first = high / (high - low), side
        if low < -slack and high / (high - low) < stop:
            stop, last = high / (high - low), side
    if start > stop:
        return 0
    edge = subtract(q, p)
    _put(polygon[0], mark[0], 0, add(p, scale(start, edge)), first, 0)
    _put(polygon[0], mark[0], 1, add(p, scale(stop, edge)), CLIPPER + last, 1)
    return 2


@kernel
def note_points(scratch, found, point, direction, gap, first, name):
    """Note a pair of points: the clipped feature's, of a if `first` is 1, and the one across the gap."""
    other = subtract(point, scale(gap, direction))
    a, b = (point, other) if first == 1 else (other, point)
    for c in range(3):
        scratch.found[found, c], scratch.found[found, 3 + c] = a[c], b[c]
    scratch.found[found, 6], scratch.name[found] = gap, name
    return found + 1


@kernel
def face_points(scratch, now, count, face_normal, direction, first, least, reach, offset):
    """Points of polygon[now] that are within reach of the plane of the face polygon[2] along the direction (from the
    face's solid to the other's): how many. No gap is below the solids' own, `least`, though the face may have been
    drawn a little too large. offset: added to names."""
    origin = _at(scratch.polygon[2], 0)
    facing = dot(direction, face_normal)
    found = 0
    for k in range(count):
        p = _at(scratch.polygon[now], k)
        gap = max(dot(face_normal, subtract(p, origin)) / facing, least)
        if gap <= reach:
            found = note_points(scratch, found, p, direction, gap, first, offset + scratch.mark[now, k, 0])
    return found


@kernel
def plane_points(scratch, count, normal, reach):
    """Points of polygon[0] that are within reach of the plane through the origin: how many."""
    found = 0
    for k in range(count):
        p = _at(scratch.polygon[0], k)
        gap = dot(normal, p)
        if gap <= reach:
            found = note_points(scratch, found, p, normal, gap, 1, scratch.mark[0, k, 0] % FEATURES)
    return found


@kernel
def edge_points(scratch, normal, reach, offset):
    """Contact of the segment polygon[0] of a with polygon[1] of b: two points where they are parallel, one where they
    cross; how many, or -1 where they do not face each other along the normal."""
    a0, a1 = _at(scratch.polygon[0], 0), _at(scratch.polygon[0], 1)
    b0, b1 = _at(scratch.polygon[1], 0), _at(scratch.polygon[1], 1)
    u, v = scale(0.5, subtract(a1, a0)), scale(0.5, subtract(b1, b0))
    a, b = add(a0, u), add(b0, v)
    size_u, size_v = norm(u), norm(v)
    if not (abs(dot(u, normal)) <= PARALLEL * size_u and abs(dot(v, normal)) <= PARALLEL * size_v):
        return -1
    if norm(cross(u, v)) > PARALLEL * size_u * size_v:
        s, t = closest_on_segments(a, u, b, v)
        if abs(s) == 1.0 or abs(t) == 1.0:
            return -1
        p = add(a, scale(s, u))
        gap = dot(normal, subtract(p, add(b, scale(t, v))))
        return note_points(scratch, 0, p, normal, gap, 1, offset) if gap <= reach else 0
    middle, half = dot(u, subtract(b, a)) / (size_u * size_u), abs(dot(u, v)) / (size_u * size_u)
    low, high = max(-1.0, middle - half), min(1.0, middle + half)
    if low > high:
        return -1
    found = 0
    for end in range(2):
        p = add(a, scale(low if end == 0 else high, u))
        t = dot(v, subtract(p, b)) / (size_v * size_v)
        q = add(b, scale(min(max(t, -1.0), 1.0), v))
        gap = dot(normal, subtract(p, q))
        if gap <= reach:
            found = note_points(scratch, found, p, normal, gap, 1, offset + 1 + end)
    return found


@kernel
def thin_out(scratch, count, most):
    """Drop corners of a convex polygon, again and again the one that spans the least area, but never the deepest, until
    at most so many are left; returns how many."""
    found, name = scratch.found, scratch.name
    level = EQUAL * norm(subtract(_at(found, 0), _at(found, count // 2)))
    while count > most:
        deepest = 0
        for k in range(1, count):
            if found[k, 6] < found[deepest, 6] - level:
                deepest = k
        drop, least = -1, np.inf
        for k in range(count):
            p, before, after = _at(found, k), _at(found, (k + count - 1) % count), _at(found, (k + 1) % count)
            area = norm(cross(subtract(before, p), subtract(after, p)))
            if k != deepest and area < (1.0 - EQUAL) * least:
                drop, least = k, area
        for k in range(drop, count - 1):
            for c in range(7):
                found[k, c] = found[k + 1, c]
            name[k] = name[k + 1]
        count -= 1
    return count
