"""The convex rigid bodies of a scene: boxes around them, pairs that may meet, contacts, and how far they may go."""

from copy import copy
from dataclasses import dataclass, field

import numpy as np

from pliant.collide.contacts import FEATURE_BITS, KIND_PLACE, SOLID_KIND, Contacts, between_bodies, no_contacts
from pliant.collide.near_bodies import NearBodies
from pliant.collide.things import Things
from pliant.collide.trees import Tree
from pliant.kernels.collide import ContactPoints, Hulls, Scratch, make_scratch
from pliant.kernels.device import Device
from pliant.kernels.shapes import BOX, MESH, PLANE, SPHERE
from pliant.rotations import lengths

# Room for bodies in keys of contacts.
BODY_BITS = 22
# Contacts of a pair, at most.
MOST = 8
# Bodies up to which all boxes are compared: quicker than fitting a tree.
MOST_TESTED = 64
# A little more than one, so that rounding loses no pair.
ROUNDED = 1.0 + 1e-9


def contact_points(count: int) -> ContactPoints:
    """Room for so many contacts."""
    return ContactPoints(*(np.empty((count, 3)) for _ in range(3)), np.empty(count), np.empty(count, np.int64))


@dataclass
class Placed:
    """Solids at some positions: origins (b, 3) and frames (b, 9) of their shapes."""

    origin: np.ndarray
    frame: np.ndarray


@dataclass
class Solids:
    """All rigid bodies (b,); meshes, which are surfaces, take no part.

    code (b,), parameter (b, 4): shape, its sizes and margin; index (b,): of its hull. deep_hulls: the same with
    small cores, hull_depth (h,) [m] below their surfaces. principal (b, 4), centre (b, 3):
    from principal axes to the shape's, centre of mass in the shape's frame. radius (b,) [m]: bound about the centre.
    stopped: contacts are those that may close within one step, not two, also if either body were stopped now.
    among (b,) bool: pairs are only looked for with one of these, where it is given.
    """

    device: Device
    things: Things
    code: np.ndarray
    parameter: np.ndarray
    index: np.ndarray
    hulls: Hulls
    deep_hulls: Hulls
    hull_depth: np.ndarray
    principal: np.ndarray
    centre: np.ndarray
    radius: np.ndarray
    stopped: bool = False
    among: np.ndarray | None = None
    scratch: Scratch = field(default_factory=make_scratch)

    def __post_init__(self):
        self.convex = np.flatnonzero((self.code != PLANE) & (self.code != MESH))
        self.planes = np.flatnonzero(self.code == PLANE)
        self.only_spheres = bool(np.all(self.code[self.convex] == SPHERE))
        self.depth = np.empty(len(self.code))
        self.kernels = self.device.collide
        self.kernels.advance.core_depths(self.code, self.parameter, self.index, self.hull_depth, self.depth)
        self._measure_balls()
        self.room = contact_points(64)
        self.tree: Tree | None = None
        numbers = (self.device, self.things, self.convex, self.radius, self._found_in_tree)
        self.near, self.near_ways = NearBodies(*numbers), NearBodies(*numbers)

    def _measure_balls(self) -> None:
        """inner (b,) [m]: radii of balls about the centres that bodies hold, 0 where that is not known; lever (b,) [m]:
        how far normals of contacts pass centres by, at most."""
        off, sphere, box = lengths(self.centre), self.code == SPHERE, self.code == BOX
        held = np.where(sphere, self.parameter[:, 0], np.where(box, self.parameter[:, :3].min(axis=1), 0.0))
        self.inner = np.maximum(held - off, 0.0)
        self.lever = np.where(sphere, off, np.where(np.isinf(self.radius), 0.0, self.radius))

    def half_lengths(self, bodies: np.ndarray) -> np.ndarray:
        """Half lengths (k,) [m] along the third axes of bodies (k,), pieces of rods, without rounded ends."""
        return self.parameter[bodies, np.where(self.code[bodies] == BOX, 2, 1)]

    def with_pieces(self, bodies: np.ndarray, principal: np.ndarray, centre: np.ndarray, half: np.ndarray) -> "Solids":
        """The same, but that bodies (k,), pieces of rods, have half lengths (k,) [m] along their third axes, and all
        bodies the rotations (b, 4) and centres (b, 3) [m] that are given."""
        other = copy(self)
        other.principal, other.centre = principal, centre
        own = [getattr(self, name).copy() for name in ("parameter", "radius", "inner", "lever")]
        self.kernels.pieces.size_pieces(bodies, self.code, centre, half, *own)
        other.parameter, other.radius, other.inner, other.lever = own
        return other

    @property
    def shapes(self) -> tuple:
        """What kernels need to know of the shapes."""
        return self.code, self.parameter, self.index, self.hulls

    @property
    def cores(self) -> tuple:
        """The same of the cores that nothing may reach."""
        return self.code, self.parameter, self.index, self.deep_hulls

    def placed(self, state) -> Placed:
        """Where the shapes are."""
        return self.placed_at(state.body_position, state.body_rotation)

    def placed_at(self, position: np.ndarray, rotation: np.ndarray) -> Placed:
        """Where the shapes are with bodies at a position (b, 3) and rotation (b, 4)."""
        count = len(self.code)
        out = Placed(np.empty((count, 3)), np.empty((count, 9)))
        self.kernels.bodies.shape_frames(position, rotation, self.principal, self.centre, out.origin, out.frame)
        return out

    def boxes(self, placed: Placed, margin: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Boxes (b, 3) around the shapes, wider by a margin (b,) [m]."""
        low, high = np.empty((len(self.code), 3)), np.empty((len(self.code), 3))
        self.kernels.bodies.body_boxes(*self.shapes, placed.origin, placed.frame, margin, low, high)
        return low, high

    def fit(self, low: np.ndarray, high: np.ndarray) -> Tree:
        """The tree of the convex ones, with these boxes (b, 3)."""
        low, high = low[self.convex], high[self.convex]
        if self.tree is None:
            family = self.things.manners.family[self.things.soft_count + self.convex]  # segments of a rod are no pairs
            self.tree = Tree(self.device, low, high, family)
        else:
            self.tree.follow(low, high)
        return self.tree

    def plane_equations(self, placed: Placed) -> tuple[np.ndarray, np.ndarray]:
        """Normals (p, 3) of the planes, and their heights (p,) [m] along these."""
        normals, heights = np.empty((len(self.planes), 3)), np.empty(len(self.planes))
        self.kernels.bodies.plane_equations(self.planes, self.parameter, placed.origin, placed.frame, normals, heights)
        return normals, heights

    def pairs(self, placed: Placed, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """Pairs (k, 2) of bodies whose boxes overlap, planes second; sorted."""
        if len(self.convex) <= MOST_TESTED:
            return self._tested(low, high, self.planes, *self.plane_equations(placed))
        near, room = self.near.pairs(low, high), np.empty((len(self.convex) * len(self.planes), 2), np.int64)
        numbers = (low, high, self.convex, self.things.soft_count, self.planes, *self.plane_equations(placed))
        return np.concatenate([near, room[: self.kernels.broad.planes_near(self.things.manners, *numbers, room)]])

    def _of_some(self, pairs: np.ndarray) -> np.ndarray:
        """Those of pairs (k, 2) of bodies that are looked for."""
        return pairs if self.among is None else pairs[self.among[pairs[:, 0]] | self.among[pairs[:, 1]]]

    def _found_in_tree(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """Pairs (k, 2) of convex bodies that may touch, whose boxes (b, 3) overlap; sorted."""
        near = self.fit(low, high).pairs()
        room, numbers = np.empty((len(near), 2), np.int64), (self.convex, self.things.soft_count)
        return room[: self.kernels.broad.bodies_in_order(self.things.manners, near, *numbers, room)].copy()

    def _tested(self, low: np.ndarray, high: np.ndarray, planes: np.ndarray, normals, heights) -> np.ndarray:
        """As `pairs`, each body with each other and with these planes."""
        count = len(self.convex)
        room = np.empty((count * (count - 1) // 2 + count * len(planes), 2), np.int64)
        numbers = (low, high, self.convex, self.things.soft_count, planes, normals, heights)
        return room[: self.kernels.broad.bodies_near(self.things.manners, *numbers, room)]

    def contacts(self, state, placed: Placed, reach: np.ndarray, slack: np.ndarray, h: float, fall: float) -> Contacts:
        """Contacts between bodies that are no further apart than their reaches (b,) [m] together, and may close within
        about two steps of h [s] by how they move against each other, or have gaps below the slack (b,) [m]; fall
        [m/s2]: the acceleration of all."""
        near = self._of_some(self.pairs(placed, *self._boxes_ahead(state, placed, slack, h, fall)))
        pairs, together = np.empty((len(near), 2), np.int64), np.empty(len(near))
        motion = (state.body_position, state.body_velocity, state.body_angular_velocity)
        numbers = (*motion, self.radius, self.inner, self.lever, slack, reach, h, fall, self.stopped)
        count = self.kernels.bodies.closing_pairs(near, *numbers, pairs, together)
        if not count:
            return no_contacts()
        pairs, together = pairs[:count], together[:count]
        which, found = self._meeting(placed, pairs, together)
        first, second = pairs[which].T
        key = (
            (np.int64(SOLID_KIND) << KIND_PLACE)
            | (first << (BODY_BITS + FEATURE_BITS))
            | (second << FEATURE_BITS)
            | found.feature
        )
        middle = 0.5 * (found.point_a + found.point_b)
        return between_bodies(first, second, self.things.soft_count, (middle, found.normal, found.gap), key)

    def _boxes_ahead(self, state, placed: Placed, slack: np.ndarray, h: float, fall: float) -> tuple:
        """Boxes (b, 3), low and high, that overlap where contacts may close within about two steps, or one if either
        body may be stopped.

        A gap closes by the part of a motion along its normal, and is as long along an axis as the normal is: together
        no more than half of the motion's length and half of its part along the axis.
        """
        ahead = h if self.stopped else 2 * h
        way, turn = ahead * state.body_velocity, ahead * lengths(state.body_angular_velocity)
        low, high = self.boxes(placed, ROUNDED * (turn * self.lever + 2 * h * h * fall + slack))
        length = ROUNDED * lengths(way)[:, None]
        return low - 0.5 * (length - way), high + 0.5 * (length + way)

    def _meeting(self, placed: Placed, pairs: np.ndarray, reach: np.ndarray) -> tuple[np.ndarray, ContactPoints]:
        """Which of the pairs (k, 2), planes last, are within reach (k,) [m], in order, and their contacts. Each kind of
        pair has its own compiled loop."""
        kernels, pose = self.kernels.pairs, (placed.origin, placed.frame.reshape(-1, 3, 3))
        if self.only_spheres:
            return self._written(kernels.collide_spheres, pairs, self.code, self.parameter, *pose, reach)
        first_plane = len(pairs) - np.count_nonzero(self.code[pairs[:, 1]] == PLANE)
        parts = []
        for kernel, low, high in (
            (kernels.collide_pairs, 0, first_plane),
            (kernels.collide_planes, first_plane, len(pairs)),
        ):
            if low < high:
                which, points = self._written(
                    kernel, pairs[low:high], *self.shapes, *pose, reach[low:high], MOST, self.scratch
                )
                parts.append((low + which, *points))
        which, *points = map(np.concatenate, zip(*parts, strict=True))
        return which, ContactPoints(*points)

    def _written(self, kernel, *arguments) -> tuple[np.ndarray, ContactPoints]:
        """What a compiled loop writes, in as much room as it needs: numbers of pairs, contacts."""
        which = np.empty(len(self.room.gap), np.int64)
        count = kernel(*arguments, which, self.room)
        if count > len(self.room.gap):
            self.room, which = contact_points(count + count // 4), np.empty(count + count // 4, np.int64)
            kernel(*arguments, which, self.room)
        return which[:count], ContactPoints(*(column[:count].copy() for column in self.room))

    def plane_times(self, placed: list[Placed], boxes: list[tuple]) -> np.ndarray:
        """The part (b,) of their way from one place to another, with boxes there, that bodies may go before their cores
        are below a plane, about."""
        times = np.ones(len(self.code))
        if len(self.planes) and len(self.convex):
            ends = [(*box, *self.plane_equations(each)) for each, box in zip(placed, boxes)]
            numbers = (self.convex, self.radius, self.things.soft_count, self.planes)
            self.kernels.broad.plane_times(self.things.manners, *ends, *numbers, times)
        return times

    def times(self, start, motion: np.ndarray, turn: np.ndarray, low, high) -> np.ndarray:
        """The part (b,) of their motion and turn (b, 3) that bodies may go before their cores meet; low, high (b, 3):
        boxes of the whole way. What moves less than its depth cannot pass through anything."""
        times = np.ones(len(self.code))
        moved = lengths(motion) + lengths(turn) * np.minimum(self.radius, 1e30)
        if len(self.convex) < 2 or not np.any(moved[self.convex] > 0.25 * self.depth[self.convex]):
            return times
        if len(self.convex) <= MOST_TESTED:
            pairs = self._tested(low, high, self.planes[:0], np.empty((0, 3)), np.empty(0))
        else:
            pairs = self.near_ways.pairs(low, high)
        pairs = self._of_some(pairs)
        fast = moved[pairs].sum(axis=1) > 0.25 * self.depth[pairs].sum(axis=1)
        pairs, found = np.ascontiguousarray(pairs[fast]), np.empty(int(fast.sum()))
        bodies = (start.body_position, start.body_rotation, self.principal, self.centre)
        self.kernels.advance.solid_times(pairs, *self.cores, bodies, motion, turn, self.radius, self.scratch, found)
        for side in range(2):
            np.minimum.at(times, pairs[:, side], found)
        return times
