"""The primal system of a few rigid bodies as one dense matrix, factorised whole: joints and contacts are met whole,
however they are coupled."""

import numpy as np
from numpy.linalg import LinAlgError

from pliant.rows.softness import FIRM_CONTACTS
from pliant.rows.table import Rows

# Most triples of a system that is solved this way, of bodies that may touch and of others: beyond it sparse factors or
# iterations are quicker.
MOST_TRIPLES, MOST_TRIPLES_APART = 160, 16


class DenseSystem:
    """M + J^T G J over the triples of a model without elements, contacts included; offers what PrimalSystem does."""

    linear, dtype = "dense", np.dtype(np.float64)
    direct, iterates = True, False  # solves are cheap beside evaluations
    bare = False  # it is never asked for without rows
    patience = 12  # iterations before sweeps over contacts
    contact_softness = FIRM_CONTACTS

    def __init__(self, model):
        self.count, self.indefinite = model.triple_count, False
        self.kernels, self.dot = model.device.linalg, model.device.linalg.triples.dot
        self.free = np.repeat(~model.static, 2)[:, None] * np.ones(3)

    @staticmethod
    def fits(model) -> bool:
        """Whether a model is small enough and has no elements."""
        most = MOST_TRIPLES if model.may_touch else MOST_TRIPLES_APART
        return not model.elements.sets and model.triple_count <= most

    def take(self, terms: list) -> None:
        """There are no elements."""

    def assemble(self, mass: np.ndarray, rows: Rows, curvature: np.ndarray, x: np.ndarray | None = None) -> None:
        """The matrix from mass blocks (n, 3, 3) and the rows' curvatures G; prescribed components are unit rows."""
        n, free, self.jacobian = self.count, self.free.ravel(), rows.jacobian.copy()
        self.mass = mass
        inertia = np.zeros((n, 3, n, 3))
        inertia[np.arange(n), :, np.arange(n)] = mass
        self.inertia = inertia.reshape(3 * n, 3 * n) * np.outer(free, free) + np.diag(1 - free)
        pushed = np.zeros((3 * n, 3 * n))
        self.kernels.dense.add_dense_rows(rows.start, rows.triples, rows.jacobian, curvature, pushed)
        pushed *= free[:, None]
        pushed *= free
        self.matrix = self.inertia + pushed  # its lower half
        blocks = self.matrix.reshape(n, 3, n, 3)[np.arange(n), :, np.arange(n)]
        self.inverse = _inverses(np.tril(blocks) + np.tril(blocks, -1).transpose(0, 2, 1))
        self.factors = self.matrix.copy()
        # LAPACK would wake BLAS threads, whose spinning slows ours
        if not self.kernels.dense.factorise_lower(self.factors):
            self.factors = None

    def solve(self, b: np.ndarray, tolerance: float) -> tuple[np.ndarray, int]:
        """The solution (n, 3) for a right-hand side (n, 3) that is zero where components are prescribed; one solve."""
        self.indefinite, right = self.factors is None, (b * self.free).ravel()
        whole = np.tril(self.matrix) + np.tril(self.matrix, -1).T if self.indefinite else None
        answer = np.linalg.lstsq(whole, right)[0] if self.indefinite else self._substituted(right)
        return answer.reshape(-1, 3), 1

    def _substituted(self, right: np.ndarray) -> np.ndarray:
        self.kernels.two_level.solve_dense(self.factors, right)
        return right

    roughly_solve = solve

    def product(self, u: np.ndarray) -> np.ndarray:
        """(A + J^T G J) u over the free components (n, 3)."""
        whole = np.tril(self.matrix) + np.tril(self.matrix, -1).T
        return self.free * (whole @ (u * self.free).ravel()).reshape(-1, 3)

    def bare_product(self, u: np.ndarray) -> np.ndarray:
        """M u (n, 3)."""
        return self.kernels.triples.multiply_diagonal(self.mass, u)

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
