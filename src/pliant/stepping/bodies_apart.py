"""The last filter of a step of bounded cost of rigid bodies: what would pass through something, end deep in it, or gain
energy is held back.

Contacts foreseen at the start of a step do not know how bodies turn in it, and sweeps that end before they have settled
leave impulses that may work on what they hold. Bodies that would end too deep in others go on without turning, pushed
out by what they touch; what then still meets stays where it is.
"""

from dataclasses import replace

import numpy as np

from pliant.solve.newton.affordable import Budget
from pliant.solve.newton.looking import Look
from pliant.solve.newton.mending import without_turning
from pliant.solve.problem import Problem, Solution

# How often bodies go on without turning before they stay where they are; looks after which nothing moves any more.
PUSHES, MOST_LOOKS = 8, 64


def bodies_apart(problem: Problem, solution: Solution) -> Solution:
    """A solution with the velocities of bodies changed so that nothing passes through anything, ends deep in it or
    gains energy; `Info.held` names those that were in the way of something. What is prescribed goes its way: where it
    still meets something, the solution is not said to be apart."""
    model, look, u, push = problem.model, solution.look, solution.u, solution.push
    if look is None:
        return solution
    budget = Budget.of(problem)
    held, stopped = np.zeros(model.body_count, bool), np.zeros(model.body_count, bool)
    for attempt in range(MOST_LOOKS):
        look = look if u is look.u else look.again(u, push)
        wrong, part = in_trouble(model, look), budget.parts(problem, u)
        if not wrong.any() and np.all(part == 1.0):
            break
        held |= wrong if (wrong & ~held).any() else neighbours(problem, wrong)
        if attempt < PUSHES and wrong.any():
            u = without_turning(problem, u, look, held)
            push = np.where(np.repeat(held, 2)[:, None], 0.0, push)
        elif wrong.any():
            if not (wrong & ~stopped).any():
                break
            stopped |= wrong | (attempt == MOST_LOOKS - 2)
            part, push = np.where(stopped, 0.0, part), np.where(np.repeat(stopped, 2)[:, None], 0.0, push)
        if np.any(part < 1.0):
            u = np.where(model.free_triples == 0, u, np.repeat(part, 2)[:, None] * u)
    if u is look.u:
        look.remember()
    if u is solution.u:
        return replace(solution, apart=not look.met.any())
    solution.info.held = [model.rigid_names[body] for body in np.flatnonzero(held)]
    solution.info.converged = False
    memory = solution.memory | {"change": u - problem.prediction.u}
    return replace(solution, u=u, push=push, apart=not look.met.any(), memory=memory)


def in_trouble(model, look: Look) -> np.ndarray:
    """Bodies (b,) bool that move freely and meet something on their way, or end too deep in something."""
    out = look.met.copy()
    out[look.deep(1.0)[0].body] = True
    return out & ~model.static


def neighbours(problem: Problem, bodies: np.ndarray) -> np.ndarray:
    """Some bodies (b,) bool and those that move freely and were near them at the start."""
    out = bodies.copy()
    out[problem.started.body[problem.started.with_some(bodies)]] = True
    return out & ~problem.model.static
