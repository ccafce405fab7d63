"""Tables and codes of the narrow phase, as compiled loops of any device see them."""

from typing import NamedTuple

import numpy as np

# Kinds of contacts between surfaces: the first side is a vertex but in the last.
VERTEX_FACE, VERTEX_EDGE, VERTEX_VERTEX, EDGE_EDGE = range(4)
# A key of theirs is kind << 60 | first << 30 | second.
INDEX_BITS = 30
# How an edge and a triangle lie.
APART, CROSSING, UNSURE = range(3)
# Part of its inner radius by which the core of a hull, which nothing may reach, is smaller than the hull.
DEPTH = 0.1
# Contacts of a triangle with a solid, at most.
MOST_OF_TRIANGLE = 4


# Most tasks into which the walk through two trees is cut.
MOST_TASKS = 384


class Boxes(NamedTuple):
    """A tree as it is walked: order (n,) of the boxes, box (n, 6) in that order, node (2 leaves, 6), and the group that
    all boxes of a node share, or -1 (kernels.cpu.collide.bvh); way (n, 6), node_way (2 leaves, 6): boxes of what the
    points in them go; leaf (leaves + 1,): first box of each leaf; new (n,), node_new (2 leaves,) bool: what pairs are
    looked for of."""

    order: np.ndarray
    box: np.ndarray
    node: np.ndarray
    node_group: np.ndarray
    way: np.ndarray
    node_way: np.ndarray
    leaf: np.ndarray
    new: np.ndarray
    node_new: np.ndarray


class SurfaceTables(NamedTuple):
    """Triangles over points, with their vertices and edges (collide.surface_index); body (n,) of every point, where it
    is at rest (n, 3) [m], and which bodies may touch, allowed (bodies, bodies)."""

    triangles: np.ndarray
    edges: np.ndarray
    vertices: np.ndarray
    triangle_edges: np.ndarray
    vertex_start: np.ndarray
    vertex_triangles: np.ndarray
    edge_start: np.ndarray
    edge_triangles: np.ndarray
    body: np.ndarray
    rest: np.ndarray
    allowed: np.ndarray


class PatchTables(NamedTuple):
    """A flat sheet cut into patches, leaves of a binary tree (collide.patches).

    triangle_start (patches + 1,), triangle: triangles of each, by their numbers, with nodes (m, 3). vertex_start,
    vertex, vertices (v, 1), edge_start, edge, edges (e, 2): the same. region_start (patches + 1,), region: triangles,
    by their places here, that surround each; around_start, around: the patches of these, and region_end, of each, where
    its triangles end there. inverse (m, 4) [1/m]: of two sides at rest. height (patches,) [m]: the least of a triangle
    that surrounds it. rest_box, surroundings (patches, 4) [m]. most (1,): members of a patch.
    """

    triangle_start: np.ndarray
    triangle: np.ndarray
    nodes: np.ndarray
    vertex_start: np.ndarray
    vertex: np.ndarray
    vertices: np.ndarray
    edge_start: np.ndarray
    edge: np.ndarray
    edges: np.ndarray
    region_start: np.ndarray
    region: np.ndarray
    around_start: np.ndarray
    around: np.ndarray
    region_end: np.ndarray
    inverse: np.ndarray
    height: np.ndarray
    rest_box: np.ndarray
    surroundings: np.ndarray
    most: np.ndarray


class PatchWork(NamedTuple):
    """What is computed of patches, at the start of a way and at its end: gradient (2, m, 6) of every triangle, their
    mean (2, patches, 6) and how far one is from it, spread (2, patches); widest (patches,) [m]: margin of a point."""

    gradient: np.ndarray
    mean: np.ndarray
    spread: np.ndarray
    widest: np.ndarray


class Hulls(NamedTuple):
    """Convex polyhedra of a scene, each in its shape's frame.

    points (p, 3) [m]: vertices of all hulls and of their shrunk cores. vertex_range, core_range, face_range (h, 2):
    first row of a hull's vertices and one past the last, of its core's, of its faces. face_start (f + 1,): first entry
    of a face in face_vertex (k,), rows of points, counterclockwise seen from outside. face_normal (f, 3). overhang (h,)
    [m]: how far a vertex is from the core at most.
    """

    points: np.ndarray
    vertex_range: np.ndarray
    core_range: np.ndarray
    face_range: np.ndarray
    face_start: np.ndarray
    face_vertex: np.ndarray
    face_normal: np.ndarray
    overhang: np.ndarray


class Manners(NamedTuple):
    """What things (t,) say of whom they touch: collides, still bool; group, mask: bits; family: things with the same
    number from 0 on do not touch each other; excluded (k,): sorted keys first * t + second, first < second."""

    collides: np.ndarray
    still: np.ndarray
    group: np.ndarray
    mask: np.ndarray
    family: np.ndarray
    excluded: np.ndarray


class ContactPoints(NamedTuple):
    """Contacts as they are written: point_a, point_b (n, 3) [m] on the surfaces, normal (n, 3) from b to a, gap (n,)
    [m], feature (n,), below 65536, which names the point from step to step while the same features touch."""

    point_a: np.ndarray
    point_b: np.ndarray
    normal: np.ndarray
    gap: np.ndarray
    feature: np.ndarray


# Points of the expanding polytope; a closed surface of n points has 2 n - 4 triangles.
MOST_POINTS = 96
# Corners of a face that are looked at, and of a polygon clipped by another.
MOST_CORNERS = 32
MOST_CLIPPED = 2 * MOST_CORNERS + 2


class Scratch(NamedTuple):
    """simplex (4, 8), and of the polytope: points (.., 6), planes (.., 4), triangles (.., 3), edges (.., 2). Of
    polygons (3, .., 3): being clipped, clipped, and what clips; mark (3, .., 2) whose corner each point is, and on what
    edge the side after it lies. found (.., 7): points of a and of b and their gap; name (..): features."""

    simplex: np.ndarray
    point: np.ndarray
    plane: np.ndarray
    triangle: np.ndarray
    edge: np.ndarray
    polygon: np.ndarray
    mark: np.ndarray
    found: np.ndarray
    name: np.ndarray


def make_scratch() -> Scratch:
    """Scratch for one thread."""
    return Scratch(
        np.zeros((4, 8)),
        np.zeros((MOST_POINTS, 6)),
        np.zeros((2 * MOST_POINTS, 4)),
        np.zeros((2 * MOST_POINTS, 3), np.int64),
        np.zeros((6 * MOST_POINTS, 2), np.int64),
        np.zeros((3, MOST_CLIPPED, 3)),
        np.zeros((3, MOST_CLIPPED, 2), np.int64),
        np.zeros((MOST_CLIPPED, 7)),
        np.zeros(MOST_CLIPPED, np.int64),
    )
