"""Mixed steps under pressures that follow their faces: Newton's answers, step for step, and said to have converged."""

from dataclasses import replace

import numpy as np
import pytest

import pliant as pl
from pliant.solve.newton.following import FollowingPressure, solve_following

DT = 0.01


def blown_sheet(pressure: float, roped: bool = False):
    """A square sheet held at one edge and blown at from below; roped: a ball on a rope in its middle."""
    scene = pl.Scene()
    material = pl.Material.stvk(1e5, 0.3, 400, damping=1e-3)
    mesh = pl.meshes.grid((1, 1), 12)
    sheet = scene.add_cloth(mesh, material, 2e-3, position=(-0.5, -0.5, 0.5), collide=False)
    sheet.pin("x < -.499")
    sheet.pressure("all", pressure)
    if roped:
        ball = scene.add_rigid(pl.Sphere(0.15), density=300, position=(0, 0, 0.7), collide=False)
        scene.join(pl.Rope(ball, sheet, at=((0, 0, 0.7), (0, 0, 0.5)), length=0.3))
    return scene


def pressed_beam(pressure: float):
    """A clamped beam of tets, pressed from above."""
    scene = pl.Scene()
    beam = scene.add_soft(pl.meshes.box((1, 0.2, 0.2), cells=(10, 2, 2)), pl.Material.neohookean(1e5, 0.3, 1000))
    beam.pin(beam.nodes.x < 1e-6)
    beam.pressure(beam.faces.z > 0.2 - 1e-6, pressure)
    return scene


SCENES = {
    "sheet": (blown_sheet, -300.0),
    "volume": (pressed_beam, 1e4),
    "roped sheet": (lambda pressure: blown_sheet(pressure, roped=True), -100.0),
}


@pytest.mark.parametrize("name", SCENES)
def test_every_step_is_newtons(name):
    """From the same state, and in balance; the tolerance is of energies, and the softest folds are less exact."""
    make, pressure = SCENES[name]
    solvers = pl.Newton(tolerance=1e-6), pl.Mixed(tolerance=1e-6)
    newton, mixed = (make(pressure).simulate(DT, solver=solver, threads=1) for solver in solvers)
    for _ in range(12):
        before = newton.state
        mixed.state = replace(before, memory={})
        newton.step()
        mixed.step()
        assert newton.info.converged and mixed.info.converged
        assert mixed.info.parts == 1 and mixed.info.imbalance <= 1e-4
        way = np.abs(newton.state.x - before.x).max()
        assert np.abs(mixed.state.x - newton.state.x).max() <= 1e-4 * way


@pytest.mark.parametrize("name", SCENES)
def test_long_runs_converge(name):
    """Where sheets fold there may be several answers; each step finds one, whole."""
    make, pressure = SCENES[name]
    sim = make(pressure).simulate(DT, solver=pl.Mixed(), threads=1)
    for _ in range(40):
        sim.step()
        assert sim.info.converged and sim.info.parts == 1


def test_a_rope_that_gets_taut_throws_nothing_away():
    """The work of pressures, of the third order, falls without bounds far away, as a quadratic energy does not: from
    the 18th step on velocities of 1e19 m/s were taken for lower than all others."""
    sim = blown_sheet(-100.0, roped=True).simulate(DT, solver=pl.Mixed(), threads=1)
    sim.step(60)
    assert sim.info.converged and np.abs(sim.state.v).max() < 50


@pytest.mark.parametrize("size", [np.inf, np.nan, 1e200])
def test_numbers_beyond_all_bounds_are_not_solved_for(size):
    """1e200 is not beyond them, but its square is."""
    sim = blown_sheet(-100.0).simulate(DT, threads=1)
    following = FollowingPressure(sim.model, sim.state.x, DT, 0.0)
    answer, products = solve_following(sim.working_solver.system, following, np.full(sim.state.x.shape, size), 1e-3)
    assert products == 0 and not answer.any()
