"""Factors of J M^-1 J^T + R over joints: a chain is a band there, and a net of ball joints has half as many unknowns as
velocities."""

import numpy as np

from pliant.kernels.device import Device
from pliant.kernels.lanes import LANES
from pliant.linalg.block_ldl import BlockPattern, factor
from pliant.rows.table import Rows


class Meetings:
    """Where entries of row blocks meet at a triple: first, second (k,) are such entries, entry * LANES + lane, and
    block, other (k,) the blocks, slice * LANES + lane, that have them; of two blocks the first comes first, entries of
    one block are there in both orders."""

    def __init__(self, rows: Rows, moves: np.ndarray):
        """moves (n,): triples that do."""
        entry, lane = np.nonzero(np.any(rows.jacobian != 0, axis=1) & moves[rows.triples])
        triple, entry_slice = rows.triples[entry, lane], np.repeat(np.arange(rows.slices), np.diff(rows.start))
        order = np.argsort(triple, kind="stable")
        own, block = (entry * LANES + lane)[order], (entry_slice[entry] * LANES + lane)[order]
        begin, size = np.unique(triple[order], return_index=True, return_counts=True)[1:]
        each = np.repeat(size, size)  # how many entries the triple of an entry has
        first = np.repeat(np.arange(len(own)), each)
        second = np.arange(len(first)) + np.repeat(np.repeat(begin, size) - (np.cumsum(each) - each), each)
        kept = block[first] <= block[second]
        first, second = first[kept], second[kept]
        self.first, self.second, self.block, self.other = own[first], own[second], block[first], block[second]


class RowFactors:
    """Solves (J M^-1 J^T + R) impulse = right for joints between the same triples at every state."""

    def __init__(self, device: Device, meetings: Meetings, block_count: int):
        self.device = device
        self.pattern = pattern = BlockPattern.of_pairs(device, block_count, meetings.block, meetings.other).in_runs()
        index, transposed = pattern.find(meetings.block, meetings.other)
        order = np.argsort(index, kind="stable")
        self.first = np.where(transposed, meetings.second, meetings.first)[order]
        self.second = np.where(transposed, meetings.first, meetings.second)[order]
        self.start = np.searchsorted(index[order], np.arange(len(pattern.row) + 1))
        every = np.arange(block_count)
        self.diagonal_blocks = pattern.find(every, every)[0]
        self.values, self.factor = np.empty((len(pattern.row), 3, 3)), None

    def impulses(self, rows: Rows, compliance: np.ndarray, inverse_mass: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Impulses (slices, 3, LANES) with which rows of a compliance R meet velocities right, both of that shape."""
        kernels, values = self.device.linalg, self.values
        plain = np.empty((rows.triples.size, 9))
        weighted = np.empty_like(plain)
        kernels.row_products.weigh_entries(rows.triples, rows.jacobian, inverse_mass, plain, weighted)
        kernels.row_products.mobility_blocks(self.start, self.first, self.second, plain, weighted, values)
        diagonal = compliance.transpose(0, 2, 1).reshape(-1, 3)
        for row in range(3):
            values[self.diagonal_blocks, row, row] += diagonal[:, row]
        self.factor = factor(self.pattern, values, self.factor)
        answer = np.ascontiguousarray(right.transpose(0, 2, 1)).reshape(-1, 3)
        kernels.block_ldl.solve_factored(self.factor, answer)
        return answer.reshape(rows.slices, LANES, 3).transpose(0, 2, 1)

    def moved(self, rows: Rows, impulse: np.ndarray, inverse_mass: np.ndarray) -> np.ndarray:
        """Velocities (n, 3) that impulses of rows give: M^-1 J^T impulse."""
        out = np.zeros((len(inverse_mass), 3))
        self.device.linalg.row_products.moved(rows.start, rows.triples, rows.jacobian, impulse, inverse_mass, out)
        return out
