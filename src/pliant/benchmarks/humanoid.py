"""Trees of hinges: a figure of 30 bodies whose joints have limits and motors, and chains."""

import math
import os
import time

import numpy as np

import pliant as pl
from pliant.benchmarks.peers import measure_trees
from pliant.rotations import axis_quaternion

STEP, MASS, LENGTH, RADIUS = 1 / 240, 1.0, 0.2, 0.04
# Of every hinge of the figure: limits [rad], gains [N m/rad, N m s/rad] and the largest torque [N m] of its motor; how
# far, how fast [rad, rad/s] and by what part of a turn after the one before it swings.
DRIVE = {"limits": (-1.0, 1.0), "stiffness": 40.0, "damping": 4.0, "torque": 100.0}
SWING, PACE, AFTER = 0.5, 3.0, 0.7
# Limbs of the figure: on which limb and after how many of its links each begins, its number of links, its direction.
LIMBS = (
    (None, 0, 5, (0.0, 0.0, 1.0)),
    (0, 5, 2, (0.0, 0.0, 1.0)),
    (0, 4, 6, (1.0, 0.0, 0.0)),
    (0, 4, 6, (-1.0, 0.0, 0.0)),
    (0, 1, 5, (0.3, 0.0, -1.0)),
    (0, 1, 6, (-0.3, 0.0, -1.0)),
)


def figure() -> list[dict]:
    """30 links: parent (-1: the world), where each begins [m], its direction and the axis of its hinge."""
    links, ends = [], []
    for root, place, count, way in LIMBS:
        along = np.array(way) / np.linalg.norm(way)
        parent, start = (-1, np.zeros(3)) if root is None else ends[root][place]
        own = [(parent, start)]
        for k in range(count):
            axis = np.cross(along, (0.0, 1.0, 0.0)) if k % 2 else np.array((0.0, 1.0, 0.0))
            links.append({"parent": parent, "start": start.tolist(), "way": along.tolist(), "axis": axis.tolist()})
            parent, start = len(links) - 1, start + LENGTH * along
            own.append((parent, start))
        ends.append(own)
    return links


def chain(count: int) -> list[dict]:
    """That many links in a row, level, from the world on."""
    directions = {"way": [1.0, 0.0, 0.0], "axis": [0.0, 1.0, 0.0]}
    return [{"parent": i - 1, "start": [i * LENGTH, 0.0, 0.0], **directions} for i in range(count)]


def tree(links: list[dict], driven: bool) -> pl.Scene:
    """The links as capsules. A driven tree has its first link welded to the world; others hang on it by a hinge."""
    scene, bodies = pl.Scene(), [pl.world]
    for number, link in enumerate(links):
        start, way, holder = np.array(link["start"]), np.array(link["way"]), bodies[link["parent"] + 1]
        place = {"position": start + 0.5 * LENGTH * way, "rotation": axis_quaternion(way)}
        bodies.append(scene.add_rigid(pl.Capsule(RADIUS, LENGTH), mass=MASS, collide=False, **place))
        if driven and link["parent"] < 0:
            scene.join(pl.Fixed(holder, bodies[-1], tuple(start)))
        else:
            options = {"limits": DRIVE["limits"], "motor": _motor(number)} if driven else {}
            scene.join(pl.Hinge(holder, bodies[-1], tuple(start), tuple(link["axis"]), **options))
    return scene


def _motor(number: int) -> pl.Motor:
    """The motor of a hinge, which swings."""
    gains = {"stiffness": DRIVE["stiffness"], "damping": DRIVE["damping"], "max_torque": DRIVE["torque"]}
    ahead, sine = AFTER * number, math.sin
    return pl.Motor(position=lambda seconds: SWING * (sine(PACE * seconds + ahead) - sine(ahead)), **gains)


def measured(label: str, links: list[dict], driven: bool, steps: int, **options) -> dict:
    """One case: steps from rest on one thread; compilation happens beforehand."""
    scene = tree(links, driven)
    scene.simulate(dt=STEP, threads=1, **options).step(3)
    sim = scene.simulate(dt=STEP, threads=1, **options)
    times, iterations, unconverged = [], [], 0
    for _ in range(steps):
        start = time.perf_counter()
        sim.step()
        times.append(1e3 * (time.perf_counter() - start))
        iterations.append(sim.info.newton_iterations or sim.info.iterations)
        unconverged += not sim.info.converged
    return {
        "label": label,
        "bodies": len(links),
        "steps": steps,
        "ms_per_step": float(np.median(times)),
        "least_ms": min(times),
        "worst_ms": max(times),
        "iterations": float(np.mean(iterations)),
        "unconverged": unconverged,
        "tip_m": sim.state.body_position[-1].tolist(),
    }


def run(quick: bool = False, peers: bool | None = None) -> dict:
    """All cases; quick: short, without other engines unless asked for."""
    steps, counts = (60, (100,)) if quick else (480, (100, 1000))
    trees = {"figure of 30 bodies": (figure(), True)} | {f"chain of {n} hinges": (chain(n), False) for n in counts}
    cases = []
    for name, (links, driven) in trees.items():
        own = steps if driven else steps // 4
        cases.append(measured(f"{name}, Newton", links, driven, own))
        cases.append(measured(f"{name}, Dual", links, driven, own, solver=pl.Dual(eliminate=True)))
        if peers or (peers is None and not quick):
            sizes = {"length": LENGTH, "radius": RADIUS, "mass": MASS, "steps": own, "step": STEP}
            motors = DRIVE | {"swing": SWING, "pace": PACE, "after": AFTER} if driven else None
            cases += measure_trees(name, links=links, motors=motors, **sizes)
    return {"name": "humanoid", "cores": os.cpu_count(), "cases": cases}
