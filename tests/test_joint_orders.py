"""BDF2 is of second order for rigid bodies that spin, joints, dampers and loads, and gains no energy."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import pliant as pl
from mechanisms import advance
from pliant.rotations import rotation_matrix

EXACT = pl.Newton(tolerance=1e-8, integrator="bdf2")


def axes(sim, body) -> np.ndarray:
    """The axes (9,) of a body in space."""
    return rotation_matrix(sim.pose(body)[1]).ravel()


def spinning(scene, **options):
    """A body with three moments of inertia, spinning about none of its axes."""
    return scene.add_rigid(
        pl.Sphere(0.1), mass=1, inertia=(0.1, 0.2, 0.3), angular_velocity=(1, 5, 2), collide=False, **options
    )


def free_body():
    scene = pl.Scene(gravity=(0, 0, 0))
    return scene, spinning(scene), axes


def pushed_body():
    """A force whose place turns with the body."""
    scene = pl.Scene(gravity=(0, 0, 0))
    body = spinning(scene)
    body.force((1, 0, -0.5), at=(0.1, 0.05, 0))
    return scene, body, axes


def heavy_top():
    scene = pl.Scene()
    body = spinning(scene, position=(0, 0, 0.2), velocity=np.cross((1, 5, 2), (0, 0, 0.2)))
    scene.join(pl.Ball(pl.world, body, at=(0, 0, 0)))
    return scene, body, axes


def skew_hinges():
    """Two boxes on hinges whose axes are not parallel."""
    scene = pl.Scene()
    one, two = (scene.add_rigid(pl.Box((1, 0.3, 0.1)), mass=1, position=(k, 0, 0), collide=False) for k in (0.5, 1.5))
    scene.join(pl.Hinge(pl.world, one, at=(0, 0, 0), axis=(0, 1, 0)))
    scene.join(pl.Hinge(one, two, at=(1, 0, 0), axis=(0.3, 1, 1)))
    return scene, two, axes


def spring_at_an_arm():
    """A ball pulled at its side by a spring with a damper: torques depend on where the step leads."""
    scene = pl.Scene()
    body = scene.add_rigid(pl.Sphere(0.1), mass=1, position=(1, 0, 0), velocity=(0, 1.5, 0), collide=False)
    scene.join(pl.Spring(pl.world, body, at=((0, 0, 0), (0.9, 0, 0)), stiffness=100, damping=3, length=0.8))
    return scene, body, lambda sim, body: sim.pose(body)[0]


def damped_weld():
    """A weld that gives way and is damped, turned about all axes by up to a radian."""
    scene = pl.Scene(gravity=(0, 0, 0))
    body = spinning(scene)
    scene.join(pl.Fixed(pl.world, body, at=(0, 0, 0), compliance=1 / 5, damping=0.3))
    return scene, body, axes


def damped_torsion():
    """A spring and damper about one axis of a body that turns about all of them."""
    scene = pl.Scene(gravity=(0, 0, 0))
    body = spinning(scene)
    scene.join(pl.Torsion(pl.world, body, at=(0, 0, 0), axis=(0, 1, 0), stiffness=5, damping=0.3))
    return scene, body, axes


CASES = [free_body, pushed_body, heavy_top, skew_hinges, spring_at_an_arm, damped_weld, damped_torsion]


@pytest.mark.parametrize("build", CASES)
def test_order_in_time(build):
    """Answers at 0.4 s with h, h / 2, h / 4 differ by a quarter as much each time."""
    answers = []
    for h in (0.01, 0.005, 0.0025):
        scene, body, read = build()
        answers.append(read(advance(scene.simulate(h, solver=EXACT, threads=1), 0.4), body))
    coarse, fine = (np.linalg.norm(two - one) for one, two in pairwise(answers))
    assert np.log2(coarse / fine) > 1.8


def test_free_body_turns_as_eulers_equations_say():
    """I w' = I w x w in the body, R' = R [w]x, by Runge and Kutta: 2e-3 after 1 s with h = 0.005, no energy gained."""
    inertia, h = np.array([0.1, 0.2, 0.3]), 0.005

    def right_side(_, y):
        w, frame = y[:3], y[3:].reshape(3, 3)
        return np.concatenate([np.cross(inertia * w, w) / inertia, np.cross(frame, w).ravel()])

    start = np.concatenate([[1, 5, 2], np.eye(3).ravel()])
    answer = solve_ivp(right_side, (0, 1), start, method="DOP853", rtol=1e-11, atol=1e-11).y[3:, -1]
    scene, body, _ = free_body()
    sim = scene.simulate(h, solver=EXACT, threads=1)
    before, momentum = sim.energy().kinetic, sim.momentum().angular
    found = axes(advance(sim, 1.0), body)
    assert np.linalg.norm(found - answer) <= 2e-3
    assert -1e-3 * before < sim.energy().kinetic - before < 0
    assert sim.momentum().angular == pytest.approx(momentum, rel=1e-12)


def test_free_chain_that_spins_gains_no_energy():
    """Four boxes on hinges of random axes, spinning freely: what is lost in 2 s falls with the square of the step, and
    so does the error of the angular momentum."""
    losses, errors = [], []
    for h in (0.02, 0.01):
        scene, draw, spin = pl.Scene(gravity=(0, 0, 0)), np.random.default_rng(0), np.array([2.0, 3.0, 5.0])
        boxes = []
        for k in range(4):
            place = np.array([k - 1.5, 0, 0])
            motion = {"velocity": np.cross(spin, place), "angular_velocity": spin}
            boxes.append(scene.add_rigid(pl.Box((1, 0.3, 0.1)), mass=1, position=place, collide=False, **motion))
        for k in range(3):
            scene.join(pl.Hinge(boxes[k], boxes[k + 1], at=(k - 1, 0, 0), axis=draw.normal(size=3)))
        sim = scene.simulate(h, solver=pl.Newton(integrator="bdf2"), threads=1)
        before, momentum = sim.energy().total, sim.momentum().angular
        for _ in range(round(2 / h)):
            sim.step()
            assert sim.info.converged and sim.energy().total <= before
        losses.append(1 - sim.energy().total / before)
        errors.append(np.linalg.norm(sim.momentum().angular - momentum) / np.linalg.norm(momentum))
    assert losses[0] < 0.05 and losses[0] / losses[1] > 3.5
    assert errors[0] / errors[1] > 3.5
