"""Nodes that go on together where a step of bounded cost would let them pass through each other."""

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from pliant.solve.newton.carried import carried
from pliant.solve.newton.touching import moved
from pliant.solve.problem import Problem

# Differences of velocities of what is prescribed in a zone, in parts of their mean, with which it still goes as one.
ALIKE = 1e-9


class Zones:
    """Nodes that have met each other, and their mean velocities (triples, 3) [m/s]; those that have met what is
    prescribed go as it does, and others, in the end, as what is prescribed carries them."""

    def __init__(self, problem: Problem, u: np.ndarray):
        count = len(u)
        self.problem, self.u, self.carried = problem, u, carried(problem)
        self.links, self.rests = np.zeros((0, 2), np.int64), np.zeros(count, bool)
        self.stopped, self.mean = np.zeros(count, bool), self.carried.copy()

    def join(self, u: np.ndarray) -> None:
        """Let what meets on the way that velocities u (triples, 3) lead go on together."""
        model, state = self.problem.model, self.problem.state
        met = model.colliders.meetings(state, moved(self.problem, u))
        self.rests[met[(met < 0).any(axis=1)].clip(min=0)[:, :1]] = True  # rigid meshes go their way
        met = met[(met >= 0).all(axis=1)]
        self.links = np.concatenate([self.links, *(met[:, [0, k]] for k in (1, 2, 3))])
        self._average()

    def hold(self, meets: np.ndarray, share: np.ndarray) -> bool:
        """Let nodes that still meet (triples,) bool, and what goes with them, go as they are carried or, if all of them
        do and have no share (triples,) of their own way left, stay where they are; whether anything changes."""
        carried = self.stopped & (share == 0.0)
        if np.any(meets & ~carried):
            self.stopped |= meets
        elif np.any(meets & ~self.rests) and self.carried.any():
            self.rests |= meets
        else:
            return False
        self._average()
        return True

    def _average(self) -> None:
        """Velocities of zones: none where something rests, those of what is prescribed where that has but one, means by
        mass where nothing is prescribed, and else as everything is carried."""
        zone, number = self._numbers()
        rests, stopped = (np.bincount(zone, each, number)[zone] > 0 for each in (self.rests, self.stopped))
        told, alone = (self.problem.model.free_triples == 0), np.bincount(zone, minlength=number)[zone] == 1
        mass = np.zeros(len(self.u))
        mass[: self.problem.model.node_count] = self.problem.model.node_mass
        for c in range(3):
            weight = np.where(np.bincount(zone, told[:, c], number)[zone] > 0, told[:, c], mass)
            total = np.maximum(np.bincount(zone, weight, number), 1e-300)
            mean = (np.bincount(zone, weight * self.u[:, c], number) / total)[zone]
            off = np.bincount(zone, told[:, c] * np.abs(self.u[:, c] - mean), number)[zone] > ALIKE * np.abs(mean)
            self.mean[:, c] = np.where(stopped | alone | off, self.carried[:, c], mean)
        self.mean[rests] = 0.0

    def _numbers(self) -> tuple[np.ndarray, int]:
        """The zone of every triple, by numbers, and how many there are."""
        links = coo_matrix((np.ones(len(self.links)), self.links.T), shape=(len(self.u),) * 2)
        number, zone = connected_components(links, directed=False)
        return zone, number
