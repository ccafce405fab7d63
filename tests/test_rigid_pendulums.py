"""Pendulums against closed forms and independent references.

References marked RIG and DYN were computed independently (elliptic integrals, eighth-order integration at 1e-13).
"""

import numpy as np
import pytest

import pliant as pl
from pliant.rotations import rotation_matrix
from rigid_runs import G, point_mass, record, turning_points

EXACT = pl.Dual(tolerance=1e-12)


def extrapolated(run, h):
    """Results of run(h) and run(h/2), and the limit 2 run(h/2) - run(h) of a first-order method."""
    coarse, fine = run(h), run(h / 2)
    return coarse, fine, 2 * fine - coarse


def test_pendulum_periods_by_amplitude():
    """RIG-01: T = 4 sqrt(L/g) K(sin^2(a/2)); a turn back to the start takes T.

    The step is symplectic (position-level constraint, velocities staggered): the period has a relative error of order
    (h w)^2 = 1e-5, and the energy an oscillation of order h g v = 1e-3 * 9.81 * 6, but no drift.
    """
    periods = {5: 2.007022, 30: 2.04099, 60: 2.152875, 90: 2.367842, 120: 2.75409, 150: 3.535098, 170: 4.893524}
    scene, h, steps = pl.Scene(), 1e-3, 5000
    bodies = []
    for degrees in periods:
        a = np.radians(degrees)
        start = (np.sin(a), 0, -np.cos(a))
        bodies.append(point_mass(scene, start))
        scene.join(pl.Distance(pl.world, bodies[-1], at=((0, 0, 0), start)))
    sim = scene.simulate(dt=h, solver=EXACT, threads=1)
    x, v = record(sim, bodies, steps)
    energy = 0.5 * np.sum(v**2, axis=2) + G * x[:, :, 2]
    for k, period in enumerate(periods.values()):
        angle = np.unwrap(np.arctan2(x[:, k, 0], -x[:, k, 2]))
        # from rest, semi-implicit Euler is half a step ahead of the motion: x_n = x(t_n + h/2)
        assert turning_points(angle, h)[1] + h / 2 == pytest.approx(period, rel=2e-5)
        assert np.abs(energy[:, k] - energy[0, k]).max() <= h * G * np.abs(v[:, k]).max()
        assert np.abs(np.linalg.norm(x[:, k], axis=1) - 1).max() <= 2 * h**2 * G * 2  # length error ~ (h v)^2 / 2


def test_pendulum_positions_after_ten_seconds():
    """RIG-01 (IFToMM A01): started with the velocity half a step before, the scheme is second order: 1e-3 m at 10 s."""
    h = 2e-3
    reference = {1: (0.9862918, -0.1650109), 2: (-0.7935662, -0.6084839), 5: (-0.9423054, -0.3347543)}
    reference[10] = (-0.2750875, -0.9614192)
    scene = pl.Scene()
    body = point_mass(scene, (-1, 0, 0), velocity=(0, 0, G * h / 2))
    scene.join(pl.Distance(pl.world, body, at=((0, 0, 0), (-1, 0, 0))))
    sim = scene.simulate(dt=h, solver=EXACT, threads=1)
    for seconds, (x, z) in reference.items():
        sim.step(round((seconds - sim.time) / h))
        assert np.allclose(sim.pose(body)[0], [x, 0, z], atol=1e-3), seconds


def test_rod_pendulum_period():
    """RIG-02a: a uniform rod on a pivot at its end, 60 degrees: equivalent length 2/3 L."""
    a, h = np.radians(60), 1e-3
    scene = pl.Scene()
    start = 0.5 * np.array([np.sin(a), 0, -np.cos(a)])
    turn = (np.pi / 2 - a) / 2  # from the x axis down to the start
    rod = scene.add_rigid(
        pl.Box((1, 0.01, 0.01)),
        mass=1,
        inertia=(1e-5, 1 / 12, 1 / 12),
        position=start,
        rotation=(np.cos(turn), 0, np.sin(turn), 0),
        collide=False,
    )
    scene.join(pl.Ball(pl.world, rod, at=(0, 0, 0)))
    sim = scene.simulate(dt=h, solver=EXACT, threads=1)
    x, _ = record(sim, [rod], 1900)
    angle = np.arctan2(x[:, 0, 0], -x[:, 0, 2])
    assert turning_points(angle, h)[1] == pytest.approx(1.757815, rel=1e-3)
    assert np.abs(x[:, 0, 1]).max() < 1e-9  # stays in its plane


def double_pendulum(kind, h, seconds):
    """The tip of two links after some seconds, both released horizontal."""
    scene = pl.Scene()
    if kind == "points":
        a, b = point_mass(scene, (1, 0, 0)), point_mass(scene, (2, 0, 0))
        scene.join(pl.Distance(pl.world, a, at=((0, 0, 0), (1, 0, 0))))
        scene.join(pl.Distance(a, b, at=((1, 0, 0), (2, 0, 0))))
    else:
        options = {"mass": 1, "inertia": (1e-5, 1 / 12, 1 / 12), "collide": False}
        a = scene.add_rigid(pl.Box((1, 0.01, 0.01)), position=(0.5, 0, 0), **options)
        b = scene.add_rigid(pl.Box((1, 0.01, 0.01)), position=(1.5, 0, 0), **options)
        scene.join(pl.Ball(pl.world, a, at=(0, 0, 0)))
        scene.join(pl.Ball(a, b, at=(1, 0, 0)))
    sim = scene.simulate(dt=h, solver=EXACT, threads=1)
    sim.step(round(seconds / h))
    position, rotation = sim.pose(b)
    return position if kind == "points" else position + rotation_matrix(rotation) @ [0.5, 0, 0]


@pytest.mark.parametrize("kind, tip", [("points", (-1.444819, -1.321794)), ("rods", (-1.662115, -1.041467))])
def test_double_pendulums(kind, tip):
    """RIG-02b, c at t = 1 s: extrapolated to h = 0 within 0.2% of a link; the error itself is first order in h."""
    exact = np.array([tip[0], 0, tip[1]])
    coarse, fine, limit = extrapolated(lambda h: double_pendulum(kind, h, 1.0), 1e-3)
    assert np.linalg.norm(limit - exact) <= 2e-3
    assert np.linalg.norm(coarse - exact) / np.linalg.norm(fine - exact) == pytest.approx(2, abs=0.2)


@pytest.mark.slow
@pytest.mark.parametrize("kind, tip", [("points", (-1.434125, -1.12987)), ("rods", (0.3135248, -1.914747))])
def test_double_pendulums_for_two_seconds(kind, tip):
    """RIG-02b, c at t = 2 s with h = 1e-4: 1% of a link."""
    assert np.linalg.norm(double_pendulum(kind, 1e-4, 2.0) - [tip[0], 0, tip[1]]) <= 0.01


def test_conical_pendulum():
    """RIG-03a: at 30 degrees w^2 = g / (L cos 30), the string carries m g / cos 30."""
    a, h = np.radians(30), 1e-3
    omega = np.sqrt(G / np.cos(a))
    assert omega == pytest.approx(3.365652, rel=1e-6)
    start = (np.sin(a), 0, -np.cos(a))
    scene = pl.Scene()
    body = point_mass(scene, start, mass=2.0, velocity=(0, omega * np.sin(a), 0))
    string = scene.join(pl.Distance(pl.world, body, at=((0, 0, 0), start)))
    sim = scene.simulate(dt=h, solver=EXACT, threads=1)
    x, _ = record(sim, [body], 1900)
    # the staggered start tilts the circle by O(h w): 0.3% of the radius
    assert np.abs(x[:, 0, 2] + np.cos(a)).max() <= h * omega * np.sin(a)
    azimuth = np.unwrap(np.arctan2(x[:, 0, 1], x[:, 0, 0]))
    assert np.interp(2 * np.pi, azimuth, h * np.arange(len(x))) == pytest.approx(1.866855, rel=1e-3)
    assert np.linalg.norm(sim.reaction(string)) == pytest.approx(2 * 11.32761, rel=h * omega * 2)


def test_spherical_pendulum():
    """RIG-03b: from 60 degrees with azimuth rate 2 rad/s: azimuth per period 3.831162 (0.5%), and positions."""
    a = np.radians(60)
    start, velocity = (np.sin(a), 0, -np.cos(a)), (0, 2 * np.sin(a), 0)

    def run(h):
        scene = pl.Scene()
        body = point_mass(scene, start, velocity=velocity)
        scene.join(pl.Ball(pl.world, body, at=(0, 0, 0)))
        x, _ = record(scene.simulate(dt=h, solver=EXACT, threads=1), [body], round(2 / h))
        azimuth = np.unwrap(np.arctan2(x[:, 0, 1], x[:, 0, 0]))
        low, high = turning_points(x[:, 0, 2], h)[:2]
        swing = np.interp(high, h * np.arange(len(x)), azimuth)
        return np.array([*x[round(1 / h), 0], *x[round(2 / h), 0], low, high, swing])

    h = 2e-3
    exact = [-0.7383167, -0.431492, -0.5183658, 0.4092098, 0.7119037, -0.5707367, 0.5398346, 1.079669, 3.831162]
    _, fine, limit = extrapolated(run, h)
    assert np.allclose(limit[:6], exact[:6], atol=2e-3)
    assert fine[7] == pytest.approx(exact[7], rel=5e-3) and fine[8] == pytest.approx(exact[8], rel=5e-3)
    assert limit[6] == pytest.approx(exact[6], rel=2e-3)
