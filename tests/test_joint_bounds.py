"""Every free coordinate of every joint at its limits, and with a motor at its bound; gaps after every step."""

import numpy as np
import pytest

import pliant as pl
from mechanisms import BDF2, DUAL, ELIMINATED, EULER
from pliant.kernels.joints import POINTS
from pliant.rows import joints as joint_rows
from pliant.rows.table import Rows

X, Z = (1, 0, 0), (0, 0, 1)
LOW, HIGH, BOUND = -0.3, 0.2, 0.05
# A joint of the world with a body at a point, one of whose coordinates is given; and its name.
COORDINATES = {
    "hinge": (lambda b, p, c: pl.Hinge(pl.world, b, p, Z, free=c), "angle"),
    "slider": (lambda b, p, c: pl.Slider(pl.world, b, p, X, free=c), "travel"),
    "cylinder travels": (lambda b, p, c: pl.Cylindrical(pl.world, b, p, Z, travel=c), "travel"),
    "cylinder turns": (lambda b, p, c: pl.Cylindrical(pl.world, b, p, Z, angle=c), "angle"),
    "universal, first": (lambda b, p, c: pl.Universal(pl.world, b, p, X, Z, first=c), "first"),
    "universal, second": (lambda b, p, c: pl.Universal(pl.world, b, p, X, Z, second=c), "second"),
    "planar, first": (lambda b, p, c: pl.Planar(pl.world, b, p, Z, along=X, first=c), "first"),
    "planar, second": (lambda b, p, c: pl.Planar(pl.world, b, p, Z, along=X, second=c), "second"),
    "planar turns": (lambda b, p, c: pl.Planar(pl.world, b, p, Z, angle=c), "angle"),
    "on line": (lambda b, p, c: pl.OnLine(pl.world, b, p, X, travel=c), "travel"),
}
SOLVERS = pytest.mark.parametrize(
    "solver", [EULER, BDF2, DUAL, ELIMINATED], ids=["euler", "bdf2", "dual", "eliminated"]
)


def machine(coordinate: pl.Coordinate, push: float = 0.0):
    """A scene without gravity with one body on a joint for every free coordinate there is, and pairs of a joint and the
    coordinate's name. push: turns and moves everything along and about all axes [N, N m]."""
    scene, joints = pl.Scene(gravity=(0, 0, 0)), []
    for k, (make, name) in enumerate(COORDINATES.values()):
        place = (2.0 * k, 0, 0)
        body = scene.add_rigid(pl.Box((0.2, 0.3, 0.4)), mass=1, position=place, collide=False)
        if push:
            body.force((push, push, push))
            body.torque((0.1 * push, 0, 0.1 * push))
        joints.append((scene.join(make(body, place, coordinate)), name))
    return scene, joints


def gaps(sim) -> float:
    """The largest error of a rigid joint [rad], or relative to its arm or a length of 1 m."""
    blocks, rows = sim.model.joints, Rows.empty(sim.model.joints.start)
    error = np.abs(joint_rows.fill(blocks, rows, sim.state.pose, 1.0)[blocks.slice, :, blocks.lane]).max(axis=1)
    size = np.where(np.isin(blocks.family, POINTS), blocks.reach, 1.0)
    return float((error / size)[blocks.rigid].max())


@pytest.mark.parametrize("push", [2.0, -2.0], ids=["high", "low"])
@SOLVERS
def test_limits_are_not_overrun(solver, push):
    """By at most 1e-6 of their range after every step of Newton's, and gaps as small; 1e-3 of the dual solver."""
    scene, joints = machine(pl.Coordinate(limits=(LOW, HIGH)), push)
    sim, most = scene.simulate(dt=1 / 60, solver=solver), 1e-6 if isinstance(solver, pl.Newton) else 1e-3
    wanted, held = "high" if push > 0 else "low", np.zeros(len(joints), bool)
    for _ in range(60):
        sim.step()
        held |= [sim.limit_state(joint, name) == wanted for joint, name in joints]
        places = np.array([sim.joint_position(joint, name) for joint, name in joints])
        assert sim.info.converged and gaps(sim) <= most
        assert places.max() <= HIGH + most * (HIGH - LOW) and places.min() >= LOW - most * (HIGH - LOW)
    assert held.all()


@SOLVERS
def test_motors_at_their_bounds_give_them(solver):
    """To 1e-9; and nothing else acts, so that v = F t / m, w = T t / I of free coordinates."""
    motor = pl.Motor(velocity=100.0, max_torque=BOUND)
    scene, joints = machine(pl.Coordinate(motor=motor))
    sim = scene.simulate(dt=1 / 60, solver=solver).step(6)
    assert [sim.motor_effort(joint, name) for joint, name in joints] == pytest.approx([BOUND] * len(joints), rel=1e-9)
    inertia = {"Z": (0.2**2 + 0.3**2) / 12, "X": (0.3**2 + 0.4**2) / 12, "travel": 1.0}
    kinds = ["Z", "travel", "travel", "Z", "X", "Z", "travel", "travel", "Z", "travel"]
    expected = [BOUND * 0.1 / inertia[kind] for kind in kinds]
    assert [sim.joint_velocity(joint, name) for joint, name in joints] == pytest.approx(expected, rel=1e-6)


@SOLVERS
def test_swing_and_twist_are_not_overrun(solver):
    """A ball joint pushed into its limits: 1e-6 of their range, 1e-3 of the dual solver."""
    scene = pl.Scene(gravity=(0, 0, 0))
    body = scene.add_rigid(pl.Box((0.2, 0.3, 0.4)), mass=1, position=(0, 0, -0.5), collide=False)
    body.force((2, 1, 0))
    body.torque((0, 0, 0.05))
    ball = scene.join(pl.Ball(pl.world, body, at=(0, 0, 0), axis=Z, swing=0.4, twist=(LOW, HIGH)))
    sim, most = scene.simulate(dt=1 / 60, solver=solver), 1e-6 if isinstance(solver, pl.Newton) else 1e-3
    for _ in range(90):
        sim.step()
        assert sim.info.converged and gaps(sim) <= most
        assert sim.joint_position(ball, "swing") <= 0.4 * (1 + most)
        assert LOW - most * (HIGH - LOW) <= sim.joint_position(ball, "twist") <= HIGH + most * (HIGH - LOW)
    assert sim.limit_state(ball, "swing") == "high"
