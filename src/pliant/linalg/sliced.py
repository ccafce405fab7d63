"""A symmetric matrix of 3x3 blocks in sliced rows: LANES rows side by side, so that products vectorise.

Vectors are (slices, 3, LANES) in the matrix's own order of triples. Values are gathered from the elements' blocks in
fixed order, so that results do not depend on the number of threads.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numba import prange
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import reverse_cuthill_mckee

from pliant.jit import kernel, parallel_kernel
from pliant.kernels.lanes import LANES

# Rows are sorted by length within windows of this many, which keeps neighbours near each other.
WINDOW = 16 * LANES
# Parts of the rows that are summed independently; fixed, so that results do not depend on the number of threads.
PARTS = 16


class SlicedMatrix(NamedTuple):
    """start (slices + 1,); column (entries, LANES): flat offset of the column's first component in a vector; values
    (entries, 9, LANES). The first entry of every row is its diagonal block."""

    start: np.ndarray
    column: np.ndarray
    values: np.ndarray


@dataclass
class SlicedPattern:
    """Where the blocks lie. place (n,): row of each triple in the matrix's order. part_start (PARTS + 1,), source,
    target: element blocks, 2 * (element * 10 + pair) + (1 if it is to be transposed), and the entry (entry * LANES +
    lane) each is added to, by parts of the rows."""

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


@kernel
def _pack(place, values, out):
    for i in range(place.shape[0]):
        s, lane = place[i] // LANES, place[i] % LANES
        for c in range(3):
            out[s, c, lane] = values[i, c]


@kernel
def _unpack(place, vector, out):
    for i in range(place.shape[0]):
        s, lane = place[i] // LANES, place[i] % LANES
        for c in range(3):
            out[i, c] = vector[s, c, lane]


def sliced_pattern(count: int, tets: np.ndarray, lanes_of: np.ndarray) -> SlicedPattern:
    """The pattern of a matrix over `count` triples with the blocks of tets (m, 4); lanes_of (m,): place of each element
    among the elements' blocks."""
    rows, columns, sources = _contributions(tets, lanes_of)
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


def _contributions(tets: np.ndarray, lanes_of: np.ndarray):
    """Row, column and source of the sixteen blocks of every element."""
    rows, columns, sources = [], [], []
    pair = 0
    for i in range(4):
        for j in range(i + 1):
            source = 2 * (lanes_of.astype(np.int64) * 10 + pair)
            rows.append(tets[:, i]), columns.append(tets[:, j]), sources.append(source)
            if i != j:
                rows.append(tets[:, j]), columns.append(tets[:, i]), sources.append(source + 1)
            pair += 1
    if not len(tets):
        none = np.zeros(0, np.int64)
        return none, none, none
    return np.concatenate(rows), np.concatenate(columns), np.concatenate(sources)


def _placed(graph) -> np.ndarray:
    """Place of each triple: Cuthill and McKee's order, then sorted by length within windows."""
    order = reverse_cuthill_mckee(graph, symmetric_mode=True).astype(np.int64)
    length = np.diff(graph.indptr)[order]
    window = np.arange(len(order)) // WINDOW
    order = order[np.lexsort((-length, window))]
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return place


@parallel_kernel
def gather_matrix(start, column, part_start, source, target, blocks, free, diagonal, sums, values_out):
    """Values of the matrix: sums of element blocks (m, 10, 9), plus `diagonal` (slices, 9, LANES).

    free (slices, 3, LANES): rows and columns of prescribed components become those of the unit matrix. sums
    (entries LANES, 9): work space. Each part of the rows is summed by one thread, in the order of the elements.
    """
    slices, parts = start.shape[0] - 1, part_start.shape[0] - 1
    flat = free.reshape(-1)
    for part in prange(parts):
        first, last = part * slices // parts, (part + 1) * slices // parts
        sums[start[first] * LANES : start[last] * LANES] = 0
        for p in range(part_start[part], part_start[part + 1]):
            code, total = source[p], sums[target[p]]
            b = blocks[code // 20, (code % 20) // 2]
            if code % 2 == 0:
                for k in range(9):
                    total[k] += b[k]
            else:
                for r in range(3):
                    for c in range(3):
                        total[3 * r + c] += b[3 * c + r]
        for s in range(first, last):
            for e in range(start[s], start[s + 1]):
                for r in range(3):
                    for c in range(3):
                        for lane in range(LANES):
                            both = free[s, r, lane] * flat[column[e, lane] + c * LANES]
                            values_out[e, 3 * r + c, lane] = both * sums[e * LANES + lane, 3 * r + c]
            own = start[s]
            for r in range(3):
                for c in range(3):
                    for lane in range(LANES):
                        both = free[s, r, lane] * free[s, c, lane]
                        values_out[own, 3 * r + c, lane] += both * diagonal[s, 3 * r + c, lane]
                        if r == c:
                            values_out[own, 3 * r + c, lane] += 1 - both


@kernel
def multiply_slices(first, last, start, column, values, flat, out):
    """out (slices, 3, LANES) = A x for slices first..last; flat: x as one line of numbers."""
    total, x = np.empty((3, LANES), values.dtype), np.empty((3, LANES), values.dtype)
    for s in range(first, last):
        for r in range(3):
            for lane in range(LANES):
                total[r, lane] = 0
        for e in range(start[s], start[s + 1]):
            for lane in range(LANES):
                offset = column[e, lane]
                x[0, lane], x[1, lane], x[2, lane] = flat[offset], flat[offset + LANES], flat[offset + 2 * LANES]
            for lane in range(values.shape[2]):
                for r in range(3):
                    total[r, lane] += (
                        values[e, 3 * r, lane] * x[0, lane]
                        + values[e, 3 * r + 1, lane] * x[1, lane]
                        + values[e, 3 * r + 2, lane] * x[2, lane]
                    )
        for r in range(3):
            for lane in range(LANES):
                out[s, r, lane] = total[r, lane]


@kernel
def multiply_blocks(blocks, x, out):
    """out = blocks x for a matrix of diagonal blocks (slices, 9, LANES) and vectors (slices, 3, LANES)."""
    for s in range(x.shape[0]):
        for row in range(3):
            for lane in range(x.shape[2]):
                out[s, row, lane] = (
                    blocks[s, 3 * row, lane] * x[s, 0, lane]
                    + blocks[s, 3 * row + 1, lane] * x[s, 1, lane]
                    + blocks[s, 3 * row + 2, lane] * x[s, 2, lane]
                )


@kernel
def invert_diagonals(start, values, extra, out):
    """out (slices, 9, LANES): inverse of every diagonal block plus `extra` (slices, 9, LANES)."""
    for s in range(start.shape[0] - 1):
        e = start[s]
        for lane in range(LANES):
            a = np.empty(9)
            for k in range(9):
                a[k] = values[e, k, lane] + extra[s, k, lane]
            c0 = a[4] * a[8] - a[5] * a[7]
            c1 = a[5] * a[6] - a[3] * a[8]
            c2 = a[3] * a[7] - a[4] * a[6]
            determinant = a[0] * c0 + a[1] * c1 + a[2] * c2
            scale = 1.0 / determinant if determinant > 0.0 else 0.0
            out[s, 0, lane], out[s, 3, lane], out[s, 6, lane] = c0 * scale, c1 * scale, c2 * scale
            out[s, 1, lane] = (a[2] * a[7] - a[1] * a[8]) * scale
            out[s, 4, lane] = (a[0] * a[8] - a[2] * a[6]) * scale
            out[s, 7, lane] = (a[1] * a[6] - a[0] * a[7]) * scale
            out[s, 2, lane] = (a[1] * a[5] - a[2] * a[4]) * scale
            out[s, 5, lane] = (a[2] * a[3] - a[0] * a[5]) * scale
            out[s, 8, lane] = (a[0] * a[4] - a[1] * a[3]) * scale
