"""The mixed solver beside the timings of its paper (T table 1): assembly, global solve and local step of one inner
iteration. Shapes are boxes and balls of about the paper's counts; the paper's times are of an M1 laptop."""

import os
import time
from dataclasses import dataclass

import numpy as np

import pliant as pl


@dataclass(frozen=True)
class Row:
    """A row of the table: what it is, its material, its substeps (inner iterations), and the paper's times [ms] of
    assembly, global solve and rotations."""

    name: str
    law: str
    density: float
    young: float
    poisson: float
    substeps: int
    paper: tuple[float, float, float]
    mesh: str
    falls: bool = False


ROWS = (
    Row("Jelly Octopus", "corotated", 1e3, 5e5, 0.45, 3, (0.36, 0.71, 0.29), "small"),
    Row("Beam ARAP", "arap", 1e3, 1e5, 0.45, 5, (8.24, 14.9, 3.06), "beam"),
    Row("Beam Corot", "corotated", 1e3, 1e5, 0.45, 5, (4.74, 82.6, 3.24), "beam"),
    Row("Beam NH", "neohookean", 1e3, 1e5, 0.45, 5, (8.88, 169.0, 3.21), "beam"),
    Row("Tet Bunny", "neohookean", 1e3, 1e5, 0.45, 5, (0.90, 1.47, 0.33), "medium"),
    Row("Spot Drop (soft)", "corotated", 1e3, 1e6, 0.45, 15, (2.29, 25.0, 1.80), "cow", True),
    Row("Spot Drop (stiff)", "corotated", 1e3, 1e9, 0.45, 15, (1.28, 4.02, 1.83), "cow", True),
)
# Boxes [m] and cells, of about as many nodes and tets as the paper's meshes.
MESHES = {
    "small": ((0.6, 0.2, 0.2), (12, 4, 4)),
    "medium": ((0.3, 0.3, 0.3), (8, 7, 7)),
    "cow": ((1.0, 0.5, 0.5), (27, 10, 10)),
    "beam": ((1.0, 0.2, 0.2), (48, 10, 10)),
}


def scene_of(row: Row) -> pl.Scene:
    """A body clamped at one end, or one that falls on a plane."""
    size, cells = MESHES[row.mesh]
    scene = pl.Scene()
    material = getattr(pl.Material, row.law)(young=row.young, poisson=row.poisson, density=row.density)
    body = scene.add_soft(pl.meshes.box(size, cells=cells), material, position=(0, 0, 0.1 if row.falls else 0))
    if row.falls:
        scene.add_rigid(pl.Plane(), static=True, friction=0.3)
    else:
        body.pin(body.nodes.x < 1e-9)
    return scene


class Stages:
    """Clocks around what a mixed step does: seconds of assembly, global solve and local step, and their iterations."""

    def __init__(self, solver):
        self.seconds = dict.fromkeys(("assembly", "solve", "local"), 0.0)
        self.iterations = 0
        for owner, names, stage in (
            (solver.system, ("take", "assemble"), "assembly"),
            (solver.system, ("solve",), "solve"),
            (solver.elements, ("turn", "follow", "expand", "take"), "local"),
        ):
            for name in names:
                setattr(owner, name, self._timed(getattr(owner, name), stage))

    def _timed(self, call, stage: str):
        def timed(*arguments, **options):
            start = time.perf_counter()
            answer = call(*arguments, **options)
            self.seconds[stage] += time.perf_counter() - start
            return answer

        return timed


def measured(row: Row, steps: int) -> dict:
    """One row: milliseconds per inner iteration, beside the paper's."""
    scene = scene_of(row)
    solver = pl.Mixed(outer=1, inner=row.substeps, tolerance=1e-2)
    sim = scene.simulate(dt=1 / 60, solver=solver)
    sim.step(3)
    stages, whole, count, outside = Stages(sim.working_solver), [], 0, 0
    for _ in range(steps):
        start = time.perf_counter()
        sim.step()
        whole.append(1e3 * (time.perf_counter() - start) / max(sim.info.newton_iterations, 1))
        count += sim.info.newton_iterations
        outside += not sim.info.converged
    per = {name: 1e3 * seconds / max(count, 1) for name, seconds in stages.seconds.items()}
    body = scene.bodies[0]
    total = float(np.median(whole))
    return {
        "case": row.name,
        "nodes": len(body.nodes),
        "tets": len(body.mesh.tets),
        "ms_per_iteration": total,
        **{f"{name}_ms": value for name, value in per.items()},
        "paper_ms": sum(row.paper),
        "times_faster": sum(row.paper) / total,
        "iterations_per_step": count / steps,
        "steps_not_converged": outside,
    }


def run(quick: bool = False) -> dict:
    """All rows; quick: few steps."""
    rows = [row for row in ROWS if not (quick and row.mesh in ("beam", "cow"))]
    return {"name": "mixed", "cores": os.cpu_count(), "cases": [measured(row, 10 if quick else 30) for row in rows]}
