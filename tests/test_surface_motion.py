"""Moving surfaces: times of impact never late and hardly early; surfaces that pass through or lie inside each other."""

import numpy as np
import pytest

import surface_shapes as shapes
from pliant.collide.intersections import APART, CROSSING, TOUCHING, exact_answer, inside, intersections
from pliant.collide.surface_contacts import Surfaces
from pliant.kernels.collide import EDGE_EDGE, VERTEX_FACE
from pliant.kernels.cpu.collide.continuous import impact_times
from pliant.kernels.device import HOST

VERTEX, EDGE = 1, 2
DISTANCE = {VERTEX: shapes.point_triangle, EDGE: shapes.segment_segment}


def times_of(own, start, end, minimum, slack=0.1, keep=1.0):
    """Times of pairs (k, 4, 3) that move straight."""
    count = len(start)
    nodes, time = np.arange(4 * count).reshape(count, 4), np.empty(count)
    radius = np.repeat(0.5 * np.broadcast_to(np.asarray(minimum, float), count), 4)
    impact_times(nodes, own, start.reshape(-1, 3), end.reshape(-1, 3), radius, keep, slack, time)
    return time


def distance_at(own, start, end, time):
    """Distances of pairs at a time (k,) each."""
    at = start + np.asarray(time)[:, None, None] * (end - start)
    return DISTANCE[own](*(at[:, i] for i in range(4)))


def first_time(own, start, end, minimum, samples=400):
    """First time at which pairs are at their minimum, by many samples and bisection; above 1 if never."""
    grid = np.linspace(0, 1, samples)
    below = np.array([distance_at(own, start, end, np.full(len(start), time)) <= minimum for time in grid])
    hit, first = below.any(axis=0), np.maximum(below.argmax(axis=0), 1)
    low, high = grid[first - 1], grid[first]
    for _ in range(52):
        middle = (low + high) / 2
        under = distance_at(own, start, end, middle) <= minimum
        low, high = np.where(under, low, middle), np.where(under, middle, high)
    return np.where(hit, high, 2.0)


def first_crossing(own, start, end):
    """First time at which the four points of pairs lie in one plane and both sides meet there, or 2."""
    thirds, size = np.linspace(0, 1, 4), np.abs(start).max(axis=(1, 2), keepdims=True)
    start, end = start / size, end / size
    at = start + thirds[:, None, None, None] * (end - start)
    volume = np.linalg.det(at[:, :, 1:] - at[:, :, :1])
    cubics = np.linalg.solve(np.vander(thirds), volume)
    time = np.full(len(start), 2.0)
    for k, cubic in enumerate(cubics.T):
        roots = np.roots(cubic) if np.any(cubic) else np.zeros(0)
        roots = np.sort(roots[(np.abs(roots.imag) < 1e-9) & (roots.real >= 0) & (roots.real <= 1)].real)
        for root in roots:
            if distance_at(own, start[k : k + 1], end[k : k + 1], [root])[0] < 1e-9:
                time[k] = min(time[k], root)
    return time


def check(own, start, end, minimum, slacks=(0.1,)):
    """Times are safe, and at them no more than the slack of the gap is left; how many pairs are said to meet, and how
    many do."""
    size = np.abs(np.concatenate([start, end], axis=1)).max(axis=(1, 2))
    minimum = np.broadcast_to(np.asarray(minimum, float), len(start))
    gap = distance_at(own, start, end, np.zeros(len(start))) - minimum
    truth, met = np.minimum(first_time(own, start, end, minimum), first_crossing(own, start, end)), []
    for slack in slacks:
        time = times_of(own, start, end, minimum, slack)
        assert np.all((time >= 0) & (time <= 1))
        assert np.all(time <= truth + 1e-12)
        for share in np.linspace(0, 1, 30):
            assert np.all(distance_at(own, start, end, share * time) > minimum)
        left = distance_at(own, start, end, time) - minimum
        assert np.all(left[time < 1] <= slack * gap[time < 1] + 1e-13 * size[time < 1])
        met.append(np.count_nonzero(time < 1))
    return *met, np.count_nonzero(truth <= 1)


@pytest.mark.parametrize("own", [VERTEX, EDGE])
def test_random_pairs(own):
    """2,000 pairs of sizes from 1e-6 to 1e3, half of which aim at each other; the least distance is nothing, or up to
    half of the first."""
    rng = np.random.default_rng(own)
    start, motion = rng.normal(size=(2000, 4, 3)), rng.normal(size=(2000, 4, 3))
    start[:, own:] += 2 * rng.normal(size=(2000, 1, 3))
    aim = start[:, own:].mean(axis=1) - start[:, :own].mean(axis=1)
    motion[:1000, :own] = 0.3 * motion[:1000, :own] + 2 * aim[:1000, None]
    motion[:1000, own:] *= 0.3
    size = 10.0 ** rng.uniform(-6, 3, (2000, 1, 1))
    start, motion = size * start, size * motion * 10.0 ** rng.uniform(-1, 1, (2000, 1, 1))
    apart = distance_at(own, start, start, np.zeros(2000))
    minimum = np.where(rng.random(2000) < 0.5, 0, 0.5 * rng.random(2000)) * apart
    wide, narrow, least, met = check(own, start, start + motion, minimum, (0.1, 1e-3, 1e-6))
    assert 300 < met <= least <= narrow < wide < 1900
    assert narrow <= 1.02 * met + 5  # few are called early that pass by


@pytest.mark.parametrize("own", [VERTEX, EDGE])
def test_pairs_nearly_in_one_plane(own):
    """Squeezed by 1e-8 along z, 4,000 pairs meet when they met before: that does not depend on the scale of an axis."""
    start, end = np.random.default_rng(7 * own).normal(size=(2, 4000, 4, 3))
    truth, squeeze = first_crossing(own, start, end), np.array([1, 1, 1e-8])
    apart = distance_at(own, start * squeeze, end, np.zeros(4000)) > 1e-9
    for slack in (0.1, 1e-3):
        time = times_of(own, start * squeeze, end * squeeze, 0.0, slack)
        assert np.all(time[apart] <= truth[apart] + 1e-12)
        first, left = (distance_at(own, start * squeeze, end * squeeze, at) for at in (0 * time, time))
        early = apart & (time < 1)
        assert np.all(left[early] <= slack * first[early] + 3e-13)


@pytest.mark.parametrize("own", [VERTEX, EDGE])
def test_fast_pairs(own):
    """A thousand times their size in one step, through each other or past."""
    rng = np.random.default_rng(own)
    start = rng.normal(size=(500, 4, 3))
    ways = rng.normal(size=(500, 1, 3))
    ways /= np.linalg.norm(ways, axis=2, keepdims=True)
    aside = 0.7 * rng.normal(size=(500, 1, 3)) - 40 * ways
    start[:, :own] += start[:, own:].mean(axis=1, keepdims=True) - start[:, :own].mean(axis=1, keepdims=True) + aside
    end = start.copy()
    end[:, :own] += 1000 * ways
    time, truth = times_of(own, start, end, 0.0, slack=1e-3), first_crossing(own, start, end)
    assert np.all(time <= truth + 1e-12)
    assert 50 < np.count_nonzero(truth <= 1) <= np.count_nonzero(time < 1) < 500
    met = time < 1
    first, left = distance_at(own, start, end, 0 * time), distance_at(own, start, end, time)
    assert np.all(left[met] <= 1e-3 * first[met] + 1e-10)


def pair(*points):
    return np.array([points], float)


def test_parallel_edges_that_slide_and_that_meet():
    edges = pair((0, 0, 0), (1, 0, 0), (0.2, 0, 0.1), (1.7, 0, 0.1))
    for slide in (1, 1e3, 1e6):
        moved = edges + np.array([[[0, 0, 0]], [[0, 0, 0]], [[slide, 0, 0]], [[slide, 0, 0]]]).reshape(1, 4, 3)
        assert times_of(EDGE, edges, moved, 0.05)[0] == 1
    down = edges - np.array([0, 0, 1, 1]).reshape(1, 4, 1) * (0.3, 0, 0.2)
    (time,) = times_of(EDGE, edges, down, 0.05, slack=0.01)
    assert 0.2475 <= time <= 0.25
    collinear = pair((0, 0, 0), (1, 0, 0), (2, 0, 0), (3, 0, 0))
    (time,) = times_of(EDGE, collinear, collinear + pair((4, 0, 0), (4, 0, 0), (0, 0, 0), (0, 0, 0)), 0.0, slack=0.01)
    assert 0.2475 <= time <= 0.25


def test_motion_within_one_plane():
    rng = np.random.default_rng(5)
    for own in (VERTEX, EDGE):
        start, end = rng.normal(size=(2, 400, 4, 3)) * (1, 1, 0)
        apart = distance_at(own, start, end, np.zeros(400)) > 0
        assert np.all(times_of(own, start, end, 0.0)[~apart] == 0)
        met = check(own, start[apart], end[apart], 0.0)
        assert min(met) > 50


def test_a_vertex_that_hits_an_edge_or_a_corner_exactly():
    triangle = ((0, 0, 0), (1, 0, 0), (0, 1, 0))
    for place in ((0.5, 0, 0), (0.5, 0.5, 0), (0, 0, 0), (0, 1, 0)):
        start = pair((*place[:2], 1), *triangle)
        end = pair((*place[:2], -1), *triangle)
        (time,) = times_of(VERTEX, start, end, 0.0, slack=1e-3)
        assert 0.4995 <= time < 0.5
        aside = pair((place[0] - 1, place[1] - 1, 0), *triangle)
        beyond = pair((place[0] + 1, place[1] + 1, 0), *triangle)
        assert times_of(VERTEX, aside, beyond, 0.0)[0] <= 0.5


def test_things_without_extent_and_pairs_without_a_gap():
    rng = np.random.default_rng(6)
    start, motion = rng.normal(size=(300, 4, 3)), rng.normal(size=(300, 4, 3))
    motion[:, 0] += 2 * (start[:, 1] - start[:, 0])
    start[:, 2], motion[:, 2] = start[:, 1], motion[:, 1]
    start[:150, 3], motion[:150, 3] = start[:150, 1], motion[:150, 1]
    check(VERTEX, start, start + motion, 0.0)
    check(EDGE, start[150:, [0, 3, 1, 2]], (start + motion)[150:, [0, 3, 1, 2]], 0.0)
    check(EDGE, start[150:, [0, 0, 1, 2]], (start + motion)[150:, [0, 0, 1, 2]], 0.0)
    touching = pair((0.2, 0.2, 0), (0, 0, 0), (1, 0, 0), (0, 1, 0))
    assert times_of(VERTEX, touching, touching, 0.0)[0] == 1  # nothing moves
    assert times_of(VERTEX, touching, touching + pair((0, 0, 1), *[(0, 0, 0)] * 3), 0.0)[0] == 0
    above = touching + pair((0, 0, 0.01), *[(0, 0, 0)] * 3)
    leaving, coming = (above + pair((0, 0, z), *[(0, 0, 0)] * 3) for z in (1, -1))
    assert times_of(VERTEX, above, leaving, 0.05)[0] == 0
    assert times_of(VERTEX, above, leaving, 0.05, keep=0.5)[0] == 1
    assert 0.0045 <= times_of(VERTEX, above, coming, 0.05, keep=0.5)[0] <= 0.005


def test_tiny_gaps_far_from_the_origin():
    far = np.array([1e3, -2e3, 5e2])
    start = pair((0.2, 0.2, 1e-9), (0, 0, 0), (1, 0, 0), (0, 1, 0)) + far
    end = start - pair((0, 0, 2e-9), *[(0, 0, 0)] * 3)
    (time,) = times_of(VERTEX, start, end, 0.0)
    assert 0 < time < 0.5


# ---- whole scenes


def surfaces_of(*parts, own=True):
    x, triangles, body = shapes.join(*parts)
    allowed = np.ones((len(parts), len(parts)), bool)
    if not own:
        np.fill_diagonal(allowed, False)
    return x, body, Surfaces(HOST, triangles, body, x, allowed)


def test_earliest_impacts_of_a_scene():
    """Three cubes in a row: the last flies 1 m to the middle one, 0.5 m away; the first stays alone."""
    x, body, surfaces = surfaces_of(shapes.cube(-3, 0, 0), shapes.cube(), shapes.cube(1.5, 0.2, 0.1))
    end = x - (body == 2)[:, None] * (1, 0, 0)
    found = surfaces.impacts(x, end, np.zeros(len(x)), slack=0.01)
    assert 0.495 <= found.earliest <= 0.5
    assert np.array_equal(found.by_body, [1, found.earliest, found.earliest])
    assert set(found.kind) == {VERTEX_FACE, EDGE_EDGE}
    assert np.all(np.diff(found.kind) >= 0)
    start, triangles = x, surfaces.index.triangles
    for own, kind in ((VERTEX, VERTEX_FACE), (EDGE, EDGE_EDGE)):
        of_kind = found.kind == kind
        i, j = found.first[of_kind], found.second[of_kind]
        edges = surfaces.index.edges
        nodes = np.column_stack([i, triangles[j]]) if own == VERTEX else np.hstack([edges[i], edges[j]])
        assert np.array_equal(found.time[of_kind], times_of(own, start[nodes], end[nodes], 0.0, 0.01, 0.5))
    still = surfaces.impacts(x, x, np.zeros(len(x)))
    assert len(still.time) == 0
    assert still.earliest == 1


def test_impacts_are_all_that_there_are():
    """Two bumpy sheets through each other, which also crumple; against all pairs."""
    rng = np.random.default_rng(7)
    sheet = shapes.grid(4, lambda x, y: 0.05 * rng.normal(size=np.shape(x)))
    x, body, surfaces = surfaces_of(sheet, shapes.shifted_surface(sheet, 0.1, 0.05, 0.5))
    end = x + (body == 1)[:, None] * (0.1, 0, -1) + 0.2 * rng.normal(size=x.shape)
    found = surfaces.impacts(x, end, np.full(len(x), 0.005), keep=1.0)
    index, earliest = surfaces.index, []
    of_kind = {
        VERTEX_FACE: (VERTEX, index.vertices[:, None], index.triangles),
        EDGE_EDGE: (EDGE, index.edges, index.edges),
    }
    for kind, (own, firsts, seconds) in of_kind.items():
        i, j = (numbers.ravel() for numbers in np.indices((len(firsts), len(seconds))))
        nodes = np.hstack([firsts[i], seconds[j]])
        apart = (nodes[:, :own, None] != nodes[:, None, own:]).all(axis=(1, 2)) & ((own == VERTEX) | (i < j))
        i, j, nodes = i[apart], j[apart], nodes[apart]
        time = times_of(own, x[nodes], end[nodes], 0.01)
        truth = first_time(own, x[nodes], end[nodes], 0.01)
        known = dict(zip(zip(firsts[i, 0] if own == VERTEX else i, j), time))
        chosen = found.kind == kind
        listed = dict(zip(zip(found.first[chosen], found.second[chosen]), found.time[chosen]))
        assert listed.items() <= known.items()  # boxes may rule out pairs that only come near
        assert {pair for pair, meets in zip(known, truth <= 1) if meets} <= set(listed)
        earliest.append(min(listed.values()))
    assert found.earliest == min(earliest)
    # at the earliest time nothing has passed through anything
    assert len(intersections(surfaces, x + found.earliest * (end - x))[0]) == 0
    assert len(intersections(surfaces, end)[0]) > 0


# ---- intersections

TRIANGLE = ((0, 0, 0), (1, 0, 0), (0, 1, 0))
CASES = {
    "through the inside": (((0.2, 0.2, -1), (0.3, 0.2, 1)), CROSSING),
    "past it": (((0.8, 0.8, -1), (0.8, 0.8, 1)), APART),
    "ends before it": (((0.2, 0.2, 2), (0.2, 0.2, 1)), APART),
    "ends on it": (((0.25, 0.25, 0), (0.2, 0.2, 1)), TOUCHING),
    "ends a rounding above it": (((0.25, 0.25, 1e-300), (0.2, 0.2, 1)), APART),
    "ends a rounding below it": (((0.25, 0.25, -1e-300), (0.2, 0.2, 1)), CROSSING),
    "through a side": (((0.5, 0, -1), (0.5, 0, 1)), TOUCHING),
    "a rounding beside a side": (((0.5, -1e-200, -1), (0.5, -1e-200, 1)), APART),
    "a rounding within a side": (((0.5, 1e-200, -1), (0.5, 1e-200, 1)), CROSSING),
    "through a corner": (((0, 0, -1), (0, 0, 1)), TOUCHING),
    "in the plane, across": (((-1, 0.5, 0), (1, 0.25, 0)), TOUCHING),
    "in the plane, inside": (((0.1, 0.1, 0), (0.2, 0.3, 0)), TOUCHING),
    "in the plane, apart": (((0.6, 0.6, 0), (1, 0.2, 0)), APART),
    "in the plane, along a side": (((-1, 0, 0), (0.5, 0, 0)), TOUCHING),
    "in the plane, behind a side": (((1.5, 0, 0), (2, 0, 0)), APART),
}


@pytest.mark.parametrize("name", CASES)
def test_an_edge_and_a_triangle(name):
    """The edge is a side of a triangle that lies elsewhere, as seen along any axis."""
    (p, q), wanted = CASES[name]
    for turn in range(3):
        points = np.roll(np.array([p, q, *TRIANGLE]), turn, axis=1)
        assert exact_answer(*points) == wanted
        x, _, surfaces = surfaces_of((points[2:], [[0, 1, 2]]), (points[:2], [[0, 1, 1]]))
        pairs, answers = intersections(surfaces, x)
        edge = next(k for k, ends in enumerate(surfaces.index.edges) if set(ends) == {3, 4})
        found = {tuple(pair): answer for pair, answer in zip(pairs.tolist(), answers)}
        assert found.get((edge, 0), APART) == wanted


def test_random_edges_and_triangles_as_exact_arithmetic_says():
    """On a lattice most answers are ties."""
    rng = np.random.default_rng(8)
    points = rng.integers(-2, 3, (400, 5, 3)).astype(float)
    points[::2] += 1e-16 * rng.integers(-2, 3, (200, 5, 3))
    tally = set()
    for five in points:
        x, _, surfaces = surfaces_of((five[2:], [[0, 1, 2]]), (five[:2], [[0, 1, 1]]))
        pairs, answers = intersections(surfaces, x)
        edge = next(k for k, ends in enumerate(surfaces.index.edges) if set(ends) == {3, 4})
        found = {tuple(pair): answer for pair, answer in zip(pairs.tolist(), answers)}
        wanted = exact_answer(*five)
        assert found.get((edge, 0), APART) == wanted
        tally.add(wanted)
    assert tally == {APART, CROSSING, TOUCHING}


def test_cubes_that_touch_cross_and_hold_each_other():
    for shift, wanted in (((0, 0, 1.001), set()), ((0, 0, 1), {TOUCHING}), ((0.3, 0.2, 0.9), {CROSSING, TOUCHING})):
        x, _, surfaces = surfaces_of(shapes.cube(), shapes.cube(*shift))
        assert set(intersections(surfaces, x)[1]) <= wanted
        assert bool(len(intersections(surfaces, x)[0])) == bool(wanted)
    x, _, surfaces = surfaces_of(shapes.cube(), shapes.cube(0.3, 0.2, 0.9, seed=3))
    assert CROSSING in intersections(surfaces, x)[1]
    large, small = (4 * shapes.CORNERS, shapes.CUBE), shapes.cube(1, 1.5, 1.2, seed=2)
    x, body, surfaces = surfaces_of(large, small)
    assert len(intersections(surfaces, x)[0]) == 0
    own = {k: surfaces.index.triangles[body[surfaces.index.triangles[:, 0]] == k] for k in (0, 1)}
    assert inside(HOST, x[body == 1], x, own[0]).all()
    assert not inside(HOST, x[body == 0], x, own[1]).any()


def test_points_inside_a_closed_surface():
    rng = np.random.default_rng(9)
    points, triangles = shapes.cube()
    where = rng.uniform(-0.5, 1.5, (500, 3))
    wanted = np.all((where > 0) & (where < 1), axis=1)
    assert np.array_equal(inside(HOST, where, points, triangles), wanted)
    # beside sides and corners, and in the planes of the faces
    near = np.array([[1 - 1e-9, 0.5, 0.5], [1 + 1e-9, 0.5, 0.5], [1, 1.5, 0.5], [1 - 1e-9] * 3, [1 + 1e-9] * 3])
    assert inside(HOST, near, points, triangles).tolist() == [True, False, False, True, False]
