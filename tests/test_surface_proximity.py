"""Closest points of points, segments and triangles; boxes that overlap; what a surface is made of."""

import itertools

import numpy as np
import pytest

import surface_shapes as shapes
from pliant.collide.surface_index import index_surface
from pliant.collide.trees import Tree
from pliant.formulas import proximity
from pliant.kernels.device import HOST

SIZES = (1e-6, 1e-3, 1.0, 1e3)


def points_of(rng, size, count):
    """Points of a size: anywhere, in a plane, on a line, on a lattice, some of them equal, far thinner than long."""
    kind = rng.integers(7)
    points = rng.uniform(-1, 1, (count, 3))
    if kind == 1:
        points[:, rng.integers(3)] = 0.25
    elif kind == 2:
        points = points[:, :1] * rng.uniform(-1, 1, 3)
    elif kind == 3:
        points = rng.integers(-1, 2, (count, 3)).astype(float)
    elif kind == 4:
        points[rng.integers(count)] = points[rng.integers(count)]
    elif kind == 5:
        points[:, rng.integers(3)] *= 10.0 ** rng.uniform(-12, 0)
    return size * points


# ---- closest points, against distances computed another way with more digits: right to a few roundings of the size


@pytest.mark.parametrize("size", SIZES)
def test_a_point_and_a_triangle(size):
    rng = np.random.default_rng(1)
    features = set()
    corners_of = {0: [0, 1, 2], 1: [0, 1], 2: [1, 2], 3: [0, 2], 4: [0], 5: [1], 6: [2]}
    for _ in range(600):
        points = points_of(rng, size, 4)
        w, squared, feature = proximity.point_triangle(*map(tuple, points), 0.0)
        features.add(feature)
        assert min(w) >= 0
        assert abs(sum(w) - 1) <= 4e-16
        assert [k for k in range(3) if w[k]] == corners_of[feature]
        exact = points.astype(np.longdouble)
        distance = shapes.exact_point_triangle(points)
        reached = exact[0] - exact[3] - w[0] * (exact[1] - exact[3]) - w[1] * (exact[2] - exact[3])
        assert abs(np.sqrt(squared) - distance) <= 4e-15 * size
        assert abs(np.sqrt(reached @ reached) - distance) <= 4e-15 * size
    assert features == set(corners_of)


@pytest.mark.parametrize("size", SIZES)
def test_two_segments(size):
    rng = np.random.default_rng(2)
    crossings = 0
    for _ in range(2000):
        points = points_of(rng, size, 4)
        s, t, squared, inside = proximity.segment_segment(*map(tuple, points), 0.0)
        assert 0 <= s <= 1
        assert 0 <= t <= 1
        assert not inside or (0 < s < 1 and 0 < t < 1)
        a, b, c, d = points.astype(np.longdouble)
        distance = float(shapes.segment_segment(a, b, c, d))
        reached = a - c + s * (b - a) - t * (d - c)
        assert abs(np.sqrt(squared) - distance) <= 4e-15 * size
        assert abs(np.sqrt(reached @ reached) - distance) <= 4e-15 * size
        crossings += inside
    assert 200 < crossings < 1800


def test_things_without_extent():
    p, q, r = (0.0, 0.0, 0.0), (3.0, 4.0, 0.0), (3.0, 4.0, 12.0)
    assert proximity.point_segment(p, q, q) == (0.0, 25.0)
    assert proximity.segment_segment(p, p, r, r, 0.0)[:3] == (0.0, 0.0, 169.0)
    assert proximity.point_triangle(p, q, q, q, 0.0)[:2] == ((1.0, 0.0, 0.0), 25.0)
    assert proximity.point_triangle((3.0, 4.0, 6.0), q, r, r, 0.0)[:2] == ((0.5, 0.5, 0.0), 0.0)


# ---- boxes


def boxes(name):
    rng = np.random.default_rng(3)
    if name == "random":
        low = rng.random((700, 3))
        return low, low + 0.2 * rng.random((700, 3))
    if name == "touching grid":
        low = np.array(list(itertools.product(range(6), repeat=3)), float)
        return low, low + 1
    if name == "identical":
        return np.ones((40, 3)), np.full((40, 3), 2.0)
    if name == "flat":
        low = rng.random((300, 3)) * (1, 1, 0)
        return low, low + 0.05 * rng.random((300, 3)) * (1, 1, 0)
    low = rng.random((int(name), 3))
    return low, low + 0.5


def overlapping(a, b):
    """All pairs of boxes that overlap, as a matrix."""
    return np.all((a[0][:, None] <= b[1][None]) & (b[0][None] <= a[1][:, None]), axis=2)


NAMES = ("random", "touching grid", "identical", "flat", "0", "1", "2", "5")


@pytest.mark.parametrize("name", NAMES)
def test_pairs_of_boxes_are_all_that_overlap(name):
    own, other = boxes(name), boxes("random")
    tree, second = Tree(HOST, *own), Tree(HOST, *other)
    for moved in (own, (own[0] * (1.0, 0.5, 2.0), own[1] * (1.0, 0.5, 2.0))):
        tree.fit(*moved)
        wanted = overlapping(moved, moved)
        assert sorted(map(tuple, tree.pairs())) == list(zip(*np.nonzero(np.triu(wanted, 1))))
        assert sorted(map(tuple, tree.pairs(second))) == list(zip(*np.nonzero(overlapping(moved, other))))
        assert sorted(map(tuple, second.pairs(tree))) == list(zip(*np.nonzero(overlapping(other, moved))))


def test_boxes_of_one_group_are_no_pairs():
    low, high = boxes("random")
    group = np.random.default_rng(4).integers(-1, 3, len(low))
    wanted = np.triu(overlapping((low, high), (low, high)), 1)
    wanted &= (group[:, None] != group) | (group[:, None] < 0)
    assert sorted(map(tuple, Tree(HOST, low, high, group).pairs())) == list(zip(*np.nonzero(wanted)))


def test_nodes_of_a_tree_hold_boxes_of_one_group():
    """Eight groups of boxes side by side, in any order, as many as leaves have room for: leaves are of one group, and
    so are the nodes above them, but for the seven that join groups."""
    random = np.random.default_rng(5)
    group = random.permutation(np.repeat(np.arange(8), 64))
    low = 0.9 * np.stack([group % 2, group // 2 % 2, group // 4], axis=1) + random.uniform(0, 1, (512, 3))
    tree = Tree(HOST, low, low + 0.1, group)
    assert np.all(tree._node_group[8:] >= 0) and np.all(tree._node_group[1:8] == -1)


def test_trees_are_the_same_every_time():
    low, high = boxes("touching grid")
    first, second = Tree(HOST, low, high), Tree(HOST, low.copy(), high.copy())
    assert np.array_equal(first.order, second.order)
    assert np.array_equal(first.pairs(), second.pairs())
    spread = low * np.random.default_rng(5).permutation(len(low))[:, None]
    first.follow(spread, spread + 1)
    second.build(spread, spread + 1)
    assert np.array_equal(first.pairs(), second.pairs())


def test_the_index_of_a_surface():
    found = index_surface(shapes.CUBE + 2, 12)
    assert np.array_equal(found.vertices, np.arange(2, 10))
    assert len(found.edges) == 18
    assert np.all(found.edges[:, 0] < found.edges[:, 1])
    for t, triangle in enumerate(found.triangles):
        for c in range(3):
            edge = found.triangle_edges[t, c]
            assert set(found.edges[edge]) == {triangle[c], triangle[(c + 1) % 3]}
            assert t in found.edge_triangles[found.edge_start[edge] : found.edge_start[edge + 1]]
            at = found.vertex_triangles[found.vertex_start[triangle[c]] : found.vertex_start[triangle[c] + 1]]
            assert t in at
    assert len(found.vertex_triangles) == 36
    assert np.all(np.diff(found.edge_start) == 2)
