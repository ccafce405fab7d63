"""Energy after steps of bounded cost of soft bodies and sheets: what there was, and what outer forces gave.

Where iterations end before they have converged, and parts are kept from passing through each other, a step may leave
more of motion, or store more in elements, than it had. Then things that touch go only so far that what they store can
be paid, and go on with the speed that is left.
"""

from dataclasses import replace

import numpy as np

from pliant.solve.coupled import held_together, left_alone, things_of_nodes, touching
from pliant.solve.newton.touching import shares_before_meeting
from pliant.solve.problem import Problem, Solution
from pliant.stepping.accounts import Accounts

# Energy that may be gained in a step, relative to what there is, and what outer forces give from rest.
SPARE, OF_KICK = 1e-6, 1e-3
# How often a way is halved before it is not gone.
HALVES = 6


def within_means(problem: Problem, solution: Solution) -> Solution:
    """A solution with ways that cost no more than things have, but for what pushes them out of solids, and the parts of
    their velocities with which nodes go on (`Solution.left`)."""
    model, info = problem.model, solution.info
    met = info.converged and not (len(problem.rows.contacts) or info.held)
    if met or not np.all(np.isfinite(solution.u)) or _affordable(problem, solution):
        return solution
    groups, bound = _bound(problem, solution)
    if not bound.any():
        return solution
    share, u, accounts = np.ones(len(bound)), solution.u, Accounts(problem, solution.tangled)
    pushed = _of_groups(groups, accounts.recovering())[0]
    for attempt in range(HALVES + 1):
        budget, moving, stored = _of_groups(groups, accounts.budget(u), accounts.moving(u), accounts.stored(u))
        over = bound & (stored > budget + pushed)
        if not over.any():
            break
        share[over] *= 0.5 if attempt < HALVES else 0.0
        u = _shortened(problem, solution.u, share)
        if np.any(shares_before_meeting(problem, u) < 1.0):  # others have come in the way of what stops
            share[:] = share.min()
            u = _shortened(problem, solution.u, share)
    part = np.sqrt(np.maximum(budget - stored, 0.0) / np.maximum(moving, 1e-300))
    left = np.where(bound, np.minimum(part, 1.0), 1.0)[things_of_nodes(model)]
    internal = accounts.forces(u) if solution.internal is None or u is not solution.u else solution.internal
    solution.info.energy = accounts.energy(u)
    if np.all(share == 1.0):
        return replace(solution, left=left, internal=internal)
    short = {model.soft_names[thing] for thing in np.flatnonzero(share[: len(model.soft_names)] < 1.0)}
    info.held = sorted({*info.held, *short})
    return replace(solution, u=u, left=left, internal=internal, stored=None)


def _bound(problem: Problem, solution: Solution) -> tuple[np.ndarray, np.ndarray]:
    """The group (t,) of every thing, and whether nobody else gives its group energy: what contacts hold together and,
    as one group, what was kept from passing through things unforeseen."""
    model, contacts = problem.model, problem.rows.contacts
    groups = touching(model, contacts, held_together(model))
    bound = left_alone(problem, contacts, groups)
    held = np.flatnonzero(np.isin(model.soft_names, solution.info.held))
    if len(held) and not np.any((1.0 - model.free_triples) * problem.prediction.u):
        groups = np.where(np.isin(groups, groups[held]), groups[held[0]], groups)
        bound = bound | (groups == groups[held[0]])
    return groups, bound


def _affordable(problem: Problem, solution: Solution) -> bool:
    """Whether the energy of all together, at a quick look, has not grown."""
    if solution.stored is None:
        return False
    square, free = problem.model.device.linalg.triples.quadratic_diagonal, problem.model.free_triples
    before, u = problem.state.velocity_triples(), solution.u
    kick = problem.prediction.u - before
    had, moving, given = (0.5 * square(problem.mass, free * each) for each in (before, u, kick))
    work = 0.5 * (square(problem.mass, free * (kick + u))) - given - moving
    return moving + solution.stored <= had + work + SPARE * (had + moving) + OF_KICK * given


def _of_groups(groups: np.ndarray, *each: np.ndarray) -> list[np.ndarray]:
    """The sums of energies (t,) over the group of every thing."""
    return [np.bincount(groups, values)[groups] for values in each]


def _shortened(problem: Problem, u: np.ndarray, share: np.ndarray) -> np.ndarray:
    """Velocities u (triples, 3) of which things go the shares (t,); what is prescribed goes its way."""
    parts = np.repeat(share[len(problem.model.soft_names) :], 2)
    parts = np.concatenate([share[things_of_nodes(problem.model)], parts])
    return np.where(problem.model.free_triples == 0, u, parts[:, None] * u)
