"""Contact points of two convex solids: the normal of their cores, the features that meet along it, their points.

The gap of a contact is how far the solids themselves are apart along the normal, negative where they overlap. It is
their distance where a face, two edges, or anything round meets; where two sharp corners are the closest points it is a
little less, for cores are shrunk.
"""

import numpy as np

from pliant.formulas.matrix3 import (
    add,
    dot,
    multiply_vector,
    norm,
    scale,
    subtract,
    transpose_multiply,
    transpose_multiply_vector,
)
from pliant.jit import kernel
from pliant.kernels.cpu.collide.epa import shallowest
from pliant.kernels.cpu.collide.features import best_face, write_edge, write_nearest, write_reference
from pliant.kernels.cpu.collide.gjk import APART, FAR, closest_cores
from pliant.kernels.cpu.collide.manifold import (
    NAMES,
    clip_polygon,
    clip_segment,
    edge_points,
    face_points,
    note_points,
    plane_points,
    thin_out,
)
from pliant.kernels.cpu.collide.solids import DISCS, core_of, overhang, reach_along, rounding
from pliant.kernels.shapes import SPHERE

# Cosine of the angle between a face and the normal up to which others are clipped by the face (5 degrees).
ALIGNED = 0.996
# By this much more must a's face be aligned than b's to be the one that clips: equals must not take turns.
PREFERENCE = 1e-3
# A normal whose cosine with a face's is this close to one is the face's.
SAME = 1e-12
# Part of the margins by which clipped points may miss the deepest place before it is added.
MISSED = 0.01
# Depth that an expanding polytope may leave to gain, relative to its size: of polytopes, and where more follows.
EXACTLY, ROUGHLY = 1e-9, 1e-6
MOST_POLISHES = 4


@kernel
def _moved(polygon, count, frame, offset):
    for k in range(count):
        p = add(offset, multiply_vector(frame, (polygon[k, 0], polygon[k, 1], polygon[k, 2])))
        for c in range(3):
            polygon[k, c] = p[c]


@kernel
def _face_name(clipping, clipped, first):
    """What names of features start with: the two faces, and whether the clipped one is a's (first is 1)."""
    return NAMES * (1 + (7 * clipping + 13 * clipped + 5 * first) % 31)


@kernel
def _clipped(scratch, count, sides, normal, direction, first, least, reach, name):
    """Points of the feature polygon[0] of one solid over the face polygon[2] of the other."""
    now = 0
    if count > 2:
        now, count = clip_polygon(scratch.polygon, scratch.mark, count, sides, direction)
    elif count == 2:
        count = clip_segment(scratch.polygon, scratch.mark, sides, direction)
    return face_points(scratch, now, count, normal, direction, first, least, reach, name)


@kernel
def _write(scratch, count, normal, frame, position, out, row):
    """Contacts into the rows from `row` on, if all of them fit."""
    if row + count > out.gap.shape[0]:
        return
    n = multiply_vector(frame, normal)
    for k in range(count):
        found = scratch.found[k]
        a = add(position, multiply_vector(frame, (found[0], found[1], found[2])))
        b = add(position, multiply_vector(frame, (found[3], found[4], found[5])))
        for c in range(3):
            out.point_a[row + k, c], out.point_b[row + k, c], out.normal[row + k, c] = a[c], b[c], n[c]
        out.gap[row + k], out.feature[row + k] = found[6], scratch.name[k]


@kernel
def _way_out(core_a, points_a, frame, offset, core_b, points_b, point, scratch):
    """Normal along which overlapping cores part soonest, and a point of a. point: one of both, in case they are flat.

    Of round cores a polytope finds the region. From there, a is moved out along the normal, and the closest points tell
    a better one: with t the way moved, n' the new normal and d, d' the depths, d' <= d - t (1 - n.n').
    """
    curved = core_a[0] == DISCS or core_b[0] == DISCS
    enough = ROUGHLY if curved else EXACTLY
    solid, normal, corner, depth = shallowest(core_a, points_a, frame, offset, core_b, points_b, enough, scratch)
    if not solid:
        return normal, point
    point = corner
    for _ in range(MOST_POLISHES if curved else 0):
        way = scale(1.5 * depth, normal)
        moved = add(offset, way)
        state, v, p = closest_cores(core_a, points_a, frame, moved, core_b, points_b, np.inf, scratch.simplex)
        if state != APART:
            break
        better = scale(1.0 / norm(v), v)
        left = dot(way, better) - norm(v)
        if not left < depth * (1.0 - EXACTLY):
            break
        normal, point, depth = better, subtract(p, way), left
    return normal, point


@kernel
def core_contact(solid_a, frame, offset, solid_b, hulls, reach, scratch):
    """Normal from b to a, a point of a's core, and the radius around both cores [m], in b's frame.

    The flag is false if the solids are farther apart than their reach. Where the other solid is round with a larger
    radius no margin is needed, and sharp solids are taken as they are.
    """
    round_a, round_b = rounding(solid_a), rounding(solid_b)
    margin_a = 0.0 if round_a > 0.0 or round_b >= solid_a[1][3] else solid_a[1][3]
    margin_b = 0.0 if round_b > 0.0 or round_a >= solid_b[1][3] else solid_b[1][3]
    core_a, core_b = core_of(solid_a, hulls, margin_a), core_of(solid_b, hulls, margin_b)
    radius = round_a + round_b + margin_a + margin_b
    beyond = overhang(solid_a, hulls, margin_a)
    cutoff = reach + beyond + overhang(solid_b, hulls, margin_b)
    state, v, point = closest_cores(core_a, solid_a[3], frame, offset, core_b, solid_b[3], cutoff, scratch.simplex)
    if state == FAR:
        return False, v, point, radius
    if state == APART:
        return True, scale(1.0 / norm(v), v), point, radius
    normal, point = _way_out(core_a, solid_a[3], frame, offset, core_b, solid_b[3], point, scratch)
    return True, normal, point, radius


@kernel
def against_plane(solid, position, frame_a, plane, position_b, frame_b, hulls, reach, most, scratch, out, row):
    """Contacts of a solid with a plane, as `convex_pair` has them: the corners of what it meets the plane with."""
    frame = transpose_multiply(frame_b, frame_a)
    offset = transpose_multiply_vector(frame_b, subtract(position, position_b))
    normal = (plane[1][0], plane[1][1], plane[1][2])
    down = transpose_multiply_vector(frame, scale(-1.0, normal))
    lowest = dot(normal, offset) - reach_along(core_of(solid, hulls, 0.0), solid[3], down)
    if lowest - rounding(solid) > reach:
        return 0
    count, _ = write_nearest(solid, hulls, down, scratch.polygon[0], scratch.mark[0])
    _moved(scratch.polygon[0], count, frame, offset)
    count = thin_out(scratch, plane_points(scratch, count, normal, reach), most)
    _write(scratch, count, normal, frame_b, position_b, out, row)
    return count


@kernel
def _features(solid_a, frame, offset, solid_b, hulls, normal, face_a, face_b, least, reach, scratch):
    """Points of the features that meet along the normal, into scratch; faces: (cosine, number, normal) of each solid,
    in its own frame; least: gap of the solids. How many, or -1 where no two features face each other; and what the
    names start with."""
    cosine_a, number_a, normal_a = face_a
    cosine_b, number_b, normal_b = face_b
    up, down = normal, transpose_multiply_vector(frame, scale(-1.0, normal))
    polygon, mark = scratch.polygon, scratch.mark
    by_b = number_b >= 0 and cosine_b >= ALIGNED
    if number_a >= 0 and cosine_a >= ALIGNED and (not by_b or cosine_a > cosine_b + PREFERENCE):
        count, other = write_nearest(solid_b, hulls, up, polygon[0], mark[0])
        sides = write_reference(solid_a, hulls, number_a, down, polygon[2], mark[2])
        _moved(polygon[2], sides, frame, offset)
        name, outward = _face_name(number_a, other, 0), multiply_vector(frame, normal_a)
        return _clipped(scratch, count, sides, outward, scale(-1.0, normal), 0, least, reach, name), name
    if by_b:
        count, other = write_nearest(solid_a, hulls, down, polygon[0], mark[0])
        _moved(polygon[0], count, frame, offset)
        sides = write_reference(solid_b, hulls, number_b, up, polygon[2], mark[2])
        name = _face_name(number_b, other, 1)
        return _clipped(scratch, count, sides, normal_b, normal, 1, least, reach, name), name
    count = write_edge(solid_a, hulls, down, polygon[0], mark[0])
    other = write_edge(solid_b, hulls, up, polygon[1], mark[1])
    if count < 2 or other < 2:
        return -1, NAMES
    _moved(polygon[0], count, frame, offset)
    name = _face_name(mark[0, 0, 0] + 8 * mark[0, 1, 0], mark[1, 0, 0] + 8 * mark[1, 1, 0], 1)
    return edge_points(scratch, normal, reach, name), name


@kernel
def _with_deepest(scratch, count, most, point, normal, gap, missing, name):
    """At most so many points; the deepest place is added if all others are shallower by more than `missing`."""
    least = np.inf
    for k in range(count):
        least = min(least, scratch.found[k, 6])
    if least - gap <= missing:
        return thin_out(scratch, count, most)
    count = thin_out(scratch, max(count, 0), most - 1)
    return note_points(scratch, count, point, normal, gap, 1, name + NAMES - 1)


@kernel
def convex_pair(
    solid_a, position_a, frame_a, solid_b, position_b, frame_b, hulls, reach, most, scratch, out, row
):  # fmt: skip
    """Contacts of two convex solids that are closer than `reach` [m] into rows of `out` from `row` on; how many.

    solid: code, parameter, index, points (see `solids`), no plane. position (3) [m], frame (9): pose of the
    shape's frame. most: contacts at most, 3 to 8. Nothing is written where the rows do not suffice.
    """
    frame = transpose_multiply(frame_b, frame_a)
    offset = transpose_multiply_vector(frame_b, subtract(position_a, position_b))
    near, normal, point, radius = core_contact(solid_a, frame, offset, solid_b, hulls, reach, scratch)
    if not near:
        return 0
    face_a = best_face(solid_a, hulls, transpose_multiply_vector(frame, scale(-1.0, normal)))
    face_b = best_face(solid_b, hulls, normal)
    if face_b[1] >= 0 and face_b[0] > 1.0 - SAME:
        normal = face_b[2]
    elif face_a[1] >= 0 and face_a[0] > 1.0 - SAME:
        normal = scale(-1.0, multiply_vector(frame, face_a[2]))
    down = transpose_multiply_vector(frame, scale(-1.0, normal))
    low = dot(normal, offset) - reach_along(core_of(solid_a, hulls, 0.0), solid_a[3], down)
    high = reach_along(core_of(solid_b, hulls, 0.0), solid_b[3], normal)
    low, high = low - rounding(solid_a), high + rounding(solid_b)
    gap = low - high
    if gap > reach:
        return 0
    point = add(point, scale(low - dot(normal, point), normal))
    count, name = -1, NAMES
    if solid_a[0] != SPHERE and solid_b[0] != SPHERE:
        count, name = _features(solid_a, frame, offset, solid_b, hulls, normal, face_a, face_b, gap, reach, scratch)
    count = _with_deepest(scratch, count, most, point, normal, gap, MISSED * radius, name)
    _write(scratch, count, normal, frame_b, position_b, out, row)
    return count
