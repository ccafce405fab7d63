"""Pairs of primitives of surfaces that may be near: trees of boxes are walked by several threads.

The walk is cut into tasks, pairs of nodes well below the roots, in a fixed order; each writes rows of its own, so that
what is found does not depend on the number of threads.
"""

import numpy as np
from numba import prange

from pliant.jit import kernel, parallel_kernel
from pliant.kernels.collide import MOST_TASKS

# Tasks from which on there are enough of them: a level below has at most four times as many.
TASKS = MOST_TASKS // 4


@kernel
def _may_overlap(a, way_a, i, b, way_b, j):
    """Whether box i of a and box j of b may have points in common while points of theirs move by what is in boxes i of
    way_a and j of way_b; one that is no number has none."""
    for c in range(3):
        if not a[i, c] + min(way_a[i, c] - way_b[j, c + 3], 0.0) <= b[j, c + 3]:
            return False
        if not b[j, c] <= a[i, c + 3] + max(way_a[i, c + 3] - way_b[j, c], 0.0):
            return False
    return True


@kernel
def _meet(first, second, same, a, b):
    """Whether two nodes of trees may hold a pair."""
    if not (first.node_new[a] or second.node_new[b]):
        return False
    own = first.node_group[a]
    if own >= 0 and own == second.node_group[b]:
        return False
    return (same and a == b) or _may_overlap(first.node, first.node_way, a, second.node, second.node_way, b)


@kernel
def _descend(first, second, same, a, b, stack, size):
    """Puts the pairs of nodes below a pair on a stack, from `size` on; how high it is then."""
    down_a, down_b = a < len(first.node) // 2, b < len(second.node) // 2
    for i in range(2 if down_a else 1):
        for j in range(i if same and a == b else 0, 2 if down_b else 1):
            stack[size, 0] = 2 * a + i if down_a else a
            stack[size, 1] = 2 * b + j if down_b else b
            size += 1
    return size


@kernel
def _tasks(first, second, same, out):
    """Pairs of nodes, level by level, until there are enough of them, into out; how many. What is above them holds no
    other pair."""
    leaves_a, leaves_b = len(first.node) // 2, len(second.node) // 2
    level, below, count = np.empty((MOST_TASKS, 2), np.int64), np.empty((MOST_TASKS, 2), np.int64), 1
    level[0, 0] = level[0, 1] = 1
    while count < TASKS:
        new, whole = 0, True
        for k in range(count):
            a, b = level[k, 0], level[k, 1]
            if not _meet(first, second, same, a, b):
                continue
            if a >= leaves_a and b >= leaves_b:
                below[new, 0], below[new, 1] = a, b
                new += 1
            else:
                new = _descend(first, second, same, a, b, below, new)
                whole = False
        level, below, count = below, level, new
        if whole:
            break
    for k in range(count):
        out[k, 0], out[k, 1] = level[k, 0], level[k, 1]
    return count


@kernel
def _strangers(members, i, others, j, body, allowed):
    """Whether two primitives have no node in common, and their bodies may touch."""
    free = allowed[body[members[i, 0]], body[others[j, 0]]]
    for p in range(members.shape[1]):
        for q in range(others.shape[1]):
            free = free and members[i, p] != others[j, q]
    return free


@kernel
def _walk(first, second, same, members, others, body, allowed, a, b, out, begin, room):
    """Pairs below two nodes into rows of out (.., 2) from `begin` on, as far as there is room; how many there are."""
    leaves_a, leaves_b, stack = len(first.node) // 2, len(second.node) // 2, np.empty((256, 2), np.int64)
    stack[0, 0], stack[0, 1] = a, b
    size, count = 1, 0
    while size > 0:
        size -= 1
        a, b = stack[size, 0], stack[size, 1]
        if not _meet(first, second, same, a, b):
            continue
        if a < leaves_a or b < leaves_b:
            size = _descend(first, second, same, a, b, stack, size)
            continue
        start, end = second.leaf[b - leaves_b], second.leaf[b - leaves_b + 1]
        for i in range(first.leaf[a - leaves_a], first.leaf[a - leaves_a + 1]):
            fresh = not first.new[i]
            if fresh and not second.node_new[b]:
                continue
            if not _may_overlap(first.box, first.way, i, second.node, second.node_way, b):
                continue
            p = first.order[i]
            for j in range(i + 1 if same and a == b else start, end):
                if fresh and not second.new[j]:
                    continue
                if _may_overlap(first.box, first.way, i, second.box, second.way, j) and _strangers(
                    members, p, others, second.order[j], body, allowed
                ):
                    if count < room:
                        q = second.order[j]
                        out[begin + count, 0] = min(p, q) if same else p
                        out[begin + count, 1] = max(p, q) if same else q
                    count += 1
    return count


@parallel_kernel
def near_pairs(first, second, same, members, others, body, allowed, room, out, counts_out):
    """Pairs of primitives, with nodes members (m, 1 or 2) and others (n, 3 or 2), whose boxes in two trees overlap,
    that have no node in common and whose bodies may touch, and of which one at least is new; same: both trees are one,
    and pairs are i < j.

    Task t writes rows t room to (t + 1) room of out (.., 2), as far as there is room, and how many there are into
    counts (t,); the largest of these.
    """
    tasks = np.empty((MOST_TASKS, 2), np.int64)
    count = _tasks(first, second, same, tasks)
    counts_out[:] = 0
    for task in prange(count):
        a, b = tasks[task, 0], tasks[task, 1]
        counts_out[task] = _walk(first, second, same, members, others, body, allowed, a, b, out, task * room, room)
    most = 0
    for task in range(count):
        most = max(most, counts_out[task])
    return most


@kernel
def collect_pairs(rows, room, counts, members, others, pairs_out, nodes_out):
    """The rows that tasks have written as pairs (k, 2), with their nodes (k, 4)."""
    count, own, other = 0, members.shape[1], others.shape[1]
    for task in range(len(counts)):
        for k in range(task * room, task * room + counts[task]):
            i, j = rows[k, 0], rows[k, 1]
            pairs_out[count, 0], pairs_out[count, 1] = i, j
            for p in range(own):
                nodes_out[count, p] = members[i, p]
            for q in range(other):
                nodes_out[count, own + q] = others[j, q]
            count += 1


@kernel
def keep_pairs(pairs, nodes, new, pairs_out, nodes_out):
    """The pairs (k, 2), with nodes (k, 4), of which no point is new (points,), into the first rows; how many."""
    count = 0
    for k in range(len(pairs)):
        if new[nodes[k, 0]] or new[nodes[k, 1]] or new[nodes[k, 2]] or new[nodes[k, 3]]:
            continue
        pairs_out[count, 0], pairs_out[count, 1] = pairs[k, 0], pairs[k, 1]
        for p in range(4):
            nodes_out[count, p] = nodes[k, p]
        count += 1
    return count
