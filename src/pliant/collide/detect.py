"""From positions to contacts, and how far things may go before they meet."""

from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, replace

import numpy as np

from pliant.collide.certificates import Certificates
from pliant.collide.contacts import FEATURE_BITS, Contacts, joined, no_contacts
from pliant.collide.meshed import Meshed
from pliant.collide.mixed import Mixed
from pliant.collide.rod_arms import RodArms
from pliant.collide.solids import Solids
from pliant.collide.things import Things
from pliant.kernels.shapes import PLANE
from pliant.rotations import lengths

# A contact is taken up when it may close within about two steps, or when the gap is below this part of the body's size.
SLACK = 0.01
# Reach of surfaces, at most, in parts of their edges: what is faster is found on its way.
LONGEST_REACH = 0.2


@dataclass
class Colliders:
    """Everything in a scene that may touch: solids, surfaces, and both together.

    meshed is None where there are no surfaces, mixed where no surface may touch a solid. slack (t,) [m]: gaps of
    things below which contacts count however slow. acceleration [m/s2]: of free fall. longest_reach: of surfaces, at
    most, in parts of their edges. spare: see `Mixed.contacts`. arms: of points of rods.
    """

    things: Things
    solids: Solids
    meshed: Meshed | None
    mixed: Mixed | None
    slack: np.ndarray
    acceleration: float
    longest_reach: float = LONGEST_REACH
    spare: float = 0.0
    arms: RodArms | None = None

    def __post_init__(self):
        self.certificates = Certificates(self.meshed) if self.meshed and self.meshed.surfaces.allowed.any() else None
        # nothing may touch anything but itself
        few = self.mixed is None and len(self.solids.convex) < 2 and self.certificates is not None
        self.lonely = few and not self.certificates.mutual.any() and not len(self.meshed.mesh_body)
        self._last = None  # what contacts were asked for last, and which there were
        self._told = None  # the same of whether surfaces may touch
        self._stretched = []  # the same of pieces of rods, twice: of both ends of a way

    def without(self, pairs: np.ndarray) -> "Colliders":
        """The same, but that the surfaces of pairs (k, 2) of things do not touch."""
        if not len(pairs):
            return self
        meshed = self.meshed.without(pairs)
        mixed = self.mixed.with_surfaces(meshed) if self.mixed else None
        return replace(self, meshed=meshed, mixed=mixed)

    def stretched(self, state) -> "Colliders":
        """The same with pieces of rods where their segments ask for them at a state. A step begins where the one before
        has looked at its pieces: what was asked for lately is not made again."""
        return self if self.arms is None else self._stretched_at(state.body_position, state.body_rotation)

    def pieces(self, position: np.ndarray, rotation: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Where the shapes of solids are (b, 3) with bodies at a position (b, 3) and rotation (b, 4), and how long
        pieces of rods are to both sides of that (p,) [m]."""
        solids = self._stretched_at(position, rotation).solids
        return solids.placed_at(position, rotation).origin, solids.half_lengths(self.arms.body)

    def _stretched_at(self, *asked: np.ndarray) -> "Colliders":
        for known, other in self._stretched:
            if all(map(np.array_equal, asked, known)):
                return other
        other = self._with_pieces(*asked)
        self._stretched = [([one.copy() for one in asked], other), *self._stretched[:1]]
        return other

    def _with_pieces(self, position: np.ndarray, rotation: np.ndarray) -> "Colliders":
        """The same with pieces of rods where segments ask for them, with bodies at a position and rotation."""
        pieces = self.arms.pieces(self.solids, position, rotation)
        return self if pieces is None else self._with_solids(self.solids.with_pieces(self.arms.body, *pieces))

    def _with_solids(self, solids: Solids) -> "Colliders":
        """The same with solids that are others in their sizes and places alone."""
        other = copy(self)
        other.solids, other.mixed = solids, self.mixed and self.mixed.with_solids(solids)
        other._last, other._stretched = None, []
        return other

    @property
    def any(self) -> bool:
        """Whether anything may touch anything."""
        return len(self.solids.convex) + len(self.solids.planes) > 1 or self.meshed is not None

    def clear(self, x: np.ndarray, y: np.ndarray) -> bool:
        """Whether nothing meets while nodes go from x to y (n, 3), and nothing touches there, of what can touch nothing
        but itself."""
        if not self.lonely:
            return False
        proofs = self.certificates
        return proofs.unstrained_between(x, y) or (not proofs.may_meet(x, y)[1] and proofs.clear(y, renew=False))

    def size_of(self, contacts: Contacts) -> np.ndarray:
        """The size (k,) [m] of the smaller of the two things that touch; planes have none."""
        sizes, things = np.where(self.slack > 0.0, self.slack, np.inf), contacts.thing
        return np.minimum(sizes[things[:, 0]], sizes[things[:, 1]]) / SLACK

    def contacts(self, state, h: float) -> Contacts:
        """All contacts at a state's positions that may close within about two steps of h [s]. A step mostly begins
        where the one before has looked for contacts at its end: what was asked for last is not looked for again."""
        if not self.any:
            return no_contacts()
        if self.lonely and np.isfinite(state.x.sum()) and self.certificates.clear(state.x):
            return no_contacts()
        asked = _asked(state, h)
        if self._last is None or not all(np.array_equal(one, other) for one, other in zip(asked, self._last[0])):
            self._last = [one.copy() for one in asked], self._contacts(state, h)
        return self._last[1]

    def contacts_of_some(self, state, h: float) -> Contacts:
        """As `contacts`, where pairs are only looked for of some bodies (see `only`)."""
        if not self.any:
            return no_contacts()
        found, some = self._contacts(state, h), self.solids.among
        return found.these(found.with_some(some))

    def remember(self, state, h: float, found: Contacts) -> None:
        """Contacts found at a state in parts, which is then not looked at again, if that would find the same."""
        if self.meshed or not self.any:
            return
        pair, planes = found.key >> FEATURE_BITS, self.solids.code[found.body[:, 1]] == PLANE
        order = np.lexsort((pair, np.where(planes, found.body[:, 1], -1)))  # of a whole look
        self._last = [one.copy() for one in _asked(state, h)], found.these(order)

    @contextmanager
    def only(self, bodies: np.ndarray):
        """Look for pairs of solids with some bodies (b,) bool alone."""
        self.solids.among = bodies
        try:
            yield
        finally:
            self.solids.among = None

    def contacts_of_solids(self, state, h: float) -> Contacts:
        """Those of `contacts` that are with solids, whose insides are known."""
        return no_contacts() if self.lonely or not self.any else self._contacts(state, h, surfaces=False)

    def _contacts(self, state, h: float, surfaces: bool = True) -> Contacts:
        """As `contacts`, looked for; surfaces: those between two surfaces as well."""
        # what is not finite is told elsewhere
        if not np.isfinite(state.x.sum() + state.body_position.sum()):
            return no_contacts()
        felt = state if self.arms is None else self.arms.moving(self.solids.kernels, state)
        found = self.stretched(state)._found(felt, h, surfaces)
        if not len(found):
            return found
        state = felt
        slack, soon = SLACK * self.size_of(found), np.empty(len(found), bool)
        sides = (found.node, found.weight, found.body, found.point, found.normal, found.gap, slack)
        motion = (state.velocity_triples(), state.body_position, len(state.x), h, self.acceleration)
        self.solids.kernels.bodies.closing(*sides, *motion, self.solids.stopped, soon)
        return found.these(soon)

    def _found(self, state, h: float, surfaces: bool) -> Contacts:
        """All contacts within reach; surfaces: those between two surfaces as well."""
        solids, softs = self.solids, self.things.soft_count
        speed = lengths(state.body_velocity)
        speed += lengths(state.body_angular_velocity) * np.where(np.isinf(solids.radius), 0, solids.radius)
        fall = 2 * h * h * self.acceleration
        body_reach = 2 * h * speed + fall + self.slack[softs:]
        placed = solids.placed(state)
        parts = [solids.contacts(state, placed, body_reach, self.slack[softs:], h, self.acceleration)]
        if self.meshed:
            x = self.meshed.places(state)
            velocities = self.meshed.velocities(state, x)
            reach = 2 * h * lengths(velocities) + fall + SLACK * self.meshed.size
            if self.mixed:
                parts.append(self.mixed.contacts(placed, x, reach, body_reach, self.spare))
            # both sides have theirs, and fall no more than one of them against the other
            reach = np.minimum(reach - 0.5 * fall, self.longest_reach * self.meshed.size)
            proofs = self.certificates if surfaces else None
            others, itself = self._may_touch(x, velocities, reach, h) if proofs else (False, False)
            if others or itself:
                parts.append(self.meshed.contacts(x, reach, softs, itself))
        return joined(parts)

    def _may_touch(self, x: np.ndarray, velocities: np.ndarray, reach: np.ndarray, h: float) -> tuple[bool, bool]:
        """Whether surfaces may touch others, and themselves: no body comes nearer to itself by moving as a whole. What
        was asked for last is known: spins of solids, which a step changes at its end, do not matter here."""
        asked, proofs = (np.array(h), x, velocities, reach), self.certificates
        if self._told is None or not all(np.array_equal(one, other) for one, other in zip(asked, self._told[0])):
            away = 2 * h * proofs.straying(x, velocities)
            within = np.minimum(away + SLACK * proofs.size, self.longest_reach * proofs.size)
            self._told = [one.copy() for one in asked], proofs.may_touch(x, reach, within)
        return self._told[1]

    def goes_beyond(self, state, h: float, u: np.ndarray) -> bool:
        """Whether nodes with velocities u (n, 3) go further in a step of h [s] than contacts with solids, which are
        looked for along twice the way of the velocities at its start, tell."""
        if not self.mixed:
            return False
        change = np.maximum(np.abs(u - state.v).max(axis=1) - 2 * h * self.acceleration, 0.0)
        return bool(np.any(h * change > SLACK * self.meshed.size[: len(u)]))

    def times(self, start, end, motion: np.ndarray, turn: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The parts of their ways that nodes (n,) and rigid bodies (b,) may go from one state to another before they
        meet something, 1 where they meet nothing; motion, turn (b, 3) [m, rad]: of the bodies between the two.

        Nodes and vertices of meshes go straight, convex bodies turn evenly.
        """
        if not self.any:
            return np.ones(len(start.x)), np.ones(len(self.solids.code))
        ends = (self.stretched(start), self.stretched(end))
        placed = [one.solids.placed(state) for one, state in zip(ends, (start, end))]
        boxes = [one.solids.boxes(each, np.zeros(len(motion))) for one, each in zip(ends, placed)]
        if self.arms is None:
            return self._times(start, end, motion, turn, placed, boxes)
        fixed, *way = self.arms.swept(start, end, ends[0].solids, ends[1].solids, motion, turn)
        nodes, bodies = self._with_solids(fixed)._times(way[0], end, *way[1:], placed, boxes)
        self.arms.together(bodies)
        return nodes, bodies

    def _times(self, start, end, motion, turn, placed: list, boxes: list) -> tuple[np.ndarray, np.ndarray]:
        """As `times`; placed, boxes (b, 3): of solids at both ends of the way."""
        solids, n = self.solids, len(start.x)
        low, high = self._swept(*boxes, turn)
        nodes, bodies = np.ones(n), solids.times(start, motion, turn, low, high)
        bodies = np.minimum(bodies, solids.plane_times(placed, boxes))
        if self.meshed:
            x, y = self.meshed.places(start), self.meshed.places(end)
            times = np.ones(len(x))
            if self.mixed:
                times, of_bodies = self.mixed.times(start, y, x, motion, turn, low, high)
                bodies = np.minimum(bodies, of_bodies)
            others, itself = self.certificates.may_meet(x, y) if self.certificates else (False, False)
            if others or itself:
                times = np.minimum(times, self.meshed.times(x, y, itself))
            np.minimum.at(bodies, self.meshed.mesh_body, times[n:])
            nodes = times[:n]
        return nodes, bodies

    def meetings(self, start, end) -> np.ndarray:
        """Nodes (k, 4), or -1 for points of rigid meshes, of pairs of features of surfaces that meet on their way from
        one state to another."""
        if not (self.meshed and self.certificates):
            return np.zeros((0, 4), np.int64)
        points = self.meshed.meetings(self.meshed.places(start), self.meshed.places(end), True)[0]
        return np.where(points < len(start.x), points, -1)

    def _swept(self, start: tuple, end: tuple, turn: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Boxes (b, 3) of the bodies' whole ways between boxes, low and high, at the start and at the end."""
        radius = np.where(np.isinf(self.solids.radius), 0.0, self.solids.radius)
        # between two directions a point on a circle lies beyond their chord
        beyond = radius * (1 - np.cos(np.minimum(0.5 * lengths(turn), np.pi / 2)))
        low, high = np.minimum(start[0], end[0]), np.maximum(start[1], end[1])
        return low - beyond[:, None], high + beyond[:, None]


def _asked(state, h: float) -> tuple:
    """What contacts depend on."""
    return np.array(h), state.x, state.v, *state.pose[2:], state.body_velocity, state.body_angular_velocity


def detect(model, state, h: float) -> Contacts:
    """All contacts of the scene at the state's positions that may close within about two steps."""
    return model.colliders.contacts(state, h)
