"""Rigid shapes for collision: integer codes, parameters, sample points, and which pairs can be handled."""

import numpy as np

from pliant.errors import SceneError
from pliant.kernels.shapes import BOX, CAPSULE, CYLINDER, MESH, PLANE, SPHERE
from pliant.scene.shapes import Box, Capsule, Cylinder, Mesh, Plane, Sphere

CODES = {Sphere: SPHERE, Box: BOX, Capsule: CAPSULE, Cylinder: CYLINDER, Plane: PLANE, Mesh: MESH}
RIM_POINTS = 16


def parameters(shape) -> tuple[float, float, float]:
    """Sphere: (radius, 0, 0); box: half sizes; capsule, cylinder: (radius, half length, 0); plane: normal."""
    match shape:
        case Sphere():
            return (shape.radius, 0.0, 0.0)
        case Box():
            return tuple(s / 2 for s in shape.size)
        case Capsule() | Cylinder():
            return (shape.radius, shape.length / 2, 0.0)
        case Plane():
            return shape.normal
        case _:
            return (0.0, 0.0, 0.0)


def sample_points(shape, centre: np.ndarray) -> tuple[np.ndarray, float]:
    """Points (k, 3) in the shape's frame about its centre of mass, and the radius around them, that meet planes."""
    match shape:
        case Sphere():
            return np.zeros((1, 3)), shape.radius
        case Box():
            signs = np.array([[i, j, k] for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)])
            return signs * np.array(shape.size) / 2, 0.0
        case Capsule():
            return np.array([[0, 0, -shape.length / 2], [0, 0, shape.length / 2]]), shape.radius
        case Cylinder():
            angle = 2 * np.pi * np.arange(RIM_POINTS) / RIM_POINTS
            rim = shape.radius * np.stack([np.cos(angle), np.sin(angle)], axis=1)
            ends = [np.column_stack([rim, np.full(RIM_POINTS, z)]) for z in (-shape.length / 2, shape.length / 2)]
            return np.concatenate(ends), 0.0
        case Mesh():
            return shape.surface.points - centre, 0.0
        case _:
            return np.zeros((0, 3)), 0.0


def bounding_radius(shape, centre: np.ndarray) -> float:
    """Radius about the centre of mass that holds the whole shape; infinite for a plane."""
    if isinstance(shape, Plane):
        return np.inf
    points, radius = sample_points(shape, centre)
    return float(np.linalg.norm(points, axis=1).max() + radius)


def pair_is_supported(a: int, b: int) -> bool:
    """Whether contact between two shape codes is available."""
    if PLANE in (a, b) or a == b == CAPSULE:
        return True
    return SPHERE in (a, b) and MESH not in (a, b)


def check_pairs(bodies: list, excluded: set[tuple[int, int]]) -> None:
    """Refuse, before the first step, pairs of rigid bodies whose contact is not available."""
    codes = [CODES[type(body.shape)] for body in bodies]
    risky = [i for i, body in enumerate(bodies) if body.collide and codes[i] in (BOX, CAPSULE, CYLINDER, MESH)]
    risky += [i for i, body in enumerate(bodies) if body.collide and codes[i] == SPHERE and MESH in codes]
    for position, i in enumerate(risky):
        for j in risky[position + 1 :]:
            both_static = bodies[i].static and bodies[j].static
            if both_static or (min(i, j), max(i, j)) in excluded or pair_is_supported(codes[i], codes[j]):
                continue
            one, two = (f"{type(bodies[k].shape).__name__} {bodies[k].name!r}" for k in (i, j))
            raise SceneError(
                f"contact between {one} and {two} is not available; available are planes with everything, spheres with "
                f"spheres, boxes, capsules and cylinders, capsules with capsules, and soft bodies with all but meshes. "
                f"Set collide=False on one of the two, or join them"
            )
