"""Rigid bodies that touch, against closed forms (RIG-16 to RIG-22)."""

import numpy as np
import pytest

import pliant as pl
from mechanisms import G, case

SOLVERS = {"newton": pl.Newton(), "dual": pl.Dual()}
every_solver = pytest.mark.parametrize("name", SOLVERS)


def ground(scene: pl.Scene, friction: float) -> None:
    scene.add_rigid(pl.Plane(), static=True, friction=friction)


@every_solver
def test_backspin_returns(name):
    """RIG-16: a ball slides until v = w R; its angular momentum about the ground stays: v = (5 v0 - 2 R w) / 7, after
    t = (v0 - v) / (mu g)."""
    expected, friction, dt = case("RIG-16"), 0.2, 1 / 50
    scene = pl.Scene()
    ground(scene, friction)
    radius, spin = expected["R"], expected["w0_backspin"]
    place = {"position": (0, 0, radius), "velocity": (expected["v0"], 0, 0), "angular_velocity": (0, -spin, 0)}
    ball = scene.add_rigid(pl.Sphere(radius), mass=1.0, friction=friction, **place)
    sim, rolls = scene.simulate(dt, solver=SOLVERS[name]), None
    for _ in range(round(1.1 * expected["t_roll"] / dt)):
        sim.step()
        velocity, turning = sim.twist(ball)
        slip = abs(velocity[0] - radius * turning[1])
        rolls = sim.time if rolls is None and slip < 1e-3 * expected["v0"] else rolls
    assert sim.twist(ball)[0][0] == pytest.approx(expected["v_final"], rel=0.02)
    assert rolls == pytest.approx(expected["t_roll"], rel=0.02)


@pytest.mark.parametrize("rolling", [False, True])
@every_solver
def test_leaving_a_sphere(name, rolling):
    """RIG-17: cos a = 2/3 without friction, 10/17 when rolling; let go on the way from the top, 0.5 rad from it."""
    expected, radius, dt = case("RIG-17"), 0.02, 1 / 500
    friction, reach, start = 20.0 if rolling else 0.0, 1.0 + radius, 0.5
    scene = pl.Scene()
    big = scene.add_rigid(pl.Sphere(1.0), static=True, friction=friction)
    speed = np.sqrt((10 / 7 if rolling else 2.0) * G * reach * (1 - np.cos(start)))
    way = np.array([np.cos(start), 0, -np.sin(start)])
    place = {"position": reach * np.array([np.sin(start), 0, np.cos(start)]), "velocity": speed * way}
    spin = (0, speed / radius if rolling else 0, 0)
    ball = scene.add_rigid(pl.Sphere(radius), mass=1.0, friction=friction, angular_velocity=spin, **place)
    sim, left = scene.simulate(dt, solver=SOLVERS[name]), None
    while np.linalg.norm(sim.pose(ball)[0]) < reach + 1e-3:  # far enough apart not to come back
        sim.step()
        position, _ = sim.pose(ball)
        if np.linalg.norm(sim.contact_force(ball, big)) > 1e-3 * G:
            left = np.degrees(np.arctan2(position[0], position[2]))
    assert left == pytest.approx(expected["rolling_deg" if rolling else "frictionless_deg"], abs=1.0)


@every_solver
def test_box_that_spins_on_its_corners(name):
    """RIG-19: equal loads at the corners brake with mu m g r, r half the diagonal; I = m (a^2 + b^2) / 12."""
    expected, dt = case("RIG-19"), 1 / 500
    scene = pl.Scene()
    ground(scene, expected["mu"])
    size = (expected["a"], expected["b"], 0.1)
    place = {"position": (0, 0, 0.05), "angular_velocity": (0, 0, expected["w0"])}
    box = scene.add_rigid(pl.Box(size), mass=2.0, friction=expected["mu"], **place)
    sim, angle, stops = scene.simulate(dt, solver=SOLVERS[name]), 0.0, None
    for _ in range(round(1.1 * expected["t_stop"] / dt)):
        sim.step()
        turning = sim.twist(box)[1][2]
        angle += dt * turning
        stops = sim.time if stops is None and turning < 1e-3 * expected["w0"] else stops
    assert stops == pytest.approx(expected["t_stop"], rel=0.02)
    assert angle == pytest.approx(expected["angle"], rel=0.02)


def on_a_slope(name: str, degrees: float, friction: float) -> tuple[float, float]:
    """How far [m] the box of RIG-21 slides and turns [rad] in half a second on a slope, which gravity makes."""
    expected, angle = case("RIG-21"), np.radians(degrees)
    scene = pl.Scene(gravity=(G * np.sin(angle), 0, -G * np.cos(angle)))
    ground(scene, friction)
    size = (expected["b"], expected["b"], expected["h"])
    box = scene.add_rigid(pl.Box(size), mass=1.0, friction=friction, position=(0, 0, expected["h"] / 2))
    sim = scene.simulate(1 / 100, solver=SOLVERS[name]).step(50)
    position, rotation = sim.pose(box)
    return float(position[0]), float(2 * np.arccos(min(abs(rotation[0]), 1.0)))


@every_solver
def test_tip_or_slide(name):
    """RIG-21: a box tips at tan a = b / h, whatever holds it, and slides before that with friction below b / h."""
    expected = case("RIG-21")
    tips, critical = expected["tilt_tip_deg"], expected["mu_crit"]
    _, stands = on_a_slope(name, tips - 0.3, 0.8)
    _, falls = on_a_slope(name, tips + 0.3, 0.8)
    assert stands < 1e-3 and falls > 3e-3
    near = np.degrees(np.arctan(0.999 * critical))
    slides, upright = on_a_slope(name, near, 0.98 * critical)
    stays, _ = on_a_slope(name, near, 1.02 * critical)
    assert upright < 1e-3 and slides == pytest.approx(
        0.5 * G * np.cos(np.radians(near)) * 0.019 * critical * 0.25, rel=0.1
    )
    assert abs(stays) < 0.05 * slides


@pytest.mark.parametrize("degrees", [0, 60])
def test_balls_that_roll_on_a_box(degrees):
    """RIG-22: a box of 10 kg under 25 balls of 1 kg that roll on it, pushed by 150 N: (150 - 0.4 (35 g) - 25 f) = 10 a
    with f = m a_ball, a_ball = 2/7 a, in the direction of the force."""
    expected, dt = case("RIG-22"), 1 / 60
    scene = pl.Scene()
    ground(scene, 0.4)
    way = np.array([np.cos(np.radians(degrees)), np.sin(np.radians(degrees)), 0])
    box = scene.add_rigid(pl.Box((20, 20, 1)), mass=10.0, position=(0, 0, 0.5), friction=0.4)
    box.force(150.0 * way)
    places = [(x, y, 1.5) for x in (-4, -2, 0, 2, 4) for y in (-4, -2, 0, 2, 4)]
    balls = [scene.add_rigid(pl.Sphere(0.5), mass=1.0, position=place, friction=0.8) for place in places]
    for ball in balls:
        scene.contact(box, ball, friction=0.8)
    sim = scene.simulate(dt).step(60)
    velocity = sim.twist(box)[0]
    assert np.linalg.norm(velocity) == pytest.approx(expected["v_box_T4"] / 4, rel=0.01)
    assert np.degrees(np.arccos(min(velocity @ way / np.linalg.norm(velocity), 1.0))) < 1.0
    for ball in balls:
        assert sim.twist(ball)[0] @ way == pytest.approx(expected["v_ball_T4"] / 4, rel=0.01)
