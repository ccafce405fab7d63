"""Steps of mechanisms in one compiled call: the same answers as iterations give, and most steps are such."""

import numpy as np
import pytest

import pliant as pl
from pliant.benchmarks.humanoid import STEP, figure, tree
from pliant.solve.newton.straight import SEVERAL_BODIES


def walked(scene, steps: int, solver, straight: bool):
    """A simulation after so many steps, and in how many of them the call was enough."""
    sim, found = scene.simulate(dt=STEP, solver=solver, threads=1), []
    own = sim.working_solver.straight
    if straight:
        solve = own.solve
        own.solve = lambda *given: found.append(solve(*given)) or found[-1]
    else:
        sim.working_solver.straight = None
    for _ in range(steps):
        sim.step()
        assert sim.info.converged
    return sim, sum(each is not None for each in found)


@pytest.mark.parametrize("integrator", ["euler", "bdf2"])
def test_one_call_is_the_first_iteration(integrator):
    """Both run the same loops in the same order; sums differ by rounding alone, which 30 links amplify a little."""
    scene, solver = tree(figure(), True), pl.Newton(integrator=integrator)
    (one, count), (other, _) = (walked(scene, 40, solver, straight) for straight in (True, False))
    assert count >= 30
    for name in ("body_position", "body_rotation", "body_velocity", "body_angular_velocity", "angles"):
        np.testing.assert_allclose(getattr(one.state, name), getattr(other.state, name), atol=1e-7)
    np.testing.assert_allclose(one.state.impulses.joints, other.state.impulses.joints, atol=1e-6)
    assert one.info.rows == other.info.rows


def test_what_a_call_does_not_finish_is_left_to_iterations():
    """A limit that is run into within a step changes which rows push: no call ends there, and the limit holds."""
    scene, hinges = pl.Scene(), []
    for y in range(SEVERAL_BODIES):
        arm = scene.add_rigid(pl.Box((0.4, 0.05, 0.05)), mass=1, position=(0.2, y, 0), collide=False)
        hinges.append(scene.join(pl.Hinge(pl.world, arm, (0, y, 0), (0, 1, 0), limits=(-1, 0.1 + 0.02 * y))))
    sim = scene.simulate(dt=1 / 60)
    assert sim.working_solver.straight
    for _ in range(60):
        sim.step()
        assert sim.info.converged
        for y, hinge in enumerate(hinges):
            assert sim.joint_position(hinge) <= 0.1 + 0.02 * y + 2e-6
    assert all(sim.limit_state(hinge) == "high" for hinge in hinges)


def test_a_torsion_spring_of_bodies_that_tilt():
    """Nothing holds the axes together, and b turns through a right angle to that of the spring: torques stay finite and
    opposite, and energy is that of an isolated pair, which implicit Euler does not raise."""
    scene = pl.Scene(gravity=(0, 0, 0))
    shape = {"shape": pl.Box((0.2, 0.1, 0.05)), "mass": 1.0, "collide": False}
    a = scene.add_rigid(**shape)
    b = scene.add_rigid(**shape, position=(0.3, 0, 0), angular_velocity=(0, 9, 3))
    scene.join(pl.Torsion(a, b, (0.15, 0, 0), (0, 0, 1), stiffness=0.05))
    sim = scene.simulate(dt=1 / 200, solver=pl.Newton(tolerance=1e-8))
    energy, momentum = sim.energy().total, sim.momentum().angular
    for _ in range(120):
        sim.step()
        assert sim.info.converged and sim.energy().total <= energy * (1 + 1e-6)
        energy = sim.energy().total
    np.testing.assert_allclose(sim.momentum().angular, momentum, atol=1e-6 * np.linalg.norm(momentum))
