"""Newton's method: the reference cantilever, agreement with the dual solver, linear solvers, friction, determinism."""

import math

import numpy as np
import pytest

import pliant as pl
from pliant.solve.options import LINEAR
from studies import cantilever


def test_the_falling_cantilever_is_where_the_reference_says():
    """-0.2105 m at t = 1 s: implicit Euler, dt 0.01, corotated, lumped mass (an independent Newton code)."""
    scene, beam, end = cantilever()
    sim = scene.simulate(dt=0.01)
    sim.step(100)
    assert (sim.positions(beam) - beam.nodes.positions)[end, 2].mean() == pytest.approx(-0.2105, abs=5e-5)


@pytest.mark.parametrize("law", ["linear", "corotated", "stvk", "neohookean", "fixed_corotated", "stable_neohookean"])
def test_default_tolerance_is_within_a_thousandth_of_the_converged_answer(law):
    tips = []
    for solver in (pl.Newton(), pl.Newton(tolerance=1e-10)):
        scene, beam, end = cantilever(law, cells=(8, 2, 2), damping=0.01)
        sim = scene.simulate(dt=0.02, solver=solver)
        sim.step(20)
        tips.append((sim.positions(beam) - beam.nodes.positions)[end, 2].mean())
    assert tips[0] == pytest.approx(tips[1], rel=1e-3)


@pytest.mark.parametrize("linear", LINEAR)
def test_linear_solvers_agree(linear):
    """To the square of the tolerance of Newton's method."""
    if linear == "pardiso":
        pytest.importorskip("pypardiso", reason="the extra 'mkl' is not installed: MKL PARDISO was not tried")
    answers = []
    for choice in (linear, "cholesky"):
        scene, beam, _ = cantilever(cells=(6, 2, 2))
        ball = scene.add_rigid(pl.Sphere(0.1), density=2000, position=(1.2, 0.1, 0.1), collide=False)
        scene.join(pl.Ball(ball, beam, at=(1, 0.1, 0.1)))
        sim = scene.simulate(dt=0.01, solver=pl.Newton(linear=choice, tolerance=1e-5))
        sim.step(10)
        assert sim.info.converged and (choice == "auto" or sim.info.linear == choice)
        answers.append(sim.positions(beam).copy())
    assert answers[0] == pytest.approx(answers[1], abs=1e-7)


def test_newton_and_dual_agree_on_a_stiff_swing_with_joints():
    """Small strains: one linearisation per step, as in the dual solver, and the converged step differ little."""
    places = []
    for solver in (pl.Newton(tolerance=1e-6), pl.Dual(tolerance=1e-8, eliminate=True)):
        scene = pl.Scene()
        beam = scene.add_soft(pl.meshes.box((0.5, 0.1, 0.1), cells=(5, 1, 1)), pl.Material.corotated(1e8, 0.3, 1000))
        scene.join(pl.Ball(beam, pl.world, at=(0, 0.05, 0.05)))
        ball = scene.add_rigid(pl.Sphere(0.05), density=3000, position=(0.6, 0.05, 0.05), collide=False)
        scene.join(pl.Ball(ball, beam, at=(0.5, 0.05, 0.05)))
        sim = scene.simulate(dt=0.002, solver=solver)
        sim.step(100)
        places.append(sim.pose(ball)[0])
    assert places[0] == pytest.approx(places[1], abs=2e-3)


@pytest.mark.parametrize("friction, slides", [(0.3, True), (0.7, False)])
def test_soft_and_rigid_blocks_on_an_incline(friction, slides):
    """a = g (sin - mu cos) of a block on a slope of tan = 0.5; implicit Euler travels a h^2 n (n + 1) / 2."""
    slope, h, steps = math.atan(0.5), 0.01, 60
    scene = pl.Scene(gravity=(9.81 * math.sin(slope), 0, -9.81 * math.cos(slope)))
    scene.add_rigid(pl.Plane(), static=True, friction=friction)
    mesh = pl.meshes.box((0.3, 0.3, 0.1), cells=(3, 3, 1))
    soft = scene.add_soft(mesh, pl.Material.corotated(1e6, 0.3, 1000), friction=friction)
    rigid = scene.add_rigid(pl.Box((0.1, 0.1, 0.1)), density=1000, position=(2, 2, 0.05), friction=friction)
    sim = scene.simulate(dt=h)
    sim.step(steps)
    travelled = [sim.positions(soft)[:, 0].mean() - 0.15, sim.pose(rigid)[0][0] - 2]
    expected = 9.81 * (math.sin(slope) - friction * math.cos(slope)) * h * h * steps * (steps + 1) / 2 if slides else 0
    assert travelled == pytest.approx([expected] * 2, abs=0.02 * expected + 1e-3)


def test_results_do_not_depend_on_the_number_of_threads():
    states = []
    for threads in (1, 2):
        scene, beam, _ = cantilever(cells=(30, 4, 4))
        sim = scene.simulate(dt=0.01, threads=threads, solver=pl.Newton(linear="pcg"))
        sim.step(5)
        states.append(sim.positions(beam).copy())
    assert np.array_equal(*states)


def test_dual_refuses_laws_it_cannot_write_as_rows():
    scene, _, _ = cantilever("neohookean", cells=(2, 1, 1))
    with pytest.raises(pl.SceneError, match=r"soft0.*neohookean.*Newton"):
        scene.simulate(dt=0.01, solver=pl.Dual())


@pytest.mark.parametrize(
    "options", [{"tolerance": 0}, {"linear": "magic"}, {"integrator": "rk4"}, {"max_iterations": 0}]
)
def test_bad_options_are_refused(options):
    with pytest.raises(pl.SceneError, match="Newton"):
        pl.Newton(**options)
