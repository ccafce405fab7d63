"""Impacts that bounce must not give energy.

Newton's law says with which speed a contact parts. Where friction holds it as well, what the normal impulse turns along
the surface is taken back by impulses that may work on the body: it would leave faster than it came (Kane and Levinson,
Dynamics, 1985). Bodies of which that is so bounce less in that step, by as much as is needed.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from pliant.kernels.lanes import LANES
from pliant.model.model import Model
from pliant.model.state import State
from pliant.solve.coupled import held_together, touching
from pliant.solve.info import Info
from pliant.solve.problem import Problem, Solution
from pliant.stepping.accounts import Accounts

# Energy that contacts give, relative to that of the motion, which is none of rounding.
GAIN = 1e-3
# How often the part of its restitution that a body keeps is halved in.
HALVINGS = 4


def bouncing_less(
    advance: Callable, model: Model, state: State, solver, h: float, spent: Callable[[], bool]
) -> tuple[State, Info]:
    """A step; again with less restitution of bodies that would gain energy by it, unless that is not the cause. spent:
    whether there were enough attempts; then these bodies do not bounce."""
    found = advance(model, state, solver, h)
    if not len(found[1].gaining):
        return found
    count = len(model.soft_names) + model.body_count
    low, high, best = np.zeros(count), np.ones(count), None
    low[np.setdiff1d(np.arange(count), found[1].gaining)] = 1.0
    for _ in range(HALVINGS + 1):
        if best is not None and spent():
            break
        part = low if best is None else 0.5 * (low + high)
        tried = advance(replace(model, bounce=part), state, solver, h)
        gains = tried[1].gaining
        if best is None and len(gains):
            return found
        if not len(gains):
            best, low = tried, part
        else:
            inside = np.zeros(count, bool)
            inside[gains] = True
            low, high = np.where(inside, low, part), np.where(inside, part, high)
    return best


def gaining(problem: Problem, solution: Solution) -> np.ndarray:
    """Things (k,) that move and are in contact with what bounces, with which they get energy from contacts."""
    model, rows, nothing = problem.model, problem.rows, np.zeros(0, np.int64)
    if not len(rows.contacts):
        return nothing
    restitution = model.colliders.things.coefficients(rows.contacts.thing)[1]
    bounces = (restitution > 0.0) & (solution.impulses.ravel()[rows.contact_index] > 0.0)
    if not bounces.any():
        return nothing
    work = _work(problem, solution)
    thing = rows.contacts.thing
    loose = np.concatenate([np.ones(len(model.soft_names), bool), ~model.static])
    groups = touching(model, rows.contacts, held_together(model))
    own = groups[np.where(loose[thing[:, 0]], thing[:, 0], thing[:, 1])]
    count = groups.max(initial=0) + 1
    given, bouncing = np.bincount(own, work, count), np.bincount(own, bounces, count) > 0
    motion = np.bincount(groups, Accounts(problem, problem.state.tangled).moving(problem.prediction.u), count)
    return np.flatnonzero((bouncing & (given > GAIN * motion))[groups] & loose)


def _work(problem: Problem, solution: Solution) -> np.ndarray:
    """What contacts (k,) change of the energy of the motion [J]: impulses times the mean rates before and after."""
    table, rate = problem.rows.table, np.empty(problem.rows.table.target.shape)
    middle = 0.5 * (solution.u + problem.prediction.u)
    problem.model.device.rows.row_rates(table.start, table.triples, table.jacobian, middle, rate)
    rows = problem.rows.contact_index[:, None] + LANES * np.arange(3)
    return (solution.impulses * rate).ravel()[rows].sum(axis=1)
