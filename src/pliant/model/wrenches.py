"""Forces and torques of joints, from the impulses of the last step; which joints break by them."""

import numpy as np

from pliant.errors import SceneError
from pliant.kernels.joints import BODY, BROKEN, COUPLING, WORLD
from pliant.model.places import anchor_position
from pliant.rows import joints as joint_rows
from pliant.rows.joints import POINT_WIDTH, TURN_WIDTH, JointBlocks
from pliant.rows.table import Rows


def joint_wrench(model, state, joint: int, h: float) -> tuple[np.ndarray, np.ndarray]:
    """Force [N] and torque [N m] (3,), world axes, of a joint on its side b at its point there, in a step of length h.

    Of a joint of many blocks, as a weld of nodes, the sum, with torques about the point of the first.
    """
    blocks = model.during(state, state.time).joints
    if np.any((blocks.joint == joint) & (blocks.family == COUPLING)):
        name = model.joint_names[joint]
        raise SceneError(f"{name!r} is a coupling, whose forces act in the joints it ties; read the reactions of these")
    rows = Rows.empty(blocks.start)
    joint_rows.fill(blocks, rows, state.pose, h)
    force, torque, place = np.zeros(3), np.zeros(3), None
    for k in np.flatnonzero((blocks.joint == joint) & (blocks.family != BROKEN)):
        own_force, own_torque, point = _block_wrench(blocks, rows, state, int(k))
        place = point if place is None else place
        force += own_force
        torque += own_torque + np.cross(point - place, own_force)
    return force / h, torque / h


def _block_wrench(blocks: JointBlocks, rows: Rows, state, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Impulse [N s] and its moment [N m s] of a block on side b about its point there, and that point."""
    on_points = k in blocks.points
    width = POINT_WIDTH if on_points else TURN_WIDTH
    between = blocks.more.kind[blocks.more_start[k] : blocks.more_start[k + 1]]
    s, lane = blocks.slice[k], blocks.lane[k]
    first = rows.start[s]
    offset = int(width[blocks.a.kind[k]] + POINT_WIDTH[between].sum())
    sides = ((blocks.b, first + offset, 1.0), (blocks.a, first, -1.0))
    anchors, entry, sign = next(side for side in sides if side[0].kind[k] != WORLD)
    impulse = state.impulses.joints[s, :, lane]
    count = int(width[anchors.kind[k]])
    parts = [rows.jacobian[entry + e, :, lane].reshape(3, 3).T @ impulse for e in range(count)]
    point = anchor_position(anchors, k, state)
    if anchors.kind[k] == BODY:
        arm = point - state.body_position[anchors.index[k, 0]]
        linear = parts[0] if on_points else np.zeros(3)
        return sign * linear, sign * (parts[-1] - np.cross(arm, linear)), point
    nodes = state.x[rows.triples[entry : entry + count, lane]]
    moment = sum(np.cross(node - point, part) for node, part in zip(nodes, parts))
    return sign * np.sum(parts, axis=0), sign * moment, point


def broken_blocks(model, state, h: float) -> np.ndarray:
    """Which blocks (n,) are broken after a step of length h, whose impulses the state holds: all of a joint whose force
    or torque is too large; of an attached body those of the nodes that are torn off."""
    broken, blocks = state.broken, model.joints
    for joint, (most_force, most_torque, apart) in model.fragile.items():
        own = (blocks.joint == joint) & ~broken
        if apart:
            own &= np.linalg.norm(state.impulses.joints[blocks.slice, :, blocks.lane], axis=1) > h * most_force
        else:
            force, torque = joint_wrench(model, state, joint, h)
            own &= bool(np.linalg.norm(force) > most_force or np.linalg.norm(torque) > most_torque)
        broken = broken | own
    return broken
