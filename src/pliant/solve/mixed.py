"""The mixed variational solver (T algorithm 1, corrected; theory section 6): positions, stretches, rotations in turn.

Outer iterations renew the law's energy, gradient and Hessian at the stretches. Inner ones alternate between rotations
that fit the positions and a global step for the positions, in which the mixed potential with its multipliers and
changes of stretch eliminated is quadratic; joints and contacts are the same rows as in Newton's method. Then stretches
follow. What the iterations converge to is the answer of implicit Euler.
"""

import numpy as np

from pliant.elements.mixed import MixedPotential
from pliant.solve.info import Info
from pliant.solve.newton.criteria import LARGEST_IMBALANCE, StaticCriterion, StepCriterion
from pliant.solve.newton.increment import Increment
from pliant.solve.newton.minimise import Point, minimise
from pliant.solve.newton.primal_system import DIRECT_WORK
from pliant.solve.newton.solver import NewtonSolver
from pliant.solve.options import Mixed, Newton
from pliant.solve.problem import Problem, Solution
from pliant.solve.residual import residual

# Part of the residual to which global systems are solved, relative to the tolerance, and its bounds.
FORCING, LEAST_FORCING, LARGEST_FORCING = 0.1, 1e-6, 1e-2
# Iterations of a global step with joints and contacts.
MOST_ITERATIONS = 50
# T's penalty of the rotations: at first, and its growth in every inner iteration.
ALPHA, GROWTH = 10.0, 1.5
# Least part of a change of stretch that is tried.
SHORTEST = 1e-3


class MixedSolver(NewtonSolver):
    """Mixed steps; elements of any law, rigid bodies, joints, contacts with friction."""

    name = "mixed"

    def __init__(self, options: Mixed, model, state, direct_work: float = DIRECT_WORK):
        super().__init__(Newton(linear=options.linear), model, state, direct_work)
        self.mixed = options
        self.met = True  # whether joints and contacts were, in the last global step
        self.elements = MixedPotential(model.elements, model.node_count)

    def solve(self, problem: Problem) -> Solution:
        """The velocities of a step, impulses, and what it took."""
        potential = self._potential(problem)
        self._expand(potential, problem.state.memory.get(self.name, {}).get("stretch"))
        change = potential.predicted - problem.state.velocity_triples()
        criterion = StepCriterion(potential, self.system, problem.before, change)
        return self._solved(problem, potential, criterion, potential.predicted)

    def balance(self, problem: Problem, motion: float) -> tuple[Solution, float]:
        """The velocities of a very long step from rest; motion: twice the energy [J] of the largest motion so far,
        which is returned as well."""
        potential = self._potential(problem)
        self._expand(potential, None)
        self.elements.turn(potential.x, None)
        criterion = StaticCriterion(potential, self.system, problem.before, motion)
        start = self._static_start(potential, problem.prediction.u)
        solution = self._solved(problem, potential, criterion, start)
        return solution, max(motion, criterion.motion)

    def _potential(self, problem: Problem) -> Increment:
        elements = problem.model.elements
        if self.elements.elements is not elements:  # statics take them without damping
            self.elements = MixedPotential(elements, problem.model.node_count)
        return super()._potential(problem)

    def _expand(self, potential: Increment, stretch: np.ndarray | None) -> None:
        """Start from stretches (point groups, 9, LANES), or from those that there are."""
        self.elements.take(stretch, potential.x)
        self.elements.expand()

    def _solved(self, problem: Problem, potential: Increment, criterion: StepCriterion, u: np.ndarray) -> Solution:
        """Outer iterations from velocities u until their corrections are small and forces balance."""
        info = Info(self.name, linear=self.system.linear, converged=False)
        for _ in range(int(self.mixed.outer)):
            u, first = self._outer(potential, criterion, u, info)
            small = first <= self.mixed.tolerance
            if info.residual <= self.mixed.tolerance and self._balances(potential, criterion, u, info, small):
                info.converged = True
                break
        solution = self._solution(problem, potential, u, info)
        solution.internal = None  # the law is asked, not its expansion
        solution.memory = {"stretch": self.elements.stretches()}
        return solution

    def _outer(
        self, potential: Increment, criterion: StepCriterion, start: np.ndarray, info: Info
    ) -> tuple[np.ndarray, float]:
        """Rotations and positions in turn, then stretches; where the law has no energy at these, a part of the way. And
        the first correction, relative: how far stretches were from their answer before."""
        elements, options, u, first = self.elements, self.mixed, start, None
        for k in range(int(options.inner)):
            alpha = ALPHA * GROWTH**k if options.rotation == "procrustes" and info.newton_iterations else None
            elements.turn(self._ends(potential, u), alpha)
            new = self._global(potential, criterion, u, info)
            scale, change = criterion.scale(new), self.system.free * (new - u)
            correction = self.system.quadratic(change)
            u, info.residual = new, criterion.residual(np.zeros_like(new), correction, scale)
            first = info.residual if first is None else first
            if info.residual <= options.tolerance:
                break
        u = self._touched(potential, criterion, u, info)
        before, share = elements.stretches(), 1.0
        while True:
            info.misfit = elements.follow(self._ends(potential, u), share)
            elements.expand()
            if elements.finite() or share < SHORTEST:
                info.shortest_step = min(info.shortest_step, share)
                return start + share * (u - start), first
            share *= 0.5
            elements.take(before, potential.x)

    def _ends(self, potential: Increment, u: np.ndarray) -> np.ndarray:
        """Positions (n, 3) at the end of a step with velocities u."""
        return potential.x + potential.h * u[: potential.model.node_count]

    def _global(self, potential: Increment, criterion: StepCriterion, u: np.ndarray, info: Info) -> np.ndarray:
        """The velocities that minimise the quadratic with joints and contacts, so far as these are known."""
        if potential.row_potential.rows.slices:
            return self._minimised(potential, criterion, u, info)
        _, gradient = potential.evaluate(u)
        self.system.take(potential.element_terms())
        potential.assembled = potential.blocks()
        rows, first = potential.row_potential, info.newton_iterations == 0
        self.system.assemble(potential.assembled, rows.rows, rows.curvature, potential.x if first else None)
        forcing = min(max(FORCING * self.mixed.tolerance, LEAST_FORCING), LARGEST_FORCING)
        change, products = self.system.solve(-gradient * self.system.free, forcing)
        info.iterations += products
        info.newton_iterations += 1
        return u + change

    def _minimised(self, potential: Increment, criterion: StepCriterion, u: np.ndarray, info: Info) -> np.ndarray:
        """The same by Newton's method, which finds contacts where the step leads and meets them."""
        point = Point(u, *potential.evaluate(u))
        u, found = minimise(potential, self.system, point, criterion, self.mixed.tolerance, MOST_ITERATIONS)
        info.iterations += found.iterations
        info.newton_iterations += found.newton_iterations
        info.unsettled, self.met = found.unsettled, found.converged
        return u

    def _touched(self, potential: Increment, criterion: StepCriterion, u: np.ndarray, info: Info) -> np.ndarray:
        """Velocities u (triples, 3), or those that meet what was not in contact and would be where they lead."""
        if potential.row_potential.rows.slices or not criterion.touches:
            return u
        potential.touch(u, *potential.evaluate(u))
        if potential.clear and not potential.row_potential.rows.slices:
            self.met = True
            return u
        return self._minimised(potential, criterion, u, info)

    def _balances(self, potential: Increment, criterion: StepCriterion, u: np.ndarray, info: Info, small: bool) -> bool:
        """Whether a step is in balance by the law itself, where corrections were small from the first on, and the more
        so where they were not; of a static problem that is looked at after it."""
        if not criterion.estimates or not self.met:
            return small and self.met
        solution = potential.solution(u, info)
        solution.internal = None
        info.imbalance = residual(potential.problem, solution, "implicit")
        return info.imbalance <= (LARGEST_IMBALANCE if small else self.mixed.tolerance)
