"""Rigid shapes for collision: integer codes, parameters, sizes."""

import numpy as np

from pliant.kernels.shapes import BOX, CAPSULE, CONE, CYLINDER, HULL, MESH, PLANE, SPHERE
from pliant.scene.shapes import Box, Capsule, Cone, Cylinder, Heightfield, Hull, Mesh, Plane, Sphere

CODES = {
    Sphere: SPHERE,
    Box: BOX,
    Capsule: CAPSULE,
    Cylinder: CYLINDER,
    Plane: PLANE,
    Mesh: MESH,
    Cone: CONE,
    Hull: HULL,
}
CODES[Heightfield] = MESH


def parameters(shape) -> tuple[float, float, float]:
    """Sphere: (radius, 0, 0); box: half sizes; capsule, cylinder, cone: (radius, half length, 0); plane: normal."""
    match shape:
        case Sphere():
            return (shape.radius, 0.0, 0.0)
        case Box():
            return tuple(s / 2 for s in shape.size)
        case Capsule() | Cylinder() | Cone():
            return (shape.radius, shape.length / 2, 0.0)
        case Plane():
            return shape.normal
        case _:
            return (0.0, 0.0, 0.0)


def bounding_radius(shape, centre: np.ndarray) -> float:
    """Radius [m] about the centre of mass (in the shape's frame) that holds the whole shape; infinite for a plane."""
    off = float(np.linalg.norm(centre))
    match shape:
        case Plane():
            return np.inf
        case Sphere():
            return shape.radius + off
        case Box():
            return float(np.linalg.norm(shape.size)) / 2 + off
        case Capsule():
            return shape.length / 2 + shape.radius + off
        case Cylinder():
            return float(np.hypot(shape.length / 2, shape.radius)) + off
        case Cone():
            return float(max(np.hypot(shape.radius, shape.length / 2 + centre[2]), shape.length / 2 - centre[2]))
        case _:
            return float(np.linalg.norm(shape.surface.points - centre, axis=1).max())


def code_of(shape) -> int:
    """The code of a shape in collisions."""
    return CODES[type(shape)]


def hull_points(shape) -> np.ndarray:
    """Points (k, 3) [m] of a convex hull in its shape's frame."""
    return shape.points
