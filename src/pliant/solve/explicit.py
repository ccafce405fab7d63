"""Explicit steps (C chapter 1): symplectic Euler, the midpoint rule, and Runge-Kutta of fourth order.

Elastic and viscous forces of any law act as they are at the start of a step (or of a stage); nothing is solved but the
impulses of joints and contacts. (C calls eq. 1.14-1.15 explicit Euler; they are symplectic Euler: the new velocity
moves the positions.)
"""

import warnings

import numpy as np

from pliant.elements.potential import ElementPotential
from pliant.errors import SolverError
from pliant.model.loads import node_forces, wind_forces
from pliant.rows.table import Rows
from pliant.solve.dual.row_solver import RowSolver
from pliant.solve.info import Info
from pliant.solve.options import Explicit
from pliant.solve.problem import Problem, Solution
from pliant.solve.stability import largest_frequency, largest_rod_frequency, largest_safe_step

# Elements that move something in one step by so many times the size of all elements at rest have run away: in a step
# that is short enough they move it by no more than four times its way from where they are at rest.
RUN_AWAY = 10.0


class ExplicitSolver:
    """Forces, and impulses of joints and contacts; warns once when the time step is too long."""

    name, equations = "explicit", "explicit"
    linear_rows = True

    def __init__(self, options: Explicit, model):
        self.options, self.checked, self.size = options, 0.0, _size(model)  # the longest step so far [s], [m]
        self.forces = Forces(model.elements, model.node_count)
        self.rows = RowSolver(options.tolerance, model)

    def solve(self, problem: Problem) -> Solution:
        """The new velocity triples, impulses, and what it took."""
        if problem.h > self.checked:  # parts of a step say nothing new
            self.checked = problem.h
            warn_of_long_steps(self.options.method, problem.model, problem.state, problem.h)
        return self._symplectic(problem) if self.options.method == "symplectic" else self._runge_kutta(problem)

    def _check(self, problem: Problem, u: np.ndarray) -> None:
        """Raise where elements, whose velocities are u (triples, 3), have run away; what is not finite is told
        elsewhere."""
        ways = problem.h * np.abs(u - problem.prediction.u).max(axis=1)
        ways[problem.model.node_count + 1 :: 2] = 0.0
        worst = int(np.argmax(ways)) if len(ways) else 0
        if self.size and len(ways) and RUN_AWAY * self.size < ways[worst] < np.inf:
            state = problem.state
            raise SolverError(
                f"step {state.step + 1} (t = {state.time:g} s): the step is too long for pliant.Explicit, whose forces "
                f"threw {problem.model.place_of(worst)} {ways[worst]:.3g} m away in a scene of {self.size:.3g} m; the "
                f"state before the step is kept. Try a smaller time step or Newton()"
            )

    def _symplectic(self, problem: Problem) -> Solution:
        """u = u* + h M^-1 f(x, v), then the impulses of joints and contacts."""
        model, state, prediction, rows, h = problem.model, problem.state, problem.prediction, problem.rows, problem.h
        n, u = model.node_count, prediction.u.copy()
        force = self.forces.of_state(model, state, rows.elements.plastic)
        u[:n] += h * prediction.inverse_mass[:n, :3] * force[:n]
        if model.elements.on_bodies:
            mobility = prediction.inverse_mass[n:][:, [0, 5, 4, 5, 1, 3, 4, 3, 2]].reshape(-1, 3, 3)
            mobility[0::2, [0, 1, 2], [0, 1, 2]] = prediction.inverse_mass[n::2, :3]
            u[n:] += h * np.einsum("tij,tj->ti", mobility, force[n:])
        self._check(problem, u)
        change, impulse, info = self.rows.solve_rows(problem, rows.table, u, prediction.inverse_mass)
        info.solver = "explicit symplectic"
        return Solution(u + change, impulse, info)

    def _runge_kutta(self, problem: Problem) -> Solution:
        """The midpoint rule, or the classical method of fourth order; prescribed velocities hold for the whole step."""
        model, state, prediction, h = problem.model, problem.state, problem.prediction, problem.h
        n, plastic = model.node_count, state.plastic_strain
        prescribed = model.free == 0
        drag = model.node_mass_damping[:, None]

        def rates(time, x, v):
            """Velocity and acceleration."""
            force = self.forces(model, x, v, plastic) + node_forces(model, x, time) + wind_forces(model, x, v, time)[0]
            acceleration = model.gravity + force / model.node_mass[:, None] - drag * v
            return np.where(prescribed, prediction.u[:n], v), np.where(prescribed, 0.0, acceleration)

        x, time = state.x, state.time
        v = np.where(prescribed, prediction.u[:n], state.v)
        tableau = TABLEAUS[self.options.method]
        slopes = []
        for share, _ in tableau:
            dx, dv = slopes[-1] if slopes else (0.0, 0.0)
            slopes.append(rates(time + share * h, x + share * h * dx, v + share * h * dv))
        weights = [weight for _, weight in tableau]
        u = prediction.u.copy()
        u[:n] = v + h * sum(weight * slope[1] for weight, slope in zip(weights, slopes))
        self._check(problem, u)
        travel = sum(weight * slope[0] for weight, slope in zip(weights, slopes))
        info = Info(f"explicit {self.options.method}", iterations=len(tableau))
        return Solution(u, np.zeros(problem.rows.table.target.shape), info, travel=travel)

    def close_gaps(self, problem: Problem, state, rows: Rows) -> tuple[np.ndarray, int]:
        """Velocities (triples, 3) with which the rows of joints reach their targets, and products it took."""
        return self.rows.close_gaps(problem, rows, problem.prediction.inverse_mass)


def _size(model) -> float:
    """The largest extent of what has elements at rest, of rods their length [m]; 0 where nothing has."""
    soft = float(np.ptp(model.rest, axis=0).max(initial=0.0)) if model.node_count else 0.0
    return soft + (0.0 if model.rods.set is None else float(model.rods.set.rest.ravel()[model.rods.set.lanes].sum()))


def warn_of_long_steps(method: str, model, state, h: float) -> None:
    """Warn when h [s] is longer than the largest step that keeps the stiffest oscillation bounded."""
    if not model.elements.sets:
        return
    forces = Forces(model.elements.of_nodes, model.node_count)
    frequency = largest_frequency(model, forces, state) if model.node_count else 0.0
    frequency = max(frequency, largest_rod_frequency(model, state))
    safe = largest_safe_step(method, frequency, model.elements.largest_damping)
    if safe == 0.0:
        warnings.warn(
            f"pliant.Explicit(method={method!r}) has no stable time step here: the fastest oscillation "
            f"({frequency:.3g} rad/s) grows slowly at any dt; use 'rk4' or 'symplectic' for longer runs",
            stacklevel=2,
        )
    elif h > safe:
        warnings.warn(
            f"dt = {h:g} s is too long for pliant.Explicit(method={method!r}): the largest safe time step for this "
            f"scene is {safe:.3g} s (fastest oscillation {frequency:.3g} rad/s). Make dt smaller or use Newton()",
            stacklevel=2,
        )


# Stages: the part of the step (along the slope of the stage before) at which each is taken, and its weight.
TABLEAUS = {
    "rk2": ((0.0, 0.0), (0.5, 1.0)),
    "rk4": ((0.0, 1 / 6), (0.5, 1 / 3), (0.5, 1 / 3), (1.0, 1 / 6)),
}


class Forces:
    """Elastic and viscous forces (n, 3) [N] of all elements at positions x (n, 3) and velocities v (n, 3)."""

    def __init__(self, elements, node_count: int):
        self.potential = ElementPotential(elements, node_count)

    def of_state(self, model, state, plastic: np.ndarray) -> np.ndarray:
        """Those at a state, with torques of rods on rigid bodies: of all triples (n + 2 b, 3) where there are any."""
        self.potential.take_bodies(state)
        v = state.velocity_triples() if model.elements.on_bodies else state.v
        return self(model, state.x, v, plastic)

    def __call__(self, model, x: np.ndarray, v: np.ndarray, plastic: np.ndarray) -> np.ndarray:
        potential, elements = self.potential, self.potential.elements
        potential.take_plastic(plastic)
        if elements.damped:
            potential.take_frames(x, elements.deform(x)[0])
        return -potential.evaluate(x, v)[2] if potential.start is None else -potential.evaluate(x, v)[2][: len(v)]
