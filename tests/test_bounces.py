"""Impacts that rigid bodies in contact pass on to each other."""

import numpy as np
import pytest

import pliant as pl

RADIUS = 0.05


def row_of_balls(moving: int, dt: float, gap: float = 0.0, restitution=(1.0,) * 5, solver=None) -> pl.Simulation:
    """Balls in a row without weight, the first few of them 2 cm further out and moving at 1 m/s; after the impact."""
    scene = pl.Scene(gravity=(0, 0, 0))
    for i, e in enumerate(restitution):
        start = {
            "position": ((2 * RADIUS + gap) * i - 0.02 * (i < moving), 0, 0),
            "velocity": (float(i < moving), 0, 0),
        }
        scene.add_rigid(pl.Sphere(RADIUS), mass=1, restitution=e, friction=0, **start)
    sim = scene.simulate(dt=dt, solver=solver or pl.Newton(tolerance=1e-4))
    return sim.step(round(0.1 / dt))


@pytest.mark.parametrize("solver", [None, pl.Dual()], ids=["newton", "dual"])
@pytest.mark.parametrize("gap", [0.0, 1e-3])
@pytest.mark.parametrize("moving", [1, 2])
@pytest.mark.parametrize("dt", [1 / 60, 1 / 240])
def test_as_many_balls_leave_as_arrive(moving, dt, gap, solver):
    """Newton's cradle: equal balls exchange their velocities, one after the other."""
    sim = row_of_balls(moving, dt, gap, solver=solver)
    expected = np.where(np.arange(5) < 5 - moving, 0.0, 1.0)
    assert sim.state.body_velocity[:, 0] == pytest.approx(expected, abs=2e-3)


def test_a_chain_of_weaker_impacts():
    """Each of two equal balls that meet with a coefficient e leaves with (1 - e) / 2 and (1 + e) / 2 of the speed; with
    gaps, impacts come one after the other, and touching balls do the same as nearly touching ones."""
    apart = row_of_balls(1, 1 / 1000, gap=1e-3, restitution=(0.6,) * 3)
    touching = row_of_balls(1, 1 / 60, restitution=(0.6,) * 3)
    assert apart.state.body_velocity[2, 0] == pytest.approx(0.8**2, abs=2e-3)
    assert touching.state.body_velocity[2, 0] == pytest.approx(0.8**2, abs=2e-3)


@pytest.mark.parametrize("seed", range(4))
def test_impacts_of_many_bodies_gain_no_energy(seed):
    """A ball into a random heap that touches, with coefficients of all sizes: momentum stays, energy does not grow."""
    random = np.random.default_rng(seed)
    scene = pl.Scene(gravity=(0, 0, 0))
    places = np.array([(i, j, k) for i in range(3) for j in range(2) for k in range(2)]) * 2 * RADIUS
    for place in places:
        body = {"density": float(random.uniform(100, 5000)), "restitution": float(random.uniform(0, 1))}
        shape = pl.Sphere(RADIUS) if random.random() < 0.5 else pl.Box((2 * RADIUS,) * 3)
        scene.add_rigid(shape, position=place, friction=0, **body)
    shot = {"position": (-0.2, *random.uniform(0, 0.1, 2)), "velocity": (3, *random.uniform(-0.3, 0.3, 2))}
    scene.add_rigid(pl.Sphere(RADIUS), density=3000, restitution=0.8, friction=0, **shot)
    sim = scene.simulate(dt=1 / 120)
    before, energy = sim.momentum().linear, sim.energy().kinetic
    sim.step(12)
    assert sim.momentum().linear == pytest.approx(before, abs=1e-3 * np.linalg.norm(before))
    assert sim.energy().kinetic <= energy * (1 + 1e-3)


def test_a_column_passes_an_impact_to_the_floor_and_back():
    """A ball falls by 0.1 m on three that lie on each other: the floor returns the impact through all of them."""
    scene = pl.Scene()
    scene.add_rigid(pl.Plane(), static=True, restitution=1, friction=0)
    for i in range(4):
        place = (0, 0, RADIUS * (1 + 2 * i) + 0.1 * (i == 3))
        top = scene.add_rigid(pl.Sphere(RADIUS), mass=1, position=place, restitution=1, friction=0)
    sim, heights = scene.simulate(dt=1 / 240), []
    for _ in range(90):
        heights.append(float(sim.step().pose(top)[0][2]))
    assert max(heights[45:]) == pytest.approx(7 * RADIUS + 0.1, abs=2e-3)


def test_soft_bodies_bounce_without_a_rigid_one():
    """Two soft cubes that meet in a scene without rigid bodies: restitution leaves them to their waves."""
    scene = pl.Scene(gravity=(0, 0, 0))
    material = pl.Material.corotated(young=1e5, poisson=0.3, density=1000)
    for side in (-1, 1):
        placed = {"position": (0.06 * side - 0.05, 0, 0), "velocity": (-side, 0, 0)}
        scene.add_soft(pl.meshes.box((0.1, 0.1, 0.1), 1), material, restitution=0.5, friction=0, **placed)
    sim = scene.simulate(dt=1 / 240).step(24)
    assert sim.energy().total <= 1.001 * 1.0
    assert np.abs(sim.state.v.sum(axis=0)).max() < 1e-9


@pytest.mark.parametrize("solver", [pl.Newton(), pl.Dual()], ids=["newton", "dual"])
@pytest.mark.parametrize("shape", [pl.Box((0.1, 0.1, 0.1)), pl.Capsule(0.0125, 0.1)], ids=["box", "capsule"])
def test_impacts_with_friction_give_no_energy(shape, solver):
    """Newton's law of restitution with friction would let some of these leave with 1.6 times their energy; what does
    not gain by it bounces as it says."""
    random, least = np.random.default_rng(0), []
    for _ in range(6):
        scene = pl.Scene(gravity=(0, 0, 0))
        scene.add_rigid(pl.Plane(), static=True)
        rotation, spin = tuple(random.normal(size=4)), tuple(5 * random.normal(size=3))
        motion = {"rotation": rotation, "velocity": (0.5, 0, -1), "angular_velocity": spin}
        body = scene.add_rigid(shape, density=1000, position=(0, 0, 0.09), friction=0.5, restitution=1.0, **motion)
        sim = scene.simulate(dt=1 / 240, solver=solver)
        most = sim.energy().kinetic
        for _ in range(24):
            sim.step()
            assert sim.energy().kinetic <= 1.005 * most  # what contacts may give (stepping.gains)
        least.append(sim.twist(body)[0][2])
    assert max(least) > 0.4, "they bounce"


@pytest.mark.parametrize("solver", [pl.Newton(), pl.Dual()], ids=["newton", "dual"])
@pytest.mark.parametrize("dt, speed, seed", [(1 / 30, 10, 3), (1 / 60, 10, 3), (1 / 60, 3, 9), (1 / 240, 5, 5)])
def test_bodies_that_turn_far_in_an_impact_gain_no_energy(dt, speed, seed, solver):
    """One capsule and a plane, neither gravity nor friction: contacts do no work. What the second impact takes of a
    spin was left to it before, up to half of all energy."""
    random, scene = np.random.default_rng(seed), pl.Scene(gravity=(0, 0, 0))
    scene.add_rigid(pl.Plane(), static=True, friction=0)
    rotation = tuple(random.normal(size=4))
    velocity = (*(random.normal(size=2) * speed / 2), -speed)
    motion = {"velocity": velocity, "angular_velocity": tuple(random.normal(size=3) * speed)}
    options = {"density": 500, "position": (0, 0, 0.5), "rotation": rotation, "restitution": 1.0, "friction": 0}
    body = scene.add_rigid(pl.Capsule(0.03, 0.2), **options, **motion)
    sim = scene.simulate(dt, solver=solver)
    start = before = sim.energy().kinetic
    for _ in range(int(0.4 / dt)):
        now = sim.step().energy().kinetic
        assert now <= before + 2e-3 * start  # what the tolerance of a step leaves
        before = now
    assert sim.twist(body)[0][2] > 0.0


@pytest.mark.parametrize("dt", [1 / 60, 1 / 15])
@pytest.mark.parametrize("height", [0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0])
def test_what_bounces_from_the_ground_rises_no_higher_than_it_fell_from(height, dt):
    """With restitution 1 and implicit Euler, v' = v - g h and z' = z + h v', v^2 / 2 + g z - g h v / 2 does not grow;
    where v goes through zero it is g z to g h^2 / 8. In a step energy grows by no more than m g h v, in the impact,
    beside what pushes a body that rests out of the ground by parts of g h."""
    scene, g, mass = pl.Scene(), 9.81, 2.0
    ball = scene.add_rigid(pl.Sphere(0.1), mass=mass, position=(0, 0, 0.1 + height), restitution=1.0)
    scene.add_rigid(pl.Plane(), static=True)
    sim = scene.simulate(dt=dt)
    z, v, energy = [height], [0.0], [sim.energy().total]
    for _ in range(round(3 / dt)):
        sim.step()
        z.append(sim.pose(ball)[0][2] - 0.1)
        v.append(sim.twist(ball)[0][2])
        energy.append(sim.energy().total)
    z, v, small = np.array(z), np.array(v), (g * dt) ** 2
    kept = v**2 / 2 + g * z - g * dt * v / 2
    assert np.diff(kept).max() <= 1e-3 * small
    assert np.all(np.diff(energy) <= mass * (g * dt * np.abs(v[1:]) + 1e-2 * small))
    after = z[np.argmax(np.diff(z) > 1e-6) :]
    assert after.max() <= height + g * dt**2 / 8
    if height > 5 * g * dt**2:  # faster than gravity makes it in two steps: it comes back
        assert after.max() > 0.99 * height
