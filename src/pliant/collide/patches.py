"""Sheets that are flat and convex at rest, cut into patches: where these lie nearly flat, they cannot touch themselves.

See kernels.cpu.collide.flatness for the proof.
"""

from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_matrix
from scipy.spatial import ConvexHull, QhullError

from pliant.collide.surface_index import SurfaceIndex
from pliant.kernels.collide import MOST_TASKS, PatchTables, PatchWork
from pliant.kernels.device import Device

# Triangles of a patch, at most.
PATCH = 12
# How far, relative to its size, a sheet may be from flat, and its area from that of its convex hull.
FLAT = 1e-9
# Pairs that there is room for at first in each task.
LEAST_ROOM = 16


class Found(NamedTuple):
    """Rows of pairs as tasks have written them, `room` for each, and how many (tasks,)."""

    rows: np.ndarray
    room: int
    counts: np.ndarray


class Patches:
    """The patches of one sheet."""

    def __init__(self, device: Device, index: SurfaceIndex, triangles: np.ndarray, plane: np.ndarray):
        """triangles (m,): those of the sheet; plane (n, 2) [m]: where points lie at rest."""
        self.kernels, self.proofs = device.collide.patches, device.collide.flatness
        corners = plane[index.triangles[triangles]]
        leaves = 1
        while leaves * PATCH < len(triangles):
            leaves *= 2
        order, start = _cut(corners.mean(axis=1), leaves)
        self.tables = _tables(index, triangles[order], start, plane)
        self.box, self.way = np.empty((2 * leaves, 6)), np.empty((2 * leaves, 6))
        self.new, self.flat, self.ball = np.empty(leaves, bool), np.empty(leaves, bool), np.empty((leaves, 4))
        shapes = ((2, len(triangles), 6), (2, leaves, 6), (2, leaves), (leaves,))
        self.work = PatchWork(*(np.empty(shape) for shape in shapes))
        self.rows = [_rows(LEAST_ROOM) for _ in range(2)]
        self.patch_rows, self.active = _rows(LEAST_ROOM), np.empty(leaves, bool)
        counts = (len(self.tables.vertex), len(triangles), len(self.tables.edge))
        self.boxes = tuple(np.empty((12, count)) for count in counts)

    @classmethod
    def of(cls, device: Device, index: SurfaceIndex, triangles: np.ndarray, rest: np.ndarray) -> "Patches | None":
        """Those of triangles (m,) with points at rest (n, 3); None where they are not flat, or not convex."""
        nodes = np.unique(index.triangles[triangles])
        if len(nodes) < 4:
            return None
        centre = rest[nodes].mean(axis=0)
        _, sizes, axes = np.linalg.svd(rest[nodes] - centre, full_matrices=False)
        if not sizes[2] <= FLAT * sizes[1]:
            return None
        plane = (rest - centre) @ axes[:2].T
        one, two = _sides(plane[index.triangles[triangles]])
        areas = 0.5 * (one[:, 0] * two[:, 1] - one[:, 1] * two[:, 0])
        if not (np.all(areas > 0.0) or np.all(areas < 0.0)):
            return None
        try:
            whole = ConvexHull(plane[nodes]).volume
        except QhullError:
            return None
        return cls(device, index, triangles, plane) if abs(np.abs(areas).sum() - whole) <= FLAT * whole else None

    def near(self, start: np.ndarray, end: np.ndarray, margin: np.ndarray, new: np.ndarray) -> list[Found]:
        """Vertices with triangles, and edges, that may come nearer than their margins (n,) [m] on straight ways from
        start to end (n, 3) and have a new (n,) point."""
        kernels, tables = self.kernels, self.tables
        self.proofs.prove_flat(tables, start, end, margin, self.work, self.flat)
        kernels.fit_patches(tables, start, end, margin, new, self.box, self.way, self.ball, self.new)
        pairs = self._pairs_of_patches()
        given = (start, end, margin, new, self.box, self.way, pairs, self.active, self.boxes)
        while True:
            rooms, counts = np.array([len(rows) // MOST_TASKS for rows in self.rows]), _counts(2)
            kernels.near_in_patches(tables, *given, rooms, *self.rows, counts)
            most = counts.max(axis=0)
            found = list(zip(self.rows, rooms.tolist(), counts.T))
            self.rows = [_with_room(rows, there) for rows, there in zip(self.rows, most.tolist())]
            if np.all(most <= rooms):
                return [Found(rows, room, np.ascontiguousarray(own)) for rows, room, own in found]

    def _pairs_of_patches(self) -> np.ndarray:
        """Pairs (k, 2) of patches that may hold pairs of primitives; `active` are those in them."""
        fitted, counts = (self.flat, self.box, self.way, self.ball, self.new), _counts(1)[:, 0]
        while True:
            room = len(self.patch_rows) // MOST_TASKS
            self.kernels.near_patches(self.tables, fitted, room, self.patch_rows, counts)
            rows, most = self.patch_rows, int(counts.max())
            self.patch_rows = _with_room(rows, most)
            if most <= room:
                pairs = np.empty((int(counts.sum()), 2), np.int64)
                self.kernels.collect_patches(rows, room, counts, pairs, self.active)
                return pairs


def _rows(room: int) -> np.ndarray:
    """Room for so many pairs in each task."""
    return np.empty((MOST_TASKS * room, 2), np.int64)


def _with_room(rows: np.ndarray, most: int) -> np.ndarray:
    """Rows, or more of them where those of a task are more than half full: what lacks room is looked for twice."""
    return rows if 2 * most <= len(rows) // MOST_TASKS else _rows(3 * most)


def _counts(kinds: int) -> np.ndarray:
    return np.zeros((MOST_TASKS, kinds), np.int64)


def _sides(corners: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two sides (m, 2) of triangles with corners (m, 3, 2)."""
    return corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]


def _cut(points: np.ndarray, leaves: int) -> tuple[np.ndarray, np.ndarray]:
    """Points (m, 2) in an order in which neighbours follow each other, and where each of the leaves of a binary tree
    over them begins (leaves + 1,)."""
    parts = [np.arange(len(points))]
    while len(parts) < leaves:
        halves = []
        for part in parts:
            axis = int(np.argmax(np.ptp(points[part], axis=0))) if len(part) else 0
            ordered = part[np.argsort(points[part, axis], kind="stable")]
            halves += [ordered[: len(part) // 2], ordered[len(part) // 2 :]]
        parts = halves
    return np.concatenate(parts), np.cumsum([0, *map(len, parts)])


def _tables(index: SurfaceIndex, triangles: np.ndarray, start: np.ndarray, plane: np.ndarray) -> PatchTables:
    """The tables of patches with triangles (m,) in their order, of which each has those from start (p + 1,) on."""
    nodes = np.ascontiguousarray(index.triangles[triangles])
    corners, patch = plane[nodes], np.repeat(np.arange(len(start) - 1), np.diff(start))
    one, two = _sides(corners)
    twice = one[:, 0] * two[:, 1] - one[:, 1] * two[:, 0]
    inverse = np.stack([two[:, 1], -two[:, 0], -one[:, 1], one[:, 0]], axis=1) / twice[:, None]
    sides = corners - np.roll(corners, 1, axis=1)
    height = np.abs(twice) / np.sqrt((sides**2).sum(axis=2).max(axis=1))
    low, high = corners.min(axis=1), corners.max(axis=1)
    box = np.hstack([np.minimum.reduceat(low, start[:-1]), np.maximum.reduceat(high, start[:-1])])
    surroundings = _around(box, patch, nodes)
    region = [np.flatnonzero(np.all((low <= own[2:]) & (high >= own[:2]), axis=1)) for own in surroundings]
    around, counts = zip(*(np.unique(patch[own], return_counts=True) for own in region))
    starts = [np.cumsum([0, *map(len, each)]) for each in (region, around)]
    parts = []
    for name, own in (("vertices", nodes), ("edges", index.triangle_edges[triangles])):
        first = np.unique(own, return_index=True)  # each belongs to the patch of its first triangle
        ordered = np.argsort(first[1], kind="stable")
        found, of_patch = first[0][ordered], patch[first[1][ordered] // 3]
        own_start = np.searchsorted(of_patch, np.arange(len(start)))
        if name == "vertices":
            parts += [own_start, np.searchsorted(index.vertices, found), np.ascontiguousarray(found[:, None])]
        else:
            parts += [own_start, found, np.ascontiguousarray(index.edges[found])]
    most = max(int(np.diff(each).max()) for each in (start, parts[0], parts[3]))
    region, around = np.concatenate(region), np.concatenate(around)
    rest = (inverse, np.minimum.reduceat(height[region], starts[0][:-1]), box, surroundings)
    lists = (start, triangles, nodes, *parts, starts[0], region, starts[1], around, np.cumsum(np.concatenate(counts)))
    return PatchTables(*lists, *rest, np.array([most]))


def _around(box: np.ndarray, patch: np.ndarray, nodes: np.ndarray) -> np.ndarray:
    """Boxes (p, 4) [m] around the boxes of patches and of those they have a node in common with; patch (m,): of
    triangles with nodes (m, 3)."""
    out, count = box.copy(), len(box)
    members = coo_matrix((np.ones(nodes.size), (np.repeat(patch, 3), nodes.ravel())), shape=(count, nodes.max() + 1))
    one, other = (members.tocsr() @ members.T.tocsr()).nonzero()
    np.minimum.at(out[:, :2], one, box[other, :2])
    np.maximum.at(out[:, 2:], one, box[other, 2:])
    return out
