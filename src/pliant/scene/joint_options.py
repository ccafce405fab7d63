"""What every joint has, and the world as one side of one."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import wraps
from math import inf
from typing import ClassVar

from pliant.checks import flag, label, number, number_or_infinity, refusal, shown, unit_vector, vector
from pliant.errors import SceneError
from pliant.scene.contact_options import ContactOptions
from pliant.scene.coordinates import Coordinate, Motor
from pliant.scene.sealed import Sealed


class World:
    """The fixed world, as one side of a joint: `pliant.world`."""

    name = "world"

    def __repr__(self) -> str:
        return "pliant.world"

    def __reduce__(self) -> str:  # there is one, also in copies of a scene
        return "world"


world = World()


def _naming(check: Callable) -> Callable:
    """A check of a joint whose errors begin with its name, if it has one."""

    @wraps(check)
    def checked(joint) -> None:
        try:
            check(joint)
        except SceneError as error:
            if isinstance(joint.name, str) and joint.name and repr(joint.name) not in str(error):
                error.args = (f"joint {joint.name!r}: {error}", *error.args[1:])
            raise

    return checked


@dataclass(eq=False, kw_only=True)
class JointOptions(Sealed):
    """What every joint has.

    compliance: inverse stiffness [m/N]; 0 is rigid. damping: [N s/m], acts with a compliance above 0.
    break_force [N], break_torque [N m]: a joint whose reaction exceeds one of them breaks after that step.
    collide: whether the two bodies also collide with each other. name: for files and messages.
    """

    compliance: float = 0.0
    damping: float = 0.0
    break_force: float = inf
    break_torque: float = inf
    collide: bool = False
    name: str | None = None
    LOOSE: ClassVar[tuple[str, ...]] = ()
    """Sides, "a" and "b", on which it fastens no point: what travels along an axis may be far from `at`."""

    def __init_subclass__(cls, **options):
        """Let what is wrong with a joint that has a name say the name."""
        super().__init_subclass__(**options)
        if "__post_init__" in vars(cls):
            cls.__post_init__ = _naming(cls.__post_init__)

    @classmethod
    def kind_name(cls) -> str:
        """What such a joint is called in scene files and messages."""
        return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in cls.__name__)[1:]

    @property
    def kind(self) -> str:
        """What it is called in scene files and messages."""
        return self.kind_name()

    @property
    def things(self) -> tuple:
        """The bodies, or pliant.world, that it holds on to."""
        return self.a, self.b

    @property
    def yields(self) -> bool:
        """Whether it gives way, so that damping acts."""
        return self.compliance > 0

    @property
    def coordinates(self) -> dict[str, Coordinate]:
        """What the joint's free coordinates have, by their names."""
        return {}

    def with_motor(self, coordinate: str, motor: Motor) -> "JointOptions":
        """This joint with another motor of a free coordinate."""
        joint, name = self.open_copy(), "free" if hasattr(self, "free") else coordinate
        if hasattr(self, "motor") and self.free is None:
            joint.motor = motor
        else:
            setattr(joint, name, replace(getattr(self, name), motor=motor))
        return joint

    def check_options(self) -> None:
        kind = self.kind
        self.compliance = number(self.compliance, f"{kind} joint compliance", low=0)
        self.damping = number(self.damping, f"{kind} joint damping", low=0)
        for name in ("break_force", "break_torque"):
            setattr(self, name, number_or_infinity(getattr(self, name), f"{kind} joint {name}"))
        self.collide = flag(self.collide, f"{kind} joint collide")
        self.name = None if self.name is None else label(self.name, f"{kind} joint name")
        if self.damping and not self.yields:
            raise SceneError(f"{kind} joint damping acts with a compliance or stiffness above 0; this one is rigid")
        if len(self.things) == 2 and self.things[0] is self.things[1]:
            raise SceneError(f"{kind} joint: it needs two different things, got {shown(self.things[0])} twice")
        for thing in self.things:
            if thing is not world and not isinstance(thing, ContactOptions):
                raise refusal(f"{kind} joint: each of its sides", "a body, or pliant.world", thing)

    def check_place(self) -> None:
        """The point of a joint, its direction, and the rest."""
        self.at = vector(self.at, f"{self.kind} joint at")
        if hasattr(self, "axis"):
            self.axis = unit_vector(self.axis, f"{self.kind} joint axis")
        self.check_options()

    def check_coordinate(self, name: str) -> None:
        """Something that a free coordinate has."""
        value = getattr(self, name)
        if not isinstance(value, Coordinate):
            raise refusal(f"{self.kind} joint {name}", "a pliant.Coordinate", value)
