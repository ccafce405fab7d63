"""Energy that contacts must not give: a step in which they do is too long.

Contacts are met where a step leads. A body that turns far in it may be pushed out of where a straight way back would
have begun, and its angular momentum, whose impulses act where the step begins, may carry more energy at the orientation
where it ends.
"""

import numpy as np

from pliant.model.state import State
from pliant.solve.newton.touching import PENETRATION
from pliant.solve.problem import Problem, Solution
from pliant.stepping.accounts import Accounts
from pliant.stepping.spins import motion_of, paid_spins, shallow, spin_energies

# Energy that contacts give, relative to that of the motion, for which a step is taken again in halves; and what a spin
# may have more than both the turning in the step and the spin before.
GAIN, EXCESS = 5e-3, 1.01
# The same of what contacts give at the velocities with which a step ends, where what rests is pushed by little.
LIFTED = 1e-2
# What things that are held back may have more than their energy, in every part of a step, in parts of that and of what
# outer forces would give them from rest; and the parts to which their velocities are cut down at once where they have.
SPARE, OF_KICK = 3e-4, 1e-2
LEAST_PART, LARGEST_PART = 0.3, 0.95


def without_gains(problem: Problem, solution: Solution, new: State) -> State:
    """The new state of a step with contacts, with spins that have no more energy than turning or before;
    `Info.straying` says whether shorter steps are to be tried first."""
    if not len(problem.rows.contacts):
        return new
    model, state, n = problem.model, problem.state, problem.model.node_count
    motion = motion_of(problem)
    given = contact_work(problem, solution)
    if model.body_count:
        turn = np.ascontiguousarray(solution.u[n + 1 :: 2])
        poses = (state.body_rotation, turn), (state.body_rotation, state.body_angular_velocity)
        turning, before = (spin_energies(model, *pose) for pose in poses)
        after = spin_energies(model, new.body_rotation, new.body_angular_velocity)
        most = EXCESS * np.maximum(turning, before)
        given = max(given, float((after - most).sum(where=after > most)))
        spin = np.where((after > most)[:, None], turn, new.body_angular_velocity)
        new, unpaid = paid_spins(problem, solution, new.changed(body_angular_velocity=spin))
        given = max(given, unpaid)
    given = max(given / GAIN, lifted(problem, solution) / LIFTED)
    if given > motion and model.elements.sets:  # what is pressed hardly moves, and stores far more than it moves with
        motion += float(Accounts(problem, solution.tangled).had.sum())
    if given > 0.0:
        solution.info.straying = max(solution.info.straying, given / max(motion, 1e-300))
    return new


def contact_work(problem: Problem, solution: Solution) -> float:
    """What contacts do to what touches [J], with the mean of the velocities before and after, beyond pushing apart what
    was deep at the start."""
    rows, table, model = problem.rows, problem.rows.table, problem.model
    rate = np.empty(table.target.shape)
    middle = 0.5 * (solution.u + problem.prediction.u)
    model.device.rows.row_rates(table.start, table.triples, table.jacobian, middle, rate)
    work, size = (solution.impulses * rate).ravel()[rows.contact_index], model.colliders.size_of(rows.contacts)
    return float(work.sum(where=shallow(problem, PENETRATION * size)))


def lifted(problem: Problem, solution: Solution) -> float:
    """What contacts give [J] at the velocities after a step, beyond pushing apart by what may penetrate and what was
    deep at the start, less what a step of implicit Euler takes: forces work along the way that a step goes, which is
    not that of the mean of its velocities where contacts stop what gravity began; but where contacts bounce, speeds are
    reflected, and gravity has no part in that. Elements that turn far, whose energy is not convex, may give some as
    well."""
    rows, table, model = problem.rows, problem.rows.table, problem.model
    rate = np.empty(table.target.shape)
    model.device.rows.row_rates(table.start, table.triples, table.jacobian, solution.u, rate)
    allowed = PENETRATION * model.colliders.size_of(rows.contacts)
    normal = rows.contact_index
    apart = rate.ravel()[normal] - allowed / problem.h
    work = solution.impulses.ravel()[normal] * np.maximum(apart, 0.0)
    given = float(work.sum(where=shallow(problem, allowed)))
    if solution.stored is not None:
        n = len(solution.internal)
        given += max(solution.stored - problem.h * float((solution.internal * solution.u[:n]).sum()), 0.0)
    if not given > 0.0:
        return 0.0
    bounces = np.any(model.colliders.things.coefficients(rows.contacts.thing)[1][work > 0.0] > 0.0)
    change = model.free_triples * (solution.u - (problem.prediction.u if bounces else problem.before))
    return given - 0.5 * model.device.linalg.triples.quadratic_diagonal(problem.mass, change)


def affordable(problem: Problem, tangled, u: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """The parts (t,) of their velocities, about, that leave groups (t,) of things no more energy, of motion and
    elastic, than they have and outer forces give them on their way, where velocities u (triples, 3) lead; 1 where these
    do."""
    kick, accounts = problem.prediction.u - problem.state.velocity_triples(), Accounts(problem, tangled)
    budget, moving, stored = accounts.budget(u), accounts.moving(u), accounts.stored(u)
    spare = SPARE * budget + 0.5 * OF_KICK * accounts.of_momenta(kick, kick)
    of_groups = [np.bincount(groups, values) for values in (budget, moving, stored, spare)]
    left = np.maximum(of_groups[0] - of_groups[2], 0.0)
    with np.errstate(over="ignore"):  # next to nothing moves
        part = np.sqrt(left / np.maximum(of_groups[1], 1e-300)).clip(LEAST_PART, LARGEST_PART)
    return np.where(of_groups[1] + of_groups[2] > of_groups[0] + of_groups[3], part, 1.0)[groups]
