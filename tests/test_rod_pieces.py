"""What points of rods touch with: pieces that follow segments, balls at corners, and what that leaves out."""

import warnings
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import pliant as pl

MATERIAL = pl.Material.linear(1e6, 0.3, 1000)


def test_kinks_that_contacts_cannot_follow_are_named():
    step = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [2, 1, 0]]  # of two corners beside each other one is no ball
    with pytest.warns(UserWarning, match="'rod0' turns sharply at point 2"):
        pl.Scene().add_rod(step, MATERIAL, 0.01)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pl.Scene().add_rod(step, MATERIAL, 0.01, collide=False)
        pl.Scene().add_rod(step, MATERIAL, 0.01, segments=10)
        pl.Scene().add_rod(step[:3], MATERIAL, 0.01)


def test_a_corner_touches_where_it_is():
    """A ball that comes to rest on the tip of a roof of two long segments lies on the tip, not below it."""
    scene = pl.Scene()
    roof = scene.add_rod([(-0.6, 0, 0), (0, 0, 0.8), (0.6, 0, 0)], MATERIAL, 0.02, segments=2)
    for i in range(len(roof)):
        roof.clamp(i)
    ball = scene.add_rigid(pl.Sphere(0.05), mass=0.1, position=(0, 0, 0.88), friction=0.0)
    sim = scene.simulate(dt=1 / 60).step(30)
    assert sim.pose(ball)[0][2] == pytest.approx(0.8 + 0.02 + 0.05, abs=1e-4)


def test_segments_with_nothing_that_touches_are_refused():
    corners = np.array([[0, 0, 0], [1, 0, 0], [0.5, 0.9, 0], [0.5, 0.3, 0.8]])
    edges = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    for options in ({}, {"self_contact": False}):  # with themselves; with a ball
        scene = pl.Scene()
        scene.add_rod(corners, MATERIAL, 0.01, edges=edges, **options)
        scene.add_rigid(pl.Sphere(0.05), mass=1e-3, position=(0.25, 0.15, 0.6))
        with pytest.raises(pl.SceneError, match=r"6 segments lie between two points where several meet.*segments=2"):
            scene.simulate(dt=1 / 60)
    scene = pl.Scene()  # of planes they touch what they ought to with their ends
    scene.add_rigid(pl.Plane(), static=True, position=(0, 0, -0.1))
    scene.add_rod(corners, MATERIAL, 0.01, edges=edges, self_contact=False)
    scene.simulate(dt=1 / 60).step()
    scene = pl.Scene()
    cage = scene.add_rod(corners, pl.Material.linear(1e9, 0.3, 1000), 0.01, edges=edges, segments=2)
    for i in range(3):
        cage.clamp(i)
    ball = scene.add_rigid(pl.Sphere(0.05), mass=0.1, position=(0.25, 0.15, 0.6))  # above an edge, on which it falls
    sim, nearest = scene.simulate(dt=1 / 60), []
    for _ in range(24):  # it falls on the edge and slides down along it
        sim.step()
        ends = sim.rod(cage).points[cage.edges]
        start, along = ends[:, 0], ends[:, 1] - ends[:, 0]
        away = sim.pose(ball)[0] - start
        share = np.clip(np.sum(away * along, axis=1) / np.sum(along * along, axis=1), 0, 1)
        nearest.append(np.linalg.norm(away - share[:, None] * along, axis=1).min())
    assert min(nearest) == pytest.approx(0.06, abs=2e-3)


@pytest.mark.parametrize("solver", [pl.Newton(), pl.Mixed()])
def test_a_stretched_rod_has_no_holes(solver):
    """A ball that falls on a band pulled to 2.5 times its length, midway between two of its points, which are twenty
    radii apart, does not fall through, though the pieces on which it lies turn with the frames of the points."""
    scene, radius, segments, stretch = pl.Scene(), 0.006, 10, 2.5
    rubber = pl.Material.linear(1e6, 0.3, 1000, damping=1e-3)
    band = scene.add_rod([(-0.25, 0, 0), (0.25, 0, 0)], rubber, radius=radius, segments=segments)
    pull = 0.25 * (stretch - 1) / 0.25
    for end, sign in ((0, -1), (-1, 1)):
        over = pl.Keyframes([0, 0.25, 0.2501], [(sign * pull, 0, 0), (sign * pull, 0, 0), (0, 0, 0)])
        band.clamp(end, velocity=over)
    ball = scene.add_rigid(pl.Sphere(0.01), mass=0.02, position=(0.0625, 0, 3), friction=0.8)
    sim = scene.simulate(1 / 200, solver=solver).step(52)
    assert sim.rod(band).stretch.min() > 2.4
    points = sim.rod(band).points
    x = np.sort(points[:, 0])[5:7].mean()
    sim.set_pose(ball, (x, 0, points[:, 2].mean() + 0.03))
    sim.set_twist(ball, (0, 0, 0))
    for _ in range(60):
        sim.step()
        points = sim.rod(band).points
        beside = points[np.argsort(np.abs(points[:, 0] - sim.pose(ball)[0][0]))[:2]]
        assert sim.info.converged
        assert sim.pose(ball)[0][2] > beside[:, 2].mean() + 0.3 * (radius + 0.01)


def pieces(model, state) -> tuple[np.ndarray, np.ndarray]:
    """The ends (b, 2, 3) of the axes of what the points of rods touch with, and how far (b,) these are off them."""
    colliders = model.colliders.stretched(state)
    solids, placed = colliders.solids, colliders.solids.placed(state)
    reach = solids.half_lengths(np.arange(len(solids.code)))[:, None] * placed.frame[:, 2::3]
    ends = np.stack([placed.origin - reach, placed.origin + reach], axis=1)
    return ends, colliders.arms.corners(solids, state)


def axes_apart(one: np.ndarray, other: np.ndarray) -> float:
    """The least distance of two straight lines between ends (2, 3), at 200 places of each."""
    share = np.linspace(0, 1, 200)[:, None]
    first, second = (ends[0] + share * (ends[1] - ends[0]) for ends in (one, other))
    return float(np.linalg.norm(first[:, None] - second[None], axis=2).min())


@pytest.mark.parametrize("seed", range(6))
def test_pieces_of_neighbours_overlap_however_a_rod_is_bent(seed):
    """Lines whose segments, up to forty radii long, turn by up to 110 degrees, and pulled away from where they were
    made: no hole is between what neighbouring points touch with."""
    rng, radius, count = np.random.default_rng(seed), 0.004, 12
    turns, spans = np.radians(rng.uniform(-110, 110, count)), rng.uniform(4, 40, count) * radius
    steps = np.stack([np.cos(np.cumsum(turns)), np.sin(np.cumsum(turns)), 0.3 * rng.normal(size=count)], axis=1)
    steps *= (spans / np.linalg.norm(steps, axis=1))[:, None]
    scene = pl.Scene(gravity=(0, 0, 0))
    line = np.concatenate([np.zeros((1, 3)), np.cumsum(steps, axis=0)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scene.add_rod(line, pl.Material.linear(1e6, 0.3, 1000), radius=radius, self_contact=False)
        sim = scene.simulate(1 / 60)
    for state in (sim.state, replace(sim.state, body_position=sim.state.body_position * [1.5, 0.4, 2.0])):
        ends, _ = pieces(sim.model, state)
        apart = [axes_apart(one, other) for one, other in pairwise(ends)]
        assert max(apart) < 1.5 * radius


def test_pieces_of_smooth_rods_lead_through_their_points():
    """Of a ring of 120 points they are tangents, and of a straight line as they were made."""
    angle = 2 * np.pi * np.arange(120) / 120
    ring = np.stack([np.cos(angle), np.sin(angle), np.zeros(120)], axis=1)
    scene, rubber = pl.Scene(gravity=(0, 0, 0)), pl.Material.linear(1e6, 0.3, 1000)
    scene.add_rod(ring, rubber, radius=0.01, closed=True)
    sim = scene.simulate(1 / 60)
    ends, off = pieces(sim.model, sim.state)
    assert off.max() < 1e-3 * 0.01
    assert max(axes_apart(one, other) for one, other in zip(ends, np.roll(ends, -1, axis=0))) < 0.1 * 0.01
    scene = pl.Scene(gravity=(0, 0, 0))
    scene.add_rod([(0, 0, 0), (1, 2, 3)], rubber, radius=0.01, segments=5)
    sim = scene.simulate(1 / 60)
    assert sim.model.colliders.stretched(sim.state) is sim.model.colliders


@pytest.mark.parametrize("solver", [pl.Newton(), pl.Mixed()])
def test_a_rod_does_not_pass_through_one_that_sags_between_three_points(solver):
    """The middle of a rod of two segments, each 125 radii long, is lowered by a tenth of its length; another one that
    is drawn across it is held back, and says that corners are cut."""
    scene, cord, deep = pl.Scene(gravity=(0, 0, 0)), pl.Material.corotated(1e8, 0.3, 1000, damping=0.01), 0.1
    held = scene.add_rod([(0, 0, 0), (0.5, 0, 0), (1, 0, 0)], cord, radius=0.004)
    held.clamp(0)
    held.clamp(2)
    held.clamp(1, velocity=pl.Keyframes((0, 0.999, 1), ((0, 0, -deep), (0, 0, -deep), (0, 0, 0))))
    drawn = scene.add_rod(np.linspace((-0.2, -0.1, -deep / 2), (1.2, -0.1, -deep / 2), 15), cord, radius=0.004)
    for end in (0, 14):
        drawn.clamp(end, velocity=pl.Keyframes((0, 1, 1.001), ((0, 0, 0), (0, 0, 0), (0, 0.2, 0))))
    with pytest.warns(UserWarning, match="rod 'rod0' turns so sharply at point 1 that its contacts"):
        sim = scene.simulate(1 / 60, solver=solver).step(120)
    assert sim.info.converged and sim.info.contacts
    points = sim.rod(drawn).points
    assert points[0, 1] > 0.09 and points[7, 1] < 0.0


def test_a_rod_that_turns_too_sharply_is_named_once():
    scene = pl.Scene(gravity=(0, 0, 0))
    rod = scene.add_rod([(0, 0, 0), (0.1, 0, 0), (0.2, 0, 0)], pl.Material.linear(1e6, 0.3, 1000), radius=0.005)
    rod.clamp(0)
    rod.clamp(1, velocity=(0, 0, -0.2))
    rod.clamp(2)
    sim = scene.simulate(1 / 50)
    with pytest.warns(UserWarning, match="rod 'rod0' turns so sharply at point 1 that its contacts") as told:
        sim.step(20)
    assert len([each for each in told if "so sharply" in str(each.message)]) == 1
