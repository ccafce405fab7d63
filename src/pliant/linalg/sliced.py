"""A symmetric matrix of 3x3 blocks in sliced rows: LANES rows side by side, so that products vectorise.

Vectors are (slices, 3, LANES) in the matrix's own order of triples. Values are gathered from the elements' blocks in
fixed order, so that results do not depend on the number of threads.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import reverse_cuthill_mckee

from pliant.kernels.cpu.linalg.sliced import _pack, _unpack
from pliant.kernels.lanes import LANES
from pliant.linalg.connectivity import Connectivity, block_pairs

# Rows are sorted by length within windows of this many, which keeps neighbours near each other.
WINDOW = 16 * LANES
# Parts of the rows that are summed independently; fixed, so that results do not depend on the number of threads.
PARTS = 16


@dataclass
class SlicedPattern:
    """Where the blocks lie. place (n,): row of each triple in the matrix's order. part_start (PARTS + 1,), source,
    target: element blocks, 2 * block + (1 if it is to be transposed), and the entry (entry * LANES + lane) each is
    added to, by parts of the rows."""

    place: np.ndarray
    start: np.ndarray
    column: np.ndarray
    part_start: np.ndarray
    source: np.ndarray
    target: np.ndarray

    @property
    def slices(self) -> int:
        """How many slices of rows there are."""
        return len(self.start) - 1

    def offsets(self) -> np.ndarray:
        """Flat offset (n,) of each triple's first component in a vector."""
        return self.place // LANES * 3 * LANES + self.place % LANES

    def pack(self, values: np.ndarray, dtype, fill: float = 0.0) -> np.ndarray:
        """(n, 3) -> (slices, 3, LANES) in the matrix's order."""
        out = np.full((self.slices, 3, LANES), fill, dtype)
        _pack(self.place, np.asarray(values, np.float64), out)
        return out

    def unpack(self, vector: np.ndarray) -> np.ndarray:
        """(slices, 3, LANES) -> (n, 3)."""
        out = np.empty((len(self.place), 3))
        _unpack(self.place, vector, out)
        return out

    def in_lanes(self, values: np.ndarray, fill) -> np.ndarray:
        """One number for each triple (n,) -> (slices, LANES) in the matrix's order."""
        out = np.full(self.slices * LANES, fill, values.dtype)
        out[self.place] = values
        return out.reshape(self.slices, LANES)


def sliced_pattern(count: int, elements: list[Connectivity]) -> SlicedPattern:
    """The pattern of a matrix over `count` triples with the blocks of elements of any widths."""
    rows, columns, sources = _contributions(elements)
    every = np.arange(count)
    graph = csr_matrix((np.ones(len(rows) + count), (np.r_[rows, every], np.r_[columns, every])), shape=(count, count))
    place = _placed(graph)
    slices = -(-count // LANES)
    # entries in order of row place, then diagonal first, then column place
    i, j = place[graph.indices], np.repeat(place, np.diff(graph.indptr))
    entry_row, entry_column = j, i
    order = np.lexsort((np.where(entry_row == entry_column, -1, entry_column), entry_row))
    entry_row, entry_column = entry_row[order], entry_column[order]
    length = np.bincount(entry_row, minlength=slices * LANES)
    width = length.reshape(slices, LANES).max(axis=1)
    start = np.concatenate([[0], np.cumsum(width)]).astype(np.int64)
    within = np.arange(len(entry_row)) - np.concatenate([[0], np.cumsum(length)])[entry_row]
    slot = (start[entry_row // LANES] + within) * LANES + entry_row % LANES
    column = np.zeros((int(start[-1]), LANES), np.int32)
    column.ravel()[slot] = entry_column // LANES * 3 * LANES + entry_column % LANES
    key = _entry_key(entry_row, entry_column, slices)
    wanted_row = place[rows]
    target = slot[np.searchsorted(key, _entry_key(wanted_row, place[columns], slices))]
    part = np.searchsorted(np.arange(1, PARTS) * slices // PARTS, wanted_row // LANES, side="right")
    order = np.lexsort((sources, part))
    part_start = np.concatenate([[0], np.cumsum(np.bincount(part, minlength=PARTS))]).astype(np.int64)
    return SlicedPattern(
        place, start, column, part_start, sources[order].astype(np.int32), target[order].astype(np.int32)
    )


def _entry_key(row: np.ndarray, column: np.ndarray, slices: int) -> np.ndarray:
    """One number for each entry, ascending by row, then diagonal first, then column."""
    return row * (slices * LANES + 1) + np.where(row == column, 0, column + 1)


def _contributions(elements: list[Connectivity]):
    """Row, column and source of all blocks of every element, those beside the diagonal twice."""
    row, column, place = block_pairs(elements)
    beside = row != column
    rows, columns = np.concatenate([row, column[beside]]), np.concatenate([column, row[beside]])
    return rows, columns, np.concatenate([2 * place, 2 * place[beside] + 1])


def _placed(graph) -> np.ndarray:
    """Place of each triple: Cuthill and McKee's order, then sorted by length within windows."""
    order = reverse_cuthill_mckee(graph, symmetric_mode=True).astype(np.int64)
    length = np.diff(graph.indptr)[order]
    window = np.arange(len(order)) // WINDOW
    order = order[np.lexsort((-length, window))]
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return place
