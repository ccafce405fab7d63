"""The volume that a closed surface encloses, that of overlapping pieces counted once: what a mesh of it should have."""

from __future__ import annotations

import numpy as np

from .lattice import find_crossings, lattice_around
from .meetings import overlaps
from .repair import consistent_orientation, signed_volume

LINES = (250, 500, 1000)
"""Lines along a side of the surface by which overlapping pieces are counted; more if the fewer leave doubts."""
FLAT = 1e-15
"""Surfaces thinner than this part of their largest side are not scaled any further."""
DOUBT = 1e-3
"""What lines along three axes may disagree by, in parts of the volume, before there are more of them."""


def enclosed_volume(points: np.ndarray, triangles: np.ndarray, crossed: bool = True) -> tuple[float, float]:
    """Volume [m^3] of the points around which closed triangles wind once or more, and how far it may be off, in parts.

    It is the signed volume, exact but for rounding, where nothing is wound around otherwise than once or not at all;
    else lines along the surface's three main axes count what is. crossed: whether the surface passes through itself.
    """
    exact = signed_volume(points, triangles)
    if not crossed and not _boxes_meet(points, triangles):
        return exact, 0.0
    scaled, unit = _in_a_cube(points, triangles)
    for lines in LINES:
        more = unit * _counted(scaled, triangles, lines)
        volume = exact + float(more.mean())
        doubt = float(np.ptp(more)) / volume if volume > 0 else np.inf
        if doubt <= DOUBT:
            break
    return volume, doubt


def _boxes_meet(points: np.ndarray, triangles: np.ndarray) -> bool:
    """Whether the boxes of any two pieces overlap."""
    piece, _ = consistent_orientation(triangles, len(points))
    if piece.max() == 0:
        return False
    order = np.argsort(piece, kind="stable")
    first = np.searchsorted(piece[order], np.arange(piece.max() + 1))
    corners = points[triangles[order]]
    low, high = np.minimum.reduceat(corners.min(axis=1), first), np.maximum.reduceat(corners.max(axis=1), first)
    boxes = np.stack([low, high], axis=1)
    return len(overlaps(boxes, boxes)) > len(boxes)


def _in_a_cube(points: np.ndarray, triangles: np.ndarray) -> tuple[np.ndarray, float]:
    """The points seen along the surface's main axes, which are scaled to a cube of 1; and the volume of its box [m^3].

    Slender bodies have as many lines to their sections as others so.
    """
    used = points[np.unique(triangles)]
    centre = used.mean(axis=0)
    axes = np.linalg.svd(np.cov((used - centre).T))[0]
    axes[:, 2] = np.cross(axes[:, 0], axes[:, 1])
    seen = (points - centre) @ axes
    sides = np.ptp((used - centre) @ axes, axis=0)
    sides = np.maximum(sides, FLAT * sides.max())
    return seen / sides, float(np.prod(sides))


def _counted(points: np.ndarray, triangles: np.ndarray, lines: int) -> np.ndarray:
    """By how much (3,) the volume of what is wound around once or more is above the signed one, by lines along each
    axis; points within a cube of 1."""
    low, high = points[triangles].reshape(-1, 3).min(axis=0), points[triangles].reshape(-1, 3).max(axis=0)
    lattice = lattice_around(low, high, 1 / lines)
    found = find_crossings(lattice, points, triangles, directions=3)
    winding = -np.cumsum(found.sides)[:-1]
    lengths = np.diff(found.places) * ((winding > 0) - winding.astype(float))
    total = np.bincount(found.lines[:-1] // lattice.width**2, np.where(winding == 0, 0.0, lengths), 3)
    # a square cell has a line through its middle and a quarter of each through its corners
    return total / (2 * lattice.half) * lattice.size**3 / 2
