"""The mixed variational solver (T algorithm 1, corrected; theory section 6): positions, stretches, rotations in turn.

Outer iterations renew the law's energy, gradient and Hessian at the stretches. Inner ones alternate between rotations
that fit the positions and a global step for the positions, in which the mixed potential with its multipliers and
changes of stretch eliminated is quadratic; joints and contacts are the same rows as in Newton's method. Then stretches
follow. What the iterations converge to is the answer of implicit Euler.
"""

import numpy as np

from pliant.elements.mixed import MixedPotential
from pliant.elements.potential import ElementPotential
from pliant.solve.info import Info
from pliant.solve.mixed_kkt import KktSystem
from pliant.solve.newton.assembling import act_alike, renew_rows, take_stiffness
from pliant.solve.newton.closing import contacts_balanced
from pliant.solve.newton.criteria import LARGEST_IMBALANCE, StaticCriterion, StepCriterion
from pliant.solve.newton.increment import Increment
from pliant.solve.newton.minimise import Point, minimise
from pliant.solve.newton.primal_system import DIRECT_WORK, MOST_TRIPLES
from pliant.solve.newton.solver import NewtonSolver
from pliant.solve.options import Mixed, Newton
from pliant.solve.problem import Problem, Solution
from pliant.solve.residual import implicit_forces, residual

# Part of the residual that global systems leave: where others follow, and where there is only one, relative to the
# tolerance and at least and at most.
FORCING, LEAST_FORCING, LARGEST_FORCING = 0.1, 1e-6, 1e-2
# The part of the residual that iterations on T's KKT system leave, as there.
KKT_TOLERANCE = 1e-7
# The matrix of a global step stays while corrections shrink by this.
SHRINKING = 0.3
# Iterations of a global step with joints and contacts.
MOST_ITERATIONS = 50
# Global steps that may end without having met joints and contacts before the whole step ends so: converging ones have
# none, and all that follow one that leads nowhere would take as long.
MOST_UNMET = 6
# T's penalty of the rotations: at first, and its growth in every inner iteration.
ALPHA, GROWTH = 10.0, 1.5
# Stiffness over mass, in a step of usual length [s], above which sheets need factors.
LARGEST_RATIO, STEP = 1e4, 1 / 60
# Least part of a change of stretch that is tried.
SHORTEST = 1e-3


class MixedSolver(NewtonSolver):
    """Mixed steps; elements of any law, rigid bodies, joints, contacts with friction."""

    name = "mixed"

    def __init__(self, options: Mixed, model, state, direct_work: float = DIRECT_WORK):
        newton = Newton(linear=_linear(options, model), tolerance=options.tolerance)
        super().__init__(newton, model, state, direct_work)
        self.mixed = options
        self.met = True  # whether joints and contacts were, in the last global step,
        self.unmet = 0  # and in how many of this step they were not
        self.elements = MixedPotential(model.elements, model.node_count)
        self.kkt = KktSystem(model, self.elements, self.system.free) if options.system == "kkt" else None
        self.assembled = False  # whether there is a matrix of this step without rows,
        self.coarse = False  # and a coarse level of its preconditioner
        self.law = None  # the elements' potential by their laws, made when it is first asked,
        self.stored = np.nan  # and their energy [J] by these, where they were last asked
        self.expanded = None  # the stretches (point groups, 9, LANES) at which the laws of bodies were expanded
        self.settled = None  # the positions (n, 3) where stretches settled, if they did

    def solve(self, problem: Problem) -> Solution:
        """The velocities of a step, impulses, and what it took; without elements nothing is mixed, and the step is
        Newton's."""
        if not problem.model.elements.sets:
            solution = super().solve(problem)
            solution.info.solver = self.name
            return solution
        potential = self._potential(problem)
        memory = problem.state.memory.get(self.name, {})
        self._take_back(potential, memory)
        self._expand(potential, memory.get("stretch"))
        change = potential.predicted - problem.state.velocity_triples()
        criterion = StepCriterion(potential, self.system, problem.before, change)
        start = potential.predicted + self.system.free * memory.get("change", 0.0)
        start = self._turning_little(problem, start)
        potential.row_potential.follow_slip(start)
        return self._solved(problem, potential, criterion, start)

    def balance(self, problem: Problem, motion: float) -> tuple[Solution, float]:
        """The velocities of a very long step from rest; motion: twice the energy [J] of the largest motion so far,
        which is returned as well."""
        potential = self._potential(problem)
        self._take_back(potential, {})
        self._expand(potential, None)
        self.elements.turn(potential.x, None, foresee=False)
        criterion = StaticCriterion(potential, self.system, problem.before, motion)
        start = self._static_start(potential, problem.prediction.u)
        solution = self._solved(problem, potential, criterion, start)
        return solution, max(motion, criterion.motion)

    def _potential(self, problem: Problem) -> Increment:
        elements = problem.model.elements
        if self.elements.elements is not elements:  # statics take them without damping
            self.elements = MixedPotential(elements, problem.model.node_count)
            self.kkt = self.kkt and KktSystem(problem.model, self.elements, self.system.free)
        return super()._potential(problem)

    def _law_forces(self, potential: Increment, solution: Solution) -> np.ndarray:
        """What elements, by the law itself and not by its expansion, and changes of pressures pull at nodes with (n, 3)
        [N]; `stored` is the elements' energy there."""
        problem, ends = potential.problem, self._ends(potential, solution.u)
        if self.settled is not None and np.array_equal(self.settled, ends):
            found = self.elements.settled_forces(ends)
            self.stored = self.elements.settled_energy
            return potential.with_pressures(found, solution.u)
        if self.law is None or self.law.elements is not problem.model.elements:
            self.law = ElementPotential(problem.model.elements, problem.model.node_count)
        found = implicit_forces(self.law, problem, solution)
        self.stored = self.law.energy
        return potential.with_pressures(found, solution.u)

    def _expand(self, potential: Increment, stretch: np.ndarray | None) -> None:
        """Start from stretches (point groups, 9, LANES), or from those that there are. Those that had settled do so
        again, so that a step that resumes is the same to the last bit."""
        self.assembled = self.coarse = False
        elements, settled, self.settled = self.elements, self.settled, None
        elements.pace(potential.h)
        here = settled is None or np.array_equal(settled, potential.x)
        if stretch is not None and stretch is self.expanded and here and not potential.tangled.any():
            return
        if stretch is not None and elements.settles:
            elements.settle(potential.x)
            if np.array_equal(elements.stretches(), stretch):
                return
        elements.take(stretch, potential.x)
        elements.expand()

    def _take_back(self, potential: Increment, memory: dict[str, np.ndarray]) -> None:
        """Let the system have the elements' stiffness that it had at the end of the last step, if it was one of the
        same length, also where a step resumes or is taken again; `stated` is what it was made of."""
        elements, stated = self.elements, memory.get("stated")
        elements.lasting = False
        if stated is None or float(memory["length"]) != potential.h or potential.tangled.any():
            elements.stated = None
        elif elements.stated is not stated:
            elements.pace(potential.h)
            elements.settle(stated[0])
            elements.turn(stated[1], None, foresee=False)
            self.system.take(potential.element_terms())
            rows = potential.row_potential
            self.system.assemble(potential.blocks(), rows.rows, rows.curvature, stated[0])
            elements.stated, self.expanded, self.settled = stated, None, stated[0]

    def _states(self) -> bool:
        """Whether the stiffness that the system has may serve another step: made where a step began, it can be made
        again."""
        stated = self.elements.stated
        return self.system.iterates and stated is not None and np.array_equal(self.system.places, stated[0])

    def _solved(self, problem: Problem, potential: Increment, criterion: StepCriterion, u: np.ndarray) -> Solution:
        """Outer iterations from velocities u until their corrections are small and forces balance."""
        linear = "kkt" if self.kkt else self.system.linear
        info, self.unmet = Info(self.name, linear=linear, converged=False), 0
        for _ in range(int(self.mixed.outer)):
            info.imbalance = np.nan  # that of the iteration before
            u, first = self._outer(potential, criterion, u, info)
            small = first <= self.mixed.tolerance
            if info.residual > max(first, 1.0):  # corrections grow
                info.straying = np.inf
                break
            if self.unmet >= MOST_UNMET:
                break
            if info.residual <= self.mixed.tolerance and self._balances(potential, criterion, u, info, small):
                info.converged = True
                break
        solution = self._solution(problem, potential, u, info)
        if self.elements.alternates:
            measured = not np.isnan(info.imbalance)
            solution.internal = None if measured else self._law_forces(potential, solution)
            info.energy = self.stored
        stretch = self.elements.stretches()
        solution.memory = {"stretch": stretch, "change": u - problem.prediction.u}
        if self.settled is not None and not potential.tangled.any() and self._states():
            solution.memory |= {"stated": self.elements.stated, "length": np.array(problem.h)}
        self.expanded = None if potential.tangled.any() else stretch
        return solution

    def _outer(
        self, potential: Increment, criterion: StepCriterion, start: np.ndarray, info: Info
    ) -> tuple[np.ndarray, float]:
        """Rotations and positions in turn, then stretches; where the law has no energy at these, a part of the way. And
        the first correction, relative: how far stretches were from their answer before."""
        elements, options, u, first, scale = self.elements, self.mixed, start, None, None
        nothing = np.broadcast_to(0.0, start.shape)
        for k in range(int(options.inner)):
            alpha = ALPHA * GROWTH**k if options.rotation == "procrustes" and info.newton_iterations else None
            age = elements.turn(self._ends(potential, u), alpha, foresee=k > 0)
            if elements.stated is not None and not (k or info.newton_iterations or self.assembled):
                elements.last(age)
            new, correction = self._global(potential, criterion, u, info, age)
            scale = criterion.last_scale(new) if scale is None else scale
            before, info.residual = info.residual, criterion.residual(nothing, correction, scale)
            u, first = new, info.residual if first is None else first
            if info.residual <= options.tolerance or self.unmet >= MOST_UNMET:
                break
            if k and info.residual > SHRINKING * before:
                self.assembled = False
        u = self._touched(potential, criterion, u, info)
        if self.met and first > options.tolerance >= info.residual:
            u = self._balanced(potential, criterion, u, info)
        ends, share = self._ends(potential, u), 1.0
        elements.keep()
        self.settled = ends if elements.settles and options.rotation == "polar" and not self.kkt else None
        if self.settled is not None:
            info.misfit = elements.settle(ends)
            if elements.finite():
                return u, first
            self.settled = None
        while True:
            info.misfit = elements.follow(ends, share)
            elements.expand()
            if elements.finite() or share < SHORTEST:
                info.shortest_step = min(info.shortest_step, share)
                return u if share == 1.0 else start + share * (u - start), first
            share *= 0.5

    def _ends(self, potential: Increment, u: np.ndarray) -> np.ndarray:
        """Positions (n, 3) at the end of a step with velocities u."""
        return potential.x + potential.h * u[: potential.model.node_count]

    def _global(
        self, potential: Increment, criterion: StepCriterion, u: np.ndarray, info: Info, age: float
    ) -> tuple[np.ndarray, float]:
        """The velocities that minimise the quadratic with joints and contacts, so far as these are known, and the
        energy [J] of the correction; age: how far rotations are from those of the last matrix."""
        if potential.row_potential.rows.slices or potential.following or self.elements.elements.on_bodies:
            return self._minimised(potential, criterion, u, info, age)
        if self.kkt:
            return self._kkt_step(potential, u, info)
        value, gradient = potential.evaluate(u)
        if not self.assembled or age > 1.0 or not self.elements.quadratic:
            self._assemble(potential)
        gradient *= self.system.free
        # without rows factors are the whole matrix
        solve = self.system.roughly_solve if self.system.factors is not None else self.system.solve
        change, products = solve(-gradient, self._forcing())
        info.iterations += products
        info.newton_iterations += 1
        new = u + change
        # springs, fibres and folds are not quadratic: where the whole way is too far, Newton's method goes it
        if not self.elements.quadratic and not potential.evaluate(new)[0] <= value + potential.blur:
            return self._minimised(potential, criterion, u, info)
        # conjugate gradients leave a residual that is normal to the change
        return new, -float(self.system.dot(gradient, change))

    def _kkt_step(self, potential: Increment, u: np.ndarray, info: Info) -> tuple[np.ndarray, float]:
        """The same by T's KKT system."""
        _, gradient = potential.evaluate(u)
        change, iterations = self.kkt.solve(potential, u, KKT_TOLERANCE)
        info.iterations += iterations
        info.newton_iterations += 1
        if not self.assembled:  # the measure of corrections is that of the matrix
            self._assemble(potential)
        return u + change, abs(float(self.system.dot(gradient * self.system.free, change)))

    def _forcing(self) -> float:
        """How exactly a global system is solved."""
        if self.mixed.inner > 1 or self.mixed.outer > 1:
            return FORCING
        return min(max(FORCING * self.mixed.tolerance, LEAST_FORCING), LARGEST_FORCING)

    def _assemble(self, potential: Increment) -> None:
        """The matrix of the quadratic, without rows."""
        rows = potential.row_potential
        take_stiffness(potential, self.system)
        potential.assembled = potential.blocks()
        coarse = None if self.coarse else potential.x  # the coarse level of a preconditioner serves a whole step
        self.system.assemble(potential.assembled, rows.rows, rows.curvature, coarse)
        self.assembled = self.coarse = True

    def _minimised(
        self, potential: Increment, criterion: StepCriterion, start: np.ndarray, info: Info, age: float = 0.0
    ) -> tuple[np.ndarray, float]:
        """The same by Newton's method, which finds contacts where the step leads and meets them."""
        keeps = self.elements.quadratic and self.system.iterates
        point, nearly = Point(start, *potential.evaluate(start)), keeps and self.assembled and age <= 1.0
        u, found = minimise(potential, self.system, point, criterion, self.mixed.tolerance, MOST_ITERATIONS, nearly)
        # without rows the matrix is to have none either
        self.assembled = self.coarse = keeps and potential.row_potential.rows.slices > 0
        info.iterations += found.iterations
        info.newton_iterations += found.newton_iterations
        info.unsettled, self.met, self.unmet = found.unsettled, found.converged, self.unmet + (not found.converged)
        if self.met and not self.elements.alternates:
            return u, 0.0
        return u, self.system.quadratic(self.system.free * (u - start))

    def _touched(self, potential: Increment, criterion: StepCriterion, u: np.ndarray, info: Info) -> np.ndarray:
        """Velocities u (triples, 3), or those that meet what was not in contact and would be where they lead."""
        if potential.row_potential.rows.slices or not criterion.touches:
            return u
        potential.touch(u, 0.0, np.zeros_like(u))
        if potential.clear and not potential.row_potential.rows.slices:
            self.met = True
            return u
        return self._minimised(potential, criterion, u, info)[0]

    def _balanced(self, potential: Increment, criterion: StepCriterion, u: np.ndarray, info: Info) -> np.ndarray:
        """Velocities u (triples, 3), or those in better balance with contacts: what has come a long way in a step, as
        on impact, has converged only where that is within the tolerance (`_balances`)."""
        rows = potential.row_potential
        if not criterion.estimates or rows.joints.slices or potential.following or rows.rolling or not rows.rows.slices:
            return u
        point = Point(u, *potential.evaluate(u))
        if not act_alike(self.system, rows.rows):  # other contacts were found at the end of the global step
            renew_rows(potential, self.system)
        return contacts_balanced(potential, self.system, criterion, point, info, self.mixed.tolerance).u

    def _balances(self, potential: Increment, criterion: StepCriterion, u: np.ndarray, info: Info, small: bool) -> bool:
        """Whether a step is in balance by the law itself, where corrections were small from the first on, and the more
        so where they were not; of a static problem that is looked at after it."""
        if not criterion.estimates or not self.met:
            return small and self.met
        solution = potential.solution(u, info)
        if self.elements.alternates:
            solution.internal = self._law_forces(potential, solution)
        info.imbalance = residual(potential.problem, solution, "implicit")
        return info.imbalance <= (LARGEST_IMBALANCE if small else self.mixed.tolerance)


def _linear(options: Mixed, model) -> str:
    """How linear systems are solved: those of sheets that float32 iterations are too coarse for by factors."""
    if options.linear != "auto" or not any(own.kind.stretches == "sheets" for own in model.elements.sets):
        return options.linear
    ratio = STEP**2 * float((model.node_stiffness / model.node_mass).max(initial=0.0))
    return "cholesky" if ratio > LARGEST_RATIO and model.triple_count <= MOST_TRIPLES else "auto"
