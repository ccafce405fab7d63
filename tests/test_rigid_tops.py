"""Free tops against closed forms and independent references.

References marked RIG and DYN were computed independently (elliptic integrals, eighth-order integration at 1e-13).
"""

import numpy as np
import pytest

import pliant as pl
from pliant.rotations import rotation_matrix

TOPS = [
    # principal moments, body rates
    ((1, 2, 3), (0.01, 5, 0.01)),
    ((1, 2, 3), (1, 5, 2)),
    ((1, 1, 2), (0.5, 0, 10)),
    ((1, 1, 1), (3, -2, 1)),
    ((0.2, 1.5, 1.6), (30, 5, 10)),
    ((2, 3, 4.9), (20, 100, 50)),
    ((1, 1.0001, 1.9), (0.1, 150, 0)),
]


def body_rates(sim, body):
    """Angular velocity in the body's own axes."""
    return rotation_matrix(sim.pose(body)[1]).T @ sim.twist(body)[1]


def free_tops(h):
    scene = pl.Scene(gravity=(0, 0, 0))
    bodies = [
        scene.add_rigid(pl.Sphere(0.1), mass=2, inertia=i, angular_velocity=w, velocity=(1, 2, 3), collide=False)
        for i, w in TOPS
    ]
    return scene.simulate(dt=h, threads=1), bodies


def momentum_and_energy(sim, body, inertia):
    w = body_rates(sim, body)
    return rotation_matrix(sim.pose(body)[1]) @ (inertia * w), 0.5 * w @ (inertia * w)


def test_free_tops_turn_as_they_should():
    """RIG-04, RIG-05 with h = 1e-3 for 10 s: rates, orientation, flips, precession; L to 1e-9 and energy to 1e-3."""
    h, steps = 1e-3, 10_000
    sim, bodies = free_tops(h)
    inertias = [np.array(i, float) for i, _ in TOPS]
    before = [momentum_and_energy(sim, *pair) for pair in zip(bodies, inertias)]
    rates, rotations = np.zeros((steps + 1, 3, 3)), {}
    for i in range(steps + 1):
        rates[i] = [body_rates(sim, body) for body in bodies[:3]]
        if i in (1000, 2000):
            rotations[i] = sim.pose(bodies[1])[1]
        if i < steps:
            sim.step()
    for pair, (momentum, energy) in zip(zip(bodies, inertias), before):
        new_momentum, new_energy = momentum_and_energy(sim, *pair)
        assert np.linalg.norm(new_momentum - momentum) <= 1e-9 * np.linalg.norm(momentum)
        assert new_energy == pytest.approx(energy, rel=1e-3)
        assert np.allclose(sim.twist(pair[0])[0], [1, 2, 3], rtol=1e-12)
    # RIG-04: the second rate of the Dzhanibekov top changes sign every 5.025929 s (2%), first at 2.741068 s
    second = rates[:, 0, 1]
    at = np.flatnonzero(second[:-1] * second[1:] < 0)
    crossings = (at + second[at] / (second[at] - second[at + 1])) * h
    assert crossings[0] == pytest.approx(2.741068, rel=2e-3)
    assert crossings[1] - crossings[0] == pytest.approx(5.025929, rel=2e-3)
    # RIG-05a: rates and orientation, 1% of the rates' size
    assert np.allclose(rates[1000, 1], [-2.919383, -4.180574, 2.551], atol=0.01)
    assert np.allclose(rates[2000, 1], [4.655688, 2.079561, 3.300274], atol=0.01)
    # orientation within 2 acos(1 - 1e-5) = 0.5 degrees
    assert abs(rotations[1000] @ [-0.4646594, 0.5248616, -0.04797819, 0.7115546]) == pytest.approx(1, abs=1e-5)
    assert abs(rotations[2000] @ [-0.02112978, -0.250218, -0.6409991, -0.7253032]) == pytest.approx(1, abs=1e-5)
    # RIG-05b: a symmetric top's rates turn about its axis at (I3 - I1)/I1 w3 = 10 rad/s
    phase = np.unwrap(np.arctan2(rates[:, 2, 1], rates[:, 2, 0]))
    assert abs(phase[-1] - phase[0]) / (steps * h) == pytest.approx(10, rel=1e-3)
    assert np.allclose(rates[:, 2, 2], 10, rtol=1e-9)


def test_free_tops_keep_their_momentum_with_large_steps():
    """h = 1/60 for 10,000 steps: L to 1e-9 and energy to 1e-3 whatever the spin, here up to 2.5 rad per step."""
    sim, bodies = free_tops(1 / 60)
    inertias = [np.array(i, float) for i, _ in TOPS]
    before = [momentum_and_energy(sim, *pair) for pair in zip(bodies, inertias)]
    sim.step(10_000)
    for body, inertia, (momentum, energy), (_, w) in zip(bodies, inertias, before, TOPS):
        new_momentum, new_energy = momentum_and_energy(sim, body, inertia)
        assert np.linalg.norm(new_momentum - momentum) <= 1e-9 * np.linalg.norm(momentum)
        assert new_energy == pytest.approx(energy, rel=1e-3), w


@pytest.mark.parametrize("turn", [3, 10, 100, 1e4, 1e6])
def test_a_body_that_turns_often_in_a_step_keeps_momentum_and_energy(turn):
    """A free box that turns by up to a million radians in a step."""
    scene, h = pl.Scene(gravity=(0, 0, 0)), 1 / 60
    spin = tuple(turn / h * np.array([0.6, 0.3, 0.74]))
    scene.add_rigid(pl.Box((0.1, 0.2, 0.33)), mass=1, angular_velocity=spin, collide=False)
    sim = scene.simulate(dt=h, threads=1)
    momentum, energy = sim.momentum().angular, sim.energy().kinetic
    for _ in range(5):
        sim.step()
        assert np.abs(sim.momentum().angular - momentum).max() <= 1e-9 * np.linalg.norm(momentum)
        assert sim.energy().kinetic == pytest.approx(energy, rel=1e-6)


def test_symmetric_top_precession_in_space():
    """RIG-05b: L turns the axis at |L| / I1 = 20.00625 rad/s on a cone of 1.432096 degrees about L."""
    h, steps = 1e-3, 1000
    scene = pl.Scene(gravity=(0, 0, 0))
    top = scene.add_rigid(pl.Sphere(0.1), mass=1, inertia=(1, 1, 2), angular_velocity=(0.5, 0, 10))
    sim = scene.simulate(dt=h, threads=1)
    momentum = np.array([0.5, 0, 20])
    axis = momentum / np.linalg.norm(momentum)
    across = np.cross(axis, [0, 1, 0])
    angles, cone = [], []
    for _ in range(steps):
        figure = rotation_matrix(sim.pose(top)[1])[:, 2]
        angles.append(np.arctan2(figure @ np.cross(axis, across), figure @ across))
        cone.append(np.degrees(np.arccos(figure @ axis)))
        sim.step()
    rate = np.polyfit(h * np.arange(steps), np.unwrap(angles), 1)[0]
    assert abs(rate) == pytest.approx(20.00625, rel=1e-3)
    assert np.allclose(cone, 1.432096, rtol=1e-3)
