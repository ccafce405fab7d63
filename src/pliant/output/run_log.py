"""Running with a record: the loop of `pliant run` and `pliant demo`, and what it reports."""

import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np

from pliant.checks import counted
from pliant.errors import PliantError
from pliant.files import check_writable
from pliant.output.recorder import Recorder
from pliant.running import with_bar

# Bodies that a report names of those that were held back.
MOST_NAMES = 5


@dataclass
class RunLog:
    """What a run took: per step the time of the engine [s], iterations, rows, contacts, whether it converged; and who
    was held back in steps that did not (`Info.held`)."""

    sim: object
    seconds: list[float] = field(default_factory=list)
    iterations: list[int] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    contacts: list[int] = field(default_factory=list)
    converged: list[bool] = field(default_factory=list)
    held: set[str] = field(default_factory=set)
    residual: float = 0.0
    imbalances: list[float] = field(default_factory=list)
    error: str | None = None
    interrupted: bool = False
    files: list[Path] = field(default_factory=list)

    def add(self) -> None:
        """Note the step just made."""
        info = self.sim.info
        self.seconds.append(sum(info.timings.values()))
        self.iterations.append(info.iterations)
        self.rows.append(info.rows)
        self.contacts.append(info.contacts)
        self.converged.append(info.converged)
        self.held.update(info.held)
        self.residual = max(self.residual, float(info.residual))
        self.imbalances.append(float(info.imbalance))

    def summary(self) -> dict:
        """Sizes, times, iterations and energies as plain numbers, for people and for JSON.

        ms_per_step is the median, and real_time_factor simulated over elapsed time of all steps but the slowest, which
        may have waited for the compiler.
        """
        sim, steps = self.sim, len(self.seconds)
        energy = sim.energy()
        steady = sum(self.seconds) - max(self.seconds, default=0.0)
        return {
            "soft_bodies": len(sim.model.soft_names),
            "rigid_bodies": len(sim.scene.rigid_bodies),
            "rods": len(sim.scene.rods),
            "rod_segments": sum(len(rod.edges) for rod in sim.scene.rods),
            "nodes": sim.model.node_count,
            "tets": sim.model.element_count - sim.model.elements.triangle_count,
            "triangles": sim.model.elements.triangle_count,
            "joints": len(sim.model.joint_names),
            "rows": max(self.rows, default=0),
            "contacts": max(self.contacts, default=0),
            "solver": sim.info.solver if sim.info is not None else "",
            "precision": sim.precision,
            "dt": sim.dt,
            "steps": steps,
            "time": sim.time,
            "ms_per_step": 1e3 * float(np.median(self.seconds)) if steps else 0.0,
            "max_ms_per_step": 1e3 * max(self.seconds, default=0.0),
            "elapsed_s": sum(self.seconds),
            "real_time_factor": sim.dt * (steps - 1) / steady if steady > 0 else 0.0,
            "iterations": float(np.mean(self.iterations)) if steps else 0.0,
            "max_iterations": max(self.iterations, default=0),
            "residual": self.residual,
            "imbalance": float(np.median(self.imbalances)) if steps else 0.0,
            "steps_not_converged": steps - sum(self.converged),
            "held_back": sorted(self.held),
            "energy": asdict(energy),
            "error": self.error,
            "files": [str(path) for path in self.files],
        }

    def text(self) -> str:
        """The summary in a few lines."""
        s = self.summary()
        energy = s["energy"]
        lines = [
            f"bodies      {_bodies_said(s)}",
            f"steps       {s['steps']} of {1e3 * s['dt']:.4g} ms, to t = {s['time']:.4g} s",
            f"time        {s['ms_per_step']:.3g} ms per step (median; slowest {s['max_ms_per_step']:.3g}), "
            f"{s['elapsed_s']:.3g} s in all, {s['real_time_factor']:.3g} x real time",
            f"solver      {s['solver']}, {s['precision']}: {s['iterations']:.0f} iterations per step "
            f"(at most {s['max_iterations']}), largest residual {s['residual']:.1e}, imbalance {s['imbalance']:.1e} "
            f"(median)",
            f"energy      kinetic {energy['kinetic']:.4g} J, elastic {energy['elastic']:.4g} J, "
            f"gravitational {energy['gravitational']:.4g} J, joints {energy['joints']:.4g} J",
        ]
        if s["steps_not_converged"]:
            are = "is" if s["steps_not_converged"] == 1 else "are"
            said = f"{are} not said to have converged: the solver was Bounded, or stopped before its tolerance was met"
            lines.append(f"warning     {counted(s['steps_not_converged'], 'step')} {said}")
        if s["held_back"]:
            names, more = s["held_back"][:MOST_NAMES], len(s["held_back"]) - MOST_NAMES
            others = f" and {more} more" if more > 0 else ""
            lines.append(f"warning     held back in such steps, short of others: {', '.join(names)}{others}")
        if self.error:
            lines.append(f"stopped     {self.error}")
        return "\n".join([*lines, *(f"wrote       {file}" for file in s["files"])])


def _bodies_said(summary: dict) -> str:
    """What there is in a scene, of a summary."""

    def many(key: str, word: str) -> str:
        return counted(summary[key], word)

    sheets = f", {many('triangles', 'triangle')}" if summary["triangles"] else ""
    rods = f"{many('rods', 'rod')} ({many('rod_segments', 'segment')}), " if summary["rods"] else ""
    return (
        f"{summary['soft_bodies']} soft ({many('nodes', 'node')}, {many('tets', 'tet')}{sheets}), "
        f"{summary['rigid_bodies']} rigid, {rods}{many('joints', 'joint')}; "
        f"up to {many('rows', 'row')}, {many('contacts', 'contact')}"
    )


def run_recorded(
    sim, seconds: float, recorder: Recorder, progress: bool | None = None, checkpoint: Path | None = None
) -> RunLog:
    """Run and record; whatever ends the run, what was computed is written and the log says why it ended.

    progress: show a bar; None: in a terminal. checkpoint: where to leave one at the end; a run that is interrupted
    (Ctrl-C) leaves one in any case, beside the recording. Interrupted again, it ends at once with what is written.
    """
    log = RunLog(sim)
    recorder.open()
    if checkpoint is not None:
        check_writable(checkpoint)
    try:
        recorder.frame()
        for _ in sim.run(seconds, progress=progress):
            log.add()
            recorder.frame()
    except KeyboardInterrupt:
        log.interrupted, log.error = True, f"interrupted at t = {sim.time:g} s"
        checkpoint = checkpoint or recorder.folder / "interrupted.npz"
        print(f"\n{log.error}; writing what there is (Ctrl-C again to end at once)", file=sys.stderr, flush=True)
    except PliantError as error:
        log.error = str(error)
    _leave(log, recorder, progress, checkpoint)
    return log


def _leave(log: RunLog, recorder: Recorder, progress: bool | None, checkpoint: Path | None) -> None:
    """Write the checkpoint, pictures and films of a run that has ended, one way or the other."""
    kept, failed = [], []
    try:
        if checkpoint is not None:
            try:
                log.sim.checkpoint(checkpoint)
                kept.append(checkpoint)
            except PliantError as error:
                failed.append(str(error))
        try:
            recorder.close(lambda shots: with_bar(shots, "drawing", progress))
        except PliantError as error:
            failed.append(str(error))
    except KeyboardInterrupt:
        log.interrupted = True
        failed.append("interrupted again: what is not listed below was not written")
    log.files = [*recorder.written, *kept]
    log.error = "\n".join(filter(None, [log.error, *failed])) or None
