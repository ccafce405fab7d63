"""Solvers beside Newton's method on an NVIDIA GPU: the dual one on BV's joint grid and brick, linear and explicit steps
of the cantilever."""

import time

import numpy as np

import pliant as pl
from pliant.benchmarks import brick, grid
from pliant.benchmarks._beam import STEP
from pliant.benchmarks.cantilever import cantilever_scene

# Time step of explicit steps [s].
SHORT = 1e-5


def timed(label: str, scene: pl.Scene, solver, dt: float, steps: int, **options) -> dict:
    """Steps from rest, the first two not timed; of the dual solver also what its problems take, with what is sent to
    the GPU and back."""
    sim = scene.simulate(dt, solver=solver, device="cuda", **options).step(2)
    program, times, infos = getattr(sim.working_solver, "program", None), [], []
    before = getattr(program, "seconds", None)
    for _ in range(steps):
        start = time.perf_counter()
        sim.step()
        times.append(1e3 * (time.perf_counter() - start))
        infos.append(sim.info)
    case = {
        "label": label,
        "steps": steps,
        "ms_per_step": float(np.median(times)),
        "max_ms_per_step": max(times),
        "iterations": float(np.mean([info.iterations for info in infos])),
        "residual": max(info.residual for info in infos),
        "rows": sim.info.rows,
    }
    if before is not None:
        case["solve_ms"] = 1e3 * (program.seconds - before) / steps
    return case


def solver_cases(sizes: dict[str, tuple], quick: bool) -> list[dict]:
    """All of them; sizes: cells of cantilevers by name."""
    steps = 5 if quick else 20
    soft = {"tolerance": 1e-4, "max_iterations": 6000}
    cases = []
    for start in ("cold", "warm"):
        net = pl.Dual(regularization=1e-3, warm_start=start == "warm", **soft)
        scene = grid.grid_scene(True)
        cases.append(timed(f"joint grid, MPRGP, {start}", scene, net, grid.STEP, steps, precision="float32"))
        block = pl.Dual(regularization=brick.HIGH_REGULARIZATION, warm_start=start == "warm", **soft)
        scene = brick.brick_scene()[0]
        cases.append(timed(f"brick, MPRGP, {start}", scene, block, brick.STEP, steps, precision="float32"))
    cases.append(timed("brick, Newton", brick.brick_scene()[0], pl.Newton(), brick.STEP, 3 * steps))
    for name, cells in sizes.items():
        scene = cantilever_scene("linear", cells)[0]
        for tolerance in (1e-3, 1e-8):
            solver = pl.Linear(factor="cg", tolerance=tolerance)
            cases.append(timed(f"linear to {tolerance:g}, {name} tets", scene, solver, STEP, 2 * steps))
        scene = cantilever_scene("corotated", cells)[0]
        cases.append(timed(f"explicit, {name} tets", scene, pl.Explicit(), SHORT, 10 * steps))
    return cases
