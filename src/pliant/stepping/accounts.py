"""Energies of things in a step: what they have where it begins, and what they move with and store where it leads."""

from functools import cached_property

import numpy as np

from pliant.elements.potential import ElementPotential
from pliant.rows.contacts import allowed_gaps
from pliant.solve.coupled import things_of_nodes
from pliant.solve.problem import Problem
from pliant.stepping.spins import spin_energies


class Accounts:
    """Energies (t,) [J] of the things of a step, soft bodies and then rigid ones."""

    def __init__(self, problem: Problem, tangled: np.ndarray):
        """tangled (soft,): times [s] for which bodies go on being pulled back after the step."""
        self.problem, self.things, self.tangled = problem, things_of_nodes(problem.model), tangled
        self.last, self.elastic = None, None  # the velocities whose store was asked for last, and elastic forces there

    @cached_property
    def potential(self) -> ElementPotential:
        """The elements', as one step sees them."""
        return ElementPotential.of(self.problem.model.elements, self.problem.state)

    @cached_property
    def had(self) -> np.ndarray:
        """What is stored where the step begins."""
        state = self.problem.state
        self.potential.take_plastic(state.plastic_strain)
        self.potential.take_laws(state.tangled)
        self.last = None
        return self._stored(state.x)

    def budget(self, u: np.ndarray) -> np.ndarray:
        """What things have, of motion and elastic, and outer forces give them while they go as velocities u (triples,
        3) say: what is stopped has not fallen."""
        model, state, predicted = self.problem.model, self.problem.state, self.problem.prediction.u
        start, softs = state.velocity_triples(), len(model.soft_names)
        out = self.had + self.of_momenta(0.5 * start, start) + self.of_momenta(predicted - start, u)
        spins = spin_energies(model, state.body_rotation, state.body_angular_velocity)
        if model.body_torques:
            turn = np.ascontiguousarray(predicted[model.node_count + 1 :: 2])
            spins = np.maximum(spins, spin_energies(model, state.body_rotation, turn))
        out[softs:] += spins
        return out

    def recovering(self) -> np.ndarray:
        """What it takes to move things as fast as contacts push out those that begin inside others and to lift them by
        that, and as much again, for what is pushed from one side is pressed together."""
        model, h, contacts = self.problem.model, self.problem.h, self.problem.rows.contacts
        speed = np.zeros(len(model.soft_names) + model.body_count)
        fastest = (allowed_gaps(contacts, h) - contacts.gap) / h
        np.maximum.at(speed, contacts.thing, np.maximum(fastest, 0.0)[:, None])
        upward = np.zeros((len(model.free_triples), 3))
        upward[:, 2] = 1.0
        return self.of_momenta(upward, upward) * speed * (speed + 2.0 * h * model.acceleration_bound)

    def moving(self, u: np.ndarray) -> np.ndarray:
        """What things move with at velocities u (triples, 3)."""
        model, out = self.problem.model, self.of_momenta(0.5 * u, u)
        turn = np.ascontiguousarray(u[model.node_count + 1 :: 2])
        out[len(model.soft_names) :] += spin_energies(model, self.problem.state.body_rotation, turn)
        return out

    def stored(self, u: np.ndarray) -> np.ndarray:
        """What soft bodies store where velocities u (triples, 3) lead."""
        problem, n = self.problem, self.problem.model.node_count
        self.potential.take_plastic(problem.rows.elements.plastic)
        self.potential.take_laws(self.tangled)
        self.last = u
        return self._stored(problem.state.x + problem.h * u[:n])

    def forces(self, u: np.ndarray) -> np.ndarray | None:
        """Forces (n, 3) [N] of elements, of nodes alone, where velocities u (triples, 3) lead, with the sign of a
        gradient; None if that is not where the store was asked for last."""
        problem, n, potential = self.problem, self.problem.model.node_count, self.potential
        if u is not self.last or potential.count != n or self.elastic is None:
            return None
        if not potential.elements.damped:
            return self.elastic
        potential.take_frames(problem.state.x, problem.rows.elements.rotation)
        return self.elastic + potential.viscous(np.ascontiguousarray(u[:n]))

    def energy(self, u: np.ndarray) -> float:
        """What all together store where velocities u (triples, 3) lead; no number if that is not where it was asked
        for last."""
        return self.potential.energy if u is self.last else np.nan

    def _stored(self, x: np.ndarray) -> np.ndarray:
        """What soft bodies with nodes at x (n, 3) store; rigid ones store nothing."""
        model, potential = self.problem.model, self.potential
        out = np.zeros(len(model.soft_names) + model.body_count)
        if potential.count:
            self.elastic = potential.evaluate(x)[2]
            out[: len(model.soft_names)] = potential.body_energies()
        return out

    def of_momenta(self, change: np.ndarray, u: np.ndarray) -> np.ndarray:
        """What the momenta of velocities `change` come to with velocities u (triples, 3) of what moves freely, without
        spins."""
        model, free = self.problem.model, self.problem.model.free_triples
        momentum = model.device.linalg.triples.multiply_diagonal(self.problem.mass, free * change)
        momentum *= u  # which is none where nothing is free
        energy, n = momentum[:, 0] + momentum[:, 1] + momentum[:, 2], model.node_count
        return np.concatenate([np.bincount(self.things, energy[:n], len(model.soft_names)), energy[n::2]])
