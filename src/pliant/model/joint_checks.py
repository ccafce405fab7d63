"""What a joint must not be, known only when its bodies are: refused by its name."""

import numpy as np

from pliant.collide.shapes import bounding_radius
from pliant.errors import SceneError
from pliant.scene.bodies import Rigid, Soft
from pliant.scene.joint_options import world
from pliant.scene.joints import held_points

# How many times its body's size away an anchor is surely a slip of the pen.
FAR = 1e4


def check_joint(joint) -> None:
    """A joint must hold on to something that moves, at points that are not absurdly far from it."""
    if joint.things and all(thing is world or getattr(thing, "static", False) for thing in joint.things):
        names = ", ".join(repr(thing.name) for thing in joint.things)
        raise SceneError(f"{joint.kind} joint {joint.name!r} holds only things that do not move: {names}")
    for thing, point in held_points(joint):
        centre, size = _extent(thing)
        away = float(np.linalg.norm(np.subtract(point, centre)))
        if away > FAR * size:
            raise SceneError(
                f"{joint.kind} joint {joint.name!r}: its point {tuple(point)} is {away:.3g} m away from "
                f"{thing.name!r}, which is {size:.3g} m large"
            )


def _extent(thing) -> tuple[np.ndarray, float]:
    """Where a body is and how large [m]; the world is everywhere."""
    if isinstance(thing, Soft):
        points = thing.nodes.positions
        return points.mean(axis=0), float(np.ptp(points, axis=0).max())
    if isinstance(thing, Rigid):
        return np.array(thing.position), bounding_radius(thing.shape, np.zeros(3))
    return np.zeros(3), np.inf
