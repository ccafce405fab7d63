"""Running a simulation for a time: steps that are taken as they are looped over."""

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pliant.checks import flag, number, whole
from pliant.errors import SceneError

MOST_STEPS = 10**12
"""Steps at most in one run."""


class Run:
    """The steps of a run; looping over it takes them, and gives the simulation after every `every` steps."""

    steps, started = 0, False

    def __init__(self, sim, seconds: float, every: int, progress: bool | None, at_once: bool = False):
        """at_once: whether the simulation is asked for `every` steps in one call, or one by one."""
        self.every = whole(every, "every", 1)
        progress = None if progress is None else flag(progress, "progress")
        self.steps = step_count(seconds, sim.dt)
        self._left = _taken(sim, self.steps, self.every, self.every if at_once else 1, progress)

    def __iter__(self) -> Iterator:
        return self

    def __next__(self):
        self.started = True
        return next(self._left)

    def __del__(self):
        if self.steps and not self.started and not sys.is_finalizing():
            warnings.warn(
                "nothing was simulated: sim.run(...) takes its steps as it is looped over, and it was not. Write "
                "`for _ in sim.run(seconds): ...`, or sim.step(n)",
                RuntimeWarning,
                stacklevel=2,
            )


def _taken(sim, steps: int, every: int, stride: int, progress: bool | None) -> Iterator:
    """The simulation after every few steps; no method of the run, which would then not end with its last reference."""
    for before in with_bar(range(0, steps, stride), "simulating", progress):
        done = min(before + stride, steps)
        sim.step(done - before)
        if done % every == 0 or done == steps:
            yield sim


def step_count(seconds: float, dt: float) -> int:
    """How many steps of dt [s] make so many seconds."""
    count = number(seconds, "seconds", low=0) / dt
    if count > MOST_STEPS:
        raise SceneError(f"{seconds:g} s in steps of {dt:g} s are more than {MOST_STEPS:g} steps")
    return round(count)


def with_bar(things, words: str, wanted: bool | None):
    """Things to loop over, with a progress bar when wanted, or (None) when the output is a terminal."""
    from rich.console import Console
    from rich.progress import track

    console = Console(stderr=True)
    if wanted or (wanted is None and console.is_terminal):
        return track(things, description=words, console=console)
    return things


@contextmanager
def with_line(words: str, wanted: bool | None) -> Iterator[Callable[[str], None]]:
    """What shows how far something is that has no end known before: a line that begins with the words and ends as it is
    told to, gone when all is done; when wanted, or (None) when the output is a terminal."""
    from rich.console import Console

    console = Console(stderr=True)
    if not (wanted or (wanted is None and console.is_terminal)):
        yield lambda text: None
        return
    with console.status(words) as line:
        yield lambda text: line.update(f"{words}: {text}")
