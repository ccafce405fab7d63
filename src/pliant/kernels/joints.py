"""Codes and arrays of joints, as compiled loops of any device see them."""

from typing import NamedTuple

import numpy as np

# What an anchor holds on to.
WORLD, BODY, FACE, NODE = 0, 1, 2, 3
# Coordinates: an angle about the z axis of side a, travel along it, the length of a path through all anchors; of a ball
# joint the angle between z axes, and the turn about them.
ANGLE, TRAVEL, LENGTH, SWING, TWIST = range(5)
# Families of blocks. Held together: points, orientations, a distance, axes; a point on a line or in a plane; axes
# perpendicular; two coordinates in a ratio. Kept on one side: a coordinate within limits, a distance by a rope. Driven:
# a coordinate. Nothing: a joint that broke.
BALL, ANGULAR, DISTANCE, ALIGN, LIMIT, MOTOR, LINE, PLANE, PERPENDICULAR, ROPE, COUPLING = range(11)
BROKEN = -1
# Roles of blocks: met whatever it takes, kept on one side, or driven with a bounded force. (Contacts are rows of their
# own.) A block's family says which it has.
EQUALITY, BOUNDED = 0, 1
ROLE = dict.fromkeys((BALL, ANGULAR, DISTANCE, ALIGN, LINE, PLANE, PERPENDICULAR, COUPLING), EQUALITY)
ROLE |= dict.fromkeys((LIMIT, MOTOR, ROPE), BOUNDED)
EQUALITIES = tuple(family for family, role in ROLE.items() if role == EQUALITY)
# Families that push one way.
ONE_SIDED = (LIMIT, ROPE)
# Families whose forces act at their anchors; those on a coordinate do if it is one of the following.
POINTS, ON_COORDINATES, POINT_COORDINATES = (BALL, DISTANCE, LINE, PLANE, ROPE), (LIMIT, MOTOR), (TRAVEL, LENGTH)
# Families between two anchors that need no stiffness across their rows.
PLAIN = (BALL, ANGULAR, ALIGN, LINE, PLANE, PERPENDICULAR, LIMIT, MOTOR)

# The rows of a driven coordinate, and what its motor goes for.
MOTOR_ROW, FRICTION_ROW, SPRING_ROW = 0, 1, 2
NO_MOTOR, TO_VELOCITY, TO_POSITION = 0, 1, 2


class AnchorArrays(NamedTuple):
    """One anchor for each of n blocks, as rows.joints.Anchors describes them; held: its `index` (which is the name of a
    method of tuples)."""

    kind: np.ndarray
    held: np.ndarray
    local: np.ndarray
    offset: np.ndarray
    frame: np.ndarray


class CoordinateArrays(NamedTuple):
    """The free coordinates of all joints: the kind of each, and its anchors."""

    kind: np.ndarray
    a: AnchorArrays
    b: AnchorArrays


class RowArrays(NamedTuple):
    """Of the arrays of all blocks those that say what their rows are, without anchors: less to take from
    Python."""

    family: np.ndarray
    more_start: np.ndarray
    factor: np.ndarray
    rest: np.ndarray
    slice: np.ndarray
    lane: np.ndarray


class JointArrays(NamedTuple):
    """The constant arrays of all blocks (n of them), as rows.joints.JointBlocks describes them."""

    family: np.ndarray
    a: AnchorArrays
    b: AnchorArrays
    more: AnchorArrays
    more_start: np.ndarray
    coordinate: np.ndarray
    which: np.ndarray
    ratio: np.ndarray
    factor: np.ndarray
    rest: np.ndarray
    start: np.ndarray
    slice: np.ndarray
    lane: np.ndarray

    @property
    def rows(self) -> RowArrays:
        """Those of them."""
        return RowArrays(self.family, self.more_start, self.factor, self.rest, self.slice, self.lane)


class DriveArrays(NamedTuple):
    """What drives m coordinates, as rows.drives.Drives describes it; kind (m,): NO_MOTOR, TO_VELOCITY, TO_POSITION;
    relentless (m,) bool: a motor that keeps its velocity whatever it takes."""

    block: np.ndarray
    row: np.ndarray
    kind: np.ndarray
    relentless: np.ndarray
    stiffness: np.ndarray
    damping: np.ndarray
    bound: np.ndarray
    friction: np.ndarray
    spring: np.ndarray
    spring_damping: np.ndarray
    spring_rest: np.ndarray
