"""BV's joint grid (3.7): a 20 x 20 net of bodies 1 m apart, a chain of 16 under every node, ball joints everywhere."""

import os
import time

import numpy as np

import pliant as pl

NET, CHAIN, HANGER = 20, 16, 4
STEP = 1 / 60


def grid_scene(hung: bool, net: int = NET, chain: int = CHAIN) -> pl.Scene:
    """The net with its corners fixed as in BV, or hung from the world by chains of four links.

    The net's straight edges cannot carry load, so with fixed corners the rigid problem has no solution with finite
    tension.
    """
    scene = pl.Scene()

    def body(position, static=False):
        return scene.add_rigid(
            pl.Sphere(0.5), mass=None if static else 1.0, static=static, position=position, collide=False
        )

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
    fill(sim.model.joints, rows, state.pose, 1.0)
    return float(np.linalg.norm(rows.target, axis=1).max())


def measure(hung: bool, solver: pl.Dual, steps: int, label: str, precision: str = "float32") -> dict:
    """Time `steps` steps from rest under gravity; the first, which may compile, is run on a copy beforehand."""
    scene = grid_scene(hung)
    compiling = scene.simulate(dt=STEP, solver=solver, precision=precision)
    compiling.set_pose(scene.bodies[-1], (0, 0, 5))  # opens a gap, so that drift control compiles too
    compiling.step(2)
    sim = scene.simulate(dt=STEP, solver=solver, precision=precision)
    times, infos, gap = [], [], 0.0
    for _ in range(steps):
        start = time.perf_counter()
        sim.step()
        times.append(time.perf_counter() - start)
        infos.append(sim.info)
        gap = max(gap, largest_gap(sim))
    solve = [info.timings["solve"] for info in infos]
    products = sum(info.iterations for info in infos)
    return {
        "label": label,
        "bodies": sim.model.body_count,
        "rows": sim.info.rows,
        "steps": steps,
        "regularization": solver.regularization,
        "ms_per_step": 1e3 * float(np.median(times)),
        "max_ms_per_step": 1e3 * max(times),
        "solve_ms": 1e3 * float(np.median(solve)),
        "ms_per_iteration": 1e3 * sum(solve) / max(products, 1),
        "drift_ms": 1e3 * float(np.median([info.timings["drift"] for info in infos])),
        "first_iterations": infos[0].iterations,
        "iterations": products / steps,
        "residual": max(info.residual for info in infos),
        "largest_gap_m": gap,
    }


def run(quick: bool = False) -> dict:
    """MPRGP against PGS at equal accuracy, then two seconds of both variants, iterated and eliminated, in one run.

    The net is redundant (crosses that cannot shear), so the iterated solvers regularise as BV does; "exact" is the
    default compliance of rigid joints, for the first step.
    """
    steps = 12 if quick else round(2.0 / STEP)
    soft = {"regularization": 1e-3, "tolerance": 1e-4}
    cold = pl.Dual(warm_start=False, max_iterations=2000, **soft)
    pgs = pl.Dual(method="pgs", warm_start=False, max_iterations=20000, **soft)
    exact = pl.Dual(warm_start=False, max_iterations=2000, tolerance=1e-4)
    cases = [
        measure(False, exact, 1, "fixed corners, MPRGP, exact, first step"),
        measure(False, cold, 5, "fixed corners, MPRGP, cold starts"),
        measure(False, pgs, 1 if quick else 5, "fixed corners, PGS, cold starts"),
        measure(False, pl.Dual(max_iterations=2000, **soft), steps, "fixed corners, MPRGP, warm starts"),
        measure(True, pl.Dual(max_iterations=2000, **soft), steps, "hung corners, MPRGP, warm starts"),
        measure(False, pl.Dual(eliminate=True), steps, "fixed corners, eliminated joints", "float64"),
        measure(True, pl.Dual(eliminate=True), steps, "hung corners, eliminated joints", "float64"),
    ]
    cases[2]["pgs_over_mprgp_time"] = cases[2]["solve_ms"] / cases[1]["solve_ms"]
    return {"name": "grid", "cores": os.cpu_count(), "cases": cases}
