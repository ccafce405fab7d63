"""What contacts carry: equal loads where nothing tells them apart, sticking that sticks, stacks that stay."""

import numpy as np
import pytest

import pliant as pl
from drop_checks import Watch
from pliant.benchmarks.contact import moved, pyramid, stack_scene, tower
from pliant.collide.intersections import CROSSING, intersections
from random_drops import Drop

G = 9.81


def slope(angle: float, friction: float = 0.5) -> tuple[pl.Scene, object]:
    """A box on a plane, gravity turned by an angle [rad] instead of the plane."""
    scene = pl.Scene(gravity=(G * np.sin(angle), 0, -G * np.cos(angle)))
    scene.add_rigid(pl.Plane(), static=True, friction=friction)
    return scene, scene.add_rigid(pl.Box((0.2, 0.2, 0.1)), density=1000, position=(0, 0, 0.05), friction=friction)


def test_corners_of_a_box_carry_the_same_whatever_it_did_before():
    """A box that spun to a halt: four corners carry a quarter of the weight each."""
    scene = pl.Scene()
    scene.add_rigid(pl.Plane(), static=True, friction=0.5)
    box = scene.add_rigid(pl.Box((0.2, 0.2, 0.1)), density=1000, position=(0, 0, 0.05), angular_velocity=(0, 0, 8))
    sim = scene.simulate(dt=1 / 240).step(72)
    assert np.abs(sim.twist(box)[1]).max() < 1e-6
    corners = np.abs(sim.contacts.forces[:, 2])
    assert len(corners) == 4 and np.ptp(corners) < 1e-6 * G
    # to the tolerance of a step, 1e-2 of what moves in it
    assert sim.contact_force(box, scene.bodies[0]) == pytest.approx([0, 0, 4 * G], abs=1e-3 * 4 * G)


def test_a_block_below_the_limit_sticks_and_above_it_slides_as_coulomb_says():
    limit = np.arctan(0.5)
    scene, box = slope(0.98 * limit)
    sim = scene.simulate(dt=1 / 60).step(30)
    start = sim.pose(box)[0].copy()
    assert np.abs(sim.step(600).pose(box)[0] - start).max() < 1e-8 and sim.contacts.sticking.all()
    scene, box = slope(1.1 * limit)
    sim = scene.simulate(dt=1 / 240).step(240)
    expected = G * (np.sin(1.1 * limit) - 0.5 * np.cos(1.1 * limit))
    assert sim.twist(box)[0][0] == pytest.approx(expected, rel=1e-6) and not sim.contacts.sticking.any()


@pytest.mark.parametrize(
    "places, densities, most",
    [(tower(10), np.full(10, 1e3), 1e-2), (pyramid(5), np.full(15, 1e3), 0.1), (tower(4), np.logspace(0, 3, 4), 0.3)],
    ids=["tower", "pyramid", "heavy on light"],
)
def test_stacks_stay(places, densities, most):
    """Two seconds: nothing moves by more than so much [mm], and every step converges."""
    scene = stack_scene(places, densities)
    sim = scene.simulate(dt=1 / 60)
    for _ in range(120):
        sim.step()
        assert sim.info.converged
    assert moved(scene)(sim) < most


def test_three_soft_cubes_stand_on_each_other():
    """Soft with soft: what each carries is the weight above it, and no surface comes nearer than half its thickness."""
    scene = pl.Scene()
    floor = scene.add_rigid(pl.Plane(), static=True, friction=0.8)
    jelly = pl.Material.corotated(young=1e5, poisson=0.3, density=1000, damping=0.05)
    mesh = pl.meshes.box((0.2, 0.2, 0.2), cells=2)
    cubes = [scene.add_soft(mesh, jelly, position=(0, 0, 0.005 + 0.21 * i), friction=0.8) for i in range(3)]
    sim = scene.simulate(dt=1 / 60, solver=pl.Newton(tolerance=1e-4)).step(120)
    assert sim.info.converged and not len(sim.state.crossing)
    weight = 8 * G
    below = [sim.contact_force(cube, under)[2] for cube, under in zip(cubes, [floor, *cubes])]
    assert below == pytest.approx([3 * weight, 2 * weight, weight], rel=1e-2)


def test_a_body_that_would_pass_through_itself_does_not():
    """A proof that a body is clear of itself where a step ends must follow from where it began."""
    sim = Watch(Drop(5)).sim
    for _ in range(14):
        sim.step()
        surfaces = sim.model.colliders.meshed
        assert not np.any(intersections(surfaces.surfaces, surfaces.places(sim.state))[1] == CROSSING)
