"""Joints and contacts by impulses alone: the row table on an inverse mass, or on the inverse of a factorised matrix.

For solvers in which the elements are no rows: explicit steps (J M^-1 J^T + R), and the constant matrix of linear
elasticity (J A^-1 J^T + R for the nodes, inverse masses for rigid bodies).
"""

import numpy as np

from pliant.kernels.matrices import BlockFactor
from pliant.kernels.operators import EliminatedOperator
from pliant.linalg.operators import rows_only
from pliant.rows.table import Rows
from pliant.solve.dual.gaps import close_joint_gaps, softened
from pliant.solve.dual.solver import DualSolver, row_count
from pliant.solve.info import Info
from pliant.solve.options import Dual
from pliant.solve.problem import Problem


class RowSolver(DualSolver):
    """The dual problem over joints and contacts only, in float64."""

    def __init__(self, tolerance: float, model):
        self._choose(model, Dual(tolerance=tolerance), np.float64)

    def solve_rows(
        self, problem: Problem, table: Rows, u, inverse_mass, factor: BlockFactor | None = None, free=None
    ) -> tuple[np.ndarray, np.ndarray, Info]:
        """The change of velocity (triples, 3) that the rows make at u, their impulses, and what it took.

        table: rows.table or a copy with some rows left out. inverse_mass (triples, 6); with a factor of the nodes'
        matrix, only an estimate for the nodes that scales their rows, and free (nodes, 3) says which components move.
        """
        model, rows = problem.model, problem.rows
        if not table.slices:
            return np.zeros_like(u), np.zeros(table.target.shape), Info("rows")
        diagonal = np.empty(table.compliance.shape)
        geometry = (table.start, table.triples, table.jacobian)
        self.device.table.row_diagonals(*geometry, table.compliance, inverse_mass, 0.0, diagonal)
        softness = np.zeros(table.compliance.shape)
        joints = slice(0, rows.equality_slices)
        softness[joints] = self.softness * (table.compliance[joints] == 0) * diagonal[joints]
        gather = inverse_mass if factor is None else _unit_for_nodes(inverse_mass, free)
        compliance, diagonal = table.compliance + softness, diagonal + softness
        system = rows_only(self.device, model.triple_count, table, compliance, gather, diagonal, np.float64)
        operator = system if factor is None else EliminatedOperator(system, factor, system.scale)
        rate = np.empty(table.target.size)
        self.device.system.row_product(system, u, np.zeros_like(rate), rate)
        low, high = table.low.ravel() / system.scale, table.high.ravel() / system.scale
        friction = self._friction(rows, diagonal.ravel(), 0)
        x = self._warm_impulses(problem.state, rows, 0) / system.scale
        info = self._minimise(operator, system.scale * table.target.ravel() - rate, low, high, friction, x)
        self._transpose(operator, x)
        info.rows, info.active = row_count(self.device, table), int(np.count_nonzero((x <= low) | (x >= high)))
        return system.velocity, (x * system.scale).reshape(table.target.shape), info

    def _transpose(self, operator, x: np.ndarray) -> None:
        """The change of velocity by scaled impulses x, into the operator's own `velocity`."""
        if isinstance(operator, EliminatedOperator):
            self.device.linalg.operators.apply_transposed(operator, x)
        else:
            self.device.system.transposed_product(operator, x, operator.velocity)

    def close_gaps(
        self, problem: Problem, rows: Rows, inverse_mass, factor: BlockFactor | None = None, free=None
    ) -> tuple[np.ndarray, int]:
        """Velocities (triples, 3) with which the rows of joints reach their targets, and products it took; arguments
        as of `solve_rows`."""
        diagonal, compliance = softened(self.device, rows, inverse_mass)
        gather = inverse_mass if factor is None else _unit_for_nodes(inverse_mass, free)
        system = rows_only(self.device, problem.model.triple_count, rows, compliance, gather, diagonal, np.float64)
        operator = system if factor is None else EliminatedOperator(system, factor, system.scale)
        x, products = close_joint_gaps(self.device, operator, rows, factor is not None)
        self._transpose(operator, x)
        return system.velocity, products


def _unit_for_nodes(inverse_mass: np.ndarray, free: np.ndarray) -> np.ndarray:
    """Rigid bodies as they are, nodes with the unit matrix: what follows are the factors."""
    gather = inverse_mass.copy()
    gather[: len(free)] = 0.0
    gather[: len(free), :3] = free
    return gather
