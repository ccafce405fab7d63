"""Joints between rigid bodies, soft bodies and the world. Lengths in m, compliance in m/N (rotational: rad/(N m))."""

from dataclasses import dataclass, field

from pliant.checks import label, number, vector
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


JOINTS = {"ball": Ball, "fixed": Fixed, "distance": Distance}
