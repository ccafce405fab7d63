"""Tets that hang on the rest by an edge or a node only: the smaller parts there are dropped."""

from __future__ import annotations

import numpy as np

from . import topology
from .tet_mesh import tet_volumes

ROUNDS = 20
"""How often pinches are looked for; dropping tets may make others."""


def drop_pinches(points: np.ndarray, tets: np.ndarray, on_surface: np.ndarray) -> np.ndarray:
    """Mask (m,) of tets to keep, so that those around each edge and each node of the boundary hang together by faces.

    Where they do not, the part with the largest volume stays. This happens where the surface has details smaller than
    the tets. on_surface: nodes of the boundary (n,).
    """
    kept, outer = np.ones(len(tets), bool), on_surface.copy()
    volumes = np.abs(tet_volumes(points, tets))
    for _ in range(ROUNDS):
        near = np.flatnonzero(kept & outer[tets].any(axis=1))
        loose = near[_loose(tets[near], volumes[near], outer)]
        if not len(loose):
            break
        kept[loose] = False
        outer[tets[loose]] = True
    return kept


def _loose(tets: np.ndarray, volumes: np.ndarray, outer: np.ndarray) -> np.ndarray:
    """Indices of the tets in the smaller parts around nodes and edges of the boundary."""
    count = len(outer)
    faces = topology.tet_faces(tets)
    group, sizes = topology.group_counts(topology.set_keys(faces, count))
    order = np.argsort(group, kind="stable")
    shared = order[sizes[group[order]] == 2].reshape(-1, 2)
    boundary = faces[(sizes[group] == 1) & outer[faces].all(axis=1)]
    edges, crowd, _ = topology.edge_balance(boundary, count)
    crowded = np.sort(topology.row_keys(edges[crowd > 2], count)) if (crowd > 2).any() else np.empty(0, np.int64)
    between = faces[shared[:, 0]]
    by_node = _smaller_parts(
        np.where(outer[tets], tets, -1), shared // 4, np.where(outer[between], between, -1), volumes
    )
    sides = [_numbers(cells[:, pairs], crowded, count) for cells, pairs in _edges_of(tets, between)]
    return np.union1d(by_node, _smaller_parts(sides[0], shared // 4, sides[1], volumes))


def _edges_of(tets: np.ndarray, faces: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    return [(tets, topology.TET_EDGES), (faces, topology.TRIANGLE_EDGES)]


def _numbers(edges: np.ndarray, known: np.ndarray, count: int) -> np.ndarray:
    """The places of edges (k, j, 2) among known keys, (k, j); -1 for others."""
    if not len(known):
        return np.full(edges.shape[:2], -1)
    keys = topology.row_keys(np.sort(edges.reshape(-1, 2), axis=1), count)
    place = np.minimum(np.searchsorted(known, keys), len(known) - 1)
    return np.where(known[place] == keys, place, -1).reshape(edges.shape[:2])


def _smaller_parts(own: np.ndarray, pairs: np.ndarray, common: np.ndarray, volumes: np.ndarray) -> np.ndarray:
    """Tets that are not in the largest part around one of their features.

    own (m, j): features (nodes or edges) of each tet, -1 for none; pairs (p, 2): tets that share a face; common (p, i):
    the features of that face.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    if not (own >= 0).any():
        return np.empty(0, np.int64)
    span = int(own.max(initial=0)) + 1
    tet, column = np.nonzero(own >= 0)
    items = np.sort(tet * span + own[tet, column])
    pair, place = np.nonzero(common >= 0)
    ends = [np.searchsorted(items, pairs[pair, k] * span + common[pair, place]) for k in range(2)]
    graph = coo_array((np.ones(len(pair), np.int8), tuple(ends)), shape=(len(items),) * 2)
    _, part = connected_components(graph, directed=False)
    tet, feature = np.divmod(items, span)
    size = np.bincount(part, volumes[tet])
    rank = np.lexsort((part, -size[part]))[::-1]
    best = np.full(span, -1)
    best[feature[rank]] = part[rank]  # the last to be written is the largest
    return np.unique(tet[part != best[feature]])
