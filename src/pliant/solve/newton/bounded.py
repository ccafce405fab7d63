"""Steps of Newton's method whose cost has a bound: as near to the minimum of the potential as it allows.

What makes a converged step long is that it is never known beforehand how many iterations, searches for contacts and
halves it takes. Here all three are fixed. A step starts where its potential is not above that at rest (`_start`), and
each line search lowers it further, so that it ends with no more energy than outer forces give it, however little it
has converged. Contacts are those foreseen at the start of the step, harder than where iterations can renew their
impulses often; stepping.apart holds back what would pass through something.
"""

import numpy as np

from pliant.errors import SceneError
from pliant.rows.softness import BOUNDED_CONTACTS
from pliant.solve.info import Info
from pliant.solve.newton.criteria import StepCriterion
from pliant.solve.newton.foresight import foresee_contacts, foreseeable
from pliant.solve.newton.increment import Increment
from pliant.solve.newton.minimise import assemble, line_search
from pliant.solve.newton.point import Direction, Point
from pliant.solve.newton.solver import NewtonSolver
from pliant.solve.newton.trend import Trend
from pliant.solve.options import Bounded, Newton
from pliant.solve.problem import Problem, Solution

# Parts of a residual to which linear systems are solved, and of the products of an iteration that the first of them
# takes at most; the others, once contacts have responded, take this part of all.
FORCING, FIRST_PART, LATER_PART = 0.1, 0.5, 0.2


class BoundedSolver(NewtonSolver):
    """A few iterations, with contacts as foreseen."""

    name = "bounded"
    bounded, substeps = True, 1  # what passes through something is held back; steps are not halved

    def __init__(self, options: Bounded, model, state):
        super().__init__(Newton(), model, state)
        self.bounds, self.straight, self.settling = options, None, None
        self.contacts = BOUNDED_CONTACTS._replace(shares=self.contacts.shares)

    def _contact_softness(self, problem: Problem):
        return self.contacts

    def _warm(self, problem: Problem, predicted: np.ndarray) -> np.ndarray:
        """Where iterations begin: where something may touch, with velocities as they are. What changed them in the step
        before is not met well enough to be relied upon, and a start that is refused costs an evaluation."""
        if not len(problem.rows.contacts):
            return super()._warm(problem, predicted)
        return np.where(self.system.free == 0, predicted, problem.before)

    def solve(self, problem: Problem) -> Solution:
        """The velocities of a step, impulses, and what it took."""
        potential = self._potential(problem)
        start = self._warm(problem, potential.predicted)
        kick = potential.predicted - problem.state.velocity_triples()
        criterion = StepCriterion(potential, self.system, problem.before, kick)
        u, info = self._iterate(potential, self._start(potential, start, above=0.0), criterion)
        info.converged = info.residual <= self.options.tolerance and not len(problem.rows.contacts)
        return self._solution(problem, potential, u, info)

    def _iterate(self, potential: Increment, start: Point, criterion: StepCriterion) -> tuple[np.ndarray, Info]:
        info, system, trend = Info(self.name, linear=self.system.linear, converged=False), self.system, Trend()
        point = Point(start.u, start.value - potential.go_on_from(start.u), start.gradient)
        for iteration in range(self.bounds.iterations):
            assemble(potential, system, exact=False, first=iteration == 0)
            point.gradient = point.gradient * system.free
            found = self._direction(potential, point)
            point, factor = line_search(potential, system, point, found)
            point.value -= potential.go_on_from(point.u)
            info.iterations += found.products
            info.newton_iterations, info.shortest_step = iteration + 1, min(info.shortest_step, factor)
            left = max(trend.follow(found, factor), trend.least(system, point.gradient))
            info.residual = criterion.residual(point.gradient, left + potential.lag(0.0), criterion.scale(point.u))
            if info.residual <= self.options.tolerance and factor == 1.0:
                break
        return point.u, info

    def _direction(self, potential: Increment, point: Point) -> Direction:
        """Newton's direction, with contacts as they respond to it, by so many products."""
        system, gradient = self.system, point.gradient
        budget = max(self.bounds.products // self.bounds.iterations, 1)
        size, left = system.local_norm(gradient), budget
        direction, products = system.solve(-gradient, FORCING, max(int(FIRST_PART * budget), 1))
        slope = float(system.dot(gradient, direction))
        if foreseeable(potential) and slope < 0.0:
            left = budget - products

            def solve(right: np.ndarray):
                nonlocal left
                most = min(max(int(LATER_PART * budget), 1), left)
                if most < 1:
                    return None, 0
                found, taken = system.solve(right, FORCING, most)
                left -= taken
                return found, taken

            direction, more = foresee_contacts(potential, system, point, direction, size, np.inf, solve)
            products, slope = products + more, float(system.dot(point.gradient, direction))
        return Direction(direction, slope, size, products, potential.row_potential.impulse[:0])


def refuse_beyond_bounded(model) -> None:
    """Raise a SceneError for the first thing in a model that needs iterations until it is met."""
    loose = [name for name, static in zip(model.rigid_names, model.static) if not static]
    found = ""
    if not model.elements.sets:
        found = "scenes without a soft body or a sheet"
    elif model.rods.names:
        found = f"rods, such as {model.rods.names[0]!r}"
    elif model.joint_names:
        found = f"joints, such as {model.joint_names[0]!r}"
    elif loose:
        found = f"rigid bodies that move freely, such as {loose[0]!r}"
    elif model.pressures:
        found = "pressure"
    if found:
        raise SceneError(f"pliant.Bounded does not take {found}; use pliant.Newton()")
