"""Couplings of joints, tendons, and soft bodies attached to others."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf, pi

from pliant.checks import instance, number, number_or_function, optional_number, refusal, vector
from pliant.errors import SceneError
from pliant.scene.bodies import Rigid, Soft
from pliant.scene.joint_options import JointOptions


@dataclass(eq=False)
class Coupling(JointOptions):
    """Ties the coordinate of one joint to that of another: second = ratio times first (1 row)."""

    first: JointOptions
    second: JointOptions

    @property
    def things(self) -> tuple:
        return ()

    @property
    def ties(self) -> tuple[tuple[JointOptions, str], tuple[JointOptions, str], float]:
        """(joint, coordinate), (joint, coordinate), and how far the second goes as the first goes by one."""
        raise NotImplementedError  # abstract: each kind of coupling below says which

    def check_joint(self, joint, name: str, coordinate: str) -> None:
        """Whether a joint has such a coordinate."""
        if not isinstance(joint, JointOptions) or coordinate not in joint.coordinates:
            found = f"the {joint.kind} joint {joint.name!r}" if isinstance(joint, JointOptions) else repr(joint)
            raise SceneError(f"{self.kind} joint {name} must be a joint with a free {coordinate}, got {found}")

    def check_ratio(self, name: str) -> None:
        value = number(getattr(self, name), f"{self.kind} joint {name}")
        if value == 0.0:
            raise SceneError(f"{self.kind} joint {name} must not be 0")
        setattr(self, name, value)
        self.check_options()
        if min(self.break_force, self.break_torque) < inf:
            raise SceneError(f"{self.kind} joint: couplings do not break; let one of the joints they tie do so")


@dataclass(eq=False)
class Gear(Coupling):
    """Two hinges (or cylindrical joints): as the first turns by one radian, the second turns by `ratio`; negative for
    gears that mesh, which turn opposite ways. Two sliders: as the first travels by one metre, the second by `ratio`."""

    ratio: float

    def __post_init__(self):
        self.check_joint(self.first, "first", self.coordinate)
        self.check_joint(self.second, "second", self.coordinate)
        if self.first is self.second:
            raise SceneError("a gear joint needs two different joints")
        self.check_ratio("ratio")

    @property
    def coordinate(self) -> str:
        """What it ties: travel where the first joint has no free angle."""
        free = self.first.coordinates if isinstance(self.first, JointOptions) else {}
        return "travel" if "travel" in free and "angle" not in free else "angle"

    @property
    def ties(self):
        return (self.first, self.coordinate), (self.second, self.coordinate), self.ratio


@dataclass(eq=False)
class Rack(Coupling):
    """A pinion and its rack: as the hinge `first` turns by one radian, the slider `second` travels by `radius` [m]."""

    radius: float

    def __post_init__(self):
        self.check_joint(self.first, "first", "angle")
        self.check_joint(self.second, "second", "travel")
        self.check_ratio("radius")

    @property
    def ties(self):
        return (self.first, "angle"), (self.second, "travel"), self.radius


@dataclass(eq=False)
class Screw(Coupling):
    """A thread: as the cylindrical joint `first` turns once, it travels by `lead` [m]; negative for a left-hand
    thread."""

    second: None = field(default=None, init=False)
    lead: float = field(kw_only=True)

    def __post_init__(self):
        self.check_joint(self.first, "first", "angle")
        self.check_joint(self.first, "first", "travel")
        self.check_ratio("lead")

    @property
    def ties(self):
        return (self.first, "angle"), (self.first, "travel"), self.lead / (2 * pi)


@dataclass(eq=False)
class Tendon(JointOptions):
    """A rope through points of bodies, over which it slides freely: [(body or pliant.world, point), ...], two or more.

    length: the most its way may be long [m], a number or a function of time; None: as it is at the start. It pulls and
    never pushes. stiffness [N/m]: of an elastic tendon, with `damping` [N s/m]; None: it does not stretch.
    """

    path: Sequence
    length: object = None
    stiffness: float | None = field(default=None, kw_only=True)

    @property
    def yields(self) -> bool:
        return self.stiffness is not None

    def __post_init__(self):
        if not isinstance(self.path, tuple | list) or len(self.path) < 2:
            raise refusal("tendon path", "a list of two or more pairs (body, point)", self.path)
        path = []
        for k, entry in enumerate(self.path):
            if not isinstance(entry, tuple | list) or len(entry) != 2:
                raise refusal(f"tendon path[{k}]", "a pair (body, point)", entry)
            path.append((entry[0], vector(entry[1], f"tendon path[{k}] point")))
        self.path = tuple(path)
        if callable(self.length):
            self.length = number_or_function(self.length, "tendon length")
        else:
            self.length = optional_number(self.length, "tendon length", low=0, open_low=True)
        self.stiffness = optional_number(self.stiffness, "tendon stiffness", low=0, open_low=True)
        self.check_options()
        if self.compliance:
            raise SceneError("a tendon has a stiffness [N/m] and no compliance")

    @property
    def things(self) -> tuple:
        return tuple(thing for thing, _ in self.path)

    @property
    def a(self):
        return self.path[0][0]

    @property
    def b(self):
        return self.path[-1][0]


@dataclass(eq=False)
class Attach(JointOptions):
    """Welds the soft body `b` to `a`: its nodes in or on the shape of a rigid body, or those that touch the surface of
    another soft body.

    within: how far nodes may be from the shape or surface [m] and still be attached; None: a millionth of the size of
    `b`. compliance [m/N] and damping are those of each node; break_force [N] is what a node is torn off at.
    """

    a: object
    b: object
    within: float | None = field(default=None, kw_only=True)

    def __post_init__(self):
        instance(self.b, "attach joint b", Soft, "a soft body")
        instance(self.a, "attach joint a", Rigid | Soft, "a rigid or soft body")
        self.within = optional_number(self.within, "attach within", low=0)
        self.check_options()
