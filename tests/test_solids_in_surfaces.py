"""Solids and surfaces of triangles: contacts that push corners out again, and the thickness of thin plates."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import pliant as pl
from pliant.collide import detect
from random_drops import ON_CORNER, quaternion

SPIKE = pl.Hull(points=[[0.1, 0.1, 1], [-0.1, 0.1, 1], [-0.1, -0.1, 1], [0.1, -0.1, 1], [0, 0, 0]])


def contacts_over(heights, shape, position, rotation=(1, 0, 0, 0)):
    """Contacts of a solid with ground of so many heights (nx, ny) [m] over a square of 2 m."""
    scene = pl.Scene()
    scene.add_rigid(pl.Heightfield(heights, size=(2, 2)), static=True)
    scene.add_rigid(shape, mass=1, position=position, rotation=rotation)
    sim = scene.simulate(dt=0.01, threads=1)
    return detect(sim.model, sim.state, 1e-6)


@pytest.mark.filterwarnings("ignore:.*overlap")
@pytest.mark.parametrize("beside", [0.0, 1e-6, 1e-3, 3e-3, 0.02])
@pytest.mark.parametrize("slope", [0.0, 0.1])
def test_a_spike_through_ground_beside_a_side_is_pushed_up(beside, slope):
    """It is 0.02 m deep in ground whose triangles meet at x = 0, a ridge: the shortest way out of the triangle on the
    right leads over that side, into the one on the left."""
    heights = -slope * np.abs(np.linspace(-1, 1, 3))[:, None] * np.ones((3, 2))
    found = contacts_over(heights, SPIKE, (beside, 0.3, -slope * beside - 0.02))
    up = np.abs(found.normal[:, 2]) > 0.98
    assert found.gap[up].min() == pytest.approx(-0.02, rel=0.01)


@pytest.mark.filterwarnings("ignore:.*overlap")
@pytest.mark.parametrize("beside", [-0.1, 0.0, 0.4])
def test_a_corner_in_a_valley_touches_both_of_its_triangles(beside):
    """A box stands on a corner that is 2 mm below the line along which two triangles meet."""
    slope = 0.3
    heights = slope * np.abs(np.linspace(-1, 1, 3))[:, None] * np.ones((3, 2))
    height = 0.2 * np.sqrt(0.75) - 0.002
    found = contacts_over(heights, pl.Box((0.2, 0.2, 0.2)), (0, beside, height), quaternion(ON_CORNER))
    deep = found.gap < -0.001
    normals = found.normal[deep] * np.sign(found.normal[deep, 2:])
    for side in (-1, 1):
        own = np.array([side * slope, 0, 1]) / np.hypot(1, slope)
        assert np.any(np.linalg.norm(normals - own, axis=1) < 1e-9)
    assert found.gap.min() == pytest.approx(-0.002 / np.hypot(1, slope), rel=1e-6)


@pytest.mark.filterwarnings("ignore:.*overlap")
def test_a_wall_against_a_sharp_side_is_not_pushed_up():
    """A wall of 2 m that stands before a cube, 1 mm in it, and ends over its upper face: it is pushed away from that
    side, not up by a metre."""
    scene = pl.Scene(gravity=(0, 0, 0))
    scene.add_soft(pl.meshes.box((1, 1, 1), 1), pl.Material.corotated(1e5, 0.3, 1000))
    turn = quaternion(Rotation.from_euler("z", 2, degrees=True))
    wall = scene.add_rigid(pl.Box((0.1, 0.5, 2)), mass=1, position=(1.05, 0.5, 1.0), rotation=turn)
    sim = scene.simulate(dt=0.01, threads=1)
    sim.set_pose(wall, (1.05 - 0.001, 0.5, 1.0), turn)
    found = detect(sim.model, sim.state, 1e-6)
    assert len(found) and found.gap.min() > -0.02


def test_contacts_of_a_thin_plate_act_close_to_it():
    """A plate of 4 m and 2 mm, of two triangles a side: a hundredth of its edges would be 3 cm."""
    scene = pl.Scene()
    corners = (np.stack(np.meshgrid([0, 1], [0, 1], [0, 1], indexing="ij"), axis=-1).reshape(-1, 3) - 0.5) * (
        4,
        4,
        0.002,
    )
    triangles = pl.Hull(points=corners).surface.triangles
    scene.add_rigid(pl.Mesh(points=pl.Hull(points=corners).surface.points, triangles=triangles), static=True)
    scene.add_soft(pl.meshes.box((0.2, 0.2, 0.2), 2), pl.Material.corotated(1e5, 0.3, 1000), position=(0, 0, 0.01))
    radius = scene.simulate(dt=0.01, threads=1).model.colliders.meshed.radius
    assert radius[-8:] == pytest.approx(0.001)
    assert radius[:-8] == pytest.approx(0.001, rel=0.5)


@pytest.mark.parametrize("seed", [0, 2, 12])
@pytest.mark.parametrize(
    "solver", [pl.Dual(), pl.Dual(eliminate=True), pl.Explicit()], ids=["dual", "eliminate", "rows"]
)
def test_contacts_on_both_sides_of_what_is_thin_throw_nothing(solver, seed):
    """The tip of a pyramid reaches through a plate, whose sides push it both ways: no impulses meet that. What they
    lift it by, out of where it began, is little beside what it fell with."""
    w, random, scene = 0.03, np.random.default_rng(seed), pl.Scene()
    scene.add_rigid(pl.Box((1, 1, 0.01)), static=True, position=(0, 0, -0.005))
    corners = [[-w, -w, 0], [w, -w, 0], [w, w, 0], [-w, w, 0], [0, 0, 0.25]]
    faces = [[0, 2, 1], [0, 3, 2], [0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]]
    rotation = tuple(random.normal(size=4)) if seed else (0.9238795325, 0.3826834324, 0, 0)
    velocity = (*(random.normal(size=2) * 3), -10) if seed else (-2.08453442, -0.521672, -10)
    motion = {"rotation": rotation, "velocity": velocity, "friction": 2.0}
    scene.add_rigid(pl.Mesh(points=corners, triangles=faces), density=500, position=(0, 0, 0.3), **motion)
    sim = scene.simulate(1 / 60, solver=solver)
    start = before = sim.energy().total
    for _ in range(30):
        now = sim.step().energy().total
        assert now <= before + 0.01 * start
        before = now
