"""The dual solver with the elements eliminated: rows act on the inverse of the primal matrix M + h (h + beta) K_R.

By Woodbury's identity this is the same problem as with elements as rows, and exact however stiff the material is.
"""

import numpy as np

from pliant.dynamics import Prediction
from pliant.kernels.cpu.elements import assemble_stiffness, element_elastic_impulses, element_targets
from pliant.kernels.cpu.system import gather_slots, row_product
from pliant.kernels.lanes import LANES
from pliant.linalg.block_ldl import BlockFactor, BlockPattern, factor, solve_factored
from pliant.linalg.operators import EliminatedOperator, SystemOperator, apply_transposed
from pliant.rows.assemble import StepRows
from pliant.rows.elements import IDENTITY_BASIS
from pliant.rows.table import row_diagonals, slot_adjacency
from pliant.solve.dual import DualSolver, row_count
from pliant.solve.info import Info
from pliant.solve.options import Dual

PAIRS = [(i, j) for i in range(4) for j in range(i + 1)]


class EliminatedSolver(DualSolver):
    """Factorises M + h (h + beta) K_R once a step, in float64, and solves for the impulses of joints and contacts alone."""

    def __init__(self, options: Dual, model, dtype):
        super().__init__(options, model, np.float64)
        first, second = (np.concatenate([model.tets[:, pair[k]] for pair in PAIRS]) for k in (0, 1))
        self.pattern = BlockPattern.of_pairs(model.node_count, first, second)
        self.diagonal_blocks = self.pattern.find(np.arange(model.node_count), np.arange(model.node_count))[0]
        self.block_index = np.full((len(model.volume), len(PAIRS), LANES), -1, np.int64)
        for k, (i, j) in enumerate(PAIRS):
            index, transposed = self.pattern.find(model.element_nodes[:, i].ravel(), model.element_nodes[:, j].ravel())
            self.block_index[:, k] = np.where(transposed, -2 - index, index).reshape(-1, LANES)
        self.block_index[np.repeat((model.volume == 0)[:, None], len(PAIRS), axis=1)] = -1

    def solve(self, model, state, prediction: Prediction, rows: StepRows, h: float) -> tuple[np.ndarray, Info]:
        """The new velocity triples and what it took; the state's warm start is renewed."""
        n = model.node_count
        blocks, values, right = self._primal(model, prediction, rows, h)
        u = prediction.u.copy()
        u[:n] = right
        solve_factored(blocks, u[:n])
        if not rows.table.slices:
            self._keep_impulses(state, rows, np.zeros(0), 0)
            return u, Info("dual eliminated", 0, self._residual(values, u[:n], right))
        operator, diagonal = self._row_operator(model, prediction, rows, blocks, values)
        goal = rows.table.target.ravel()
        rate = np.empty(len(goal))
        row_product(operator.rows, u, np.zeros(len(goal)), rate)
        b = operator.scale * goal - rate
        low, high = self._bounds(rows, operator.scale, 0)
        friction = self._friction(rows, diagonal, 0)
        x = self._warm_impulses(state, rows, len(goal), 0) / operator.scale
        info = self._minimise(operator, b, low, high, friction, x)
        apply_transposed(operator, x)
        self._keep_impulses(state, rows, x * operator.scale, 0)
        info.solver, info.rows = "dual eliminated", row_count(rows.table)
        info.active = int(np.count_nonzero((x <= low) | (x >= high)))
        return u + operator.rows.velocity, info

    def _primal(self, model, prediction, rows: StepRows, h) -> tuple[BlockFactor, np.ndarray, np.ndarray]:
        """Factors and upper blocks of M + h (h + beta) K_R, and M u* minus the elastic impulses; prescribed ones are unit rows."""
        lam, mu = model.lame
        weight = h * (h + model.damping) * model.volume
        rotation, free = rows.elements.rotation, model.free
        values = np.zeros((len(self.pattern.row), 3, 3))
        assemble_stiffness(model.gradients, rotation, lam, mu, weight, self.block_index, values)
        mass = model.node_mass * (1 + h * model.node_mass_damping)
        values[self.diagonal_blocks] += mass[:, None, None] * np.eye(3)
        right = mass[:, None] * prediction.u[: model.node_count] + self._elastic_impulses(model, rows, weight, h)
        prescribed = np.where(free == 0, prediction.u[: model.node_count], 0.0)
        right -= self._product(values, prescribed)
        place_row, place_column = self._places()
        values *= free[place_row][:, :, None] * free[place_column][:, None, :]
        values[self.diagonal_blocks] += (1 - free)[:, :, None] * np.eye(3)
        right = np.where(free == 0, prescribed, right)
        return factor(self.pattern, values), values, right

    def _places(self) -> tuple[np.ndarray, np.ndarray]:
        """Row and column node of every stored block."""
        column = np.repeat(np.arange(len(self.pattern.order)), np.diff(self.pattern.column_start))
        return self.pattern.order[self.pattern.row], self.pattern.order[column]

    def _product(self, values, x: np.ndarray) -> np.ndarray:
        """A x for the symmetric matrix with these upper blocks; x (n, 3)."""
        row, column = self._places()
        out = np.zeros_like(x)
        np.add.at(out, row, np.einsum("kij,kj->ki", values, x[column]))
        off = row != column
        np.add.at(out, column[off], np.einsum("kji,kj->ki", values[off], x[row[off]]))
        return out

    def _residual(self, values, u, right) -> float:
        """|A u - b| / |b| of the primal system."""
        size = np.linalg.norm(right)
        return float(np.linalg.norm(self._product(values, u) - right) / (size if size else 1.0))

    def _elastic_impulses(self, model, rows: StepRows, weight, h) -> np.ndarray:
        """J^T R_c^-1 b summed at the nodes (n, 3)."""
        lam, mu = model.lame
        target = np.empty((len(model.volume), 6, LANES))
        element_targets(rows.elements.strain, rows.elements.plastic, model.damping, h, IDENTITY_BASIS, target)
        slots = np.zeros(model.volume.size * 12 + 1)
        shaped = slots[:-1].reshape(-1, 12, LANES)
        element_elastic_impulses(target, rows.elements.rotation, model.gradients, lam, mu, weight, shaped)
        impulse = np.empty((model.node_count, 3))
        nothing, unit = np.zeros(model.node_count + 1, np.int64), np.tile([1.0, 1, 1, 0, 0, 0], (model.node_count, 1))
        gather_slots(slots, model.adjacency_start, model.adjacency, nothing, np.zeros(0, np.int64), unit, impulse)
        return impulse

    def _row_operator(self, model, prediction, rows: StepRows, blocks, values) -> tuple[EliminatedOperator, np.ndarray]:
        """J (M + h^2 K)^-1 J^T + R over joints and contacts, scaled by an estimate of its diagonal."""
        table, n = rows.table, model.node_count
        estimate = prediction.inverse_mass.copy()
        inverse = np.linalg.inv(values[self.diagonal_blocks])
        estimate[:n] = inverse[:, [0, 1, 2, 1, 0, 0], [0, 1, 2, 2, 2, 1]] * np.where(model.free.all(axis=1), 1.0, 0.0)[:, None]
        diagonal = np.empty(table.compliance.shape)
        arguments = (table.start, table.triples, table.jacobian, table.compliance, estimate)
        row_diagonals(*arguments, self.options.regularization, diagonal)
        softness = self.options.regularization / (1 + self.options.regularization)
        adjacency = slot_adjacency(table.triples, table.jacobian, 0, model.triple_count)
        gather_mass = prediction.inverse_mass.copy()
        gather_mass[:n] = 0.0
        gather_mass[:n, :3] = model.free
        no_elements = np.zeros((0, 9, LANES))
        system = SystemOperator(
            nodes=np.zeros((0, 4, LANES), np.int32),
            gradients=no_elements,
            rotation=no_elements,
            compliance=np.zeros((0, 2, LANES)),
            basis=self.basis,
            ones=self.ones,
            start=table.start,
            triples=table.triples,
            jacobian=table.jacobian,
            compliance_rows=table.compliance + softness * (diagonal - table.compliance),
            adjacency_start=np.zeros(model.triple_count + 1, np.int64),
            adjacency=np.zeros(0, np.int64),
            row_adjacency_start=adjacency[0],
            row_adjacency=adjacency[1],
            inverse_mass=gather_mass,
            scale=1 / np.sqrt(diagonal.ravel()),
            velocity=np.empty((model.triple_count, 3)),
            slots=np.zeros(table.triples.size * 3 + 1),
        )
        return EliminatedOperator(system, blocks, system.scale), diagonal.ravel()
