"""Trees of bounding boxes: order of the boxes by median splits, fitting, and pairs that overlap.

A tree over n boxes has a power of two of leaves. Node 1 is the root, 2 k and 2 k + 1 are the children of node k, leaf j
is node `leaves + j` and holds the boxes order[n j // leaves : n (j + 1) // leaves]. Boxes are rows (low, high) of six
numbers [m]. Equal coordinates are told apart by the index of the box, so that equal input gives equal trees.
"""

import numpy as np

from pliant.jit import kernel


@kernel
def _select(centre, order, first, last, middle, axis):
    """Rearrange [first, last) so that nothing before `middle` comes after anything behind it along the axis (Hoare's
    algorithm Find)."""
    low, high = first, last - 1
    while low < high:
        pivot, index = centre[(low + high) // 2, axis], order[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while centre[i, axis] < pivot or (centre[i, axis] == pivot and order[i] < index):
                i += 1
            while centre[j, axis] > pivot or (centre[j, axis] == pivot and order[j] > index):
                j -= 1
            if i <= j:
                order[i], order[j] = order[j], order[i]
                for c in range(6):
                    centre[i, c], centre[j, c] = centre[j, c], centre[i, c]
                i += 1
                j -= 1
        if middle <= j:
            high = j
        elif middle >= i:
            low = i
        else:
            low = high


@kernel
def _longest_axis(centre, first, last, begin):
    """The one of three columns from `begin` on whose numbers in [first, last) are furthest apart."""
    axis, longest = begin, -1.0
    for c in range(begin, begin + 3):
        low = high = centre[first, c]
        for k in range(first + 1, last):
            low, high = min(low, centre[k, c]), max(high, centre[k, c])
        if high - low > longest:
            axis, longest = c, high - low
    return axis


@kernel
def _centres(low, high, group):
    """Of boxes twice their centres (n, 3), and behind these those of their groups, or their own where they have
    none."""
    n, count = len(low), 1
    for i in range(n):
        count = max(count, group[i] + 1)
    centre, total, number = np.empty((n, 6)), np.zeros((count, 3)), np.zeros(count)
    for i in range(n):
        for c in range(3):
            centre[i, c] = centre[i, c + 3] = low[i, c] + high[i, c]
            if group[i] >= 0:
                total[group[i], c] += centre[i, c]
        if group[i] >= 0:
            number[group[i]] += 1.0
    for i in range(n):
        if group[i] >= 0:
            for c in range(3):
                centre[i, c + 3] = total[group[i], c] / number[group[i]]
    return centre


@kernel
def order_boxes(low, high, group, leaves, order_out):
    """Order (n,) of the boxes in a tree: every node's boxes are halved at the median of their longest axis; as long as
    they are of several groups (n,), by these, so that most nodes hold boxes of one group alone."""
    n, centre = len(low), _centres(low, high, group)
    for i in range(n):
        order_out[i] = i
    nodes = 1
    while nodes < leaves:
        for j in range(nodes):
            first, middle, last = n * j // nodes, n * (2 * j + 1) // (2 * nodes), n * (j + 1) // nodes
            if first < middle and middle < last:
                begin = 0
                for k in range(first + 1, last):
                    if group[order_out[k]] != group[order_out[first]]:
                        begin = 3
                _select(centre, order_out, first, last, middle, _longest_axis(centre, first, last, begin))
        nodes *= 2


@kernel
def fit_tree(low, high, group, order, box_out, node_out, node_group_out):
    """Boxes of the primitives in the tree's order, box (n, 6), and of the nodes, node (2 leaves, 6), with the group
    that all primitives of a node share (-1: none). The sum of the nodes' half surfaces [m^2], a measure of quality."""
    n, leaves = len(order), len(node_out) // 2
    for j in range(leaves):
        k = leaves + j
        for c in range(3):
            node_out[k, c], node_out[k, c + 3] = np.inf, -np.inf
        first, last = n * j // leaves, n * (j + 1) // leaves
        node_group_out[k] = group[order[first]] if last > first else -1
        for i in range(first, last):
            for c in range(3):
                box_out[i, c], box_out[i, c + 3] = low[order[i], c], high[order[i], c]
                node_out[k, c] = min(node_out[k, c], box_out[i, c])
                node_out[k, c + 3] = max(node_out[k, c + 3], box_out[i, c + 3])
            if group[order[i]] != node_group_out[k]:
                node_group_out[k] = -1
    total = 0.0
    for k in range(leaves - 1, 0, -1):
        for c in range(3):
            node_out[k, c] = min(node_out[2 * k, c], node_out[2 * k + 1, c])
            node_out[k, c + 3] = max(node_out[2 * k, c + 3], node_out[2 * k + 1, c + 3])
        same = node_group_out[2 * k] == node_group_out[2 * k + 1]
        node_group_out[k] = node_group_out[2 * k] if same else -1
        a, b, c = node_out[k, 3] - node_out[k, 0], node_out[k, 4] - node_out[k, 1], node_out[k, 5] - node_out[k, 2]
        total += a * b + b * c + c * a
    return total


@kernel
def mark_new(new, members, order, leaf, box_out, node_out):
    """Which boxes (n,), in the order of a tree, have a point among those that are new (points,), and which of its nodes
    (2 leaves,) hold such a box; members (n, k): points of the boxes."""
    leaves = len(node_out) // 2
    for j in range(leaves):
        any_new = False
        for i in range(leaf[j], leaf[j + 1]):
            own = False
            for k in range(members.shape[1]):
                own = own or new[members[order[i], k]]
            box_out[i] = own
            any_new = any_new or own
        node_out[leaves + j] = any_new
    for k in range(leaves - 1, 0, -1):
        node_out[k] = node_out[2 * k] or node_out[2 * k + 1]


@kernel
def _overlap(a, i, b, j):
    """Whether box i of a and box j of b have points in common; one that is no number has none."""
    below = (a[i, 0] <= b[j, 3]) & (a[i, 1] <= b[j, 4]) & (a[i, 2] <= b[j, 5])
    return below & (b[j, 0] <= a[i, 3]) & (b[j, 1] <= a[i, 4]) & (b[j, 2] <= a[i, 5])


@kernel
def overlapping_pairs(
    order_a, box_a, node_a, node_group_a, group_a, order_b, box_b, node_b, node_group_b, group_b, same, pairs_out
):
    """Writes the pairs (i of a, j of b) of boxes that overlap or touch, as far as there is room; how many there are.

    Boxes of one group (>= 0) are no pair. same: both trees are one, and pairs are i < j.
    """
    leaves_a, leaves_b = len(node_a) // 2, len(node_b) // 2
    # two nodes leave at most three more waiting at each level, and a tree has less than 64
    stack = np.empty((256, 2), np.int64)
    stack[0, 0] = stack[0, 1] = 1
    size, count = 1, 0
    while size > 0:
        size -= 1
        a, b = stack[size, 0], stack[size, 1]
        twin = same and a == b
        if node_group_a[a] >= 0 and node_group_a[a] == node_group_b[b]:
            continue
        if not twin and not _overlap(node_a, a, node_b, b):
            continue
        if a >= leaves_a and b >= leaves_b:
            first, last = len(order_b) * (b - leaves_b) // leaves_b, len(order_b) * (b - leaves_b + 1) // leaves_b
            for i in range(len(order_a) * (a - leaves_a) // leaves_a, len(order_a) * (a - leaves_a + 1) // leaves_a):
                own = group_a[order_a[i]]
                for j in range(i + 1 if twin else first, last):
                    if _overlap(box_a, i, box_b, j) and (own < 0 or own != group_b[order_b[j]]):
                        if count < len(pairs_out):
                            p, q = order_a[i], order_b[j]
                            swap = same and p > q
                            pairs_out[count, 0], pairs_out[count, 1] = (q if swap else p), (p if swap else q)
                        count += 1
            continue
        down_a, down_b = a < leaves_a, b < leaves_b
        for i in range(2 if down_a else 1):
            for j in range(i if twin else 0, 2 if down_b else 1):
                stack[size, 0] = 2 * a + i if down_a else a
                stack[size, 1] = 2 * b + j if down_b else b
                size += 1
    return count


@kernel
def swept_boxes(start, end, members, margin, low_out, high_out):
    """Boxes (m, 3) of primitives with nodes members (m, k) that move straight from start to end (n, 3) [m], wider by
    the largest margin (n,) [m] of their nodes."""
    for i in range(len(members)):
        wide = margin[members[i, 0]]
        for c in range(3):
            low_out[i, c], high_out[i, c] = np.inf, -np.inf
        for k in range(members.shape[1]):
            node = members[i, k]
            wide = max(wide, margin[node])
            for c in range(3):
                low_out[i, c] = min(low_out[i, c], start[node, c], end[node, c])
                high_out[i, c] = max(high_out[i, c], start[node, c], end[node, c])
        for c in range(3):
            low_out[i, c] -= wide
            high_out[i, c] += wide
