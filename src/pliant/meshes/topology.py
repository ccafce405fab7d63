"""Faces and edges of meshes, found by sorting integer keys; no coordinates here."""

import numpy as np

TET_FACES = np.array([[1, 3, 2], [0, 2, 3], [0, 3, 1], [0, 1, 2]])
"""Face i lies opposite node i and points outward when det[X0-X3, X1-X3, X2-X3] > 0."""

TET_EDGES = np.array([[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]])
TRIANGLE_EDGES = np.array([[0, 1], [1, 2], [2, 0]])

TET10_EDGES = np.array([[0, 1], [1, 2], [0, 2], [0, 3], [1, 3], [2, 3]])
"""The order of the nodes in a tet of ten: the corners 0 to 3, then the midpoints 4 to 9 of these edges.

VTK numbers the midpoints by the same edges, but its corners are ordered the other way round: see `inside_out`.
"""

FLIP = [1, 0, 2, 3]
"""Node order that turns a tet of four nodes inside out; VTK, Gmsh and Medit order the nodes of every tet this way."""
FLIP10 = [1, 0, 2, 3, 4, 6, 5, 8, 7, 9]
"""The same for ten nodes: corners 0 and 1 change places, and so do the midpoints of 12 and 02, and of 03 and 13."""

TET10_FACES = np.array([[1, 3, 2, 8, 9, 5], [0, 2, 3, 6, 9, 7], [0, 3, 1, 7, 8, 4], [0, 1, 2, 4, 5, 6]])
"""The faces of a tet of ten nodes: corners a, b, c as in TET_FACES, then the midpoints of ab, bc, ca."""

TRIANGLE6_PARTS = np.array([[0, 3, 5], [3, 1, 4], [5, 4, 2], [3, 4, 5]])
"""Four triangles that fill one of six nodes, at its three corners and in the middle."""


def row_keys(rows: np.ndarray, point_count: int) -> np.ndarray:
    """One int64 key (m,) per row of indices; equal rows, and only they, have equal keys.

    Nodes are folded in one column at a time, and keys are compressed to ranks before they could overflow.
    """
    keys = rows[:, 0].astype(np.int64)
    size = point_count
    for column in range(1, rows.shape[1]):
        if size > (2**62) // point_count:
            keys = np.unique(keys, return_inverse=True)[1].reshape(-1).astype(np.int64)
            size = len(rows)
        keys = keys * point_count + rows[:, column]
        size *= point_count
    return keys


def set_keys(rows: np.ndarray, point_count: int) -> np.ndarray:
    """Like row_keys, but blind to the order of the nodes inside a row."""
    return row_keys(np.sort(rows, axis=1), point_count)


def group_counts(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each key its group number (m,), and the size of each group."""
    _, group, counts = np.unique(keys, return_inverse=True, return_counts=True)
    return group.reshape(-1), counts


def permutation_parity(rows: np.ndarray) -> np.ndarray:
    """+1 for rows (m, 3) that are an even permutation of their sorted nodes, -1 for odd."""
    a, b, c = rows.T
    return np.sign((b - a).astype(np.int64)) * np.sign((c - b).astype(np.int64)) * np.sign((c - a).astype(np.int64))


def tet_faces(tets: np.ndarray) -> np.ndarray:
    """All faces (4m, 3) of tets (m, 4 or 10), outward, as corners; face 4e + i of tet e lies opposite its node i."""
    return tets[:, TET_FACES].reshape(-1, 3)


def tet_faces_with_midpoints(tets: np.ndarray) -> np.ndarray:
    """All faces (4m, 6) of tets (m, 10), numbered as in tet_faces."""
    return tets[:, TET10_FACES].reshape(-1, 6)


def inside_out(tets: np.ndarray) -> np.ndarray:
    """The tets (m, 4) or (m, 10) with the opposite orientation: from ours to that of VTK, or back."""
    return tets[:, FLIP if tets.shape[1] == 4 else FLIP10]


def unique_edges(elements: np.ndarray, local_edges: np.ndarray, point_count: int) -> np.ndarray:
    """Unique edges (e, 2) of elements, lower node first, in ascending order."""
    pairs = np.sort(elements[:, local_edges].reshape(-1, 2), axis=1)
    _, first = np.unique(row_keys(pairs, point_count), return_index=True)
    return pairs[first]


def duplicates(elements: np.ndarray, point_count: int) -> np.ndarray:
    """Indices of the elements whose nodes all appear in an earlier element."""
    _, first = np.unique(set_keys(elements, point_count), return_index=True)
    mask = np.ones(len(elements), dtype=bool)
    mask[first] = False
    return np.flatnonzero(mask)


def unused_nodes(elements: np.ndarray, point_count: int) -> np.ndarray:
    """Indices of the points that no element uses."""
    used = np.zeros(point_count, dtype=bool)
    used[elements] = True
    return np.flatnonzero(~used)


def edge_balance(triangles: np.ndarray, point_count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Undirected edges (e, 2) of triangles, how many triangles use each, and uses forward minus backward."""
    directed = triangles[:, TRIANGLE_EDGES].reshape(-1, 2)
    ordered = np.sort(directed, axis=1)
    _, first, group, counts = np.unique(
        row_keys(ordered, point_count), return_index=True, return_inverse=True, return_counts=True
    )
    direction = np.where(directed[:, 0] < directed[:, 1], 1, -1)
    balance = np.bincount(group.reshape(-1), weights=direction, minlength=len(counts)).astype(np.int64)
    return ordered[first], counts, balance


def pinched_points(triangles: np.ndarray, point_count: int) -> np.ndarray:
    """Points, ascending, at which triangles (m, 3) meet that no edges there connect: more than one fan of them."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    ends, corners = triangles[:, TRIANGLE_EDGES].reshape(-1, 2), np.arange(triangles.size).reshape(-1, 3)
    order = np.argsort(ends, axis=1)
    corners = np.take_along_axis(corners[:, TRIANGLE_EDGES].reshape(-1, 2), order, axis=1)  # of the lower point first
    keys = row_keys(np.take_along_axis(ends, order, axis=1), point_count)
    place = np.argsort(keys, kind="stable")
    next_to = np.flatnonzero(keys[place][1:] == keys[place][:-1])
    one, two = corners[place[next_to]].reshape(-1), corners[place[next_to + 1]].reshape(-1)
    graph = coo_array((np.ones(len(one), np.int8), (one, two)), shape=(triangles.size,) * 2)
    _, first = np.unique(connected_components(graph, directed=False)[1], return_index=True)
    return np.flatnonzero(np.bincount(triangles.reshape(-1)[first], minlength=point_count) > 1)


def first_uses(elements: np.ndarray, count: int) -> np.ndarray:
    """Where each of `count` nodes stands first in elements (m, k), read row by row; -1 for nowhere."""
    found = np.full(count, -1, np.int64)
    nodes, first = np.unique(elements, return_index=True)
    found[nodes] = first
    return found
