"""Many simulations, stepped together."""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from operator import index
from threading import Lock

import numpy as np

from pliant.checks import shown, whole
from pliant.errors import SceneError
from pliant.many.advance import Outcome
from pliant.many.batches import BatchReaders
from pliant.many.stepping import Stepper
from pliant.model.state import State
from pliant.running import Run
from pliant.simulation import Simulation
from pliant.solve.info import Info

# How many failures a warning names.
NAMED = 5


@dataclass(frozen=True)
class Failure:
    """Why a simulation stopped: its number, the step that failed and the time [s] before it, the reason."""

    number: int
    step: int
    time: float
    reason: str

    def __str__(self) -> str:
        return f"simulation {self.number}, step {self.step} (t = {self.time:g} s): {self.reason}"


class Simulations(BatchReaders):
    """Many simulations with the same time step, made by `pliant.simulate_many`.

    `many[i]` is a `Simulation` with all its readers and setters. Steps are taken of all that have not failed; one that
    fails stays at its last state, stands in `failures` and takes no more steps until it is reset. Readers give arrays
    with one row for each simulation.
    """

    def __init__(self, sims: list[Simulation], scenes: list[int], parameters: list, workers: int | None):
        """scenes: for each simulation the number of its scene, the same for those that share one."""
        if not isinstance(sims, list) or not sims or not all(isinstance(sim, Simulation) for sim in sims):
            raise SceneError(f"Simulations are made by pliant.simulate_many, not of {shown(sims)}")
        self._sims, self.parameters, self._scenes = sims, parameters, scenes
        """What each scene was made of, where a function made it."""
        self.dt = sims[0].dt
        self.failures: dict[int, Failure] = {}
        """The simulations that have stopped, by number."""
        self._first = [(sim.state, sim.model, dict(sim.motors)) for sim in sims]
        self._stepper = Stepper(sims, scenes, workers)

    def __len__(self) -> int:
        return len(self._sims)

    def __getitem__(self, number: int) -> Simulation:
        try:
            return self._sims[index(number)]
        except (IndexError, TypeError):
            raise SceneError(f"there are {len(self)} simulations, and none has the number {shown(number)}") from None

    def __iter__(self) -> Iterator[Simulation]:
        return iter(self._sims)

    def __repr__(self) -> str:
        stopped = f", {len(self.failures)} of them stopped" if self.failures else ""
        return f"<{len(self)} simulations with dt = {self.dt:g} s{stopped}>"

    # ---- stepping

    def step(self, n: int = 1) -> "Simulations":
        """Advance all that have not failed by n steps. Failures are kept and named by a warning, not raised."""
        whole(n, "the number of steps", 0)
        numbers = [i for i in range(len(self)) if i not in self.failures]
        for i in self._to_check():
            try:
                self._sims[i].check_unchanged()
            except SceneError as error:
                raise SceneError(f"simulation {i}: {error}") from None
        outcomes = self._advance(numbers, n) if n else {}
        failed = []
        for i in sorted(outcomes):
            sim, outcome = self._sims[i], outcomes[i]
            sim.state, sim.info = outcome.state, outcome.info
            for category, text in outcome.warnings:
                warnings.warn(f"simulation {i}: {text}", category, stacklevel=2)
            if outcome.reason:
                self.failures[i] = Failure(i, sim.state.step + 1, sim.time, outcome.reason)
                failed.append(i)
        if failed:
            self._warn_of(failed)
        return self

    def _advance(self, numbers: list[int], n: int) -> dict[int, Outcome]:
        """Take n steps of the simulations of these numbers; what became of them, where there is something to note."""
        return self._stepper.step(numbers, n)

    def _to_check(self) -> list[int]:
        """The first simulation of every scene."""
        return sorted(set(self._scenes))

    def _warn_of(self, failed: list[int]) -> None:
        numbers = ", ".join(map(str, failed[:NAMED])) + (", ..." if len(failed) > NAMED else "")
        warnings.warn(
            f"{len(failed)} of {len(self)} simulations stopped: {numbers}. The others go on; `failures` says why, "
            f"and reset(only=...) begins them anew. The first: {self.failures[failed[0]]}",
            RuntimeWarning,
            stacklevel=3,
        )

    def run(self, seconds: float, every: int = 1, progress: bool | None = None) -> Run:
        """Advance by `seconds` as the result is looped over, giving these simulations after every `every` steps; a
        progress bar in a terminal."""
        return Run(self, seconds, every, progress, at_once=True)

    def reset(self, only=None) -> None:
        """Put simulations back to their start, with the motors of their scenes; they need not have failed. only: a
        number, numbers, or (count,) True and False; None: all."""
        for i in self._numbers(only):
            sim, (state, model, motors) = self._sims[i], self._first[i]
            sim.state, sim.model, sim.motors, sim.info = state, model, dict(motors), None
            self.failures.pop(i, None)

    def close(self) -> None:
        """End the processes that take steps; the simulations stay, and further steps start others."""
        self._stepper.close()

    def __enter__(self) -> "Simulations":
        return self

    def __exit__(self, *_) -> None:
        self.close()

    # ---- reports and states

    @property
    def running(self) -> np.ndarray:
        """Which simulations (count,) have not failed."""
        return np.array([i not in self.failures for i in range(len(self))])

    @property
    def time(self) -> np.ndarray:
        """Simulated times (count,) [s]."""
        return np.array([sim.time for sim in self._sims])

    @property
    def infos(self) -> list[Info | None]:
        """The report of the last step of each; None before the first."""
        return [sim.info for sim in self._sims]

    @property
    def converged(self) -> np.ndarray:
        """Whether the last step of each (count,) met its tolerance; False where there was none, or it failed."""
        infos = self.infos
        return np.array([bool(info and info.converged and i not in self.failures) for i, info in enumerate(infos)])

    @property
    def starts(self) -> list[State]:
        """The state of each at its start, to which `reset` goes back."""
        return [state for state, _, _ in self._first]

    @property
    def states(self) -> list[State]:
        """The state of each, to be kept and set again: nothing writes into a state."""
        return [sim.state for sim in self._sims]

    def set_states(self, states: list[State], only=None) -> None:
        """Go on from states that these simulations, or others of the same structure, had; only: as of `reset`."""
        numbers = self._numbers(only)
        if not isinstance(states, list | tuple):
            raise SceneError(f"states must be a list of those that `states` gave, got {shown(states)}")
        if len(states) != len(numbers):
            raise SceneError(f"{len(states)} states are given for {len(numbers)} simulations")
        for i, state in zip(numbers, states):
            if not isinstance(state, State) or _shapes(state) != _shapes(self._first[i][0]):
                raise SceneError(f"the state for simulation {i} is of another scene")
        for i, state in zip(numbers, states):
            self._sims[i].state = state
            self.failures.pop(i, None)


def _shapes(state: State) -> list[tuple]:
    """Shapes of what a scene's structure decides."""
    names = ("x", "body_position", "angles", "broken", "plastic_strain", "tangled")
    return [getattr(state, name).shape for name in names] + [state.impulses.joints.shape]


def twin(sim: Simulation) -> Simulation:
    """Another simulation of the same scene with the same model, which nothing changes; states are their own."""
    other = object.__new__(Simulation)
    other.__dict__.update(sim.__dict__, motors=dict(sim.motors), _stepping=Lock())
    return other
