"""The last filter of a step of bounded cost of rigid bodies: what would pass through something, end deep in it, or gain
energy goes on together, or only a part of its way.

Sweeps that end before they have settled leave impulses that may work on what they hold, and contacts foreseen at the
start of a step do not know how bodies turn in it. Bodies that would end too deep in each other go on with their mean
velocity, without turning, which takes no momentum from what falls as a whole; what then still meets goes a part of its
way, in the end none of it.
"""

from dataclasses import replace

import numpy as np

from pliant.solve.newton.looking import Look
from pliant.solve.newton.touching import approach
from pliant.solve.problem import Problem, Solution
from pliant.stepping.affordable import Budget
from pliant.stepping.coupled import components

# How often bodies join before they go a part of their way; how often that is estimated before it is none; looks after
# which nothing moves any more; the largest part that is a cut.
JOINS, ESTIMATES, MOST_LOOKS, LARGEST_PART = 8, 12, 64, 0.9


def bodies_apart(problem: Problem, solution: Solution) -> Solution:
    """A solution with the velocities of bodies changed so that nothing passes through anything, ends deep in it or
    gains energy; `Info.held` names those that were in the way of something. What is prescribed goes its way: where it
    still meets something, the solution is not said to be apart."""
    model, look = problem.model, solution.look
    if look is None:
        return solution
    budget, ways, held = Budget(problem, solution), Ways(problem, solution.u), np.zeros(model.body_count, bool)
    for attempt in range(MOST_LOOKS):
        if ways.u is not look.u:
            look = look.again(ways.u)
        part, share, pairs = meeting(problem, look)
        held |= (part < 1.0) & ~model.static
        affordable = budget.parts(ways.u)
        if np.all(part == 1.0) and np.all(affordable == 1.0):
            break
        if attempt < JOINS and len(pairs):
            ways.join(pairs)
        least = np.minimum(affordable, share if attempt < JOINS else part)
        least = least if attempt < ESTIMATES else 1.0 * (least == 1.0)
        if not ways.shorten(least, all_of_them=attempt == MOST_LOOKS - 2):
            break
    apart = not look.met.any()
    if ways.u is solution.u:
        return replace(solution, apart=apart)
    solution.info.held = [model.rigid_names[body] for body in np.flatnonzero(held)]
    solution.info.converged = False
    memory = solution.memory | {"change": ways.u - problem.prediction.u}
    return replace(solution, u=ways.u, apart=apart, memory=memory)


def meeting(problem: Problem, look: Look) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The parts (b,) of their ways with which bodies meet nothing and end, about, in nothing; the same but for bodies
    that end too deep in others that move as well, and pairs (k, 2) of these."""
    model, part, (found, most) = problem.model, look.share.copy(), look.deep(1.0)
    if not len(found):
        return part, part, np.zeros((0, 2), np.int64)
    share = part.copy()
    way = approach(problem, found, look.u)
    left = found.gap + way + LARGEST_PART * most
    least = np.where(way > 0.0, left / np.maximum(way, 1e-300), 0.0).clip(0.0, LARGEST_PART)
    np.minimum.at(part, found.body, least[:, None])
    loose = ~model.static[found.body].any(axis=1)
    alone = found.body[~loose].ravel()
    share[found.body[loose]] = 1.0
    np.minimum.at(share, alone, part[alone])
    return part, share, found.body[loose]


class Ways:
    """Velocities u (triples, 3) that bodies take: of those that have joined their mean, of all a part."""

    def __init__(self, problem: Problem, u: np.ndarray):
        self.model, self.u, self.own = problem.model, u, u
        self.share, self.links = np.ones(problem.model.body_count), np.zeros((0, 2), np.int64)
        self.zone = np.arange(problem.model.body_count)

    def join(self, pairs: np.ndarray) -> None:
        """Let pairs (k, 2) of bodies go on together."""
        self.links = np.concatenate([self.links, pairs])
        self.zone = components(self.links, len(self.share))

    def shorten(self, part: np.ndarray, all_of_them: bool) -> bool:
        """Cut the ways of bodies, and of those that go with them, to parts (b,) of what they were; all: to none.
        Whether that, or joining, changes any."""
        before, static = self.u, self.model.static
        least = np.ones(int(self.zone.max(initial=0)) + 1)
        loose = ~static
        np.minimum.at(least, self.zone[loose], part[loose] * self.share[loose])
        self.share = np.zeros(len(part)) if all_of_them else least[self.zone]
        u = np.repeat(self.share, 2)[:, None] * self._together()
        self.u = np.where(self.model.free_triples == 0, self.own, u)
        return not np.array_equal(self.u, before)

    def _together(self) -> np.ndarray:
        """Velocities (triples, 3), of bodies that have joined their mean."""
        count, mass = int(self.zone.max(initial=0)) + 1, np.where(self.model.static, 0.0, self.model.body_mass)
        several = np.bincount(self.zone, minlength=count) > 1
        total, out = np.bincount(self.zone, mass, count), self.own.copy()
        inside = several[self.zone]
        for c in range(3):
            mean = np.bincount(self.zone, mass * self.own[::2, c], count) / np.maximum(total, 1e-300)
            out[::2, c] = np.where(inside, mean[self.zone], out[::2, c])
        out[1::2][inside] = 0.0
        return out
