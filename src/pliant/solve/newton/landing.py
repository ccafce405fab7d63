"""Where steps of bounded cost of rigid bodies lead, as far as what they leave behind is concerned."""

import numpy as np

from pliant.model.state import State
from pliant.solve.newton.affordable import Budget
from pliant.solve.newton.touching import moved
from pliant.solve.problem import Problem, Solution


def landing(problem: Problem, u: np.ndarray, push: np.ndarray) -> State:
    """The state where velocities u and what pushes apart (triples, 3) lead, to the last bit as the step leaves it:
    contacts found there are those with which the next one starts."""
    pushed, new = moved(problem, u + push), moved(problem, u)
    new = new.changed(body_position=pushed.body_position, body_rotation=pushed.body_rotation)
    return Budget.of(problem).calmed(problem.model, u, new)


def as_it_lands(problem: Problem, solution: Solution, new: State) -> State:
    """The new state of a step of bounded cost, with the speed that is left."""
    if not problem.model.node_count:
        return Budget.of(problem).calmed(problem.model, solution.u, new)
    if solution.left is None:
        return new
    free = problem.model.free != 0
    return new.changed(v=np.where(free, solution.left[:, None] * new.v, new.v))
