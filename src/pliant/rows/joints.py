"""Rows of joints, with roles: what is held together, kept on one side, or driven; between rigid bodies, faces and nodes
of soft bodies and the world."""

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from functools import cached_property

import numpy as np

from pliant.checks import at_time
from pliant.kernels.device import Device
from pliant.kernels.joints import (
    BROKEN,
    COUPLING,
    DISTANCE,
    EQUALITIES,
    FACE,
    LENGTH,
    LIMIT,
    NODE,
    ON_COORDINATES,
    ONE_SIDED,
    POINT_COORDINATES,
    POINTS,
    ROPE,
    TRAVEL,
    AnchorArrays,
    CoordinateArrays,
    JointArrays,
)
from pliant.kernels.lanes import LANES
from pliant.rows.drives import Drives
from pliant.rows.table import Rows, layout

# Triples that an anchor of each kind touches: by its point, and by its frame.
POINT_WIDTH, TURN_WIDTH = np.array([0, 2, 3, 1]), np.array([0, 1, 3, 0])


@dataclass
class Anchors:
    """One side of every joint block.

    kind (n,): WORLD, BODY, FACE or NODE. index (n, 3): body or node in column 0, or the three nodes. local (n, 3):
    world point [m], point in the body's frame [m], or barycentric coordinates. offset (n,): delta along the face
    normal [m]. frame (n, 4): orientation of the joint's frame on this side, in that of the body or face (quaternion).
    """

    kind: np.ndarray
    index: np.ndarray
    local: np.ndarray
    offset: np.ndarray
    frame: np.ndarray

    @property
    def arrays(self) -> AnchorArrays:
        """What compiled loops see."""
        return AnchorArrays(self.kind, self.index, self.local, self.offset, self.frame)

    @classmethod
    def joined(cls, sides: list["Anchors"]) -> "Anchors":
        """Several, one after the other."""
        return cls(*(np.concatenate([getattr(side, f.name) for side in sides]) for f in fields(cls)))

    @classmethod
    def none(cls) -> "Anchors":
        """No anchors."""
        nothing = np.zeros(0, np.int64)
        return cls(nothing, np.zeros((0, 3), np.int64), np.zeros((0, 3)), np.zeros(0), np.zeros((0, 4)))


@dataclass
class FreeCoordinates:
    """The m free coordinates of all joints: joint (m,), name, kind (m,): ANGLE, TRAVEL; anchors a and b."""

    device: Device
    joint: np.ndarray
    name: list
    kind: np.ndarray
    a: Anchors
    b: Anchors

    @cached_property
    def arrays(self) -> CoordinateArrays:
        """What compiled loops see."""
        return CoordinateArrays(self.kind, self.a.arrays, self.b.arrays)

    @cached_property
    def every(self) -> np.ndarray:
        """The numbers (m,) of all."""
        return np.arange(len(self.kind))

    def at(self, pose: tuple) -> np.ndarray:
        """Their values (m,) [m or rad] at a pose, full turns counted from its angles on."""
        out = pose[0].copy()
        if len(self.kind):
            self.device.joints.follow_coordinates(self.arrays, *pose, out)
        return out

    def rates(self, pose: tuple, velocity: np.ndarray) -> np.ndarray:
        """How fast they change (m,) [m/s or rad/s] with velocities (triples, 3); as many zeros as angles for none."""
        out = np.zeros(len(pose[0]))
        if len(self.kind):
            self.device.joints.coordinate_rates(self.arrays, self.every, *pose, velocity, out)
        return out

    def after(self, pose: tuple, velocity: np.ndarray, h: float, end: tuple) -> np.ndarray:
        """Their values (m,) at the end of a step of h [s] from a pose with velocities (triples, 3), which ends with
        nodes and bodies as `end` says; whole turns within it are counted."""
        near = pose[0].copy()
        if len(self.kind):
            self.device.joints.foresee_coordinates(self.arrays, self.every, *pose, velocity, h, near)
        return self.at((near, *end))


@dataclass
class JointBlocks:
    """All joint blocks of a model: constant data; blocks of the role EQUALITY come first.

    joint (n,): index of the joint in the scene, -1 for an element that is a row. family (n,): BALL, ANGULAR, and so on.
    more, more_start (n + 1,): further anchors of each block: of a path between its ends, of the second of two
    coordinates. coordinate (n, 2): the kind of what LIMIT, MOTOR and COUPLING act on; which (n, 2): its number among
    the `free` ones, whose full turns are counted; ratio (n, 2): of a COUPLING. factor, rest (n, 3): the error of a row
    on a coordinate or length q is factor q + rest [m or rad]. compliance [m/N], damping [N s/m], restitution (n,).
    reach (n,): length of the anchors' arms [m], the measure of gaps. drives: of the motors. moving: (block, function of
    time, factor) of rests that move. start, slice, lane: where each block lies in the table; the first equality_slices
    slices hold the equalities. device: where they are evaluated.
    """

    device: Device
    joint: np.ndarray
    family: np.ndarray
    a: Anchors
    b: Anchors
    more: Anchors
    more_start: np.ndarray
    coordinate: np.ndarray
    which: np.ndarray
    ratio: np.ndarray
    factor: np.ndarray
    rest: np.ndarray
    compliance: np.ndarray
    damping: np.ndarray
    restitution: np.ndarray
    reach: np.ndarray
    free: FreeCoordinates
    drives: Drives
    moving: list
    start: np.ndarray
    slice: np.ndarray
    lane: np.ndarray
    equality_slices: int
    without: dict = field(default_factory=dict, repr=False)

    @classmethod
    def laid_out(cls, family: np.ndarray, a: Anchors, b: Anchors, **columns) -> "JointBlocks":
        """Blocks with their places: equalities first, then by the number of triples each touches."""
        bounded = ~np.isin(family, EQUALITIES)
        width = _widths(family, a, b, columns["more"], columns["more_start"], columns["coordinate"])
        first, slice_one, lane_one = layout(width[~bounded])
        second, slice_two, lane_two = layout(width[bounded])
        slices = len(first) - 1
        slice_, lane = np.zeros(len(family), np.int64), np.zeros(len(family), np.int64)
        slice_[~bounded], lane[~bounded] = slice_one, lane_one
        slice_[bounded], lane[bounded] = slices + slice_two, lane_two
        start = np.concatenate([first, first[-1] + second[1:]])
        return cls(family=family, a=a, b=b, **columns, start=start, slice=slice_, lane=lane, equality_slices=slices)

    @cached_property
    def arrays(self) -> JointArrays:
        """What compiled loops see."""
        anchors = (self.a.arrays, self.b.arrays, self.more.arrays, self.more_start)
        numbers = (self.coordinate, self.which, self.ratio, self.factor, self.rest)
        return JointArrays(self.family, *anchors, *numbers, self.start, self.slice, self.lane)

    @cached_property
    def loop(self) -> Callable:
        """The kernel that fills their rows: one that compiles little, if none are on lengths and coordinates."""
        measured = np.isin(self.family, (*ON_COORDINATES, COUPLING, DISTANCE, ROPE)).any()
        return self.device.joints.fill_blocks if measured else self.device.joints.fill_held

    @cached_property
    def watched(self) -> np.ndarray:
        """The free coordinates (k,) that blocks act on."""
        own = np.isin(self.family, (*ON_COORDINATES, COUPLING)) & (self.coordinate[:, 0] != LENGTH)
        return np.unique(self.which[own])

    @cached_property
    def points(self) -> np.ndarray:
        """The blocks (k,) that hold points: whose forces act at their anchors."""
        along = np.isin(self.family, ON_COORDINATES) & np.isin(self.coordinate[:, 0], POINT_COORDINATES)
        return np.flatnonzero(np.isin(self.family, POINTS) | along)

    @cached_property
    def limits(self) -> np.ndarray:
        """The blocks (k,) that keep coordinates within limits."""
        return np.flatnonzero(np.isin(self.family, ONE_SIDED))

    @cached_property
    def rigid_limits(self) -> np.ndarray:
        """Which blocks (n,) are limits or ropes without compliance."""
        return np.isin(self.family, ONE_SIDED) & (self.compliance == 0)

    @cached_property
    def bouncing(self) -> bool:
        """Whether any limit bounces."""
        return bool(self.restitution.any())

    @cached_property
    def stopping(self) -> np.ndarray:
        """Pairs (k, 2) of a driven coordinate and a block that keeps it within rigid limits."""
        own = self.limits[(self.family[self.limits] == LIMIT) & (self.compliance[self.limits] == 0)]
        driven = self.drives.block
        same = (self.joint[driven][:, None] == self.joint[own]) & (self.which[driven, 0][:, None] == self.which[own, 0])
        drive, limit = np.nonzero(same)
        return np.stack([drive, own[limit]], axis=1)

    @cached_property
    def stops(self) -> np.ndarray:
        """Least and greatest value (m, 2) [m or rad] that rigid limits leave to every driven coordinate."""
        out = np.tile([-np.inf, np.inf], (len(self.drives), 1))
        drive, limit = self.stopping.T
        out[drive, 0], out[drive, 1] = -self.rest[limit, 0], self.rest[limit, 1]
        return out

    @cached_property
    def rigid(self) -> np.ndarray:
        """Which blocks (n,) are equalities without compliance."""
        return np.isin(self.family, EQUALITIES) & (self.compliance == 0)

    @cached_property
    def per_reach(self) -> np.ndarray:
        """1 over the reach (slices, LANES) [1/m] of rigid equalities, 0 elsewhere."""
        out = np.zeros((len(self.start) - 1, LANES))
        out[self.slice[self.rigid], self.lane[self.rigid]] = 1 / self.reach[self.rigid]
        return out

    @cached_property
    def per_range(self) -> np.ndarray:
        """1 over the range (slices, LANES) [1/m or 1/rad] of rigid limits, over the length of ropes; 0 elsewhere."""
        out, own = np.zeros((len(self.start) - 1, LANES)), self.limits[self.compliance[self.limits] == 0]
        span = self.rest[own, 0] + self.rest[own, 1]
        counts = np.isfinite(span) & (span > 0)
        out[self.slice[own[counts]], self.lane[own[counts]]] = 1 / span[counts]
        return out

    @cached_property
    def tangents(self) -> np.ndarray:
        """Which rows (slices, 3, LANES) are those across distances and ropes between two points, without errors."""
        out, ends = np.zeros((len(self.start) - 1, 3, LANES), bool), np.diff(self.more_start) == 0
        own = np.isin(self.family, (DISTANCE, ROPE)) & ends
        out[self.slice[own], 1:, self.lane[own]] = True
        return out

    @cached_property
    def on_nodes(self) -> np.ndarray:
        """Which blocks (n,) hold on to nodes."""
        return np.isin(self.a.kind, (FACE, NODE)) | np.isin(self.b.kind, (FACE, NODE))

    def at(self, time: float, broken: np.ndarray) -> "JointBlocks":
        """The blocks at a time [s]: lengths as they are then, nothing of blocks that are broken (n,)."""
        blocks = self
        if broken.any():
            key = broken.tobytes()
            if key not in self.without:
                self.without[key] = replace(self, family=np.where(broken, BROKEN, self.family))
            blocks = self.without[key]
        if not self.moving:
            return blocks
        rest = self.rest.copy()
        for block, function, factor in self.moving:
            rest[block, 0] = factor * float(at_time(function, time))
        return replace(blocks, rest=rest)

    def frozen(self, time: float) -> "JointBlocks":
        """The same blocks without damping and friction, motors as they are at a time [s] and not moving."""
        still = self.at(time, np.zeros(len(self.family), bool))
        return replace(still, damping=np.zeros_like(self.damping), drives=self.drives.frozen(time), moving=[])


def _widths(family, a: Anchors, b: Anchors, more: Anchors, more_start, coordinate) -> np.ndarray:
    """How many triples each block touches."""
    along = np.isin(family, ON_COORDINATES) & np.isin(coordinate[:, 0], POINT_COORDINATES)
    of_points, of_turns = np.isin(family, POINTS) | along, POINT_WIDTH[a.kind] + POINT_WIDTH[b.kind]
    width = np.where(of_points, of_turns, TURN_WIDTH[a.kind] + TURN_WIDTH[b.kind])
    for k in range(len(family)):
        own = more.kind[more_start[k] : more_start[k + 1]]
        if family[k] == COUPLING:
            pairs = zip((np.array([a.kind[k], b.kind[k]]), own), coordinate[k])
            width[k] = sum((POINT_WIDTH if kind == TRAVEL else TURN_WIDTH)[end].sum() for end, kind in pairs)
        else:
            width[k] += POINT_WIDTH[own].sum()
    return width


def turning_stiffness(blocks: JointBlocks, impulse: np.ndarray, jacobian, rotation: np.ndarray, h: float) -> np.ndarray:
    """h^2 times the stiffness (b, 6) with which bodies under the joints' impulses (slices, 3, LANES) resist turning."""
    out = np.zeros((len(rotation), 6))
    if len(blocks.family):  # kernels that have nothing to do are not even compiled
        arguments = (np.ascontiguousarray(impulse), jacobian, rotation, h, out)
        blocks.device.joints.add_turning_stiffness(blocks.arrays, *arguments)
    return out


def fill(
    blocks: JointBlocks, rows: Rows, pose: tuple, h: float, time: float = 0.0, before=None, error=None
) -> np.ndarray:
    """Fill the rows of all joints at a pose (State.pose) for a step of length h that ends at a time [s]; returns their
    errors C (slices, 3, LANES) [m or rad]. before (triples, 3): velocities at the start of the step, with which limits
    bounce. error: from where on their rates count, if not from the pose."""
    found = errors_at(blocks, rows, pose)
    error = found if error is None else error
    if len(blocks.family):
        fill_targets(blocks, rows, error, h, time)
        if before is not None and blocks.bouncing:
            _bounce(blocks, rows, error, before, h)
    return error


def fill_targets(blocks: JointBlocks, rows: Rows, error: np.ndarray, h: float, time: float) -> None:
    """Targets, compliances and bounds of rows with errors (slices, 3, LANES) at the start of a step that ends at a time
    [s]; nothing bounces."""
    numbers = (blocks.arrays.rows, blocks.compliance, blocks.damping, h, error)
    blocks.device.targets.fill_targets(*numbers, rows.compliance, rows.target, rows.low)
    blocks.drives.fill(blocks, rows, error, h, time)


def errors_at(blocks: JointBlocks, rows: Rows, pose: tuple) -> np.ndarray:
    """Errors C (slices, 3, LANES) [m or rad] of all joints at a pose; their Jacobians there go into the rows."""
    error = np.zeros(rows.target.shape)
    if len(blocks.family):
        blocks.loop(blocks.arrays, *pose, False, rows.triples, rows.jacobian, error)
    return error


def _bounce(blocks: JointBlocks, rows: Rows, error: np.ndarray, before: np.ndarray, h: float) -> None:
    """Targets of rigid limits that are run into; a motor that nothing else stops does not bounce."""
    driven, limit = blocks.stopping.T
    bouncing = blocks.limits[blocks.restitution[blocks.limits] > 0]
    for k in np.setdiff1d(bouncing, limit[blocks.drives.relentless[driven]]):
        s, lane = blocks.slice[k], blocks.lane[k]
        entries = slice(rows.start[s], rows.start[s + 1])
        jacobian = rows.jacobian[entries, :, lane].reshape(-1, 3, 3)
        speed = np.einsum("erc,ec->r", jacobian, before[rows.triples[entries, lane]])
        for row in range(2):
            if speed[row] < 0.0 and error[s, row, lane] + h * speed[row] <= 0.0:
                rows.target[s, row, lane] = max(rows.target[s, row, lane], -blocks.restitution[k] * speed[row])


def structure(blocks: JointBlocks, state) -> Rows:
    """The rows of all joints where nothing is in line by chance: what is zero in these Jacobians always is. For
    patterns of matrices."""
    rows, random = Rows.empty(blocks.start), np.random.default_rng(0)
    angles, x, position, rotation = state.pose
    points = np.concatenate([x, position])
    size = float(np.ptp(points, axis=0).max(initial=0.0)) or 1.0
    x, position = (points + 0.03 * size * random.normal(size=points.shape) for points in (x, position))
    rotation = rotation + 0.1 * random.normal(size=rotation.shape)
    rotation /= np.linalg.norm(rotation, axis=1, keepdims=True)
    fill(blocks, rows, (angles, x, position, rotation), 1.0)
    return rows
