"""Pairs of primitives of one sheet that may be near: patches are compared, and what is proved flat is left out.

Patches are leaves of a tree of boxes. The walk is cut into tasks in a fixed order, each of which writes rows of its
own, so that what is found does not depend on the number of threads.
"""

import math

import numpy as np
from numba import prange

from pliant.jit import formula, kernel, parallel_kernel
from pliant.kernels.collide import MOST_TASKS

# Rounding of what is measured along a line, in parts of the coordinates.
DOUBT = 1e-14


@kernel
def _empty(box, i):
    for c in range(3):
        box[i, c], box[i, 3 + c] = np.inf, -np.inf


@kernel
def _take_point(start, end, margin, i, box, way, at):
    """Widens boxes `at` of places and of ways by those of a point."""
    for c in range(3):
        place, gone, wide = start[i, c], end[i, c] - start[i, c], margin[i]
        box[at, c], box[at, 3 + c] = min(box[at, c], place - wide), max(box[at, 3 + c], place + wide)
        way[at, c], way[at, 3 + c] = min(way[at, c], gone), max(way[at, 3 + c], gone)


@kernel
def _fit_ball(nodes, first, last, start, margin, patch, ball):
    """Centre and radius (4,) of a ball around triangles first..last of a patch, wider by the margins of its points."""
    for c in range(3):
        ball[patch, c] = 0.0
        for t in range(first, last):
            for k in range(3):
                ball[patch, c] += start[nodes[t, k], c] / (3 * (last - first))
    radius = 0.0
    for t in range(first, last):
        for k in range(3):
            i, square = nodes[t, k], 0.0
            for c in range(3):
                square += (start[i, c] - ball[patch, c]) ** 2
            radius = max(radius, math.sqrt(square) + margin[i])
    ball[patch, 3] = radius


@kernel
def _fit_nodes(box_inout):
    """Boxes (2 leaves, 6) of the nodes of a tree above its leaves."""
    for above in range(1, len(box_inout) // 2):
        node = len(box_inout) // 2 - above
        for c in range(3):
            box_inout[node, c] = min(box_inout[2 * node, c], box_inout[2 * node + 1, c])
            box_inout[node, 3 + c] = max(box_inout[2 * node, 3 + c], box_inout[2 * node + 1, 3 + c])


@parallel_kernel
def fit_patches(patches, start, end, margin, new, box_out, way_out, ball_out, new_out):
    """Boxes (2 patches, 6) of the tree over patches, of where their points are, wider by their margins, and of what
    these go; balls (patches, 4) around them; new_out (patches,): which of them have new points."""
    count = len(patches.height)
    for index in prange(count):
        patch = np.int64(index)
        _empty(box_out, count + patch)
        _empty(way_out, count + patch)
        first, last = patches.triangle_start[patch], patches.triangle_start[patch + 1]
        _fit_ball(patches.nodes, first, last, start, margin, patch, ball_out)
        new_out[patch] = False
        for t in range(first, last):
            for k in range(3):
                _take_point(start, end, margin, patches.nodes[t, k], box_out, way_out, count + patch)
                new_out[patch] |= new[patches.nodes[t, k]]
    _fit_nodes(box_out)
    _fit_nodes(way_out)


@kernel
def _overlap(box, way, i, other, other_way, j):
    """Whether box i and box j may have points in common while points of theirs move by what is in the boxes of ways."""
    for c in range(3):
        if not box[i, c] + min(way[i, c] - other_way[j, 3 + c], 0.0) <= other[j, 3 + c]:
            return False
        if not other[j, c] <= box[i, 3 + c] + max(way[i, 3 + c] - other_way[j, c], 0.0):
            return False
    return True


@kernel
def _apart(way, ball, leaves, a, b):
    """Whether the balls around two patches have no point in common while points of theirs move."""
    square, moved = 0.0, 0.0
    for c in range(3):
        beside = max(way[leaves + a, 3 + c] - way[leaves + b, c], way[leaves + b, 3 + c] - way[leaves + a, c])
        moved += beside * beside
        square += (ball[a, c] - ball[b, c]) ** 2
    reach = ball[a, 3] + ball[b, 3] + math.sqrt(moved)
    return square > reach * reach


@kernel
def _inside(surroundings, rest_box, a, b):
    """Whether patch b lies, at rest, in the surroundings of a for which its proof holds."""
    if not (surroundings[a, 0] <= rest_box[b, 0] and surroundings[a, 1] <= rest_box[b, 1]):
        return False
    return rest_box[b, 2] <= surroundings[a, 2] and rest_box[b, 3] <= surroundings[a, 3]


@kernel
def _proved(rest, flat, box, way, ball, a, b):
    """Whether two patches, which may be one, hold no pair: both lie in the surroundings of one that is flat there, or
    balls around them are apart."""
    surroundings, rest_box, around_start, around = rest
    if flat[a] and _inside(surroundings, rest_box, a, b):
        return True
    if a != b and _apart(way, ball, len(flat), a, b):
        return True
    for k in range(around_start[a], around_start[a + 1]):
        m = around[k]
        if flat[m] and _inside(surroundings, rest_box, m, a) and _inside(surroundings, rest_box, m, b):
            return True
    return False


@kernel
def _walk(rest, a, b, fitted, begin, room, out):
    """Pairs of patches below nodes a and b of the tree, which may be one, that may hold pairs of primitives, into rows
    of out from `begin` on; how many there are."""
    flat, box, way, ball, patch_new = fitted
    leaves, stack, size, count = len(flat), np.empty((128, 2), np.int64), 1, 0
    stack[0, 0], stack[0, 1] = a, b
    while size > 0:
        size -= 1
        a, b = stack[size, 0], stack[size, 1]
        if a != b and not _overlap(box, way, a, box, way, b):
            continue
        if a < leaves:
            for i in range(2):
                for j in range(i if a == b else 0, 2):
                    stack[size, 0], stack[size, 1] = 2 * a + i, 2 * b + j
                    size += 1
            continue
        a, b = a - leaves, b - leaves
        if (patch_new[a] or patch_new[b]) and not _proved(rest, flat, box, way, ball, a, b):
            if count < room:
                out[begin + count, 0], out[begin + count, 1] = a, b
            count += 1
    return count


@kernel
def _tasks(box, way, out):
    """Pairs of nodes (.., 2), well below the root, that hold all pairs; how many."""
    level, below, count = np.empty((MOST_TASKS, 2), np.int64), np.empty((MOST_TASKS, 2), np.int64), 1
    level[0, 0] = level[0, 1] = 1
    while 4 * count <= MOST_TASKS and level[0, 0] < len(box) // 2:
        new = 0
        for k in range(count):
            a, b = level[k, 0], level[k, 1]
            for i in range(2):
                for j in range(i if a == b else 0, 2):
                    one, two = 2 * a + i, 2 * b + j
                    if one == two or _overlap(box, way, one, box, way, two):
                        below[new, 0], below[new, 1] = one, two
                        new += 1
        level, below, count = below, level, new
    for k in range(count):
        out[k, 0], out[k, 1] = level[k, 0], level[k, 1]
    return count


@parallel_kernel
def near_patches(patches, fitted, room, rows_out, counts_out):
    """Pairs of patches, which may be one, that are not proved to hold no pair of primitives: task t writes rows t room
    to (t + 1) room of rows (.., 2), as far as there is room, and how many there are into counts (tasks,). fitted: flat,
    and box, way, ball, new of `fit_patches`."""
    tasks = np.empty((MOST_TASKS, 2), np.int64)
    count = _tasks(fitted[1], fitted[2], tasks)
    counts_out[:] = 0
    for index in prange(count):
        task = np.int64(index)
        rest = (patches.surroundings, patches.rest_box, patches.around_start, patches.around)
        counts_out[task] = _walk(rest, tasks[task, 0], tasks[task, 1], fitted, task * room, room, rows_out)


@kernel
def collect_patches(rows, room, counts, pairs_out, active_out):
    """The rows that tasks have written as pairs (k, 2) of patches, and which patches (p,) are in one."""
    active_out[:] = False
    count = 0
    for task in range(len(counts)):
        for k in range(task * room, task * room + counts[task]):
            a, b = rows[k, 0], rows[k, 1]
            pairs_out[count, 0], pairs_out[count, 1] = a, b
            active_out[a] = active_out[b] = True
            count += 1


@kernel
def _box_members(first, last, members, start, end, margin, boxes):
    """Boxes (12, m) of primitives first..last with nodes members (m, k): of their places, and of their ways."""
    for p in range(first, last):
        for c in range(3):
            low, high, slowest, fastest = np.inf, -np.inf, np.inf, -np.inf
            for k in range(members.shape[1]):
                i = members[p, k]
                place, gone, wide = start[i, c], end[i, c] - start[i, c], margin[i]
                low, high = min(low, place - wide), max(high, place + wide)
                slowest, fastest = min(slowest, gone), max(fastest, gone)
            boxes[c, p], boxes[3 + c, p], boxes[6 + c, p], boxes[9 + c, p] = low, high, slowest, fastest


@formula
def _box_of(boxes, p):
    """The boxes of one primitive, twelve numbers."""
    place = (boxes[0, p], boxes[1, p], boxes[2, p], boxes[3, p], boxes[4, p], boxes[5, p])
    return place, (boxes[6, p], boxes[7, p], boxes[8, p], boxes[9, p], boxes[10, p], boxes[11, p])


@formula
def _of_patch(box, way, at):
    """The same of a patch."""
    place = (box[at, 0], box[at, 1], box[at, 2], box[at, 3], box[at, 4], box[at, 5])
    return place, (way[at, 0], way[at, 1], way[at, 2], way[at, 3], way[at, 4], way[at, 5])


@kernel
def _mark_near(first, last, boxes, own, out):
    """Marks which primitives first..last may come near what has such boxes; how many. (Without branches, for
    vectors.)"""
    place, way = own
    for p in range(first, last):
        near = boxes[0, p] + min(boxes[6, p] - way[3], 0.0) <= place[3]
        near &= boxes[1, p] + min(boxes[7, p] - way[4], 0.0) <= place[4]
        near &= boxes[2, p] + min(boxes[8, p] - way[5], 0.0) <= place[5]
        near &= place[0] <= boxes[3, p] + max(boxes[9, p] - way[0], 0.0)
        near &= place[1] <= boxes[4, p] + max(boxes[10, p] - way[1], 0.0)
        near &= place[2] <= boxes[5, p] + max(boxes[11, p] - way[2], 0.0)
        out[p - first] = 1 if near else 0
    count = 0
    for p in range(last - first):
        count += out[p]
    return count


@kernel
def _any_new(members, p, new):
    """Whether a primitive with nodes members[p] has a new one."""
    found = False
    for k in range(members.shape[1]):
        found |= new[members[p, k]]
    return found


@kernel
def _stay_apart(places, members, p, there, q):
    """Whether a plane between two primitives, with nodes members[p] and there[q], at right angles to the line from one
    centre to the other proves that they come no nearer than their margins; places: start, end, margin. (Neighbours in a
    sheet lie so beside each other, while boxes around them overlap.)"""
    start, end, margin = places
    own, other = members.shape[1], there.shape[1]
    n0, n1, n2 = 0.0, 0.0, 0.0
    for k in range(own):
        i = members[p, k]
        n0, n1, n2 = n0 + start[i, 0] / own, n1 + start[i, 1] / own, n2 + start[i, 2] / own
    for k in range(other):
        i = there[q, k]
        n0, n1, n2 = n0 - start[i, 0] / other, n1 - start[i, 1] / other, n2 - start[i, 2] / other
    low, high, slowest, fastest, near, far = np.inf, -np.inf, np.inf, -np.inf, 0.0, 0.0
    for k in range(own):
        i = members[p, k]
        at = n0 * start[i, 0] + n1 * start[i, 1] + n2 * start[i, 2]
        gone = n0 * end[i, 0] + n1 * end[i, 1] + n2 * end[i, 2] - at
        low, slowest, near = min(low, at), min(slowest, gone), max(near, margin[i])
    for k in range(other):
        i = there[q, k]
        at = n0 * start[i, 0] + n1 * start[i, 1] + n2 * start[i, 2]
        gone = n0 * end[i, 0] + n1 * end[i, 1] + n2 * end[i, 2] - at
        high, fastest, far = max(high, at), max(fastest, gone), max(far, margin[i])
    gap, wide = low - high + min(slowest - fastest, 0.0), near + far
    doubt = DOUBT * (abs(low) + abs(high) + abs(slowest) + abs(fastest))
    return gap > doubt and (gap - doubt) * (gap - doubt) > wide * wide * (n0 * n0 + n1 * n1 + n2 * n2)


@kernel
def _between(a, b, one, other, places, new, box, way, marks, same, begin, room, count, out):
    """Pairs of primitives of two kinds, one (starts, members, names, boxes) of patch a and the other of patch b, whose
    boxes overlap, that have no node in common, are not proved to stay apart and of which one at least is new, into rows
    of out from `begin` on; how many there are beyond `count`. same: both are one list."""
    at, to, members, there = len(box) // 2 + a, len(box) // 2 + b, one[1], other[1]
    first, last, start, end = one[0][a], one[0][a + 1], other[0][b], other[0][b + 1]
    if _mark_near(first, last, one[3], _of_patch(box, way, to), marks[0]) == 0:
        return count
    if _mark_near(start, end, other[3], _of_patch(box, way, at), marks[1]) == 0:
        return count
    for p in range(first, last):
        if marks[0, p - first] == 0 or _mark_near(start, end, other[3], _box_of(one[3], p), marks[2]) == 0:
            continue
        fresh = _any_new(members, p, new)
        for q in range(p + 1 if same else start, end):
            if marks[1, q - start] == 0 or marks[2, q - start] == 0 or not (fresh or _any_new(there, q, new)):
                continue
            strangers = True
            for k in range(members.shape[1]):
                for m in range(there.shape[1]):
                    strangers &= members[p, k] != there[q, m]
            if not strangers or _stay_apart(places, members, p, there, q):
                continue
            if count < room:
                own, its = one[2][p], other[2][q]
                ordered = members.shape[1] != there.shape[1] or own < its
                out[begin + count, 0] = own if ordered else its
                out[begin + count, 1] = its if ordered else own
            count += 1
    return count


@parallel_kernel
def near_in_patches(
    patches, start, end, margin, new, box, way, pairs, active, boxes, rooms, faces_out, edges_out, counts_out
):
    """Pairs of primitives in pairs (k, 2) of patches that may come nearer than their margins (n,) [m] on straight ways
    from start to end (n, 3) and have a new (n,) point, as `near_pairs` (kernels.cpu.collide.nearness) writes them:
    rooms (2,), counts (tasks, 2) of vertices with triangles and of edges. active (patches,): those in pairs; boxes:
    room for those of vertices, triangles and edges, (12, m) each."""
    for index in prange(len(active)):
        patch = np.int64(index)
        if active[patch]:
            first, last = patches.vertex_start[patch], patches.vertex_start[patch + 1]
            _box_members(first, last, patches.vertices, start, end, margin, boxes[0])
            first, last = patches.triangle_start[patch], patches.triangle_start[patch + 1]
            _box_members(first, last, patches.nodes, start, end, margin, boxes[1])
            first, last = patches.edge_start[patch], patches.edge_start[patch + 1]
            _box_members(first, last, patches.edges, start, end, margin, boxes[2])
    for index in prange(MOST_TASKS):
        task, marks = np.int64(index), np.empty((3, patches.most[0]), np.uint8)
        vertices = (patches.vertex_start, patches.vertices, patches.vertex, boxes[0])
        triangles = (patches.triangle_start, patches.nodes, patches.triangle, boxes[1])
        edges = (patches.edge_start, patches.edges, patches.edge, boxes[2])
        faces_found, edges_found, place, places = 0, 0, task * rooms[0], (start, end, margin)
        for k in range(task * len(pairs) // MOST_TASKS, (task + 1) * len(pairs) // MOST_TASKS):
            a, b = pairs[k, 0], pairs[k, 1]
            given = (vertices, triangles, places, new, box, way, marks, False, place, rooms[0])
            faces_found = _between(a, b, *given, faces_found, faces_out)
            if a != b:
                faces_found = _between(b, a, *given, faces_found, faces_out)
            given_edges = (edges, edges, places, new, box, way, marks, a == b, task * rooms[1], rooms[1])
            edges_found = _between(a, b, *given_edges, edges_found, edges_out)
        counts_out[task, 0], counts_out[task, 1] = faces_found, edges_found
