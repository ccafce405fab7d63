"""Pictures without a graphics card: `render` turns surfaces, a camera and a light into an image.

Perspective with a depth buffer, a shadow map, supersampled edges. The same input gives the same bytes.
"""

from collections.abc import Sequence

import numpy as np
from scipy.ndimage import gaussian_filter, maximum_filter

from pliant.kernels.device import HOST
from pliant.kernels.drawing import COARSE_BLOCK, GroundMap, LightMap, Triangles, View
from pliant.output.drawing.camera import Camera
from pliant.output.drawing.colors import TABLE_SIZE, colormap, linear_from_srgb, srgb_color, srgb_from_linear
from pliant.output.drawing.draw import draw_caption, draw_legend
from pliant.output.drawing.picture import Color, Ground, Legend, Light, Surface

SHADOW_TEXELS = 1024
OCCLUSION_TEXELS = 192
# Free texels around the shadow map, more than the filter is wide.
MAP_MARGIN = 6
# Nothing nearer to the eye than this share of the distance to the target is drawn.
NEAR_SHARE = 1e-3
FAR_AWAY = 1e30
# Tint of the key light, of the sky and of the light from below; they multiply the strengths of `Light`.
KEY_TINT = np.array([1.04, 1.0, 0.93])
SKY_TINT = np.array([0.96, 1.0, 1.07])
BOUNCE_TINT = np.array([0.62, 0.60, 0.57])
HEADLIGHT = 0.10
ENCODE = np.round(255 * srgb_from_linear(np.linspace(0, 1, 16384))).astype(np.uint8)


def render(
    surfaces: Sequence[Surface],
    camera: Camera,
    size: tuple[int, int] = (960, 540),
    *,
    ground: Ground | None = None,
    light: Light | None = None,
    legend: Legend | None = None,
    caption: str = "",
    background: tuple[Color, Color] = ("#cfdbe6", "#f4f6f8"),
    supersample: int = 2,
    unlit: bool = False,
) -> np.ndarray:
    """Draw the surfaces; returns the image (height, width, 3) uint8, sRGB.

    `size` is (width, height) in pixels, each seen by `supersample` squared samples. `legend` also rules how fields
    become colours (without one: the default map over the range of the data, no bar). `caption` stands in the lower
    left corner. `background` are the colours at the top and bottom. `unlit` shows plain colours: no light, no shadow.
    """
    width, height = _checked_size(size, supersample)
    surfaces = list(surfaces)
    light = light or Light()
    points, triangles = _gather(surfaces)
    nearness = np.zeros((height * supersample, width * supersample), np.float32)
    index = np.empty(nearness.shape, np.int32)  # filled where a triangle is nearer than nothing
    weights = np.zeros((len(triangles), 3, 3))
    corners = _project(points, camera, nearness.shape)
    HOST.drawing.visibility.rasterise(
        corners, triangles, 1.0 / (NEAR_SHARE * camera.distance), nearness, index, weights
    )
    image = np.empty((height, width, 3), np.uint8)
    HOST.drawing.shading.shade(
        supersample,
        nearness,
        index,
        _triangle_table(surfaces, points, triangles, corners, weights, legend or Legend()),
        _view(camera, nearness.shape),
        _gradient(background, height),
        _light_map(surfaces, light, unlit),
        _ground_map(surfaces, camera, ground),
        ENCODE,
        image,
    )
    if legend is not None and legend.visible:
        image = draw_legend(image, legend, legend.range_of(surfaces))
    return draw_caption(image, caption) if caption else image


def _checked_size(size: tuple[int, int], supersample: int) -> tuple[int, int]:
    width, height = size
    if width < 1 or height < 1 or int(width) != width or int(height) != height:
        raise ValueError(f"size: expected (width, height) in whole pixels, got {size}")
    if supersample not in (1, 2, 3, 4):
        raise ValueError(f"supersample: allowed are 1, 2, 3 and 4, got {supersample}")
    return int(width), int(height)


def _gather(surfaces: Sequence[Surface]) -> tuple[np.ndarray, np.ndarray]:
    """All points (n, 3) and triangles (k, 3) in one list."""
    if not surfaces:
        return np.zeros((0, 3)), np.zeros((0, 3), np.int64)
    starts = np.cumsum([0] + [len(surface.points) for surface in surfaces])
    triangles = [surface.triangles + start for surface, start in zip(surfaces, starts)]
    return np.concatenate([surface.points for surface in surfaces]), np.concatenate(triangles)


def _project(points: np.ndarray, camera: Camera, shape: tuple[int, int]) -> np.ndarray:
    """Homogeneous sample coordinates (n, 4): x, y, w = depth [m], q = 1 (see `visibility`)."""
    rows, columns = shape
    focal = camera.focal_length(rows)
    right, up, depth = camera.axes @ (points - camera.eye).T
    x = focal * right + 0.5 * columns * depth
    y = -focal * up + 0.5 * rows * depth
    return np.ascontiguousarray(np.stack([x, y, depth, np.ones_like(depth)], axis=1))


def _gradient(background: tuple[Color, Color], height: int) -> np.ndarray:
    """The background of every row (height, 3), linear light."""
    top, bottom = (linear_from_srgb(srgb_color(color)) for color in background)
    return top + np.linspace(0, 1, height)[:, None] ** 0.8 * (bottom - top)


def _view(camera: Camera, shape: tuple[int, int]) -> View:
    rows, columns = shape
    focal = camera.focal_length(rows)
    right, up, forward = camera.axes
    return View(
        eye=camera.eye,
        corner=_floats(forward - 0.5 * columns / focal * right + 0.5 * rows / focal * up),
        across=_floats(right / focal),
        down=_floats(-up / focal),
    )


def _triangle_table(
    surfaces: Sequence[Surface],
    points: np.ndarray,
    triangles: np.ndarray,
    corners: np.ndarray,
    weights: np.ndarray,
    legend: Legend,
) -> Triangles:
    """Everything shading asks of a triangle."""
    counts = [len(surface.triangles) for surface in surfaces]
    palette, rows = _palette(surfaces, legend)
    low, high = legend.range_of(surfaces)
    normals, corner_normals, values = _per_surface(surfaces, low, high)
    reach = np.abs(corners[:, 2])[triangles] * np.sqrt(weights[:, :, 0] ** 2 + weights[:, :, 1] ** 2)
    return Triangles(
        weights=weights,
        heights=(1.0 / np.maximum(reach, 1e-30)).astype(np.float32),
        corners=points.astype(np.float32)[triangles],
        normals=normals,
        corner_normals=corner_normals,
        corner_values=values,
        palette_row=np.repeat(rows, counts, axis=0).astype(np.int32),
        edged=np.repeat([surface.edges for surface in surfaces], counts).astype(np.bool_),
        palette=palette,
    )


def _palette(surfaces: Sequence[Surface], legend: Legend) -> tuple[np.ndarray, np.ndarray]:
    """Colours (2 n + 1, 256, 3) and the rows of the front and the back of n surfaces (n, 2): row 0 is the colour map,
    then come two rows per surface."""
    palette = np.empty((2 * len(surfaces) + 1, TABLE_SIZE, 3), np.float32)
    palette[0] = linear_from_srgb(colormap(legend.colormap))
    rows = np.zeros((len(surfaces), 2), np.int32)
    for k, surface in enumerate(surfaces):
        back = surface.color if surface.back is None else surface.back
        palette[2 * k + 1] = linear_from_srgb(srgb_color(surface.color))
        palette[2 * k + 2] = linear_from_srgb(srgb_color(back))
        rows[k] = (2 * k + 1, 2 * k + 2) if surface.field is None else 0
    return palette, rows


def _per_surface(surfaces: Sequence[Surface], low: float, high: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Face normals (k, 3), corner normals (k, 3, 3), corner values (k, 3; `low` becomes 0, `high` 1), all float32."""
    count = sum(len(surface.triangles) for surface in surfaces)
    normals = np.zeros((count, 3), np.float32)
    corner_normals = np.zeros((count, 3, 3), np.float32)
    values = np.zeros((count, 3), np.float32)
    start = 0
    for surface in surfaces:
        part = slice(start, start + len(surface.triangles))
        start = part.stop
        area_vectors = _area_vectors(surface)
        normals[part] = _unit(area_vectors)
        if surface.smooth:
            corner_normals[part] = _point_normals(surface, area_vectors)[surface.triangles]
        else:
            corner_normals[part] = normals[part, None]
        if surface.field is not None:
            values[part] = (surface.corner_field() - low) / (high - low)
    return normals, corner_normals, values


def _area_vectors(surface: Surface) -> np.ndarray:
    """Twice the area times the normal of every triangle (k, 3) [m2]."""
    a, b, c = surface.points[surface.triangles].transpose(1, 2, 0)
    x, y, z = b - a
    r, s, t = c - a
    return np.stack([y * t - z * s, z * r - x * t, x * s - y * r], axis=1)


def _point_normals(surface: Surface, area_vectors: np.ndarray) -> np.ndarray:
    """Area-weighted mean normals of the points (n, 3)."""
    nodes, count = surface.triangles.ravel(), len(surface.points)
    repeated = np.repeat(area_vectors, 3, axis=0)
    return _unit(np.stack([np.bincount(nodes, repeated[:, axis], count) for axis in range(3)], axis=1))


def _floats(values: np.ndarray) -> tuple[float, ...]:
    return tuple(float(value) for value in values)


def _unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.maximum(np.sqrt(np.einsum("ij,ij->i", vectors, vectors)), 1e-300)[:, None]


def _height_map(points: np.ndarray, triangles: np.ndarray, axes: np.ndarray, texels: int, margin: float):
    """Look at the surfaces from far away along -axes[2]: an orthographic map of the nearest height.

    Returns heights (texels, texels) float32, world-to-texel rows (2, 3), their offsets (2,), and the texel size [m];
    the map leaves `margin` texels free at its sides.
    """
    place = axes @ points.T
    low, high = place.min(axis=1), place.max(axis=1)
    texel = max(float((high - low)[:2].max()), 1e-9) / (texels - 2 * margin)
    offset = 0.5 * texels - 0.5 * (low + high)[:2] / texel
    middle = 0.5 * float(low[2] + high[2])
    x, y = place[:2] / texel + offset[:, None]
    corners = np.ascontiguousarray(np.stack([x, y, np.ones_like(x), place[2] - middle], axis=1))
    heights = np.full((texels, texels), -FAR_AWAY, np.float32)
    HOST.drawing.visibility.rasterise(
        corners, triangles, FAR_AWAY, heights, np.empty((0, 0), np.int32), np.empty((len(triangles), 3, 3))
    )
    return heights, axes[:2] / texel, np.array([*offset, -middle]), texel


def _light_map(surfaces: Sequence[Surface], light: Light, unlit: bool) -> LightMap:
    points, triangles = _gather([surface for surface in surfaces if surface.shadow])
    heights, rows, offset, texel = np.zeros((0, 0), np.float32), np.zeros((2, 3)), np.zeros(3), 1.0
    if light.shadows and not unlit and len(triangles):
        side = np.cross(light.toward, np.eye(3)[np.argmin(np.abs(light.toward))])
        side /= np.linalg.norm(side)
        axes = np.array([side, np.cross(light.toward, side), light.toward])
        heights, rows, offset, texel = _height_map(points, triangles, axes, SHADOW_TEXELS, MAP_MARGIN)
    return LightMap(
        toward=_floats(light.toward),
        key=_floats(light.key * KEY_TINT),
        sky=_floats(light.ambient * SKY_TINT),
        bounce=_floats(light.ambient * BOUNCE_TINT),
        headlight=HEADLIGHT,
        gloss=float(light.gloss),
        lit=not unlit,
        rows=rows,
        offset=_floats(offset),
        texel=texel,
        heights=heights,
        coarse=_coarse_maximum(heights),
    )


def _coarse_maximum(heights: np.ndarray) -> np.ndarray:
    """Largest height of each block of texels and its eight neighbours: most of what is lit is above it."""
    if not heights.size:
        return heights
    blocks = len(heights) // COARSE_BLOCK
    rows = heights.reshape(blocks, COARSE_BLOCK, -1).max(axis=1)
    return maximum_filter(rows.reshape(blocks, blocks, COARSE_BLOCK).max(axis=2), 3, mode="nearest")


def _ground_map(surfaces: Sequence[Surface], camera: Camera, ground: Ground | None) -> GroundMap:
    settings = ground or Ground()
    visible = ground is not None and camera.eye[2] > settings.height
    occlusion, origin, texel = np.zeros((1, 1), np.float32), np.zeros(2), 1.0
    points, triangles = _gather([surface for surface in surfaces if surface.shadow])
    if visible and len(triangles):
        occlusion, origin, texel = _sky_occlusion(points, triangles, settings.height)
    dark, bright = (linear_from_srgb(srgb_color(color)) for color in settings.colors)
    return GroundMap(
        visible=visible,
        height=float(settings.height) if visible else camera.eye[2] - 1.0,
        checks_per_metre=1.0 / settings.checker,
        inverse_fade=1.0 / (settings.fade or 1.6 * camera.distance),
        centre=camera.target[:2],
        dark=_floats(dark),
        light=_floats(bright),
        occlusion=occlusion,
        occlusion_origin=_floats(origin),
        occlusion_texels_per_metre=1.0 / texel,
    )


def _sky_occlusion(points: np.ndarray, triangles: np.ndarray, ground_height: float):
    """How much sky the ground misses below the surfaces: (map float32, its corner (2,) [m], texel size [m]).

    Seen from below, a surface at the height z above the ground hides a share that falls with z; a blur stands for
    the directions that are not vertical.
    """
    seen_from_below = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, -1.0]])
    margin = OCCLUSION_TEXELS // 8
    heights, _, offset, texel = _height_map(points, triangles, seen_from_below, OCCLUSION_TEXELS, margin)
    covered = heights > -0.5 * FAR_AWAY
    gap = np.where(covered, offset[2] - heights - ground_height, 0.0)
    reach = margin * texel
    hidden = np.where(covered & (gap > -0.5 * reach), 1.0 / (1.0 + (np.maximum(gap, 0.0) / (0.5 * reach)) ** 2), 0.0)
    occlusion = 0.8 * gaussian_filter(hidden.astype(np.float32), margin / 4, mode="constant")
    return occlusion, -offset[:2] * texel, texel
