"""How a mesh lies on a GPU, found on the host: the order of nodes, sliced rows, lists for sums in fixed order.

Rows (nodes) are ordered by aggregates; every block of threads owns `m` aggregates, padded to equal length, so that who
owns what is arithmetic.
"""

from dataclasses import dataclass

import numpy as np

WARP = 32
# Which of the six blocks of an element belongs to a pair of its nodes.
PAIR = {(1, 0): 0, (2, 0): 1, (2, 1): 2, (3, 0): 3, (3, 1): 4, (3, 2): 5}
# Fewest nodes of an aggregate, so that its rigid motions are independent.
LEAST_NODES = 16
# Rows of a block of threads up to which it has one aggregate.
MOST_ROWS_OF_ONE = 1000
# Threads of a block of conjugate gradients.
LEAST_THREADS, MOST_THREADS = 256, 576
# Lanes to a node where forces are gathered.
GATHER_LANES = 8
# Numbers of a row that conjugate gradients keep in shared memory.
OWN = 27
# Most entries of a task of the coarse matrix.
TASK_ENTRIES = 512


@dataclass(frozen=True)
class Shape:
    """blocks of `threads` threads, each with m aggregates; T lanes to a row of the matrix."""

    blocks: int
    threads: int
    m: int
    T: int

    @property
    def aggregates(self) -> int:
        return self.blocks * self.m


def choose_shape(nodes: int, multiprocessors: int) -> Shape:
    """The shape for so many nodes, one block to a multiprocessor at most."""
    blocks = int(np.clip(nodes // LEAST_NODES, 1, multiprocessors))
    rows = -(-nodes // blocks)
    T = 8
    while T > 1 and rows * T > MOST_THREADS:
        T //= 2
    m = 1 if rows <= MOST_ROWS_OF_ONE else 2
    threads = min(max(-(-rows * T // WARP) * WARP, LEAST_THREADS), 512 if m == 2 else MOST_THREADS)
    return Shape(blocks, threads, m, T)


def registers(threads: int) -> int:
    """Most registers of a thread when one block has a multiprocessor: four parts with 16,384 each."""
    return min(128, 512 // -(-threads // 128) // 8 * 8)


def segments(threads: int, m: int) -> int:
    """In how many parts warps share a row of the coarse inverse."""
    return max(1, min(2, threads // 32 // (6 * m)))


def inverse_width(blocks: int, threads: int, m: int) -> int:
    """Length of a row of the coarse inverse: whole turns of a warp that loads four times four numbers."""
    turn = 512 * segments(threads, m)
    return -(-6 * blocks * m // turn) * turn


def shared_bytes(blocks: int, threads: int, m: int, size: int) -> int:
    """Shared memory of a block of threads that owns m aggregates of `size` rows."""
    return 4 * (OWN * m * size + 2 * inverse_width(blocks, threads, m))


def starts(lengths) -> np.ndarray:
    """Where each of things with these lengths begins, and the end."""
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def offset(row, components: int):
    """Flat place of component 0 of a row (or element) in an array (groups, components, WARP)."""
    return row // WARP * WARP * components + row % WARP


def grouped(values: np.ndarray, count: int | None = None, fill=0) -> np.ndarray:
    """(n, c) or (n,) -> flat (groups, c, WARP), padded to `count` things."""
    values = np.asarray(values)
    flat = values if values.ndim == 2 else values[:, None]
    size = -(-(count or len(flat)) // WARP) * WARP
    out = np.full((size, flat.shape[1]), fill, values.dtype)
    out[: len(flat)] = flat
    return np.ascontiguousarray(out.reshape(-1, WARP, flat.shape[1]).transpose(0, 2, 1)).ravel()


def ungrouped(flat: np.ndarray, components: int) -> np.ndarray:
    """Flat (groups, c, WARP) -> (n, c)."""
    return flat.reshape(-1, components, WARP).transpose(0, 2, 1).reshape(-1, components)


def bisect(points: np.ndarray, node_start: np.ndarray, count: int) -> np.ndarray:
    """Number of the aggregate of each point: first bodies are parted (node_start: where each begins), then boxes of
    about equally many points."""
    index = np.zeros(len(points), np.int64)
    todo = [(np.arange(len(points)), 0, count)]
    while todo:
        nodes, first, parts = todo.pop()
        if parts == 1 or len(nodes) <= 1:
            index[nodes] = first
            continue
        body = np.searchsorted(node_start, nodes, side="right")
        half = parts // 2
        if body[0] != body[-1]:
            ends = np.flatnonzero(np.diff(body)) + 1
            at = int(ends[np.argmin(np.abs(ends - len(nodes) * half / parts))])
            half = int(np.clip(round(parts * at / len(nodes)), 1, parts - 1))
            order = np.arange(len(nodes))
        else:
            axis = int(np.argmax(np.ptp(points[nodes], axis=0)))
            order, at = np.argsort(points[nodes, axis], kind="stable"), len(nodes) * half // parts
        # bodies stay sorted by node, boxes too
        todo += [(np.sort(nodes[order[:at]]), first, half), (np.sort(nodes[order[at:]]), first + half, parts - half)]
    return index


@dataclass
class Others:
    """Elements of a kind beside tets of four nodes: rows (count, k) of their nodes, in their order (count,); groups;
    where their slots and their blocks begin."""

    rows: np.ndarray
    order: np.ndarray
    groups: int
    slot: int
    block: int

    def in_groups(self, values: np.ndarray, fill=0) -> np.ndarray:
        """Values (count, c) of its elements as flat (groups, c, WARP)."""
        return grouped(np.asarray(values)[self.order], self.groups * WARP, fill)


class Layout:
    """All constant index arrays of a mesh of tets as NumPy arrays.

    points (n, 3), node_start: of bodies. tets: for every element set its nodes (count, 4). place (n,): the row of each
    node. sets: for every set (first group, groups, order (count,) of its elements).
    """

    def __init__(self, points: np.ndarray, node_start: np.ndarray, tets: list[np.ndarray], shape: Shape, more=()):
        """more: nodes (count, k) of sets of elements of other kinds, which lie behind the tets."""
        self.shape, self.nodes = shape, len(points)
        index = bisect(points, node_start[:-1], shape.aggregates)
        size = np.bincount(index, minlength=shape.aggregates)
        per_slice = WARP // shape.T
        self.size = max(-(-int(size.max()) // per_slice) * per_slice, per_slice)
        order = np.lexsort((np.arange(len(points)), index))
        place = np.empty(len(points), np.int64)
        place[order] = index[order] * self.size + (np.arange(len(points)) - starts(size)[:-1][index[order]])
        self.place = place
        self.rows = -(-shape.aggregates * self.size // WARP) * WARP
        self._order_elements(tets)
        self._order_more(more)
        self._pattern()
        self._incidence()

    @property
    def shared_bytes(self) -> int:
        """Shared memory that a block of conjugate gradients needs."""
        return shared_bytes(self.shape.blocks, self.shape.threads, self.shape.m, self.size)

    def _order_elements(self, tets: list[np.ndarray]) -> None:
        """Elements of each set by their first row; groups of all sets one after the other."""
        self.sets, rows, index, group = [], [], [], 0
        for nodes in tets:
            own = self.place[nodes]
            order = np.argsort(own.min(axis=1), kind="stable")
            groups = -(-len(nodes) // WARP)
            self.sets.append((group, groups, order))
            rows.append(own[order])
            index.append(group * WARP + np.arange(len(nodes)))
            group += groups
        rows, index = rows or [np.zeros((0, 4), np.int64)], index or [np.zeros(0, np.int64)]
        self.groups, self.tets, self.index = group, np.concatenate(rows), np.concatenate(index)

    def _order_more(self, more) -> None:
        """Elements of other kinds likewise; where their slots and blocks begin."""
        self.more, slot, block = [], self.groups * 12 * WARP, self.groups * 54 * WARP
        for nodes in more:
            own, k = self.place[nodes], nodes.shape[1]
            order = np.argsort(own.min(axis=1), kind="stable")
            groups = -(-len(nodes) // WARP)
            self.more.append(Others(own[order], order, groups, slot, block))
            slot, block = slot + groups * 3 * k * WARP, block + groups * 9 * (k * (k - 1) // 2) * WARP
        self.slots, self.blocks = slot, block

    @property
    def elements(self) -> int:
        """How many elements there are."""
        return len(self.tets) + sum(len(own.order) for own in self.more)

    def in_groups(self, values: list[np.ndarray], fill=0) -> np.ndarray:
        """Values (count, c) of the elements of all sets, in the sets' own order, as flat (groups, c, WARP)."""
        if not values:
            return np.full(WARP, fill, float)  # kernels take no empty arrays
        width = values[0].shape[1] if values[0].ndim == 2 else 1
        out = np.full((self.groups * WARP, width), fill, values[0].dtype)
        for (first, _, order), own in zip(self.sets, values):
            out[first * WARP : first * WARP + len(order)] = own.reshape(-1, width)[order]
        return grouped(out)

    def nodes_in_groups(self) -> np.ndarray:
        """Places of the nodes of every tet in a vector (chunks, 3, WARP); those of empty lanes are in row 0."""
        out = np.zeros((max(self.groups, 1) * WARP, 4), np.int64)
        out[self.index] = offset(self.tets, 3)
        return grouped(out).astype(np.int32)

    def _entries(self) -> tuple[np.ndarray, ...]:
        """Off-diagonal entries of the matrix: keys row * rows + column of every element's blocks, and their codes."""
        key, code = [], []
        for a in range(4):
            for b in range(4):
                if a != b:
                    key.append(self.tets[:, a] * self.rows + self.tets[:, b])
                    code.append((offset(self.index, 54) + PAIR[max(a, b), min(a, b)] * 9 * WARP) * 2 + (a < b))
        for own in self.more:
            k = own.rows.shape[1]
            at = own.block + offset(np.arange(len(own.rows)), 9 * (k * (k - 1) // 2))
            for a, b in [(a, b) for a in range(k) for b in range(k) if a != b]:
                pair = max(a, b) * (max(a, b) - 1) // 2 + min(a, b)
                key.append(own.rows[:, a] * self.rows + own.rows[:, b])
                code.append((at + pair * 9 * WARP) * 2 + (a < b))
        key, code = np.concatenate(key), np.concatenate(code)
        order = np.argsort(key, kind="stable")
        return key[order], code[order]

    def _pattern(self) -> None:
        """Sliced rows and, for every off-diagonal entry, the element blocks it sums."""
        n, T, per_slice = self.rows, self.shape.T, WARP // self.shape.T
        key, code = self._entries()
        first = np.flatnonzero(np.r_[True, key[1:] != key[:-1]])
        row, col = key[first] // n, key[first] % n
        length = np.diff(np.r_[first, len(key)])
        count = np.bincount(row, minlength=n)
        within = np.arange(len(row)) - starts(count)[row]
        pairs = np.maximum(-(-count // (2 * T)), 1).reshape(-1, per_slice).max(axis=1)
        self.start, self.pairs = starts(pairs), int(pairs.sum())
        slot, lane = 2 * self.start[row // per_slice] + within // T, row % per_slice * T + within % T
        slice_of = np.repeat(np.arange(len(pairs)), 2 * pairs)
        self.column = (4 * (slice_of[:, None] * per_slice + np.arange(WARP) // T)).astype(np.int32)
        self.column[slot, lane] = 4 * col
        self.column = np.concatenate([self.column, self.column[-2:]])  # kernels read a pair ahead
        self.entries = {"row": row, "col": col, "at": slot * WARP + lane}
        self._edge_lists(row, col, length, first, code, slot * 9 * WARP + lane)

    def _edge_lists(self, row, col, length, first, code, at) -> None:
        """Upper entries, one of each of 32 rows to a step, with the places of both halves and the blocks to sum."""
        n, upper = self.rows, row < col
        i_row, length_u, first_u = row[upper], length[upper], first[upper]
        count = np.bincount(i_row, minlength=n)
        rank = np.arange(len(i_row)) - starts(count)[i_row]
        steps = count.reshape(-1, WARP).max(axis=1)
        step, total = starts(steps)[:-1][i_row // WARP] + rank, int(steps.sum())
        twin = np.searchsorted(row * n + col, col[upper] * n + i_row)
        self.edge_place = np.full((2, total, WARP), -1, np.int32)
        self.edge_place[0, step, i_row % WARP], self.edge_place[1, step, i_row % WARP] = at[upper], at[twin]
        longest = np.zeros(total, np.int64)
        np.maximum.at(longest, step, length_u)
        self.list_start = starts(longest)
        self.list_code = np.full((int(self.list_start[-1]) + 1, WARP), -1, np.int32)
        owner = np.repeat(np.arange(len(i_row)), length_u)
        q = np.arange(len(owner)) - starts(length_u)[owner]
        self.list_code[self.list_start[step[owner]] + q, i_row[owner] % WARP] = code[first_u[owner] + q]

    def _incidence(self) -> None:
        """Elements of every row for sums of forces: places in slots (groups, 12, WARP)."""
        per_slice, n = WARP // GATHER_LANES, self.rows
        codes = [(offset(self.index, 12)[:, None] + np.arange(4) * 3 * WARP).ravel()]
        for own in self.more:
            k = own.rows.shape[1]
            at = own.slot + offset(np.arange(len(own.rows)), 3 * k)
            codes.append((at[:, None] + np.arange(k) * 3 * WARP).ravel())
        row = np.concatenate([self.tets.ravel(), *(own.rows.ravel() for own in self.more)])
        order = np.argsort(row, kind="stable")
        row, code = row[order], np.concatenate(codes)[order]
        count = np.bincount(row, minlength=n)
        within = np.arange(len(row)) - starts(count)[row]
        steps = (-(-count // GATHER_LANES)).reshape(-1, per_slice).max(axis=1)
        self.gather_start = starts(steps)
        self.gather_code = np.full((int(self.gather_start[-1]), WARP), -1, np.int32)
        slot, lane = self.gather_start[row // per_slice] + within // GATHER_LANES, row % per_slice * GATHER_LANES
        self.gather_code[slot, lane + within % GATHER_LANES] = code

    def coarse_tasks(self) -> dict[str, np.ndarray]:
        """Entries sorted by pairs of aggregates, in tasks: begin, end of tasks, row, col, at of entries; pair_start,
        pair (row aggregate times their number + column aggregate)."""
        there = np.sort(self.place)
        row, col = np.r_[self.entries["row"], there], np.r_[self.entries["col"], there]
        at = np.r_[self.entries["at"], np.full(len(there), -1)]
        pair = row // self.size * self.shape.aggregates + col // self.size
        order = np.lexsort((at, row, pair))
        row, col, at, pair = row[order], col[order], at[order], pair[order]
        first = np.flatnonzero(np.r_[True, pair[1:] != pair[:-1]])
        length = np.diff(np.r_[first, len(pair)])
        parts = -(-length // TASK_ENTRIES)
        owner = np.repeat(np.arange(len(first)), parts)
        begin = first[owner] + (np.arange(len(owner)) - starts(parts)[owner]) * TASK_ENTRIES
        end = np.minimum(begin + TASK_ENTRIES, (first + length)[owner])
        return {
            "begin": begin,
            "end": end,
            "row": row,
            "col": col,
            "at": at,
            "pair_start": starts(parts),
            "pair": pair[first],
        }

    def vector(self, values: np.ndarray) -> np.ndarray:
        """Values (n, c) of nodes as flat (chunks, c, WARP)."""
        return grouped(self.of_rows(values))

    def of_rows(self, values: np.ndarray) -> np.ndarray:
        """Values (n,) or (n, c) of nodes by row, zero where there is none."""
        out = np.zeros((self.rows, *values.shape[1:]), values.dtype)
        out[self.place] = values
        return out

    def of_nodes(self, flat: np.ndarray, components: int = 3) -> np.ndarray:
        """A vector (chunks, c, WARP) as (n, c) by node."""
        return ungrouped(flat, components)[self.place]
