"""A clamped beam dropped from rest under gravity: laws, linear solvers, two meshes, and other engines on the same mesh.

Implicit Euler with dt 0.01 and a converged Newton's method, for one second; 1,920 and 28,800 tets.
"""

import os
import time
from functools import cache

import numpy as np

import pliant as pl
from pliant.benchmarks._beam import CLAMP, DENSITY, POISSON, STEP, YOUNG, beam_mesh, tip

TINY, COARSE, FINE = (6, 2, 2), (20, 4, 4), (48, 10, 10)
LAWS = ("corotated", "neohookean")
# Steps to which the fine mesh is compared with its reference, and the tolerance of references.
FINE_COMPARED, REFERENCE = 30, 1e-10
# Parts of a step whose tip stands for the limit of small steps.
REFINEMENT = 5
# To bring the beam to rest: damping [1/s], a long step [s], and steps.
REST_DAMPING, REST_STEP, REST_STEPS = 10.0, 0.05, 100


def cantilever_scene(law: str, cells: tuple, mass_damping: float = 0.0) -> tuple[pl.Scene, pl.bodies.Soft]:
    """The beam, clamped at x = 0; mass_damping [1/s] to bring it to rest."""
    scene = pl.Scene()
    material = getattr(pl.Material, law)(young=YOUNG, poisson=POISSON, density=DENSITY, mass_damping=mass_damping)
    beam = scene.add_soft(beam_mesh(cells), material)
    beam.pin(beam.nodes.x < CLAMP)
    return scene, beam


def beam_tip(sim, beam) -> float:
    """Mean deflection [m] of the free end."""
    return tip(beam.nodes.positions, sim.positions(beam))


@cache
def final_tip(law: str, cells: tuple, steps: int, solver: pl.Newton, step: float = STEP) -> float:
    """The tip [m] after so many steps."""
    scene, beam = cantilever_scene(law, cells)
    return beam_tip(scene.simulate(dt=step, solver=solver).step(steps), beam)


def reference_tip(law: str, cells: tuple, steps: int) -> float:
    """The tip [m] after so many steps, each solved to rounding."""
    return final_tip(law, cells, steps, pl.Newton(tolerance=REFERENCE))


def tip_at_rest(law: str, cells: tuple) -> float:
    """Deflection [m] of the free end in equilibrium."""
    if hasattr(pl.Scene, "equilibrium"):
        scene, beam = cantilever_scene(law, cells)
        return beam_tip(scene.equilibrium(solver=pl.Newton(tolerance=1e-8)), beam)
    scene, beam = cantilever_scene(law, cells, REST_DAMPING)
    return beam_tip(scene.simulate(dt=REST_STEP).step(REST_STEPS), beam)


def relative(value: float, reference: float) -> float:
    """|value - reference| / |reference|."""
    return abs(value - reference) / abs(reference)


def pcg_iterations(infos: list) -> float:
    """Mean iterations of conjugate gradients a step; none where systems are factorised."""
    return float(np.mean([0 if info.linear == "cholesky" else info.iterations for info in infos]))


def measure(label: str, law: str, cells: tuple, solver: pl.Newton, steps: int, compared: int | None = None) -> dict:
    """Time `steps` steps from rest; compilation happens on a copy beforehand.

    error: relative distance of the tip after `compared` steps (all, unless given) from the reference's.
    """
    scene, beam = cantilever_scene(law, cells)
    scene.simulate(dt=STEP, solver=solver).step(3)
    sim = scene.simulate(dt=STEP, solver=solver)
    times, infos, tips = [], [], []
    for _ in range(steps):
        start = time.perf_counter()
        sim.step()
        times.append(time.perf_counter() - start)
        infos.append(sim.info)
        tips.append(beam_tip(sim, beam))
    compared = min(compared or steps, steps)
    return {
        "label": label,
        "law": law,
        "tets": sim.model.element_count,
        "nodes": sim.model.node_count,
        "steps": steps,
        "ms_per_step": 1e3 * float(np.median(times)),
        "max_ms_per_step": 1e3 * max(times),
        "newton_iterations": float(np.mean([info.newton_iterations for info in infos])),
        "pcg_iterations": pcg_iterations(infos),
        "residual": max(info.residual for info in infos),
        "converged_steps": sum(info.converged for info in infos),
        "linear": infos[-1].linear,
        "tip_m": tips[-1],
        "error": relative(tips[compared - 1], reference_tip(law, cells, compared)),
        "error_at_s": compared * STEP,
    }


def law_case(law: str, cells: tuple, steps: int) -> dict:
    """A law on the coarse mesh, with its tip at rest and how far the time step leaves it from the limit."""
    case = measure(f"{law}, {_tets(cells)}", law, cells, pl.Newton(), steps)
    small = final_tip(law, cells, steps * REFINEMENT, pl.Newton(), STEP / REFINEMENT)
    case["time_error"] = relative(case["tip_m"], small)
    case["tip_at_rest_m"] = tip_at_rest(law, cells)
    return case


def run(quick: bool = False, peers: bool | None = None, scaling: bool = False) -> dict:
    """Laws and linear solvers on the coarse mesh, laws on the fine one; other engines unless quick; sizes if asked."""
    coarse, steps = (TINY, 5) if quick else (COARSE, round(1 / STEP))
    cases = [law_case(law, coarse, steps) for law in LAWS]
    solvers = {"linearly implicit": pl.Newton(max_iterations=1)}
    solvers |= {linear: pl.Newton(linear=linear) for linear in ("cholesky", "pcg", "jacobi", "matrix-free")}
    for name, solver in solvers.items():
        cases.append(measure(f"corotated, {_tets(coarse)}, {name}", "corotated", coarse, solver, steps))
    if not quick:
        for law in LAWS:
            cases.append(measure(f"{law}, {_tets(FINE)}", law, FINE, pl.Newton(), steps, FINE_COMPARED))
    if peers or (peers is None and not quick):
        cases += peer_cases(coarse, steps, quick)
    if scaling:
        from pliant.benchmarks._cantilever_scaling import scaling_cases

        cases += scaling_cases(quick)
    return {"name": "cantilever", "cores": os.cpu_count(), "cases": cases}


def peer_cases(coarse: tuple, steps: int, quick: bool) -> list[dict]:
    """The other engines on the same meshes.

    difference: relative distance of their tip from ours with the same law and step, each solved to rounding; it
    contains what differs by choice (integrator, mass matrix). time_error: from their own tip with a fifth of the step.
    """
    from pliant.benchmarks.peers import measure_peers

    cases = measure_peers(coarse, steps, REFINEMENT)
    if not quick:
        cases += measure_peers(FINE, FINE_COMPARED, None)
    for case in cases:
        cells = tuple(case.pop("cells", ()))
        if case.get("tip_m") is not None:
            case["difference"] = relative(case["tip_m"], reference_tip(case["law"], cells, case["steps"]))
    return cases


def _tets(cells: tuple) -> str:
    return f"{6 * int(np.prod(cells)):,} tets"
