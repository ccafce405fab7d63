"""Newton's method on the incremental potential of a step (S 4.4): projected Hessian, line search, warm start."""

import numpy as np

from pliant.elements.potential import ElementPotential
from pliant.elements.tangles import warn_of_tangles
from pliant.errors import SceneError
from pliant.kernels.cpu.linalg.triples import dot, quadratic_diagonal
from pliant.kernels.cpu.table import count_rows
from pliant.rows import joints as joint_rows
from pliant.rows.table import Rows
from pliant.solve.dual.gaps import close_joint_gaps
from pliant.solve.info import Info
from pliant.solve.newton.dense_system import DenseSystem
from pliant.solve.newton.following import solve_following
from pliant.solve.newton.increment import Increment
from pliant.solve.newton.matrix_free import MatrixFreeSystem
from pliant.solve.newton.primal_system import DIRECT_WORK, PrimalSystem
from pliant.solve.newton.relinearise import relinearise
from pliant.solve.options import Newton
from pliant.solve.problem import Problem, Solution, StepRows

# Armijo's constant, and the rounding of the potential relative to its parts.
SUFFICIENT, ROUNDING = 1e-4, 1e-13
# Least part of the warm start that is tried before a start from rest.
SHORTEST_START = 0.1
# Trials of a line search, and the slope at its end, relative to that at its start, that counts as overshooting.
MOST_TRIALS, OVERSHOOT = 30, 0.3
# Residual below which the Hessian is taken as it is.
NEAR = 0.1
# Forces out of balance, relative to the largest, at which no static solve has converged.
BALANCED = 1e-3
# What lags behind is renewed once the square of the correction is below this part of the lag.
RENEW = 1.0
# Most times that joints are filled anew within a step.
MOST_RENEWALS = 10
# How far they may still move a step: its tolerance, or ten times that if it is less than this. Every solve is only as
# good as its tolerance, and what is left of the joints' gaps is of the order of the square.
SETTLED = 1e-3
# Part of the residual to which the first linear system of a step is solved, and the bounds of later ones.
FIRST_FORCING, LARGEST_FORCING, SMALLEST_FORCING = 0.05, 0.1, 1e-5


class NewtonSolver:
    """Minimises the incremental potential; elements of any law, rigid bodies, joints, contacts with friction."""

    name = "newton"

    def __init__(self, options: Newton, model, state, direct_work: float = DIRECT_WORK):
        self.options, self.dtype = options, np.dtype(np.float64)
        if options.integrator == "bdf2":
            _refuse_bdf2(model)
        self.system = _system(options.linear, model, state, direct_work)
        self.elements = ElementPotential(model.elements, model.node_count)
        # a static solve starts from rest and measures its corrections by the motion so far [J]
        self.static, self.motion = False, 0.0
        # whether joints are met at the end of a step, as second order needs, or to first order
        self.meets_joints = options.integrator == "bdf2"
        # where the last step ended, with what elastic energy [J]: it need not be evaluated again
        self.known = None

    def solve(self, problem: Problem) -> Solution:
        """The new velocity triples, impulses, and what it took."""
        model, state, prediction, rows = problem.model, problem.state, problem.prediction, problem.rows
        free = self.system.free
        if self.elements.elements is not model.elements:  # statics take them without damping
            self.elements = ElementPotential(model.elements, model.node_count)
        increment = Increment(problem, self.elements, free)
        if self.static:
            u, kick = self._static_start(increment, prediction.u), self.motion
        else:
            change = state.memory.get(self.name, {}).get("change")
            u = prediction.u if change is None else prediction.u + free * change
            kick = quadratic_diagonal(increment.mass, free * (prediction.u - state.velocity_triples()))
        u, info = self.minimise(increment, u, state.velocity_triples(), kick)
        if self.meets_joints and len(model.joints.family):
            u, info = self._meet_joints(increment, state, rows, u, info, kick)
        self.known = increment.end(u)
        warn_of_tangles(model, state, increment.tangled)
        info.tangled = [name for name, left in zip(model.soft_names, increment.tangled) if left > 0]
        info.rows = int(count_rows(rows.table.start, rows.table.jacobian))
        memory, impulse = {"change": u - prediction.u}, increment.row_potential.impulse
        return Solution(u, impulse, info, memory, tangled=increment.tangled)

    def _meet_joints(self, increment: Increment, state, rows: StepRows, u: np.ndarray, info: Info, kick: float):
        """Solve again with the joints' rows at the end of the step until that moves no more: velocities and info."""
        before, free, mass = state.velocity_triples(), self.system.free, increment.mass
        settled = max(self.options.tolerance, min(10 * self.options.tolerance, SETTLED))
        for _ in range(MOST_RENEWALS):
            impulse = increment.row_potential.impulse
            stiffness = relinearise(increment.model, state, rows, u, impulse[: rows.joint_slices], increment.h)
            increment.take_rows(rows, impulse)
            increment.lean_on(u, stiffness)
            new, again = self.minimise(increment, u, before, kick)
            again.iterations += info.iterations
            again.newton_iterations += info.newton_iterations
            moved, scale = (quadratic_diagonal(mass, free * (new - old)) for old in (u, before))
            u, info = new, again
            if moved <= settled**2 * (scale + kick) + ROUNDING * quadratic_diagonal(mass, u):
                return u, info
        info.settled = False
        info.converged &= self.static  # statics repeat their steps until nothing moves
        return u, info

    def minimise(self, increment: Increment, u: np.ndarray, before: np.ndarray, kick: float) -> tuple[np.ndarray, Info]:
        """Newton iterations from u; before: the velocity at the start of the step; kick: twice the kinetic energy [J]
        that external forces alone would give."""
        system, free, options = self.system, self.system.free, self.options
        u, value, gradient = self._start(increment, u)
        value -= increment.go_on_from(u)
        info = Info("newton", linear=system.linear, converged=False)
        last, rounding = None, increment.rounding()
        for iteration in range(int(options.max_iterations)):
            gradient = gradient * free
            forcing = FIRST_FORCING if last is None else None
            exact = info.residual < NEAR if iteration else False
            direction, products, size, slope = self._direction(increment, gradient, iteration, forcing, last, exact)
            info.iterations += products
            info.newton_iterations = iteration + 1
            start = (increment, u, value, gradient)
            u, value, gradient, factor = self._line_search(*start, direction, slope, size)
            if factor == 0.0 and increment.following:  # where pressures lead nowhere, downhill without their stiffness
                direction, more = system.solve(-start[3], FIRST_FORCING)
                slope = float(dot(start[3], direction))
                info.iterations += more
                u, value, gradient, factor = self._line_search(*start, direction, slope, size)
            motion = system.quadratic(free * u) - quadratic_diagonal(increment.mass, free * u)
            scale = kick + motion
            scale += quadratic_diagonal(increment.mass, free * (u - before)) + ROUNDING * quadratic_diagonal(
                increment.mass, u
            )
            info.shortest_step = min(info.shortest_step, factor)
            value -= increment.go_on_from(u)
            lag = increment.lag()
            correction, failed = abs(slope) + lag, not np.isfinite(value) or (products == 0 and size != 0)
            if correction <= rounding and not failed:
                info.residual = 0.0
            else:  # from a standstill, the first correction is all of the motion
                info.residual = float(np.sqrt(correction / scale)) if scale > 0 and not failed else 1.0
            # what is small beside a motion that ran away is not small
            if self.static and 0.0 < info.residual <= options.tolerance:
                imbalance = increment.imbalance(gradient)
                info.residual = imbalance if imbalance > BALANCED else info.residual
            if info.residual <= options.tolerance:
                info.converged = True
                break
            last = size
            if lag > 0.0 and abs(slope) <= RENEW * (lag + options.tolerance**2 * scale):
                increment.renew()
                value, gradient = increment.evaluate(u)
                last = None
        self.motion = max(self.motion, motion) if self.static else 0.0
        return u, info

    def _direction(self, increment: Increment, gradient, iteration: int, forcing, last, exact: bool):
        """Newton's direction, products it took, the gradient's size, and the slope along the direction.

        exact: near the answer the Hessian is taken as it is, which converges faster; should it turn out not to be
        positive there, as in compression, it is projected after all.
        """
        system, potential = self.system, increment.row_potential
        system.take(increment.element_terms(not exact))
        x = increment.x if iteration == 0 else None
        system.assemble(increment.mass, potential.rows, potential.curvature, x)
        size = system.local_norm(gradient)
        if forcing is None:
            forcing = _clip(0.9 * (size / last) ** 2) if last > 0.0 else FIRST_FORCING
        if increment.following:
            direction, products = solve_following(system, increment.following, -gradient, forcing)
        else:
            direction, products = system.solve(-gradient, forcing)
        slope = float(dot(gradient, direction))
        if exact and (system.indefinite or not (slope < 0.0 or increment.following)):
            again, more, size, slope = self._direction(increment, gradient, iteration, forcing, last, False)
            return again, products + more, size, slope
        return direction, products, size, slope

    def _line_search(self, increment: Increment, u, value: float, gradient, direction, slope: float, size: float):
        """A step that lowers the potential enough (Armijo) and does not overshoot by much: u, value, gradient, step.

        Halving finds the first; where the potential rises steeply at the end of a step, the zero of the slope between
        is taken instead, which is near the lowest point (the potential of contacts has kinks). Following pressures
        have no potential: with them it also counts when the gradient's size is halved.
        """
        factor, allowance, best = 1.0, 100 * ROUNDING * (abs(value) + abs(slope)), None
        for _ in range(MOST_TRIALS):
            trial = u + factor * direction
            new, new_gradient = increment.evaluate(trial)
            finite = np.isfinite(new)
            if increment.following and finite and self.system.local_norm(self.system.free * new_gradient) <= 0.5 * size:
                return trial, new, new_gradient, factor
            if finite and slope < 0.0 and new <= value + SUFFICIENT * factor * slope + allowance:
                end = float(dot(increment.free * new_gradient, direction))
                if best is not None and new > best[1]:
                    break
                best = trial, new, new_gradient, factor
                if end <= OVERSHOOT * abs(slope):
                    return best
                factor *= min(max(slope / (slope - end), 0.1), 0.9)
            else:
                factor *= 0.5 if finite else 0.25
        if best is None:
            value, gradient = increment.evaluate(u)
            return u, value, gradient, 0.0
        value, gradient = increment.evaluate(best[0])
        return best[0], value, gradient, best[3]

    def _static_start(self, increment: Increment, predicted: np.ndarray) -> np.ndarray:
        """Velocities at which prescribed motions reach into the bodies as far as a linear answer takes them."""
        u = np.where(self.system.free == 0, predicted, 0.0)
        if not np.any(u):
            return u
        _, held = increment.evaluate(np.zeros_like(u))
        little = 1e-6 * float(np.abs(increment.x).max(initial=1.0)) / (increment.h * float(np.abs(u).max()))
        _, moved = increment.evaluate(little * u)
        increment.evaluate(np.zeros_like(u))
        self.system.take(increment.element_terms())
        potential = increment.row_potential
        self.system.assemble(increment.mass, potential.rows, potential.curvature, increment.x)
        answer, _ = self.system.solve(-self.system.free * (moved - held) / little, 1e-3)
        return u + answer

    def _start(self, increment: Increment, u: np.ndarray) -> tuple[np.ndarray, float, np.ndarray]:
        """The warm start, or the nearest velocity on the way from rest to it whose potential is not above rest's.

        So the elastic energy after a step is at most all energy before it, however wrong the guess.
        """
        increment.row_potential.follow_slip(u)
        guess, rest, share = u, np.where(self.system.free == 0, u, 0.0), 1.0
        most = increment.value_at_rest(rest, self.known)
        value, gradient = increment.evaluate(guess)
        while share > 0.0 and not (np.isfinite(value) and value <= most + ROUNDING * abs(most)):
            share = 0.5 * share if share > SHORTEST_START else 0.0
            u = rest + share * (guess - rest)
            value, gradient = increment.evaluate(u)
        # pins may move far enough to invert elements
        if not np.isfinite(value) and np.all(np.isfinite(u)) and increment.tangle_the_infinite():
            return self._start(increment, guess)
        return u, value, gradient

    def close_gaps(self, model, rows: Rows, inverse_mass) -> tuple[np.ndarray, int]:
        """Displacement of the triples (n + 2 b, 3) that closes the gaps -target of rigid joints, and the products it
        took."""
        return close_joint_gaps(model, rows, inverse_mass, self.dtype)


def _system(linear: str, model, state, direct_work: float):
    """The linear system that fits a model and the choice of the user."""
    if linear == "auto" and DenseSystem.fits(model):
        return DenseSystem(model)
    if linear == "matrix-free":
        return MatrixFreeSystem(model)
    joints = Rows.empty(model.joints.start)
    joint_rows.fill(model.joints, joints, state.x, state.body_position, state.body_rotation, 1.0)
    return PrimalSystem(model, joints, linear, direct_work)


def _clip(forcing: float) -> float:
    return min(max(forcing, SMALLEST_FORCING), LARGEST_FORCING)


def _refuse_bdf2(model) -> None:
    """Creep is a step of first order."""
    if model.elements.plastic:
        raise SceneError("pliant.Newton(integrator='bdf2') does not take plasticity; use integrator='euler'")
