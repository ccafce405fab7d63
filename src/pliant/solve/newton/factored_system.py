"""The primal system of rigid bodies in joints that nothing touches: sparse, factorised whole, solved by its factors."""

import numpy as np

from pliant.linalg.block_ldl import factor
from pliant.rows.softness import LOOSE_CONTACTS
from pliant.rows.table import Rows
from pliant.solve.newton.factor_pattern import FactorPattern


class FactoredSystem:
    """M + J^T G J over the triples of a model without elements and contacts; offers what PrimalSystem does, but for
    what pressures need."""

    linear, dtype = "cholesky", np.dtype(np.float64)
    direct, iterates = True, False  # solves are cheap beside evaluations
    bare = False  # it is never asked for without rows
    patience, contact_softness = 3, LOOSE_CONTACTS  # there are no contacts

    def __init__(self, model, joints: Rows):
        """joints: their rows where nothing is zero by chance."""
        self.indefinite, self.device, self.free = False, model.device, model.free_triples
        self.kernels, self.dot = model.device.linalg, model.device.linalg.triples.dot
        self.places = FactorPattern(model, joints, self.free)
        self.pairs = self.places.joint_pairs(joints)
        self.values = np.empty((len(self.places.pattern.row), 3, 3))
        self.inverse, self.factors = np.empty((model.triple_count, 6)), None

    @staticmethod
    def fits(model) -> bool:
        """Whether a model has rigid bodies in joints and nothing else."""
        return not model.elements.sets and not model.may_touch and len(model.joints.family) > 0

    def take(self, terms: list) -> None:
        """There are no elements."""

    def assemble(self, mass: np.ndarray, rows: Rows, curvature: np.ndarray, x: np.ndarray | None = None) -> None:
        """Matrix and factors from mass blocks (n, 3, 3) and the rows' curvatures G; prescribed components are unit
        rows."""
        pattern, self.jacobian, self.mass = self.places.pattern, rows.jacobian.copy(), mass
        places = (pattern.order, pattern.column_start, pattern.row, self.places.diagonal_blocks, self.pairs)
        numbers = (mass, rows.jacobian, curvature, self.free)
        self.kernels.scatter.assemble_pairs(*places, *numbers, self.values, self.inverse)
        self.factors = factor(pattern, self.values, self.factors)

    def solve(self, b: np.ndarray, tolerance: float) -> tuple[np.ndarray, int]:
        """The solution (n, 3) for a right-hand side (n, 3) that is zero where components are prescribed; one solve."""
        right = b * self.free
        answer = right.copy()
        self.kernels.block_ldl.solve_factored(self.factors, answer)
        self.indefinite = self.dot(right, answer) < 0.0
        return answer, 1

    def bare_product(self, u: np.ndarray) -> np.ndarray:
        """M u (n, 3)."""
        return self.kernels.triples.multiply_diagonal(self.mass, u)

    def local_norm(self, gradient: np.ndarray) -> float:
        """sqrt(g^T D^-1 g) with the diagonal blocks D."""
        return self.kernels.block_ldl.norm_by_diagonals(self.inverse, gradient)

    def quadratic(self, u: np.ndarray) -> float:
        """u^T M u, over the free components."""
        return self.kernels.triples.quadratic_diagonal(self.mass, u * self.free)
