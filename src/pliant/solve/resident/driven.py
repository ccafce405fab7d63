"""Newton's method of the host with elements and linear systems on a device: for scenes with contacts, rigid bodies,
joints or pressures. The steps are the host's own, so what these promise holds here."""

from dataclasses import dataclass, replace

import numpy as np

from pliant.elements.potential import ElementPotential
from pliant.model.state import State
from pliant.rows.softness import contact_shares, joint_softness
from pliant.solve.newton.solver import NewtonSolver
from pliant.solve.newton.turning import Turning
from pliant.solve.options import Newton
from pliant.solve.problem import Problem, Solution
from pliant.solve.resident import data
from pliant.solve.resident.system import DrivenSystem


class DrivenElements:
    """What `ElementPotential` is on the host, evaluated on a device."""

    start = bodies = frames = None
    quadratic = lasting = False  # its stiffness is that of where it was last evaluated

    def __init__(self, model, program):
        self.model, self.program, self.elements = model, program, model.elements
        self.count = self.node_count = model.node_count
        self.plastic, self.seen, self.inverted_then = None, None, 0
        self.tangled = None  # times left to bodies (soft,), if any has one

    def take_plastic(self, plastic: np.ndarray) -> None:
        """See rest gradients from the plastic shape (point groups, 6, LANES)."""
        if self.elements.plastic and self.plastic is not plastic:
            self.program.upload_plastic(*data.plastic_data(self.model, plastic))
        self.plastic = plastic

    def take_frames(self, x: np.ndarray, rotation) -> None:
        """Let damping act in the frames at x (n, 3), which the device finds itself."""
        self.program.take_frames(x)

    def take_frames_ahead(self, x: np.ndarray, position: np.ndarray, rotation: np.ndarray) -> None:
        """The same; no element holds on to bodies at a position and rotation."""
        self.program.take_frames(x)

    def take_bodies(self, state) -> None:
        """No element holds on to rigid bodies."""

    def foresee(self, motion: np.ndarray) -> None:
        """As above."""

    def take_laws(self, tangled: np.ndarray | None) -> None:
        """Let bodies with a time left in tangled (soft,) follow mu |F - R|^2."""
        tangled = None if tangled is None or not np.any(tangled > 0) else tangled
        if tangled is not None:
            self.program.pull_back(*data.pulled_data(self.model, tangled))
        elif self.tangled is not None:
            self.program.pull_back(*([None] * len(sets(self.model)) for sets in (data.tet_sets, data.other_sets)))
        self.tangled = tangled

    def evaluate(self, x: np.ndarray, v: np.ndarray | None = None) -> tuple[float, float, np.ndarray]:
        """Energy [J], half of the viscous power [W], and their forces (n, 3) [N] with the sign of a gradient, at
        positions x and velocities v (n, 3)."""
        energy, power, inverted, force = self.program.evaluate(x, np.zeros_like(x) if v is None else v)
        self.seen, self.inverted_then = x, inverted
        return energy, power, force

    def _on_host(self) -> ElementPotential:
        potential = ElementPotential(self.elements, self.node_count)
        potential.take_plastic(self.plastic)
        potential.take_laws(self.tangled)
        return potential

    def inverted(self, x: np.ndarray) -> np.ndarray:
        """How many elements of every soft body (soft,) are inverted at positions x (n, 3)."""
        if self.seen is None or not np.array_equal(self.seen, x):
            self.evaluate(x)
        if self.inverted_then == 0:
            return np.zeros(len(self.elements.cells), np.int64)
        return self._on_host().inverted(x)

    def body_energies(self) -> np.ndarray:
        """Elastic energy (soft,) [J] of every soft body as last evaluated."""
        potential = self._on_host()
        potential.evaluate(self.seen)
        return potential.body_energies()

    def terms(self, weight: float, damping: float = 0.0, project: bool = True) -> list:
        """What `DrivenSystem.take` must know of the stiffness of all sets."""
        return [project]


@dataclass
class _Flow:
    """Element rows of a step of which only the plastic strain is known on the host."""

    plastic: np.ndarray
    rotation: None = None


class DrivenNewton(NewtonSolver):
    """Newton's method with rows on the host, elements and linear systems on a device."""

    def __init__(self, options: Newton, model, state: State):
        self.options, kernels = options, model.device.resident
        self.program = data.make_program(kernels, kernels.driven.Driven, model, within_shared=False)
        self._begin_with(model, self.program)

    def _begin_with(self, model, program) -> None:
        self.system, self.known, self.straight = DrivenSystem(model, program), None, None
        self.softness, self.turning = joint_softness(model, self.system.dtype), Turning(model)
        self.contacts = self.system.contact_softness._replace(shares=contact_shares(model))
        self.elements = DrivenElements(model, program)

    def solve(self, problem: Problem) -> Solution:
        """The velocities of an implicit step, impulses, and what it took."""
        flow = _Flow(problem.rows.elements.plastic)
        self.program.begin(problem.state.x, problem.h)
        return super().solve(problem.with_rows(replace(problem.rows, elements=flow)))

    def view(self, state: State):
        """Positions and velocities of a state on the device, for other libraries."""
        self.program.upload(xt=state.x, u=state.v)
        return self.program.view("xt", "u")
