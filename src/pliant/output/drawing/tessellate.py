"""Triangulations of the rigid shapes for drawing: `(points (n, 3) [m], triangles (k, 3))`, outward, axis z.

Curved parts have their nodes on the true surface.
"""

import numpy as np

Triangulation = tuple[np.ndarray, np.ndarray]


def sphere(radius: float, segments: int = 48) -> Triangulation:
    """A ball around the origin; `segments` around the equator, half as many from pole to pole."""
    _require_positive(radius=radius)
    return _ball_halves(radius, 0.0, segments)


def capsule(radius: float, half_length: float, segments: int = 48) -> Triangulation:
    """All points within `radius` of the segment from (0, 0, -half_length) to (0, 0, half_length)."""
    _require_positive(radius=radius, half_length=half_length)
    return _ball_halves(radius, half_length, segments)


def cylinder(radius: float, half_length: float, segments: int = 48) -> Triangulation:
    """From z = -half_length to half_length; caps have their own rim nodes, so that rims stay sharp when smooth."""
    _require_positive(radius=radius, half_length=half_length)
    rim = [(radius, -half_length), (radius, half_length)]
    side = _revolve(rim, segments)
    bottom = _revolve([(0.0, -half_length), rim[0]], segments)
    top = _revolve([rim[1], (0.0, half_length)], segments)
    return _merge([side, bottom, top])


def cone(radius: float, half_length: float, segments: int = 48) -> Triangulation:
    """From a disc at z = -half_length to the tip at half_length.

    The disc has its own rim nodes and each side triangle its own tip, so that rim and tip stay sharp when smooth.
    """
    _require_positive(radius=radius, half_length=half_length)
    disc = _revolve([(0.0, -half_length), (radius, -half_length)], segments)
    rim = disc[0][1:]
    tips = np.tile([0.0, 0.0, half_length], (segments, 1))
    first = np.arange(segments)
    side = np.vstack([rim, tips]), np.column_stack([first, np.roll(first, -1), segments + first])
    return _merge([disc, side])


def box(half_extents: tuple[float, float, float]) -> Triangulation:
    """A box around the origin; each face has its own four nodes, so that edges stay sharp when smooth."""
    half = np.asarray(half_extents, dtype=float)
    if half.shape != (3,) or not (half > 0).all():
        raise ValueError(f"half_extents: expected three positive lengths, got {half_extents}")
    faces = []
    for axis in range(3):
        for sign in (-1.0, 1.0):
            first, second = np.roll(np.eye(3), axis, axis=1)[1:] * half
            centre = sign * half * np.eye(3)[axis]
            first = sign * first
            corners = np.array([centre - first - second, centre + first - second])
            corners = np.vstack([corners, [centre + first + second, centre - first + second]])
            faces.append((corners, np.array([[0, 1, 2], [0, 2, 3]])))
    return _merge(faces)


def _ball_halves(radius: float, half_length: float, segments: int) -> Triangulation:
    """Two hemispheres, moved apart along z by twice `half_length` (none: a sphere)."""
    quarter = max(2, segments // 4)
    angles = np.linspace(-np.pi / 2, np.pi / 2, 2 * quarter + 1)
    profile = [(radius * np.cos(a), radius * np.sin(a)) for a in angles]
    south = [(r, z - half_length) for r, z in profile[: quarter + 1]]
    north = [(r, z + half_length) for r, z in profile[quarter:]]
    south[0], north[-1] = (0.0, south[0][1]), (0.0, north[-1][1])
    return _revolve(south + (north if half_length > 0 else north[1:]), segments)


def _revolve(profile: list[tuple[float, float]], segments: int) -> Triangulation:
    """Turn a profile of (distance from the axis, z) around z, from low to high z; a distance of 0 makes one node."""
    if segments < 3:
        raise ValueError(f"segments: at least 3 are needed, got {segments}")
    angle = 2 * np.pi * np.arange(segments) / segments
    points, rings = [], []
    for distance, z in profile:
        count = segments if distance > 0 else 1
        rings.append(sum(map(len, points)) + np.arange(segments) % count)
        turn = angle[:count]
        points.append(np.column_stack([distance * np.cos(turn), distance * np.sin(turn), np.full(count, z)]))
    triangles = []
    for k in range(len(rings) - 1):
        low, high = rings[k], rings[k + 1]
        low_next, high_next = np.roll(low, -1), np.roll(high, -1)
        if profile[k][0] > 0:
            triangles.append(np.column_stack([low, low_next, high_next if profile[k + 1][0] > 0 else high]))
        if profile[k + 1][0] > 0:
            triangles.append(np.column_stack([low, high_next, high]))
    return np.vstack(points), np.vstack(triangles)


def _merge(parts: list[Triangulation]) -> Triangulation:
    offsets = np.cumsum([0] + [len(points) for points, _ in parts])
    triangles = [triangles + offset for (_, triangles), offset in zip(parts, offsets)]
    return np.vstack([points for points, _ in parts]), np.vstack(triangles)


def _require_positive(**lengths: float) -> None:
    for name, value in lengths.items():
        if not (np.isfinite(value) and value > 0):
            raise ValueError(f"{name}: expected a positive length, got {value}")
