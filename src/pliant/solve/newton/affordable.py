"""What energy rigid bodies that touch may have after a step of bounded cost: what they had, and what outer forces do on
their way."""

import numpy as np

from pliant.model.state import State
from pliant.solve.coupled import given_by_contacts, touching
from pliant.solve.newton.touching import moved
from pliant.solve.problem import Problem

# Energy that is rounding, relative to what there is and what outer forces would give from rest.
ROUNDING = 1e-9
# What bodies that were not foreseen to touch anything may have more: a free body that turns far in a step has its
# energy but for what is lost in directions.
EXCESS = 1.01


class Budget:
    """The energies (groups,) [J] of groups of bodies that touch, by the contacts foreseen at the start of a step."""

    def __init__(self, problem: Problem):
        model, state = problem.model, problem.state
        self.static, self.mass, self.started = model.static, problem.mass[::2], problem.started
        contacts = problem.started
        self.groups = touching(model, contacts, np.arange(model.body_count))
        self.count = int(self.groups.max(initial=-1)) + 1
        self.bound = given_by_contacts(problem, contacts, self.groups)
        # what is met on the way alone is not foreseen: unless something moves as it is told, nobody gives energy
        touched = np.bincount(self.groups[contacts.body.clip(min=0)].ravel(), minlength=self.count) > 0
        if not np.any((1.0 - model.free_triples) * problem.prediction.u):
            self.bound = self.bound | ~touched[self.groups]
        self.spare = np.where(touched, 1.0, EXCESS)
        before, mass, predicted = state.velocity_triples(), problem.mass, problem.prediction.u
        spin = spin_energies(model, state)
        if model.body_torques:
            spin = np.maximum(spin, 0.5 * _twice(mass[1::2], predicted[1::2]))
        self.had = self._of_groups(0.5 * _twice(mass[::2], before[::2]) + spin)
        self.kick = (predicted - before)[::2]
        self.given = self._of_groups(_twice(mass[::2], self.kick))

    @staticmethod
    def of(problem: Problem) -> "Budget":
        """That of a step, made once."""
        known = problem.prediction.__dict__.get("_budget")
        if known is None or known.started is not problem.started:
            known = problem.prediction.__dict__["_budget"] = Budget(problem)
        return known

    def parts(self, problem: Problem, u: np.ndarray) -> np.ndarray:
        """The parts (b,) of velocities u (triples, 3) that leave the groups of bodies no more energy than they may
        have."""
        moving = self._linear(u) + 2.0 * self._of_groups(spin_energies(problem.model, moved(problem, u)))
        work = self._work(u)
        if not np.any(gains := 0.5 * moving - work > self.spare * self.had + self._rounding(moving, work)):
            return np.ones(len(self.groups))
        root = np.sqrt(work * work + 2.0 * moving * self.had)
        part = np.where(gains, (work + root) / np.maximum(moving, 1e-300), 1.0)
        return np.where(self.bound, part[self.groups], 1.0)

    def calmed(self, model, u: np.ndarray, new: State) -> State:
        """The state where velocities u (triples, 3) lead, with spins cut down to the energy that is left for them:
        angular momentum, whose impulses act where the step begins, may carry more at the orientation where it ends."""
        spins, moving, work = self._of_groups(spin_energies(model, new)), self._linear(u), self._work(u)
        most = np.maximum(self.had + work - 0.5 * moving, 0.0)
        fast = spins > self.spare * most + self._rounding(moving + 2.0 * spins, work)
        if not fast.any():
            return new
        part = np.where(fast, np.sqrt(most / np.where(fast, spins, 1.0)), 1.0)
        part = np.where(self.bound & ~self.static, part[self.groups], 1.0)
        return new.changed(body_angular_velocity=part[:, None] * new.body_angular_velocity)

    def _linear(self, u: np.ndarray) -> np.ndarray:
        """Twice the energies (groups,) [J] of linear motion."""
        return self._of_groups(_twice(self.mass, u[::2]))

    def _work(self, u: np.ndarray) -> np.ndarray:
        """What outer forces do (groups,) [J] on the way that velocities u (triples, 3) lead."""
        return self._of_groups(np.einsum("ki,kij,kj->k", self.kick, self.mass, u[::2]))

    def _rounding(self, moving: np.ndarray, work: np.ndarray) -> np.ndarray:
        return ROUNDING * (moving + np.abs(work) + self.had + self.given)

    def _of_groups(self, values: np.ndarray) -> np.ndarray:
        """The sums (groups,) of values (b,) of bodies that move freely."""
        return np.bincount(self.groups, np.where(self.static, 0.0, values), self.count)


def spin_energies(model, state: State) -> np.ndarray:
    """Energies (b,) [J] of the spins of a state; none of static bodies."""
    out = np.empty(model.body_count)
    spin = (state.body_rotation, state.body_angular_velocity)
    model.device.rigid.spin_energies(model.body_inertia, model.static, *spin, out)
    return out


def _twice(mass: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Twice the energies (b,) [J] of motion, by masses (b, 3, 3) and velocities (b, 3)."""
    return np.einsum("ki,kij,kj->k", u, mass, u)
