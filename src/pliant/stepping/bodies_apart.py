"""The last filter of a step of bounded cost of rigid bodies: what would pass through something, end deep in it, or gain
energy goes on together, or only a part of its way.

Sweeps that end before they have settled leave impulses that may work on what they hold, and contacts foreseen at the
start of a step do not know how bodies turn in it. Bodies that would end too deep in each other go on with their mean
velocity, without turning, which takes no momentum from what falls as a whole; what then still meets goes a part of its
way, in the end none of it.
"""

from dataclasses import dataclass, replace

import numpy as np

from pliant.collide.contacts import Contacts
from pliant.collide.detect import detect
from pliant.rows.contacts import deepest_between
from pliant.solve.newton.landing import landing
from pliant.solve.newton.touching import approach, shares_before_meeting
from pliant.solve.problem import Problem, Solution
from pliant.stepping.affordable import Budget
from pliant.stepping.coupled import components

# How deep, in parts of the size of what touches, things may end in each other that began less deep; and in parts of the
# depth of their cores.
SUNK, OF_CORES = 0.1, 0.9
# How often bodies join before they go a part of their way; how often that is estimated before it is none; looks after
# which nothing moves any more; the largest part that is a cut.
JOINS, ESTIMATES, MOST_LOOKS, LARGEST_PART = 3, 5, 24, 0.9


def bodies_apart(problem: Problem, solution: Solution) -> Solution:
    """A solution with the velocities of bodies changed so that nothing passes through anything, ends deep in it or
    gains energy; `Info.held` names those that were in the way of something. What is prescribed goes its way: where it
    still meets something, the solution is not said to be apart."""
    model, u = problem.model, solution.u
    if not model.may_touch or not np.all(np.isfinite(u)):
        return replace(solution, apart=not model.may_touch)
    budget, clear, held = Budget(problem, solution), solution.apart, np.zeros(model.body_count, bool)
    ways = Ways(problem, u)
    for look in range(MOST_LOOKS):
        ahead = None if clear and look == 0 else Meeting.of(problem, ways.u)
        affordable = budget.parts(ways.u)
        if ahead is not None:
            clear = not (ahead.part < 1.0).any()
            held |= (ahead.part < 1.0) & ~model.static
        if clear and np.all(affordable == 1.0):
            break
        if not clear and look < JOINS:
            ways.join(ahead.pairs)
        part = affordable if clear else np.minimum(affordable, ahead.share if look < JOINS else ahead.part)
        if not ways.shorten(part if look < ESTIMATES else 1.0 * (part == 1.0), all_of_them=look == MOST_LOOKS - 2):
            break
    if ways.u is u:
        return replace(solution, apart=clear)
    solution.info.held = [model.rigid_names[body] for body in np.flatnonzero(held)]
    solution.info.converged = False
    memory = solution.memory | {"change": ways.u - problem.prediction.u}
    return replace(solution, u=ways.u, apart=clear, memory=memory)


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


@dataclass
class Meeting:
    """What happens where velocities lead: the parts (b,) of their ways with which bodies meet nothing and end, about,
    in nothing, `part`; the same but for bodies that end too deep in others that move as well, `share`, and pairs (k, 2)
    of these."""

    share: np.ndarray
    part: np.ndarray
    pairs: np.ndarray

    @staticmethod
    def of(problem: Problem, u: np.ndarray) -> "Meeting":
        """A look at where velocities u (triples, 3) lead."""
        model, share = problem.model, shares_before_meeting(problem, u)[::2]
        found = detect(model, landing(problem, u), problem.h)
        most = np.minimum(SUNK * model.colliders.size_of(found), _of_cores(problem, found))
        deep = _deeper(problem, found, most)
        found, most, part = found.these(deep), most[deep], share.copy()
        way = approach(problem, found, u)
        left = found.gap + way + 0.9 * most
        least = np.where(way > 0.0, left / np.maximum(way, 1e-300), 0.0).clip(0.0, LARGEST_PART)
        np.minimum.at(part, found.body, least[:, None])
        loose = ~model.static[found.body].any(axis=1)
        alone = found.body[~loose].ravel()
        np.minimum.at(share, alone, part[alone])
        return Meeting(share, part, found.body[loose])


def _of_cores(problem: Problem, found: Contacts) -> np.ndarray:
    """Depths (k,) [m] of contacts at which the cores of the two bodies, whose ways are followed, do not meet yet; planes
    have none."""
    solids = problem.model.colliders.solids
    depth = np.append(np.where(np.isinf(solids.radius), np.inf, solids.depth), 0.0)
    return OF_CORES * (depth[found.body[:, 0]] + depth[found.body[:, 1]])


def _deeper(problem: Problem, found: Contacts, most: np.ndarray) -> np.ndarray:
    """Which contacts (k,) are deeper than `most` (k,) [m] and than their two bodies were in each other at the start."""
    deep = found.gap < -most
    if deep.any():
        deep[deep] = found.gap[deep] < deepest_between(problem.started, found.these(deep))
    return deep
