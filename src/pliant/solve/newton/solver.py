"""Newton's method for time steps and static balances: where it starts, and what it keeps."""

import numpy as np

from pliant.elements.potential import ElementPotential
from pliant.elements.tangles import warn_of_tangles
from pliant.errors import SceneError
from pliant.rows import joints as joint_rows
from pliant.rows.softness import contact_shares, contact_softness, joint_softness, step_softness
from pliant.solve.info import Info
from pliant.solve.newton.assembling import assemble
from pliant.solve.newton.at_hand import load_contacts
from pliant.solve.newton.criteria import ROUNDING, StaticCriterion, StepCriterion
from pliant.solve.newton.dense_system import DenseSystem
from pliant.solve.newton.factored_system import FactoredSystem
from pliant.solve.newton.increment import Increment
from pliant.solve.newton.matrix_free import MatrixFreeSystem
from pliant.solve.newton.minimise import Point, minimise
from pliant.solve.newton.primal_system import DIRECT_WORK, PrimalSystem
from pliant.solve.newton.settling import Settling
from pliant.solve.newton.straight import Straight
from pliant.solve.newton.turning import Turning
from pliant.solve.options import Newton
from pliant.solve.problem import Problem, Solution

# Least part of the warm start that is tried before a start from rest; and by what part of the square of the tolerance,
# of the energy that outer forces give, a warm start lies above rest where nothing between the two is worth a try.
SHORTEST_START, ABOVE_REST = 0.1, 0.1
# By what part of the last change of velocity it may differ from the one before for both to tell of the next.
STEADILY = 0.5
# Iterations after which bodies at rest whose impulses are known from the step before mostly are done, or take many.
QUICKLY = 2
# The most [rad] that a start may turn a body beyond its present motion: a weld that is a full turn off fits as well.
LARGEST_TURN = 0.5


class NewtonSolver:
    """Minimises the incremental potential; elements of any law, rigid bodies, joints, contacts with friction."""

    name, equations = "newton", "implicit"
    linear_rows = False
    settling: Settling | None = None  # where steps may settle by sweeps alone
    few = False  # whether bodies are so few that one matrix holds all of them

    def __init__(self, options: Newton, model, state, direct_work: float = DIRECT_WORK):
        self.options = options
        if options.integrator == "bdf2" and model.elements.plastic:  # creep is a step of first order
            raise SceneError("pliant.Newton(integrator='bdf2') does not take plasticity; use integrator='euler'")
        self.system = _system(options.linear, model, state, direct_work)
        self.softness = joint_softness(model, self.system.dtype)
        self.contacts = self.system.contact_softness._replace(shares=contact_shares(model))
        self.elements = ElementPotential(model.elements, model.node_count)
        self.turning = Turning(model)
        fits = options.linear in ("auto", "cholesky") and Straight.fits(model)
        self.straight = Straight(model, state, self.system, options.tolerance) if fits else None
        self.few = isinstance(self.system, DenseSystem)
        self.settling = Settling(model, options.tolerance, self.few) if Settling.fits(model) else None
        # where the last step ended, with what elastic energy [J]: it need not be evaluated again
        self.known = None
        load_contacts(model)

    def solve(self, problem: Problem) -> Solution:
        """The velocities of an implicit step, impulses, and what it took."""
        if self.straight:
            solution = self.straight.solve(problem, self._warm(problem, problem.prediction.u))
            if solution is not None:
                return solution
        found = self._quickly(problem)
        if found and found.info.converged:
            return found
        if self.settling and (solution := self._settled(problem)) is not None:
            solution.info.newton_iterations += found.info.newton_iterations if found else 0
            return solution
        return self._iterated(problem, int(self.options.max_iterations))

    def _quickly(self, problem: Problem) -> Solution | None:
        """What few iterations find where few bodies rest: they meet contacts exactly, which stacks need, or would be
        many, as they are where bodies move, which are stepped by sweeps."""
        settling = self.settling
        if not (self.few and settling and settling.takes(problem) and settling.rests(problem)):
            return None
        most = QUICKLY if len(problem.state.impulses.contact_key) else self.system.patience - 1
        return self._iterated(problem, min(most, int(self.options.max_iterations)))

    def _settled(self, problem: Problem) -> Solution | None:
        """The step by sweeps over contacts alone, if they settle it."""
        return self.settling.solve(problem, self._warm(problem, problem.prediction.u))

    def _iterated(self, problem: Problem, most: int) -> Solution:
        """The step by at most so many iterations of Newton's method."""
        potential = self._potential(problem)
        start = self._foreseen(problem, potential.predicted)
        kick = potential.predicted - problem.state.velocity_triples()
        criterion = StepCriterion(potential, self.system, problem.before, kick)
        solution = self._solution(problem, potential, *self._minimise(potential, start, criterion, most))
        if self._elements_alone(problem) and (before := self._memory(problem).get("change")) is not None:
            solution.memory["before"] = before
        return solution

    def balance(self, problem: Problem, motion: float) -> tuple[Solution, float]:
        """The velocities of a very long step from rest; motion: twice the energy [J] of the largest motion so far,
        which is returned as well."""
        potential = self._potential(problem)
        criterion = StaticCriterion(potential, self.system, problem.before, motion)
        start, most = self._static_start(potential, problem.prediction.u), int(self.options.max_iterations)
        solution = self._solution(problem, potential, *self._minimise(potential, start, criterion, most))
        return solution, max(motion, criterion.motion)

    def pivots_below_zero(self, problem: Problem) -> int:
        """How many pivots of the stiffness as it is, at the start of a step without rows, are negative; none are known
        where it is not factorised."""
        potential = self._potential(problem)
        potential.evaluate(np.zeros_like(problem.prediction.u))
        assemble(potential, self.system, exact=True, first=True)
        return self.system.factors.negative_pivots(self.system.preconditioner.factor) if self.system.bare else 0

    def _memory(self, problem: Problem) -> dict[str, np.ndarray]:
        """What was kept of the steps before: the last change of velocity beyond what outer forces alone do, and the one
        before that, where there were no rows."""
        return problem.state.memory.get(self.name, {})

    def _foreseen(self, problem: Problem, predicted: np.ndarray) -> np.ndarray:
        """Where iterations begin: as `_warm`, but where there are elements alone, and the last two changes of velocity
        differ by little, as if they went on to."""
        kept, square = self._memory(problem), problem.model.device.linalg.triples.quadratic_diagonal
        if "before" not in kept or not self._elements_alone(problem):
            return self._warm(problem, predicted)
        change, more = kept["change"], kept["change"] - kept["before"]
        if not square(problem.mass, more) <= STEADILY**2 * square(problem.mass, change):
            return self._warm(problem, predicted)
        return predicted + self.system.free * (change + more)

    def _elements_alone(self, problem: Problem) -> bool:
        """Whether there are elements, and neither rows nor rods, whose lengths are nearly such."""
        elements = problem.model.elements
        return bool(elements.sets) and not (elements.on_bodies or problem.rows.table.slices)

    def _warm(self, problem: Problem, predicted: np.ndarray) -> np.ndarray:
        """Where iterations begin: what outer forces alone do, changed as in the step before."""
        change = self._memory(problem).get("change")
        return self._turning_little(problem, predicted if change is None else predicted + self.system.free * change)

    def _turning_little(self, problem: Problem, start: np.ndarray) -> np.ndarray:
        """The start, or a velocity on the way to it that turns no body by much more than its present one does."""
        if not len(problem.model.joints.family):
            return start
        n, now = problem.model.node_count, problem.before
        more = problem.h * float(np.abs((start - now)[n + 1 :: 2]).max(initial=0.0))
        return (
            start
            if more <= LARGEST_TURN
            else np.where(self.system.free == 0, start, now + LARGEST_TURN / more * (start - now))
        )

    def _potential(self, problem: Problem) -> Increment:
        elements = problem.model.elements
        if self.elements.elements is not elements:  # statics take them without damping
            self.elements = ElementPotential(elements, problem.model.node_count)
        joints = step_softness(problem.model, self.softness, self.system.dtype, problem.h)
        contacts = self._contact_softness(problem)
        return Increment(problem, self.elements, self.system.free, joints, contacts, self.turning)

    def _contact_softness(self, problem: Problem):
        """How soft contacts are in a step."""
        return contact_softness(problem.model, problem.h, self.contacts)

    def _minimise(self, potential: Increment, start: np.ndarray, criterion, most: int) -> tuple[np.ndarray, Info]:
        tolerance = self.options.tolerance
        start = self._start(potential, start, ABOVE_REST * tolerance**2 * criterion.kick)
        return minimise(potential, self.system, start, criterion, tolerance, most)

    def _solution(self, problem: Problem, potential: Increment, u: np.ndarray, info: Info) -> Solution:
        """What was found, with the report completed."""
        model, table, rows = problem.model, problem.rows.table, potential.row_potential
        solution = potential.solution(u, info)
        self.known = potential.end(u)
        info.energy = potential.energy if model.elements.sets else np.nan
        warn_of_tangles(model, problem.state, potential.tangled)
        info.tangled = [name for name, left in zip(model.soft_names, potential.tangled.tolist()) if left > 0]
        info.rows = int(model.device.table.count_rows(table.start, table.jacobian)) if table.slices else 0
        if rows.joints.slices:
            taken = _joint_torque(potential, u, solution.impulses)
            solution.late_torque = rows.joints.late_torque(solution.impulses[: rows.joints.slices], taken)
        if model.elements.on_bodies:
            late = 0.0 if solution.late_torque is None else solution.late_torque
            solution.late_torque = late + potential.rod_torque(potential.elastic)
        solution.memory = {"change": u - problem.prediction.u}
        return solution

    def _static_start(self, potential: Increment, predicted: np.ndarray) -> np.ndarray:
        """Velocities at which prescribed motions reach into the bodies as far as a linear answer takes them."""
        u = np.where(self.system.free == 0, predicted, 0.0)
        if not np.any(u):
            return u
        _, held = potential.evaluate(np.zeros_like(u))
        little = 1e-6 * float(np.abs(potential.x).max(initial=1.0)) / (potential.h * float(np.abs(u).max()))
        _, moved = potential.evaluate(little * u)
        potential.evaluate(np.zeros_like(u))
        self.system.take(potential.element_terms())
        rows = potential.row_potential
        self.system.assemble(potential.blocks(), rows.rows, rows.curvature, potential.x)
        answer, _ = self.system.solve(-self.system.free * (moved - held) / little, 1e-3)
        return u + answer

    def _start(self, potential: Increment, u: np.ndarray, above: float) -> Point:
        """The warm start, or the nearest velocity on the way from rest to it whose potential is not above rest's; where
        it is by no more than `above` [J], rest.

        So the elastic energy after a step is at most all energy before it, however wrong the guess. Gaps of joints do
        not count: iterations begin with closing them.
        """
        potential.row_potential.follow_slip(u)
        rest, share = np.where(self.system.free == 0, u, 0.0), 1.0
        guess = u = potential.along(np.zeros_like(u), u)
        most = potential.value_at_rest(rest, self.known)
        point = Point(guess, *potential.evaluate(guess))
        value = point.value - potential.joint_energy
        while share > 0.0 and not (np.isfinite(value) and value <= most + ROUNDING * abs(most)):
            share = 0.25 * share if share > SHORTEST_START and not value <= most + above else 0.0
            u = rest + share * (guess - rest)
            point = Point(u, *potential.evaluate(u))
            value = point.value - potential.joint_energy
        # pins may move far enough to invert elements
        if not np.isfinite(value) and np.all(np.isfinite(u)) and potential.tangle_the_infinite():
            return self._start(potential, guess, above)
        return point


def _joint_torque(potential: Increment, u: np.ndarray, impulse: np.ndarray) -> np.ndarray:
    """Torques (b, 3) [N m s] of joints by what bodies turn at u, less those of rods, and of contacts by impulses
    (slices, 3, LANES)."""
    kernels, n = potential.device, potential.model.node_count
    found = kernels.linalg.triples.multiply_diagonal(potential.mass, u - potential.predicted)
    rows, first = potential.problem.rows.table, potential.row_potential.joints.slices
    if rows.slices > first:
        own = rows.between(first, rows.slices)
        kernels.rows.add_row_impulses(own.start, own.triples, own.jacobian, -impulse[first:], found)
    if potential.elements.count > n:
        found[: potential.elements.count] += potential.h * potential.elastic
    return found[n + 1 :: 2]


def _system(linear: str, model, state, direct_work: float):
    """The linear system that fits a model and the choice of the user."""
    if linear == "auto" and DenseSystem.fits(model):
        return DenseSystem(model)
    if linear == "matrix-free":
        return MatrixFreeSystem(model)
    if linear in ("auto", "cholesky") and FactoredSystem.fits(model):
        return FactoredSystem(model, joint_rows.structure(model.joints, state))
    return PrimalSystem(model, joint_rows.structure(model.joints, state), linear, direct_work)
