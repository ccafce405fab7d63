"""BDF2: second order with little damping, for soft and rigid bodies, joints, springs and contacts."""

from itertools import pairwise

import numpy as np
import pytest

import pliant as pl
from studies import cantilever


def drift(build, h: float, seconds: float, integrator: str = "bdf2"):
    """Change of the total energy [J] over a run, its largest on the way, the simulation, and a body to look at."""
    scene, body = build()
    sim = scene.simulate(dt=h, solver=pl.Newton(tolerance=1e-5, integrator=integrator), threads=1)
    first, most = sim.energy().total, -np.inf
    for _ in range(round(seconds / h)):
        sim.step()
        assert sim.info.converged
        most = max(most, sim.energy().total - first)
    return sim.energy().total - first, most, sim, body


def test_bdf2_is_of_second_order_and_keeps_energy_better():
    """Halving the step divides the energy that is lost by about four; implicit Euler loses far more."""

    def loss(integrator, h):
        scene, _, _ = cantilever(cells=(6, 1, 1))
        sim = scene.simulate(dt=h, solver=pl.Newton(tolerance=1e-6, integrator=integrator))
        before = sim.energy().total
        sim.step(round(0.4 / h))
        return before - sim.energy().total

    coarse, fine = loss("bdf2", 0.01), loss("bdf2", 0.005)
    assert coarse / fine > 2.8
    assert loss("euler", 0.01) > 5 * coarse


def test_damping_of_a_body_that_turns_is_of_second_order():
    """A block that spins and stretches, with strong damping: halving the step divides differences by four."""

    def end(h):
        scene = pl.Scene(gravity=(0, 0, 0))
        material = pl.Material.corotated(young=2e4, poisson=0.3, density=1000, damping=0.01)
        block = scene.add_soft(pl.meshes.box((0.4, 0.1, 0.1), cells=(3, 1, 1)), material)
        sim = scene.simulate(h, solver=pl.Newton(tolerance=1e-8, integrator="bdf2"), threads=1)
        arm = sim.positions(block) - sim.positions(block).mean(axis=0)
        sim.set_velocities(block, np.cross((0, 0, 12.0), arm) + arm * (2.0, 0, 0))
        return sim.step(round(0.08 / h)).positions(block).copy()

    ends = [end(h) for h in (0.004, 0.002, 0.001)]
    coarse, fine = (np.abs(a - b).max() for a, b in pairwise(ends))
    assert np.log2(coarse / fine) == pytest.approx(2.0, abs=0.25)


def test_bdf2_supports_carry_what_its_motion_takes():
    """M (3 v1 - 4 v0 + v-1) / (2 h) = weight + reaction of the clamp, summed over the beam."""
    h, velocities = 0.01, []
    scene, beam, _ = cantilever(cells=(6, 1, 1))
    sim = scene.simulate(dt=h, solver=pl.Newton(tolerance=1e-9, integrator="bdf2"))
    for _ in range(8):
        sim.step()
        velocities.append(sim.velocities(beam).copy())
    mass = sim.model.node_mass[:, None]
    rate = np.sum(mass * (3 * velocities[-1] - 4 * velocities[-2] + velocities[-3]), axis=0) / (2 * h)
    weight = np.array([0, 0, -9.81 * mass.sum()])
    assert sim.reaction(beam.pins[0]) == pytest.approx(rate - weight, abs=1e-5 * 9.81 * mass.sum())


def pendulum():
    """A ball on a massless arm of 1 m, let go level."""
    scene = pl.Scene()
    ball = scene.add_rigid(pl.Sphere(0.1), density=1000, position=(1, 0, 0), collide=False)
    scene.join(pl.Ball(ball, pl.world, at=(0, 0, 0)))
    return scene, ball


def test_pendulum_keeps_energy_and_length():
    """Joints are met at the end of a step: gaps are of the order of (10 tolerances)^2 = 1e-8 of the arm, and the energy
    lost is of second order, never gained."""
    losses = []
    for h in (0.02, 0.01, 0.005):
        lost, most, sim, ball = drift(pendulum, h, 2.0)
        losses.append(-lost)
        assert most < 0 and abs(np.linalg.norm(sim.pose(ball)[0]) - 1) < 1e-8
    assert losses[0] / losses[1] > 3.5 and losses[1] / losses[2] > 3.5
    assert losses[2] < 1e-3 * (4 / 3 * np.pi * 0.1**3 * 1000) * 9.81


def heavy_chain():
    """Eight light links that carry a ball of a hundred times their density, let go level."""
    scene, before = pl.Scene(), pl.world
    level = (np.cos(np.pi / 4), 0, np.sin(np.pi / 4), 0)
    for k in range(8):
        at = (0.1 + 0.2 * k, 0, 0)
        link = scene.add_rigid(pl.Capsule(0.02, 0.16), density=1000, position=at, rotation=level, collide=False)
        scene.join(pl.Ball(before, link, at=(0.2 * k, 0, 0)))
        before = link
    ball = scene.add_rigid(pl.Sphere(0.1), density=1e5, position=(1.7, 0, 0), collide=False)
    scene.join(pl.Ball(before, ball, at=(1.6, 0, 0)))
    return scene, ball


def test_light_chain_with_a_heavy_ball_gains_no_energy():
    """Every step converges although the links turn far faster than the step resolves; 1 % of the energy at play is
    lost in a second and a half."""
    lost, most, _, _ = drift(heavy_chain, 1 / 60, 1.5)
    assert most <= 1e-6 and -lost < 0.01 * (4 / 3 * np.pi * 0.1**3 * 1e5) * 9.81 * 1.6


def welded_beam():
    """A clamped soft beam with a rigid ball welded to its end."""
    scene = pl.Scene()
    beam = scene.add_soft(pl.meshes.box((1, 0.1, 0.1), cells=(12, 2, 2)), pl.Material.corotated(3e6, 0.3, 1000))
    beam.pin(beam.nodes.x < 1e-9)
    ball = scene.add_rigid(pl.Sphere(0.08), density=3000, position=(1.2, 0.05, 0.05), collide=False)
    scene.join(pl.Fixed(beam, ball, at=(1, 0.05, 0.05)))
    return scene, ball


def net():
    """A clamped mass-spring beam."""
    scene = pl.Scene()
    mesh = pl.meshes.box((0.5, 0.1, 0.1), cells=(5, 1, 1))
    beam = scene.add_soft(mesh, pl.Material.springs(1e5, 1000), self_contact=False)  # it folds through itself
    beam.pin(beam.nodes.x < 1e-9)
    return scene, beam


@pytest.mark.parametrize("build", [welded_beam, net], ids=["weld", "springs"])
def test_joints_and_springs_are_of_second_order(build):
    """Half the step, a quarter of the loss of energy; implicit Euler loses ten times as much."""
    coarse, fine = drift(build, 0.01, 0.5)[0], drift(build, 0.005, 0.5)[0]
    assert coarse < fine < 0 and coarse / fine > 3
    assert drift(build, 0.005, 0.5, "euler")[0] < 10 * fine


def test_bdf2_refuses_plasticity():
    scene = pl.Scene()
    clay = pl.Material.corotated(1e6, 0.3, 1000, plasticity=pl.Plasticity(0.01, 1.0, 0.1))
    scene.add_soft(pl.meshes.box((1, 1, 1), cells=1), clay)
    with pytest.raises(pl.SceneError, match=r"'bdf2'.* does not take plasticity"):
        scene.simulate(dt=0.01, solver=pl.Newton(integrator="bdf2"))


@pytest.mark.parametrize("integrator", ["euler", "bdf2"])
@pytest.mark.parametrize("h", [1 / 60, 1 / 240])
def test_an_inelastic_sphere_stays_on_the_plane(integrator, h):
    """Dropped and stopped: it never leaves again, and the plane has given the impulse of its weight over the fall."""
    scene, seconds = pl.Scene(), 0.6
    plane = scene.add_rigid(pl.Plane(), static=True)
    ball = scene.add_rigid(pl.Sphere(0.1), mass=2.0, position=(0, 0, 0.4))
    sim = scene.simulate(h, solver=pl.Newton(tolerance=1e-6, integrator=integrator))
    impulse, down, heights = 0.0, False, []
    for _ in range(round(seconds / h)):
        sim.step()
        pushed = sim.contact_force(ball, plane)[2]
        impulse += h * pushed
        down = down or pushed > 0
        heights += [sim.pose(ball)[0][2]] if down else []
    fastest = np.sqrt(2 * 9.81 * 0.3)
    assert len(heights) > 5
    assert np.diff(heights).max() <= 1e-5 * fastest * h
    assert impulse == pytest.approx(2.0 * 9.81 * seconds, rel=1e-5)
    assert pushed == pytest.approx(2.0 * 9.81, rel=1e-5)
