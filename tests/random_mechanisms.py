"""Random mechanisms from a seed: trees and loops of rigid bodies with every joint, limits, motors, friction, springs.

Masses over five decades, time steps 1/1000 to 1/15 s. All joints fit at the start, so standing still is an answer.
"""

from dataclasses import dataclass

import numpy as np

import pliant as pl
from pliant.kernels.joints import POINTS
from pliant.rotations import axis_quaternion
from pliant.rows import joints as joint_rows
from pliant.rows.table import Rows

KINDS = (
    "Ball",
    "Hinge",
    "Hinge",
    "Slider",
    "Cylindrical",
    "Universal",
    "Planar",
    "Fixed",
    "Distance",
    "Rope",
    "Spring",
)
KINDS += ("OnLine", "OnPlane", "Torsion")
LINK = 0.3
# Largest gap of Newton's steps and of others (of points relative to the length of a link, of directions in rad), and
# part of the energy at play, that count as none.
CLOSED, GAP, GAIN = 1e-6, 1e-3, 1e-3


@dataclass
class Outcome:
    """What became of a mechanism: "ok", or the check that failed, the step and a number; steps not converged."""

    status: str
    step: int = 0
    number: float = 0.0
    unconverged: int = 0


class Mechanism:
    """A scene in the making."""

    def __init__(self, seed: int):
        self.random = np.random.default_rng(seed)
        self.scene = pl.Scene()
        self.dt = float(10 ** self.random.uniform(-3, np.log10(1 / 15)))
        self.solver = (pl.Newton(), pl.Newton(integrator="bdf2"), pl.Dual(eliminate=True))[self.random.integers(3)]
        heaviest = 10 ** self.random.uniform(-2, 2)
        self.links = [(pl.world, np.zeros(3))]
        for _ in range(self.random.integers(2, 9)):
            self.grow(heaviest * 10 ** self.random.uniform(-5, 0) if self.random.random() < 0.5 else heaviest)
        if self.random.random() < 0.3:
            self.close()

    def grow(self, mass: float) -> None:
        """One more link at the end of another."""
        parent, start = self.links[self.random.integers(len(self.links))]
        way = self.random.normal(size=3)
        end = start + 0.3 * way / np.linalg.norm(way)
        link = self.scene.add_rigid(
            pl.Capsule(0.05, 0.3),
            mass=mass,
            position=(start + end) / 2,
            rotation=axis_quaternion(end - start),
            collide=False,
        )
        self.join(KINDS[self.random.integers(len(KINDS))], parent, link, start, end, mass)
        self.links.append((link, end))

    def close(self) -> None:
        """A loop: the last link also hangs on the world or another link."""
        (one, _), (two, end) = self.links[self.random.integers(len(self.links) - 1)], self.links[-1]
        self.join(("Ball", "Distance", "Rope", "Spring")[self.random.integers(4)], one, two, end, end + 0.1, 1.0)

    def coordinate(self, mass: float) -> pl.Coordinate:
        draw, torque = self.random, mass * 9.81 * 0.3
        options = {}
        if draw.random() < 0.3:
            options["limits"] = (-draw.uniform(0.05, 1), draw.uniform(0.05, 1))
        if draw.random() < 0.2:
            options["friction"] = torque * draw.uniform(0, 1)
        if draw.random() < 0.2:
            options |= {"stiffness": torque * draw.uniform(0, 5), "damping": torque * draw.uniform(0, 1)}
        if draw.random() < 0.2:
            options["motor"] = pl.Motor(velocity=draw.uniform(-2, 2), max_torque=torque * draw.uniform(0.1, 3))
        return pl.Coordinate(**options)

    def join(self, kind: str, a, b, start, end, mass: float) -> None:
        draw, axis = self.random, tuple(self.random.normal(size=3))
        across = tuple(np.cross(axis, draw.normal(size=3)))
        free, at = [self.coordinate(mass) for _ in range(3)], tuple(start)
        joint = {
            "Ball": lambda: pl.Ball(a, b, at),
            "Fixed": lambda: pl.Fixed(a, b, at),
            "Hinge": lambda: pl.Hinge(a, b, at, axis, free=free[0]),
            "Slider": lambda: pl.Slider(a, b, at, axis, free=free[0]),
            "Cylindrical": lambda: pl.Cylindrical(a, b, at, axis, travel=free[0], angle=free[1]),
            "Universal": lambda: pl.Universal(a, b, at, axis, across, first=free[0], second=free[1]),
            "Planar": lambda: pl.Planar(a, b, at, axis, first=free[0], second=free[1], angle=free[2]),
            "Distance": lambda: pl.Distance(a, b, (tuple(start + 0.1), at)),
            "Rope": lambda: pl.Rope(a, b, (tuple(start + 0.1), at)),
            "Spring": lambda: pl.Spring(a, b, (tuple(start + 0.1), at), stiffness=mass * 1e3, damping=mass),
            "OnLine": lambda: pl.OnLine(a, b, at, axis, travel=free[0]),
            "OnPlane": lambda: pl.OnPlane(a, b, at, axis),
            "Torsion": lambda: pl.Torsion(a, b, at, axis, stiffness=mass, damping=0.1 * mass),
        }[kind]
        self.scene.join(joint())


def largest_gap(sim) -> float:
    """The largest error of a rigid joint: of points relative to the length of a link, or of an arm that reaches
    farther, of directions in rad."""
    blocks, rows = sim.model.joints, Rows.empty(sim.model.joints.start)
    error = joint_rows.fill(blocks, rows, sim.state.pose, 1.0)
    size = np.where(np.isin(blocks.family, POINTS), np.maximum(blocks.reach, LINK), 1.0)
    gap = np.abs(error[blocks.slice, :, blocks.lane]).max(axis=1, initial=0.0) / size
    return float(gap[blocks.rigid].max(initial=0.0))


class Motors:
    """What motors have put into a mechanism [J]: their effort times what coordinates went by. It is at most their bound
    times it where a step was taken in parts, of which only the last effort is known, and in steps of BDF2, whose effort
    is that at the end."""

    def __init__(self, sim):
        self.sim, self.work = sim, 0.0
        pairs = ((joint, *each) for joint in sim.scene.joints for each in joint.coordinates.items())
        self.driven = [(joint, name, free.motor) for joint, name, free in pairs if free.motor is not None]
        self.places = self.read()

    def read(self) -> np.ndarray:
        return np.array([self.sim.joint_position(joint, name) for joint, name, _ in self.driven])

    def follow(self) -> None:
        places = self.read()
        gone, self.places = places - self.places, places
        for (joint, name, motor), way in zip(self.driven, gone):
            effort = self.sim.motor_effort(joint, name)
            whole = self.sim.info.parts == 1 and self.sim.info.integrator != "bdf2"
            self.work += effort * way if whole else motor.max_torque * abs(way)


def run(seed: int, steps: int = 60) -> Outcome:
    """A mechanism for so many steps: finite, no energy but from motors, no gap."""
    made = Mechanism(seed)
    sim = made.scene.simulate(dt=made.dt, solver=made.solver, threads=1)
    first, fallen, unconverged, motors = sim.energy(), 0.0, 0, Motors(sim)
    # what opening joints by the gaps that count as none may lift or let down
    little = CLOSED * LINK * 9.81 * sum(body.mass for body in made.scene.every_rigid)
    for step in range(1, steps + 1):
        try:
            sim.step()
        except pl.SolverError:
            return Outcome("stopped", step, 0.0, unconverged)
        energy = sim.energy()
        unconverged += not sim.info.converged
        motors.follow()
        fallen = max(fallen, first.gravitational - energy.gravitational, energy.kinetic)
        gained = energy.total - first.total - motors.work
        if not np.isfinite(energy.total):
            return Outcome("not finite", step)
        if gained > GAIN * fallen + little:
            return Outcome("energy", step, gained / fallen, unconverged)
        if sim.info.converged and largest_gap(sim) > (CLOSED if isinstance(made.solver, pl.Newton) else GAP):
            return Outcome("gap", step, largest_gap(sim), unconverged)
    return Outcome("ok", steps, 0.0, unconverged)
