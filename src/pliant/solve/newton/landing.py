"""Where steps of bounded cost of rigid bodies lead, as far as what they leave behind is concerned."""

import numpy as np

from pliant.model.state import State
from pliant.solve.newton.touching import moved
from pliant.solve.problem import Problem, Solution


def landing(problem: Problem, u: np.ndarray, push: np.ndarray) -> State:
    """The state where velocities u and what pushes apart (triples, 3) lead, to the last bit as the step leaves it:
    contacts found there are those with which the next one starts."""
    pushed, new = moved(problem, u + push), moved(problem, u)
    new = new.changed(body_position=pushed.body_position, body_rotation=pushed.body_rotation)
    return calmed(problem, u, new)


def as_it_lands(problem: Problem, solution: Solution, new: State) -> State:
    """The new state of a step of bounded cost, which nothing else changes."""
    return new if problem.model.node_count else calmed(problem, solution.u, new)


def calmed(problem: Problem, u: np.ndarray, new: State) -> State:
    """The new state with spins of bodies that touch something cut down to the energy of their turning in the step:
    angular momentum, whose impulses act where the step begins, may carry more at the orientation where it ends."""
    model, contacts = problem.model, problem.started
    if not len(contacts):
        return new
    touched, turn = np.zeros(len(model.static), bool), u[1::2]
    touched[contacts.body] = True
    touched &= ~model.static
    most = np.einsum("ki,kij,kj->k", 0.5 * turn, problem.mass[1::2], turn)
    after = spin_energies(model, new)
    fast = touched & (after > most)
    if not fast.any():
        return new
    part = np.sqrt(np.where(fast, most, 1.0) / np.where(fast, after, 1.0))
    return new.changed(body_angular_velocity=part[:, None] * new.body_angular_velocity)


def spin_energies(model, state: State) -> np.ndarray:
    """Energies (b,) [J] of the spins of a state; none of static bodies."""
    out = np.empty(model.body_count)
    spin = (state.body_rotation, state.body_angular_velocity)
    model.device.rigid.spin_energies(model.body_inertia, model.static, *spin, out)
    return out
