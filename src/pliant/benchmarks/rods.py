"""A hundred rods of a hundred segments that swing from their upper ends: free, and with contacts with each other and
the ground. Real time is a step of 1/60 s in less than 16.7 ms.
"""

import os
import time

import numpy as np

import pliant as pl

STEP, LENGTH, SEGMENTS, APART = 1 / 60, 1.0, 100, 0.1  # s, m, segments of a rod, m
RADIUS, LEANING, GROUND = 2e-3, 0.3, 0.03  # m, sideways over length, m above where the tips hang straight down
FIRST_TOUCH = 14  # steps after which tips have touched the ground
SOLVERS = {"newton": pl.Newton(), "mixed": pl.Mixed()}


def curtain(side: int, touching: bool) -> pl.Scene:
    """side x side rods that lean and are let go; touching: they touch each other and a ground under their tips."""
    scene, along = pl.Scene(), np.linspace(0, LENGTH, SEGMENTS + 1)[:, None]
    law = pl.Material.linear(young=1e7, poisson=0.3, density=1000, damping=1e-2)
    down = np.array([LEANING, 0, -np.sqrt(1 - LEANING**2)])
    for i in range(side):
        for j in range(side):
            points = [APART * i, APART * j, LENGTH] + along * down
            scene.add_rod(points, law, radius=RADIUS, collide=touching, self_contact=False).clamp(0)
    if touching:
        scene.add_rigid(pl.Plane(), static=True, position=(0, 0, GROUND), friction=0.3)
    return scene


def measured(solver: str, side: int, touching: bool, steps: int) -> dict:
    """Milliseconds per step (the median), iterations, contacts and steps that did not converge. What compiles at the
    first touch, or is loaded then, is so beforehand, in a run that is not measured."""
    sim = curtain(side, touching).simulate(dt=STEP, solver=SOLVERS[solver])
    if touching:
        sim.step(FIRST_TOUCH)
        sim = curtain(side, touching).simulate(dt=STEP, solver=SOLVERS[solver])
    sim.step(3)
    times, iterations, contacts, failed = [], [], 0, 0
    for _ in range(steps):
        start = time.perf_counter()
        sim.step()
        times.append(1e3 * (time.perf_counter() - start))
        iterations.append(sim.info.newton_iterations)
        contacts, failed = max(contacts, len(sim.contacts)), failed + (not sim.info.converged)
    return {
        "label": f"{side * side} rods, {solver}" + (", touching" if touching else ""),
        "segments": side * side * SEGMENTS,
        "ms_per_step": float(np.median(times)),
        "slowest_ms": max(times),
        "real_time_ms": 1e3 * STEP,
        "iterations": float(np.mean(iterations)),
        "most_contacts": contacts,
        "not_converged": failed,
    }


def run(quick: bool = False) -> dict:
    """Both solvers, free and touching; quick: nine rods."""
    side, steps = (3, 10) if quick else (10, 60)
    cases = [measured(solver, side, touching, steps) for solver in SOLVERS for touching in (False, True)]
    return {"name": "rods", "cores": os.cpu_count(), "cases": cases}
