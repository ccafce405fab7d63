"""Which block of threads owns which rows of a dual operator, and which triples these hold (found on the host).

Units are elements with their six rows and row blocks with their three. Every block of threads owns a run of units and
sums what they push by itself; triples that units of several blocks hold, their common ones, they exchange.
"""

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import reverse_cuthill_mckee

from pliant.kernels.lanes import LANES
from pliant.kernels.operators import SystemOperator

# Units that a block of threads owns at least, while there are more blocks to be had.
LEAST_UNITS = 64
# Numbers of an element (gradients, rotation, scales, compliances), and of a row block beside nine for every entry.
ELEMENT_NUMBERS, ROW_NUMBERS = 26, 3
# Vectors of a box problem that are kept at hand.
VECTORS = 9


class Sizes(NamedTuple):
    """Lanes of elements, units, of a block of threads at most: units, entries of a unit, triples, entries in all,
    places to read common triples from; numbers of a unit; places of triples in all; rows of a unit at most, and bits of
    the lanes to sum up a triple by."""

    elements: int
    units: int
    own: int
    entries: int
    triples: int
    pushes: int
    mates: int
    numbers: int
    places: int
    rows: int
    lane_bits: int

    @property
    def floats(self) -> int:
        """float64 numbers of a block of threads: pushes of units, velocities and inverse masses of triples, numbers and
        vectors of units."""
        return (3 * self.entries + self.numbers + VECTORS * self.rows) * self.own + 9 * self.triples

    @property
    def integers(self) -> int:
        """int32 numbers of a block of threads: places and entries of units, triples of entries; lists of triples."""
        return (2 + self.entries) * self.own + 2 * (self.triples + 1) + self.pushes + self.mates

    @property
    def bytes(self) -> int:
        """What a block of threads keeps at hand."""
        return 8 * self.floats + 4 * (self.integers + self.integers % 2)


class Places(NamedTuple):
    """order: units, those of a block of threads side by side; spots (units, entries): the triple of an entry among
    those of its block; first (blocks + 1), common (blocks): triples of blocks, and how many of these, which come first,
    others hold too; triple: which they are; push_start, pushes: where the pushes on a triple lie; mate_start, mates:
    the same triple in all blocks, of common ones."""

    sizes: Sizes
    blocks: int
    order: np.ndarray
    spots: np.ndarray
    first: np.ndarray
    common: np.ndarray
    triple: np.ndarray
    push_start: np.ndarray
    pushes: np.ndarray
    mate_start: np.ndarray
    mates: np.ndarray


def arrange(operator: SystemOperator, elements_by: np.ndarray, most_blocks: int) -> Places:
    """Who owns what of an operator, with elements in an order, and with at most so many blocks of threads."""
    elements, slices = len(operator.nodes) * LANES, len(operator.compliance_rows)
    units, width = elements + slices * LANES, max(4 if elements else 0, int(np.diff(operator.start).max(initial=0)), 1)
    blocks = min(max(-(-units // LEAST_UNITS), 1), most_blocks)
    own = max(-(-units // blocks), 1)
    blocks = max(-(-units // own), 1)
    order = np.concatenate([elements_by, np.arange(elements, units)])
    place = np.empty(units, np.int64)
    place[order] = np.arange(units)
    triple, unit, entry = _pushes(operator, elements)
    place = place[unit]
    count = len(operator.inverse_mass)
    keys, local = np.unique(place // own * count + triple, return_inverse=True)
    block, of_block = keys // count, keys % count
    shared = np.bincount(of_block, minlength=count)[of_block] > 1
    by_block = np.lexsort((~shared, block))
    rank = np.empty(len(keys), np.int64)
    rank[by_block] = np.arange(len(keys))
    block, of_block, shared, local = block[by_block], of_block[by_block], shared[by_block], rank[local]
    first = np.searchsorted(block, np.arange(blocks + 1))
    spots = np.zeros((units, width), np.int64)
    spots[place, entry] = local - first[place // own]
    by_triple = np.argsort(local, kind="stable")
    push_start = np.searchsorted(local[by_triple], np.arange(len(keys) + 1))
    pushes = (3 * entry * own + place % own)[by_triple]
    mate_start, mates = _mates(of_block, shared)
    longest = [int(np.diff(lists[first]).max(initial=0)) for lists in (push_start, mate_start)]
    numbers = max(ELEMENT_NUMBERS if elements else 0, ROW_NUMBERS + 9 * width if slices else 0)
    most = int(np.diff(first).max(initial=0))
    lane_bits = 0 if len(pushes) <= 3 * len(keys) else 2
    rest = (numbers, max(len(keys), 1), 6 if elements else 3, lane_bits)
    sizes = Sizes(elements, units, own, width, most, *longest, *rest)
    common = np.bincount(block[shared], minlength=blocks)
    lists = (push_start, pushes, mate_start, mates)
    return Places(sizes, blocks, order, spots, first, common, of_block, *lists)


def _pushes(operator: SystemOperator, elements: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Triple, unit and entry of all that units push, triple by triple: elements, then rows."""
    slot, code = operator.adjacency, operator.row_adjacency - elements * 12
    counts = [np.diff(start) for start in (operator.adjacency_start, operator.row_adjacency_start)]
    triple = np.concatenate([np.repeat(np.arange(len(each)), each) for each in counts])
    at = code // (3 * LANES)
    slice_ = np.repeat(np.arange(len(operator.compliance_rows)), np.diff(operator.start))[at]
    unit = [slot // (12 * LANES) * LANES + slot % LANES, elements + slice_ * LANES + code % LANES]
    entry = [slot % (12 * LANES) // (3 * LANES), at - operator.start[slice_]]
    return triple, np.concatenate(unit), np.concatenate(entry)


def _mates(triple: np.ndarray, shared: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For every place of a triple (k,), where the same triple lies in all blocks, itself included; nothing for those
    that lie in one alone."""
    order = np.argsort(triple, kind="stable")
    begin, end = (np.searchsorted(triple[order], triple, side) for side in ("left", "right"))
    start = np.concatenate([[0], np.cumsum(np.where(shared, end - begin, 0))])
    own = np.repeat(np.arange(len(triple)), np.diff(start))
    return start, order[begin[own] + np.arange(len(own)) - start[own]]


def element_order(nodes: np.ndarray) -> np.ndarray:
    """Elements (groups * LANES,) with nodes (groups, 4, LANES) in an order in which neighbours lie close: by the ranks
    of their nodes (Cuthill and McKee 1969)."""
    nodes = nodes.transpose(0, 2, 1).reshape(-1, 4)
    if not len(nodes):
        return np.zeros(0, np.int64)
    row = np.repeat(np.arange(len(nodes)), 4)
    holds = csr_matrix((np.ones(row.size, np.int32), (row, nodes.ravel())))
    rank = np.empty(holds.shape[1], np.int64)
    rank[reverse_cuthill_mckee((holds.T @ holds).tocsr(), symmetric_mode=True)] = np.arange(holds.shape[1])
    return np.argsort(rank[nodes].sum(axis=1), kind="stable")
