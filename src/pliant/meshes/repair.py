"""Repairs: merge coincident points, drop useless elements and points, orient tets and surfaces."""

import numpy as np

from ..errors import MeshError
from . import topology
from .checks import repeats_node

MERGE_TOLERANCE = 1e-9
"""Points closer than this fraction of the diagonal of the bounding box are one point."""

Sets = dict[str, np.ndarray]


def merge_points(
    points: np.ndarray, elements: np.ndarray, sets: Sets, apart: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray, Sets]:
    """Merge coincident points into the first of each group; the others stay behind unused. Points with different
    numbers in `apart` (n,) are not merged."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components
    from scipy.spatial import cKDTree

    diagonal = np.linalg.norm(np.ptp(points, axis=0))
    pairs = cKDTree(points).query_pairs(MERGE_TOLERANCE * diagonal, output_type="ndarray")
    if apart is not None:
        pairs = pairs[apart[pairs[:, 0]] == apart[pairs[:, 1]]]
    if len(pairs) == 0:
        return points, elements, sets
    count = len(points)
    graph = coo_array((np.ones(len(pairs), dtype=np.int8), tuple(pairs.T)), shape=(count, count))
    _, group = connected_components(graph, directed=False)
    _, first = np.unique(group, return_index=True)
    target = first[group].astype(np.int32)
    return points, target[elements], {name: np.unique(target[members]) for name, members in sets.items()}


def drop_unused(points: np.ndarray, elements: np.ndarray, sets: Sets) -> tuple[np.ndarray, np.ndarray, Sets]:
    """Drop the points that no element uses and renumber elements and sets."""
    kept = np.ones(len(points), dtype=bool)
    kept[topology.unused_nodes(elements, len(points))] = False
    renumber = (np.cumsum(kept) - 1).astype(np.int32)
    sets = {name: renumber[members[kept[members]]] for name, members in sets.items()}
    return points[kept], renumber[elements], sets


def drop_elements(elements: np.ndarray, useless: np.ndarray, name: str) -> np.ndarray:
    """Drop the masked elements; raise MeshError when none are left."""
    if useless.all():
        raise MeshError(f"repair leaves no {name}: every one of the {len(elements)} is degenerate or has merged nodes")
    return elements[~useless]


def drop_duplicates(elements: np.ndarray, point_count: int) -> np.ndarray:
    """Drop the elements that repeat the nodes of an earlier one."""
    return np.delete(elements, topology.duplicates(elements, point_count), axis=0)


def drop_repeated(elements: np.ndarray, name: str) -> np.ndarray:
    """Drop the elements that name a node twice."""
    return drop_elements(elements, repeats_node(elements), name)


def consistent_orientation(triangles: np.ndarray, point_count: int) -> tuple[np.ndarray, np.ndarray]:
    """Piece number (m,) of each triangle and the mask (m,) of flips that make each piece consistent.

    Triangles joined by an edge of exactly two triangles belong to one piece. The double cover of that graph
    (each triangle as it is and flipped) falls apart into two halves per piece, unless the piece has one side only.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    count = len(triangles)
    first, second, agree = neighbours(triangles, point_count)
    twin = np.where(agree, second, second + count)
    rows = np.concatenate([first, first + count])
    columns = np.concatenate([twin, (twin + count) % (2 * count)])
    ones = np.ones(len(rows), dtype=np.int8)
    _, label = connected_components(coo_array((ones, (rows, columns)), shape=(2 * count,) * 2), directed=False)
    one_sided = np.flatnonzero(label[:count] == label[count:])
    if len(one_sided):
        raise MeshError(
            f"the surface has one side only (like a Moebius strip) around triangle {one_sided[0]} "
            "and cannot be oriented; cut it open"
        )
    pair = np.minimum(label[:count], label[count:])
    _, roots, piece = np.unique(pair, return_index=True, return_inverse=True)
    return piece.reshape(-1), label[:count] != label[roots[piece.reshape(-1)]]


def neighbours(triangles: np.ndarray, point_count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pairs of triangles that share an edge no third one has, and whether their orientations agree."""
    directed = triangles[:, topology.TRIANGLE_EDGES].reshape(-1, 2)
    group, counts = topology.group_counts(topology.set_keys(directed, point_count))
    order = np.argsort(group, kind="stable")
    shared = order[counts[group[order]] == 2].reshape(-1, 2)
    agree = directed[shared[:, 0], 0] != directed[shared[:, 1], 0]
    return shared[:, 0] // 3, shared[:, 1] // 3, agree


def is_closed(triangles: np.ndarray, point_count: int) -> bool:
    """Whether every edge belongs to two triangles that run through it in opposite directions."""
    _, counts, balance = topology.edge_balance(triangles, point_count)
    return bool((counts == 2).all() and (balance == 0).all())


def closed_parts(triangles: np.ndarray, point_count: int) -> np.ndarray:
    """A number (n,) for each point: one of its own for each set of triangles that hang together by points and whose
    edges all have two triangles, -1 for all others."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    edges, counts, _ = topology.edge_balance(triangles, point_count)
    graph = coo_array((np.ones(len(edges), np.int8), tuple(edges.T)), shape=(point_count, point_count))
    _, part = connected_components(graph, directed=False)
    open_parts = np.unique(part[edges[counts != 2]])
    return np.where(np.isin(part, open_parts), -1, part)


def signed_volume(points: np.ndarray, triangles: np.ndarray) -> float:
    """Volume [m^3] inside closed triangles; negative when they point inward."""
    a, b, c = (points[triangles] - points[triangles[0, 0]]).transpose(1, 0, 2)
    return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6)
