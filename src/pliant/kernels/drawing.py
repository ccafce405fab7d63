"""What a picture is shaded from, as named tuples of arrays."""

from typing import NamedTuple

import numpy as np

# Texels along a side of a block of the coarse shadow map.
COARSE_BLOCK = 16


class Triangles(NamedTuple):
    """What shading needs to know of each of k triangles."""

    weights: np.ndarray  # (k, 3, 3) float64: beta_i = weights[i] . (sx, sy, 1)
    heights: np.ndarray  # (k, 3) float32: distance from each edge to the opposite corner [samples]
    corners: np.ndarray  # (k, 3, 3) float32 [m]
    normals: np.ndarray  # (k, 3) float32: unit face normals
    corner_normals: np.ndarray  # (k, 3, 3) float32
    corner_values: np.ndarray  # (k, 3) float32: place in the palette row, from 0 to 1 (outside: the nearer end)
    palette_row: np.ndarray  # (k, 2) int32: seen from the front, and from behind
    edged: np.ndarray  # (k,) bool: draw mesh lines
    palette: np.ndarray  # (m, 256, 3) float32, linear light


class View(NamedTuple):
    """Ray through a sample (sx, sy): `eye + depth * (corner + sx * across + sy * down)`."""

    eye: tuple[float, ...]  # (3,) [m]
    corner: tuple[float, ...]  # (3,)
    across: tuple[float, ...]  # (3,)
    down: tuple[float, ...]  # (3,)


class LightMap(NamedTuple):
    """Key light, ambient light and the shadow map of the key light."""

    toward: tuple[float, ...]  # (3,): unit vector to the light
    key: tuple[float, ...]  # (3,): its colour
    sky: tuple[float, ...]  # (3,): ambient light from above
    bounce: tuple[float, ...]  # (3,): ambient light from below
    headlight: float  # weak light from the eye
    gloss: float  # strength of the highlight
    lit: bool  # False: plain colours
    rows: np.ndarray  # (2, 3) float64: world to texels
    offset: tuple[float, ...]  # (3,): two in texels, then of the heights [m]
    texel: float  # [m]
    heights: np.ndarray  # (t, t) float32: nearest surface along `toward` [m]; (0, 0) for no shadows
    coarse: np.ndarray  # float32: largest height in each block of 16 x 16 texels and the blocks around it


class GroundMap(NamedTuple):
    """A horizontal checkerboard and how much sky each place of it misses."""

    visible: bool
    height: float  # [m]
    checks_per_metre: float
    inverse_fade: float  # one over the distance from the centre at which it has mostly become background [1/m]
    centre: tuple[float, ...]  # (2,) [m]
    dark: tuple[float, ...]  # (3,), linear light
    light: tuple[float, ...]  # (3,), linear light
    occlusion: np.ndarray  # (c, c) float32, 0 open to 1 covered
    occlusion_origin: tuple[float, ...]  # (2,) [m]
    occlusion_texels_per_metre: float
