"""Sparse L D L^T of a symmetric positive matrix of 3x3 blocks: pattern once, numbers every step, inside compiled code.

Up-looking factorisation by the elimination tree (Davis 2006, ch. 4), on blocks. The order of the nodes is the better of
minimum degree (SuperLU's) and reverse Cuthill-McKee, judged by fill.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csc_matrix, csr_matrix
from scipy.sparse.csgraph import reverse_cuthill_mckee
from scipy.sparse.linalg import splu

from pliant.kernels.device import HOST, Device
from pliant.kernels.matrices import BlockFactor, ForestFactor

# Multiplications of blocks that a column costs besides; those of all from which on threads share them; the largest part
# of them that a subtree of the elimination tree has in a run; and runs.
COLUMN_WORK, SHARED_WORK, LARGEST_SUBTREE, RUNS = 10, 200_000, 0.25, 8


@dataclass
class BlockPattern:
    """Where the blocks of a symmetric matrix lie, in elimination order.

    device: where it is factorised. order, place (n,): node at each place and place of each node. column_start (n + 1,),
    row (k,): upper triangle by columns, diagonal last. parent (n,): elimination tree. start (n + 1,): columns of L.
    index: {(i, j)} -> block, through `find`. runs (r + 1,): where runs of columns begin and end that have nothing to do
    with each other, before those that may have to do with all; none where threads are not worth it.
    """

    device: Device
    order: np.ndarray
    place: np.ndarray
    column_start: np.ndarray
    row: np.ndarray
    parent: np.ndarray
    start: np.ndarray
    runs: np.ndarray | None = None

    @classmethod
    def of_pairs(cls, device: Device, count: int, first: np.ndarray, second: np.ndarray) -> "BlockPattern":
        """The pattern of a symmetric matrix with blocks at the pairs (first, second) and on the diagonal."""
        every = np.arange(count)
        rows, columns = np.concatenate([first, second, every]), np.concatenate([second, first, every])
        graph = csr_matrix((np.ones(len(rows)), (rows, columns)), shape=(count, count))
        candidates = [_pattern(device, graph, order) for order in (_minimum_degree(graph), _cuthill_mckee(graph))]
        return min(candidates, key=lambda pattern: pattern.start[-1])

    def in_postorder(self) -> "BlockPattern":
        """The same fill with every subtree of the elimination tree as a run of columns, the longest columns last."""
        return _pattern(self.device, self._graph(), self.order[_postorder(self.parent, np.diff(self.start))])

    def _graph(self) -> csr_matrix:
        """Which nodes have a block together."""
        count, column = len(self.order), np.repeat(np.arange(len(self.order)), np.diff(self.column_start))
        first, second = self.order[self.row], self.order[column]
        return csr_matrix((np.ones(2 * len(column)), (np.r_[first, second], np.r_[second, first])), (count, count))

    def work(self) -> int:
        """Multiplications of blocks that a factorisation takes, and what else it costs, counted as such."""
        return int(self._works().sum())

    def _works(self) -> np.ndarray:
        below = np.diff(self.start)
        return below * (below + 1) // 2 + COLUMN_WORK

    def in_runs(self) -> "BlockPattern":
        """The same fill with runs of columns that threads can share, where there is enough to do."""
        work = self._works()
        if work.sum() < SHARED_WORK:
            return self
        subtree = work.copy()
        for column in np.flatnonzero(self.parent >= 0):  # after all of its descendants
            subtree[self.parent[column]] += subtree[column]
        top = subtree > work.sum() * LARGEST_SUBTREE
        run, load = np.where(top, RUNS, -1), np.zeros(RUNS, np.int64)
        roots = np.flatnonzero(~top & ((self.parent < 0) | top[self.parent]))
        for root in roots[np.argsort(-subtree[roots], kind="stable")]:
            run[root] = np.argmin(load)
            load[run[root]] += subtree[root]
        for column in range(len(run) - 1, -1, -1):
            run[column] = run[self.parent[column]] if run[column] < 0 else run[column]
        order = np.argsort(run, kind="stable")
        runs = np.searchsorted(run[order], np.arange(RUNS + 1))
        return replace(_pattern(self.device, self._graph(), self.order[order]), runs=runs)

    def find(self, first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Index of the stored block of each pair, and whether it is stored transposed (the upper triangle is)."""
        return self.look_up(first, second)[:2]

    def look_up(self, first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """As `find`, and whether the pattern has the pair at all."""
        i, j = self.place[first], self.place[second]
        low, high = np.minimum(i, j), np.maximum(i, j)
        column = np.repeat(np.arange(len(self.order)), np.diff(self.column_start))
        key, wanted = column * len(self.order) + self.row, high * len(self.order) + low
        index = np.searchsorted(key, wanted).clip(max=len(key) - 1)
        return index, i > j, key[index] == wanted

    def forest(self, most: int) -> np.ndarray:
        """Runs of columns, at most so many, that have nothing to do with each other, of a pattern in postorder."""
        ends, count = np.flatnonzero(self.parent < 0) + 1, len(self.order)
        wanted = np.arange(1, most + 1) * count / most
        return np.unique(np.concatenate([[0], ends[np.searchsorted(ends, wanted - 0.5)]]))


def _minimum_degree(graph) -> np.ndarray:
    diagonally_dominant = csc_matrix(-graph)
    diagonally_dominant.setdiag(np.asarray(graph.sum(axis=1)).ravel() + 1.0)
    options = {"SymmetricMode": True}
    factor = splu(diagonally_dominant, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options)
    order = np.empty_like(factor.perm_c)
    order[factor.perm_c] = np.arange(len(order))
    return order.astype(np.int64)


def _cuthill_mckee(graph) -> np.ndarray:
    return reverse_cuthill_mckee(graph, symmetric_mode=True).astype(np.int64)


def _postorder(parent: np.ndarray, below: np.ndarray) -> np.ndarray:
    """Columns with all their descendants before them; of siblings those with more blocks below come last."""
    children = [[] for _ in range(len(parent) + 1)]  # the last: roots
    for column in np.lexsort([np.arange(len(parent)), below]):
        children[parent[column]].append(int(column))
    found, waiting = [], children[-1].copy()
    while waiting:  # from the end: every column before its descendants, the last child first
        column = waiting.pop()
        found.append(column)
        waiting.extend(children[column])
    return np.array(found[::-1], np.int64)


def _pattern(device: Device, graph, order: np.ndarray) -> BlockPattern:
    permuted = graph[order][:, order].tocsc()
    permuted.sort_indices()
    column = np.repeat(np.arange(len(order)), np.diff(permuted.indptr))
    upper = permuted.indices <= column
    row = permuted.indices[upper].astype(np.int64)
    column_start = np.concatenate([[0], np.cumsum(np.bincount(column[upper], minlength=len(order)))]).astype(np.int64)
    parent, counts = HOST.linalg.block_ldl.elimination_tree(column_start, row)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    start = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return BlockPattern(device, order, place, column_start, row, parent, start)


def factor(pattern: BlockPattern, values: np.ndarray, room: BlockFactor | None = None) -> BlockFactor:
    """L D L^T of the matrix with these upper blocks (k, 3, 3); room: factors of the same pattern to write over, for
    new memory costs as much as a small factorisation."""
    room = room or BlockFactor(*_numbers(pattern))
    columns, kernels = (pattern.column_start, pattern.row, pattern.parent, pattern.start), pattern.device.linalg
    if pattern.runs is None:
        kernels.block_ldl.factorise(*columns, values, room.row, room.lower, room.pivot)
    else:
        kernels.forest.factorise_forest(pattern.runs, *columns, values, room.row, room.lower, room.pivot)
    return room


def factor_forest(pattern: BlockPattern, runs: np.ndarray, values: np.ndarray, room: ForestFactor | None):
    """The same by runs of columns that have nothing to do with each other (`BlockPattern.forest`)."""
    room = room or ForestFactor(*_numbers(pattern), runs)
    columns = (pattern.column_start, pattern.row, pattern.parent, pattern.start)
    pattern.device.linalg.forest.factorise_forest(runs, *columns, values, room.row, room.lower, room.pivot)
    return room


def _numbers(pattern: BlockPattern) -> tuple[np.ndarray, ...]:
    """Order and room for the factors of a pattern."""
    size, n = int(pattern.start[-1]), len(pattern.order)
    return pattern.order, pattern.start, np.empty(size, np.int64), np.empty((size, 3, 3)), np.empty((n, 6))
