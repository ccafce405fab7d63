"""Rows of joints: points, orientations, distances and hinges, with roles; between rigid bodies, faces and nodes of soft
bodies and the world."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from pliant.checks import at_time
from pliant.kernels.cpu.joints import (
    ALIGN,
    ANGULAR,
    BALL,
    BODY,
    DISTANCE,
    FACE,
    LIMIT,
    MOTOR,
    NODE,
    WORLD,
    JointArrays,
    add_turning_stiffness,
    fill_blocks,
)
from pliant.rows.table import Rows, layout

__all__ = ["ALIGN", "ANGULAR", "BALL", "BODY", "DISTANCE", "FACE", "LIMIT", "MOTOR", "NODE", "WORLD"]
__all__ += ["EQUALITY", "Anchors", "Drive", "JointBlocks", "fill", "turning_stiffness"]

# Roles of blocks: met whatever it takes, kept on one side, or driven with a bounded force. (Contacts are rows of their
# own.) A block's family says which it has.
EQUALITY, BOUNDED = 0, 1
ROLE = {BALL: EQUALITY, ANGULAR: EQUALITY, DISTANCE: EQUALITY, ALIGN: EQUALITY, LIMIT: BOUNDED, MOTOR: BOUNDED}
# Triples that an anchor of each kind touches.
ANCHOR_WIDTH = {WORLD: 0, BODY: 2, FACE: 3, NODE: 1}
POINTS = (BALL, DISTANCE)
EQUALITIES = tuple(family for family, role in ROLE.items() if role == EQUALITY)


@dataclass
class Anchors:
    """One side of every joint block.

    kind (n,): WORLD, BODY, FACE or NODE. index (n, 3): body or node in column 0, or the three nodes. local (n, 3):
    world point [m], point in the body's frame [m], or barycentric coordinates. offset (n,): delta along the face
    normal [m]. frame (n, 4): orientation of the joint's frame on this side, in the body's frame (quaternion).
    """

    kind: np.ndarray
    index: np.ndarray
    local: np.ndarray
    offset: np.ndarray
    frame: np.ndarray


@dataclass
class Drive:
    """What drives the coordinate of a MOTOR block: a velocity [rad/s], or a position [rad] with a stiffness [N m/rad]
    and damping [N m s/rad]; numbers or functions of time. bound: largest torque [N m]."""

    block: int
    velocity: object
    position: object
    stiffness: float
    damping: float
    bound: float


@dataclass
class JointBlocks:
    """All joint blocks of a model: constant data; blocks of the role EQUALITY come first.

    joint (n,): index of the joint in the scene, -1 for an element that is a row. family (n,): BALL, ANGULAR, DISTANCE,
    ALIGN, LIMIT or MOTOR. rest (n, 2): the length [m] of a DISTANCE in column 0, the bounds [rad] of a LIMIT.
    compliance [m/N], damping [N s/m] (n,). reach (n,): length of the anchors' arms [m], the measure of gaps. drives: of
    the motors. start, slice, lane: where each block lies in the table; the first equality_slices slices hold the
    equalities.
    """

    joint: np.ndarray
    family: np.ndarray
    a: Anchors
    b: Anchors
    rest: np.ndarray
    compliance: np.ndarray
    damping: np.ndarray
    reach: np.ndarray
    drives: list
    start: np.ndarray
    slice: np.ndarray
    lane: np.ndarray
    equality_slices: int

    @classmethod
    def laid_out(cls, family: np.ndarray, a: Anchors, b: Anchors, **columns) -> "JointBlocks":
        """Blocks with their places: equalities first, then by the number of triples each touches."""
        bounded = ~np.isin(family, EQUALITIES)
        width = _widths(family, a, b)
        first, slice_one, lane_one = layout(width[~bounded])
        second, slice_two, lane_two = layout(width[bounded])
        slices = len(first) - 1
        slice_, lane = np.zeros(len(family), np.int64), np.zeros(len(family), np.int64)
        slice_[~bounded], lane[~bounded] = slice_one, lane_one
        slice_[bounded], lane[bounded] = slices + slice_two, lane_two
        start = np.concatenate([first, first[-1] + second[1:]])
        places = {"start": start, "slice": slice_, "lane": lane, "equality_slices": slices}
        return cls(family=family, a=a, b=b, **columns, **places)

    @cached_property
    def arrays(self) -> JointArrays:
        """What compiled loops see."""
        a, b = ((side.kind, side.index, side.local, side.offset, side.frame) for side in (self.a, self.b))
        return JointArrays(self.family, *a, *b, self.rest, self.start, self.slice, self.lane)

    @cached_property
    def points(self) -> np.ndarray:
        """The blocks (k,) that hold points."""
        return np.flatnonzero(np.isin(self.family, POINTS))

    @cached_property
    def limits(self) -> np.ndarray:
        """The blocks (k,) that keep coordinates within limits."""
        return np.flatnonzero(self.family == LIMIT)

    @cached_property
    def on_nodes(self) -> np.ndarray:
        """Which blocks (n,) hold on to nodes."""
        return np.isin(self.a.kind, (FACE, NODE)) | np.isin(self.b.kind, (FACE, NODE))

    @cached_property
    def rigid(self) -> np.ndarray:
        """Which blocks (n,) are equalities without compliance."""
        return np.isin(self.family, EQUALITIES) & (self.compliance == 0)

    def frozen(self, time: float) -> "JointBlocks":
        """The same blocks without damping, motors as they are at a time [s] and not moving."""
        held = [
            replace(drive, velocity=0.0, damping=0.0, position=None if p is None else float(at_time(p, time)))
            for drive in self.drives
            for p in (drive.position,)
        ]
        return replace(self, damping=np.zeros_like(self.damping), drives=held)


def _widths(family: np.ndarray, a: Anchors, b: Anchors) -> np.ndarray:
    """How many triples each block touches."""
    width = np.array([ANCHOR_WIDTH[kind] for kind in range(4)])
    of_points = width[a.kind] + width[b.kind]
    of_turns = (a.kind == BODY).astype(int) + (b.kind == BODY).astype(int)
    return np.where(np.isin(family, POINTS), of_points, of_turns)


def turning_stiffness(blocks: JointBlocks, impulse: np.ndarray, jacobian, rotation: np.ndarray, h: float) -> np.ndarray:
    """h^2 times the stiffness (b, 6) with which bodies under the joints' impulses (slices, 3, LANES) resist turning."""
    out = np.zeros((len(rotation), 6))
    if not len(blocks.family):  # kernels that have nothing to do are not even compiled
        return out
    add_turning_stiffness(blocks.arrays, np.ascontiguousarray(impulse), jacobian, rotation, h, out)
    return out


def fill(blocks: JointBlocks, rows: Rows, x, body_position, body_rotation, h: float, time: float = 0.0) -> np.ndarray:
    """Fill the rows of all joints for a step of length h that ends at a time [s]; returns their errors C (slices, 3,
    LANES) [m or rad]."""
    error = np.zeros(rows.target.shape)
    if not len(blocks.family):
        return error
    fill_blocks(blocks.arrays, x, body_position, body_rotation, False, rows.triples, rows.jacobian, error)
    # equalities as springs with damping (theory section 2): R = 1/(h (h k + d)), b = -k/(h k + d) C
    factor = 1 / (h + blocks.compliance * blocks.damping)
    place = (blocks.slice, slice(None), blocks.lane)
    rows.compliance[place] = (blocks.compliance * factor / h)[:, None]
    rows.target[place] = -factor[:, None] * error[place]
    _bound_limits(blocks, rows)
    for drive in blocks.drives:
        _fill_drive(blocks, drive, rows, error, h, time)
    return error


def _bound_limits(blocks: JointBlocks, rows: Rows) -> None:
    """A limit pushes only inwards."""
    limits = blocks.limits
    rows.low[blocks.slice[limits], :2, blocks.lane[limits]] = 0.0


def _fill_drive(blocks: JointBlocks, drive: Drive, rows: Rows, error, h: float, time: float) -> None:
    """The row of a motor: a velocity, or a spring to a position that moves; its impulse is bounded."""
    s, lane = blocks.slice[drive.block], blocks.lane[drive.block]
    if drive.position is None:
        compliance, target = 0.0, float(at_time(drive.velocity, time))
    else:
        gain = h * drive.stiffness + drive.damping
        away = error[s, 0, lane] - float(at_time(drive.position, time))
        away -= 2 * np.pi * np.round(away / (2 * np.pi))
        compliance, target = 1 / (h * gain), -drive.stiffness / gain * away
    rows.compliance[s, 0, lane], rows.target[s, 0, lane] = compliance, target
    rows.low[s, 0, lane], rows.high[s, 0, lane] = -h * drive.bound, h * drive.bound
