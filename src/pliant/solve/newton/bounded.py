"""Steps of Newton's method whose cost has a bound: as near to the minimum of the potential as it allows.

What makes a converged step long is that it is never known beforehand how many iterations, searches for contacts and
halves it takes. Here all three are fixed. A step ends where its potential is not above that at rest, so with no more
energy than outer forces give it, however little it has converged. Contacts are those foreseen at the start of the step;
they open, close, stick and slide within one solve (kernels.cpu.linalg.descent), and stepping.apart holds back what
would pass through something.
"""

import numpy as np

from pliant.errors import SceneError
from pliant.kernels.matrices import ContactRows, ContactTables
from pliant.rows.softness import BOUNDED_CONTACTS, BOUNDED_SHEETS
from pliant.solve.info import Info
from pliant.solve.newton.assembling import assemble
from pliant.solve.newton.at_hand import load_sheets
from pliant.solve.newton.carried import carried
from pliant.solve.newton.criteria import ROUNDING, StepCriterion
from pliant.solve.newton.foresight import foreseeable
from pliant.solve.newton.increment import Increment
from pliant.solve.newton.minimise import SUFFICIENT, line_search
from pliant.solve.newton.point import Direction, Point
from pliant.solve.newton.primal_system import PrimalSystem
from pliant.solve.newton.sheet_system import SheetSystem
from pliant.solve.newton.solver import NewtonSolver
from pliant.solve.newton.touching import pushed_out
from pliant.solve.newton.trend import Trend
from pliant.solve.options import Bounded, Newton
from pliant.solve.problem import Problem, Solution

# Reach of surfaces, at most, in parts of their edges: contacts are those of one step, not of several.
LONGEST_REACH = 0.05
# How much deeper, in parts of half the thickness, a triangle may be in a solid than its corners without a contact of
# its own: on what is round there would be twice as many contacts, most of which hold what others do.
SPARE = 0.5
# Part of the impulses of contacts in the step before from which those of what moves start: where a step has hardly
# converged they are not in balance, and would push single nodes far out. What rests starts from all of them.
WARM = 0.5
# Part of the present motion up to which the lowest point of the potential along it is where a step begins.
LONGEST_START = 0.8
# Part of a step that ends above rest that is tried, at least, before rest itself.
SHORTEST = 0.2
# Products of a step, if nobody says how many: of sheets alone, whose coarse level has many pieces, and of all else.
PRODUCTS_OF_SHEETS, PRODUCTS = 12, 24
# Part of its slope to which the model of a step is followed.
FORCING = 0.01


class TouchingCriterion(StepCriterion):
    """Of steps that touch, which are never said to have converged: beside their motion without what elements store in
    it, which would take a product."""

    def scale(self, u: np.ndarray) -> float:
        """Twice the kinetic energy [J] of the motion in this step."""
        mass, free = self.potential.mass, self.system.free
        return self.kick + self.square(mass, free * (u - self.before)) + ROUNDING * self.square(mass, u)


class BoundedSolver(NewtonSolver):
    """A few iterations, with contacts as foreseen."""

    name = "bounded"
    bounded, substeps = True, 1  # what passes through something is held back; steps are not halved

    def __init__(self, options: Bounded, model, state):
        super().__init__(Newton(), model, state)
        self.bounds, self.straight, self.settling = options, None, None
        if type(self.system) is PrimalSystem and self.system.iterates:
            self.system = SheetSystem.of(model) or self.system
        if isinstance(self.system, SheetSystem):
            load_sheets(model)
        if model.may_touch:
            model.colliders.longest_reach, model.colliders.spare = LONGEST_REACH, SPARE
        sheets = model.elements.only_sheets
        self.products = options.products or max(PRODUCTS_OF_SHEETS if sheets else PRODUCTS, options.iterations)
        softness = BOUNDED_SHEETS if sheets else BOUNDED_CONTACTS
        self.contacts = softness._replace(shares=self.contacts.shares)

    def _contact_softness(self, problem: Problem):
        return self.contacts

    def _potential(self, problem: Problem) -> Increment:
        potential = super()._potential(problem)
        if isinstance(self.system, SheetSystem):
            potential.elements.keep_less()
        return potential

    def solve(self, problem: Problem) -> Solution:
        """The velocities of a step, impulses, and what it took."""
        potential = self._potential(problem)
        kick = potential.predicted - problem.state.velocity_triples()
        touches = bool(len(problem.rows.contacts))
        kind = TouchingCriterion if touches else StepCriterion
        criterion = kind(potential, self.system, problem.before, kick)
        if not touches:
            start = self._start(potential, self._warm(problem, potential.predicted), above=0.0)
            point, info = self._iterate(potential, start, criterion)
        else:
            point, info = self._touching(potential, criterion)
        info.converged = info.residual <= self.options.tolerance and not touches
        return self._solution(problem, potential, point.u, info)

    def _touching(self, potential: Increment, criterion: StepCriterion) -> tuple[Point, Info]:
        """A step in which something may touch: from velocities as they are or, where outer forces of one step give more
        energy than there is, from rest. (What changed velocities in the step before is not met well enough to be relied
        upon.)"""
        free, before = self.system.free, potential.problem.before
        rows, pins = potential.row_potential, np.where(free == 0, potential.predicted, 0.0)
        rest = self._rest(potential, pins)
        if criterion.square(potential.mass, free * before) <= criterion.kick:
            rows.follow_slip(rest)
            start = self._evaluated(potential, rest, rest)
            potential.energy_at_start = None if np.any(rest) else potential.energy
            return self._iterate(potential, start, criterion, start.value)
        if not np.any(pins):
            rows.impulse *= WARM
        rows.renew()
        rows.follow_slip(before)
        most = potential.value_at_rest(rest, self.known)
        start = potential.along(np.zeros_like(rest), pins + free * before)
        start = self._lowered(potential, self._evaluated(potential, start, rest), rest, most)
        point, info = self._iterate(potential, start, criterion, most)
        return self._not_above(potential, point, rest, most), info

    def _rest(self, potential: Increment, pins: np.ndarray) -> np.ndarray:
        """Velocities (triples, 3) at rest: those prescribed, `pins`, and of what is free none or, where that costs
        less, such that what is prescribed carries it."""
        if not np.any(pins):
            return pins
        along = carried(potential.problem)
        return along if potential.evaluate(along)[0] < potential.evaluate(pins)[0] else pins

    def _evaluated(self, potential: Increment, u: np.ndarray, rest: np.ndarray) -> Point:
        """A start, or rest where it has no finite potential."""
        point = Point(u, *potential.evaluate(u))
        if np.isfinite(point.value) or not np.all(np.isfinite(u)):
            return point
        # pins may move far enough to invert elements
        if u is not rest or potential.tangle_the_infinite():
            return self._evaluated(potential, rest, rest)
        return point

    def _lowered(self, potential: Increment, start: Point, rest: np.ndarray, most: float) -> Point:
        """A start or, where its potential rises from far before it, the point on the way to it from rest, with a
        potential of `most` [J], that is about the lowest: what turns or folds quickly is torn by going straight on, and
        directions from there lead astray."""
        way = start.u - rest
        slope, rise = float(self.system.dot(start.gradient, way)), start.value - most
        share = max((0.5 * slope - rise) / max(slope - rise, 1e-300), 0.0)
        if slope <= 0.0 or share > LONGEST_START:
            return start
        return self._evaluated(potential, rest + share * way, rest)

    def _not_above(self, potential: Increment, point: Point, rest: np.ndarray, most: float) -> Point:
        """The end of a step, or a point on the way to it from rest whose potential is not above that at rest, `most`
        [J]: so the elastic energy after a step is at most all energy before it, however little it has converged."""
        end, share = point.u, 1.0
        while share > 0.0 and not point.value <= most + ROUNDING * abs(most):
            share = 0.5 * share if share > SHORTEST else 0.0
            u = rest + share * (end - rest)
            point = Point(u, *potential.evaluate(u))
        return point

    def _iterate(
        self, potential: Increment, start: Point, criterion: StepCriterion, most: float = -np.inf
    ) -> tuple[Point, Info]:
        """Iterations from a start; those that end out of solids, with a potential of at most so much [J], need no
        search along their directions."""
        info, system, trend = Info(self.name, linear=self.system.linear, converged=False), self.system, Trend()
        point = Point(start.u, start.value - potential.go_on_from(start.u), start.gradient)
        for iteration in range(self.bounds.iterations):
            self._assemble(potential, first=iteration == 0)
            point.gradient = point.gradient * system.free
            found = self._direction(potential, point)
            ahead = self._outside(potential, point, found.direction) if np.isfinite(most) else None
            if ahead is not None and ahead.value <= min(most, point.value + SUFFICIENT * found.slope):
                point, factor = ahead, 1.0
            else:
                point, factor = line_search(potential, system, point, found)
            point.value -= potential.go_on_from(point.u)
            info.iterations += found.products
            info.newton_iterations, info.shortest_step = iteration + 1, min(info.shortest_step, factor)
            left = max(trend.follow(found, factor), trend.least(system, point.gradient))
            info.residual = criterion.residual(point.gradient, left + potential.lag(0.0), criterion.scale(point.u))
            if info.residual <= self.options.tolerance and factor == 1.0:
                break
        return point, info

    def _outside(self, potential: Increment, point: Point, direction: np.ndarray) -> Point:
        """Where a direction leads, with nodes pushed out of solids: contacts are soft, and few products do not harden
        them."""
        ahead = potential.along(point.u, direction)
        ahead = ahead + self.system.free * pushed_out(potential.problem, ahead)
        return Point(ahead, *potential.evaluate(ahead))

    def _assemble(self, potential: Increment, first: bool) -> None:
        """The matrix at what was last evaluated; first: of a step."""
        if not isinstance(self.system, SheetSystem):
            assemble(potential, self.system, exact=False, first=first)
            return
        rows = potential.row_potential
        self.system.take_elements(potential.elements, potential.h)
        potential.assembled = potential.mass
        self.system.assemble(potential.mass, rows.rows, rows.curvature, potential.x if first else None)

    def _direction(self, potential: Increment, point: Point) -> Direction:
        """Newton's direction, with contacts as they respond to it, by so many products."""
        system, gradient = self.system, point.gradient
        budget = max(self.products // self.bounds.iterations, 1)
        size = system.local_norm(gradient)
        if foreseeable(potential):
            direction, products = descend(potential, system, point, FORCING, budget)
        else:
            direction, products = system.solve(-gradient, FORCING, budget)
        slope = float(system.dot(gradient, direction))
        return Direction(direction, slope, size, products, potential.row_potential.impulse[:0])


def descend(
    potential: Increment, system: PrimalSystem, point: Point, tolerance: float, most: int
) -> tuple[np.ndarray, int]:
    """The direction (triples, 3) that minimises, nearly, a quadratic of elements plus what contacts do where it leads,
    and the products it took."""
    rows, pattern, linalg = potential.row_potential, system.pattern, system.device.linalg
    smooth = point.gradient.copy()
    rows.add_impulses(smooth)
    size = max(linalg.sliced.largest(smooth), linalg.sliced.largest(point.gradient), 1e-300)
    right = pattern.pack_free(-smooth, system.free, system.dtype, 1 / size)
    rate = np.empty(rows.target.shape)
    system.device.rows.row_rates(rows.rows.start, rows.rows.triples, rows.rows.jacobian, point.u, rate)
    compliance = np.where(rows.compliance > 0.0, rows.compliance, 1.0)  # lanes without a contact
    tables = ContactTables(rows.target, rate, compliance, rows.rows.friction)
    both = ContactRows(system.rows, system.rows._replace(start=system.rows.start[:1]))
    work, impulse = np.empty((5, *right.shape), system.dtype), np.zeros(rows.target.shape)
    terms = (system.matrix, both, system.packed_free, system.preconditioner, tables, right)
    limits = (size, tolerance, most, system.parallel)
    products = linalg.descent.descend(*terms, *limits, system.x, work, impulse)
    return size * pattern.unpack(system.x), products


def refuse_beyond_bounded(model) -> None:
    """Raise a SceneError for the first thing in a model that needs iterations until it is met."""
    loose = [name for name, static in zip(model.rigid_names, model.static) if not static]
    found = ""
    if model.rods.names:
        found = f"rods, such as {model.rods.names[0]!r}"
    elif model.joint_names:
        found = f"joints, such as {model.joint_names[0]!r}"
    elif model.elements.sets and loose:
        found = f"rigid bodies that move freely, such as {loose[0]!r}, together with soft bodies or sheets"
    elif model.pressures:
        found = "pressure"
    if found:
        raise SceneError(f"pliant.Bounded does not take {found}; use pliant.Newton()")
