"""Mechanisms for tests: bars on hinges, published cases, simulations that must converge."""

from functools import cache

import numpy as np
import yaml

import pliant as pl
from pliant.rotations import rotation_matrix
from verification import data

G = 9.81
X, Y, Z = (1, 0, 0), (0, 1, 0), (0, 0, 1)
EULER, BDF2, DUAL = pl.Newton(), pl.Newton(integrator="bdf2"), pl.Dual()
ELIMINATED = pl.Dual(eliminate=True)


@cache
def published() -> dict[str, dict]:
    """What every published case expects, by its name; reading them takes a while."""
    return {entry["id"]: entry["expected"] for entry in yaml.safe_load(data("cases.yaml").read_text())["cases"]}


def case(name: str) -> dict:
    """What a published case expects."""
    return published()[name]


def about_y(angle: float) -> tuple[float, float, float, float]:
    """The quaternion of a turn about y."""
    return float(np.cos(angle / 2)), 0.0, float(np.sin(angle / 2)), 0.0


def bar(scene, start, end, mass: float = 1.0, **motion):
    """A thin uniform bar in the plane of x and z, its own x from start to end; I = m L^2 / 12 about its middle."""
    start, end = np.array(start, float), np.array(end, float)
    along = end - start
    length = float(np.linalg.norm(along))
    across = mass * length**2 / 12
    return scene.add_rigid(
        pl.Box((length, 0.01, 0.01)),
        mass=mass,
        inertia=(1e-3 * across, across, across),
        position=(start + end) / 2,
        rotation=about_y(np.arctan2(-along[2], along[0])),
        collide=False,
        **motion,
    )


def end_of(sim, body, length: float = 1.0) -> np.ndarray:
    """Where the end of a bar is."""
    position, rotation = sim.pose(body)
    return position + rotation_matrix(rotation) @ [length / 2, 0, 0]


def advance(sim, time: float):
    """The simulation at a time; every step on the way must converge."""
    for _ in range(round((time - sim.time) / sim.dt)):
        sim.step()
        assert sim.info.converged
    return sim


def joint_gap(sim) -> float:
    """How far apart [m] the two sides of any joint with one point are, from where the scene put that point in each."""
    gap = 0.0
    for joint in sim.scene.joints:
        places = []
        for body in (joint.a, joint.b):
            if body is pl.world:
                places.append(np.array(joint.at))
                continue
            local = rotation_matrix(body.rotation).T @ (np.array(joint.at) - body.position)
            position, rotation = sim.pose(body)
            places.append(position + rotation_matrix(rotation) @ local)
        gap = max(gap, float(np.linalg.norm(places[0] - places[1])))
    return gap
