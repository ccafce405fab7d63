"""Triangulated surfaces: their vertices and edges, and which triangles meet there."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class SurfaceIndex:
    """Triangles (m, 3) over n points, and what they are made of, in fixed order.

    vertices (v,): points that triangles use, ascending. edges (e, 2): unique, (low, high), sorted. triangle_edges
    (m, 3): edges from corner 0 to 1, 1 to 2, 2 to 0; -1 where a triangle has the same corner twice. Triangles at point
    i: vertex_triangles[vertex_start[i] : vertex_start[i + 1]], ascending; at an edge likewise.

    A segment of a rod is the triangle (i, j, j).
    """

    triangles: np.ndarray
    edges: np.ndarray
    vertices: np.ndarray
    triangle_edges: np.ndarray
    vertex_start: np.ndarray
    vertex_triangles: np.ndarray
    edge_start: np.ndarray
    edge_triangles: np.ndarray


def index_surface(triangles: np.ndarray, points: int) -> SurfaceIndex:
    """The index of triangles (m, 3) over that many points; triangles of several bodies may follow each other."""
    triangles = np.array(triangles, np.int64).reshape(-1, 3)
    ends = np.sort(np.stack([triangles, np.roll(triangles, -1, axis=1)], axis=2), axis=2)
    code = ends[..., 0] * np.int64(points) + ends[..., 1]
    real = ends[..., 0] != ends[..., 1]
    unique, place = np.unique(code[real], return_inverse=True)
    edges = np.column_stack(np.divmod(unique, max(points, 1))).astype(np.int64)
    triangle_edges = np.full(triangles.shape, -1, np.int64)
    triangle_edges[real] = place
    return SurfaceIndex(
        triangles,
        edges,
        np.unique(triangles),
        triangle_edges,
        *_triangles_at(triangles, points),
        *_triangles_at(triangle_edges, len(edges)),
    )


def _triangles_at(parts: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """start (count + 1,) and triangles: which rows of parts (m, 3) name a part; -1 names none, twice counts once."""
    rows = np.repeat(np.arange(len(parts)), 3)
    pairs = np.unique(np.column_stack([parts.ravel(), rows]), axis=0)
    pairs = pairs[pairs[:, 0] >= 0]
    start = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(pairs[:, 0], minlength=count), out=start[1:])
    return start, np.ascontiguousarray(pairs[:, 1])
