"""A symmetric matrix of 3x3 blocks in sliced rows: LANES rows side by side, so that products vectorise.

Vectors are (slices, 3, LANES) in the matrix's own order of triples. Values are gathered from the elements' blocks in
fixed order, so that results do not depend on the number of threads.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import reverse_cuthill_mckee

from pliant.kernels.device import Device
from pliant.kernels.lanes import LANES
from pliant.kernels.matrices import Gathering
from pliant.linalg.connectivity import Connectivity, block_pairs

# Rows are sorted by length within windows of this many, which keeps neighbours near each other.
WINDOW = 16 * LANES


@dataclass
class SlicedPattern:
    """Where the blocks lie. device: where its vectors are. place (n,): row of each triple in the matrix's order; start,
    column: as in SlicedMatrix; couple_start, turned, source, entry: as in Gathering."""

    device: Device
    place: np.ndarray
    start: np.ndarray
    column: np.ndarray
    couple_start: np.ndarray
    turned: np.ndarray
    source: np.ndarray
    entry: np.ndarray
    key: np.ndarray  # (couples,) of the places of couples, in order

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
        self.device.linalg.sliced.pack(self.place, np.asarray(values, np.float64), out)
        return out

    def pack_free(self, values: np.ndarray, free: np.ndarray, dtype, scale: float = 1.0) -> np.ndarray:
        """The free components (n, 3) of values, times a scale, in the matrix's order."""
        out = np.zeros((self.slices, 3, LANES), dtype)
        self.device.linalg.sliced.pack_free(self.place, values, free, scale, out)
        return out

    def unpack(self, vector: np.ndarray) -> np.ndarray:
        """(slices, 3, LANES) -> (n, 3)."""
        out = np.empty((len(self.place), 3))
        self.device.linalg.sliced.unpack(self.place, vector, out)
        return out

    def gathering(self, free: np.ndarray) -> Gathering:
        """How to sum the matrix; free (n, 3): 0 where a component is prescribed, whose row and column become those of
        the unit matrix."""
        packed = self.pack(free, np.float64, 1.0)
        row = np.repeat(np.arange(self.slices), np.diff(self.start))
        columns = packed.ravel()[self.column[:, None] + LANES * np.arange(3)[:, None]]
        both = packed[row][:, :, None] * columns[:, None]  # (entries, 3, 3, LANES)
        zero = np.flatnonzero(both == 0)
        slice_, component, lane = np.nonzero(packed == 0)
        one = np.ravel_multi_index((self.start[slice_], component, component, lane), both.shape)
        triple = self.in_lanes(np.arange(len(self.place), dtype=np.int32), -1)
        return Gathering(self.couple_start, self.turned, self.source, self.entry, triple, zero, one)

    def couples(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Couple of each pair of triples, 2 * couple + (1 if transposed), or -1."""
        row, column = self.place[first], self.place[second]
        wanted = _couple_key(row, column)
        if not len(self.key):
            return np.full(len(wanted), -1)
        couple = np.searchsorted(self.key, wanted).clip(max=len(self.key) - 1)
        return np.where(self.key[couple] == wanted, 2 * couple + (row < column), -1)

    def in_lanes(self, values: np.ndarray, fill) -> np.ndarray:
        """One number for each triple (n,) -> (slices, LANES) in the matrix's order."""
        out = np.full(self.slices * LANES, fill, values.dtype)
        out[self.place] = values
        return out.reshape(self.slices, LANES)


def sliced_pattern(
    device: Device, count: int, elements: list[Connectivity], place: np.ndarray | None = None
) -> SlicedPattern:
    """The pattern of a matrix over `count` triples with the blocks of elements of any widths; place (n,): the rows of
    the triples, where they are given."""
    row, column, block = block_pairs(elements)
    every = np.arange(count)
    rows, columns = np.concatenate([row, column, every]), np.concatenate([column, row, every])
    graph = csr_matrix((np.ones(len(rows)), (rows, columns)), shape=(count, count))
    place = _placed(graph) if place is None else place
    slices = -(-count // LANES)
    # entries in order of row place, then diagonal first, then column place
    entry_row, entry_column = np.repeat(place, np.diff(graph.indptr)), place[graph.indices]
    order = np.lexsort((np.where(entry_row == entry_column, -1, entry_column), entry_row))
    entry_row, entry_column = entry_row[order], entry_column[order]
    length = np.bincount(entry_row, minlength=slices * LANES)
    width = length.reshape(slices, LANES).max(axis=1)
    start = np.concatenate([[0], np.cumsum(width)]).astype(np.int64)
    within = np.arange(len(entry_row)) - np.concatenate([[0], np.cumsum(length)])[entry_row]
    slot = (start[entry_row // LANES] + within) * LANES + entry_row % LANES
    offset, entry = (np.full((int(start[-1]), LANES), fill, np.int32) for fill in (0, -1))
    offset.ravel()[slot] = entry_column // LANES * 3 * LANES + entry_column % LANES
    couple_start, turned, source, key = _couples(place[row], place[column], block)
    pattern = SlicedPattern(device, place, start, offset, couple_start, turned, source, entry, key)
    triple = np.argsort(place, kind="stable")
    entry.ravel()[slot] = pattern.couples(triple[entry_row], triple[entry_column])
    return pattern


def _couple_key(row: np.ndarray, column: np.ndarray) -> np.ndarray:
    """One number for each pair of places, whichever comes first."""
    return np.maximum(row, column) << 32 | np.minimum(row, column)


def _couples(row: np.ndarray, column: np.ndarray, block: np.ndarray):
    """Blocks (k,) at places (row, column) by couples, those with row before column last; and the couples' keys."""
    key, couple = np.unique(_couple_key(row, column), return_inverse=True)
    turns = row < column
    order = np.lexsort((block, turns, couple))
    couple_start = np.concatenate([[0], np.cumsum(np.bincount(couple, minlength=len(key)))]).astype(np.int64)
    turned = couple_start[:-1] + np.bincount(couple[~turns], minlength=len(key))
    return couple_start, turned.astype(np.int64), block[order].astype(np.int32), key


def _placed(graph) -> np.ndarray:
    """Place of each triple: Cuthill and McKee's order, then sorted by length within windows."""
    order = reverse_cuthill_mckee(graph, symmetric_mode=True).astype(np.int64)
    length = np.diff(graph.indptr)[order]
    window = np.arange(len(order)) // WINDOW
    order = order[np.lexsort((-length, window))]
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return place
