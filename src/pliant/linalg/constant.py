"""Solving with one constant matrix of 3x3 blocks many times: block L D L^T, SuperLU, or conjugate gradients.

Prescribed components are eliminated: their rows and columns are those of the unit matrix.
"""

import numpy as np
from numba import get_num_threads
from scipy.sparse import bsr_matrix, coo_matrix, csr_matrix, diags
from scipy.sparse.linalg import splu

from pliant.kernels.device import Device
from pliant.kernels.lanes import LANES
from pliant.kernels.matrices import BlockJacobi, RowTerms, SlicedMatrix
from pliant.linalg.block_ldl import BlockPattern, factor
from pliant.linalg.connectivity import Connectivity, lower_pairs
from pliant.linalg.sliced import sliced_pattern

MAX_ITERATIONS = 5000
# Slices of rows from which on several threads pay.
PARALLEL_SLICES = 96


def assemble(count: int, parts: list[tuple[np.ndarray, np.ndarray]]) -> bsr_matrix:
    """The matrix (3 count, 3 count) of element blocks (m, w, w, 3, 3) over the nodes (m, w) of elements of any
    widths."""
    axes, matrix = np.arange(3), csr_matrix((3 * count, 3 * count))
    for nodes, blocks in parts:
        row = np.broadcast_to(3 * nodes[:, :, None, None, None] + axes[:, None], blocks.shape)
        column = np.broadcast_to(3 * nodes[:, None, :, None, None] + axes, blocks.shape)
        matrix += coo_matrix((blocks.ravel(), (row.ravel(), column.ravel())), shape=matrix.shape).tocsr()
    return matrix.tobsr((3, 3))


def eliminate(matrix: bsr_matrix, free: np.ndarray) -> bsr_matrix:
    """The matrix with unit rows and columns where free (n, 3) is zero."""
    keep = diags(free.ravel())
    return (keep @ matrix @ keep + diags(1 - free.ravel())).tobsr((3, 3))


class Cholesky:
    """Block L D L^T; `factor` also serves operators on the inverse."""

    def __init__(self, device: Device, matrix: bsr_matrix, **_):
        self.device, count = device, matrix.shape[0] // 3
        matrix.sort_indices()
        row = np.repeat(np.arange(count), np.diff(matrix.indptr))
        pattern = BlockPattern.of_pairs(device, count, row, matrix.indices)
        index, transposed = pattern.find(row, matrix.indices)
        values = np.zeros((len(pattern.row), 3, 3))
        values[index[~transposed]] = matrix.data[~transposed]
        self.factor = factor(pattern, values)

    def solve(self, b: np.ndarray) -> tuple[np.ndarray, int]:
        """The solution (n, 3), and iterations (none)."""
        x = b.copy()
        self.device.linalg.block_ldl.solve_factored(self.factor, x)
        return x, 0


class Lu:
    """SuperLU's factors, with minimum degree ordering (C 2.4: LU on the CPU)."""

    def __init__(self, device: Device, matrix: bsr_matrix, **_):
        self.factors = splu(matrix.tocsc(), permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True})

    def solve(self, b: np.ndarray) -> tuple[np.ndarray, int]:
        """The solution (n, 3), and iterations (none)."""
        return self.factors.solve(b.ravel()).reshape(b.shape), 0


class ConjugateGradients:
    """Conjugate gradients on sliced rows with inverse diagonal blocks, in float64 (C 2.4: CG on the GPU)."""

    def __init__(self, device: Device, matrix: bsr_matrix, *, parts, free, tolerance: float):
        self.device, self.tolerance = device, tolerance
        count, kernels = len(free), device.linalg.sliced
        connectivity, pairs = _block_list(parts)
        self.pattern = pattern = sliced_pattern(device, count, connectivity)
        shape = (pattern.slices, 3, LANES)
        self.free = pattern.pack(free, np.float64, 1.0)
        values = np.empty((len(pattern.column), 9, LANES))
        no_diagonal = np.zeros((pattern.slices, 9, LANES))
        sums = np.empty((max(len(pattern.turned), 1), 9))
        gathering = pattern.gathering(free)
        kernels.gather_sums(gathering, pairs, sums)
        kernels.fill_slices(gathering, pattern.start, sums, np.zeros((count, 3, 3)), values)
        self.matrix = SlicedMatrix(pattern.start, pattern.column, values)
        inverse = np.empty((pattern.slices, 9, LANES))
        kernels.invert_diagonals(pattern.start, values, no_diagonal, inverse)
        self.preconditioner = BlockJacobi(inverse)
        nothing = np.zeros((0, LANES), np.int64)
        self.rows = RowTerms(np.zeros(1, np.int64), nothing, np.zeros((0, 9, LANES)), np.zeros((0, 6, LANES)))
        self.work, self.x = np.empty((4, *shape)), np.empty(shape)

    def solve(self, b: np.ndarray) -> tuple[np.ndarray, int]:
        """The solution (n, 3), and iterations."""
        right = self.pattern.pack(b, np.float64)
        fixed = np.where(self.free == 0, right, 0.0)
        parallel = self.pattern.slices >= PARALLEL_SLICES and get_num_threads() > 1
        arguments = (right - fixed, self.x, self.work, self.tolerance, MAX_ITERATIONS, parallel, 0.0)
        operator = (self.matrix, self.rows, self.free, self.preconditioner)
        iterations, _, _ = self.device.linalg.pcg.solve_pcg(*operator, *arguments)
        return self.pattern.unpack(self.x + fixed), iterations


def _block_list(parts: list[tuple[np.ndarray, np.ndarray]]) -> tuple[list[Connectivity], np.ndarray]:
    """Element blocks (m, w, w, 3, 3) over nodes (m, w) as connectivities and one list (k, 9) of their lower halves."""
    connectivity, lists = [], [np.zeros((0, 9))]
    for nodes, blocks in parts:
        lower = lower_pairs(nodes.shape[1])
        first = sum(map(len, lists)) + len(lower) * np.arange(len(nodes))
        connectivity.append(Connectivity(nodes, first))
        lists.append(np.stack([blocks[:, i, j] for i, j in lower], axis=1).reshape(-1, 9))
    return connectivity, np.concatenate(lists)


FACTORS = {"cholesky": Cholesky, "lu": Lu, "cg": ConjugateGradients}
