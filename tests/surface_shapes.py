"""Small surfaces, and distances computed in a plain way, for tests of contact between surfaces."""

import itertools
from fractions import Fraction

import numpy as np

SIDES = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
CUBE = np.array([t for a, b, c, d in SIDES for t in ([a, b, c], [a, c, d])])
CORNERS = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=float)


def join(*parts):
    """points, triangles and bodies of several (points, triangles)."""
    start = np.cumsum([0, *(len(points) for points, _ in parts)])
    triangles = np.concatenate([np.asarray(tri) + first for (_, tri), first in zip(parts, start)])
    body = np.repeat(np.arange(len(parts)), np.diff(start))
    return np.concatenate([points for points, _ in parts]).astype(float), triangles, body


def grid(cells, height=lambda x, y: 0 * x, origin=(0, 0, 0), flip=False):
    """A unit square of 2 cells^2 triangles, upward (or downward) from a height."""
    steps = np.linspace(0, 1, cells + 1)
    x, y = (values.ravel() for values in np.meshgrid(steps, steps, indexing="ij"))
    corner = (np.arange(cells)[:, None] * (cells + 1) + np.arange(cells)).ravel()
    a, b, c, d = corner, corner + cells + 1, corner + cells + 2, corner + 1
    triangles = np.concatenate([np.column_stack([a, b, c]), np.column_stack([a, c, d])])
    return np.column_stack([x, y, height(x, y)]) + origin, triangles[:, ::-1] if flip else triangles


def shifted(points, *shift):
    return points + np.array(shift)


def shifted_surface(surface, *shift):
    return surface[0] + np.array(shift), surface[1]


def cube(*shift, seed=None):
    """A unit cube with twelve triangles, from a corner; turned about its middle at random if there is a seed."""
    return (CORNERS if seed is None else rotated(CORNERS, seed)) + np.array(shift or (0, 0, 0)), CUBE


def rotated(points, seed):
    """Points turned at random about their middle."""
    turn, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))
    turn *= np.sign(np.linalg.det(turn))
    return (points - points.mean(axis=0)) @ turn.T + points.mean(axis=0)


# ---- distances of many pairs at once; points (k, 3) each


def _dot(a, b):
    return np.einsum("...c,...c", a, b)


def point_segment(p, a, b):
    ab, length = b - a, _dot(b - a, b - a)
    t = np.clip(_dot(p - a, ab) / np.where(length > 0, length, 1), 0, 1)
    return np.linalg.norm(p - a - t[..., None] * ab, axis=-1)


def point_triangle(p, a, b, c):
    """Distance by the plane if the foot is on the inner side of all sides, else by the sides."""
    n = np.cross(b - a, c - a)
    size = _dot(n, n)
    inside = size > 0
    for start, end in ((a, b), (b, c), (c, a)):
        inside &= _dot(n, np.cross(end - start, p - start)) >= 0
    height = np.abs(_dot(n, p - a)) / np.sqrt(np.where(size > 0, size, 1))
    sides = np.minimum(np.minimum(point_segment(p, a, b), point_segment(p, b, c)), point_segment(p, c, a))
    return np.where(inside, height, sides)


def segment_segment(a, b, c, d):
    """Distance by the common normal if the lines cross inside both, seen along it, else by the ends."""
    n = np.cross(b - a, d - c)
    size = _dot(n, n)
    crossing = size > 1e-24 * _dot(b - a, b - a) * _dot(d - c, d - c)
    for start, end, first, last in ((a, b, c, d), (c, d, a, b)):
        across = np.cross(n, end - start)
        crossing &= _dot(across, first - start) * _dot(across, last - start) <= 0
    height = np.abs(_dot(n, a - c)) / np.sqrt(np.where(size > 0, size, 1))
    ends = [point_segment(a, c, d), point_segment(b, c, d), point_segment(c, a, b), point_segment(d, a, b)]
    return np.where(crossing, height, np.min(ends, axis=0))


def exact_point_triangle(points):
    """Distance of the first of four points to the triangle of the others, rounded once."""
    p, a, b, c = ([Fraction(float(number)) for number in point] for point in points)

    def minus(u, v):
        return [left - right for left, right in zip(u, v)]

    def dot(u, v):
        return sum(left * right for left, right in zip(u, v))

    def cross(u, v):
        return [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]]

    def to_segment(s, e):
        along, length = minus(e, s), dot(minus(e, s), minus(e, s))
        t = min(max(dot(minus(p, s), along) / length, 0), 1) if length else 0
        apart = [number - t * step for number, step in zip(minus(p, s), along)]
        return dot(apart, apart)

    n, sides = cross(minus(b, a), minus(c, a)), ((a, b), (b, c), (c, a))
    if any(n) and all(dot(n, cross(minus(e, s), minus(p, s))) >= 0 for s, e in sides):
        return np.sqrt(float(dot(n, minus(p, a)) ** 2 / dot(n, n)))
    return np.sqrt(float(min(to_segment(s, e) for s, e in sides)))


def triangle_triangle(s, t):
    """Distance of triangles (k, 3, 3) that do not pass through each other."""
    corners = [point_triangle(s[:, i], t[:, 0], t[:, 1], t[:, 2]) for i in range(3)]
    corners += [point_triangle(t[:, i], s[:, 0], s[:, 1], s[:, 2]) for i in range(3)]
    sides = itertools.product(range(3), range(3))
    edges = [segment_segment(s[:, i], s[:, (i + 1) % 3], t[:, j], t[:, (j + 1) % 3]) for i, j in sides]
    return np.min(corners + edges, axis=0)
