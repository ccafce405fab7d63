"""Solids in plain NumPy, as judges of contact that share no code with it: points on surfaces, depths, insides."""

import numpy as np

import pliant as pl
from surface_shapes import point_triangle

ROUND = np.linspace(0, 2 * np.pi, 48, endpoint=False)
# Barycentric coordinates of samples of a triangle, with its corners and points on its sides.
GRID = 6
SHARES = np.array([[i, j, GRID - i - j] for i in range(GRID + 1) for j in range(GRID + 1 - i)]) / GRID


def triangle_samples(points: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Points (k, 3) [m] all over triangles."""
    return np.einsum("sc,tcx->tsx", SHARES, points[triangles]).reshape(-1, 3)


def _ball(radius: float, count: int = 300) -> np.ndarray:
    k = np.arange(count) + 0.5
    z, turn = 1 - 2 * k / count, np.pi * (1 + 5**0.5) * k
    across = np.sqrt(1 - z * z)
    poles = [[0, 0, -1], [0, 0, 1]]
    return radius * np.concatenate([np.stack([across * np.cos(turn), across * np.sin(turn), z], axis=1), poles])


def _ring(radius: float, z: float) -> np.ndarray:
    return np.stack([radius * np.cos(ROUND), radius * np.sin(ROUND), np.full(len(ROUND), z)], axis=1)


def _turned(profile) -> np.ndarray:
    return np.concatenate([_ring(radius, z) for radius, z in profile])


def _box(size) -> np.ndarray:
    """Corners, points along edges and all over the sides."""
    steps = np.linspace(-1, 1, 25)
    a, b = (values.ravel() for values in np.meshgrid(steps, steps))
    sides = []
    for axis in range(3):
        for side in (-1.0, 1.0):
            points = np.empty((len(a), 3))
            points[:, axis], points[:, (axis + 1) % 3], points[:, (axis + 2) % 3] = side, a, b
            sides.append(points)
    return np.concatenate(sides) * np.array(size) / 2


def surface_points(shape) -> np.ndarray:
    """Points (k, 3) [m] all over a shape, in its frame; none of what has no end."""
    match shape:
        case pl.Sphere():
            return _ball(shape.radius)
        case pl.Box():
            return _box(shape.size)
        case pl.Capsule():
            ends = _ball(shape.radius)
            up = np.where(ends[:, 2:] >= 0, 1, -1) * [0, 0, shape.length / 2]
            along = np.linspace(-0.5, 0.5, 25) * shape.length
            return np.concatenate([ends + up, _turned((shape.radius, z) for z in along)])
        case pl.Cylinder():
            along, half = np.linspace(-0.5, 0.5, 15) * shape.length, shape.length / 2
            caps = [(part * shape.radius, side) for part in np.linspace(0, 1, 8) for side in (-half, half)]
            return _turned([*((shape.radius, z) for z in along), *caps])
        case pl.Cone():
            mantle = [(shape.radius * (1 - t), (t - 0.5) * shape.length) for t in np.linspace(0, 1, 20)]
            return _turned([*mantle, *((t * shape.radius, -shape.length / 2) for t in np.linspace(0, 1, 8))])
        case pl.Mesh() | pl.Hull():
            return triangle_samples(shape.surface.points, shape.surface.triangles)
        case _:
            return np.zeros((0, 3))


def distances(shape, points: np.ndarray) -> np.ndarray:
    """Signed distances (k,) [m] of points in a convex shape's frame: exact inside, and outside not above the truth."""
    across = np.hypot(points[:, 0], points[:, 1])
    match shape:
        case pl.Sphere():
            return np.linalg.norm(points, axis=1) - shape.radius
        case pl.Box():
            return (np.abs(points) - np.array(shape.size) / 2).max(axis=1)
        case pl.Capsule():
            along = np.clip(points[:, 2], -shape.length / 2, shape.length / 2)
            return np.hypot(across, points[:, 2] - along) - shape.radius
        case pl.Cylinder():
            return np.maximum(across - shape.radius, np.abs(points[:, 2]) - shape.length / 2)
        case pl.Cone():
            slant = np.hypot(shape.radius, shape.length)
            mantle = (across * shape.length - shape.radius * (shape.length / 2 - points[:, 2])) / slant
            return np.maximum(mantle, -shape.length / 2 - points[:, 2])
        case pl.Hull():
            surface = shape.surface
            first = surface.points[surface.triangles[:, 0]]
            return (points @ surface.normals.T - (first * surface.normals).sum(axis=1)).max(axis=1)
        case pl.Plane():
            return points @ np.array(shape.normal)
    raise TypeError(f"{shape!r} is not convex")


def half_spaces(shape) -> tuple[np.ndarray, np.ndarray] | None:
    """Outward normals (m, 3) and offsets (m,) [m] of the sides of a polytope in its frame; None for round shapes."""
    match shape:
        case pl.Box():
            return np.concatenate([np.eye(3), -np.eye(3)]), np.tile(np.array(shape.size) / 2, 2)
        case pl.Hull():
            surface = shape.surface
            return surface.normals, (surface.points[surface.triangles[:, 0]] * surface.normals).sum(axis=1)
    return None


def segments_inside(sides, starts: np.ndarray, ends: np.ndarray, depth: float) -> np.ndarray:
    """Which of segments (k, 3) [m] are somewhere deeper than a depth [m] in a polytope, by clipping."""
    normals, offsets = sides
    first = starts @ normals.T - offsets + depth
    rate = (ends - starts) @ normals.T
    with np.errstate(divide="ignore", invalid="ignore"):
        root = -first / rate
    enter = np.where(rate < 0, root, np.where((rate == 0) & (first > 0), np.inf, -np.inf)).max(axis=1)
    leave = np.where(rate > 0, root, np.inf).min(axis=1)
    return np.maximum(enter, 0.0) < np.minimum(leave, 1.0)


def windings(points: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """How often (k,) surfaces with corners (m, 3, 3) go around points (Van Oosterom and Strackee 1983)."""
    total = np.zeros(len(points))
    for part in np.array_split(np.arange(len(points)), max(1, len(points) * len(corners) // 200_000)):
        a, b, c = (corners[None, :, i] - points[part][:, None] for i in range(3))
        la, lb, lc = (np.linalg.norm(side, axis=2) for side in (a, b, c))
        above = np.einsum("ktx,ktx->kt", a, np.cross(b, c))
        dots = [np.einsum("ktx,ktx->kt", u, v) for u, v in ((a, b), (b, c), (c, a))]
        below = la * lb * lc + dots[0] * lc + dots[1] * la + dots[2] * lb
        total[part] = 2 * np.arctan2(above, below).sum(axis=1) / (4 * np.pi)
    return total


def depth_inside(points: np.ndarray, corners: np.ndarray) -> float:
    """How deep [m] the deepest of points lies inside a closed surface with corners (m, 3, 3); 0 if none is inside."""
    low, high = corners.min(axis=(0, 1)), corners.max(axis=(0, 1))
    points = points[np.all((points > low) & (points < high), axis=1)]
    if len(points):
        points = points[windings(points, corners) > 0.5]
    if not len(points):
        return 0.0
    every = points[:: max(1, len(points) // 200)]
    p, a, b, c = np.broadcast_arrays(every[:, None], *(corners[None, :, i] for i in range(3)))
    return float(point_triangle(p, a, b, c).min(axis=1).max())


def height_over(points: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """Heights (k,) [m] of points over a surface with one height for each x, y, corners (m, 3, 3); infinite beside it.

    Measured along the normal of the triangle above or below.
    """
    found = np.full(len(points), np.inf)
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    for t, over in enumerate(_over(points, corners).T):
        height = (points[over] - corners[t, 0]) @ normal[t]
        found[over] = np.where(np.abs(height) < np.abs(found[over]), height, found[over])
    return found


def crossings_above(point: np.ndarray, corners: np.ndarray) -> int:
    """How many of triangles (m, 3, 3) a way straight up from a point (3,) crosses."""
    over = _over(point[None], corners)[0]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    height = ((corners[:, 0] - point) * normal).sum(axis=1) * np.sign(normal[:, 2])
    return int(np.sum(over & (height > 0)))


def _over(points: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """Which points (k, m) lie straight over or under which triangles."""
    flat, turns = corners[:, :, :2], []
    for i in range(3):
        start, side = flat[:, i], flat[:, (i + 1) % 3] - flat[:, i]
        arm = points[:, None, :2] - start
        turns.append(side[:, 0] * arm[..., 1] - side[:, 1] * arm[..., 0])
    turns = np.array(turns)
    return np.all(turns >= 0, axis=0) | np.all(turns <= 0, axis=0)
