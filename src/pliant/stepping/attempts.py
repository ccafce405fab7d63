"""Attempts at one step: how many there may be, and the work of all of them."""

from collections.abc import Callable
from dataclasses import replace
from time import perf_counter

import numpy as np

from pliant.errors import SolverError
from pliant.model.model import Model
from pliant.model.state import State
from pliant.solve.info import Info
from pliant.stepping.bouncing import bouncing_less

# Attempts after which no part of a step is halved or looked at for how much it may bounce: as many as sixteen parts
# take. At most four parts are still to come then, each with two: as it is, and without bouncing.
MOST = 31
# What linear algebra and arithmetic raise where numbers have grown beyond all bounds.
NO_NUMBERS = (np.linalg.LinAlgError, ArithmeticError)
# What is summed over attempts.
WORK = ("iterations", "newton_iterations", "refreshes", "drift_iterations")


class Attempts:
    """Attempts by a function of model, state, solver and step length; most: after which it is not refined further."""

    def __init__(self, advance: Callable, most: int = MOST):
        self.advance, self.most, self.infos = advance, most, []

    @property
    def spent(self) -> bool:
        """Whether there were so many that what is left of the step is taken as it is."""
        return len(self.infos) >= self.most

    def take(self, model: Model, state: State, solver, h: float) -> tuple[State, Info]:
        """One step of length h, undivided; a SolverError where its numbers grow beyond all bounds."""
        try:
            if getattr(solver, "once", False):
                return self._counted(model, state, solver, h)
            return bouncing_less(self._counted, model, state, solver, h, lambda: self.spent)
        except NO_NUMBERS as error:
            raise SolverError(
                f"step {state.step + 1} (t = {state.time:g} s): its numbers cannot be computed with ({error}); the "
                f"state before the step is kept. Try a smaller time step"
            ) from error

    def _counted(self, model: Model, state: State, solver, h: float) -> tuple[State, Info]:
        """One attempt; of one that fails the time counts, and the iterations as far as they are known."""
        begun = perf_counter()
        try:
            new, info = self.advance(model, state, solver, h)
        except (SolverError, *NO_NUMBERS) as error:
            told = getattr(error, "info", None) or Info()
            self.infos.append(replace(told, timings={"solve": perf_counter() - begun}))
            raise
        self.infos.append(info)
        return new, info

    def told(self, info: Info) -> Info:
        """The report of a step, with the work of all attempts."""
        return info if len(self.infos) == 1 else _with_work(info, self.infos)


def _with_work(info: Info, attempts: list[Info]) -> Info:
    """A report with the work of these attempts as its own."""
    timings = {}
    for each in attempts:
        for name, seconds in each.timings.items():
            timings[name] = timings.get(name, 0.0) + seconds
    return replace(info, timings=timings, **{name: sum(getattr(each, name) for each in attempts) for name in WORK})
