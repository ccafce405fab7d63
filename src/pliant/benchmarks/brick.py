"""BV's stress test (3.7): a clamped brick of 96 x 2 x 1 cells with 12 tets each, 1 GPa, under gravity at 60 Hz."""

import os
import time

import numpy as np

import pliant as pl

SIZE, CELLS = (9.6, 0.48, 0.48), (96, 2, 1)
YOUNG, POISSON, MASS = 1e9, 0.35, 2200.0
STEP = 1 / 60
# BV speaks of "some constraint regularization"; these make our brick as soft as its pictures and as quick as its
# figures.
HIGH_REGULARIZATION, LOW_REGULARIZATION = 1e-2, 1e-3


def brick_scene(mass_damping: float = 0.0) -> tuple[pl.Scene, pl.bodies.Soft]:
    """The brick, clamped at x = 0; mass_damping [1/s] to bring it to rest."""
    scene = pl.Scene()
    density = MASS / float(np.prod(SIZE))
    mesh = pl.meshes.box(SIZE, cells=CELLS, pattern="twelve")
    brick = scene.add_soft(
        mesh, pl.Material.corotated(young=YOUNG, poisson=POISSON, density=density, mass_damping=mass_damping)
    )
    brick.pin(brick.nodes.x < 1e-9)
    return scene, brick


def tip(sim, brick) -> float:
    """Mean deflection [m] of the free end."""
    end = brick.nodes.x > SIZE[0] - 1e-9
    return float((sim.positions(brick)[end, 2] - brick.nodes.z[end]).mean())


def tip_at_rest(solver: pl.Dual, precision: str, seconds: float) -> float:
    """Deflection [m] of the free end after damped motion, close to rest."""
    scene, brick = brick_scene(mass_damping=10.0)
    sim = scene.simulate(dt=STEP, solver=solver, precision=precision)
    sim.step(round(seconds / STEP))
    return tip(sim, brick)


def measure(label: str, solver: pl.Dual, precision: str, steps: int, h: float = STEP) -> dict:
    """Steps from rest; compilation happens on a copy beforehand."""
    scene, brick = brick_scene()
    scene.simulate(dt=h, solver=solver, precision=precision).step(2)
    sim = scene.simulate(dt=h, solver=solver, precision=precision)
    times, iterations, residuals = [], [], []
    for _ in range(steps):
        start = time.perf_counter()
        sim.step()
        times.append(time.perf_counter() - start)
        iterations.append(sim.info.iterations)
        residuals.append(sim.info.residual)
    solve = sim.info.timings["solve"]
    return {
        "label": label,
        "tets": sim.model.element_count,
        "rows": 6 * sim.model.element_count,
        "steps": steps,
        "ms_per_step": 1e3 * float(np.median(times)),
        "first_iterations": iterations[0],
        "iterations": float(np.mean(iterations)),
        "residual": max(residuals),
        "ms_per_iteration": 1e3 * solve / max(iterations[-1], 1),
        "tip_m": tip(sim, brick),
    }


def run(quick: bool = False) -> dict:
    """Regularised as BV and exact; cold and warm; and the exact brick with the elements eliminated."""
    steps = 5 if quick else 30
    cold = {"warm_start": False, "max_iterations": 6000}
    cases = [
        measure("exact, eliminated elements", pl.Dual(eliminate=True), "float64", steps),
        measure("exact, cold, 1e-2", pl.Dual(tolerance=1e-2, **cold), "float32", 3),
        measure("exact, cold, 1e-4", pl.Dual(tolerance=1e-4, **cold), "float32", 3),
        measure("exact, cold, 1e-2, h = 1/240", pl.Dual(tolerance=1e-2, **cold), "float32", 3, 1 / 240),
        measure("exact, cold, 1e-4, h = 1/240", pl.Dual(tolerance=1e-4, **cold), "float32", 3, 1 / 240),
        measure("exact, BV rows, cold, 1e-4", pl.Dual(tolerance=1e-4, diagonal=False, **cold), "float32", 3),
        measure("exact, warm, 1e-4", pl.Dual(tolerance=1e-4, max_iterations=6000), "float32", steps),
    ]
    seconds = 0.5 if quick else 2.5
    exact = tip_at_rest(pl.Dual(eliminate=True), "float64", seconds)
    cases[0]["tip_at_rest_m"] = exact
    for value in (HIGH_REGULARIZATION, LOW_REGULARIZATION):
        for start in ("cold", "warm"):
            solver = pl.Dual(
                tolerance=1e-4, regularization=value, warm_start=start == "warm", max_iterations=6000, diagonal=True
            )
            case = measure(f"regularization {value:g}, {start}, 1e-4", solver, "float32", steps)
            cases.append(case)
        case["tip_at_rest_m"] = tip_at_rest(solver, "float32", seconds)
        case["tip_over_exact"] = case["tip_at_rest_m"] / exact
    return {"name": "brick", "cores": os.cpu_count(), "cases": cases}
