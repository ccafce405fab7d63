"""Where the blocks of elements and joints lie in a factorised primal matrix, and their numbers."""

import numpy as np

from pliant.linalg.block_ldl import BlockPattern, factor
from pliant.linalg.connectivity import block_pairs
from pliant.rows.table import Rows, entry_pairs


class FactorPattern:
    """Where the blocks of elements and joints lie in L D L^T, found once."""

    def __init__(self, model, joints: Rows, free: np.ndarray):
        self.free, self.device = free, model.device
        row, column, place = block_pairs(model.elements.connectivity())
        pairs = entry_pairs(joints)
        first, second = np.concatenate([row, pairs[2]]), np.concatenate([column, pairs[3]])
        self.pattern = BlockPattern.of_pairs(model.device, model.triple_count, first, second)
        column_length = np.diff(self.pattern.start).astype(float)
        self.work = float(np.sum(column_length * (column_length + 1) / 2))
        every = np.arange(model.triple_count)
        self.diagonal_blocks = self.pattern.find(every, every)[0]
        self.element_index = np.full(model.elements.block_count, -1, np.int64)
        self.element_index[place] = self.signed_index(row, column)[0]

    def signed_index(self, first, second) -> tuple[np.ndarray, np.ndarray]:
        """Stored block of each pair of triples, -2 - index when it is stored transposed; and whether there is one."""
        index, transposed, found = self.pattern.look_up(first, second)
        return np.where(transposed, -2 - index, index), found

    def joint_pairs(self, joints: Rows) -> np.ndarray:
        """Pairs (m, 5) of entries of one block of joints whose product belongs to an upper block: the two entries,
        slice and lane, and that block."""
        first, second, i, j, place = entry_pairs(joints)
        index, transposed, _ = self.pattern.look_up(i, j)
        ends = np.where(transposed[:, None], np.stack([second, first], axis=1), np.stack([first, second], axis=1))
        return np.column_stack([ends, place, index]).astype(np.int64)

    def factorise(self, blocks, mass, rows: Rows, curvature):
        """Numbers of the factors L D L^T."""
        return factor(self.pattern, self.assemble_upper(blocks, mass, rows, curvature))

    def assemble_upper(self, blocks, mass, rows: Rows, curvature) -> np.ndarray:
        """Upper blocks (k, 3, 3) of the matrix. Pairs of triples that only contacts couple are left out."""
        kernels, values = self.device.linalg, np.zeros((len(self.pattern.row), 3, 3))
        kernels.scatter.scatter_blocks(blocks, self.element_index, values)
        values[self.diagonal_blocks] += mass
        pattern = self.pattern
        places = (pattern.place, pattern.column_start, pattern.row)
        kernels.scatter.scatter_rows(*places, rows.start, rows.triples, rows.jacobian, curvature, values)
        kernels.block_ldl.restrict(self.pattern.order, self.pattern.column_start, self.pattern.row, self.free, values)
        return values
