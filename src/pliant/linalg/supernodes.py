"""Sparse L D L^T of a large symmetric matrix of 3x3 blocks: columns of L with the same rows are one dense panel.

A supernode is a run of columns whose rows below are the same but for a few zeros that are kept as numbers (Davis 2006,
ch. 4; Ashcraft and Grimes 1989). Panels are factorised by those before them that reach into them; subtrees of the
elimination tree know nothing of each other and are tasks of threads.
"""

from dataclasses import dataclass
from itertools import pairwise, zip_longest

import numpy as np

from pliant.kernels.device import Device
from pliant.kernels.matrices import ELIMINATE, FOLLOW, TAKE, TOGETHER, SupernodeFactor, SupernodePlan
from pliant.linalg.block_ldl import BlockPattern

# Columns of two supernodes up to which they become one whatever zeros that costs; up to which they do for this part of
# zeros; and this part beyond.
SMALL, MIDDLING, SOME_ZEROS, FEW_ZEROS = 4, 16, 0.15, 0.02
# Largest part of all work that one task has.
LARGEST_TASK = 1 / 12
# Above these a panel is worked at in parts, and in chunks of columns.
PARTS, CHUNK = 4, 24


@dataclass
class Supernodes:
    """The panels of a pattern. plan: where numbers lie, for compiled loops; room: factors to write over."""

    device: Device
    plan: SupernodePlan
    room: SupernodeFactor

    @classmethod
    def of(cls, pattern: BlockPattern) -> "Supernodes":
        """Those of a pattern."""
        plan = _plan(pattern, _merged(pattern))
        panel, pivot = np.zeros(int(plan.panel_start[-1]) + TOGETHER), np.empty((2, 3 * len(pattern.order)))
        return cls(
            pattern.device, plan, SupernodeFactor(plan, pattern.order, panel, pivot, np.empty(3 * len(plan.rows)))
        )

    def factorise(self, values: np.ndarray) -> SupernodeFactor:
        """L D L^T of the matrix with these upper blocks (k, 3, 3), in place of the one before."""
        self.device.linalg.supernodes.factorise_supernodes(self.plan, values, self.room.panel, self.room.pivot)
        return self.room


def _merged(pattern: BlockPattern) -> np.ndarray:
    """First columns of all supernodes, and the number of columns."""
    parent, below = pattern.parent, np.diff(pattern.start)
    follows = (parent[:-1] == np.arange(1, len(parent))) & (below[:-1] == below[1:] + 1)
    first = np.concatenate([[0], np.flatnonzero(~follows) + 1, [len(parent)]])
    groups = []  # first and last column, and zeros among their numbers
    for a, b in zip(first[:-1], first[1:] - 1):
        own = (a, b, 0)
        while groups and own[0] <= parent[groups[-1][1]] <= b:  # the last one is a child
            zeros = _zeros(groups[-1], own, below)
            if zeros is None:
                break
            own = (groups.pop()[0], b, zeros)
        groups.append(own)
    return np.array([group[0] for group in groups] + [len(parent)])


def _zeros(child: tuple, own: tuple, below: np.ndarray) -> int | None:
    """Zeros among the blocks of two supernodes as one; None where these are too many."""

    def size(first, last):
        columns = int(last - first) + 1
        return columns * (columns + 1) // 2 + columns * int(below[last])

    whole, columns = size(child[0], own[1]), own[1] - child[0] + 1
    zeros = whole - size(*child[:2]) - size(*own[:2]) + child[2] + own[2]
    part = 1.0 if columns <= SMALL else SOME_ZEROS if columns <= MIDDLING else FEW_ZEROS
    return zeros if zeros <= part * whole else None


def _rows(pattern: BlockPattern, first: np.ndarray) -> list[np.ndarray]:
    """Rows of every supernode: its own columns, then those below."""
    n = len(pattern.order)
    column = np.repeat(np.arange(n), np.diff(pattern.column_start))
    right = column[np.argsort(pattern.row, kind="stable")]  # of each row of the upper triangle its columns
    start = np.concatenate([[0], np.cumsum(np.bincount(pattern.row, minlength=n))])
    of, found = np.repeat(np.arange(len(first) - 1), np.diff(first)), []
    children = [[] for _ in range(len(first) - 1)]
    for own, (a, b) in enumerate(pairwise(first)):
        every = np.unique(np.concatenate([right[start[a] : start[b]], *children[own]]))
        every, children[own] = every[every >= b], None
        found.append(np.concatenate([np.arange(a, b), every]))
        if len(every):
            children[of[every[0]]].append(every)
    return found


def _plan(pattern: BlockPattern, first: np.ndarray) -> SupernodePlan:
    """Where the numbers of panels lie, and who updates whom."""
    count, rows = len(first) - 1, _rows(pattern, first)
    of, columns = np.repeat(np.arange(count), np.diff(first)), np.diff(first)
    length = np.array([len(own) for own in rows])
    panel_start = _starts(9 * columns * length)
    updates, relative, parent, beside = [], [], np.full(count, -1), 0
    for own in range(count):
        below = rows[own][columns[own] :]
        targets = of[below]
        parent[own] = targets[0] if len(below) else -1
        runs = np.flatnonzero(np.concatenate([[True], targets[1:] != targets[:-1]])) if len(below) else []
        for a, b in zip(runs, [*runs[1:], len(below)]):
            updates.append((targets[a], own, columns[own] + a, columns[own] + b, beside))
            relative.append(np.searchsorted(rows[targets[a]], below[a:]))
            beside += len(below) - a
    table = np.array(updates, np.int64).reshape(-1, 5)
    first_update = np.full(count, -1)  # that of the parent
    first_update[table[::-1, 1]] = table[::-1, 4]
    table = table[np.argsort(table[:, 0], kind="stable")]
    work = np.array([float(s * m * m) for s, m in zip(columns, length)])
    tasks = _tasks(parent, work)
    child = np.argsort(parent, kind="stable")[np.count_nonzero(parent < 0) :]
    return SupernodePlan(
        first,
        _starts(length),
        np.concatenate(rows),
        np.array([length.max()]),
        panel_start,
        *_entries(pattern, of, rows, length),
        _starts(np.bincount(table[:, 0], minlength=count)),
        np.ascontiguousarray(table[:, 1:]),
        np.concatenate([*relative, np.zeros(0, np.int64)]).astype(np.int32),
        _starts(np.bincount(parent[parent >= 0], minlength=count)),
        np.stack([child, first_update[child]], axis=1),
        _starts([len(task) for task in tasks]),
        np.concatenate(tasks).astype(np.int64),
        *_stages(tasks, parent, columns),
    )


def _starts(lengths) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def _entries(pattern, of: np.ndarray, rows: list, length: np.ndarray) -> tuple[np.ndarray, ...]:
    """Blocks of the matrix by rows of the upper triangle: start, place in the panel's rows with which block; and the
    blocks on the diagonal."""
    count = len(pattern.order)
    column = np.repeat(np.arange(count), np.diff(pattern.column_start))
    key = np.concatenate([count * own + where for own, where in enumerate(rows)])
    owner = of[pattern.row]
    place = np.searchsorted(key, count * owner + column) - _starts(length)[owner]
    which = np.argsort(pattern.row, kind="stable")
    start = _starts(np.bincount(pattern.row, minlength=count))
    return start, np.stack([3 * place[which], which], axis=1), pattern.column_start[1:] - 1


def _tasks(parent: np.ndarray, work: np.ndarray) -> list[np.ndarray]:
    """Supernodes of subtrees that are small enough to be tasks of their own, and last all others."""
    count, whole = len(parent), work.copy()
    for own in range(count):  # children come before their parents
        if parent[own] >= 0:
            whole[parent[own]] += whole[own]
    small = whole <= LARGEST_TASK * work.sum()
    root = np.full(count, -1)
    for own in range(count - 1, -1, -1):
        if small[own]:
            root[own] = root[parent[own]] if parent[own] >= 0 and small[parent[own]] else own
    order = np.argsort(root, kind="stable")
    runs = np.split(order, np.flatnonzero(np.diff(root[order])) + 1)
    subtrees, above = (runs[1:], runs[0]) if root[order[0]] < 0 else (runs, np.zeros(0, np.int64))
    load = np.array([work[own].sum() for own in subtrees])
    return [*(subtrees[i] for i in _evenly(np.arange(len(load)), load)), above]


def _evenly(which: np.ndarray, load: np.ndarray) -> np.ndarray:
    """Tasks in an order whose halves, halves of these and so on are about as long: threads take runs of them."""
    if len(which) <= 2:
        return which
    halves, sums, most = ([], []), [0.0, 0.0], (len(which) + 1) // 2
    for task in which[np.argsort(-load[which], kind="stable")]:
        side = int(sums[1] < sums[0]) if max(len(half) for half in halves) < most else int(len(halves[0]) == most)
        halves[side].append(task)
        sums[side] += load[task]
    halves = sorted(halves, key=len, reverse=True)
    return np.concatenate([_evenly(np.array(half), load) for half in halves])


def _whole(own: int, columns: int) -> list[tuple]:
    """The jobs of a supernode at once."""
    return [(TAKE, own, 0, 1, 0, 0), (ELIMINATE, own, 0, 1, 0, columns)]


def _stages(tasks: list, parent: np.ndarray, columns: np.ndarray) -> tuple[np.ndarray, ...]:
    """Stages of tasks, and the jobs of these: subtrees first; then of every level of those above all at once, panels
    in parts."""
    level, above = np.zeros(len(parent), np.int64), tasks[-1]
    stages = [[[job for own in task for job in _whole(own, columns[own])] for task in tasks[:-1]]]
    for own in above:
        if parent[own] >= 0:
            level[parent[own]] = max(level[parent[own]], level[own] + 1)
    for at in range(level[above].max() + 1 if len(above) else 0):
        ways = [_in_parts(own, int(columns[own])) for own in above if level[own] == at]
        stages += [[task for tasks in together for task in tasks] for together in zip_longest(*ways, fillvalue=[])]
    flat = [task for stage in stages for task in stage]
    jobs = np.array([job for task in flat for job in task], np.int64).reshape(-1, 6)
    return _starts([len(stage) for stage in stages]), _starts([len(task) for task in flat]), jobs


def _in_parts(own: int, columns: int) -> list[list[list[tuple]]]:
    """Stages of tasks of one supernode by itself."""
    stages = [[[(TAKE, own, part, PARTS, 0, 0)] for part in range(PARTS)]]
    for begin in range(0, columns, CHUNK):
        end = min(begin + CHUNK, columns) if begin + 2 * CHUNK <= columns else columns
        stages.append([[(ELIMINATE, own, 0, 1, begin, end)]])
        if end == columns:
            break
        stages.append([[(FOLLOW, own, part, PARTS, begin, end)] for part in range(PARTS)])
    return stages
