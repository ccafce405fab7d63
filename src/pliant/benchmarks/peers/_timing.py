"""What every engine's case holds."""

import time
from collections.abc import Callable

import numpy as np

# Seconds after which no further step of a pile is taken: some engines need minutes for one.
LONGEST = 60.0


def timed(advance: Callable[[], None], steps: int) -> list[float]:
    """Seconds of every call."""
    times = []
    for _ in range(steps):
        start = time.perf_counter()
        advance()
        times.append(time.perf_counter() - start)
    return times


def timed_pile(advance: Callable[[], None], look: Callable[[], float], steps: int) -> tuple[list[float], list[float]]:
    """Seconds of every step of a pile, and the least distance [m] of what touches after it, which is not timed; steps
    are fewer where all of them would take more than LONGEST [s]."""
    times, deepest = [], []
    while len(times) < steps and sum(times) < LONGEST:
        times += timed(advance, 1)
        deepest.append(look())
    return times, deepest


def case(mesh, times: list[float], deflection: float, **words) -> dict:
    """The common fields; a tip further away than the beam is long, or not a number, counts as diverged."""
    diverged = not (np.isfinite(deflection) and abs(deflection) < 1.5)
    return {
        **words,
        "tets": len(mesh.tets),
        "nodes": len(mesh.points),
        "steps": len(times),
        "ms_per_step": 1e3 * float(np.median(times)),
        "max_ms_per_step": 1e3 * max(times),
        "tip_m": None if diverged else deflection,
        "diverged": diverged,
    }


def pile_case(times: list[float], deepest: list[float], contacts: int, **words) -> dict:
    """Of a pile: times of steps, the deepest penetration on the way and of the last tenth of it, contacts at the
    end."""
    late = deepest[-max(len(deepest) // 10, 1) :]
    return {
        **words,
        "steps": len(times),
        "ms_per_step": 1e3 * float(np.median(times)),
        "mean_ms": 1e3 * float(np.mean(times)),
        "worst_ms": 1e3 * max(times),
        "contacts": contacts,
        "deepest_mm": 1e3 * max(0.0, -min(deepest)),
        "deepest_late_mm": 1e3 * max(0.0, -min(late)),
    }
