"""Linear elasticity with a constant matrix (C 2.4; theory section 5): factorised once for a length of the time step.

(M + h C + h^2 K) u = M (v + h g) + h f - h K (x - X), C = alpha M + beta K. Solved for the change from u*, the velocity
without elements, for the matrix is as exact as its largest numbers, which of a stiff body are far above its mass.
Joints and contacts are rows on its inverse.
"""

import numpy as np

from pliant.elements.potential import ElementPotential
from pliant.linalg.constant import FACTORS, assemble, eliminate
from pliant.rows.table import Rows
from pliant.solve.dual.row_solver import RowSolver
from pliant.solve.info import Info
from pliant.solve.options import Linear
from pliant.solve.problem import Problem, Solution


class LinearSolver:
    """One linear system a step; `options.factor` says how it is solved."""

    name, equations = "linear", "warped"
    linear_rows = True

    def __init__(self, options: Linear, model):
        self.options, self.h = options, None
        self.matrices = [ElementMatrices(own, model) for own in model.elements.sets]
        self.elements = ElementPotential(model.elements, model.node_count)
        self.rows = RowSolver(options.tolerance, model)
        # what consistent mass gives more than lumped mass
        self.extra_mass = None
        if options.mass == "consistent":
            parts = [(own.nodes, _times_identity(own.consistent - own.lumped)) for own in self.matrices]
            self.extra_mass = assemble(model.node_count, parts)

    def _prepare(self, model, h: float) -> None:
        """Matrix and factors for steps of length h."""
        options = self.options
        parts = [(own.nodes, own.blocks(h, options.mass == "consistent")) for own in self.matrices]
        matrix = assemble(model.node_count, parts)
        arguments = {"parts": parts, "free": model.free, "tolerance": options.tolerance}
        restricted = eliminate(matrix, model.free)
        self.factors, self.h = FACTORS[options.factor](model.device, restricted, **arguments), h
        diagonal = restricted.diagonal().reshape(-1, 3)
        self.mobility = np.concatenate([model.free / diagonal, np.zeros_like(diagonal)], axis=1)

    def solve(self, problem: Problem) -> Solution:
        """The new velocity triples, impulses, and what it took."""
        model, prediction, rows, h = problem.model, problem.prediction, problem.rows, problem.h
        if h != self.h:
            self._prepare(model, h)
        n, u = model.node_count, prediction.u.copy()
        right = self._right_hand_side(problem)
        change, iterations = self.factors.solve(right)
        u[:n] += change
        info = Info(f"linear {self.options.factor}", iterations, linear=self.options.factor)
        if not rows.table.slices:
            return self._balanced(problem, Solution(u, np.zeros(rows.table.target.shape), info))
        estimate, factor = self._estimate(problem), self.factors.factor
        change, impulse, rows_info = self.rows.solve_rows(problem, rows.table, u, estimate, factor, model.free)
        rows_info.solver, rows_info.linear = info.solver, info.linear
        return self._balanced(problem, Solution(u + change, impulse, rows_info))

    def _balanced(self, problem: Problem, solution: Solution) -> Solution:
        """The solution with the forces in which consistent mass differs from lumped mass counted as internal."""
        if self.extra_mass is not None:
            model, state, h, n = problem.model, problem.state, problem.h, problem.model.node_count
            u = solution.u[:n]
            speed = (1 + h * model.node_mass_damping)[:, None] * u - state.v - h * model.gravity
            inertia = (self.extra_mass @ speed.ravel()).reshape(-1, 3)
            solution.internal = (self.elements.warped_step(problem.rows.elements, u, h) + inertia) / h
        return solution

    def _right_hand_side(self, problem: Problem) -> np.ndarray:
        """M (v + h g) + h f - h K (x - X) - (M + h C + h^2 K) u* (n, 3), free components.

        The mass is lumped in u*, so of inertia only what consistent mass gives more remains.
        """
        model, state, prediction, rows, h = problem.model, problem.state, problem.prediction, problem.rows, problem.h
        n = model.node_count
        u = prediction.u[:n]
        right = -self.elements.warped_step(rows.elements, u, h)
        if self.extra_mass is not None:
            dragged = (1 + h * model.node_mass_damping)[:, None] * u
            right += (self.extra_mass @ (state.v + h * model.gravity - dragged).ravel()).reshape(-1, 3)
        return right * model.free

    def close_gaps(self, problem: Problem, state, rows: Rows) -> tuple[np.ndarray, int]:
        """Velocities (triples, 3) with which the rows of joints reach their targets, and products it took; elements
        resist as in the step."""
        return self.rows.close_gaps(problem, rows, self._estimate(problem), self.factors.factor, problem.model.free)

    def _estimate(self, problem: Problem) -> np.ndarray:
        """Inverse masses (triples, 6), of nodes with the stiffness around them."""
        estimate = problem.prediction.inverse_mass.copy()
        estimate[: problem.model.node_count] = self.mobility
        return estimate


class ElementMatrices:
    """Constant matrices of a set of m elements with w nodes (m, w): stiffness (m, w, w, 3, 3) [N/m], lumped and
    consistent mass (m, w, w, 1, 1) [kg]; alpha [1/s], beta [s] (m, 1, 1, 1, 1)."""

    def __init__(self, elements, model):
        self.nodes = elements.connectivity
        lam, mu, volume = (
            elements.point_values(values[:, None])[:, :, 0][:, :, None, None, None, None]
            for values in (elements.lam, elements.mu, elements.volume)
        )
        gradients, axes = elements.element_gradients, np.eye(3)
        # lam a b^T + mu b a^T + mu (a.b) I, as formulas.elements.stiffness_block, summed over the points
        self.stiffness = 0.0
        for point in range(gradients.shape[1]):
            outer = np.einsum("mir,mjc->mijrc", gradients[:, point], gradients[:, point])
            trace = np.einsum("mijrr->mij", outer)[..., None, None] * axes
            block = lam[:, point] * outer + mu[:, point] * (outer.swapaxes(3, 4) + trace)
            self.stiffness = self.stiffness + volume[:, point] * block
        lumped = elements.lumped_mass(model.rest)
        self.lumped = (lumped[:, :, None] * np.eye(lumped.shape[1]))[..., None, None]
        self.consistent = elements.consistent_mass(model.rest)[..., None, None]
        self.beta = elements.element_damping[:, None, None, None, None]
        self.alpha = model.node_mass_damping[self.nodes[:, 0]][:, None, None, None, None]

    def blocks(self, h: float, consistent: bool) -> np.ndarray:
        """M (1 + h alpha) + h (h + beta) K of every element (m, w, w, 3, 3)."""
        mass = (self.consistent if consistent else self.lumped) * (1 + h * self.alpha)
        return _times_identity(mass) + h * (h + self.beta) * self.stiffness


def _times_identity(numbers: np.ndarray) -> np.ndarray:
    """Blocks (m, w, w, 3, 3): every number times the unit matrix."""
    return numbers * np.eye(3)
