"""Chains and loops of joints with Newton: gaps stay shut, no energy comes from nowhere, whatever the masses."""

import numpy as np
import pytest

import pliant as pl
from pliant.rotations import axis_quaternion
from pliant.rows import joints as joint_rows
from pliant.rows.table import Rows

STEP = 1 / 60
GRAVITY = 9.81
EULER, BDF2 = pl.Newton(), pl.Newton(integrator="bdf2")


def largest_gap(sim) -> float:
    """The largest error [m or rad] of a rigid joint."""
    blocks, state, rows = sim.model.joints, sim.state, Rows.empty(sim.model.joints.start)
    error = joint_rows.fill(blocks, rows, state.pose, 1.0)
    return float(np.abs(error[blocks.slice[blocks.rigid], :, blocks.lane[blocks.rigid]]).max())


def run(sim, steps: int):
    """Step by step: the largest gap, the highest energy against the first, and whether every step converged."""
    first, gap, highest, converged = sim.energy().total, 0.0, -np.inf, True
    for _ in range(steps):
        sim.step()
        gap, highest = max(gap, largest_gap(sim)), max(highest, sim.energy().total - first)
        converged &= sim.info.converged
    return gap, highest, converged


def rod(scene, start, end, mass: float = 1.0):
    start, end = np.array(start, float), np.array(end, float)
    shape = pl.Capsule(0.02, float(np.linalg.norm(end - start)))
    turn = axis_quaternion(end - start)
    return scene.add_rigid(shape, mass=mass, position=(start + end) / 2, rotation=turn, collide=False)


def chain(links: int, link_mass: float, ball_mass: float, length: float = 0.1):
    """A straight, horizontal chain of ball joints with a ball at its end, let go."""
    scene, above = pl.Scene(), pl.world
    for k in range(links):
        link = rod(scene, (k * length, 0, 0), ((k + 1) * length, 0, 0), link_mass)
        scene.join(pl.Ball(above, link, at=(k * length, 0, 0)))
        above = link
    end = (links * length, 0, 0)
    ball = scene.add_rigid(pl.Sphere(0.05), mass=ball_mass, position=(end[0] + 0.05, 0, 0), collide=False)
    scene.join(pl.Ball(above, ball, at=end))
    return scene


@pytest.mark.parametrize("solver", [EULER, BDF2], ids=["euler", "bdf2"])
@pytest.mark.parametrize("links, link_mass", [(5, 1e-3), (10, 1e-4)])
def test_light_chains_hold_heavy_balls(links, link_mass, solver):
    """A ball 1,000 or 10,000 times as heavy as a link, at 60 steps a second."""
    sim = chain(links, link_mass, 1.0).simulate(dt=STEP, solver=solver)
    gap, gained, converged = run(sim, 120)
    assert gap < 1e-6 and converged
    assert gained < 1e-6 * GRAVITY * links * 0.1


def test_a_heavy_ball_on_a_light_bead():
    """Two rigid distances: world, 1 g, 1 kg."""
    scene = pl.Scene()
    bead = scene.add_rigid(pl.Sphere(0.01), mass=1e-3, position=(0.5, 0, 0), collide=False)
    ball = scene.add_rigid(pl.Sphere(0.05), mass=1.0, position=(1, 0, 0), collide=False)
    scene.join(pl.Distance(pl.world, bead, at=((0, 0, 0), (0.5, 0, 0))))
    scene.join(pl.Distance(bead, ball, at=((0.5, 0, 0), (1, 0, 0))))
    gap, gained, converged = run(scene.simulate(dt=STEP), 60)
    assert gap < 1e-6 and gained < 1e-6 and converged


def four_bar(doubled: bool):
    """A parallelogram of three bars and the ground on four parallel hinges, three rows too many in space; doubled: with
    a second hinge on one of the axes."""
    scene = pl.Scene()
    a, b, c, d = (0, 0, 0), (0, 0, -1), (1, 0, -1), (1, 0, 0)
    bars = [rod(scene, a, b), rod(scene, b, c), rod(scene, c, d)]
    ends = zip((pl.world, *bars), (*bars, pl.world), (a, b, c, d))
    for one, two, at in ends:
        scene.join(pl.Hinge(one, two, at=at, axis=(0, 1, 0)))
    if doubled:
        scene.join(pl.Hinge(pl.world, bars[0], at=(0, 0.3, 0), axis=(0, 1, 0)))
    sim = scene.simulate(dt=STEP, solver=BDF2)
    for bar, speed, spin in zip(bars, (1.0, 2.0, 1.0), (-2.0, 0.0, -2.0)):
        sim.set_twist(bar, (speed, 0, 0), (0, spin, 0))
    return sim


def bennett_linkage():
    """Four hinges in space that move although a count of rows says they cannot: lengths a, b and twists with
    sin(alpha)/a = sin(beta)/b (Bennett 1903), links by Denavit and Hartenberg's angles."""
    a, b, alpha, theta = 1.0, 0.7, np.radians(60), np.radians(100)
    beta = np.arcsin(b * np.sin(alpha) / a)
    other = 2 * np.arctan(np.sin((beta + alpha) / 2) / np.sin((beta - alpha) / 2) / np.tan(theta / 2))
    frames = [np.eye(4)]
    for angle, twist, length in ((theta, alpha, a), (other, beta, b), (-theta, alpha, a), (-other, beta, b)):
        c, s, ca, sa = np.cos(angle), np.sin(angle), np.cos(twist), np.sin(twist)
        rows = [[c, -s * ca, s * sa, length * c], [s, c * ca, -c * sa, length * s], [0, sa, ca, 0], [0, 0, 0, 1]]
        frames.append(frames[-1] @ np.array(rows))
    assert np.allclose(frames[4], np.eye(4))
    points, axes = [frame[:3, 3] for frame in frames[:4]], [frame[:3, 2] for frame in frames[:4]]
    scene = pl.Scene()
    links = [rod(scene, points[k], points[k + 1]) for k in range(3)]
    for one, two, at, axis in zip((pl.world, *links), (*links, pl.world), points, axes):
        scene.join(pl.Hinge(one, two, at=at, axis=axis))
    return scene.simulate(dt=STEP, solver=BDF2)


LOOPS = {"four-bar": lambda: four_bar(False), "doubled": lambda: four_bar(True), "bennett": bennett_linkage}


@pytest.mark.parametrize("name", LOOPS)
def test_redundant_loops_turn_without_gaps_or_losses(name):
    """Five seconds: gaps below 1e-5 of a link, no energy gained, less than 1.5 % of the kinetic energy lost (the
    first step, of Euler's method, included)."""
    sim = LOOPS[name]()
    first, moving = sim.energy().total, 0.0
    gap, gained, converged = run(sim, 280)
    for _ in range(20):
        moving = max(moving, sim.step().energy().kinetic)
    assert gap < 1e-5 and converged and gained < 1e-9
    assert first - sim.energy().total < 0.015 * max(moving, 2.0)


def test_a_torque_turns_a_weld_by_nothing():
    """The predicted turn of a light body is more than a revolution; a weld that is a revolution off fits as well, but
    is not the same."""
    scene = pl.Scene(gravity=(0, 0, 0))
    plate = scene.add_rigid(pl.Box((0.1, 0.1, 0.01)), mass=1e-3, collide=False)
    scene.join(pl.Fixed(plate, pl.world, at=(0, 0, 0)))
    plate.torque((5.0, -3.0, 4.0))
    sim = scene.simulate(dt=STEP)
    sim.step(30)
    assert sim.info.converged
    assert sim.pose(plate)[1] == pytest.approx((1, 0, 0, 0), abs=1e-6)


def test_joints_share_loads_the_same_way_whatever_the_history():
    """A weight on two coincident ball joints: each carries half, and so it does after having been shaken."""
    scene = pl.Scene()
    body = scene.add_rigid(pl.Sphere(0.1), mass=2.0, position=(0, 0, -0.5), collide=False)
    joints = [scene.join(pl.Ball(pl.world, body, at=(0, 0, 0))) for _ in range(2)]
    sim = scene.simulate(dt=STEP)
    sim.set_twist(body, (0.3, 0, 0), (0, -0.6, 0))
    sim.step(600)
    loads = [sim.reaction(joint)[2] for joint in joints]
    assert loads[0] == pytest.approx(loads[1], rel=1e-9)
    assert sum(loads) == pytest.approx(2.0 * GRAVITY, rel=1e-2)


def test_forces_of_joints_are_in_balance_in_every_step():
    """A light chain that carries a heavy ball, as converged as a default step is: the joint of the ball pulls with
    m (a - g) in every step, to 2 % of its largest pull."""
    scene, before, h = pl.Scene(), pl.world, 1 / 60
    for k in range(6):
        link = scene.add_rigid(pl.Sphere(0.04), mass=0.05, position=(0.2 * k + 0.2, 0, 0), collide=False)
        scene.join(pl.Ball(before, link, at=(0.2 * k + 0.05, 0, 0)))
        before = link
    ball = scene.add_rigid(pl.Sphere(0.1), mass=10, position=(1.4, 0, 0), collide=False)
    last = scene.join(pl.Ball(before, ball, at=(1.25, 0, 0)))
    sim, pulls, errors = scene.simulate(dt=h, solver=pl.Newton(), threads=1), [], []
    for _ in range(90):
        velocity = sim.twist(ball)[0].copy()
        sim.step()
        assert sim.info.converged and sim.info.imbalance <= 0.01
        if sim.info.parts == 1:
            needed = 10 * ((sim.twist(ball)[0] - velocity) / h + [0, 0, 9.81])
            errors.append(np.linalg.norm(sim.reaction(last) - needed))
            pulls.append(np.linalg.norm(needed))
    assert len(errors) > 80 and max(errors) <= 0.02 * max(pulls)
