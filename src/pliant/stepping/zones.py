"""Nodes that go on together where a step of bounded cost would let them pass through each other."""

import numpy as np

from pliant.solve.coupled import components
from pliant.solve.newton.carried import carried, linear
from pliant.solve.newton.touching import moved
from pliant.solve.problem import Problem

# Differences of velocities of what is prescribed in a zone, in parts of their mean, with which it still goes as one.
ALIKE = 1e-9
# How nodes go that meet: with what they meet, as what is prescribed carries everything, or not at all.
TOGETHER, CARRIED, STAYING = range(3)


class Zones:
    """Nodes that have met each other, and velocities (triples, 3) [m/s] with which they do not: linear in places as
    those prescribed of them or, where nothing is, their mean. Where these do not do, they go as everything is carried
    and, in the end, stay where they are."""

    def __init__(self, problem: Problem, u: np.ndarray):
        self.problem, self.u, self.carried = problem, u, carried(problem)
        self.links, self.number = np.zeros((0, 2), np.int64), len(u)
        self.level, self.mean = np.full(len(u), TOGETHER), self.carried.copy()

    @property
    def moves(self) -> np.ndarray:
        """Which triples (triples,) bool do not stay where they are."""
        return self.level < STAYING

    def join(self, u: np.ndarray) -> None:
        """Let what meets on the way that velocities u (triples, 3) lead go on together."""
        model, state = self.problem.model, self.problem.state
        met = model.colliders.meetings(state, moved(self.problem, u))
        self.level[met[(met < 0).any(axis=1)].clip(min=0)[:, :1]] = STAYING  # rigid meshes go their way
        met = met[(met >= 0).all(axis=1)]
        self.links = np.concatenate([self.links, *(met[:, [0, k]] for k in (1, 2, 3))])
        self._average()

    def hold(self, u: np.ndarray, meets: np.ndarray, share: np.ndarray) -> bool:
        """Let nodes that still meet (triples,) bool on the way that velocities u (triples, 3) lead, and what goes with
        them, go as they are carried or, where they have no share (triples,) of their own way left and none has joined
        them, stay; whether anything changes. What goes with prescribed nodes does so as long as others join them."""
        before, number = self.level.copy(), self.number
        self.join(u)
        alone = bool(np.all(share[meets] == 0.0)) and self.number == number
        told = self._in_zone((self.problem.model.free_triples == 0).any(axis=1))
        self.level[meets & ~told] = np.maximum(self.level[meets & ~told], CARRIED)
        if alone and np.array_equal(before, self.level):
            self.level[meets] = np.minimum(self.level[meets] + 1, STAYING)
        self._average()
        return not alone or not np.array_equal(before, self.level)

    def _average(self) -> None:
        """Find the velocities of all zones."""
        self.own, at = np.unique(self.links, return_inverse=True)
        own, at = self.own, at.reshape(self.links.shape)
        self.zone = components(at, len(own))
        self.count = self.zone.max(initial=-1) + 1
        self.number = len(self.u) - len(own) + self.count
        mass, n = np.zeros(len(own)), self.problem.model.node_count
        mass[own < n] = self.problem.model.node_mass[own[own < n]]
        leaves = self._in_zone(self.level >= CARRIED)[own]
        self.mean = self.carried.copy()
        for c in range(3):
            told, u = self.problem.model.free_triples[own, c] == 0, self.u[own, c]
            some = np.bincount(self.zone, told, self.count)[self.zone] > 0
            weight = np.where(some, told, mass)
            total = np.maximum(np.bincount(self.zone, weight, self.count), 1e-300)
            mean = (np.bincount(self.zone, weight * u, self.count) / total)[self.zone]
            uneven = told & ~leaves & (np.abs(u - mean) > ALIKE * np.abs(mean))
            for zone in np.unique(self.zone[uneven]):
                there = self.zone == zone
                mean[there] = self._linear(own[there], told[there], c)
            self.mean[own, c] = np.where(leaves, self.carried[own, c], mean)
        self.mean[self._in_zone(~self.moves)] = 0.0

    def _linear(self, own: np.ndarray, told: np.ndarray, c: int) -> np.ndarray:
        """Components of velocities of nodes (k,), as near to those prescribed of them, told (k,), as linear ones can
        be."""
        x, known = self.problem.state.x, own[told]
        return linear(x[known], self.u[known, c], self.problem.h, x[own])

    def _in_zone(self, some: np.ndarray) -> np.ndarray:
        """Whether triples (triples,) are in zones with some of these (triples,) bool."""
        out = some.copy()
        out[self.own] = (np.bincount(self.zone, some[self.own], self.count) > 0)[self.zone]
        return out
