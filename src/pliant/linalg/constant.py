"""Solving with one constant matrix of 3x3 blocks many times: block L D L^T, SuperLU, or conjugate gradients.

Prescribed components are eliminated: their rows and columns are those of the unit matrix.
"""

import numpy as np
from numba import get_num_threads
from scipy.sparse import bsr_matrix, coo_matrix, diags
from scipy.sparse.linalg import splu

from pliant.kernels.cpu.linalg.block_ldl import solve_factored
from pliant.kernels.cpu.linalg.pcg import BlockJacobi, RowTerms, solve_pcg
from pliant.kernels.cpu.linalg.sliced import SlicedMatrix, gather_matrix, invert_diagonals
from pliant.kernels.lanes import LANES
from pliant.linalg.block_ldl import BlockPattern, factor
from pliant.linalg.sliced import sliced_pattern

MAX_ITERATIONS = 5000
# Slices of rows from which on several threads pay.
PARALLEL_SLICES = 96


def assemble(count: int, tets: np.ndarray, blocks: np.ndarray) -> bsr_matrix:
    """The matrix (3 count, 3 count) of element blocks (m, 4, 4, 3, 3) over tets (m, 4)."""
    axes = np.arange(3)
    shape = blocks.shape
    row = np.broadcast_to(3 * tets[:, :, None, None, None] + axes[:, None], shape)
    column = np.broadcast_to(3 * tets[:, None, :, None, None] + axes, shape)
    matrix = coo_matrix((blocks.ravel(), (row.ravel(), column.ravel())), shape=(3 * count, 3 * count))
    return matrix.tocsr().tobsr((3, 3))


def eliminate(matrix: bsr_matrix, free: np.ndarray) -> bsr_matrix:
    """The matrix with unit rows and columns where free (n, 3) is zero."""
    keep = diags(free.ravel())
    return (keep @ matrix @ keep + diags(1 - free.ravel())).tobsr((3, 3))


class Cholesky:
    """Block L D L^T; `factor` also serves operators on the inverse."""

    def __init__(self, matrix: bsr_matrix, **_):
        count = matrix.shape[0] // 3
        matrix.sort_indices()
        row = np.repeat(np.arange(count), np.diff(matrix.indptr))
        pattern = BlockPattern.of_pairs(count, row, matrix.indices)
        index, transposed = pattern.find(row, matrix.indices)
        values = np.zeros((len(pattern.row), 3, 3))
        values[index[~transposed]] = matrix.data[~transposed]
        self.factor = factor(pattern, values)

    def solve(self, b: np.ndarray) -> tuple[np.ndarray, int]:
        """The solution (n, 3), and iterations (none)."""
        x = b.copy()
        solve_factored(self.factor, x)
        return x, 0


class Lu:
    """SuperLU's factors, with minimum degree ordering (C 2.4: LU on the CPU)."""

    def __init__(self, matrix: bsr_matrix, **_):
        self.factors = splu(matrix.tocsc(), permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True})

    def solve(self, b: np.ndarray) -> tuple[np.ndarray, int]:
        """The solution (n, 3), and iterations (none)."""
        return self.factors.solve(b.ravel()).reshape(b.shape), 0


class ConjugateGradients:
    """Conjugate gradients on sliced rows with inverse diagonal blocks, in float64 (C 2.4: CG on the GPU)."""

    def __init__(self, matrix: bsr_matrix, *, tets, blocks, free, tolerance: float):
        count, self.tolerance = len(free), tolerance
        self.pattern = pattern = sliced_pattern(count, tets, np.arange(len(tets)))
        lower = [(i, j) for i in range(4) for j in range(i + 1)]
        pairs = np.ascontiguousarray(np.stack([blocks[:, i, j].reshape(-1, 9) for i, j in lower], axis=1))
        shape = (pattern.slices, 3, LANES)
        self.free = pattern.pack(free, np.float64, 1.0)
        values = np.empty((len(pattern.column), 9, LANES))
        no_diagonal = np.zeros((pattern.slices, 9, LANES))
        lists = (pattern.part_start, pattern.source, pattern.target)
        sums = np.empty((pattern.column.size, 9))
        places = (pattern.start, pattern.column)
        gather_matrix(*places, *lists, pairs, self.free, no_diagonal, sums, values)
        self.matrix = SlicedMatrix(pattern.start, pattern.column, values)
        inverse = np.empty((pattern.slices, 9, LANES))
        invert_diagonals(pattern.start, values, no_diagonal, inverse)
        self.preconditioner = BlockJacobi(inverse)
        nothing = np.zeros((0, LANES), np.int64)
        self.rows = RowTerms(np.zeros(1, np.int64), nothing, np.zeros((0, 9, LANES)), np.zeros((0, 6, LANES)))
        self.work, self.x = np.empty((4, *shape)), np.empty(shape)

    def solve(self, b: np.ndarray) -> tuple[np.ndarray, int]:
        """The solution (n, 3), and iterations."""
        right = self.pattern.pack(b, np.float64)
        fixed = np.where(self.free == 0, right, 0.0)
        parallel = self.pattern.slices >= PARALLEL_SLICES and get_num_threads() > 1
        arguments = (right - fixed, self.x, self.work, self.tolerance, MAX_ITERATIONS, parallel)
        iterations, _, _ = solve_pcg(self.matrix, self.rows, self.free, self.preconditioner, *arguments)
        return self.pattern.unpack(self.x + fixed), iterations


FACTORS = {"cholesky": Cholesky, "lu": Lu, "cg": ConjugateGradients}
