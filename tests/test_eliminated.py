"""Eliminated rows against iterated rows: the same scene, the same answer (theory section 2); block factors."""

import numpy as np
import pytest

import pliant as pl
from pliant.benchmarks.grid import grid_scene, largest_gap
from pliant.kernels.cpu.linalg.block_ldl import solve_factored, symmetric_product
from pliant.kernels.device import HOST
from pliant.linalg.block_ldl import BlockPattern, factor


def mixed_scene():
    """A soft block on a plane with friction, a ball jointed to its side, a welded bar, a link and a compliant joint."""
    scene = pl.Scene()
    scene.add_rigid(pl.Plane(), static=True, friction=0.4)
    material = pl.Material.corotated(young=2e5, poisson=0.3, density=800, damping=0.005)
    block = scene.add_soft(
        pl.meshes.box((0.4, 0.4, 0.4), cells=2), material, position=(0, 0, 0.01), velocity=(0.5, 0, 0)
    )
    ball = scene.add_rigid(pl.Sphere(0.08), density=900, position=(0.5, 0.2, 0.3))
    scene.join(pl.Ball(ball, block, at=(0.42, 0.2, 0.3)))
    bar = scene.add_rigid(pl.Capsule(0.03, 0.2), density=900, position=(0.5, 0.2, 0.6))
    scene.join(pl.Fixed(bar, ball, at=(0.5, 0.2, 0.4)))
    link = scene.add_rigid(pl.Sphere(0.05), mass=0.3, position=(0.7, 0.2, 0.6))
    scene.join(pl.Distance(bar, link, at=((0.5, 0.2, 0.7), (0.7, 0.2, 0.6))))
    scene.join(pl.Ball(pl.world, link, at=(0.7, 0.2, 0.6), compliance=1e-3, damping=5.0))
    return scene, block


def run(solver, steps=40):
    scene, _ = mixed_scene()
    sim = scene.simulate(dt=1 / 120, solver=solver)
    sim.step(steps)
    return sim


def test_eliminated_and_iterated_rows_agree_with_contacts_and_friction():
    """Both minimise the same convex problem each step; 40 steps at tight tolerance differ by solver error only."""
    iterated = run(pl.Dual(tolerance=1e-11, max_iterations=20000))
    eliminated = run(pl.Dual(tolerance=1e-11, max_iterations=20000, eliminate=True))
    assert iterated.info.contacts > 0
    assert iterated.info.converged and eliminated.info.converged
    assert np.abs(iterated.state.x - eliminated.state.x).max() < 1e-6
    assert np.abs(iterated.state.body_position - eliminated.state.body_position).max() < 1e-6


def test_the_joint_grid_is_solved_alike_by_both():
    """Redundant joints (a net of crosses): eliminated and iterated velocities agree, and gaps stay small."""
    scene = grid_scene(True, net=4, chain=3)
    eliminated = scene.simulate(dt=1 / 60, solver=pl.Dual(eliminate=True))
    iterated = scene.simulate(dt=1 / 60, solver=pl.Dual(tolerance=1e-11, max_iterations=20000))
    eliminated.step(6)
    iterated.step(6)
    assert np.abs(eliminated.state.body_velocity - iterated.state.body_velocity).max() < 1e-6
    eliminated.step(54)
    assert largest_gap(eliminated) < 0.02


def test_prescribed_motion_enters_the_eliminated_system():
    """Pins with a velocity on one axis only, and a driven static body, move exactly as told in both forms."""
    material = pl.Material.corotated(young=1e5, poisson=0.3, density=1000)
    found = []
    for eliminate in (False, True):
        scene = pl.Scene(gravity=(0, 0, 0))
        body = scene.add_soft(pl.meshes.box((1, 0.5, 0.5), cells=(2, 1, 1)), material)
        body.pin(body.nodes.x < 1e-9)
        body.pin(body.nodes.x > 0.99, axes="x", velocity=(0.2, 0, 0))
        sim = scene.simulate(dt=0.01, solver=pl.Dual(tolerance=1e-12, max_iterations=5000, eliminate=eliminate))
        sim.step(20)
        found.append(sim.positions(body).copy())
    assert np.allclose(found[1][body.nodes.x > 0.99][:, 0], 1.04, atol=1e-12)
    assert np.abs(found[0] - found[1]).max() < 1e-9


def test_block_factors_solve_random_systems():
    """A x = b to rounding for random sparse symmetric positive matrices of 3x3 blocks."""
    rng = np.random.default_rng(0)
    for count, pairs in ((1, 0), (7, 10), (80, 300)):
        first, second = rng.integers(0, count, pairs), rng.integers(0, count, pairs)
        first, second = first[first != second], second[first != second]
        pattern = BlockPattern.of_pairs(HOST, count, first, second)
        values = rng.normal(size=(len(pattern.row), 3, 3))
        every = np.arange(count)
        values[pattern.find(every, every)[0]] = 40 * np.eye(3)
        b = rng.normal(size=(count, 3))
        x, check = b.copy(), np.empty_like(b)
        solve_factored(factor(pattern, values), x)
        symmetric_product(pattern.order, pattern.column_start, pattern.row, values, x, check)
        assert np.abs(check - b).max() < 1e-12


def test_pgs_cannot_be_asked_to_eliminate():
    with pytest.raises(pl.SceneError, match="eliminate=True needs method 'mprgp'"):
        pl.Dual(method="pgs", eliminate=True)


def test_friction_acts_on_what_joints_hold():
    """A ball that joints hold to something heavy slides over the ground: Coulomb's impulse from the first step on."""
    speeds = []
    for solver in (pl.Dual(eliminate=True), pl.Dual(tolerance=1e-6), pl.Newton(tolerance=1e-4)):
        scene = pl.Scene()
        scene.add_rigid(pl.Plane(), static=True, friction=0.5)
        motion = {"velocity": (3, -2, 0)}
        heavy = scene.add_rigid(pl.Sphere(0.2), density=8000, position=(0, 0, 0.6), collide=False, **motion)
        ball = scene.add_rigid(pl.Sphere(0.1), density=100, position=(0, 0, 0.1), friction=0.5, **motion)
        scene.join(pl.Fixed(heavy, ball, at=(0, 0, 0.3)))
        scene.join(pl.Ball(heavy, ball, at=(0, 0, 0.3)))
        sim = scene.simulate(dt=0.005, solver=solver).step()
        (normal, *tangents) = sim.state.impulses.contacts[0]
        assert sim.info.converged and np.hypot(*tangents) == pytest.approx(0.5 * normal, rel=1e-3)
        speeds.append(sim.twist(ball)[0])
    assert np.allclose(speeds[0], speeds[1], atol=1e-5)
    assert np.allclose(speeds[0], speeds[2], atol=1e-2)  # which meets the contact where the step leads
