"""The dual solver (BV): a box-constrained problem in the impulses, (J M^-1 J^T + R) lambda = b - J u*."""

from dataclasses import replace

import numpy as np

from pliant.elements.rows import DIAGONAL_BASIS, IDENTITY_BASIS, ElementRows, RowElements
from pliant.kernels.device import Device
from pliant.kernels.lanes import LANES
from pliant.kernels.operators import EliminatedOperator, Friction, SystemOperator
from pliant.linalg.operators import rows_only
from pliant.rows import joints as joint_rows
from pliant.rows.softness import joint_softness
from pliant.rows.table import Rows
from pliant.solve.dual.gaps import (
    ELASTIC_REGULARIZATION,
    GAP_REGULARIZATION,
    ImpulseGaps,
    VelocityGaps,
    close_joint_gaps,
    gap_factors,
    softened,
    stiff_elements,
)
from pliant.solve.info import Info
from pliant.solve.options import Dual
from pliant.solve.problem import Problem, Solution, StepRows, warm_impulses

POWER_ITERATIONS = 15  # BV 3.7
# What may be left to move, relative to the tolerance and to the motion, in the norm of energies; the least tolerances
# that rounding in float64 and in float32 admits; and what energy the square of a scaled gradient is at least taken for:
# that of a problem of this condition.
SETTLED, LEAST_TOLERANCE, CONDITION = 50.0, {8: 1e-12, 4: 1e-6}, 30.0
# What is left, relative to what there was without impulses, of a solve that led nowhere; and by what part of what they
# move bounded rows give way then.
WORSE_THAN_NOTHING, GIVING_WAY = 1.0, 1e-2
# Multiplications of blocks, over blocks of joints, up to which a factorisation closes gaps; the products of iterations
# cost as much.
CHEAP_FACTORS = 20


class DualSolver:
    """Elements, joints and contacts as rows of one matrix-free operator."""

    name, equations = "dual", "warped"
    linear_rows = True

    def __init__(self, options: Dual, model, dtype):
        self.elements = RowElements.of(model.elements)
        self._choose(model, options, dtype)
        self.gradients = self.elements.gradients.astype(dtype)
        self.free = np.ones((model.triple_count, 3))
        self.free[: model.node_count] = model.free
        self.free[model.node_count :] = np.repeat(~model.static, 2)[:, None]
        self.joints, self.gaps = model.joints, None  # and what closes their gaps, made when there are any

    def _choose(self, model, options: Dual, dtype) -> None:
        self.device, self.options, self.dtype = model.device, options, np.dtype(dtype)
        # compliance of rigid joints relative to their diagonal in J M^-1 J^T, so that redundant joints have an answer
        self.softness = joint_softness(model, self.dtype)[: model.joints.equality_slices]
        basis = DIAGONAL_BASIS if options.diagonal else IDENTITY_BASIS
        self.basis64 = basis
        self.basis = np.array(basis, self.dtype)
        self.ones64 = tuple(np.array(basis).reshape(3, 3).sum(axis=1).tolist())
        self.ones = np.array(self.ones64, self.dtype)

    def solve(self, problem: Problem) -> Solution:
        """The new velocity triples, impulses, and what it took."""
        model, prediction, rows, h = problem.model, problem.prediction, problem.rows, problem.h
        operator, diagonal = self._operator(model, prediction, rows, h)
        element_size = self.elements.volume.size * 6
        b = self._right_hand_side(prediction, rows, operator, h)
        low, high = self._bounds(rows, operator.scale, element_size)
        friction = self._friction(rows, diagonal, element_size)
        x = self._warm_impulses(problem.state, rows, element_size) / operator.scale
        velocity, transposed_product = np.empty(prediction.u.shape, self.dtype), self.device.system.transposed_product

        def settling(x, gradient) -> tuple[float, float]:
            transposed_product(operator, x, velocity)
            return self._stored(rows, operator, gradient), self._motion(problem, velocity)

        info = self._minimise(operator, b, low, high, friction, x, settling)
        impulse = (x * operator.scale).astype(np.float64)
        transposed_product(operator, x, velocity)
        info.rows = self.elements.count * 6 + row_count(self.device, rows.table)
        info.active = int(np.count_nonzero((x <= low) | (x >= high)))
        memory = {"elements": impulse[:element_size].reshape(-1, 6, LANES)}
        row_impulse = impulse[element_size:].reshape(rows.table.target.shape)
        return Solution(prediction.u + velocity, row_impulse, info, memory)

    def _operator(self, model, prediction, rows: StepRows, h) -> tuple[SystemOperator, np.ndarray]:
        """The scaled operator, and its unscaled diagonal."""
        table, dtype, regularization = rows.table, self.dtype, self.options.regularization
        elements, element_diagonals = self.elements, self.device.elements.element_diagonals
        element_compliance = elements.compliance(h)
        element_diagonal = np.empty((len(elements.volume), 6, LANES))
        single, coupled = element_compliance[:, 0], element_compliance[:, 1]
        geometry = (elements.nodes, elements.gradients, rows.elements.rotation, prediction.inverse_mass)
        element_diagonals(*geometry, single, coupled, self.basis64, self.ones64, 0.0, element_diagonal)
        if regularization:
            own = np.repeat(single[:, None], 6, axis=1)
            own[:, :3] += coupled[:, None] * np.square(self.ones64)[:, None]
            own[:, 3:] *= 2
            single += regularization * (element_diagonal - own).mean(axis=1)
            element_diagonals(*geometry, single, coupled, self.basis64, self.ones64, 0.0, element_diagonal)
        row_diagonal = np.empty(table.compliance.shape)
        arguments = (table.start, table.triples, table.jacobian, table.compliance, prediction.inverse_mass)
        self.device.table.row_diagonals(*arguments, 0.0, row_diagonal)
        softness = np.full(table.compliance.shape, regularization)
        softness[: rows.equality_slices] += self.softness * (table.compliance[: rows.equality_slices] == 0)
        row_compliance = table.compliance + softness * (row_diagonal - table.compliance)
        row_diagonal += row_compliance - table.compliance
        diagonal = np.concatenate([element_diagonal.ravel(), row_diagonal.ravel()])
        first_row_slot = elements.volume.size * 12
        slots = (table.triples, table.jacobian, first_row_slot, model.triple_count)
        row_adjacency = self.device.adjacency.slot_adjacency(*slots)
        operator = SystemOperator(
            nodes=elements.nodes,
            gradients=self.gradients,
            rotation=rows.elements.rotation.astype(dtype),
            compliance=element_compliance.astype(dtype),
            basis=self.basis,
            ones=self.ones,
            start=table.start,
            triples=table.triples,
            jacobian=table.jacobian.astype(dtype),
            compliance_rows=row_compliance.astype(dtype),
            adjacency_start=elements.adjacency_start,
            adjacency=elements.adjacency,
            row_adjacency_start=row_adjacency[0],
            row_adjacency=row_adjacency[1],
            inverse_mass=prediction.inverse_mass.astype(dtype),
            scale=(1 / np.sqrt(diagonal)).astype(dtype),
            velocity=np.empty((model.triple_count, 3), dtype),
            slots=np.zeros(first_row_slot + table.triples.size * 3 + 1, dtype),
        )
        return operator, diagonal

    def _right_hand_side(self, prediction, rows: StepRows, operator, h) -> np.ndarray:
        """scale (b - J u*)."""
        target = np.empty((len(self.elements.volume), 6, LANES))
        strains = (rows.elements.strain, rows.elements.plastic)
        self.device.elements.element_targets(*strains, self.elements.damping, h, self.basis64, target)
        goal = np.concatenate([target.ravel(), rows.table.target.ravel()])
        out, nothing = np.empty(len(goal), self.dtype), np.zeros(len(goal), self.dtype)
        self.device.system.row_product(operator, prediction.u.astype(self.dtype), nothing, out)
        return (operator.scale * goal).astype(self.dtype) - out

    def _bounds(self, rows: StepRows, scale, element_size) -> tuple[np.ndarray, np.ndarray]:
        """Bounds of the scaled impulses; elements have none."""
        low, high = np.full(len(scale), -np.inf, self.dtype), np.full(len(scale), np.inf, self.dtype)
        low[element_size:] = rows.table.low.ravel() / scale[element_size:]
        high[element_size:] = rows.table.high.ravel() / scale[element_size:]
        return low, high

    def _friction(self, rows: StepRows, diagonal, element_size) -> Friction:
        """Contacts whose tangent bounds follow the normal impulse."""
        normal = rows.contact_index + element_size
        coefficient = rows.table.friction.ravel()[_block_of(rows.contact_index)]
        rough = coefficient > 0
        normal, coefficient = normal[rough], coefficient[rough].astype(self.dtype)
        first, second = normal + LANES, normal + 2 * LANES
        step = np.maximum(diagonal[first], diagonal[second]).astype(self.dtype)
        return Friction(normal, first, second, coefficient, step, self.options.friction == "cone")

    def _warm_impulses(self, state, rows: StepRows, element_size) -> np.ndarray:
        """Impulses of the step before; zero for a cold start."""
        kept = state.memory.get(self.name, {}).get("elements") if element_size else None
        elements = np.zeros(element_size) if kept is None else kept.ravel()
        impulse = np.concatenate([elements, warm_impulses(self.device, state.impulses, rows).ravel()])
        return impulse.astype(self.dtype) if self.options.warm_start else np.zeros(len(impulse), self.dtype)

    def _minimise(self, operator, b, low, high, friction, x, *measures) -> Info:
        """Solve for x in place. Contacts that push against each other, as on both sides of what is thin, have no
        answer, and impulses grow without end: where more is left than without any, they are solved for once more from
        none, with bounded rows that give way, and have not converged. measures: as of `_settled`."""
        info = self._settled(operator, b, low, high, friction, x, *measures)
        bounded = np.isfinite(low) | np.isfinite(high)
        if info.residual <= WORSE_THAN_NOTHING or not bounded.any():
            return info
        x[:] = 0.0
        again = self._settled(_giving_way(operator, bounded), b, low, high, friction, x, *measures)
        iterations, refreshes = info.iterations + again.iterations, info.refreshes + again.refreshes
        return replace(again, iterations=iterations, refreshes=refreshes, converged=False)

    def _settled(self, operator, b, low, high, friction, x, settling=None, condition: float = CONDITION) -> Info:
        """Solve for x in place; with a smaller tolerance again while what is left moves much.

        settling: a function of x and its gradient that tells twice the energies [J] by which rows that store energy
        fail, and of the motion in this step; None: errors of rows are all that is asked for. condition: how many times
        the square of an error [J] may be what it stores.
        """
        options, tolerance, iterations, refreshes = self.options, self.options.tolerance, 0, 0
        direction, size = b + self.dtype.type(1e-3) * np.abs(b).max(initial=1e-30), float(np.sqrt(np.sum(b * b)))
        work, share, best, kept = np.empty((4, len(x)), self.dtype), 1.0, np.inf, x
        while True:
            problem = (operator, b, low, high, friction, x, work, tolerance, options.max_iterations - iterations)
            info, left = self._once(*problem, direction)
            iterations, refreshes = iterations + info.iterations, refreshes + info.refreshes
            if best <= options.tolerance < info.residual:  # friction goes round in circles
                x[:], info.residual = kept, best
                break
            if settling is not None:
                stored, motion = settling(x, work[0])
                left = max(left, stored, condition * (info.residual * size) ** 2)
                share = (SETTLED * options.tolerance) ** 2 * motion / left if left > 0.0 else 1.0
            best, kept, tolerance = info.residual, x.copy(), tolerance * min(max(0.5 * share**0.5, 1e-3), 0.3)
            share = share if tolerance > LEAST_TOLERANCE[self.dtype.itemsize] else 1.0
            if share >= 1.0 or iterations >= options.max_iterations:
                break
        converged = info.residual <= options.tolerance and share >= 1.0
        return replace(info, iterations=iterations, refreshes=refreshes, converged=converged)

    def _once(self, *problem) -> tuple[Info, float]:
        """One solve; also an estimate of the square of what is left, in the energy norm [J]."""
        tolerance = problem[7]
        if self.options.method == "pgs":
            sweeps, residual, left = self.device.linalg.pgs.solve_pgs(*problem[:-1])
            return Info("dual pgs", sweeps, residual, residual <= tolerance), left
        products, residual, refreshes, left = self.device.linalg.mprgp.solve_mprgp(*problem, POWER_ITERATIONS)
        return Info("dual mprgp", products, residual, residual <= tolerance, refreshes=refreshes), left

    def _stored(self, rows: StepRows, operator, gradient: np.ndarray) -> float:
        """Twice the energy [J] that elements and springs store by the error of their rows: e^T R^-1 e, which bounds the
        distance from the answer (the duality gap)."""
        error = (gradient / operator.scale).astype(np.float64)
        first = self.elements.volume.size * 6
        joints = error[first:].reshape(rows.table.target.shape)[: rows.equality_slices]
        compliance = rows.table.compliance[: rows.equality_slices]
        springs = np.sum(np.where(compliance > 0, joints**2, 0.0) / np.where(compliance > 0, compliance, 1.0))
        strain, ones = error[:first].reshape(-1, 6, LANES), np.array(self.ones64)
        single, coupled = operator.compliance[:, 0], operator.compliance[:, 1]
        along = np.einsum("c,gcl->gl", ones, strain[:, :3]) ** 2 * coupled / (single + coupled * (ones @ ones))
        squares = np.sum(strain[:, :3] ** 2, axis=1) + 0.5 * np.sum(strain[:, 3:] ** 2, axis=1)
        return float(springs + np.sum((squares - along) / single))

    def _motion(self, problem: Problem, change: np.ndarray) -> float:
        """Twice the kinetic energy [J] of a change of velocity (triples, 3) by rows, and of that by loads."""
        model, mass, predicted = problem.model, problem.mass, problem.prediction.u
        quadratic_diagonal = self.device.linalg.triples.quadratic_diagonal
        kick = quadratic_diagonal(mass, model.free_triples * (predicted - problem.before))
        rounding = np.finfo(self.dtype).eps ** 2 * quadratic_diagonal(mass, predicted)
        return kick + quadratic_diagonal(mass, change.astype(np.float64)) + rounding

    def _gap_factors(self, state) -> VelocityGaps | ImpulseGaps:
        """What closes gaps by factors; state: any, where nothing else is known of joints than what they hold."""
        if self.gaps is None:
            structure = joint_rows.structure(self.joints, state)
            self.gaps = gap_factors(self.device, structure, self.free.any(axis=1))
        return self.gaps

    def close_gaps(self, problem: Problem, state, rows: Rows) -> tuple[np.ndarray, int]:
        """Velocities (triples, 3) with which the rows of joints reach their targets from a state, and products it took;
        stiff elements resist as in the step."""
        elastic = self.elements.count > 0 and stiff_elements(problem)
        if not elastic and self._gap_factors(state).pattern.work() <= CHEAP_FACTORS * rows.triples.size:
            return self.gaps.close_gaps_by_factor(rows, problem.prediction.inverse_mass, GAP_REGULARIZATION)
        model, inverse_mass = problem.model, problem.prediction.inverse_mass
        softness = ELASTIC_REGULARIZATION if elastic else GAP_REGULARIZATION
        diagonal, compliance = softened(self.device, rows, inverse_mass, softness)
        if elastic:
            here = problem.rows.with_joints(
                ElementRows(model.elements, state.x, state.plastic_strain), rows, compliance
            )
            operator, _ = self._operator(model, problem.prediction, here, problem.h)
        else:
            operator = rows_only(self.device, model.triple_count, rows, compliance, inverse_mass, diagonal, self.dtype)
        x, products = close_joint_gaps(self.device, operator, rows, elastic)
        velocity = np.empty((model.triple_count, 3), self.dtype)
        self.device.system.transposed_product(operator, x, velocity)
        return velocity, products


def _giving_way(operator, bounded: np.ndarray):
    """The operator with compliances of these rows (n,) bool, relative to its diagonal."""
    if isinstance(operator, EliminatedOperator):
        return operator._replace(rows=_giving_way(operator.rows, bounded))
    compliance = operator.compliance_rows.copy()
    rows = slice(len(operator.scale) - compliance.size, None)
    compliance.reshape(-1)[bounded[rows]] += GIVING_WAY / operator.scale[rows][bounded[rows]] ** 2
    return operator._replace(compliance_rows=compliance)


def _block_of(index: np.ndarray) -> np.ndarray:
    """Block (slice, lane) number of a flat row index."""
    return index // (3 * LANES) * LANES + index % LANES


def row_count(device: Device, table) -> int:
    """Rows that touch anything."""
    return int(device.table.count_rows(table.start, table.jacobian))
