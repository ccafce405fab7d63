"""Spins that contacts must not pay for: what rigid bodies keep of them where a step ends.

The impulses of contacts change the turning in a step at the orientation where it begins; the spin that is kept is that
of the angular momentum at the orientation where it ends. A body that turns far may have more energy by it than the work
of the contacts says. Without loads a free body has its energy at both ends of a step, so that this is nothing but what
contacts changed at the wrong orientation.
"""

import numpy as np

from pliant.kernels.lanes import LANES
from pliant.model.state import State
from pliant.rows.contacts import deepest_between
from pliant.solve.coupled import held_together, things_in_joints, touching
from pliant.solve.newton.touching import PENETRATION
from pliant.solve.problem import Problem, Solution

# Energy of spins, relative to that of the motion, that is not worth finding out who touches whom.
LITTLE = 1e-5


def paid_spins(problem: Problem, solution: Solution, new: State) -> tuple[State, float]:
    """The new state, in which no things that touch have more energy by the spins that they keep than the work of their
    contacts leaves them; and what they would have had more [J], beyond a little of all motion."""
    model, rows = problem.model, problem.rows
    if not (model.body_count and len(rows.contacts)):
        return new, 0.0
    own, after = _kept(problem, solution, new)
    more, softs = np.maximum(own, 0.0), len(model.soft_names)
    if not more.sum() > LITTLE * motion_of(problem):
        return new, 0.0
    work, loaded = _works(problem, solution), solution.impulses.ravel()[rows.contact_index] > 0.0
    groups = touching(model, rows.contacts.these(loaded), held_together(model))
    count, thing = groups.max(initial=0) + 1, rows.contacts.thing
    loose = np.concatenate([np.ones(softs, bool), ~model.static])
    of_contact = groups[np.where(loose[thing[:, 0]], thing[:, 0], thing[:, 1])]
    touches = np.bincount(of_contact, loaded, count) > 0
    of_body = groups[softs:]
    given = np.bincount(of_contact, work, count) + np.bincount(of_body, own, count)
    given = np.where(touches, np.maximum(given, 0.0), 0.0)
    share = np.minimum(given / np.maximum(np.bincount(of_body, more, count), 1e-300), 1.0)
    left = 1.0 - share[of_body] * more / np.maximum(after, 1e-300)
    part = np.sqrt(left.clip(0.0, 1.0))[:, None]
    return new.changed(body_angular_velocity=part * new.body_angular_velocity), float(given.sum())


def motion_of(problem: Problem) -> float:
    """The energy [J] of all motion that outer forces alone would lead to."""
    model, square = problem.model, problem.model.device.linalg.triples.quadratic_diagonal
    return 0.5 * square(problem.mass, model.free_triples * problem.prediction.u)


def _kept(problem: Problem, solution: Solution, new: State) -> tuple[np.ndarray, np.ndarray]:
    """What spins (b,) [J] that bodies keep have more than before and by the turning in the step, none of bodies that
    joints or rods hold; and the energies (b,) [J] of these spins."""
    model, start, n = problem.model, problem.state.body_rotation, problem.model.node_count
    predicted, turning = (np.ascontiguousarray(u[n + 1 :: 2]) for u in (problem.prediction.u, solution.u))
    before = spin_energies(model, start, problem.state.body_angular_velocity)
    if model.body_torques:
        before = np.maximum(before, spin_energies(model, start, predicted))
    after = spin_energies(model, new.body_rotation, new.body_angular_velocity)
    own = (after - before) - (spin_energies(model, start, turning) - spin_energies(model, start, predicted))
    held = things_in_joints(model)[:, 0] - len(model.soft_names)
    own[held[held >= 0]] = 0.0
    if model.elements.on_bodies:
        own[model.body_stiffness[::2] > 0.0] = 0.0
    return own, after


def _works(problem: Problem, solution: Solution) -> np.ndarray:
    """What contacts (k,) do [J], resistance to rolling included, at the mean rates before and after, but for pushing
    apart what was deep at the start."""
    rows, table, rate = problem.rows, problem.rows.table, np.empty(problem.rows.table.target.shape)
    middle = 0.5 * (solution.u + problem.prediction.u)
    problem.model.device.rows.row_rates(table.start, table.triples, table.jacobian, middle, rate)
    each = (solution.impulses * rate).ravel()
    work = each[rows.contact_index[:, None] + LANES * np.arange(3)].sum(axis=1)
    if len(rows.rolling):
        np.add.at(work, rows.rolling.contact, each[rows.rolling.places()].sum(axis=1))
    size = problem.model.colliders.size_of(rows.contacts)
    return np.where(shallow(problem, PENETRATION * size), work, 0.0)


def shallow(problem: Problem, most: np.ndarray) -> np.ndarray:
    """Which contacts (k,) are between things that were no deeper in each other than `most` (k,) [m] at the start."""
    started = problem.started
    if started.gap.min(initial=0.0) > -most.min(initial=np.inf):
        return np.ones(len(most), bool)
    return deepest_between(started, problem.rows.contacts) > -most


def spin_energies(model, rotation: np.ndarray, spin: np.ndarray) -> np.ndarray:
    """Energies (b,) [J] of angular velocities (b, 3) at orientations (b, 4); none of static bodies."""
    out = np.empty(model.body_count)
    model.device.rigid.spin_energies(model.body_inertia, model.static, rotation, spin, out)
    return out
