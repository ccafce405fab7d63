"""Running with a record: the loop of `pliant run` and `pliant demo`, and what it reports."""

from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np

from pliant.errors import SolverError
from pliant.output.recorder import Recorder


@dataclass
class RunLog:
    """What a run took: per step the time of the engine [s], iterations, rows, contacts, whether it converged."""

    sim: object
    seconds: list[float] = field(default_factory=list)
    iterations: list[int] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    contacts: list[int] = field(default_factory=list)
    converged: list[bool] = field(default_factory=list)
    residual: float = 0.0
    error: str | None = None
    files: list[Path] = field(default_factory=list)

    def add(self) -> None:
        """Note the step just made."""
        info = self.sim.info
        self.seconds.append(sum(info.timings.values()))
        self.iterations.append(info.iterations)
        self.rows.append(info.rows)
        self.contacts.append(info.contacts)
        self.converged.append(info.converged)
        self.residual = max(self.residual, float(info.residual))

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
            "rigid_bodies": len(sim.model.rigid_names),
            "nodes": sim.model.node_count,
            "tets": sim.model.element_count,
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
            "steps_not_converged": steps - sum(self.converged),
            "energy": asdict(energy),
            "error": self.error,
            "files": [str(path) for path in self.files],
        }

    def text(self) -> str:
        """The summary in a few lines."""
        s = self.summary()
        energy = s["energy"]
        lines = [
            f"bodies      {s['soft_bodies']} soft ({s['nodes']} nodes, {s['tets']} tets), {s['rigid_bodies']} rigid, "
            f"{s['joints']} joints; up to {s['rows']} rows, {s['contacts']} contacts",
            f"steps       {s['steps']} of {1e3 * s['dt']:.4g} ms, to t = {s['time']:.4g} s",
            f"time        {s['ms_per_step']:.3g} ms per step (median; slowest {s['max_ms_per_step']:.3g}), "
            f"{s['elapsed_s']:.3g} s in all, {s['real_time_factor']:.3g} x real time",
            f"solver      {s['solver']}, {s['precision']}: {s['iterations']:.0f} iterations per step "
            f"(at most {s['max_iterations']}), largest residual {s['residual']:.1e}",
            f"energy      kinetic {energy['kinetic']:.4g} J, elastic {energy['elastic']:.4g} J, "
            f"gravitational {energy['gravitational']:.4g} J, joints {energy['joints']:.4g} J",
        ]
        if s["steps_not_converged"]:
            lines.append(f"warning     {s['steps_not_converged']} steps stopped before the tolerance was met")
        if self.error:
            lines.append(f"stopped     {self.error}")
        return "\n".join([*lines, *(f"wrote       {file}" for file in s["files"])])


def run_recorded(sim, seconds: float, recorder: Recorder, progress: bool | None = None) -> RunLog:
    """Run and record; when the solver gives up, what was computed is saved and the log says why.

    progress: show a bar; None: in a terminal.
    """
    log = RunLog(sim)
    try:
        recorder.frame()
        for _ in sim.run(seconds, progress=progress):
            log.add()
            recorder.frame()
    except SolverError as error:
        log.error = str(error)
    finally:
        log.files = recorder.close(lambda shots: _with_bar(shots, progress))
    return log


def _with_bar(shots: list, wanted: bool | None):
    """The shots, with a progress bar when wanted, or in a terminal."""
    from rich.console import Console
    from rich.progress import track

    console = Console(stderr=True)
    if wanted or (wanted is None and console.is_terminal):
        return track(shots, description="drawing", console=console)
    return shots
