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


def drop_islands(filling: Filling, surface: RepairedSurface, size: float) -> tuple[Filling, str]:
    """The filling with one part for each piece of the surface, less crumbs; and a complaint about a piece that has
    fallen into several parts, or nothing."""
    part = _parts(filling)
    if part.max() == 0:
        return filling, ""
    volumes = np.bincount(part, np.abs(tet_volumes(filling.points, filling.tets)))
    # a node of each part on the surface says to which piece it belongs
    outer = filling.tets[filling.on_surface[filling.tets].any(axis=1)]
    owner = np.full(len(filling.points), -1)
    owner[filling.tets.ravel()] = np.repeat(part, 4)
    nodes = np.unique(outer[filling.on_surface[outer]])
    _, first = np.unique(owner[nodes], return_index=True)
    seeds = filling.points[nodes[first]]
    piece, _ = consistent_orientation(surface.triangles, len(surface.points))
    piece = piece[closest(seeds, element_tree(surface.points[surface.triangles]))[1]]
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
