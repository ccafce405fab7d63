"""Joints between rigid bodies, soft bodies and the world. Lengths in m, compliance in m/N (rotational: rad/(N m))."""

from dataclasses import dataclass, field
from math import inf, pi

import numpy as np

from pliant.checks import number, optional_number, refusal, unit_vector, vector
from pliant.errors import SceneError
from pliant.scene.coordinates import Coordinate, Motor, check_limits
from pliant.scene.joint_options import JointOptions
from pliant.scene.selections import Selection, as_selection


@dataclass(eq=False)
class Ball(JointOptions):
    """Holds the point `at` (world coordinates at the start) of `a` and of `b` together (3 rows).

    swing: greatest angle [rad] between the directions that `axis` has on both sides. twist: least and greatest turn
    [rad] about it.
    """

    a: object
    b: object
    at: tuple[float, float, float]
    axis: tuple[float, float, float] = field(default=(0.0, 0.0, 1.0), kw_only=True)
    swing: float | None = field(default=None, kw_only=True)
    twist: tuple[float, float] | None = field(default=None, kw_only=True)

    def __post_init__(self):
        self.check_place()
        if self.swing is not None:
            self.swing = number(self.swing, "ball joint swing", low=0, high=pi, open_low=True)
        if self.twist is not None:
            self.twist = check_limits(self.twist, "ball joint twist")


@dataclass(eq=False)
class Fixed(JointOptions):
    """Welds `a` to `b` (6 rows between rigid bodies).

    With a soft body it welds the nodes of the face nearest to `at`, or the selected `nodes` of the soft body, each
    like a ball joint.
    """

    a: object
    b: object
    at: tuple[float, float, float]
    nodes: Selection | None = field(default=None, kw_only=True)

    def __post_init__(self):
        self.nodes = None if self.nodes is None else as_selection(self.nodes, "fixed joint nodes")
        self.check_place()


@dataclass(eq=False)
class BetweenPoints(JointOptions):
    """Something between the point `at[0]` of `a` and `at[1]` of `b`; `length` None: as it is."""

    a: object
    b: object
    at: tuple[tuple[float, float, float], tuple[float, float, float]]
    length: float | None = None

    def __post_init__(self):
        kind = self.kind
        if not isinstance(self.at, tuple | list | np.ndarray) or len(np.atleast_1d(self.at)) != 2:
            raise refusal(f"{kind} joint at", "two points", self.at)
        self.at = (vector(self.at[0], f"{kind} joint at[0]"), vector(self.at[1], f"{kind} joint at[1]"))
        self.length = optional_number(self.length, f"{kind} joint length", low=0, open_low=True)
        self.check_options()
        if self.break_torque != inf:
            raise SceneError(f"{kind} joint: it carries no torque to break at; it has a break_force")


class Distance(BetweenPoints):
    """A rod: keeps the distance between the point `at[0]` of `a` and `at[1]` of `b` (1 row); `length` None: as it
    is."""


class Rope(BetweenPoints):
    """Keeps the distance between the point `at[0]` of `a` and `at[1]` of `b` from exceeding `length` (1 row);
    compliance [m/N]: it stretches. None: as long as the points are apart."""


@dataclass(eq=False)
class Spring(BetweenPoints):
    """A spring of `stiffness` [N/m] with a damper of `damping` [N s/m] between the point `at[0]` of `a` and `at[1]` of
    `b`; length: at rest, None: as it is. A stiffness of 0 is a damper alone."""

    stiffness: float = field(kw_only=True)
    yields = True

    def __post_init__(self):
        super().__post_init__()
        self.stiffness = number(self.stiffness, "spring joint stiffness", low=0)
        if self.compliance:
            raise SceneError("a spring joint has a stiffness [N/m] and no compliance")
        if not self.stiffness and not self.damping:
            raise SceneError("a spring joint needs a stiffness above 0, a damping above 0, or both")


@dataclass(eq=False)
class OnAxis(JointOptions):
    """A joint with an `axis` of `a` through the point `at`, world coordinates at the start. What `FREE` names may each
    be given as a pliant.Coordinate, and are 0 at the start."""

    a: object
    b: object
    at: tuple[float, float, float]
    axis: tuple[float, float, float]
    FREE = ()

    def __post_init__(self):
        self.check_place()
        for name in self.FREE:
            self.check_coordinate(name)

    @property
    def coordinates(self) -> dict[str, Coordinate]:
        return {name: getattr(self, name) for name in self.FREE}


@dataclass(eq=False)
class OneCoordinate(OnAxis):
    """A joint with one free coordinate along or about an axis; limits and motor may be given directly or, with what
    else a coordinate has, as `free`, a pliant.Coordinate."""

    limits: tuple[float, float] | None = field(default=None, kw_only=True)
    motor: Motor | None = field(default=None, kw_only=True)
    free: Coordinate | None = field(default=None, kw_only=True)

    def __post_init__(self):
        self.check_place()
        if self.limits is not None:
            self.limits = check_limits(self.limits, f"{self.kind} joint limits")
        if self.motor is not None and not isinstance(self.motor, Motor):
            raise refusal(f"{self.kind} joint motor", "a pliant.Motor", self.motor)
        if self.free is not None:
            self.check_coordinate("free")
            if self.limits is not None or self.motor is not None:
                raise SceneError(f"{self.kind} joint: limits and motor stand in free, or beside it, not both")

    @property
    def coordinates(self) -> dict[str, Coordinate]:
        free = self.free or Coordinate(limits=self.limits, motor=self.motor)
        return {"angle" if isinstance(self, Hinge) else "travel": free}


class Hinge(OneCoordinate):
    """Lets `b` turn about an axis of `a` through the point `at`, and nothing else (5 rows).

    axis: its direction in world coordinates at the start. The angle of the hinge is 0 there and grows as `b` turns
    about the axis by the right hand; full turns are counted. limits: least and greatest angle [rad], around 0. motor: a
    pliant.Motor. free: a pliant.Coordinate, with friction, a spring and more.
    """


class Slider(OneCoordinate):
    """Lets `b` travel along an axis of `a`, and nothing else (5 rows); limits [m], motor and free as for a hinge."""

    LOOSE = ("a", "b")


@dataclass(eq=False)
class Cylindrical(OnAxis):
    """Lets `b` travel along and turn about an axis of `a` through the point `at` (4 rows)."""

    travel: Coordinate = field(default=Coordinate(), kw_only=True)
    angle: Coordinate = field(default=Coordinate(), kw_only=True)
    FREE, LOOSE = ("travel", "angle"), ("a", "b")


@dataclass(eq=False)
class Universal(OnAxis):
    """A cross of two axes through the point `at`: `axis` of `a` and, perpendicular to it at the start, `second_axis` of
    `b` (4 rows)."""

    second_axis: tuple[float, float, float]
    first: Coordinate = field(default=Coordinate(), kw_only=True)
    second: Coordinate = field(default=Coordinate(), kw_only=True)
    FREE = ("first", "second")

    def __post_init__(self):
        super().__post_init__()
        self.second_axis = unit_vector(self.second_axis, "universal joint second_axis")
        if not _perpendicular(self.axis, self.second_axis):
            raise SceneError(f"universal joint axes must be perpendicular, got {self.axis} and {self.second_axis}")


@dataclass(eq=False)
class Planar(OnAxis):
    """Lets `b` slide in the plane of `a` through `at` across `axis`, and turn about that axis (3 rows).

    along: the direction in the plane in which the coordinate `first` is measured; `second` is across it.
    """

    along: tuple[float, float, float] | None = field(default=None, kw_only=True)
    first: Coordinate = field(default=Coordinate(), kw_only=True)
    second: Coordinate = field(default=Coordinate(), kw_only=True)
    angle: Coordinate = field(default=Coordinate(), kw_only=True)
    FREE, LOOSE = ("first", "second", "angle"), ("a", "b")

    def __post_init__(self):
        super().__post_init__()
        if self.along is not None:
            self.along = unit_vector(self.along, "planar joint along")
            if not _perpendicular(self.axis, self.along):
                raise SceneError(f"planar joint along must lie in the plane, across {self.axis}, got {self.along}")


def _perpendicular(one: tuple, two: tuple) -> bool:
    return abs(sum(p * q for p, q in zip(one, two))) <= 1e-6


@dataclass(eq=False)
class OnLine(OnAxis):
    """Keeps the point `at` of `b` on the line through it along `axis` of `a` (2 rows)."""

    travel: Coordinate = field(default=Coordinate(), kw_only=True)
    FREE, LOOSE = ("travel",), ("a",)


class OnPlane(OnAxis):
    """Keeps the point `at` of `b` in the plane through it across `axis` of `a` (1 row)."""

    LOOSE = ("a",)


@dataclass(eq=False)
class Torsion(OnAxis):
    """A torsional spring of `stiffness` [N m/rad] with a damper of `damping` [N m s/rad] about an axis, which holds
    nothing else; rest: the angle [rad] at which it is relaxed, 0 being that of the start."""

    stiffness: float = field(kw_only=True)
    rest: float = field(default=0.0, kw_only=True)
    yields, LOOSE = True, ("a", "b")

    def __post_init__(self):
        self.check_place()
        self.stiffness = number(self.stiffness, "torsion joint stiffness", low=0)
        self.rest = number(self.rest, "torsion joint rest")
        if self.break_force != inf:
            raise SceneError("a torsion joint has no force to break at; it has a break_torque")
        if self.compliance:
            raise SceneError("a torsion joint has a stiffness [N m/rad] and no compliance")

    @property
    def coordinates(self) -> dict[str, Coordinate]:
        return {"angle": Coordinate(stiffness=self.stiffness, damping=self.damping, rest=self.rest)}


def held_points(joint) -> list[tuple[object, tuple[float, float, float]]]:
    """The things a joint holds on to and the points at which it does, in world coordinates at the start."""
    if hasattr(joint, "path"):
        return joint.path
    if not hasattr(joint, "at"):
        return []
    at = joint.at if isinstance(joint, BetweenPoints) else (joint.at, joint.at)
    return list(zip((joint.a, joint.b), at))
