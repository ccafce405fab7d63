"""Sparse direct solvers of libraries for the primal system: SuperLU (SciPy), MKL PARDISO (extra `mkl`)."""

import numpy as np
from scipy.sparse import csc_matrix, csr_matrix, triu
from scipy.sparse.linalg import splu

from pliant.errors import SceneError
from pliant.solve.newton.factor_pattern import FactorPattern


class LibraryFactor(FactorPattern):
    """The pattern of elements and joints as one sparse matrix of numbers, factorised by a library.

    library: "superlu" or "pardiso". The places of the numbers are found once; PARDISO, which takes the upper half of a
    symmetric matrix, also keeps its analysis.
    """

    def __init__(self, model, joints, free: np.ndarray, sliced, library: str):
        super().__init__(model, joints, free, sliced)
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
        numbered = triu(numbered, format="csr") if library == "pardiso" else numbered
        numbered.sort_indices()
        self.shape, self.indices, self.indptr = numbered.shape, numbered.indices, numbered.indptr
        self.places = numbered.data - 1
        if library == "pardiso":
            self.solver = Pardiso()

    def factorise_library(self, sums, mass, rows, curvature) -> None:
        """New numbers, same pattern."""
        upper = self.assemble_upper(sums, mass, rows, curvature).reshape(-1)
        numbers = np.concatenate([upper, upper[self.mirrored]])[self.places]
        if self.library == "pardiso":
            self.solver.renew(csr_matrix((numbers, self.indices, self.indptr), shape=self.shape))
        else:
            options = {"SymmetricMode": True}
            symmetric = csc_matrix((numbers, self.indices, self.indptr), shape=self.shape)
            self.factors = splu(symmetric, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options)

    def solve(self, b: np.ndarray) -> np.ndarray:
        """The solution (n, 3) for a right-hand side (n, 3)."""
        right = np.ascontiguousarray(b.reshape(-1))
        solver = self.solver if self.library == "pardiso" else self.factors
        return solver.solve(right).reshape(-1, 3)


class Pardiso:
    """MKL PARDISO through pypardiso, for symmetric matrices of one pattern; what must be analysed is analysed once."""

    # phases of the library's routine, and its number for real symmetric matrices
    ANALYSE_AND_FACTORISE, FACTORISE, SOLVE, SYMMETRIC = 12, 22, 33, -2

    def __init__(self):
        try:
            from pypardiso import PyPardisoSolver
        except ImportError:
            raise SceneError(
                "linear='pardiso' needs the extra 'mkl' (pip install 'pliant[mkl]'); "
                "without it use linear='superlu' or 'cholesky'"
            ) from None
        self.routine, self.matrix = PyPardisoSolver(mtype=self.SYMMETRIC), None

    def renew(self, matrix: csr_matrix) -> None:
        """Factorise a matrix, of which the upper half is given."""
        phase = self.ANALYSE_AND_FACTORISE if self.matrix is None else self.FACTORISE
        self.matrix = matrix
        self._call(phase, np.zeros(matrix.shape[0]))

    def solve(self, b: np.ndarray) -> np.ndarray:
        """The solution for a right-hand side (n,)."""
        return self._call(self.SOLVE, b)

    def _call(self, phase: int, b: np.ndarray) -> np.ndarray:
        # pypardiso's own methods analyse every matrix anew, and compare it with the last one in every solve
        self.routine.set_phase(phase)
        return self.routine._call_pardiso(self.matrix, b)
