"""Soft bodies that turn far in a step: Newton's steps turn them instead of making them grow."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import pliant as pl
from pliant.solve.newton.criteria import StepCriterion
from pliant.solve.newton.turning import Turning
from pliant.stepping.step import pose


def spinning(young: float, spin: np.ndarray) -> tuple[pl.Simulation, pl.bodies.Soft]:
    """A free cube of 2 cm that spins [rad/s], without gravity."""
    scene = pl.Scene(gravity=(0, 0, 0))
    mesh = pl.meshes.box((0.02, 0.02, 0.02), cells=2).transformed(translation=(-0.01,) * 3)
    body = scene.add_soft(mesh, pl.Material.stable_neohookean(young=young, poisson=0.45, density=1000))
    sim = scene.simulate(dt=1 / 120)
    sim.set_velocities(body, np.cross(spin, sim.positions(body)))
    return sim, body


def distances(points: np.ndarray) -> np.ndarray:
    return np.linalg.norm(points[:, None] - points, axis=2)


def test_a_way_that_turns_a_body_keeps_its_shape_and_is_the_same_to_first_order():
    sim, _ = spinning(1e6, np.zeros(3))
    model, x, h = sim.model, sim.state.x, 0.5
    turning, still, spin = Turning(model), np.zeros_like(sim.state.x), np.array([0.9, -1.4, 2.2])
    straight = np.cross(spin, x) + np.array([0.1, 0.2, 0.3])
    moved = x + h * turning.along(x, h, still, straight)
    assert np.abs(distances(moved) - distances(x)).max() < 1e-15
    # the rotation nearest to that of the straight way (Procrustes)
    nearest, _ = Rotation.align_vectors(straight * h + x - h * np.array([0.1, 0.2, 0.3]), x)
    assert np.abs(moved - h * np.array([0.1, 0.2, 0.3]) - nearest.apply(x)).max() < 1e-12
    errors = [np.abs(turning.along(x, h, still, s * straight) - s * straight).max() for s in (0.2, 0.1)]
    assert 0.0 < errors[1] < 0.3 * errors[0]


def test_every_body_turns_by_itself_and_pinned_ones_do_not():
    """Of three cubes one turns far, one falls, one is pinned at a node: only the first is bent, and keeps its shape."""
    scene = pl.Scene()
    mesh, material = pl.meshes.box((0.02, 0.02, 0.02), cells=2), pl.Material.corotated(1e6, 0.4, 1000)
    bodies = [scene.add_soft(mesh, material, position=(0.05 * k, 0, 0)) for k in range(3)]
    bodies[2].pin(np.arange(len(mesh.points)) == 0)
    sim, h = scene.simulate(1 / 60), 0.5
    turning, x, n = Turning(sim.model), sim.state.x, len(mesh.points)
    direction = np.cross([1.0, -0.7, 0.4], x)
    direction[n : 2 * n] = (0.0, 0.0, -5.0)
    new = turning.along(x, h, np.zeros_like(x), direction)
    assert np.array_equal(new[n:], direction[n:])
    assert np.abs(distances((x + h * new)[:n]) - distances(x[:n])).max() < 1e-15
    left = turning.deforming(x, h, new)
    assert np.array_equal(left[2 * n :], new[2 * n :]) and np.abs(left[:n]).max() < 1e-13


@pytest.mark.parametrize("young", [1e5, 1e8])
def test_a_stiff_body_that_turns_far_in_a_step_converges_at_once(young):
    """Half a radian a step: every step converges in a few iterations, and the shape stays."""
    sim, body = spinning(young, np.array([30.0, -40.0, 35.0]))
    rest = distances(sim.positions(body))
    for _ in range(6):
        sim.step()
        assert sim.info.converged and sim.info.newton_iterations <= 6 and sim.info.parts == 1
    assert np.abs(distances(sim.positions(body)) - rest).max() < 0.01 * 0.02


def test_what_deforms_is_left_of_a_way_that_turns_a_body():
    """Half a radian and 1 % of stretching along a direction of the end: that is left, and nothing of the turn."""
    sim, _ = spinning(1e6, np.zeros(3))
    x, h, turn = sim.state.x, 0.5, Rotation.from_rotvec([0.3, -0.2, 0.35])
    stretch = np.eye(3) + 0.01 * np.diag([1.0, 0.0, 0.0])
    u = (turn.apply(x) @ stretch + np.array([1.0, 2.0, 3.0]) - x) / h
    left = Turning(sim.model).deforming(x, h, u)
    assert np.abs(h * left - turn.apply(x) @ (stretch - np.eye(3))).max() < 1e-12


@pytest.mark.parametrize("young", [1e6, 1e9])
def test_a_turn_is_no_measure_of_what_is_left_of_a_step(young):
    """A stiff body turning by half a radian in a step: the energy by which corrections are measured is that of its
    change of velocity, whatever its stiffness."""
    sim, _ = spinning(young, np.array([30.0, -40.0, 35.0]))
    problem = pose(sim.model, sim.state, sim.dt, linear_rows=False)
    potential, system = sim.working_solver._potential(problem), sim.working_solver.system
    u = (Rotation.from_rotvec(np.array([30.0, -40.0, 35.0]) * sim.dt).apply(sim.state.x) - sim.state.x) / sim.dt
    potential.evaluate(u)
    system.take(potential.element_terms(True))
    potential.assembled = potential.blocks()
    rows = potential.row_potential
    system.assemble(potential.assembled, rows.rows, rows.curvature, potential.x)
    criterion = StepCriterion(potential, system, sim.state.v, np.zeros_like(u))
    kinetic = np.sum(sim.model.node_mass[:, None] * (u - sim.state.v) ** 2)
    assert criterion.scale(u) == pytest.approx(kinetic, rel=1e-6)
