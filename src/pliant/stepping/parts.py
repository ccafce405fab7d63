"""A step as several shorter ones: substeps, and steps in which joints strayed, taken again in halves."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from pliant.errors import SolverError
from pliant.model.model import Model
from pliant.model.state import State
from pliant.solve.info import Info

# How far joints may stray in a step, in parts of what counts as strayed (solve.dual.drift), and how often it is halved.
ASTRAY, MOST_HALVINGS = 1.0, 4
# How often one is halved whose contacts were not found in time, but are not deep.
SETTLING = 3


def in_halves(
    attempts, model: Model, state: State, solver, h: float, halvings: int = MOST_HALVINGS
) -> tuple[State, Info]:
    """A step of length h, by attempts (stepping.attempts); one in which joints strayed or bodies ran away is taken
    again as two of half the length, and so on."""
    try:
        new, info = attempts.take(model, state, solver, h)
        unsettled = info.unsettled and halvings > MOST_HALVINGS - SETTLING
        if not (info.straying > ASTRAY or unsettled) or halvings == 0 or attempts.spent:
            return new, info
    except SolverError:
        if halvings == 0 or attempts.spent:
            raise
    again = partial(in_halves, attempts, halvings=halvings - 1)
    return in_parts(again, model, state, solver, h, 2)


def in_time(
    advance: Callable, model: Model, state: State, solver, h: float, halvings: int = SETTLING
) -> tuple[State, Info]:
    """A step of length h of bounded cost; one that nothing keeps apart is taken again as two of half the length, and so
    on, in which what is prescribed goes less far."""
    new, info = advance(model, state, solver, h)
    if not info.unsettled or halvings == 0:
        return new, info
    return in_parts(partial(in_time, advance, halvings=halvings - 1), model, state, solver, h, 2)


def in_parts(advance: Callable, model: Model, state: State, solver, h: float, parts: int) -> tuple[State, Info]:
    """A step as so many equal ones; impulses are kept as if the last of them had been the whole."""
    if parts == 1:
        return advance(model, state, solver, h)
    new, infos = scaled(state, 1 / parts), []
    for _ in range(parts):
        new, info = advance(model, replace(new, step=state.step), solver, h / parts)
        infos.append(info)
    return as_whole(new, parts), _whole(infos)


def scaled(state: State, factor: float) -> State:
    """The state with impulses as those of a step `factor` times as long with the same forces."""
    return replace(state, impulses=state.impulses.scaled(factor), row_impulse=factor * state.row_impulse)


def as_whole(state: State, factor: float) -> State:
    """The state after a step that was a part of a whole one `factor` times as long: impulses and the change of the
    velocity as if its forces had acted all the time, so that readers need not know."""
    return replace(scaled(state, factor), previous_velocity=state.v - factor * (state.v - state.previous_velocity))


def _whole(infos: list[Info]) -> Info:
    """The report of a step in parts: work is summed, and it is as good as the worst of them."""
    last = infos[-1]
    sums = ("iterations", "newton_iterations", "refreshes", "drift_iterations", "parts")
    worst = ("residual", "imbalance", "contacts", "straying")
    found = {name: sum(getattr(info, name) for info in infos) for name in sums}
    found |= {name: max(getattr(info, name) for info in infos) for name in worst}
    found["converged"] = all(info.converged for info in infos)
    found["shortest_step"] = min(info.shortest_step for info in infos)
    found |= {name: sorted({own for info in infos for own in getattr(info, name)}) for name in ("tangled", "held")}
    found["timings"] = {name: sum(info.timings.get(name, 0.0) for info in infos) for name in last.timings}
    return replace(last, **found)
