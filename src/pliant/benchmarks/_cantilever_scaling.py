"""How the time of a step and the memory grow with the mesh: the corotated cantilever from 2,000 to 200,000 tets."""

import gc
import resource
import sys
import time
from pathlib import Path

import numpy as np

import pliant as pl
from pliant.benchmarks import _isolated
from pliant.benchmarks._beam import STEP
from pliant.benchmarks.cantilever import COARSE, TINY, cantilever_scene, pcg_iterations

SIZES = (COARSE, (32, 6, 6), (48, 10, 10), (70, 14, 14), (93, 19, 19))
QUICK_SIZES = (TINY, (10, 2, 2))
STEPS = 10


def scaling_cases(quick: bool = False) -> list[dict]:
    """A case per size, each in a process of its own, and the exponent that fits them."""
    cases = []
    for cells in QUICK_SIZES if quick else SIZES:
        label = f"scaling, {6 * int(np.prod(cells)):,} tets"
        try:
            case = _isolated.call("pliant.benchmarks._cantilever_scaling", "measure_size", cells=cells)
        except _isolated.Failed as failure:
            case = {"unavailable": str(failure)}
        cases.append({"label": label} | case)
    return [*cases, {"label": "scaling, fit"} | fit(cases)]


def fit(cases: list[dict]) -> dict:
    """Exponent of ms per step against tets, by least squares of the logarithms."""
    pairs = [(case["tets"], case["ms_per_step"]) for case in cases if "ms_per_step" in case]
    if len(pairs) < 2:
        return {"unavailable": "fewer than two sizes ran"}
    tets, times = np.log(np.array(pairs, dtype=float)).T
    return {"exponent": float(np.polyfit(tets, times, 1)[0])}


def measure_size(cells: list) -> dict:
    """Steps of the beam with so many cells; the first, which sets up, is not timed but counts for memory."""
    for linear in ("cholesky", "pcg"):
        scene, _ = cantilever_scene("corotated", COARSE)
        scene.simulate(dt=STEP, solver=pl.Newton(linear=linear)).step(3)
    del scene
    gc.collect()
    before = _restart_peak()
    scene, _ = cantilever_scene("corotated", tuple(cells))
    sim = scene.simulate(dt=STEP, solver=pl.Newton())
    start = time.perf_counter()
    sim.step()
    first = time.perf_counter() - start
    times, infos = [], []
    for _ in range(STEPS):
        start = time.perf_counter()
        sim.step()
        times.append(time.perf_counter() - start)
        infos.append(sim.info)
    tets = sim.model.element_count
    return {
        "tets": tets,
        "nodes": sim.model.node_count,
        "steps": STEPS,
        "ms_per_step": 1e3 * float(np.median(times)),
        "max_ms_per_step": 1e3 * max(times),
        "first_ms": 1e3 * first,
        "newton_iterations": float(np.mean([info.newton_iterations for info in infos])),
        "pcg_iterations": pcg_iterations(infos),
        "residual": max(info.residual for info in infos),
        "linear": sim.info.linear,
        "bytes_per_tet": (_peak() - before) / tets,
    }


def _restart_peak() -> int:
    """Memory in use [bytes], from which the peak now counts (Linux; elsewhere the peak so far)."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return _peak()
    return _status("VmRSS")


def _peak() -> int:
    """Most memory in use [bytes] since the peak was restarted."""
    if Path("/proc/self/status").exists():
        return _status("VmHWM")
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def _status(name: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name + ":"):
            return 1024 * int(line.split()[1])
    raise OSError(f"/proc/self/status has no {name}")
