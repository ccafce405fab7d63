"""Coordinates of joints, and the effort of their motors."""

import numpy as np

from pliant.errors import SceneError
from pliant.rotations import multiply_quaternions, rotation_matrix
from pliant.rows.joints import ALIGN, BODY, LIMIT, MOTOR


def joint_angle(model, state, joint: int) -> float:
    """Angle [rad] of a hinge within half a turn of 0, or of the middle of its limits."""
    blocks, k = model.joints, _hinge(model, joint)
    a, b = (_frame(side, state, k) for side in (blocks.a, blocks.b))
    limits = np.flatnonzero((blocks.joint == joint) & (blocks.family == LIMIT))
    middle = float(blocks.rest[limits[0]].mean()) if len(limits) else 0.0
    angle = np.arctan2(b[:, 0] @ a[:, 1], b[:, 0] @ a[:, 0]) - middle
    return float(middle + angle - 2 * np.pi * np.round(angle / (2 * np.pi)))


def joint_rate(model, state, joint: int) -> float:
    """Angular velocity [rad/s] of side b of a hinge against side a, about its axis."""
    blocks, k = model.joints, _hinge(model, joint)
    axis, rate = _frame(blocks.a, state, k)[:, 2], np.zeros(3)
    for side, sign in ((blocks.a, -1.0), (blocks.b, 1.0)):
        if side.kind[k] == BODY:
            rate += sign * state.body_angular_velocity[side.index[k, 0]]
    return float(axis @ rate)


def motor_effort(model, state, joint: int, h: float) -> float:
    """Torque [N m] of a joint's motor on side b in the last step."""
    blocks = model.joints
    motors = np.flatnonzero((blocks.joint == joint) & (blocks.family == MOTOR))
    if not len(motors):
        raise SceneError(f"joint {model.joint_names[joint]!r} has no motor")
    return float(state.impulses.joints[blocks.slice[motors[0]], 0, blocks.lane[motors[0]]] / h)


def _hinge(model, joint: int) -> int:
    """The block that holds the axes of a hinge together."""
    found = np.flatnonzero((model.joints.joint == joint) & (model.joints.family == ALIGN))
    if not len(found):
        raise SceneError(f"joint {model.joint_names[joint]!r} has no free coordinate to read; a hinge has its angle")
    return int(found[0])


def _frame(side, state, k: int) -> np.ndarray:
    """Axes (3, 3), in columns, of the joint's frame on one side."""
    if side.kind[k] != BODY:
        return rotation_matrix(side.frame[k])
    return rotation_matrix(multiply_quaternions(state.body_rotation[side.index[k, 0]], side.frame[k]))
