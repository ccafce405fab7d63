"""Couplings, tendons and attached soft bodies as blocks of rows."""

from itertools import pairwise

import numpy as np

from pliant.collide.shapes import CODES, parameters
from pliant.errors import SceneError
from pliant.kernels import joints as rows
from pliant.kernels.device import HOST
from pliant.kernels.shapes import CONE, HULL, MESH
from pliant.model.anchors import Anchorer, nearest_face
from pliant.model.blocks import Block
from pliant.rotations import rotation_matrix
from pliant.scene.bodies import Rigid
from pliant.scene.couplings import Attach, Coupling, Tendon

# Nodes that far from a surface, relative to the size of their body, still touch it.
TOUCHING = 1e-6


def coupling_blocks(joint: Coupling, places: dict) -> list[Block]:
    """The row ratio first - second = 0; places: {(joint, coordinate): (kind, anchor a, anchor b, number)}."""
    one, two, ratio = joint.ties
    (kind, a, b, number), (other, c, d, second) = (places[id(own), name] for own, name in (one, two))
    coordinates = {"coordinate": (kind, other), "which": (number, second), "ratio": (ratio, -1.0)}
    return [Block(rows.COUPLING, a, b, more=[c, d], **coordinates)]


def tendon_blocks(joint: Tendon, anchor: Anchorer) -> list[Block]:
    """A rope through all points of the path."""
    points = [np.array(point) for _, point in joint.path]
    start = float(sum(np.linalg.norm(q - p) for p, q in pairwise(points)))
    if start < 1e-9:
        raise SceneError(f"tendon {joint.name!r} has a path of length zero")
    first, *between, last = (anchor(thing, point) for thing, point in joint.path)
    length = joint.length if isinstance(joint.length, float) else start
    moving = joint.length if callable(joint.length) else None
    elastic = {"compliance": 1 / joint.stiffness if joint.stiffness else 0.0, "damping": joint.damping}
    place = {"factor": (-1.0, 0.0, 0.0), "rest": (length, 0.0, 0.0), "moving": moving}
    return [Block(rows.ROPE, first, last, more=between, **place, **elastic)]


def attach_blocks(joint: Attach, anchor: Anchorer) -> list[Block]:
    """Every attached node like a ball joint."""
    points = joint.b.nodes.positions
    within = TOUCHING * float(np.ptp(points, axis=0).max()) if joint.within is None else joint.within
    if isinstance(joint.a, Rigid):
        nodes = np.flatnonzero(_shape_distances(joint, points) <= within)
    else:
        surface = np.unique(joint.b.mesh.boundary_triangles)
        nodes = np.array([node for node in surface if _distance_to(joint.a, points[node]) <= within], dtype=int)
    if not len(nodes):
        raise SceneError(
            f"attach {joint.name!r}: no node of {joint.b.name!r} lies in or on {joint.a.name!r}; move them together, "
            f"or give the distance `within` which nodes are attached"
        )
    return [Block(rows.BALL, anchor(joint.a, points[node]), anchor.node(joint.b, int(node))) for node in nodes]


def _shape_distances(joint: Attach, points: np.ndarray) -> np.ndarray:
    """Signed distances (n,) [m] of points from a rigid body's shape; negative inside."""
    body = joint.a
    code = CODES[type(body.shape)]
    if code in (MESH, CONE, HULL):
        raise SceneError(
            f"attach {joint.name!r}: {body.name!r} is a {type(body.shape).__name__}, whose inside is not known here; "
            f"select nodes of {joint.b.name!r} with pliant.Fixed(..., nodes=...)"
        )
    local = (points - np.array(body.position)) @ rotation_matrix(body.rotation)
    parameter = np.array(parameters(body.shape), dtype=float)
    distance = HOST.shapes.shape_distance
    return np.array([distance(code, parameter, tuple(point))[0] for point in local])


def _distance_to(soft, point: np.ndarray) -> float:
    """Distance [m] of a point from the surface of a soft body."""
    face, barycentric, _ = nearest_face(soft, point)
    inside = np.clip(barycentric, 0.0, None)
    return float(np.linalg.norm(inside / inside.sum() @ soft.nodes.positions[face] - point))
