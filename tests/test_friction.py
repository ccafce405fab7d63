"""Coulomb's law where it is hard: directions of sliding bodies, and a rod that jams (Painleve's paradox)."""

import numpy as np
import pytest

import pliant as pl

G = 9.81
SOLVERS = {"newton": pl.Newton(), "dual": pl.Dual()}


@pytest.mark.parametrize("degrees", [0, 7, 33, 45, 71, 200])
def test_friction_of_soft_bodies_points_against_sliding(degrees):
    """Within a degree, and as large as its coefficient says (rigid bodies: RIG-14)."""
    scene = pl.Scene()
    scene.add_rigid(pl.Plane(), static=True, friction=0.4)
    direction = np.array([np.cos(np.radians(degrees)), np.sin(np.radians(degrees)), 0.0])
    material = pl.Material.neohookean(young=1e7, poisson=0.3, density=1000, damping=0.01)
    mesh = pl.meshes.box((0.3, 0.2, 0.05), (6, 4, 1))
    slab = scene.add_soft(mesh, material, velocity=2 * direction, friction=0.4)
    sim = scene.simulate(1 / 240, pl.Newton(tolerance=1e-4))
    sim.step(10)
    change = (sim.velocities(slab).mean(axis=0) - 2 * direction)[:2]
    size = np.linalg.norm(change)
    assert np.degrees(np.arccos(min(-change @ direction[:2] / size, 1.0))) < 1.0
    assert size == pytest.approx(0.4 * G * 10 / 240, rel=0.02)


def leaning_rod(friction, velocity, h, solver, slope=2.0, half=0.5, radius=0.005):
    """A simulation of a thin rod that leans, with its lower tip on a plane, and slides; the rod, and from its tip to
    its centre."""
    scene = pl.Scene()
    scene.add_rigid(pl.Plane(), static=True, friction=friction)
    lean = np.arctan(slope)
    arm, turn = half * np.array([np.cos(lean), 0.0, np.sin(lean)]), 0.5 * (0.5 * np.pi - lean)
    rod = scene.add_rigid(
        pl.Capsule(radius, 2 * half),
        mass=1,
        position=np.add(arm, (0, 0, radius)),
        rotation=(np.cos(turn), 0, np.sin(turn), 0),
        velocity=(velocity, 0, 0),
        friction=friction,
    )
    return scene.simulate(h, solver), rod, arm


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize("friction", [2.0, 5.0])
def test_a_rod_that_leans_back_jams(name, friction):
    """With mu > (1 + 3 cos^2) / (3 sin cos) no sliding motion of a rod obeys Coulomb's law and Newton's at once
    (Painleve 1895); the tip stops within a step, and angular momentum about it is kept: w = 3 v sin / (4 l), for a rod
    of length 2 l (Genot and Brogliato 1999)."""
    h = 1 / 1000
    sim, rod, arm = leaning_rod(friction, -2.0, h, SOLVERS[name])
    energy = sim.energy().total
    for _ in range(3):
        sim.step()
        assert sim.energy().total <= energy + 1e-4
        energy = sim.energy().total
    speed, spin = sim.twist(rod)
    tip = speed - np.cross(spin, arm)
    assert np.linalg.norm(tip) < 0.02
    half = np.linalg.norm(arm)
    assert -spin[1] == pytest.approx(0.75 * 2.0 * arm[2] / half**2, rel=0.02)


@pytest.mark.parametrize("name", SOLVERS)
def test_a_rod_that_leans_forward_or_hardly_sticks_slides_on(name):
    """Where sliding obeys both laws, the tip slides on with the acceleration that they give."""
    h = 1 / 1000
    for friction, velocity in ((2.0, 2.0), (0.5, -2.0)):
        sim, rod, arm = leaning_rod(friction, velocity, h, SOLVERS[name])
        sim.step()
        lean = np.arctan2(arm[2], arm[0])
        # the tip stays on the plane: a_z = 0 = (N (1 + 3 cos^2) - 3 sin cos F) / m - g, with friction F = -sign mu N
        force = -np.sign(velocity) * friction
        normal = G / (1 + 3 * np.cos(lean) ** 2 - 3 * np.sin(lean) * np.cos(lean) * force)
        assert (sim.twist(rod)[0][0] - velocity) / h == pytest.approx(force * normal, rel=0.02)


def test_nodes_pinned_in_one_direction_stick_in_the_other():
    """A slab on a slope whose long sides lie in planes of symmetry: below the limit it stays, above it slides."""
    moved = []
    for share in (0.9, 1.2):
        angle = np.arctan(0.5 * share)
        scene = pl.Scene(gravity=(G * np.sin(angle), 0, -G * np.cos(angle)))
        scene.add_rigid(pl.Plane(), static=True, friction=0.5)
        mesh = pl.meshes.box((0.3, 0.1, 0.05), (6, 1, 1))
        slab = scene.add_soft(mesh, pl.Material.neohookean(young=1e6, poisson=0.3, density=1000), friction=0.5)
        slab.pin(slab.nodes.x < np.inf, axes="y")  # every node lies in one of the two
        sim = scene.simulate(1 / 60)
        for _ in range(30):
            sim.step()
            assert sim.info.converged
        moved.append(float((sim.positions(slab) - mesh.points)[:, 0].mean()))
    expected = 0.5 * G * (np.sin(angle) - 0.5 * np.cos(angle)) * 0.5**2
    assert abs(moved[0]) < 0.02 * expected and moved[1] == pytest.approx(expected, rel=0.1)
