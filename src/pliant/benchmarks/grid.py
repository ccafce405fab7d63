"""BV's joint grid (3.7): a 20 x 20 net of bodies 1 m apart, a chain of 16 under every node, ball joints everywhere."""

import os
import time

import numpy as np

import pliant as pl

NET, CHAIN, HANGER = 20, 16, 4
STEP = 1 / 60


def grid_scene(hung: bool, net: int = NET, chain: int = CHAIN) -> pl.Scene:
    """The net with its corners fixed as in BV, or hung from the world by chains of four links.

    The net's straight edges cannot carry load, so with fixed corners the rigid problem has no solution with finite tension.
    """
    scene = pl.Scene()

    def body(position, static=False):
        return scene.add_rigid(pl.Sphere(0.5), mass=None if static else 1.0, static=static, position=position, collide=False)

    def join(a, b, at):
        scene.join(pl.Ball(a, b, at=at))

    nodes = {}
    corners = {(i, j) for i in (0, net - 1) for j in (0, net - 1)}
    for i in range(net):
        for j in range(net):
            nodes[i, j] = body((i, j, 0), static=not hung and (i, j) in corners)
    for (i, j), node in nodes.items():
        for other in ((i + 1, j), (i, j + 1)):
            if other in nodes:
                join(node, nodes[other], ((i + other[0]) / 2, (j + other[1]) / 2, 0))
        above = node
        for k in range(1, chain + 1):
            below = body((i, j, -k))
            join(above, below, (i, j, 0.5 - k))
            above = below
        if hung and (i, j) in corners:
            below = node
            for k in range(1, HANGER + 1):
                link = body((i, j, k))
                join(below, link, (i, j, k - 0.5))
                below = link
            join(below, pl.world, (i, j, HANGER + 0.5))
    return scene


def largest_gap(sim) -> float:
    """Largest distance [m] between the two anchors of a joint (a link is 1 m)."""
    from pliant.rows.joints import fill
    from pliant.rows.table import Rows

    rows = Rows.empty(sim.model.joints.start)
    state = sim.state
    fill(sim.model.joints, rows, state.x, state.body_position, state.body_rotation, 1.0)
    return float(np.linalg.norm(rows.target, axis=1).max())


def measure(hung: bool, solver: pl.Dual, steps: int, label: str) -> dict:
    """Time `steps` steps from rest under gravity; the first, which may compile, is run on a copy beforehand."""
    scene = grid_scene(hung)
    warm = scene.simulate(dt=STEP, solver=solver, precision="float32")
    warm.step()
    sim = scene.simulate(dt=STEP, solver=solver, precision="float32")
    times, iterations, residuals, gap, solve = [], [], [], 0.0, []
    for _ in range(steps):
        start = time.perf_counter()
        sim.step()
        times.append(time.perf_counter() - start)
        solve.append(sim.info.timings["solve"])
        iterations.append(sim.info.iterations)
        residuals.append(sim.info.residual)
        gap = max(gap, largest_gap(sim))
    return {
        "label": label,
        "bodies": sim.model.body_count,
        "rows": sim.info.rows,
        "steps": steps,
        "ms_per_step": 1e3 * float(np.median(times)),
        "max_ms_per_step": 1e3 * max(times),
        "solve_ms": 1e3 * float(np.median(solve)),
        "iterations": float(np.mean(iterations)),
        "first_iterations": iterations[0],
        "max_iterations": max(iterations),
        "residual": max(residuals),
        "largest_gap_m": gap,
    }


def run(quick: bool = False) -> dict:
    """MPRGP on both variants, and PGS at equal accuracy for the ratio, in one run."""
    seconds = 0.25 if quick else 2.0
    steps = round(seconds / STEP)
    mprgp = pl.Dual(tolerance=1e-4, max_iterations=2000)
    cold = pl.Dual(tolerance=1e-4, max_iterations=2000, warm_start=False)
    pgs = pl.Dual(method="pgs", tolerance=1e-4, max_iterations=20000, warm_start=False)
    cases = [
        measure(False, cold, 10, "fixed corners, MPRGP, cold starts"),
        measure(False, pgs, 2, "fixed corners, PGS, cold starts"),
        measure(False, mprgp, steps, "fixed corners, MPRGP, warm starts"),
        measure(True, mprgp, steps, "hung corners, MPRGP, warm starts"),
    ]
    cases[1]["pgs_over_mprgp_time"] = cases[1]["solve_ms"] / cases[0]["solve_ms"]
    return {"name": "grid", "cores": os.cpu_count(), "cases": cases}
