"""One step: the table of contents of the engine."""

from dataclasses import fields, replace
from time import perf_counter

import numpy as np

from pliant.collide import detect
from pliant.errors import SolverError
from pliant.rows.assemble import fill_rows
from pliant.solve.dual.drift import close_gaps
from pliant.solve.warm import count_as_whole, node_impulses, scale_impulses
from pliant.stepping.dynamics import integrate, predict


def step(model, state, solver, h: float):
    """Advance the state by h [s]; returns the solver's info. One that fails raises and leaves the state as it was."""
    parts = getattr(solver, "substeps", 1)
    return advance(model, state, solver, h) if parts == 1 else _advance_in_parts(model, state, solver, h, parts)


def advance(model, state, solver, h: float):
    """One step of length h, undivided."""
    clock = _Clock()
    prediction = predict(model, state, h)
    clock.lap("predict")
    contacts = detect(model, state, h)
    clock.lap("collide")
    rows = fill_rows(model, state, contacts, h)
    clock.lap("rows")
    kept = replace(state.warm), state.tangled
    try:
        u, info = solver.solve(model, state, prediction, rows, h)
        check_finite(model, state, u)
    except SolverError:
        state.warm, state.tangled = kept
        raise
    clock.lap("solve")
    integrate(model, state, prediction, u, h, info.travel)
    state.row_impulse = node_impulses(model, state, rows)
    state.plastic_strain = rows.elements.plastic
    clock.lap("integrate")
    info.drift_iterations = close_gaps(model, state, solver, prediction.inverse_mass)
    clock.lap("drift")
    info.contacts, info.timings = len(contacts), clock.laps
    return info


def _advance_in_parts(model, state, solver, h: float, parts: int):
    """A step as so many shorter ones; impulses are kept as if the last of them had been the whole."""
    before = replace(state, warm=replace(state.warm))
    scale_impulses(state, 1 / parts)
    infos = []
    try:
        for _ in range(parts):
            infos.append(advance(model, state, solver, h / parts))
    except SolverError:
        for name in (f.name for f in fields(state)):
            setattr(state, name, getattr(before, name))
        raise
    count_as_whole(state, parts)
    state.step = before.step + 1
    info = infos[-1]
    info.iterations = sum(part.iterations for part in infos)
    info.timings = {name: sum(part.timings[name] for part in infos) for name in info.timings}
    return info


def check_finite(model, state, u: np.ndarray) -> None:
    """A velocity that is not finite stops the simulation; the message names step, body and node or element."""
    bad = np.flatnonzero(~np.isfinite(u).all(axis=1))
    if not len(bad):
        return
    first = int(bad[0])
    if first < model.node_count:
        body = int(np.searchsorted(model.node_start, first, side="right") - 1)
        element = int(np.flatnonzero((model.tets == first).any(axis=1))[0] - model.element_start[body])
        where = f"soft body {model.soft_names[body]!r}, node {first - model.node_start[body]}, element {element}"
    else:
        where = f"rigid body {model.rigid_names[(first - model.node_count) // 2]!r}"
    raise SolverError(
        f"step {state.step + 1} (t = {state.time:g} s): the velocity of {where} is not finite "
        f"({len(bad)} velocities in all); the state before the step is kept. Try a smaller time step or softer material"
    )


class _Clock:
    """Seconds per stage."""

    def __init__(self):
        self.laps: dict[str, float] = {}
        self.last = perf_counter()

    def lap(self, name: str) -> None:
        now = perf_counter()
        self.laps[name], self.last = now - self.last, now
