"""Sparse direct solvers of libraries for the primal system: SuperLU (SciPy), MKL PARDISO (extra `mkl`)."""

import numpy as np
from scipy.sparse import csc_matrix, csr_matrix
from scipy.sparse.linalg import splu

from pliant.errors import SceneError
from pliant.solve.factor_pattern import FactorPattern


class LibraryFactor(FactorPattern):
    """The pattern of elements and joints as one sparse matrix of numbers, factorised by a library.

    library: "superlu" or "pardiso". The places of the numbers are found once; PARDISO also keeps its analysis.
    """

    def __init__(self, model, joints, free: np.ndarray, library: str):
        super().__init__(model, joints, free)
        self.library, size = library, 3 * model.triple_count
        column = np.repeat(np.arange(model.triple_count), np.diff(self.pattern.column_start))
        i, j = self.pattern.order[self.pattern.row], self.pattern.order[column]
        inner = np.arange(3)
        rows = (3 * i[:, None, None] + inner[:, None] + 0 * inner).ravel()
        columns = (3 * j[:, None, None] + 0 * inner[:, None] + inner).ravel()
        self.mirrored = np.repeat(i != j, 9)
        rows, columns = (
            np.concatenate([rows, columns[self.mirrored]]),
            np.concatenate([columns, rows[self.mirrored]]),
        )
        numbered = csr_matrix((np.arange(1, len(rows) + 1), (rows, columns)), shape=(size, size))
        numbered.sort_indices()
        self.shape, self.indices, self.indptr = numbered.shape, numbered.indices, numbered.indptr
        self.places = numbered.data - 1
        if library == "pardiso":
            self.solver = _pardiso()

    def factorise_library(self, blocks, mass, rows, curvature) -> None:
        """New numbers, same pattern."""
        upper = self.assemble_upper(blocks, mass, rows, curvature).reshape(-1)
        numbers = np.concatenate([upper, upper[self.mirrored]])[self.places]
        matrix = csr_matrix((numbers, self.indices, self.indptr), shape=self.shape)
        if self.library == "superlu":
            options = {"SymmetricMode": True}
            symmetric = csc_matrix((numbers, self.indices, self.indptr), shape=self.shape)
            self.factors = splu(symmetric, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options)
        else:
            self.matrix = matrix
            self.solver.factorize(matrix)

    def solve(self, b: np.ndarray) -> np.ndarray:
        """The solution (n, 3) for a right-hand side (n, 3)."""
        right = np.ascontiguousarray(b.reshape(-1))
        answer = self.factors.solve(right) if self.library == "superlu" else self.solver.solve(self.matrix, right)
        return answer.reshape(-1, 3)


def _pardiso():
    """MKL PARDISO through pypardiso."""
    try:
        from pypardiso import PyPardisoSolver
    except ImportError:
        raise SceneError(
            "Newton(linear='pardiso') needs the extra 'mkl' (pip install 'pliant[mkl]'); "
            "without it use linear='superlu' or 'cholesky'"
        ) from None
    return PyPardisoSolver(mtype=11)
