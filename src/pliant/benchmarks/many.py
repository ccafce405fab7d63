"""Many small scenes at once: soft fingers of 5x2x2 cells, each on a hinge with a motor that turns to its own goal."""

import os
import time

import numpy as np

import pliant as pl
from pliant.errors import DeviceError

STEP, COUNT = 0.01, 4096
YOUNG, SIZE, CELLS = 2e5, (0.1, 0.02, 0.02), (5, 2, 2)


def finger() -> pl.Scene:
    """A soft finger on a hinge of the world with a motor."""
    scene = pl.Scene()
    rubber = pl.Material.stable_neohookean(young=YOUNG, poisson=0.4, density=1000, damping=0.01)
    body = scene.add_soft(pl.meshes.box(SIZE, cells=CELLS), rubber, name="finger")
    motor = pl.Motor(position=0.0, stiffness=0.05, damping=0.002, max_torque=0.2)
    at = (0.0, SIZE[1] / 2, SIZE[2] / 2)
    scene.join(pl.Hinge(pl.world, body, at=at, axis=(0, 1, 0), motor=motor, name="base"))
    return scene


def goals(count: int) -> np.ndarray:
    """Goals (count,) [rad] of the motors."""
    return np.linspace(-0.8, 0.8, count) if count > 1 else np.array([0.5])


def measure(label: str, count: int, steps: int, **options) -> tuple[dict, pl.Simulations]:
    """Steps of so many fingers from rest, after a few that are not timed; each is waited for."""
    start = time.perf_counter()
    many = pl.simulate_many(finger(), STEP, count=count, **options)
    many.set_motor("base", position=goals(count))
    built = time.perf_counter() - start
    start = time.perf_counter()
    many.step(3)
    first = time.perf_counter() - start
    times = []
    for _ in range(steps):
        start = time.perf_counter()
        many.step()
        times.append(time.perf_counter() - start)
    infos = many.infos
    case = {
        "label": label,
        "scenes": count,
        "steps": steps,
        "ms_per_step": 1e3 * float(np.median(times)),
        "max_ms_per_step": 1e3 * max(times),
        "scene_steps_per_s": count / float(np.median(times)),
        "newton_iterations": float(np.mean([info.newton_iterations for info in infos])),
        "converged": int(many.converged.sum()),
        "build_s": built,
        "first_steps_s": first,
    }
    return case, many


def compared(many: pl.Simulations, steps: int, shown: int = 8) -> dict:
    """How far a few of the fingers are from the same on the CPU, relative to how far these have moved; and whether
    another run has the same bits."""
    which = np.linspace(0, len(many) - 1, shown).astype(int)
    cpu = pl.simulate_many(finger(), STEP, count=shown, workers=1)
    cpu.set_motor("base", position=goals(len(many))[which])
    cpu.step(3 + steps)
    there, here = many.positions()[which], cpu.positions()
    moved = np.abs(here - cpu[0].scene.soft_bodies[0].nodes.positions).max()
    again = pl.simulate_many(finger(), STEP, count=len(many), device="cuda")
    again.set_motor("base", position=goals(len(many)))
    again.step(3 + steps)
    return {
        "off_cpu": float(np.abs(there - here).max() / moved),
        "same_bits": bool(np.array_equal(again.positions(), many.positions())),
        "taken_on_cpu": int(many.taken_on_cpu.sum()),
        "bytes_per_scene": many._program.bytes / len(many),
    }


def run(quick: bool = False) -> dict:
    """One finger and many, on the CPU and, where there is one, on the GPU."""
    steps = 10 if quick else 100
    few = 8 if quick else 64
    cases = [measure("cpu, one", 1, steps, workers=1)[0]]
    case, many = measure(f"cpu, {few}", few, steps // 4, workers=os.cpu_count())
    many.close()
    cases.append(case)
    try:
        single, _ = measure("cuda, one", 1, steps, device="cuda")
    except DeviceError as error:
        cases.append({"label": f"cuda, {COUNT}", "unavailable": str(error)})
        return {"name": "many", "cores": os.cpu_count(), "cases": cases}
    case, many = measure(f"cuda, {COUNT}", COUNT, steps, device="cuda")
    case |= compared(many, steps)
    case["times_one_on_cuda"] = case["scene_steps_per_s"] / single["scene_steps_per_s"]
    case["times_one_on_cpu"] = case["scene_steps_per_s"] / cases[0]["scene_steps_per_s"]
    return {"name": "many", "cores": os.cpu_count(), "cases": [*cases, single, case]}
