"""Tet meshes of simple bodies: box, sphere, cylinder, all from structured grids."""

from __future__ import annotations

import contextlib
import math
from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np

from ..checks import SMALLEST, shown
from ..errors import MeshError
from .checks import finite
from .tet_mesh import FLIP, TetMesh

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

# Corners of a cell are numbered 4 i + 2 j + k for the corner (i, j, k).
FIVE_EVEN = np.array([[5, 6, 3, 0], [5, 4, 6, 0], [6, 2, 3, 0], [3, 1, 5, 0], [6, 7, 5, 3]])
"""Five tets of a cell, one in the middle of four corners; its mirror image fills every second cell."""

TWELVE = np.array(
    [
        *([0, 1, 3], [0, 3, 2], [4, 7, 5], [4, 6, 7]),
        *([0, 5, 1], [0, 4, 5], [2, 3, 7], [2, 7, 6]),
        *([0, 2, 6], [0, 6, 4], [1, 7, 3], [1, 5, 7]),
    ]
)
"""Two outward triangles per side of a cell, split along the diagonal from its lowest to its highest corner."""


MOST_CELLS = 1e8
"""Cells of a mesh at most: nodes are numbered in 32 bits."""

BOX_PATTERNS = {"mirrored": 6, "five": 5, "six": 6, "twelve": 12}
"""The patterns of boxes and how many tets they make of a cell."""
DEFAULT_PATTERN = "mirrored"


def box(size: ArrayLike, cells: ArrayLike, pattern: str = DEFAULT_PATTERN) -> TetMesh:
    """Box with one corner at the origin and the opposite one at size (3,) [m].

    cells: cells along x, y, z; one int for all three, or three.
    pattern: tets per cell. "mirrored": six around the diagonal of the cell, neighbouring cells mirrored, so that the
        mesh is its own mirror image along every axis with an even number of cells. "five": a large tet in the
        middle, neighbouring cells mirrored; as symmetric. "six": as "mirrored", but all cells alike. "twelve": around
        a node in the middle of the cell, all cells alike. Where all cells are alike, the mesh has no mirror planes and
        a beam loaded straight down also bends sideways.

    Lattice nodes are numbered with x slowest and z fastest: node (i, j, k) is (i (ny + 1) + j) (nz + 1) + k.
    "twelve" appends the middle nodes, cells in the same order. Tets come cell by cell in that order too.
    """
    lengths = check_lengths(size, 3, "size")
    counts = check_counts(cells, 3, "cells")
    builders = {"mirrored": alternating_tets, "five": five_tets, "six": six_tets, "twelve": twelve_tets}
    if not isinstance(pattern, str) or pattern not in BOX_PATTERNS:
        raise MeshError(f"unknown box pattern {shown(pattern)}; allowed are " + ", ".join(map(repr, BOX_PATTERNS)))
    points = lattice([np.linspace(0.0, length, count + 1) for length, count in zip(lengths, counts)])
    corners = cell_corners(counts)
    if pattern == "twelve":
        points = np.concatenate([points, points[corners].mean(axis=1)])
    mesh = TetMesh.trusted(points, builders[pattern](corners, counts).reshape(-1, 4))
    return mesh.with_source({"box": lengths.tolist(), "cells": counts.tolist(), "pattern": pattern})


def sphere(radius: float, cells: int) -> TetMesh:
    """Ball around the origin with the given radius [m]; outer nodes lie on the sphere, so the volume is a bit less.

    cells: cells from the centre to the surface; there are 48 cells^3 tets. The mesh is the image of a cube grid whose
    shells become spheres, with equal angles between grid lines. Mirror symmetric about the three coordinate planes.
    """
    radius = check_lengths(radius, 1, "radius")[0]
    count = check_counts(cells, 1, "cells")[0]
    unit = np.linspace(-1.0, 1.0, 2 * count + 1)
    points = radius * round_shells(lattice([unit] * 3))
    mesh = TetMesh.trusted(points, mirrored_tets(np.array([2 * count] * 3), mirrored=[True, True, True]))
    return mesh.with_source({"sphere": float(radius), "cells": int(count)})


def cylinder(radius: float, height: float, cells: ArrayLike) -> TetMesh:
    """Upright cylinder around the z axis from z = 0 to z = height [m]; outer nodes lie on the given radius [m].

    cells: (radial, axial), cells from the axis to the side and from the base to the top; there are
    24 radial^2 axial tets. Mirror symmetric about the planes x = 0 and y = 0.
    """
    radius = check_lengths(radius, 1, "radius")[0]
    height = check_lengths(height, 1, "height")[0]
    radial, axial = check_counts(cells, 2, "cells")
    unit = np.linspace(-1.0, 1.0, 2 * radial + 1)
    points = lattice([unit, unit, np.linspace(0.0, height, axial + 1)])
    points[:, :2] = radius * round_shells(points[:, :2])
    mesh = TetMesh.trusted(points, mirrored_tets(np.array([2 * radial, 2 * radial, axial]), [True, True, False]))
    size = {"radius": float(radius), "height": float(height)}
    return mesh.with_source({"cylinder": size, "cells": [int(radial), int(axial)]})


def check_lengths(value: ArrayLike, width: int, name: str) -> np.ndarray:
    """Return (width,) positive lengths [m] or raise MeshError."""
    wanted = ("a positive length" if width == 1 else f"{width} positive lengths") + " in metres"
    array = np.atleast_1d(finite(value, name, ((), (1,)) if width == 1 else ((width,),), wanted))
    if not (array >= SMALLEST).all():
        raise MeshError(f"{name} must be {wanted}, got {shown(value)}")
    return array


def check_counts(value: ArrayLike, width: int, name: str) -> np.ndarray:
    """Return (width,) positive cell counts; one int is repeated. Raises MeshError."""
    array = np.zeros(0)
    with contextlib.suppress(ValueError):  # rows of different lengths
        array = np.atleast_1d(np.asarray(value))
    if array.dtype.kind not in "iu" or array.shape not in ((1,), (width,)) or not (array > 0).all():
        wanted = "a positive integer" if width == 1 else f"a positive integer or {width} of them"
        raise MeshError(f"{name} must be {wanted}, got {shown(value)}")
    counts = [int(count) for count in np.broadcast_to(array, (width,))]
    if math.prod(counts) ** (3 / width) > MOST_CELLS:
        raise MeshError(f"{name} must be at most {MOST_CELLS:g} cells in all, got {shown(value)}")
    return np.array(counts, dtype=np.int64)


def lattice(axes: list[np.ndarray]) -> np.ndarray:
    """Points (n, 3) of the grid over the given coordinates, the first axis slowest."""
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))


def cell_corners(counts: np.ndarray) -> np.ndarray:
    """Node indices (cells, 8) of every cell's corners, numbered 4 i + 2 j + k."""
    numbers = np.arange(np.prod(counts + 1)).reshape(counts + 1)
    corners = []
    for i, j, k in np.ndindex(2, 2, 2):
        corners.append(numbers[i : i + counts[0], j : j + counts[1], k : k + counts[2]].ravel())
    return np.stack(corners, axis=1)


def path_tets() -> np.ndarray:
    """Six tets (6, 4) of a cell, each along a path of three edges from corner 0 to corner 7 (Kuhn 1960)."""
    tets = []
    for order in permutations((4, 2, 1)):
        tet = np.cumsum([0, *order])
        even = order in ((4, 2, 1), (2, 1, 4), (1, 4, 2))
        tets.append(tet[FLIP] if even else tet)
    return np.array(tets)


def six_tets(corners: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Six tets per cell around its diagonal."""
    return corners[:, path_tets()]


def five_tets(corners: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Five tets per cell; cells with odd i + j + k hold the mirror image, so that the diagonals of faces agree."""
    odd = np.indices(counts).sum(axis=0).ravel() % 2 == 1
    mirror = (FIVE_EVEN ^ 4)[:, FLIP]
    return np.where(odd[:, None, None], corners[:, mirror], corners[:, FIVE_EVEN])


def twelve_tets(corners: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Twelve tets per cell, from its middle node to two triangles per side."""
    cells = len(corners)
    middle = np.prod(counts + 1) + np.arange(cells)
    sides = corners[:, TWELVE]
    return np.concatenate([sides, np.broadcast_to(middle[:, None, None], (cells, len(TWELVE), 1))], axis=2)


def alternating_tets(corners: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Six tets per cell around its diagonal, every second cell along an axis mirrored along that axis."""
    return reflected_tets(corners, np.indices(counts).reshape(3, -1) % 2 == 1)


def mirrored_tets(counts: np.ndarray, mirrored: list[bool]) -> np.ndarray:
    """Six tets per cell whose diagonals run away from the middle of the grid along the mirrored axes.

    So no tet has two faces on the sides that a round map flattens into one, and no tet crosses its creases.
    """
    lower = np.indices(counts).reshape(3, -1) < counts[:, None] // 2
    return reflected_tets(cell_corners(counts), lower & np.array(mirrored)[:, None]).reshape(-1, 4)


def reflected_tets(corners: np.ndarray, reflected: np.ndarray) -> np.ndarray:
    """Six tets (cells, 6, 4) per cell around its diagonal; reflected (3, cells): cells mirrored along each axis.

    Faces of neighbours agree when the reflection along an axis depends on the place along that axis only.
    """
    flips = np.array([4, 2, 1]) @ reflected
    local = path_tets()[None] ^ flips[:, None, None]
    tets = np.take_along_axis(corners, local.reshape(len(corners), -1), axis=1).reshape(-1, 6, 4)
    odd = np.logical_xor.reduce(reflected)[:, None, None]
    return np.where(odd, tets[:, :, FLIP], tets)


def round_shells(points: np.ndarray) -> np.ndarray:
    """Map squares or cubes around the origin, points (n, 2 or 3), to circles or spheres of the same half width.

    Grid lines on each side are spread at equal angles (tan), as on the equiangular cubed sphere
    (Ronchi, Iacono and Paolucci 1996).
    """
    shell = np.abs(points).max(axis=1, keepdims=True)
    inside = np.divide(points, shell, out=np.zeros_like(points), where=shell > 0)
    direction = np.tan(np.pi / 4 * inside)
    length = np.linalg.norm(direction, axis=1, keepdims=True)
    return shell * np.divide(direction, length, out=np.zeros_like(points), where=length > 0)
