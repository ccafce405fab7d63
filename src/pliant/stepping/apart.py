"""The last filter of a step of bounded cost: nodes that would pass through something go only a part of their way.

What starts apart and goes straight to its end without meeting anything ends apart. Parts of surfaces that meet on their
way go on together, with their mean velocity (the rigid zones of Provot 1997, "Collision and self-collision handling in
cloth model dedicated to design garments"), at first as far as they may beside each other, in the end not at all. Nodes
that meet something else stop short of it. Either may bring them into the way of others, which then join them; what
still meets stays where it is.
"""

from dataclasses import replace

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from pliant.solve.coupled import things_of_nodes
from pliant.solve.newton.touching import moved, shares_before_meeting
from pliant.solve.problem import Problem, Solution
from pliant.stepping.bodies_apart import bodies_apart
from pliant.stepping.thrift import within_means

# How often nodes that meet something go on as far as they may, and then as often together, before they stay where they
# are.
STOPS = 4
# How often it is looked at whether anything still meets, at most: nodes that stay are ever more.
MOST_LOOKS = 64


def kept_apart(problem: Problem, solution: Solution) -> Solution:
    """A solution with velocities cut down so that nothing passes through anything, or has more energy than there was;
    `Info.held` names the bodies. What is prescribed goes its way: where it still meets something, the solution is not
    said to be apart."""
    if not problem.model.node_count:
        return bodies_apart(problem, solution)
    if not problem.model.may_touch or not np.all(np.isfinite(solution.u)):
        return replace(solution, apart=not problem.model.may_touch)
    return within_means(problem, _nodes_apart(problem, solution))


def _nodes_apart(problem: Problem, solution: Solution) -> Solution:
    """A solution with velocities of nodes with which nothing passes through anything."""
    model, u = problem.model, solution.u
    share, short, zones = np.ones(len(u)), u, Zones(problem, u)
    fixed, free = model.free_triples == 0, model.moving_triples
    for look in range(MOST_LOOKS):
        found = shares_before_meeting(problem, short)
        meets = (found < 1.0) & free
        if look >= 2 * STOPS:
            meets &= (share > 0.0) | zones.mean.any(axis=1)
        if not meets.any():
            break
        if look < 2 * STOPS:
            zones.join(short)
        else:
            zones.stop(meets)
        share[meets] *= found[meets] if look < STOPS else 0.0
        short = np.where(fixed, u, zones.mean + share[:, None] * (u - zones.mean))
    apart = bool(np.all(found == 1.0))
    if np.all(share == 1.0):
        return replace(solution, apart=apart)
    own = things_of_nodes(model)[share[: model.node_count] < 1.0]
    solution.info.held = sorted({model.soft_names[thing] for thing in own})
    return replace(solution, u=short, apart=apart, internal=None, stored=None)


class Zones:
    """Nodes that have met each other, and their mean velocities (triples, 3) [m/s]; others, and those that have met
    what is prescribed, have none."""

    def __init__(self, problem: Problem, u: np.ndarray):
        self.problem, self.u, self.mean = problem, u, np.zeros_like(u)
        self.links, self.stopped = np.zeros((0, 2), np.int64), np.zeros(len(u), bool)

    def join(self, u: np.ndarray) -> None:
        """Let what meets on the way that velocities u (triples, 3) lead go on together."""
        model, state = self.problem.model, self.problem.state
        met = model.colliders.meetings(state, moved(self.problem, u))
        self.stopped[met[(met < 0).any(axis=1)].clip(min=0)[:, :1]] = True  # rigid meshes go their way
        met = met[(met >= 0).all(axis=1)]
        self.links = np.concatenate([self.links, *(met[:, [0, k]] for k in (1, 2, 3))])
        self._average()

    def stop(self, nodes: np.ndarray) -> None:
        """Let nodes (triples,) bool, and what goes with them, stay where they are."""
        self.stopped |= nodes
        self._average()

    def _average(self) -> None:
        model, n, count = self.problem.model, self.problem.model.node_count, len(self.u)
        self.mean[:] = 0.0
        if not len(self.links):
            return
        links = coo_matrix((np.ones(len(self.links)), self.links.T), shape=(count, count))
        number, zone = connected_components(links, directed=False)
        mass = np.zeros(count)
        mass[:n] = model.node_mass
        stays = np.bincount(zone, self.stopped | (model.free_triples == 0).any(axis=1), number) > 0
        inside = (np.bincount(zone, minlength=number) > 1) & ~stays
        total = np.bincount(zone, mass, number)
        for c in range(3):
            mean = np.bincount(zone, mass * self.u[:, c], number) / np.maximum(total, 1e-300)
            self.mean[:, c] = np.where(inside, mean, 0.0)[zone]
