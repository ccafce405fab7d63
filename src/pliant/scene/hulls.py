"""Convex hulls of points, as closed surfaces that face outward."""

import numpy as np

from pliant.checks import numbers
from pliant.errors import SceneError
from pliant.meshes import TriMesh
from pliant.meshes.orientation import orient_surface

FLAT = 1e-9
"""Points are flat when they leave a plane by less than this share of how far they reach."""


def convex_hull(points) -> TriMesh:
    """The hull of points (n, 3) [m]: its corners alone, in their order, and its triangles.

    The hull of these corners is the same again, to the last bit.
    """
    from scipy.spatial import ConvexHull, QhullError  # half a second that scenes without hulls need not wait for

    corners = _checked_points(points)
    try:
        hull = ConvexHull(corners)
        while len(hull.vertices) < len(corners):
            corners = corners[np.sort(hull.vertices)]
            hull = ConvexHull(corners)
    except QhullError as error:
        reason = str(error).strip().splitlines()[0]
        raise SceneError(f"hull points have no convex hull with a volume: {reason}") from None
    return TriMesh(corners, orient_surface(corners, hull.simplices.astype(np.int32)))


def _checked_points(points) -> np.ndarray:
    """At least four finite points that do not lie in a plane."""
    rule = "at least four points (n, 3) of finite numbers"
    array = numbers(points, "hull points", ((None, 3),), rule)
    if len(array) < 4:
        raise SceneError(f"hull points must be {rule}, got an array of shape {array.shape}")
    reach = np.linalg.svd(array - array.mean(axis=0), compute_uv=False)
    if reach[2] <= FLAT * reach[0]:
        raise SceneError(f"hull points must not all lie in a plane, got {len(array)} points that do")
    return array
