"""Joints between rigid bodies, soft bodies and the world. Lengths in m, compliance in m/N (rotational: rad/(N m))."""

from dataclasses import dataclass, field
from math import inf, pi

from pliant.checks import label, number, number_or_function, unit_vector, vector
from pliant.errors import SceneError
from pliant.scene.selections import Selection, as_selection


class World:
    """The fixed world, as one side of a joint: `pliant.world`."""

    name = "world"

    def __repr__(self) -> str:
        return "pliant.world"


world = World()


@dataclass(eq=False, kw_only=True)
class JointOptions:
    """What every joint has.

    compliance: inverse stiffness [m/N]; 0 is rigid. damping: [N s/m], acts with a compliance above 0.
    collide: whether the two bodies also collide with each other. name: for files and messages.
    """

    compliance: float = 0.0
    damping: float = 0.0
    collide: bool = False
    name: str | None = None

    def check_options(self) -> None:
        kind = type(self).__name__.lower()
        self.compliance = number(self.compliance, f"{kind} joint compliance", low=0)
        self.damping = number(self.damping, f"{kind} joint damping", low=0)
        self.collide = bool(self.collide)
        self.name = None if self.name is None else label(self.name, f"{kind} joint name")
        if self.a is self.b:
            raise SceneError(f"a {kind} joint needs two different things, got {self.a!r} twice")


@dataclass(eq=False)
class Ball(JointOptions):
    """Holds the point `at` (world coordinates at the start) of `a` and of `b` together (3 rows)."""

    a: object
    b: object
    at: tuple[float, float, float]

    def __post_init__(self):
        self.at = vector(self.at, "ball joint at")
        self.check_options()


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
        self.at = vector(self.at, "fixed joint at")
        self.nodes = None if self.nodes is None else as_selection(self.nodes, "fixed joint nodes")
        self.check_options()


@dataclass(eq=False)
class Distance(JointOptions):
    """Keeps the distance between the point `at[0]` of `a` and `at[1]` of `b` (1 row); `length` None: as it is."""

    a: object
    b: object
    at: tuple[tuple[float, float, float], tuple[float, float, float]]
    length: float | None = None

    def __post_init__(self):
        if not hasattr(self.at, "__len__") or len(self.at) != 2:
            raise SceneError(f"distance joint at must be two points, got {self.at!r}")
        self.at = (vector(self.at[0], "distance joint at[0]"), vector(self.at[1], "distance joint at[1]"))
        if self.length is not None:
            self.length = number(self.length, "distance joint length", low=0, open_low=True)
        self.check_options()


@dataclass(frozen=True, kw_only=True)
class Motor:
    """Drives the free coordinate of a joint: to a velocity [rad/s], or towards a position [rad] like a spring with
    `stiffness` [N m/rad] and `damping` [N m s/rad], stable at any gain. Both may be functions of time. max_torque: the
    most it gives [N m]."""

    velocity: object = None
    position: object = None
    stiffness: float | None = None
    damping: float = 0.0
    max_torque: float = inf

    def __post_init__(self):
        if (self.velocity is None) == (self.position is None):
            raise SceneError("a motor needs either a velocity or a position")
        for name in ("velocity", "position"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, number_or_function(value, f"motor {name}"))
        if self.position is None and (self.stiffness is not None or self.damping):
            raise SceneError("motor stiffness and damping go with a position; a velocity is met as max_torque allows")
        if self.position is not None:
            if self.stiffness is None:
                raise SceneError("a motor with a position needs a stiffness [N m/rad]")
            object.__setattr__(self, "stiffness", number(self.stiffness, "motor stiffness", low=0, open_low=True))
        object.__setattr__(self, "damping", number(self.damping, "motor damping", low=0))
        if self.max_torque != inf:
            object.__setattr__(self, "max_torque", number(self.max_torque, "motor max_torque", low=0, open_low=True))


@dataclass(eq=False)
class Hinge(JointOptions):
    """Lets `b` turn about an axis of `a` through the point `at`, and nothing else (5 rows).

    axis: its direction in world coordinates at the start. The angle of the hinge is 0 there and grows as `b` turns
    about the axis by the right hand. limits: least and greatest angle [rad], less than a full turn apart. motor: a
    pliant.Motor. For rigid bodies and pliant.world.
    """

    a: object
    b: object
    at: tuple[float, float, float]
    axis: tuple[float, float, float]
    limits: tuple[float, float] | None = field(default=None, kw_only=True)
    motor: Motor | None = field(default=None, kw_only=True)

    def __post_init__(self):
        self.at = vector(self.at, "hinge joint at")
        self.axis = unit_vector(self.axis, "hinge joint axis")
        if self.limits is not None:
            self.limits = _angles(self.limits)
        if self.motor is not None and not isinstance(self.motor, Motor):
            raise SceneError(f"hinge joint motor must be a pliant.Motor, got {self.motor!r}")
        self.check_options()


def _angles(limits) -> tuple[float, float]:
    """Limits of a hinge: two angles [rad] in order, around 0, less than a full turn apart."""
    if not hasattr(limits, "__len__") or len(limits) != 2:
        raise SceneError(f"hinge joint limits must be two angles (low, high), got {limits!r}")
    low, high = (number(value, f"hinge joint limits[{k}]") for k, value in enumerate(limits))
    if not low < high:
        raise SceneError(f"hinge joint limits must be in order, low < high, got {limits!r}")
    if not low <= 0 <= high:
        raise SceneError(f"hinge joint limits must hold the angle 0 of the start, got {limits!r}")
    if high - low >= 2 * pi:
        raise SceneError(f"hinge joint limits must be less than a full turn (2 pi) apart, got {limits!r}")
    return low, high


JOINTS = {"ball": Ball, "fixed": Fixed, "distance": Distance, "hinge": Hinge}
