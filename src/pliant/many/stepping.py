"""Who takes the steps of many simulations: this process, or several."""

import warnings
from time import perf_counter

from pliant.checks import whole
from pliant.jit import thread_count
from pliant.many.advance import Outcome, advance
from pliant.many.workers import Workers, described
from pliant.simulation import Simulation

# Seconds of steps in this process after which others are started: that takes them as long.
PATIENCE = 2.0
# Groups of lanes for which all threads would be used.
LARGE = 10**9


class Stepper:
    """Takes steps of simulations: `workers` processes at most (1: this one takes all steps; None: as many as there are
    cores, once steps have taken a few seconds here)."""

    def __init__(self, sims: list[Simulation], scenes: list[int], workers: int | None):
        """scenes: for each simulation the number of its scene."""
        most = thread_count(None, LARGE) if workers is None else whole(workers, "workers", 1)
        self.count = min(most, len(sims))
        self.sims, self.scenes = sims, scenes
        self.patience = PATIENCE if workers is None else 0.0  # seconds that are left
        self.pool: Workers | None = None
        self.described: dict[int, bytes] = {}

    def step(self, numbers: list[int], steps: int) -> dict[int, Outcome]:
        """Take steps of the simulations of these numbers; what became of each."""
        outcomes: dict[int, Outcome] = {}
        if self.count == 1:
            return {i: advance(self.sims[i], steps) for i in numbers}
        if self.patience > 0.0:
            numbers, outcomes = self._begin(numbers, steps)
        todo = {i: steps - (outcomes[i].steps if i in outcomes else 0) for i in numbers}
        if todo:
            self._step_elsewhere(todo, outcomes)
        return outcomes

    def _begin(self, numbers: list[int], steps: int) -> tuple[list[int], dict[int, Outcome]]:
        """Steps here as long as there is patience; the simulations that have steps left to take, and outcomes."""
        start, outcomes = perf_counter(), {}
        for i in numbers:
            outcomes[i] = advance(self.sims[i], steps, start + self.patience)
            if perf_counter() - start >= self.patience:
                break
        self.patience = max(self.patience - (perf_counter() - start), 0.0)
        return [i for i in numbers if i not in outcomes or _unfinished(outcomes[i], steps)], outcomes

    def _step_elsewhere(self, todo: dict[int, int], outcomes: dict[int, Outcome]) -> None:
        """Steps in worker processes, and here of what cannot be sent there; outcomes are added to those so far."""
        if self.pool is None:
            self.pool = Workers(self.count)
            self._describe()
        there = {i: steps for i, steps in todo.items() if self.described[self.scenes[i]]}

        def done(i: int, outcome: Outcome) -> None:
            outcomes[i] = _joined(outcomes.get(i), outcome)

        self.pool.step(self.sims, there, self.scenes, self.described, done)
        for i in todo.keys() - there.keys():
            done(i, advance(self.sims[i], todo[i]))

    def _describe(self) -> None:
        """What workers make simulations of; those that cannot be sent are named by a warning."""
        left, why = [], ""
        for i, scene in enumerate(self.scenes):
            if scene not in self.described:
                self.described[scene], reason = described(self.sims[i])
                why = why or reason
            if not self.described[scene]:
                left.append(i)
        if left:
            warnings.warn(
                f"{len(left)} of {len(self.scenes)} simulations, such as number {left[0]}, take their steps in this "
                f"process one after the other, for what their scenes hold cannot be sent to another ({why}). Functions "
                f"of time can be sent if they stand in a module (no lambda, not in the main program), pliant.Keyframes "
                f"always",
                RuntimeWarning,
                stacklevel=5,
            )

    def close(self) -> None:
        """End the worker processes; further steps start others."""
        if self.pool is not None:
            self.pool.close()


def _unfinished(outcome: Outcome, steps: int) -> bool:
    return outcome.steps < steps and not outcome.reason


def _joined(first: Outcome | None, second: Outcome) -> Outcome:
    """What became of steps that were taken in two parts."""
    if first is None:
        return second
    told = first.warnings + second.warnings
    return Outcome(second.state, second.info or first.info, first.steps + second.steps, second.reason, told)
