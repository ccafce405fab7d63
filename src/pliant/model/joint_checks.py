"""What a joint must not be, known only when its bodies are: refused by its name."""

import warnings

import numpy as np

from pliant.collide.shapes import bounding_radius
from pliant.errors import SceneError
from pliant.scene.bodies import Rigid, Soft
from pliant.scene.joint_options import world
from pliant.scene.joints import held_points

# How many times its body's size away an anchor is surely a slip of the pen. A point of the world may be farther from
# what hangs on it, as ropes are long, up to where rounding spoils what joints are exact to.
FAR, FAR_IN_THE_WORLD = 1e4, 1e6


def check_joint(joint) -> None:
    """A joint must hold on to something that moves, at points that are not absurdly far from it."""
    if joint.things and all(thing is world or getattr(thing, "static", False) for thing in joint.things):
        names = ", ".join(repr(thing.name) for thing in joint.things)
        raise SceneError(f"{joint.kind} joint {joint.name!r} holds only things that do not move: {names}")
    held = held_points(joint)
    bodies = [(np.array(point), *_extent(thing)) for thing, point in held if thing is not world]
    for point, centre, size in bodies:
        _check_far(joint, point, [centre], size, FAR)
    for point in (point for thing, point in held if thing is world and bodies):
        _check_far(joint, point, [own for own, *_ in bodies], max(size for *_, size in bodies), FAR_IN_THE_WORLD)


def _check_far(joint, point, places: list[np.ndarray], size: float, most: float) -> None:
    """A point of a joint must be within so many times a size [m] of one of several places."""
    away = min(float(np.linalg.norm(np.subtract(point, place))) for place in places)
    if away > most * size:
        raise SceneError(
            f"{joint.kind} joint {joint.name!r}: its point {tuple(float(c) for c in point)} is {away:.3g} m away from "
            f"what it holds, which is {size:.3g} m large; allowed are {most:.0e} times as much"
        )


def _extent(thing) -> tuple[np.ndarray, float]:
    """Where a body is and how large [m]."""
    if isinstance(thing, Soft):
        points = thing.nodes.positions
        return points.mean(axis=0), float(np.ptp(points, axis=0).max())
    if isinstance(thing, Rigid):
        return np.array(thing.position), bounding_radius(thing.shape, np.zeros(3))
    return np.zeros(3), np.inf


def warn_of_arms(scene) -> None:
    """Say which joints hold a point of a rod at a place farther from it than its part of the rod reaches."""
    numbered = {id(point): (rod, number) for rod in scene.rods for number, point in enumerate(rod)}
    if not numbered:
        return
    for joint in scene.joints:
        loose = [getattr(joint, side) for side in joint.LOOSE]
        for thing, place in held_points(joint):
            if id(thing) in numbered and not any(thing is other for other in loose):
                _warn_of_arm(joint, *numbered[id(thing)], np.array(place))


def _warn_of_arm(joint, rod, number: int, place: np.ndarray) -> None:
    away = np.linalg.norm(rod.places - place, axis=1)
    beside = rod.stretched * rod.lengths[np.any(rod.edges == number, axis=1)]
    if away[number] <= 0.5 * beside.max() + max(rod.section.extents):
        return
    nearest = int(np.argmin(away))
    told = (
        "no other point is nearer" if nearest == number else f"nearest is point {nearest}, {away[nearest]:.3g} m away"
    )
    warnings.warn(
        f"{joint.kind} joint {joint.name!r} holds point {number} of rod {rod.name!r} at a place that is "
        f"{away[number]:.3g} m away from it, as if by a rigid arm; {told}: hold the point that is there, or put the "
        f"place of the joint where the point is. An arm that is meant is a rigid body, welded to the point",
        stacklevel=2,
    )
