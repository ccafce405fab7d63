"""Convex polyhedra for collision: hulls of points with flat faces as polygons, and their cores, as flat arrays."""

import numpy as np
from scipy.spatial import ConvexHull, HalfspaceIntersection, QhullError, cKDTree

from pliant.errors import SceneError
from pliant.kernels.collide import Hulls
from pliant.kernels.shapes import BOX, CONE, CYLINDER

# Part of the largest inner ball's radius by which cores are shrunk.
MARGIN = 0.01
# Vertices this close to a facet's plane, relative to the size, are of its face.
COPLANAR = 1e-7


def sharp_margin(code: int, parameter) -> float:
    """Margin [m] of the core of a box, cylinder or cone; zero for other shapes (a hull's is found with its core)."""
    if code == BOX:
        return MARGIN * min(parameter[:3])
    if code == CYLINDER:
        return MARGIN * min(parameter[:2])
    if code == CONE:
        radius, height = parameter[0], 2 * parameter[1]
        return MARGIN * radius * height / (radius + np.hypot(radius, height))
    return 0.0


def build_hulls(clouds: list[np.ndarray], share: float = MARGIN) -> tuple[Hulls, np.ndarray]:
    """Hulls of clouds of points (k, 3) [m], each in its shape's frame, and the margin (h,) [m] of each core; share: of
    the radius of the largest ball inside."""
    parts = [_hull(np.asarray(points, float), share) for points in clouds]
    points, vertex_range, core_range, face_range, margins, overhangs = [], [], [], [], [], []
    corners, sizes, normals, row = [], [], [], 0
    for vertices, core, faces, face_normals, margin in parts:
        vertex_range.append((row, row + len(vertices)))
        core_range.append((row + len(vertices), row + len(vertices) + len(core)))
        face_range.append((len(sizes), len(sizes) + len(faces)))
        corners += [row + face for face in faces]
        sizes += [len(face) for face in faces]
        normals.append(face_normals)
        points += [vertices, core]
        margins.append(margin)
        overhangs.append(cKDTree(core).query(vertices)[0].max())
        row = core_range[-1][1]
    hulls = Hulls(
        np.concatenate([*points, np.zeros((0, 3))]),
        *(np.array(table, np.int64).reshape(-1, 2) for table in (vertex_range, core_range, face_range)),
        np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]).astype(np.int64),
        np.concatenate([*corners, np.zeros(0, np.int64)]).astype(np.int64),
        np.concatenate([*normals, np.zeros((0, 3))]),
        np.array(overhangs, float),
    )
    return hulls, np.array(margins, float)


def _hull(points: np.ndarray, share: float):
    """Vertices, core vertices, faces as rings of vertices, their normals, and the core's margin."""
    try:
        hull = ConvexHull(points)
    except (QhullError, ValueError) as error:
        message = f"a convex hull needs at least four points that are not in one plane, got {len(points)}"
        raise SceneError(message) from error
    vertices = points[hull.vertices]
    size = np.ptp(vertices, axis=0).max()
    planes = _distinct(hull.equations, vertices, COPLANAR * size)
    faces = [_ring(vertices, plane, COPLANAR * size) for plane in planes]
    centre, radius = _inner_ball(planes)
    margin = share * radius
    offset = planes.copy()
    offset[:, 3] += margin
    core = HalfspaceIntersection(offset, centre).intersections
    core = core[np.unique(np.round((core - centre) / (1e-9 * size)), axis=0, return_index=True)[1]]
    return vertices, core, faces, planes[:, :3], margin


def _distinct(equations: np.ndarray, vertices: np.ndarray, tolerance: float) -> np.ndarray:
    """Planes (f, 4), one for all facets that lie on the same vertices."""
    kept, known = [], set()
    for plane in equations:
        on = tuple(np.flatnonzero(np.abs(vertices @ plane[:3] + plane[3]) <= tolerance))
        if on not in known:
            known.add(on)
            kept.append(plane)
    return np.array(kept)


def _ring(vertices: np.ndarray, plane: np.ndarray, tolerance: float) -> np.ndarray:
    """Vertices on a plane, counterclockwise seen from outside."""
    on = np.flatnonzero(np.abs(vertices @ plane[:3] + plane[3]) <= tolerance)
    normal = plane[:3]
    arms = vertices[on] - vertices[on].mean(axis=0)
    first = arms[np.argmax(np.linalg.norm(arms, axis=1))]
    return on[np.argsort(np.arctan2(arms @ np.cross(normal, first), arms @ first), kind="stable")]


def _inner_ball(planes: np.ndarray) -> tuple[np.ndarray, float]:
    """Centre and radius of the largest ball inside planes n x + d <= 0 with unit normals."""
    from scipy.optimize import linprog  # takes a third of a second to load, and few scenes have hulls

    size = np.abs(planes[:, 3]).max() or 1.0
    rows = np.column_stack([planes[:, :3], np.ones(len(planes))])
    answer = linprog([0, 0, 0, -1], A_ub=rows, b_ub=-planes[:, 3] / size, bounds=[(None, None)] * 3 + [(0, None)])
    return answer.x[:3] * size, answer.x[3] * size
