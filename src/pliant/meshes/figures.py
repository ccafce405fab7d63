"""Closed round surfaces: an ellipsoid with bumps, for animals and other figures that no file is needed for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..checks import shown
from ..errors import MeshError
from .checks import finite
from .generate import check_lengths, sphere
from .tri_mesh import TriMesh

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

# How far points of a figure may be from the origin, relative to the nearest of them.
LARGEST_RATIO = 1e6


def figure(radii: ArrayLike, bumps: Sequence, cells: int) -> TriMesh:
    """Closed surface of an ellipsoid around the origin with half axes radii (3,) [m] and bumps on it.

    bumps: of each a direction (3,) from the origin, how far it sticks out [m] and its width: it falls off as
    exp((cos - 1) / width) with the angle from its direction, so that widths of 0.02 are thin legs and those of 0.3
    heads. cells: as of `sphere`; there are 48 cells^2 triangles.
    """
    half = check_lengths(radii, 3, "radii")
    surface = sphere(1.0, cells).surface()
    used, triangles = np.unique(surface.triangles, return_inverse=True)
    direction = surface.points[used] / np.linalg.norm(surface.points[used], axis=1, keepdims=True)
    radius = 1 / np.linalg.norm(direction / half, axis=1)
    for k, (towards, height, width) in enumerate(_triples(bumps)):
        along = finite(towards, f"direction of bump {k}", ((3,),), "three numbers")
        if not np.any(along):
            raise MeshError(f"direction of bump {k} must not be zero")
        (far,) = check_lengths(height, 1, f"height of bump {k}")
        (wide,) = check_lengths(width, 1, f"width of bump {k}")
        radius += far * np.exp((direction @ along / np.linalg.norm(along) - 1) / wide)
    if not radius.max() <= LARGEST_RATIO * radius.min():
        raise MeshError(
            f"a figure must not be more than {LARGEST_RATIO:g} times as long as thick, and radii with bumps make one "
            f"whose points are from {radius.min():.3g} to {radius.max():.3g} m from the origin"
        )
    return TriMesh(direction * radius[:, None], triangles.reshape(-1, 3))


def _triples(bumps) -> list[tuple]:
    """The bumps, each of three things, or MeshError."""
    wanted = "bumps must be a sequence of (direction, height, width)"
    if not isinstance(bumps, Sequence):
        raise MeshError(f"{wanted}, got {shown(bumps)}")
    for bump in bumps:
        if not isinstance(bump, Sequence) or len(bump) != 3:
            raise MeshError(f"{wanted}, got {shown(bump)} among them")
    return list(bumps)
