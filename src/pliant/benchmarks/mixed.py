"""The mixed solver beside the timings of its paper (T table 1): assembly, global solve and local step of one substep.

Shapes are a square, a ball, a beam and figures of cells with the paper's numbers of nodes and elements, nearly all of
them to the last one, with its laws, moduli and substeps; the paper's times are of an M1 laptop. Its rods are springs
along edges, and so are these. Sheets have no bending and keep their thickness, bodies touch nothing but the ground, as
there. A step takes, of what touches nothing, as many substeps as the paper; of what falls on the ground those that it
takes to converge, each of which solves several systems until contacts open, close, stick and slide as they do.

Two comparisons. The strict one, `ms_per_substep` and `times_faster`, is the whole step over its substeps, with all
that is done in it: contacts and their rows, criteria, measuring, moving. The paper's times are of its three stages
alone, and so are `stages_ms` and `stages_times_faster`; a substep of the paper has one linear system, for which those
per system stand. `other_ms` is what of a substep here belongs to none of the stages.
"""

import os
import time
from dataclasses import dataclass

import numpy as np

import pliant as pl
from pliant.benchmarks._mixed_bodies import animal, ball, helix, tapered

# A tolerance that no step reaches, so that all substeps are taken; and that of steps with contacts.
ALL, TOUCHING = 1e-12, 1e-2
# What the paper's times are of.
STAGES = ("assembly", "solve", "local")


@dataclass(frozen=True)
class Row:
    """A row of the table: what it is, its law, density [kg/m3], Young's modulus [Pa], Poisson's ratio, substeps (inner
    iterations), and the paper's times [ms] of assembly, global solve and rotations; shape: one of SHAPES; counts: nodes
    and elements of the paper's."""

    name: str
    law: str
    density: float
    young: float
    poisson: float
    substeps: int
    paper: tuple[float, float, float]
    shape: str
    counts: tuple[int, int]

    @property
    def falls(self) -> bool:
        """Whether it falls on a plane."""
        return self.shape == "cow"

    def scene(self) -> pl.Scene:
        """The body, held at one end, or above a plane."""
        scene, material = pl.Scene(), getattr(pl.Material, self.law)
        if self.law == "springs":
            material = material(young=self.young, density=self.density)
        else:
            material = material(young=self.young, poisson=self.poisson, density=self.density)
        mesh = SHAPES[self.shape]()
        if isinstance(mesh, pl.meshes.TriMesh):
            options = {"thickness": 1e-3, "bend_stiffness": 0.0, "thins": False, "self_contact": False}
            body = scene.add_cloth(mesh, material, **options, collide=False)
        else:
            height = (0, 0, 0.1 if self.falls else 0)
            body = scene.add_soft(mesh, material, position=height, self_contact=False, collide=self.falls)
        if self.falls:
            scene.add_rigid(pl.Plane(), static=True, friction=0.3)
        else:
            body.pin(body.nodes.x < body.nodes.positions[:, 0].min() + 1e-3)
        return scene


# With the paper's numbers of nodes and elements, but for 36 elements of the beam and one of the rods of the bunny.
SHAPES = {
    "square": lambda: pl.meshes.grid((1.0, 1.0), (76, 76)),
    "armadillo": lambda: helix(675),
    "octopus": lambda: tapered(0.025, (43, 2, 2), (8, 2, 1), (2, 1, 1)),
    "beam": lambda: pl.meshes.box((1.0, 0.2, 0.2), cells=(49, 11, 9)),
    "bunny": lambda: animal(0.02, trunk=(6, 6, 6), leg=(2, 7), head=(5, 3, 3), ear=(1, 1, 3)),
    "cloth bunny": lambda: ball(59, more=22),
    "rods bunny": lambda: tapered(0.025, (3, 4, 4), (16, 3, 3), (16, 2, 2)),
    "cow": lambda: animal(0.02, trunk=(18, 14, 10), leg=(4, 8), head=(3, 7, 3), ear=(2, 1, 4), pattern="five"),
}
ROWS = (
    Row("Square Cloth (soft)", "neohookean", 1e2, 1e5, 0.40, 5, (5.40, 3.69, 1.95), "square", (5929, 11552)),
    Row("Square Cloth (stiff)", "neohookean", 1e3, 1e9, 0.40, 5, (3.47, 3.37, 2.03), "square", (5929, 11552)),
    Row("Rod Armadillo", "springs", 1e1, 1e7, 0.45, 10, (1.01, 0.48, 0.73), "armadillo", (675, 2019)),
    Row("Jelly Octopus", "corotated", 1e3, 5e5, 0.45, 3, (0.36, 0.71, 0.29), "octopus", (452, 1140)),
    Row("Beam ARAP", "arap", 1e3, 1e5, 0.45, 5, (8.24, 14.9, 3.06), "beam", (6000, 29142)),
    Row("Beam Corot", "corotated", 1e3, 1e5, 0.45, 5, (4.74, 82.6, 3.24), "beam", (6000, 29142)),
    Row("Beam NH", "neohookean", 1e3, 1e5, 0.45, 5, (8.88, 169.0, 3.21), "beam", (6000, 29142)),
    Row("Tet Bunny", "neohookean", 1e3, 1e5, 0.45, 5, (0.90, 1.47, 0.33), "bunny", (699, 2274)),
    Row("Cloth Bunny", "neohookean", 1e2, 1e5, 0.40, 5, (17.38, 16.3, 7.18), "cloth bunny", (34834, 69664)),
    Row("Rods Bunny", "springs", 1e2, 2e5, 0.45, 5, (0.95, 1.19, 0.44), "rods bunny", (500, 2434)),
    Row("Spot Drop (soft)", "corotated", 1e3, 1e6, 0.45, 15, (2.29, 25.0, 1.80), "cow", (4079, 15555)),
    Row("Spot Drop (stiff)", "corotated", 1e3, 1e9, 0.45, 15, (1.28, 4.02, 1.83), "cow", (4079, 15555)),
)
QUICK = ("Jelly Octopus", "Tet Bunny", "Rods Bunny")


class Stages:
    """Clocks around what a mixed step does: seconds of assembly, global solve and local step; systems solved.

    Assembly: stiffness, rows of contacts in the matrix, preconditioner or factors, and right-hand sides, which line
    searches evaluate, too. Local step: rotations and stretches, with the law there. What is left of a step is finding
    contacts, also where it leads, making rows of them, models of what they do, norms and criteria, and measuring.
    """

    def __init__(self, solver):
        self.seconds, self.systems, self.busy = dict.fromkeys(STAGES, 0.0), 0, False
        for owner, names, stage in (
            (solver.system, ("take", "assemble", "renew_rows", "renew_contacts"), "assembly"),
            (solver.system, ("solve", "roughly_solve"), "solve"),
            (solver.elements, ("terms", "evaluate"), "assembly"),
            (solver.elements, ("turn", "settle", "follow", "expand", "take"), "local"),
        ):
            for name in names:
                if hasattr(owner, name):
                    setattr(owner, name, self._timed(getattr(owner, name), stage))

    def _timed(self, call, stage: str):
        def timed(*arguments, **options):
            if self.busy:  # within another
                return call(*arguments, **options)
            self.busy, start = True, time.perf_counter()
            answer = call(*arguments, **options)
            self.busy = False
            self.seconds[stage] += time.perf_counter() - start
            self.systems += stage == "solve"
            return answer

        return timed


def measured(row: Row, steps: int) -> dict:
    """One row: milliseconds of the whole step per substep and per step, beside the paper's; of the three stages alone
    (`stages_ms`, the sum of `assembly_ms`, `solve_ms` and `local_ms`), which is what the paper measures, per substep;
    and of both per linear system, of which a substep of the paper has one, and one with contacts here several. What is
    called faster is `paper_ms`, of the stages of one substep with its system, over that. `other_ms`: what of the mean
    substep is in none of the stages; ms_per_substep is a median. imbalance: what is left after a step (solve.residual);
    converged: the part of the steps that did, which is asked of those alone that end when they have."""
    scene = row.scene()
    solver = pl.Mixed(outer=1, inner=row.substeps, tolerance=TOUCHING if row.falls else ALL)
    sim = scene.simulate(dt=1 / 60, solver=solver)
    sim.step(3)
    stages, whole, substeps, left, converged = Stages(sim.working_solver), [], [], [], 0
    for _ in range(steps):
        start = time.perf_counter()
        sim.step()
        whole.append(1e3 * (time.perf_counter() - start))
        substeps.append(sim.info.newton_iterations)
        left.append(sim.info.imbalance)
        converged += sim.info.converged
    count = sum(substeps)
    per = {name: 1e3 * seconds / max(count, 1) for name, seconds in stages.seconds.items()}
    elements, total = sim.model.elements, float(np.median(np.divide(whole, np.maximum(substeps, 1))))
    paper, three, systems = sum(row.paper), sum(per.values()), max(stages.systems, 1)
    return {
        "label": row.name,
        "nodes": sim.model.node_count,
        "paper_nodes": row.counts[0],
        "elements": sum(own.count for own in elements.sets),
        "paper_elements": row.counts[1],
        "ms_per_substep": total,
        **{f"{name}_ms": value for name, value in per.items()},
        "stages_ms": three,
        "other_ms": sum(whole) / max(count, 1) - three,
        "paper_ms": paper,
        **{f"paper_{name}_ms": value for name, value in zip(STAGES, row.paper)},
        "times_faster": paper / total,
        "stages_times_faster": paper / three,
        "substeps_per_step": count / steps,
        "systems_per_step": stages.systems / steps,
        "ms_per_system": sum(whole) / systems,
        "stages_ms_per_system": three * count / systems,
        "stages_per_system_times_faster": paper * systems / (three * count),
        "ms_per_step": float(np.mean(whole)),
        "median_ms_per_step": float(np.median(whole)),
        "paper_ms_per_step": paper * row.substeps,
        "imbalance": float(np.median(left)),
        "converged": converged / steps,
    }


def run(quick: bool = False) -> dict:
    """All rows; quick: three small ones and few steps."""
    rows = [row for row in ROWS if not quick or row.name in QUICK]
    return {"name": "mixed", "cores": os.cpu_count(), "cases": [measured(row, 10 if quick else 30) for row in rows]}
