"""How well a step meets its equations: one measure for every solver (theory section 2, "One residual").

The balance r = M (u - u*) + h f(u) - J^T lambda, the errors of rows that must be met, and what bounded rows lack of
complementarity: all as speeds weighted with the masses they move (stiffness included), relative to the largest part of
the balance. Which f(u) it is, a solver says by `equations`: that of the elements at the end of the step ("implicit"),
or linear in their frames at its start ("warped"). Explicit steps solve for impulses alone.
"""

import numpy as np

from pliant.elements.potential import ElementPotential
from pliant.elements.rods import body_sizes
from pliant.kernels.lanes import LANES
from pliant.solve.problem import Problem, Solution

# Rounding of elastic forces relative to stiffness times distance from the origin.
EPSILON = 1e-13
# Change of a velocity, relative, that is rounding: of what moves steadily there is nothing to balance.
STEADY = 1e-11
# Imbalance above which no step has converged, whatever its solver says.
UNBALANCED = 0.5
# A row that can move nothing has no error: its mobility relative to the largest.
NO_MOBILITY = 1e-12


def residual(problem: Problem, solution: Solution, equations: str) -> float:
    """The residual of a solution, without units; 0 where only rounding is left."""
    model, h, table = problem.model, problem.h, solution.table or problem.rows.table
    weight, rows, kernels = _mobility(problem, solution), np.zeros(solution.u.shape), model.device
    if table.slices:
        kernels.rows.add_row_impulses(table.start, table.triples, table.jacobian, solution.impulses, rows)
    internal = _internal_forces(problem, solution, equations)
    predicted = problem.prediction.u if solution.predicted is None else solution.predicted
    motion = (problem.mass, solution.u, predicted, problem.before)
    balance, *parts = kernels.balance.balance_squares(*motion, internal, h, rows, weight)
    errors = _row_errors(problem, solution, weight)
    rounding = kernels.balance.rounding_square(model.node_stiffness, problem.state.x, h * EPSILON, weight)
    if model.elements.on_bodies:
        numbers = (model.body_stiffness, body_sizes(problem.state), h * EPSILON, weight[model.node_count :])
        rounding += kernels.balance.rounding_square(*numbers)
    rounding += STEADY**2 * kernels.linalg.triples.quadratic_diagonal(problem.mass, solution.u)
    total = errors if equations == "explicit" else max(balance - rounding, 0.0) + errors
    return float(np.sqrt(total / max(parts))) if max(parts) > rounding else 0.0


def _mobility(problem: Problem, solution: Solution) -> np.ndarray:
    """Inverse masses (triples, 3) of free components, with the stiffness of elements around nodes, and with what bodies
    that joints pull at resist sideways, force over length."""
    model, h, blocks = problem.model, problem.h, problem.model.joints
    if problem.prediction.known is not None:
        return problem.prediction.known.mobility
    n = model.node_count
    stiffness, out = np.zeros(model.triple_count), np.empty((model.triple_count, 3))
    stiffness[:n] = h * (h * model.node_stiffness + model.node_damping)
    stiffness[n:] = h * (h * model.body_stiffness + model.body_damping)
    if len(blocks.points):
        pulls = (blocks.arrays, blocks.points, blocks.reach, solution.impulses, h, n)
        model.device.balance.add_pulls(*pulls, stiffness)
    model.device.balance.balance_weights(problem.prediction.inverse_mass, stiffness, model.free_triples, out)
    return out


def _internal_forces(problem: Problem, solution: Solution, equations: str) -> np.ndarray:
    """f(u) (n, 3) [N] of the elements, with the sign of a gradient."""
    model, h = problem.model, problem.h
    if solution.internal is not None:
        return solution.internal
    n, potential = model.node_count, ElementPotential(model.elements, model.node_count)
    if not potential.count or equations == "explicit":
        return np.zeros((n, 3))
    if equations == "warped":
        return potential.warped_step(problem.rows.elements, np.ascontiguousarray(solution.u[:n]), h) / h
    return implicit_forces(potential, problem, solution)


def implicit_forces(potential: ElementPotential, problem: Problem, solution: Solution) -> np.ndarray:
    """Forces (n, 3) [N] of elements where a step leads, with the sign of a gradient, by their potential."""
    model, state, h, elements = problem.model, problem.state, problem.h, problem.rows.elements
    n, v = model.node_count, np.ascontiguousarray(solution.u[: model.node_count])
    potential.take_plastic(elements.plastic)
    potential.take_laws(solution.tangled)
    potential.take_bodies(state)
    if model.elements.damped:
        potential.take_frames(state.x, elements.rotation)
    if not model.elements.on_bodies:
        return potential.evaluate(state.x + h * v, v)[2]
    return potential.evaluate(state.x + h * v, solution.u, h * solution.u[n:])[2]


def _row_errors(problem: Problem, solution: Solution, weight: np.ndarray) -> float:
    """Sum of squares of the rows' errors in velocity, over their mobilities."""
    table, rows = solution.table or problem.rows.table, problem.rows
    if not table.slices:
        return 0.0
    rate = solution.joint_rate if solution.joint_rate is not None else np.empty((0, 3, LANES))
    geometry = (table.start, table.triples, table.jacobian, rows.table.target, table.compliance)
    bounds, given = (table.low, table.high, table.friction), (weight, solution.u, rate, solution.impulses)
    return problem.model.device.balance.row_errors(*geometry, *bounds, *given, NO_MOBILITY)
