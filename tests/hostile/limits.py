"""Time and memory that one case may take, and which errors may end it."""

import contextlib
import os
import resource
import signal
import time
import warnings
from pathlib import Path

from numba.core import event

import pliant as pl

SECONDS, MEGABYTES = 2.0, 500
"""What a case may take: processor time [s], and memory beyond what was there before [MB]."""

STEP_SECONDS = 10.0
"""What a step may take [s] that nobody would ask for: it ends by the iterations that solvers are allowed, in up to
thirty-one attempts, however hopeless it is. What is read before it has its own, shorter time."""

PATIENCE = 20 if os.environ.get("PLIANT_REACH") else 1
"""Code that is traced is slower."""

SEED = int(os.environ.get("PLIANT_SEED", "0"))
CASES = int(os.environ.get("PLIANT_CASES", "300"))
"""Where the generators start, and how many cases each of them makes."""

CHUNK = 100
"""Cases from one seed."""

BUDGET = float(os.environ.get("PLIANT_SECONDS", "240"))
"""Seconds after which a generator makes no more cases."""


class TooLong(BaseException):
    """A case took more than its time; nothing that is tested catches this."""


class TooLarge(BaseException):
    """A case took more than its memory."""


class Compiling(event.Listener):
    """Stops the clock of a case while code is compiled: that is done once on a machine, and an exception in the midst
    of Numba's compiler would leave it with half a function."""

    def __init__(self):
        self.depth, self.left = 0, 0.0

    def on_start(self, event) -> None:
        self.depth += 1
        if self.depth == 1:
            self.left, _ = signal.setitimer(signal.ITIMER_PROF, 0)

    def on_end(self, event) -> None:
        self.depth -= 1
        if self.depth == 0 and self.left:
            signal.setitimer(signal.ITIMER_PROF, self.left)


COMPILING = Compiling()
event.register("numba:compiler_lock", COMPILING)


@contextlib.contextmanager
def limited(seconds: float = SECONDS, megabytes: float = MEGABYTES):
    """Let a block take so much processor time and memory; it may end well or in a PliantError, and in nothing else."""
    before = _peak()
    previous = signal.signal(signal.SIGPROF, _stop)
    signal.setitimer(signal.ITIMER_PROF, PATIENCE * seconds)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except pl.PliantError as error:
        assert str(error), f"{type(error).__name__} says nothing"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, previous)
    if (taken := _peak() - before) > megabytes:
        raise TooLarge(f"{taken:.0f} MB")


def _stop(*_):
    if not COMPILING.depth:
        raise TooLong
    COMPILING.left = 1e-3  # it came as compiling began


def _peak() -> float:
    """Largest memory [MB] of the process since this was last asked for; where the system does not forget, ever."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    status = Path("/proc/self/status")
    if status.exists():
        peak = next(int(line.split()[1]) / 1024 for line in status.open() if line.startswith("VmHWM"))
        with contextlib.suppress(OSError):
            Path("/proc/self/clear_refs").write_text("5")
    return peak


def trials(one_case, count: dict[str, int]) -> None:
    """Make cases by hypothesis from the seed, until there are enough or the time is over; the smallest that fails is
    printed. With PLIANT_SURVEY all kinds of failures are counted instead, and an example of each is printed."""
    end, kinds = time.monotonic() + BUDGET, {}
    for chunk in range(-(-CASES // CHUNK)):
        if time.monotonic() < end:
            _chunk(one_case, count, 10**6 * SEED + chunk, kinds)
    print("\n" + ", ".join(f"{value} {name}" for name, value in count.items()))
    for kind, (times, example) in kinds.items():
        print(f"--- {times} x {kind}\n    {example}")
    assert not kinds


def _chunk(one_case, count: dict[str, int], seed: int, kinds: dict) -> None:
    """Some cases; each chunk has a seed of its own, so that it can be made again without those before it."""
    import hypothesis
    from hypothesis import strategies as st

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=min(CHUNK, CASES),
        deadline=None,
        database=None,
        suppress_health_check=list(hypothesis.HealthCheck),
        print_blob=False,
    )
    @hypothesis.given(st.data())
    def trial(data):
        count["cases"] += 1
        if not os.environ.get("PLIANT_SURVEY"):
            one_case(data.draw, hypothesis.note)
            return
        notes = []
        try:
            one_case(data.draw, notes.append)
        except Exception as error:
            if type(error).__module__.startswith("hypothesis"):
                raise
            _note(kinds, error, notes)
        except (TooLong, TooLarge) as error:
            _note(kinds, error, notes)

    trial()


def _note(kinds: dict, error: BaseException, notes: list[str]) -> None:
    """Count a failure by where it arose."""
    frames, trace = [], error.__traceback__
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if "pliant/" in file:
            frames.append(f"{file.rpartition('pliant/')[2]}:{trace.tb_lineno}")
        trace = trace.tb_next
    kind = f"{type(error).__name__} at {frames[-1] if frames else '?'}"
    if isinstance(error, TooLong):
        kind = f"TooLong in {frames[min(2, len(frames) - 1)] if frames else '?'}"
    times, example = kinds.get(kind, (0, f"{error!s:.200} | {' '.join(notes)}"))
    kinds[kind] = (times + 1, example)
