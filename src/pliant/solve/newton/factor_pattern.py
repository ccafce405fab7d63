"""Where the blocks of elements and joints lie in a factorised primal matrix, and their numbers."""

import numpy as np

from pliant.kernels.matrices import FactorPreconditioner
from pliant.linalg.block_ldl import BlockPattern, factor, factor_forest
from pliant.linalg.connectivity import block_pairs
from pliant.linalg.sliced import SlicedPattern
from pliant.linalg.supernodes import Supernodes
from pliant.rows.table import Rows, entry_pairs

# Multiplications of 3x3 blocks from which on dense panels beat single columns.
PANEL_WORK = 300_000
# Columns and trees of the elimination forest from which on threads share them, and runs of them.
FOREST_COLUMNS, FOREST_TREES, MOST_RUNS = 2_000, 8, 32
# Part by which curvatures of rows may differ from those in the factors that are the whole matrix.
ALIKE = 0.01


class FactorPattern:
    """Where the blocks of elements and joints lie in L D L^T, found once."""

    def __init__(self, model, joints: Rows, free: np.ndarray, sliced: SlicedPattern | None = None):
        """sliced: the same matrix in slices, without joints, whose sums of element blocks are taken."""
        self.free, self.device = free, model.device
        row, column, _ = block_pairs(model.elements.connectivity())
        pairs = entry_pairs(joints)
        first, second = np.concatenate([row, pairs[2]]), np.concatenate([column, pairs[3]])
        self.pattern = BlockPattern.of_pairs(model.device, model.triple_count, first, second)
        column_length = np.diff(self.pattern.start).astype(float)
        self.work = float(np.sum(column_length * (column_length + 1) / 2))
        trees = np.count_nonzero(self.pattern.parent < 0)
        self.many = model.triple_count >= FOREST_COLUMNS and trees >= FOREST_TREES
        if self.work > PANEL_WORK or self.many:
            self.pattern = self.pattern.in_postorder()
        self.forest = self.pattern.forest(MOST_RUNS) if self.many else None
        self.room = self.panels = None  # factors to write over, and supernodes that do
        every = np.arange(model.triple_count)
        self.diagonal_blocks = self.pattern.find(every, every)[0]
        if sliced:
            self._place_blocks(sliced)

    def _place_blocks(self, sliced: SlicedPattern) -> None:
        """Where the sums of element blocks lie, and the blocks that prescribed components change."""
        pattern = self.pattern
        column = np.repeat(np.arange(len(pattern.order)), np.diff(pattern.column_start))
        i, j = pattern.order[pattern.row], pattern.order[column]
        self.code, self.values = sliced.couples(i, j), np.empty((len(i), 3, 3))
        self.held = np.flatnonzero((self.free[i] * self.free[j]).min(axis=1) == 0)
        first, second = self.free[i[self.held]], self.free[j[self.held]]
        self.mask = first[:, :, None] * second[:, None]
        self.unit = np.where((i == j)[self.held, None, None], np.eye(3) * (first == 0)[:, None], 0.0)

    def joint_pairs(self, joints: Rows) -> np.ndarray:
        """Pairs (m, 5) of entries of one block of joints whose product belongs to an upper block: the two entries,
        slice and lane, and that block."""
        first, second, i, j, place = entry_pairs(joints)
        index, transposed, _ = self.pattern.look_up(i, j)
        ends = np.where(transposed[:, None], np.stack([second, first], axis=1), np.stack([first, second], axis=1))
        return np.column_stack([ends, place, index]).astype(np.int64)

    def precondition(self, sums, mass, rows: Rows, curvature, offsets: np.ndarray):
        """The factors L D L^T, in place of those before, as a preconditioner of vectors in which triples lie at
        offsets (n,)."""
        values, work = self.assemble_upper(sums, mass, rows, curvature), np.empty((len(offsets), 3))
        if self.work > PANEL_WORK:
            self.panels = self.panels or Supernodes.of(self.pattern)
            return FactorPreconditioner(self.panels.factorise(values), offsets, work)
        if self.many:
            self.room = factor_forest(self.pattern, self.forest, values, self.room)
        else:
            self.room = factor(self.pattern, values, self.room)
        return FactorPreconditioner(self.room, offsets, work)

    def negative_pivots(self, factor) -> int:
        """How many scalar pivots of factors are negative; of those whose sign may be rounding none is."""
        inverse = factor.pivot[1] if self.panels else factor.pivot[:, 3:]
        return int(np.count_nonzero(inverse < 0.0))

    def quadratic(self, u: np.ndarray) -> float:
        """u^T A u over the free components (n, 3), of the matrix last assembled."""
        pattern, kernels = self.pattern, self.device.linalg.block_ldl
        places = (pattern.order, pattern.column_start, pattern.row)
        return kernels.symmetric_quadratic(*places, self.values, self.free * u)

    def local_norm(self, gradient: np.ndarray) -> float:
        """sqrt(g^T D^-1 g) with the diagonal blocks D of the matrix last assembled."""
        kernels = self.device.linalg.block_ldl
        if self.inverse is None:
            self.inverse = np.empty((len(self.free), 6))
            kernels.inverse_diagonals(self.diagonal_blocks, self.values, self.inverse)
        return kernels.norm_by_diagonals(self.inverse, gradient)

    def assemble_upper(self, sums, mass, rows: Rows, curvature) -> np.ndarray:
        """Upper blocks (k, 3, 3) of the matrix from sums (couples, 9) of element blocks; they stay until the next call.
        Pairs of triples that only contacts couple are left out."""
        kernels, values, pattern = self.device.linalg.scatter, self.values, self.pattern
        kernels.gather_upper(self.code, sums, self.diagonal_blocks, mass, values)
        self.whole = True  # whether no pair is left out
        if rows.slices:
            places = (pattern.place, pattern.column_start, pattern.row)
            whole = kernels.scatter_rows(*places, rows.start, rows.triples, rows.jacobian, curvature, values)
            self.whole = bool(whole)
        values[self.held] = values[self.held] * self.mask + self.unit
        self.inverse = None  # of its diagonal blocks
        return values


def alike(curvature: np.ndarray, before: np.ndarray) -> bool:
    """Whether curvatures (slices, 6, LANES) are so much the same that factors with those before still serve."""
    return bool(np.all(np.abs(curvature - before) <= ALIKE * np.abs(before).max(axis=1, keepdims=True)))
