"""Convex solids for the narrow phase: codes, their cores, and farthest points of cores.

A solid is its core and a radius around it. Spheres and capsules are round (a point, a segment), triangles may have a
thickness; boxes, cylinders, cones and hulls have cores shrunk by a margin, so that the distance of two cores, and with
it the normal of a contact, is known to the last digits while the solids touch or overlap a little.

Compiled code passes a solid as a tuple: code; parameter (4), as of the shape, and the margin (thickness of a triangle)
[m]; index; points (.., 3). Index is the hull's in `Hulls`, and points are Hulls.points, or it is the row of the first
of a triangle's three corners in points; other solids have no use for either.
"""

import math

import numpy as np

from pliant.formulas.matrix3 import add, dot, multiply_vector, subtract, transpose_multiply_vector
from pliant.formulas.support import box_support, discs_support, shrunk_discs
from pliant.jit import kernel
from pliant.kernels.shapes import BOX, CAPSULE, CONE, CYLINDER, HULL, SPHERE, TRIANGLE

# Families of cores: the hull of two discs, a box, a list of points.
DISCS, BLOCK, POINTS = range(3)
SPACE_DIAGONAL = math.sqrt(3.0)


@kernel
def rounding(solid):
    """Radius [m] around a solid's own core: of spheres and capsules, thickness of triangles; else zero."""
    code, parameter, _, _ = solid
    if code in (SPHERE, CAPSULE):
        return parameter[0]
    return parameter[3] if code == TRIANGLE else 0.0


@kernel
def discs_of(solid):
    """The two discs (r0, z0, r1, z1) of a round solid; of spheres and capsules, those of their cores."""
    code, parameter, _, _ = solid
    if code == SPHERE:
        return (0.0, 0.0, 0.0, 0.0)
    if code == CAPSULE:
        return (0.0, -parameter[1], 0.0, parameter[1])
    return (parameter[0], -parameter[1], 0.0 if code == CONE else parameter[0], parameter[1])


@kernel
def core_of(solid, hulls, margin):
    """Core of a solid, shrunk by a margin where it is sharp: family, size (4), first row of points, end of rows."""
    code, parameter, index, _ = solid
    if code == BOX:
        return BLOCK, (parameter[0] - margin, parameter[1] - margin, parameter[2] - margin, 0.0), 0, 0
    if code == HULL:
        rows = hulls.core_range if margin > 0.0 else hulls.vertex_range
        return POINTS, (0.0, 0.0, 0.0, 0.0), rows[index, 0], rows[index, 1]
    if code == TRIANGLE:
        return POINTS, (0.0, 0.0, 0.0, 0.0), index, index + 3
    discs = discs_of(solid)
    if margin > 0.0 and code in (CYLINDER, CONE):
        return DISCS, shrunk_discs(discs, margin), 0, 0
    return DISCS, discs, 0, 0


@kernel
def overhang(solid, hulls, margin):
    """How far a solid reaches beyond its core at most [m]."""
    code, _, index, _ = solid
    if margin == 0.0:
        return rounding(solid)
    if code == BOX:
        return SPACE_DIAGONAL * margin
    if code == HULL:
        return hulls.overhang[index]
    discs = discs_of(solid)
    core = shrunk_discs(discs, margin)
    return math.hypot(discs[0] - core[0], margin) + math.hypot(discs[2] - core[2], discs[3] - core[3])


@kernel
def support(core, points, d):
    """Point of a core that is farthest along d, in its own frame."""
    family, size, start, stop = core
    if family == BLOCK:
        return box_support(size, d)
    if family == DISCS:
        return discs_support(size, d)
    best, most = start, -np.inf
    for i in range(start, stop):
        along = points[i, 0] * d[0] + points[i, 1] * d[1] + points[i, 2] * d[2]
        if along > most:
            best, most = i, along
    return (points[best, 0], points[best, 1], points[best, 2])


@kernel
def difference_support(core_a, points_a, frame, offset, core_b, points_b, d):
    """Farthest point along d of a minus b, in b's frame: the point of a, and the difference. frame, offset: a's pose"""
    a = add(offset, multiply_vector(frame, support(core_a, points_a, transpose_multiply_vector(frame, d))))
    return a, subtract(a, support(core_b, points_b, (-d[0], -d[1], -d[2])))


@kernel
def reach_along(core, points, d):
    """How far a core extends along d from its frame's origin [m]."""
    return dot(d, support(core, points, d))
