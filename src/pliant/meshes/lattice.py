"""Tets that fill a closed surface: isosurface stuffing (Labelle and Shewchuk 2007) of a body-centred lattice.

Which nodes of the lattice are inside is counted by crossings of its lines with the surface, in whole numbers and hence
without doubt (`kernels/cpu/meshing/crossings.py`): the winding number must be above 1/2, so pieces may overlap and
cavities point inward. Away from the surface, cells of the lattice may be merged to leaves of an octree.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import MeshError
from . import topology
from .compiled import kernels
from .pinches import drop_pinches
from .tet_mesh import tet_volumes

MARGIN = 2
"""Cells of the lattice left free around the surface."""
MAX_CELLS = 60_000_000
"""Cells of the lattice at most; a few bytes each."""
MAX_ALONG = 2**15
"""Cells of the lattice along a side at most: beyond, whole numbers are too few for the places within a cell."""
LARGEST_WHOLE = 2**27
"""Whole coordinates of points are below this: products of differences fit into 64 bits, also along diagonals."""


@dataclass(frozen=True)
class Lattice:
    """Cells of the size [m] from an origin (3,) [m], so many along each axis; half a cell is `half` whole numbers."""

    origin: np.ndarray
    size: float
    cells: tuple[int, int, int]
    half: int

    @property
    def width(self) -> int:
        """More than twice the number of lattice lines along any direction across: they are numbered by it."""
        return 16 * max(self.cells) + 16


@dataclass(frozen=True)
class Crossings:
    """Where lines of the lattice cross the surface, sorted by line and place; see `find_crossings`."""

    lines: np.ndarray
    places: np.ndarray
    sides: np.ndarray


@dataclass(frozen=True)
class Filling:
    """Points (n, 3) [m], tets (m, 4), and which points lie on the surface (n,)."""

    points: np.ndarray
    tets: np.ndarray
    on_surface: np.ndarray


def make_lattice(low: np.ndarray, high: np.ndarray, size: float, levels: int) -> Lattice:
    """A lattice around a box, for leaves of up to 2^levels cells, if it is not too large to be filled."""
    sides, counts = high - low, _counts(high - low, size, 2**levels)
    if np.prod(counts) > MAX_CELLS:
        least = float(np.prod(sides + 2 * MARGIN * size) / MAX_CELLS) ** (1 / 3)
        raise MeshError(
            f"size {size:.3g} m would need a lattice of {np.prod(counts):.3g} cells, {MAX_CELLS:.0e} are allowed; "
            f"for a surface of {' x '.join(f'{side:.3g}' for side in sides)} m use {least:.2g} m or more"
        )
    if counts.max() > MAX_ALONG:
        least = sides.max() / (MAX_ALONG - 2 * MARGIN - 2**levels)
        raise MeshError(
            f"size {size:.3g} m would need a lattice of {counts.max():.0f} cells along the longest side of the "
            f"surface, {sides.max():.3g} m, {MAX_ALONG} are allowed; use {least:.2g} m or more, or shorter parts"
        )
    return lattice_around(low, high, size, 2**levels)


def lattice_around(low: np.ndarray, high: np.ndarray, size: float, block: int = 1) -> Lattice:
    """A lattice around a box, of so many cells along each axis that they fall into blocks."""
    cells = tuple(int(count) for count in _counts(high - low, size, block))
    around = np.ceil((high - low) / size) + 2 * MARGIN
    # off the middle by a part of a cell that no drawing has, so that faces of boxes do not lie in planes of nodes
    origin = (low + high) / 2 - (around / 2 + np.array([0.0213, -0.0123, 0.0391])) * size
    half = 2 ** int(np.log2(LARGEST_WHOLE / (2 * max(cells))))
    return Lattice(origin, size, cells, half)


def _counts(sides: np.ndarray, size: float, block: int) -> np.ndarray:
    """Cells (3,) along each axis, as floats; a multiple of the block."""
    return np.ceil((np.ceil(sides / size) + 2 * MARGIN) / block) * block


def find_crossings(
    lattice: Lattice, points: np.ndarray, triangles: np.ndarray, directions: int | None = None
) -> Crossings:
    """All crossings of lines of the lattice, along its first so many directions or all, with triangles."""
    whole = np.rint((points - lattice.origin) * (2 * lattice.half / lattice.size)).astype(np.int64)
    triangles = np.ascontiguousarray(triangles, np.int64)
    loops = kernels().crossings
    parts = []
    for direction in range(directions or loops.DIRECTIONS):
        room = 1024
        while True:
            found = np.empty(room, np.int64), np.empty(room), np.empty(room, np.int64)
            count = loops.find_crossings(whole, triangles, lattice.half, lattice.width, direction, *found)
            if count <= room:
                break
            room = count
        parts.append([column[:count] for column in found])
    lines, places, sides = (np.concatenate(columns) for columns in zip(*parts))
    order = np.lexsort((sides, places, lines))
    return Crossings(lines[order], places[order], sides[order])


def inside_nodes(lattice: Lattice, crossings: Crossings) -> tuple[np.ndarray, np.ndarray]:
    """Which corners and which centres of the cells lie inside."""
    corner = np.empty(tuple(count + 1 for count in lattice.cells), bool)
    centre = np.empty(lattice.cells, bool)
    for parity, nodes in enumerate((corner, centre)):
        kernels().crossings.mark_inside(
            crossings.lines, crossings.places, crossings.sides, lattice.half, lattice.width, parity, nodes
        )
    return corner, centre


def leaf_levels(lattice: Lattice, crossings: Crossings, levels: int) -> np.ndarray:
    """The level (a, b, c) of the leaf over each cell: 0 within a cell of the surface, leaves that touch differ by 1."""
    level = np.zeros(lattice.cells, np.int8)
    if levels == 0:
        return level
    near = np.zeros(lattice.cells, bool)
    kernels().octree.mark_cells(crossings.lines, crossings.places, lattice.half, lattice.width, near)
    may = ~_any_of_blocks(near, 0)
    for value in range(1, levels + 1):
        kernels().octree.fill_levels(may, level, value)
        may = ~_any_of_blocks(~may, 1)
    return level


def _any_of_blocks(marked: np.ndarray, ring: int) -> np.ndarray:
    """Whether anything is marked in each block of 2 x 2 x 2, or in the ring of cells around it."""
    padded = np.pad(marked, ring)
    for axis in range(3):
        width = 2 + 2 * ring
        stop = padded.shape[axis] - width + 1
        slices = [np.take(padded, np.arange(k, stop + k, 2), axis=axis) for k in range(width)]
        padded = np.logical_or.reduce(slices)
    return padded


def lattice_tets(lattice: Lattice, level: np.ndarray, corner: np.ndarray, centre: np.ndarray) -> tuple:
    """Tets with a node inside: nodes (n, 3) in halves of cells, tets (m, 4), plain ones between finest cells (m,)."""
    room = 4096
    while True:
        keys, plain = np.empty((room, 4), np.int64), np.empty(room, bool)
        count = kernels().octree.lattice_tets(level, corner, centre, keys, plain)
        if count <= room:
            break
        room = count
    used, tets = np.unique(keys[:count], return_inverse=True)
    rest, z = np.divmod(used, 2 * lattice.cells[2] + 1)
    x, y = np.divmod(rest, 2 * lattice.cells[1] + 1)
    return np.column_stack([x, y, z]), tets.reshape(-1, 4), plain[:count]


def fill(points: np.ndarray, triangles: np.ndarray, size: float, levels: int = 0) -> Filling:
    """Fill a closed surface with tets of the size [m] at the surface, up to 2^levels times larger inside."""
    low, high = points[triangles].reshape(-1, 3).min(axis=0), points[triangles].reshape(-1, 3).max(axis=0)
    lattice = make_lattice(low, high, size, levels)
    crossings = find_crossings(lattice, points, triangles)
    corner, centre = inside_nodes(lattice, crossings)
    if not (corner.any() or centre.any()):
        return Filling(np.empty((0, 3)), np.empty((0, 4), np.int64), np.empty(0, bool))
    level = leaf_levels(lattice, crossings, levels)
    where, tets, plain = lattice_tets(lattice, level, corner, centre)
    odd = (where[:, 0] & 1).astype(bool)
    index = where >> 1
    inside = np.where(odd, centre[tuple(np.where(odd[:, None], index, 0).T)], corner[tuple(index.T)])
    return _stuff(lattice, crossings, where, tets, plain, inside)


def _stuff(lattice: Lattice, crossings: Crossings, where, tets, plain, inside) -> Filling:
    """Snap nodes, cut edges, fill the tets that cross the surface by stencils."""
    crossed = plain & ~inside[tets].all(axis=1)
    if not inside[tets[~plain]].all():
        raise MeshError("a cell of the octree crosses the surface; this is a fault of the mesher")
    edges, long = _crossed_edges(tets[crossed], inside)
    share = np.empty(len(edges))
    kernels().crossings.cut_edges(
        edges, where, crossings.lines, crossings.places, crossings.sides, lattice.half, lattice.width, share
    )
    sign = np.where(inside, 1, -1).astype(np.int8)
    moved = lattice.origin + where * (lattice.size / 2)
    start = moved.copy()
    starts, incident = _incident(edges, len(where))
    kernels().stuffing.snap_nodes(edges, long, share, starts, incident, sign, moved)
    alive = (sign[edges] != 0).all(axis=1)
    edges, share = edges[alive], share[alive]
    cuts = start[edges[:, 0]] + share[:, None] * (start[edges[:, 1]] - start[edges[:, 0]])
    keys = np.sort(edges, axis=1) @ np.array([len(where), 1])
    order = np.argsort(keys)
    new_points = np.concatenate([moved, cuts[order]])
    new_tets = np.concatenate([tets[~crossed], _stencil_tets(tets[crossed], sign, where, keys[order])])
    on_surface = np.concatenate([sign == 0, np.ones(len(cuts), bool)])
    flipped = tet_volumes(new_points, new_tets) < 0
    new_tets[flipped] = new_tets[flipped][:, topology.FLIP]
    new_tets = new_tets[drop_pinches(new_points, new_tets, on_surface)]
    used, renumbered = np.unique(new_tets, return_inverse=True)
    return Filling(new_points[used], renumbered.reshape(-1, 4), on_surface[used])


def _crossed_edges(tets: np.ndarray, inside: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Edges (k, 2) of tets from a node inside to one outside, each once, and which of them are long."""
    pairs = tets[:, topology.TET_EDGES].reshape(-1, 2)
    long = np.tile(np.isin(np.arange(6), (0, 5)), len(tets))
    crossing = inside[pairs[:, 0]] != inside[pairs[:, 1]]
    pairs, long = pairs[crossing], long[crossing]
    pairs = np.where(inside[pairs[:, :1]], pairs, pairs[:, ::-1])
    _, first = np.unique(pairs @ np.array([len(inside), 1]), return_index=True)
    return np.ascontiguousarray(pairs[first]), long[first]


def _incident(edges: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Edges at each node: incident[starts[v] : starts[v + 1]]."""
    nodes = edges.ravel()
    order = np.argsort(nodes, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(nodes, minlength=count))])
    return starts, order // 2


def _stencil_tets(tets: np.ndarray, sign: np.ndarray, where: np.ndarray, cut_keys: np.ndarray) -> np.ndarray:
    room = 3 * len(tets)
    found = np.empty((room, 4), np.int64)
    count = kernels().stuffing.stencils(tets, sign, where, cut_keys, len(where), found)
    return found[:count]
