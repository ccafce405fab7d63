"""Joints of a scene as blocks of rows: anchors on bodies, on faces of soft bodies, in the world."""

from dataclasses import fields

import numpy as np

from pliant.errors import SceneError
from pliant.rotations import axis_quaternion, conjugate, multiply_quaternions, rotation_matrix
from pliant.rows.joints import (
    ALIGN,
    ANGULAR,
    BALL,
    BODY,
    DISTANCE,
    EQUALITIES,
    FACE,
    LIMIT,
    MOTOR,
    POINTS,
    WORLD,
    Anchors,
    Drive,
    JointBlocks,
)
from pliant.scene.bodies import Rigid, Soft
from pliant.scene.joints import Ball, Distance, Fixed, Hinge, Motor, world
from pliant.scene.scene import Scene

NO_REST, NO_FRAME = (0.0, 0.0), (1.0, 0.0, 0.0, 0.0)


class _Anchorer:
    """Turns (thing, world point, world frame) into an anchor (kind, index (3,), local (3,), offset, frame (4,))."""

    def __init__(self, scene: Scene, node_start, body_position, body_rotation):
        self.node_start = node_start
        self.position, self.rotation = body_position, body_rotation
        self.soft_index = {id(body): i for i, body in enumerate(scene.soft_bodies)}
        self.rigid_index = {id(body): i for i, body in enumerate(scene.rigid_bodies)}

    def __call__(self, thing, point, frame=NO_FRAME):
        point = np.asarray(point, dtype=float)
        if thing is world:
            return WORLD, (0, 0, 0), point, 0.0, frame
        if isinstance(thing, Rigid):
            i = self.rigid_index[id(thing)]
            local = rotation_matrix(self.rotation[i]).T @ (point - self.position[i])
            return BODY, (i, 0, 0), local, 0.0, multiply_quaternions(conjugate(self.rotation[i]), frame)
        first = self.node_start[self.soft_index[id(thing)]]
        face, barycentric, offset = nearest_face(thing, point)
        return FACE, tuple(face + first), barycentric, offset, frame

    def node(self, soft: Soft, node: int):
        """An anchor that is one node of a soft body: a face of it with all the weight on that node."""
        first = self.node_start[self.soft_index[id(soft)]]
        others = soft.mesh.beside(node)
        return FACE, (node + first, others[0] + first, others[1] + first), np.array([1.0, 0.0, 0.0]), 0.0, NO_FRAME


def nearest_face(body: Soft, point: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """The boundary triangle nearest to a point: its nodes, barycentric coordinates (sum 1) and normal offset of the
    point [m]."""
    faces = body.mesh.boundary_triangles
    p0, p1, p2 = (body.nodes.positions[faces[:, i]] for i in range(3))
    e1, e2 = p1 - p0, p2 - p0
    n = np.cross(e1, e2)
    area2 = np.einsum("ij,ij->i", n, n)
    d = point - p0
    beta = np.einsum("ij,ij->i", np.cross(d, e2), n) / area2
    gamma = np.einsum("ij,ij->i", np.cross(e1, d), n) / area2
    barycentric = np.stack([1 - beta - gamma, beta, gamma], axis=1)
    inside = np.clip(barycentric, 0, None)
    inside /= inside.sum(axis=1, keepdims=True)
    nearest = inside[:, :1] * p0 + inside[:, 1:2] * p1 + inside[:, 2:] * p2
    best = int(np.argmin(np.linalg.norm(nearest - point, axis=1)))
    offset = float(d[best] @ n[best] / np.sqrt(area2[best]))
    return faces[best].astype(np.int64), barycentric[best], offset


def build_joints(scene: Scene, node_start, body_position, body_rotation, more: list[dict]) -> JointBlocks:
    """All joints of the scene as blocks of rows, and behind them `more` blocks: columns named as in JointBlocks."""
    anchor = _Anchorer(scene, node_start, body_position, body_rotation)
    blocks = [(j, *block) for j, joint in enumerate(scene.joints) for block in _blocks(joint, anchor)]
    joint = np.array([block[0] for block in blocks], dtype=np.int64)
    family = np.array([block[1] for block in blocks], dtype=np.int64)
    a, b = _columns([block[2] for block in blocks]), _columns([block[3] for block in blocks])
    rest = np.array([block[4] for block in blocks], dtype=float).reshape(-1, 2)
    options = [scene.joints[j] for j in joint]
    equality = np.isin(family, EQUALITIES)
    compliance = np.where(equality, [o.compliance for o in options], 0.0).astype(float)
    damping = np.where(equality, [o.damping for o in options], 0.0).astype(float)
    reach = np.where(np.isin(family, POINTS), np.maximum(_reach(scene, a), _reach(scene, b)), 1.0)
    reach[reach == 0] = 1.0
    columns = {"joint": joint, "family": family, "a": a, "b": b, "rest": rest}
    columns |= {"compliance": compliance, "damping": damping, "reach": reach}
    columns = _concatenate([columns, *more])
    drives = [_drive(k, options[k].motor) for k in np.flatnonzero(family == MOTOR)]
    return JointBlocks.laid_out(**columns, drives=drives)


def _drive(block: int, motor: Motor) -> Drive:
    """What drives a block of the family MOTOR."""
    gains = (motor.stiffness or 0.0, motor.damping)
    return Drive(int(block), motor.velocity, motor.position, *gains, motor.max_torque)


def _concatenate(parts: list[dict]) -> dict:
    """Columns of several families of blocks, one after the other."""
    if len(parts) == 1:
        return parts[0]

    def anchors(name: str) -> Anchors:
        sides = [part[name] for part in parts]
        return Anchors(*(np.concatenate([getattr(side, f.name) for side in sides]) for f in fields(Anchors)))

    plain = {name: np.concatenate([part[name] for part in parts]) for name in parts[0] if name not in ("a", "b")}
    return plain | {"a": anchors("a"), "b": anchors("b")}


def _reach(scene: Scene, anchors: Anchors) -> np.ndarray:
    """Length [m] by which gaps at an anchor are judged: the arm on a body, the size of a face."""
    arm = np.linalg.norm(anchors.local, axis=1) * (anchors.kind == BODY)
    if not (anchors.kind == FACE).any():
        return arm
    nodes = np.concatenate([body.nodes.positions for body in scene.soft_bodies])
    edge = np.linalg.norm(nodes[anchors.index[:, 1] % len(nodes)] - nodes[anchors.index[:, 0] % len(nodes)], axis=1)
    return np.where(anchors.kind == FACE, edge, arm)


def _columns(anchors) -> Anchors:
    return Anchors(
        np.array([anchor[0] for anchor in anchors], dtype=np.int64),
        np.array([anchor[1] for anchor in anchors], dtype=np.int64).reshape(-1, 3),
        np.array([anchor[2] for anchor in anchors], dtype=float).reshape(-1, 3),
        np.array([anchor[3] for anchor in anchors], dtype=float),
        np.array([anchor[4] for anchor in anchors], dtype=float).reshape(-1, 4),
    )


def _blocks(joint, anchor: _Anchorer):
    """The blocks (family, anchor a, anchor b, rest) of one joint."""
    match joint:
        case Ball():
            return [(BALL, anchor(joint.a, joint.at), anchor(joint.b, joint.at), NO_REST)]
        case Distance():
            length = joint.length or float(np.linalg.norm(np.subtract(joint.at[1], joint.at[0])))
            if length < 1e-9:
                raise SceneError(
                    f"distance joint {joint.name!r} has length zero; use a Ball joint to hold two points together"
                )
            return [(DISTANCE, anchor(joint.a, joint.at[0]), anchor(joint.b, joint.at[1]), (length, 0.0))]
        case Fixed() if isinstance(joint.a, Soft) or isinstance(joint.b, Soft):
            return _weld_nodes(joint, anchor)
        case Fixed():
            return _weld_bodies(joint, anchor)
        case Hinge():
            return _hinge(joint, anchor)
    raise SceneError(f"joint {joint.name!r} of type {type(joint).__name__} is not known to the model")


def _weld_bodies(joint: Fixed, anchor: _Anchorer):
    if joint.nodes is not None:
        raise SceneError(f"fixed joint {joint.name!r} selects nodes, but neither side is a soft body")
    a, b = anchor(joint.a, joint.at), anchor(joint.b, joint.at)
    return [(BALL, a, b, NO_REST), (ANGULAR, a, b, NO_REST)]


def _hinge(joint: Hinge, anchor: _Anchorer):
    """Points and axes held together; the angle about the axis, zero at the start, kept within limits and driven."""
    for side in (joint.a, joint.b):
        if isinstance(side, Soft):
            raise SceneError(
                f"hinge joint {joint.name!r}: soft body {side.name!r} has no axis of its own; a hinge holds rigid "
                f"bodies and pliant.world. Weld a rigid body to the soft one with pliant.Fixed and hinge that"
            )
    frame = axis_quaternion(joint.axis)
    a, b = anchor(joint.a, joint.at, frame), anchor(joint.b, joint.at, frame)
    blocks = [(BALL, a, b, NO_REST), (ALIGN, a, b, NO_REST)]
    if joint.limits is not None:
        blocks.append((LIMIT, a, b, joint.limits))
    if joint.motor is not None:
        blocks.append((MOTOR, a, b, NO_REST))
    return blocks


def _weld_nodes(joint: Fixed, anchor: _Anchorer):
    soft, other, soft_first = (joint.a, joint.b, True) if isinstance(joint.a, Soft) else (joint.b, joint.a, False)
    if joint.nodes is None:
        nodes = nearest_face(soft, np.array(joint.at))[0]
    else:
        nodes = soft.select(joint.nodes, f"fixed joint {joint.name!r}")
    blocks = []
    for node in nodes:
        own, opposite = anchor.node(soft, int(node)), anchor(other, soft.nodes.positions[node])
        a, b = (own, opposite) if soft_first else (opposite, own)
        blocks.append((BALL, a, b, NO_REST))
    return blocks
