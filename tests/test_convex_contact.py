"""The narrow phase between convex solids against references in NumPy, closed forms and symmetries."""

import itertools

import numpy as np
import pytest
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

from convex_reference import (
    KINDS,
    Solid,
    best_separation,
    collide,
    collide_all,
    floor,
    make,
    margins,
    separation,
    solid_separation,
)
from pliant.collide.hull import MARGIN, build_hulls
from pliant.errors import SceneError
from pliant.kernels.cpu.collide.convex import MISSED
from pliant.kernels.shapes import BOX, CAPSULE, CONE, CYLINDER, HULL, SPHERE, TRIANGLE

CURVED = (CYLINDER, CONE)
NAMES = {SPHERE: "sphere", BOX: "box", CAPSULE: "capsule", CYLINDER: "cylinder", CONE: "cone", HULL: "hull"}
PAIRS = list(itertools.combinations_with_replacement(KINDS, 2))
CUBE = np.array(list(itertools.product((-0.5, 0.5), repeat=3)))


def name(pair):
    return "-".join(NAMES.get(code, "triangle") for code in pair)


def turn(*vector):
    return Rotation.from_rotvec(vector).as_matrix()


def box(x, y, z, position=(0, 0, 0), frame=None):
    return Solid(BOX, (x, y, z), np.array(position, float), np.eye(3) if frame is None else frame)


def check(a, b, contacts, size):
    """Unit normals, one for all; gaps are of the points, along the normal; the least is the solids' own."""
    assert len(contacts.gap)
    for column in contacts:
        assert np.all(np.isfinite(column))
    normal = contacts.normal[0]
    assert np.all(contacts.normal == normal)
    assert abs(np.linalg.norm(normal) - 1) < 1e-12
    bridge = contacts.point_b + contacts.gap[:, None] * normal - contacts.point_a
    assert np.abs(bridge).max() < 1e-13 * (size + np.abs(contacts.point_a).max() + np.abs(contacts.gap).max())
    radius = a.rounding + b.rounding + sum(margins(a, b))
    own = solid_separation(a, b, normal)
    assert -1e-12 * size <= contacts.gap.min() - own <= MISSED * radius + 1e-12 * size
    assert len(set(contacts.feature)) == len(contacts.feature)
    assert contacts.feature.min() >= 0 and contacts.feature.max() < 2**16
    return normal


def placed(a, b, gap, random):
    """a moved so that it is about so far from b."""
    d = random.normal(size=3)
    d /= np.linalg.norm(d)
    a = a.at(a.position + (0.3 - solid_separation(a, b, d)) * d)
    n = collide(a, b).normal[0]
    return a.at(a.position + (gap - solid_separation(a, b, n)) * n)


# ---- distances, depths, normals


@pytest.mark.parametrize("pair", PAIRS, ids=name)
def test_best_normal(pair):
    """The separation along the normal is the largest of all; polytopes' normals are then right too."""
    random = np.random.default_rng(sum(pair))
    curved = any(code in CURVED for code in pair)
    for case in range(4 if curved else (8 if HULL in pair else 24)):
        a, b = (make(code, random) for code in pair)
        gap = (random.uniform(0.01, 0.2), random.uniform(-0.004, 0.001), random.uniform(-0.3, -0.02), None)[case % 4]
        a = a.at(b.position + random.normal(size=3) / 20) if gap is None else placed(a, b, gap, random)
        normal = check(a, b, collide(a, b), 1.0)
        best, reference = best_separation(a, b)
        found = separation(a, b, normal, *margins(a, b))
        assert best - found < (1e-6 if best < 1e-4 and curved else 1e-9)
        if best > 1e-4 and not curved:
            assert np.abs(normal - reference).max() < 1e-9


def test_spheres_and_capsules_by_formulas():
    random = np.random.default_rng(3)
    for _ in range(20):
        a, b = make(SPHERE, random), make(SPHERE, random)
        c = collide(a, b)
        arm = a.position - b.position
        assert abs(c.gap[0] - np.linalg.norm(arm) + a.rounding + b.rounding) < 1e-14
        assert np.abs(c.normal[0] - arm / np.linalg.norm(arm)).max() < 1e-14
        b = make(BOX, random)
        a = placed(a, b, 0.1, random)
        p = b.frame.T @ (a.position - b.position)
        outside = p - np.clip(p, *(np.array(b.parameter[:3]) * sign for sign in (-1, 1)))
        c = collide(a, b)
        assert abs(c.gap[0] - np.linalg.norm(outside) + a.rounding) < 1e-14
        assert np.abs(c.normal[0] - b.frame @ outside / np.linalg.norm(outside)).max() < 1e-12


def test_spheres_alone_are_as_among_others():
    """The loop for scenes of spheres finds what the one for all shapes finds, on planes as well, within reach only."""
    random = np.random.default_rng(3)
    spheres = [Solid(SPHERE, (random.uniform(0.1, 1.0), 0, 0, 0), random.normal(size=3)) for _ in range(12)]
    ground = floor((0.6, 0.0, 0.8))
    among = np.array(list(itertools.combinations(range(12), 2)))
    on_plane = np.array([(k, 12) for k in range(12)])
    for pairs in (among, on_plane):
        which, expected = collide_all([*spheres, ground], pairs, reach=0.5)
        found, contacts = collide_all([*spheres, ground], pairs, reach=0.5, spheres=True)
        np.testing.assert_array_equal(found, which)
        assert 0 < len(found) < len(pairs)
        for column, other in zip(contacts[:4], expected[:4], strict=True):
            np.testing.assert_allclose(column, other, rtol=0, atol=1e-14)


def test_a_ball_on_the_axis_of_a_cone():
    """All normals of the side are equally good: depth of the core's centre below the side is r (h - z) / slant."""
    cone = Solid(CONE, (0.4, 0.6))
    ball = Solid(SPHERE, (0.1, 0, 0, 0), np.array([0, 0, 0.2]))
    depth = 0.4 * (0.6 - 0.2) / np.hypot(0.4, 1.2)
    assert abs(collide(ball, cone).gap[0] + depth + 0.1) < 1e-9


@pytest.mark.parametrize("pair", PAIRS, ids=name)
def test_sides_may_be_swapped_and_everything_moved(pair):
    random = np.random.default_rng(10 + sum(pair))
    for gap in (0.05, -0.002, -0.1):
        a, b = (make(code, random) for code in pair)
        a = placed(a, b, gap, random)
        curved = any(code in CURVED for code in pair)
        here, there = collide(a, b), collide(b, a)
        rotation, shift = Rotation.random(random_state=5).as_matrix(), np.array([3.0, -2.0, 5.0])
        moved = collide(a.turned(rotation, shift), b.turned(rotation, shift))
        others = (-there.normal[0], rotation.T @ moved.normal[0])
        # Distances of round cores 0.01 apart are known to about 1e-13, so normals to half of the digits: 1e-5. Of deep
        # overlaps the depth is known, to 1e-6.
        deep = curved and gap < -0.05
        for normal in others:
            one, two = (separation(a, b, n, *margins(a, b)) for n in (normal, here.normal[0]))
            assert abs(one - two) < (1e-6 if deep else 1e-9)
            assert deep or np.abs(normal - here.normal[0]).max() < (1e-5 if curved else 1e-9)
        if gap > -0.05 and not curved:
            assert np.array_equal(np.sort(moved.feature), np.sort(here.feature))
            for column in ("point_a", "point_b"):
                one, two = getattr(here, column) @ rotation.T + shift, getattr(moved, column)
                assert np.abs(one[np.argsort(here.feature)] - two[np.argsort(moved.feature)]).max() < 1e-8


def test_same_bits_twice():
    random = np.random.default_rng(4)
    solids = [make(code, random) for code in KINDS * 3]
    pairs = np.array(list(itertools.combinations(range(len(solids)), 2)))
    one, two = collide_all(solids, pairs, 0.1), collide_all(solids, pairs, 0.1)
    assert one[0].tobytes() == two[0].tobytes()
    for first, second in zip(one[1], two[1]):
        assert first.tobytes() == second.tobytes()
    assert np.all(np.diff(one[0]) >= 0)


def test_all_pairs_are_as_each_and_room_is_asked_for():
    random = np.random.default_rng(6)
    solids = [make(code, random) for code in KINDS]
    pairs = np.array(list(itertools.combinations(range(len(solids)), 2)))
    which, every = collide_all(solids, pairs, 0.05, 4)
    for k, (i, j) in enumerate(pairs):
        own = collide(solids[i], solids[j], 0.05, 4)
        assert np.array_equal(every.gap[which == k], own.gap)
        assert np.all(own.gap <= 0.05) and len(own.gap) <= 4
    few, _ = collide_all(solids, pairs, 0.05, 4, capacity=5)
    assert len(few) == 5 and len(which) > 5  # cut to the room there is


# ---- degenerate poses and odd sizes


@pytest.mark.parametrize("pair", PAIRS, ids=name)
def test_degenerate_poses(pair):
    random = np.random.default_rng(20)
    a, b = (make(code, random).at(np.zeros(3), np.eye(3)) for code in pair)
    quarter = [turn(*(np.pi / 2 * axis)) for axis in np.eye(3)]
    for frame in (np.eye(3), *quarter, turn(0, 0, np.pi / 4)):
        for d in (np.zeros(3), np.array([0, 0, 1.0]), np.array([1.0, 0, 0]), np.array([1.0, 1.0, 0]), np.ones(3)):
            for gap in (0.0, 1e-9, -1e-9, 0.01, -0.01, -0.3):
                place = a.at(np.zeros(3), frame)
                if np.any(d):
                    unit = d / np.linalg.norm(d)
                    place = place.at((gap - solid_separation(place, b, unit)) * unit)
                check(place, b, collide(place, b), 1.0)


@pytest.mark.parametrize("scale", [1e-4, 1e3])
@pytest.mark.parametrize("pair", PAIRS, ids=name)
def test_tiny_and_huge(pair, scale):
    """Everything scales: the same pair of another size has the same normal and scaled gaps."""
    for seed, gap in enumerate((0.05, -0.002, -0.1)):
        one = placed(*(make(code, np.random.default_rng(seed)) for code in pair), gap, np.random.default_rng(1))
        other = make(pair[1], np.random.default_rng(seed))
        two = make(pair[0], np.random.default_rng(seed), scale).at(one.position * scale)
        large = make(pair[1], np.random.default_rng(seed), scale)
        found, reference = collide(two, large), collide(one, other)
        check(two, large, found, scale)
        curved = any(code in CURVED for code in pair)
        assert np.abs(found.normal[0] - reference.normal[0]).max() < (1e-3 if curved else 1e-7)
        assert abs(found.gap.min() / scale - reference.gap.min()) < (1e-5 if curved else 1e-9)


@pytest.mark.parametrize("thin", [(1, 1, 1e-3), (1, 1e-3, 1e-3), (1e3, 1e3, 1.0)])
def test_plates_and_needles(thin):
    random = np.random.default_rng(7)
    size = max(thin)
    for case in range(30):
        a = box(*thin, frame=Rotation.random(random_state=case).as_matrix())
        other = make((BOX, HULL, CYLINDER)[case % 3], random)
        a = placed(a, other, (0.01, -1e-5, -0.3, -1e-3)[case % 4], random)
        normal = check(a, other, collide(a, other), size)
        if case % 3 < 2:
            best, _ = best_separation(a, other)
            assert best - separation(a, other, normal, *margins(a, other)) < 1e-9 * size


def test_needles_of_other_sizes():
    """A needle's tip is far from its shrunk core, and is met all the same."""
    needle = Solid(CONE, (0.01, 1.0), np.array([0, 0, -1.5 + 1e-4]))
    found = collide(needle, box(0.5, 0.5, 0.5), 0.001)
    assert abs(found.gap.min() + 1e-4) < 1e-9
    points = np.array([[0.01, 0, -1], [-0.01, 0.01, -1], [-0.01, -0.01, -1], [0, 0, 1.0]])
    hull = Solid(HULL, (0, 0, 0), np.array([0, 0, -1.5 + 1e-4]), points=points)
    assert abs(collide(hull, box(0.5, 0.5, 0.5), 0.001).gap.min() + 1e-4) < 1e-9


# ---- manifolds


def area(points):
    return ConvexHull(points[:, :2]).volume


def test_box_flat_on_box():
    for gap in (-1e-3, 0.0, 1e-3):
        c = collide(box(0.5, 0.5, 0.5, (0, 0, 1 + gap)), box(0.5, 0.5, 0.5), 0.01, 4)
        assert np.allclose(np.unique(np.round(c.point_a, 9), axis=0), [[x, y, 0.5 + gap] for x, y in CUBE[::2, :2]])
        assert np.abs(c.gap - gap).max() < 1e-15 and np.all(c.normal == [0, 0, 1])


@pytest.mark.parametrize("shift", [(0.3, 0.0), (0.2, -0.4), (0.98, 0.0)])
def test_box_shifted_on_box(shift):
    """The overlap of the footprints, whole; one narrower than the margins would count as an edge on an edge."""
    c = collide(box(0.5, 0.5, 0.5, (*shift, 1)), box(0.5, 0.5, 0.5), 0.01, 4)
    assert len(c.gap) == 4 and np.abs(c.gap).max() < 1e-14
    assert abs(area(c.point_b) - (1 - abs(shift[0])) * (1 - abs(shift[1]))) < 1e-12


def test_box_turned_on_box():
    c = collide(box(0.5, 0.5, 0.5, (0, 0, 1), turn(0, 0, np.pi / 4)), box(0.5, 0.5, 0.5), 0.01)
    assert len(c.gap) == 8
    assert abs(area(c.point_b) - 2 * (np.sqrt(2) - 1)) < 1e-12
    four = collide(box(0.5, 0.5, 0.5, (0, 0, 1), turn(0, 0, np.pi / 4)), box(0.5, 0.5, 0.5), 0.01, 4)
    assert np.abs(four.point_a.mean(axis=0) - [0, 0, 0.5]).max() < 1e-12  # every second corner
    small = collide(box(0.2, 0.2, 0.2, (0.1, 0, 0.7), turn(0, 0, 0.5)), box(0.5, 0.5, 0.5), 0.01, 4)
    assert abs(area(small.point_a) - 0.16) < 1e-12


def test_tilted_box_on_box():
    """Corners of the lower edge, at their own gaps; the point of an edge across an edge."""
    tilt = 0.1
    a = box(0.2, 0.2, 0.2, (0.05, 0, 0), turn(0, tilt, 0))
    a = a.at(a.position + np.array([0, 0, 0.5 + 0.2 * (np.cos(tilt) + np.sin(tilt)) - 1e-3]))
    c = collide(a, box(0.5, 0.5, 0.5), 0.005)
    assert len(c.gap) == 2 and np.abs(c.gap + 1e-3).max() < 1e-12
    assert np.allclose(np.sort(c.point_a[:, 1]), [-0.2, 0.2])
    a = box(0.5, 0.1, 0.1, frame=turn(np.pi / 4, 0, 0))
    b = box(0.1, 0.5, 0.1, (0, 0, -0.2 * np.sqrt(2) + 1e-3), turn(0, np.pi / 4, 0))
    c = collide(a, b)
    assert len(c.gap) == 1 and abs(c.gap[0] + 1e-3) < 1e-12
    assert np.allclose(c.point_a, [[0, 0, -0.1 * np.sqrt(2)]]) and np.allclose(c.normal, [[0, 0, 1]])
    c = collide(a, a.at(b.position))  # edge along edge
    assert np.allclose(np.sort(c.point_a[:, 0]), [-0.5, 0.5]) and np.abs(c.gap + 1e-3).max() < 1e-12


def test_hulls_are_as_boxes():
    """A cube as a hull has the contacts of the box."""
    frame = turn(0.02, 0.01, 0.4)
    cube = Solid(HULL, (0, 0, 0), np.array([0.2, 0.1, 1.0]), frame, CUBE)
    ground = Solid(HULL, (0, 0, 0), points=CUBE)
    one = collide(cube, ground, 0.02)
    two = collide(box(0.5, 0.5, 0.5, (0.2, 0.1, 1.0), frame), box(0.5, 0.5, 0.5), 0.02)
    assert np.allclose(np.sort(one.gap), np.sort(two.gap), atol=1e-12) and len(one.gap) > 1
    assert np.allclose(one.normal[0], two.normal[0], atol=1e-12)


def test_on_a_plane():
    ground = floor()
    c = collide(box(0.5, 0.4, 0.3, (0, 0, 0.3)), ground, 0.01, 4)
    assert np.allclose(np.abs(c.point_b), [0.5, 0.4, 0]) and len(set(map(tuple, np.sign(c.point_b)[:, :2]))) == 4
    standing = collide(Solid(CYLINDER, (0.2, 0.5), np.array([0, 0, 0.499])), ground, 0.01)
    assert len(standing.gap) == 8 and np.allclose(standing.gap, -1e-3, atol=1e-15)
    assert np.allclose(np.linalg.norm(standing.point_a[:, :2], axis=1), 0.2)
    upright = collide(Solid(CONE, (0.2, 0.5), np.array([0, 0, 0.5])), ground, 0.01)
    assert len(upright.gap) == 8
    ball = collide(Solid(SPHERE, (0.3, 0, 0, 0), np.array([1, 2, 0.29])), ground, 0.01)
    assert np.allclose(ball.point_a, [[1, 2, -0.01]]) and np.allclose(ball.gap, -0.01)
    assert len(collide(Solid(SPHERE, (0.3, 0, 0, 0), np.array([1, 2, 0.5])), ground, 0.01).gap) == 0
    hull = collide(Solid(HULL, (0, 0, 0), np.array([0, 0, 0.5]), points=CUBE), ground, 0.01)
    assert np.allclose(np.abs(hull.point_b), [0.5, 0.5, 0]) and len(hull.gap) == 4


@pytest.mark.parametrize("kind", [CYLINDER, CAPSULE])
@pytest.mark.parametrize("ground", [floor(), box(2, 2, 0.5, (0, 0, -0.5))], ids=["plane", "box"])
def test_rolls_as_a_circle(kind, ground):
    """The ends of the line it lies on, at any angle of rolling, bit for bit where they were."""
    for angle in np.linspace(0, 2, 9):
        frame = turn(0, np.pi / 2, 0) @ turn(0, 0, angle)
        c = collide(Solid(kind, (0.2, 0.5, 0, 0), np.array([0, 0, 0.199]), frame), ground, 0.01)
        order = np.argsort(c.point_a[:, 0])
        assert np.allclose(c.point_a[order], [[-0.5, 0, -0.001], [0.5, 0, -0.001]], atol=1e-12)
        assert np.allclose(c.gap, -0.001, atol=1e-12)


def test_a_tilted_cylinder_stands_on_its_lowest_point():
    for tilt in (1e-7, 1e-5, 1e-3, 0.1, 0.7, 1.2):
        frame = turn(0, tilt, 0) @ turn(0, 0, 0.7)
        height = 0.2 * np.sin(tilt) + 0.5 * np.cos(tilt)
        for ground in (floor(), box(2, 2, 0.5, (0, 0, -0.5))):
            c = collide(Solid(CYLINDER, (0.2, 0.5), np.array([0, 0, height]), frame), ground, 1.0)
            assert 0 <= c.gap.min() + 1e-12 < 1e-5  # the first tilt of a rim may miss a part RIM_TILT of the radius


def test_cylinders_on_each_other():
    lower, upper = Solid(CYLINDER, (0.2, 0.5)), Solid(CYLINDER, (0.2, 0.5), np.array([0, 0, 0.999]), turn(0, 0, 0.3))
    c = collide(upper, lower, 0.01)
    assert len(c.gap) == 8 and np.allclose(c.gap, -1e-3, atol=1e-12)
    assert (
        np.allclose(np.linalg.norm(c.point_a[:, :2], axis=1), 0.2)
        and np.abs(c.point_a[:, :2].mean(axis=0)).max() < 1e-12
    )
    lying = turn(0, np.pi / 2, 0)
    c = collide(Solid(CYLINDER, (0.2, 0.5), np.array([0.3, 0, 0.399]), lying), lower.at(np.zeros(3), lying), 0.01)
    assert np.allclose(np.sort(c.point_a[:, 0]), [-0.2, 0.5]) and np.allclose(c.gap, -1e-3, atol=1e-12)
    across = lower.at(np.array([0.1, 0, 0.399]), turn(np.pi / 2, 0, 0))
    c = collide(across, lower.at(np.zeros(3), lying), 0.01)
    assert len(c.gap) == 1 and np.allclose(c.point_a, [[0.1, 0, 0.199]])


@pytest.mark.parametrize("kind", [BOX, HULL, CYLINDER, CONE, CAPSULE])
def test_gaps_do_not_jump_while_it_tips(kind):
    """Whatever features meet, the lowest place is where it is, on a box as on a plane."""
    solid = Solid(kind, (0.2, 0.3, 0.25 if kind == BOX else 0, 0), points=CUBE if kind == HULL else None)
    down = np.array([0, 0, -1.0])
    for tilt in np.linspace(0, np.pi, 181):
        turned = solid.at(np.zeros(3), turn(0.3 * tilt, tilt, 0) @ turn(0, 0, 0.4))
        turned = turned.at([0.1, 0.05, turned.extent(down) + turned.rounding - 1e-3])
        for ground in (floor(), box(2, 2, 0.5, (0, 0, -0.5))):
            c = collide(turned, ground, 0.01)
            assert -1e-12 <= c.gap.min() + 1e-3 < 1e-4 * 0.2 and np.all(c.normal == [0, 0, 1])


def test_triangles_have_two_sides():
    corners = np.array([[-1, -1, 0], [1, -1, 0], [0, 2, 0.0]])
    for side in (1, -1):
        triangle = Solid(TRIANGLE, (0, 0, 0, 0.01), points=corners)
        c = collide(box(0.1, 0.1, 0.1, (0, 0, side * 0.105)), triangle, 0.01)
        assert len(c.gap) == 4 and np.allclose(c.gap, -0.005) and np.allclose(c.normal, [0, 0, side])
        c = collide(Solid(SPHERE, (0.1, 0, 0, 0), np.array([0, 0, side * 0.105])), triangle, 0.01)
        assert np.allclose(c.point_b, [[0, 0, side * 0.01]]) and np.allclose(c.gap, -0.005)


def test_features_keep_their_names():
    """Small motions that keep the features in touch keep all names."""
    random = np.random.default_rng(8)
    ground = box(0.5, 0.5, 0.5)
    for angle in (0.0, 0.3, np.pi / 4):
        before = None
        for _ in range(10):
            noise = 1e-7 * random.normal(size=6)
            a = box(0.4, 0.5, 0.3, np.array([0.2, 0.1, 0.8]) + noise[:3], turn(*noise[3:]) @ turn(0, 0, angle))
            names = sorted(collide(a, ground, 0.01).feature)
            assert before is None or names == before
            before = names


# ---- hulls


def test_hull_faces_and_cores():
    hulls, margin = build_hulls([CUBE, np.concatenate([CUBE, 0.3 * CUBE])])
    assert np.array_equal(np.diff(hulls.face_start), np.full(12, 4))
    assert np.allclose(margin, MARGIN * 0.5)
    for first, last in hulls.core_range:
        assert np.allclose(np.unique(np.round(hulls.points[first:last], 9), axis=0), CUBE * (1 - MARGIN))
    for face, normal in enumerate(hulls.face_normal):
        ring = hulls.points[hulls.face_vertex[hulls.face_start[face] : hulls.face_start[face + 1]]]
        sides = np.roll(ring, -1, axis=0) - ring
        assert np.all(np.cross(sides, np.roll(sides, -1, axis=0)) @ normal > 0)
    with pytest.raises(SceneError, match="four points"):
        build_hulls([CUBE[:4] * [0, 1, 1]])


def test_cores_keep_faces_at_their_distance():
    random = np.random.default_rng(9)
    hulls, margin = build_hulls([random.normal(size=(30, 3))])
    core = hulls.points[slice(*hulls.core_range[0])]
    for face, normal in enumerate(hulls.face_normal):
        offset = hulls.points[hulls.face_vertex[hulls.face_start[face]]] @ normal
        assert (core @ normal).max() - offset + margin[0] < 1e-12
