"""What energy bodies that touch may have after a step: what they had, and what outer forces do on their way."""

import numpy as np

from pliant.solve.newton.landing import spin_energies
from pliant.solve.problem import Problem
from pliant.stepping.coupled import given_by_contacts, touching

# Energy that is rounding, relative to what there is and what outer forces would give from rest.
ROUNDING = 1e-9


class Budget:
    """The energies (groups,) [J] of groups of bodies that touch."""

    def __init__(self, problem: Problem):
        """problem: with the contacts by which it was solved."""
        self.problem, model = problem, problem.model
        contacts = problem.rows.contacts
        self.groups = touching(model, contacts, np.arange(model.body_count))
        self.count = int(self.groups.max(initial=-1)) + 1
        self.bound = given_by_contacts(problem, contacts, self.groups)
        before, mass = problem.before, problem.mass
        predicted = problem.prediction.u
        spin = np.maximum(_twice(mass[1::2], predicted[1::2]), 2.0 * spin_energies(model, problem.state))
        self.had = self._of_groups(0.5 * (_twice(mass[::2], before[::2]) + spin))
        self.kick = (predicted - problem.state.velocity_triples())[::2]
        self.given = self._of_groups(_twice(mass[::2], self.kick))

    def parts(self, u: np.ndarray) -> np.ndarray:
        """The parts (b,) of velocities u (triples, 3) that leave the groups of bodies no more energy than they may
        have."""
        mass = self.problem.mass
        moving = self._of_groups(_twice(mass[::2], u[::2]) + _twice(mass[1::2], u[1::2]))
        work = self._of_groups(np.einsum("ki,kij,kj->k", self.kick, mass[::2], u[::2]))
        rounding = ROUNDING * (moving + np.abs(work) + self.had + self.given)
        gains = 0.5 * moving - work > self.had + rounding
        if not gains.any():
            return np.ones(len(self.groups))
        root = np.sqrt(work * work + 2.0 * moving * self.had)
        part = np.where(gains, (work + root) / np.maximum(moving, 1e-300), 1.0)
        return np.where(self.bound, part[self.groups], 1.0)

    def _of_groups(self, values: np.ndarray) -> np.ndarray:
        """The sums (groups,) of values (b,) of bodies that move freely."""
        return np.bincount(self.groups, np.where(self.problem.model.static, 0.0, values), self.count)


def _twice(mass: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Twice the energies (b,) [J] of motion, by masses (b, 3, 3) and velocities (b, 3)."""
    return np.einsum("ki,kij,kj->k", u, mass, u)
