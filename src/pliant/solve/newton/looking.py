"""Looks at where steps of bounded cost of rigid bodies lead: what meets on its way, and what touches at its end.

Where the velocities of a few bodies change, only pairs with these are looked at again.
"""

from dataclasses import dataclass

import numpy as np

from pliant.collide.contacts import Contacts, joined, no_contacts, of_solids
from pliant.collide.detect import detect
from pliant.rows.contacts import deepest_between
from pliant.solve.newton.landing import landing
from pliant.solve.newton.touching import shares_before_meeting
from pliant.solve.problem import Problem

# How deep, in parts of the size of what touches, things may end in each other that began less deep; and in parts of the
# depth of their cores, whose ways are followed.
SUNK, OF_CORES = 0.1, 0.9
# Part of the bodies from which on all pairs are looked at again.
MANY = 0.3


@dataclass
class Look:
    """What is found where velocities u and what pushes apart (triples, 3) lead: contacts, and the parts (b,) of their
    ways that bodies may go before they meet something.

    whole: contacts of a look at all pairs, among which those with bodies that have `changed` (b,) bool since are
    replaced by others, `anew`.
    """

    problem: Problem
    u: np.ndarray
    push: np.ndarray
    whole: Contacts
    share: np.ndarray
    changed: np.ndarray
    anew: Contacts

    @staticmethod
    def of(problem: Problem, u: np.ndarray, push: np.ndarray) -> "Look":
        """At all pairs."""
        found = detect(problem.model, landing(problem, u, push), problem.h)
        share = shares_before_meeting(problem, u + push)[::2]
        return Look(problem, u, push, found, share, np.zeros(len(share), bool), no_contacts())

    @property
    def way(self) -> np.ndarray:
        """Velocities (triples, 3) with which everything moves."""
        return self.u + self.push

    def again(self, u: np.ndarray, push: np.ndarray) -> "Look":
        """At where other velocities (triples, 3) lead."""
        problem, colliders = self.problem, self.problem.model.colliders
        other = np.any(((u != self.u) | (push != self.push)).reshape(-1, 6), axis=1) | self.met
        changed = self.changed | other
        if changed.sum() > MANY * len(changed):
            return Look.of(problem, u, push)
        with colliders.only(other):
            anew = colliders.contacts_of_some(landing(problem, u, push), problem.h)
            share = shares_before_meeting(problem, u + push)[::2]
        kept = self.anew.these(~self.anew.with_some(other))
        return Look(problem, u, push, self.whole, share, changed, joined([kept, anew]))

    def remember(self) -> None:
        """Let the next step begin with what was found here."""
        if self.changed.any():
            found = joined([self.whole.these(~self.whole.with_some(self.changed)), self.anew])
            self.problem.model.colliders.remember(landing(self.problem, self.u, self.push), self.problem.h, found)

    @property
    def met(self) -> np.ndarray:
        """Bodies (b,) that meet something on their way."""
        return self.share < 1.0

    def found(self, bodies: np.ndarray) -> Contacts:
        """Contacts with some bodies (b,) bool."""
        near = [each.with_some(bodies) for each in (self.whole, self.anew)]
        near[0] &= ~self.whole.with_some(self.changed)
        return joined([each.these(which) for each, which in zip((self.whole, self.anew), near)])

    def deep(self, part: float) -> tuple[Contacts, np.ndarray]:
        """Contacts that are deeper than a part of the most and than their two bodies were in each other at the start,
        and these most (k,) [m]."""
        found = []
        for each in (self.whole, self.anew):
            deep = np.flatnonzero(each.gap < -part * (most := self._most(each)))
            if each is self.whole:
                deep = deep[~self.changed[each.body[deep]].any(axis=1)]
            if len(deep):
                deep = deep[each.gap[deep] < deepest_between(self.problem.started, each.these(deep))]
            found.append((each.these(deep), most[deep]))
        (first, some), (second, more) = found
        return joined([first, second]), np.concatenate([some, more])

    def _most(self, found: Contacts) -> np.ndarray:
        """Depths (k,) [m] that contacts may have, however deep they were; planes have no cores, and between two
        surfaces there is no more than their thickness."""
        colliders = self.problem.model.colliders
        solids, meshed = colliders.solids, colliders.meshed
        depth = np.append(np.where(np.isinf(solids.radius), np.inf, solids.depth), np.inf)
        cores = depth[found.body[:, 0]] + depth[found.body[:, 1]]
        if meshed is not None:
            thick = np.zeros(len(depth))
            thick[meshed.mesh_body] = meshed.radius
            cores = np.where(of_solids(found.key), cores, thick[found.body[:, 0]] + thick[found.body[:, 1]])
        return np.minimum(SUNK * colliders.size_of(found), OF_CORES * cores)
