"""Parts of a filling that hang on nothing: crumbs are dropped, larger ones mean that the surface is not resolved."""

from __future__ import annotations

import numpy as np

from .lattice import Filling
from .repair import consistent_orientation
from .shaping import closest, element_tree
from .surface_repair import RepairedSurface
from .tet_mesh import tet_volumes

CRUMB = 8.0
"""Parts with a volume below that of so many cells are dropped."""
VOTES = 16
"""Points of a part, at most, by which it is known to which piece of the surface it belongs."""


def drop_islands(filling: Filling, surface: RepairedSurface, size: float) -> tuple[Filling, str]:
    """The filling with one part for each piece of the surface, less crumbs; and a complaint about a piece that has
    fallen into several parts, or nothing."""
    part = _parts(filling)
    if part.max() == 0:
        return filling, ""
    volumes = np.bincount(part, np.abs(tet_volumes(filling.points, filling.tets)))
    seeds, piece = _owners(filling, part, surface)
    dropped = np.zeros(len(volumes), bool)
    for number in np.unique(piece):
        parts = np.flatnonzero(piece == number)
        rest = np.delete(parts, np.argmax(volumes[parts]))
        large = rest[volumes[rest] > CRUMB * size**3]
        if len(large):
            place = np.round(seeds[large[0]], 6).tolist()
            return filling, (
                f"a piece of the surface falls into {len(large) + 1} parts, of which one is near {place}: what joins "
                f"them is thinner than tets of size {size:.3g} m; use a smaller size"
            )
        dropped[rest] = True
    return _without(filling, dropped[part]), ""


def _owners(filling: Filling, part: np.ndarray, surface: RepairedSurface) -> tuple[np.ndarray, np.ndarray]:
    """A point of each part on the surface (p, 3) [m], and the piece of the surface (p,) that most of a few such points
    lie on: where pieces touch, single ones may lie on either."""
    outer = filling.tets[filling.on_surface[filling.tets].any(axis=1)]
    owner = np.full(len(filling.points), -1)
    owner[filling.tets.ravel()] = np.repeat(part, 4)
    nodes = np.unique(outer[filling.on_surface[outer]])
    nodes = nodes[np.argsort(owner[nodes], kind="stable")]
    _, first, counts = np.unique(owner[nodes], return_index=True, return_counts=True)
    rank = np.arange(len(nodes)) - np.repeat(first, counts)
    few = nodes[rank % np.repeat(-(-counts // VOTES), counts) == 0]
    piece, _ = consistent_orientation(surface.triangles, len(surface.points))
    nearest = piece[closest(filling.points[few], element_tree(surface.points[surface.triangles]))[1]]
    voted, votes = np.unique(np.column_stack([owner[few], nearest]), axis=0, return_counts=True)
    order = np.lexsort((votes, voted[:, 0]))
    last = np.append(np.flatnonzero(np.diff(voted[order, 0])), len(order) - 1)
    return filling.points[nodes[first]], voted[order[last], 1]


def _parts(filling: Filling) -> np.ndarray:
    """The number of the part (m,) to which each tet belongs: parts have no node in common."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    tets, count = filling.tets, len(filling.points)
    ends = np.repeat(tets[:, 0], 3), tets[:, 1:].ravel()
    _, label = connected_components(coo_array((np.ones(len(ends[0]), np.int8), ends), shape=(count, count)), False)
    return label[tets[:, 0]]


def _without(filling: Filling, dropped: np.ndarray) -> Filling:
    used, tets = np.unique(filling.tets[~dropped], return_inverse=True)
    return Filling(filling.points[used], tets.reshape(-1, 4), filling.on_surface[used])
