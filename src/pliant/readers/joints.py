"""Coordinates of joints, the effort of their motors, the state of their limits."""

import numpy as np

from pliant.checks import shown
from pliant.errors import SceneError
from pliant.kernels.joints import LIMIT, MOTOR_ROW


def joint_position(model, state, joint: int, name: str | None) -> float:
    """A free coordinate [m or rad] of a joint, full turns counted."""
    return float(model.joints.free.at(state.pose)[coordinate_number(model, joint, name)])


def joint_rate(model, state, joint: int, name: str | None) -> float:
    """How fast a free coordinate of a joint changes [m/s or rad/s]."""
    number = coordinate_number(model, joint, name)
    return float(model.joints.free.rates(state.pose, state.velocity_triples())[number])


def motor_effort(model, state, joint: int, name: str | None, h: float) -> float:
    """Torque [N m] or force [N] of a joint's motor on side b in the last step."""
    blocks, number = model.joints, coordinate_number(model, joint, name)
    k = blocks.drives.block[drive_number(model, joint, number)]
    return float(state.impulses.joints[blocks.slice[k], MOTOR_ROW, blocks.lane[k]] / h)


def drive_number(model, joint: int, number: int) -> int:
    """Which of all drives has the motor of a free coordinate."""
    blocks, drives = model.joints, model.joints.drives
    for k, (block, velocity, position) in enumerate(zip(drives.block, drives.velocity, drives.position)):
        if blocks.joint[block] == joint and blocks.which[block, 0] == number and (velocity, position) != (None, None):
            return k
    raise SceneError(f"joint {model.joint_names[joint]!r} has no motor")


def limit_state(model, state, joint: int, name: str | None) -> str:
    """Which limit of a free coordinate carried load in the last step: "low", "high" or "free"."""
    blocks, number = model.joints, coordinate_number(model, joint, name)
    for k in np.flatnonzero((blocks.joint == joint) & (blocks.family == LIMIT)):
        if blocks.which[k, 0] == number:
            low, high = state.impulses.joints[blocks.slice[k], :2, blocks.lane[k]]
            return "low" if low > max(high, 0.0) else "high" if high > 0.0 else "free"
    raise SceneError(f"joint {model.joint_names[joint]!r} has no limits to its coordinate {name or ''}".rstrip())


def coordinate_number(model, joint: int, name: str | None) -> int:
    """Which of all free coordinates is meant; without a name, the only one of a joint."""
    free = model.joints.free
    own = {free.name[k]: int(k) for k in np.flatnonzero(free.joint == joint)}
    known = model.joint_names[joint]
    if not own:
        raise SceneError(f"joint {known!r} has no free coordinate to read; a hinge has its angle, a slider its travel")
    if name is None and len(own) > 1:
        raise SceneError(f"joint {known!r} has several coordinates, name one of {', '.join(own)}")
    if name is not None and (not isinstance(name, str) or name not in own):
        raise SceneError(f"joint {known!r} has no coordinate {shown(name)}, but {', '.join(own)}")
    return next(iter(own.values())) if name is None else own[name]
