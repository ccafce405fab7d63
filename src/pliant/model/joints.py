"""Joints of a scene as blocks of rows."""

import numpy as np

from pliant.errors import SceneError, about
from pliant.kernels import joints as rows
from pliant.kernels.device import Device
from pliant.kernels.joints import BODY, EQUALITIES, FACE
from pliant.model.anchors import Anchorer, nearest_face
from pliant.model.blocks import Block
from pliant.model.couplings import attach_blocks, coupling_blocks, tendon_blocks
from pliant.model.joint_checks import check_joint, warn_of_arms
from pliant.rotations import axis_quaternion, matrix_quaternion, rotation_matrix
from pliant.rows.drives import Drives
from pliant.rows.joints import Anchors, FreeCoordinates, JointBlocks
from pliant.scene.bodies import Soft
from pliant.scene.coordinates import Coordinate
from pliant.scene.couplings import Attach, Coupling, Tendon
from pliant.scene.joints import (
    Ball,
    Cylindrical,
    Distance,
    Fixed,
    Hinge,
    OnLine,
    OnPlane,
    Planar,
    Rope,
    Slider,
    Spring,
    Torsion,
    Universal,
)
from pliant.scene.scene import Scene


def build_joints(
    device: Device, scene: Scene, node_start, body_position, body_rotation, more: list[dict]
) -> JointBlocks:
    """All joints of the scene as blocks of rows, and behind them `more` blocks: columns named as in JointBlocks."""
    for joint in scene.joints:
        with about(joint):
            check_joint(joint)
    warn_of_arms(scene)
    anchor = Anchorer(scene, node_start, body_position, body_rotation)
    free, places = _free_coordinates(device, scene, anchor)
    pairs = []
    for j, joint in enumerate(scene.joints):
        with about(joint):
            pairs += [(j, block) for block in _blocks(joint, anchor, places)]
    numbers, blocks = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    columns = _joint_columns(scene, numbers, blocks)
    columns = _concatenate([columns, *(_of_elements(part) for part in more)])
    further = [a for block in blocks for a in block.more]
    counts = [len(block.more) for block in blocks] + [0] * (len(columns["family"]) - len(blocks))
    columns["more"] = _columns(further)
    columns["more_start"] = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    moving = [(k, block.moving, -block.factor[0]) for k, block in enumerate(blocks) if block.moving is not None]
    return JointBlocks.laid_out(device=device, **columns, free=free, drives=_drives(blocks), moving=moving)


def _free_coordinates(device: Device, scene: Scene, anchor: Anchorer) -> tuple[FreeCoordinates, dict]:
    """The free coordinates of all joints; and {(joint, name): (kind, anchor a, anchor b, number)}."""
    joint, name, kind, a, b, places = [], [], [], [], [], {}
    for j, own in enumerate(scene.joints):
        with about(own):
            found = _free(own, anchor)
        for label, (of_kind, one, two) in found.items():
            places[id(own), label] = (of_kind, one, two, len(joint))
            joint.append(j)
            name.append(label)
            kind.append(of_kind)
            a.append(one)
            b.append(two)
    numbers = [np.array(values, dtype=np.int64) for values in (joint, kind)]
    return FreeCoordinates(device, numbers[0], name, numbers[1], _columns(a), _columns(b)), places


def _joint_columns(scene: Scene, numbers: list[int], blocks: list[Block]) -> dict:
    """The columns of the blocks of all joints."""
    options = [scene.joints[j] for j in numbers]
    family = np.array([block.family for block in blocks], dtype=np.int64)
    a, b = _columns([block.a for block in blocks]), _columns([block.b for block in blocks])
    equality = np.isin(family, EQUALITIES)

    def own(name: str, block: Block, joint, held: bool) -> float:
        if block.compliance is not None:
            return getattr(block, name)
        return getattr(joint, name) if held else 0.0

    triples = list(zip(blocks, options, equality))
    reach = np.maximum(_reach(scene, a), _reach(scene, b))
    columns = {
        "joint": np.array(numbers, dtype=np.int64),
        "family": family,
        "a": a,
        "b": b,
        "coordinate": np.array([block.coordinate for block in blocks], dtype=np.int64).reshape(-1, 2),
        "which": np.array([block.which for block in blocks], dtype=np.int64).reshape(-1, 2),
        "ratio": np.array([block.ratio for block in blocks], dtype=float).reshape(-1, 2),
        "factor": np.array([block.factor for block in blocks], dtype=float).reshape(-1, 3),
        "rest": np.array([block.rest for block in blocks], dtype=float).reshape(-1, 3),
        "compliance": np.array([own("compliance", *entry) for entry in triples], dtype=float),
        "damping": np.array([own("damping", *entry) for entry in triples], dtype=float),
        "restitution": np.array([block.restitution for block in blocks], dtype=float),
    }
    on_points = np.isin(family, rows.POINTS) | np.isin(columns["coordinate"][:, 0], rows.POINT_COORDINATES)
    columns["reach"] = np.where(on_points, np.where(reach > 0, reach, 1.0), 1.0)
    return columns


def _of_elements(part: dict) -> dict:
    """Columns of elements that are rows, completed."""
    count = len(part["family"])
    pairs = {"coordinate": np.zeros((count, 2), np.int64), "which": np.zeros((count, 2), np.int64)}
    pairs["ratio"] = np.zeros((count, 2))
    return pairs | {"restitution": np.zeros(count)} | part


def _drives(blocks: list[Block]) -> Drives:
    """What drives the blocks of the family MOTOR."""
    driven = [(k, block.drive) for k, block in enumerate(blocks) if block.drive is not None]
    motors = [free.motor for _, free in driven]
    gains = [[getattr(motor, name) or 0.0 if motor else 0.0 for motor in motors] for name in ("stiffness", "damping")]
    return Drives(
        np.array([k for k, _ in driven], dtype=np.int64),
        np.array([int(np.flatnonzero(blocks[k].factor)[0]) for k, _ in driven], dtype=np.int64),
        [motor.velocity if motor else None for motor in motors],
        [motor.position if motor else None for motor in motors],
        *(np.array(gain, dtype=float) for gain in gains),
        np.array([motor.max_torque if motor else 0.0 for motor in motors], dtype=float),
        *(
            np.array([getattr(free, name) for _, free in driven], dtype=float)
            for name in ("friction", "stiffness", "damping", "rest")
        ),
    )


def _concatenate(parts: list[dict]) -> dict:
    """Columns of several families of blocks, one after the other."""
    if len(parts) == 1:
        return parts[0]
    plain = {name: np.concatenate([part[name] for part in parts]) for name in parts[0] if name not in ("a", "b")}
    return plain | {name: Anchors.joined([part[name] for part in parts]) for name in ("a", "b")}


def _reach(scene: Scene, anchors: Anchors) -> np.ndarray:
    """Length [m] by which gaps at an anchor are judged: the arm on a body, a segment of a rod, the size of a face."""
    arm = np.linalg.norm(anchors.local, axis=1) * (anchors.kind == BODY)
    if scene.rods:
        least = np.zeros(len(scene.rigid_bodies)).tolist()
        least += [float(rod.lengths.mean()) for rod in scene.rods for _ in rod]
        arm = np.where(anchors.kind == BODY, np.maximum(arm, np.array(least)[anchors.index[:, 0] % len(least)]), arm)
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


def _blocks(joint, anchor: Anchorer, places: dict) -> list[Block]:
    """The blocks of one joint; places: of free coordinates, see `_free_coordinates`."""
    match joint:
        case Coupling():
            return coupling_blocks(joint, places)
        case Ball():
            return _ball(joint, anchor, places)
        case Distance() | Rope() | Spring():
            return _between(joint, anchor)
        case Fixed() if isinstance(joint.a, Soft) or isinstance(joint.b, Soft):
            return _weld_nodes(joint, anchor)
        case Fixed():
            return _weld_bodies(joint, anchor)
        case Hinge() | Slider() | Cylindrical() | OnLine() | OnPlane() | Torsion():
            return _on_axis(joint, anchor, places)
        case Universal():
            return _universal(joint, anchor, places)
        case Planar():
            return _planar(joint, anchor, places)
        case Tendon():
            return tendon_blocks(joint, anchor)
        case Attach():
            return attach_blocks(joint, anchor)
    raise SceneError(f"joint {joint.name!r} of type {type(joint).__name__} is not known to the model")


def _sides(joint, anchor: Anchorer, frame) -> tuple[tuple, tuple]:
    return anchor(joint.a, joint.at, frame), anchor(joint.b, joint.at, frame)


def _ball(joint: Ball, anchor: Anchorer, places: dict) -> list[Block]:
    a, b = _sides(joint, anchor, axis_quaternion(joint.axis))
    blocks = [Block(rows.BALL, a, b)]
    if joint.swing is not None:
        limit = {"factor": (0.0, -1.0, 0.0), "rest": (0.0, joint.swing, 0.0)}
        limit["which"] = (places[id(joint), "swing"][-1], 0)
        blocks.append(Block(rows.LIMIT, a, b, coordinate=(rows.SWING, 0), **limit))
    if joint.twist is not None:
        number = places[id(joint), "twist"][-1]
        blocks.append(_limit(a, b, rows.TWIST, number, Coordinate(limits=joint.twist)))
    return blocks


def _between(joint, anchor: Anchorer) -> list[Block]:
    """A rod, rope or spring between two points."""
    length = joint.length or float(np.linalg.norm(np.subtract(joint.at[1], joint.at[0])))
    if length < 1e-9:
        raise SceneError(
            f"{joint.kind} joint {joint.name!r} has length zero; use a Ball joint to hold two points together"
        )
    a, b = anchor(joint.a, joint.at[0]), anchor(joint.b, joint.at[1])
    if isinstance(joint, Rope):
        elastic = {"compliance": joint.compliance, "damping": joint.damping}
        return [Block(rows.ROPE, a, b, factor=(-1.0, 0.0, 0.0), rest=(length, 0.0, 0.0), **elastic)]
    if isinstance(joint, Spring) and not joint.stiffness:
        return [_drive(a, b, rows.LENGTH, 0, Coordinate(damping=joint.damping))]
    own = {"compliance": 1 / joint.stiffness, "damping": joint.damping} if isinstance(joint, Spring) else {}
    return [Block(rows.DISTANCE, a, b, factor=(1.0, 0.0, 0.0), rest=(-length, 0.0, 0.0), **own)]


# what joints with one axis hold, and the kinds of their coordinates by name
HELD = {
    Hinge: (rows.BALL, rows.ALIGN),
    Slider: (rows.LINE, rows.ANGULAR),
    Cylindrical: (rows.LINE, rows.ALIGN),
    OnLine: (rows.LINE,),
    OnPlane: (rows.PLANE,),
    Torsion: (),
}
KINDS = {"angle": rows.ANGLE, "travel": rows.TRAVEL}


def _on_axis(joint, anchor: Anchorer, places: dict) -> list[Block]:
    """Joints of one axis: what they hold, and what their coordinates along and about it have."""
    a, b = _sides(joint, anchor, axis_quaternion(joint.axis))
    return [Block(family, a, b) for family in HELD[type(joint)]] + _coordinates(joint, places)


def _universal(joint: Universal, anchor: Anchorer, places: dict) -> list[Block]:
    a, b = _sides(joint, anchor, _frame(np.array(joint.second_axis), np.array(joint.axis)))
    return [Block(rows.BALL, a, b), Block(rows.PERPENDICULAR, a, b), *_coordinates(joint, places)]


def _planar(joint: Planar, anchor: Anchorer, places: dict) -> list[Block]:
    a, b = _sides(joint, anchor, axis_quaternion(joint.axis))
    return [Block(rows.PLANE, a, b), Block(rows.ALIGN, a, b), *_coordinates(joint, places)]


def _free(joint, anchor: Anchorer) -> dict[str, tuple]:
    """(kind, anchor a, anchor b) of every free coordinate of a joint, by its name."""
    if isinstance(joint, Universal):
        z, x = np.array(joint.axis), np.array(joint.second_axis)
        # the second angle is that of side a about the second axis of b, seen from there
        seen_a, seen_b = _sides(joint, anchor, _frame(z, -x))
        first = (rows.ANGLE, *_sides(joint, anchor, _frame(x, z)))
        return {"first": first, "second": (rows.ANGLE, seen_b, seen_a)}
    if isinstance(joint, Planar):
        z = np.array(joint.axis)
        x = np.array(joint.along) if joint.along else rotation_matrix(axis_quaternion(joint.axis))[:, 0]
        ways = {"first": x, "second": np.cross(z, x)}
        free = {n: (rows.TRAVEL, *_sides(joint, anchor, axis_quaternion(way))) for n, way in ways.items()}
        return free | {"angle": (rows.ANGLE, *_sides(joint, anchor, axis_quaternion(z)))}
    if isinstance(joint, Ball):
        sides, limited = (
            _sides(joint, anchor, axis_quaternion(joint.axis)),
            {"swing": joint.swing, "twist": joint.twist},
        )
        kinds = {"swing": rows.SWING, "twist": rows.TWIST}
        return {name: (kinds[name], *sides) for name, limits in limited.items() if limits is not None}
    if not joint.coordinates:
        return {}
    sides = _sides(joint, anchor, axis_quaternion(joint.axis))
    # where nothing holds axes together, what tilts by a right angle still has a twist
    kinds = KINDS | ({"angle": rows.TWIST} if isinstance(joint, Torsion) else {})
    return {name: (kinds[name], *sides) for name in joint.coordinates}


def _coordinates(joint, places: dict) -> list[Block]:
    """Limits, motors, friction and springs of a joint's free coordinates."""
    blocks = []
    for name, free in joint.coordinates.items():
        kind, a, b, number = places[id(joint), name]
        if free.limits is not None:
            blocks.append(_limit(a, b, kind, number, free))
        if free.driven:
            blocks.append(_drive(a, b, kind, number, free))
    return blocks


def _frame(x: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Quaternion of the frame with these axes, made exactly perpendicular."""
    x = x - (x @ z) * z
    x /= np.linalg.norm(x)
    return matrix_quaternion(np.stack([x, np.cross(z, x), z], axis=1))


def _limit(a: tuple, b: tuple, kind: int, number: int, free: Coordinate) -> Block:
    low, high = free.limits
    soft = 0.0 if free.limit_stiffness is None else 1 / free.limit_stiffness
    own = {"compliance": soft, "damping": free.limit_damping, "restitution": free.restitution}
    own |= {"coordinate": (kind, 0), "which": (number, 0)}
    return Block(rows.LIMIT, a, b, factor=(1.0, -1.0, 0.0), rest=(-low, high, 0.0), **own)


def _drive(a: tuple, b: tuple, kind: int, number: int, free: Coordinate) -> Block:
    """Motor, friction and spring of a coordinate."""
    spring = free.stiffness > 0 or free.damping > 0
    used = (float(free.motor is not None), float(free.friction > 0), float(spring))
    return Block(rows.MOTOR, a, b, coordinate=(kind, 0), which=(number, 0), factor=used, drive=free)


def _weld_bodies(joint: Fixed, anchor: Anchorer) -> list[Block]:
    if joint.nodes is not None:
        raise SceneError(f"fixed joint {joint.name!r} selects nodes, but neither side is a soft body")
    a, b = anchor(joint.a, joint.at), anchor(joint.b, joint.at)
    return [Block(rows.BALL, a, b), Block(rows.ANGULAR, a, b)]


def _weld_nodes(joint: Fixed, anchor: Anchorer):
    soft, other, soft_first = (joint.a, joint.b, True) if isinstance(joint.a, Soft) else (joint.b, joint.a, False)
    if joint.nodes is None:
        nodes = nearest_face(soft, np.array(joint.at))[0]
    else:
        nodes = soft.select(joint.nodes, f"fixed joint {joint.name!r}")
    blocks = []
    for node in nodes:
        own, opposite = anchor.node(soft, int(node)), anchor(other, soft.nodes.positions[node])
        a, b = (own, opposite) if soft_first else (opposite, own)
        blocks.append(Block(rows.BALL, a, b))
    return blocks
