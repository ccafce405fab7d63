"""The primal system of a few rigid bodies as one dense matrix: LAPACK solves it, and nothing has to be compiled."""

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from pliant.kernels.lanes import LANES
from pliant.rows.table import Rows

# Most triples of a system that is solved this way: beyond it compiled factors are quicker.
MOST_TRIPLES = 16
# Where xx, yy, zz, yz, xz, xy stand in a symmetric matrix.
SYMMETRIC = [[0, 5, 4], [5, 1, 3], [4, 3, 2]]


class DenseSystem:
    """M + J^T G J over the triples of a model without elements, contacts included; offers what PrimalSystem does."""

    linear, dtype = "dense", np.dtype(np.float64)

    def __init__(self, model):
        self.count, self.indefinite = model.triple_count, False
        self.dot = model.device.linalg.triples.dot
        self.free = np.repeat(~model.static, 2)[:, None] * np.ones(3)

    @staticmethod
    def fits(model) -> bool:
        """Whether a model is small enough and has no elements."""
        return not model.elements.sets and model.triple_count <= MOST_TRIPLES

    def take(self, terms: list) -> None:
        """There are no elements."""

    def assemble(self, mass: np.ndarray, rows: Rows, curvature: np.ndarray, x: np.ndarray | None = None) -> None:
        """The matrix from mass blocks (n, 3, 3) and the rows' curvatures G; prescribed components are unit rows."""
        n, free, self.jacobian = self.count, self.free.ravel(), rows.jacobian.copy()
        inertia = np.zeros((n, 3, n, 3))
        inertia[np.arange(n), :, np.arange(n)] = mass
        self.inertia = inertia.reshape(3 * n, 3 * n) * np.outer(free, free) + np.diag(1 - free)
        jacobian, weight = self._dense_rows(rows), curvature[:, SYMMETRIC].transpose(0, 3, 1, 2).reshape(-1, 3, 3)
        touching = np.flatnonzero(weight.any(axis=(1, 2)))
        jacobian = jacobian[touching] * free
        pushed = (weight[touching] @ jacobian).reshape(-1, 3 * n)
        self.matrix = self.inertia + jacobian.reshape(-1, 3 * n).T @ pushed
        blocks = self.matrix.reshape(n, 3, n, 3)[np.arange(n), :, np.arange(n)]
        self.inverse = _inverses(blocks)
        try:
            self.factors = cho_factor(self.matrix)
        except LinAlgError:
            self.factors = None

    def _dense_rows(self, rows: Rows) -> np.ndarray:
        """J of every block (slices LANES, 3, 3 n)."""
        dense, lanes = np.zeros((rows.slices, LANES, self.count, 3, 3)), np.arange(LANES)
        for s in range(rows.slices):
            for entry in range(rows.start[s], rows.start[s + 1]):
                dense[s, lanes, rows.triples[entry]] += rows.jacobian[entry].T.reshape(-1, 3, 3)
        return dense.transpose(0, 1, 3, 2, 4).reshape(rows.slices * LANES, 3, 3 * self.count)

    def solve(self, b: np.ndarray, tolerance: float) -> tuple[np.ndarray, int]:
        """The solution (n, 3) for a right-hand side (n, 3) that is zero where components are prescribed; one solve."""
        self.indefinite, right = self.factors is None, (b * self.free).ravel()
        answer = np.linalg.lstsq(self.matrix, right)[0] if self.indefinite else cho_solve(self.factors, right)
        return answer.reshape(-1, 3), 1

    roughly_solve = solve

    def product(self, u: np.ndarray) -> np.ndarray:
        """(A + J^T G J) u over the free components (n, 3)."""
        return self.free * (self.matrix @ (u * self.free).ravel()).reshape(-1, 3)

    def local_norm(self, gradient: np.ndarray) -> float:
        """sqrt(g^T D^-1 g) with the diagonal blocks D."""
        return float(np.sqrt(max(np.einsum("ni,nij,nj", gradient, self.inverse, gradient), 0.0)))

    def quadratic(self, u: np.ndarray) -> float:
        """u^T A u without the rows, over the free components."""
        moving = (u * self.free).ravel()
        return float(moving @ self.inertia @ moving)


def _inverses(blocks: np.ndarray) -> np.ndarray:
    """Inverses of symmetric blocks (n, 3, 3); where rounding has made one singular, without its smallest directions."""
    try:
        return np.linalg.inv(blocks)
    except LinAlgError:
        return np.linalg.pinv(blocks, hermitian=True)
