"""The dual solver with its unbounded rows eliminated: contacts act on the inverse of the primal matrix.

Elements and joints have no bounds, so their impulses are known functions of the velocity and leave the problem
(theory section 2): A (u - u*) = J^T R^-1 (b - J u*) with A = M + J^T R^-1 J over elements and joints, A = M + h (h +
beta) K_R for elements alone. It is the change that is solved for: A is as exact as its largest numbers, which of a
stiff body are far above its mass, so what leaves stiffness at rest must not pass through it. What is left for MPRGP
are contacts, on J A^-1 J^T + R. By Woodbury's identity it is the same problem, exact however stiff. Joints alone are
solved for their impulses, (J M^-1 J^T + R) lambda = b - J u*, where that costs less.
"""

import numpy as np

from pliant.elements.potential import ElementPotential
from pliant.elements.rows import ElementRows
from pliant.kernels.lanes import LANES
from pliant.kernels.matrices import BlockFactor
from pliant.kernels.operators import EliminatedOperator
from pliant.linalg.block_ldl import BlockPattern, factor
from pliant.linalg.connectivity import block_pairs, lower_pairs
from pliant.linalg.operators import rows_only
from pliant.rows import joints as joint_rows
from pliant.rows.table import Rows, entry_pairs
from pliant.solve.dual.gaps import (
    ELASTIC_REGULARIZATION,
    FACTOR_GAPS,
    FACTOR_REGULARIZATION,
    ImpulseGaps,
    softened,
    stiff_elements,
)
from pliant.solve.dual.solver import CONDITION, DualSolver, row_count
from pliant.solve.info import Info
from pliant.solve.options import Dual
from pliant.solve.problem import Problem, Solution, StepRows, mass_blocks

# Contacts whose mobility is found by solves; others have that of the nearest in the table.
MOST_SAMPLES = 16


class EliminatedSolver(DualSolver):
    """Factorises the primal matrix once a step, in float64, and solves for the impulses of the contacts alone."""

    gap_parts = FACTOR_GAPS

    def __init__(self, options: Dual, model, state):
        super().__init__(options, model, np.float64)
        joints = joint_rows.structure(model.joints, state).between(0, model.joints.equality_slices)
        self.joint_pairs = entry_pairs(joints)
        elements = model.elements.without_springs
        self.potential = ElementPotential(elements, model.node_count)
        row, column, _ = block_pairs(elements.connectivity())
        first, second = np.concatenate([row, self.joint_pairs[2]]), np.concatenate([column, self.joint_pairs[3]])
        self.pattern = BlockPattern.of_pairs(model.device, model.triple_count, first, second).in_runs()
        diagonal = np.arange(model.triple_count)
        self.diagonal_blocks = self.pattern.find(diagonal, diagonal)[0]
        self.joint_index = self._signed_index(self.joint_pairs[2], self.joint_pairs[3])
        nodes, there = self.elements.nodes, self.elements.volume > 0
        pairs = lower_pairs(nodes.shape[1])
        self.element_index = np.full((len(nodes), len(pairs), LANES), -1, np.int64)
        for k, (i, j) in enumerate(pairs):
            self.element_index[:, k][there] = self._signed_index(nodes[:, i][there], nodes[:, j][there])
        self.values, self.factor = np.empty((len(self.pattern.row), 3, 3)), None

    def _signed_index(self, first, second) -> np.ndarray:
        """Stored block of each pair of triples; -2 - index when it is stored transposed."""
        index, transposed = self.pattern.find(first, second)
        return np.where(transposed, -2 - index, index)

    def solve(self, problem: Problem) -> Solution:
        """The new velocity triples, impulses, and what it took."""
        model, prediction, rows, h = problem.model, problem.prediction, problem.rows, problem.h
        joints, contacts = rows.equalities, rows.bounded
        weight = self._joint_weight(joints, prediction)
        only_joints = joints.slices and not (self.elements.count or contacts.slices)
        if only_joints and isinstance(self._gap_factors(problem.state), ImpulseGaps):
            return self._solve_joints(problem, 1 / weight)
        self.factor, values, right = self._primal(model, prediction, rows, weight, h)
        change = right.copy()
        self.device.linalg.block_ldl.solve_factored(self.factor, change)
        u = prediction.u + change
        left = self._residual(values, change, right)
        info = Info("dual eliminated", 0, left, rows=row_count(self.device, rows.table))
        impulse = np.zeros(rows.table.target.size)
        joint_size = joints.target.size
        if contacts.slices:
            change, info, impulse[joint_size:] = self._solve_contacts(problem, values, u)
            u += change
        table = (joints.start, joints.triples, joints.jacobian, joints.target)
        self.device.rows.row_impulses(*table, weight, u, impulse[:joint_size])
        return Solution(u, impulse.reshape(rows.table.target.shape), info)

    def _solve_joints(self, problem: Problem, compliance: np.ndarray) -> Solution:
        """The same where there is nothing but joints, whose impulses are fewer than velocities."""
        prediction, rows = problem.prediction, problem.rows.table
        rate, geometry = np.empty(rows.target.shape), (rows.start, rows.triples, rows.jacobian)
        self.device.rows.row_rates(*geometry, prediction.u, rate)
        right = rows.target - rate
        impulse = self.gaps.impulses(rows, compliance, prediction.inverse_mass, right)
        change = self.gaps.moved(rows, impulse, prediction.inverse_mass)
        self.device.rows.row_rates(*geometry, change, rate)
        left, size = rate + compliance * impulse - right, float(np.sum(right * right))
        residual = float(np.sqrt(np.sum(left * left) / (size if size else 1.0)))
        info = Info("dual eliminated", 0, residual, rows=row_count(self.device, rows))
        return Solution(prediction.u + change, impulse, info)

    def close_gaps(self, problem: Problem, state, rows: Rows) -> tuple[np.ndarray, int]:
        """Velocities (triples, 3) with which the rows of joints reach their targets from a state, and solves (one);
        stiff elements resist as in the step."""
        model, inverse_mass = problem.model, problem.prediction.inverse_mass
        if not (self.elements.count and stiff_elements(problem)):
            return self._gap_factors(state).close_gaps_by_factor(rows, inverse_mass, FACTOR_REGULARIZATION)
        rows = rows.between(0, model.joints.equality_slices)
        _, compliance = softened(self.device, rows, inverse_mass, ELASTIC_REGULARIZATION)
        here = problem.rows.with_joints(ElementRows(model.elements, state.x, state.plastic_strain), rows, compliance)
        self.factor, _, move = self._primal(model, problem.prediction, here, 1 / compliance, problem.h)
        move[:] = 0.0
        geometry = (rows.start, rows.triples, rows.jacobian)
        self.device.rows.add_row_impulses(*geometry, rows.target / compliance, move)
        move *= self.free
        self.device.linalg.block_ldl.solve_factored(self.factor, move)
        return move, 1

    def _joint_weight(self, joints: Rows, prediction) -> np.ndarray:
        """R^-1 of the joint rows (slices, 3, LANES); rigid ones get a compliance far below what matters."""
        diagonal = np.empty(joints.compliance.shape)
        geometry = (joints.start, joints.triples, joints.jacobian)
        self.device.table.row_diagonals(*geometry, np.zeros_like(diagonal), prediction.inverse_mass, 0.0, diagonal)
        softness = self.options.regularization + self.softness * (joints.compliance == 0)
        return 1 / (joints.compliance + softness * diagonal)

    def _primal(self, model, prediction, rows: StepRows, weight, h) -> tuple[BlockFactor, np.ndarray, np.ndarray]:
        """Factors and upper blocks of A, and the right-hand side for u - u*; prescribed components are unit rows."""
        own, values, kernels = self.elements, self.values, self.device
        values[:] = 0.0
        material = (own.lam, own.mu, h * (h + own.damping) * own.volume, self.element_index)
        kernels.elements.assemble_stiffness(own.gradients, rows.elements.rotation, *material, values)
        pairs = (self.joint_pairs[0], self.joint_pairs[1], self.joint_pairs[4])
        kernels.rows.add_row_blocks(*pairs, rows.equalities.jacobian, weight, self.joint_index, values)
        mass = mass_blocks(model, prediction, h)
        values[self.diagonal_blocks] += mass
        right = np.zeros_like(prediction.u)
        right[: model.node_count] = -self.potential.warped_step(rows.elements, prediction.u[: model.node_count], h)
        joints = rows.equalities
        impulse = np.empty(weight.size)
        geometry = (joints.start, joints.triples, joints.jacobian)
        kernels.rows.row_impulses(*geometry, joints.target, weight, prediction.u, impulse)
        kernels.rows.add_row_impulses(*geometry, impulse.reshape(weight.shape), right)
        right *= self.free
        pattern = self.pattern
        kernels.linalg.block_ldl.restrict(pattern.order, pattern.column_start, pattern.row, self.free, values)
        return factor(self.pattern, values, self.factor), values, right

    def _residual(self, values, x, right) -> float:
        """|A x - b| / |b| of the primal system."""
        dot, pattern = self.device.linalg.triples.dot, self.pattern
        size, product = dot(right, right), np.empty_like(x)
        places = (pattern.order, pattern.column_start, pattern.row)
        self.device.linalg.block_ldl.symmetric_product(*places, values, x, product)
        error = product - right
        return float(np.sqrt(dot(error, error) / (size if size else 1.0)))

    def _solve_contacts(self, problem: Problem, values, u):
        """Change of velocity by the contacts, info, and their impulses."""
        model, rows = problem.model, problem.rows
        table = rows.bounded
        estimate = np.empty((model.triple_count, 6))
        self.device.linalg.block_ldl.inverse_diagonals(self.diagonal_blocks, values, estimate)
        estimate[:, :3] *= self.free
        estimate[:, 3:] *= self.free.all(axis=1, keepdims=True)
        diagonal = np.empty(table.compliance.shape)
        geometry = (table.start, table.triples, table.jacobian)
        self.device.table.row_diagonals(*geometry, table.compliance, estimate, self.options.regularization, diagonal)
        softness = self.options.regularization / (1 + self.options.regularization)
        offset = rows.equalities.target.size
        operator = self._contact_operator(table, table.compliance, diagonal)
        ratios = self._ratios(operator, rows.contact_index - offset)
        diagonal *= ratios.reshape(diagonal.shape)
        operator = self._contact_operator(table, table.compliance + softness * (diagonal - table.compliance), diagonal)
        system, goal = operator.rows, table.target.ravel()
        rate = np.empty(len(goal))
        self.device.system.row_product(system, u, np.zeros(len(goal)), rate)
        low, high = table.low.ravel() / system.scale, table.high.ravel() / system.scale
        friction = self._friction(rows, np.concatenate([np.ones(offset), diagonal.ravel()]), -offset)
        x = self._warm_impulses(problem.state, rows, 0)[offset:] / system.scale

        apply_transposed = self.device.linalg.operators.apply_transposed

        def settling(x, gradient) -> tuple[float, float]:
            apply_transposed(operator, x)
            return 0.0, self._motion(problem, u - problem.prediction.u + system.velocity)

        # what stiff elements store where a contact fails is as much more as they are stiffer than all of it together
        condition = CONDITION * max(1.0, ratios.max())
        info = self._minimise(operator, system.scale * goal - rate, low, high, friction, x, settling, condition)
        apply_transposed(operator, x)
        info.solver, info.rows = "dual eliminated", row_count(self.device, rows.table)
        info.active = int(np.count_nonzero((x <= low) | (x >= high)))
        return system.velocity, info, x * system.scale

    def _contact_operator(self, table: Rows, compliance: np.ndarray, diagonal: np.ndarray) -> EliminatedOperator:
        """J A^-1 J^T + R of contacts with compliances R, scaled by its diagonal, both (slices, 3, LANES)."""
        unit = np.zeros((len(self.free), 6))
        unit[:, :3] = self.free
        system = rows_only(self.device, len(self.free), table, compliance, unit, diagonal, np.float64)
        return EliminatedOperator(system, self.factor, system.scale)

    def _ratios(self, operator: EliminatedOperator, normal: np.ndarray) -> np.ndarray:
        """The diagonal of an operator that was scaled by an estimate, of contacts with normal rows (k,); 1 elsewhere.
        Blocks of A alone do not tell it: what joints or stiff elements hold together gives way as one."""
        out, unit, product = np.ones(len(operator.scale)), np.zeros(len(operator.scale)), np.empty(len(operator.scale))
        if not len(normal):
            return out
        samples = np.unique(np.linspace(0, len(normal) - 1, MOST_SAMPLES).round().astype(np.int64))
        nearest = np.abs(np.arange(len(normal))[:, None] - samples).argmin(axis=1)
        for row in range(3):
            places, found = normal + row * LANES, np.empty(len(samples))
            for sample, place in enumerate(places[samples]):
                unit[place] = 1.0
                self.device.linalg.operators.apply_eliminated(operator, unit, product)
                found[sample], unit[place] = product[place], 0.0
            out[places] = np.where(found > 0.0, found, 1.0)[nearest]
        return out
