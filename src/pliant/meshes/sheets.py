"""Triangle meshes of flat sheets: rectangles and disks, from structured grids."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..errors import MeshError
from .generate import check_counts, check_lengths, lattice, round_shells
from .tri_mesh import TriMesh

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

GRID_PATTERNS = {"same": 2, "mirrored": 2, "four": 4}
"""The patterns of grids and how many triangles they make of a cell."""
DEFAULT_GRID = "same"


def grid(size: ArrayLike, cells: ArrayLike, pattern: str = DEFAULT_GRID) -> TriMesh:
    """Rectangle in the plane z = 0 with one corner at the origin and the opposite one at size (2,) [m]; normals up.

    cells: cells along x and y; one int for both, or two.
    pattern: triangles per cell. "same": two, all cells alike, which bends alike in all directions. "mirrored": two,
        neighbouring cells mirrored, so that the mesh is its own mirror image along an axis with an even number of
        cells. "four": around a node in the middle of the cell.

    Lattice nodes are numbered with x slowest: node (i, j) is i (ny + 1) + j. "four" appends the middle nodes, cells in
    the same order.
    """
    lengths, counts = check_lengths(size, 2, "size"), check_counts(cells, 2, "cells")
    if pattern not in GRID_PATTERNS:
        raise MeshError(f"unknown grid pattern {pattern!r}; allowed are " + ", ".join(map(repr, GRID_PATTERNS)))
    points = _flat(lattice([np.linspace(0.0, length, count + 1) for length, count in zip(lengths, counts)]))
    corners, (i, j) = _cell_corners(counts), np.indices(counts).reshape(2, -1)
    if pattern == "four":
        middle = len(points) + np.arange(len(corners))
        points = np.concatenate([points, points[corners].mean(axis=1)])
        sides = [np.stack([corners[:, k], corners[:, (k + 1) % 4], middle], axis=1) for k in range(4)]
        triangles = np.stack(sides, axis=1).reshape(-1, 3)
    else:
        triangles = _halved(corners, (i + j) % 2 == 1 if pattern == "mirrored" else np.zeros(len(corners), bool))
    mesh = TriMesh.trusted(points, triangles)
    return mesh.with_source({"grid": lengths.tolist(), "cells": counts.tolist(), "pattern": pattern})


def disk(radius: float, cells: int) -> TriMesh:
    """Disk around the origin in the plane z = 0, normals up; outer nodes lie on the given radius [m].

    cells: cells from the centre to the rim; there are 8 cells^2 triangles. Mirror symmetric about x = 0 and y = 0.
    """
    radius, count = check_lengths(radius, 1, "radius")[0], check_counts(cells, 1, "cells")[0]
    unit = np.linspace(-1.0, 1.0, 2 * count + 1)
    points = _flat(radius * round_shells(lattice([unit, unit])))
    i, j = np.indices((2 * count, 2 * count)).reshape(2, -1)
    # diagonals run away from the middle, so that no triangle has two sides on the rim
    triangles = _halved(_cell_corners(np.array([2 * count] * 2)), (i < count) != (j < count))
    return TriMesh.trusted(points, triangles).with_source({"disk": float(radius), "cells": int(count)})


def _flat(points: np.ndarray) -> np.ndarray:
    return np.column_stack([points, np.zeros(len(points))])


def _cell_corners(counts: np.ndarray) -> np.ndarray:
    """Node indices (cells, 4) of every cell's corners, counter-clockwise from the lowest."""
    numbers = np.arange(np.prod(counts + 1)).reshape(counts + 1)
    corners = (numbers[:-1, :-1], numbers[1:, :-1], numbers[1:, 1:], numbers[:-1, 1:])
    return np.stack([part.ravel() for part in corners], axis=1)


def _halved(corners: np.ndarray, turned: np.ndarray) -> np.ndarray:
    """Two triangles per cell, along the diagonal from its lowest corner, or where `turned` (cells,) the other one."""
    plain, other = corners[:, [[0, 1, 2], [0, 2, 3]]], corners[:, [[0, 1, 3], [1, 2, 3]]]
    return np.where(turned[:, None, None], other, plain).reshape(-1, 3)
