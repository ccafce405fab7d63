"""The cantilever on an NVIDIA GPU: converged Newton steps of up to 1.2 million tets, and what its kernels make of the
memory's bandwidth."""

import os
import time

import numpy as np

import pliant as pl
from pliant.benchmarks._beam import CLAMP, DENSITY, POISSON, STEP
from pliant.benchmarks._cuda_solvers import solver_cases
from pliant.benchmarks._kernels import kernel_cases
from pliant.benchmarks.cantilever import beam_tip, cantilever_scene, relative
from pliant.meshes import box

SIZES = {"1,920": (20, 4, 4), "28,800": (48, 10, 10), "414,720": (120, 24, 24), "1.2 M": (172, 34, 34)}
# Meshes that are stepped on the CPU as well, for the tip to compare with.
COMPARED = ("1,920", "28,800")
# Blocks that are dropped on a floor; the first is stepped on the CPU as well.
DROPPED = {"28,800": (20, 20, 12), "414,720": (48, 48, 30)}
# The cantilever of tets of ten nodes.
TEN_NODES = (24, 5, 5)
# A beam 50 times as long as it is thick.
SLENDER, SLENDER_CELLS, SLENDER_YOUNG = (1.0, 0.02, 0.02), (200, 4, 4), 1e8


def slender_scene() -> tuple[pl.Scene, pl.bodies.Soft]:
    """The slender beam, clamped at x = 0."""
    scene = pl.Scene()
    material = pl.Material.corotated(young=SLENDER_YOUNG, poisson=POISSON, density=DENSITY)
    beam = scene.add_soft(box(SLENDER, cells=SLENDER_CELLS, pattern="six"), material)
    beam.pin(beam.nodes.x < CLAMP)
    return scene, beam


def measure(label: str, scene: pl.Scene, beam, steps: int, compare: bool) -> dict:
    """Steps from rest on the GPU, timed one by one, then once more to compare all bits; the first step is not timed,
    for it finds its start without a step before it."""
    start = time.perf_counter()
    sim = scene.simulate(dt=STEP, device="cuda")
    built = time.perf_counter() - start
    times, infos = [], []
    for _ in range(steps):
        start = time.perf_counter()
        sim.step()
        times.append(1e3 * (time.perf_counter() - start))
        infos.append(sim.info)
    again = scene.simulate(dt=STEP, device="cuda").step(steps)
    program = sim.working_solver.program
    case = {
        "label": label,
        "tets": sim.model.element_count,
        "nodes": sim.model.node_count,
        "steps": steps,
        "ms_per_step": float(np.median(times[1:])),
        "mean_ms_per_step": float(np.mean(times[1:])),
        "max_ms_per_step": max(times[1:]),
        "host_us_per_step": 1e6 * float(np.median([info.timings["host"] for info in infos])),
        "newton_iterations": float(np.mean([info.newton_iterations for info in infos])),
        "pcg_iterations": float(np.mean([info.iterations for info in infos])),
        "residual": max(info.residual for info in infos),
        "imbalance": max(info.imbalance for info in infos),
        "converged_steps": sum(info.converged for info in infos),
        "tip_m": beam_tip(sim, beam),
        "same_bits": bool(np.array_equal(sim.positions(beam), again.positions(beam))),
        "bytes_per_tet": program.bytes_per_element,
        "build_s": built,
    }
    if compare:
        case["cpu_tip_m"] = beam_tip(scene.simulate(dt=STEP).step(steps), beam)
        case["tip_difference"] = relative(case["tip_m"], case["cpu_tip_m"])
    return case


def dropped_scene(cells: tuple) -> pl.Scene:
    """A soft block just above a floor."""
    scene = pl.Scene()
    scene.add_rigid(pl.Plane(), static=True)
    soft = pl.Material.corotated(young=1e5, poisson=0.3, density=DENSITY)
    scene.add_soft(box((0.2, 0.2, 0.1), cells=cells), soft, position=(0, 0, 0.02))
    return scene


def measure_drop(label: str, cells: tuple, steps: int, device: str) -> dict:
    """A block that falls and comes to rest, in steps that the host drives."""
    sim, times, infos = dropped_scene(cells).simulate(dt=STEP, device=device), [], []
    for _ in range(steps):
        start = time.perf_counter()
        sim.step()
        times.append(1e3 * (time.perf_counter() - start))
        infos.append(sim.info)
    return {
        "label": f"dropped on a floor, {label} tets, {device}",
        "tets": sim.model.element_count,
        "steps": steps,
        "ms_per_step": float(np.median(times[1:])),
        "newton_iterations": float(np.mean([info.newton_iterations for info in infos])),
        "pcg_iterations": float(np.mean([info.iterations for info in infos])),
        "contacts": infos[-1].contacts,
        "converged_steps": sum(info.converged for info in infos),
        "deepest_m": float(min(sim.state.x[:, 2].min(), 0.0)),
    }


def ten_node_scene() -> tuple[pl.Scene, pl.bodies.Soft]:
    """The cantilever of tets of ten nodes."""
    scene = pl.Scene()
    material = pl.Material.corotated(young=1e6, poisson=POISSON, density=DENSITY)
    beam = scene.add_soft(box((1.0, 0.2, 0.2), cells=TEN_NODES).quadratic(), material)
    beam.pin(beam.nodes.x < CLAMP)
    return scene, beam


def run(quick: bool = False) -> dict:
    """Sizes, laws, a slender beam, tets of ten nodes, contacts, other solvers; then the kernels of every mesh."""
    steps = 10 if quick else round(1 / STEP)
    sizes = {name: SIZES[name] for name in COMPARED} if quick else SIZES
    cases = [
        measure(f"corotated, {name} tets", *cantilever_scene("corotated", cells), steps, name in COMPARED)
        for name, cells in sizes.items()
    ]
    cases.append(measure("neohookean, 28,800 tets", *cantilever_scene("neohookean", SIZES["28,800"]), steps, True))
    cases.append(measure("slender, L/t 50", *slender_scene(), steps, not quick))
    cases.append(measure("ten nodes, 3,600 tets", *ten_node_scene(), steps, False))
    cases += [measure_drop("28,800", DROPPED["28,800"], 40, device) for device in ("cuda", "cpu")]
    if not quick:
        cases.append(measure_drop("414,720", DROPPED["414,720"], 40, "cuda"))
    cases += solver_cases(sizes, quick)
    for name in sizes:
        cases += kernel_cases(cantilever_scene("corotated", SIZES[name])[0], name)
    return {"name": "cuda", "cores": os.cpu_count(), "device": _device(), "cases": cases}


def _device() -> dict:
    from pliant.kernels.device import device

    return device("cuda").resident.toolkit.find_gpu().report()
