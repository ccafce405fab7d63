"""What bodies and pairs of bodies say about their contacts."""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from pliant.checks import flag, instance, optional_number, whole
from pliant.errors import SceneError, said_of
from pliant.scene.sealed import Sealed

ALL_GROUPS = 2**63 - 1
"""The mask of a body that collides with every group: 63 bits."""

TORQUES = ("rolling_friction", "torsional_friction")
"""What rigid bodies alone say about their contacts."""

OVERLAPS = ("resolve", "refuse")
"""What becomes of bodies that overlap at the start: they are pushed apart; the scene is an error."""


@dataclass(eq=False, kw_only=True)
class ContactOptions(Sealed):
    """What every body says about its contacts.

    friction: Coulomb's coefficient, restitution: 0..1, both None to take what the other body in a contact says (0.5
    and 0 if neither does). rolling_friction, torsional_friction [m]: the torque that resists rolling, or turning about
    the normal, is at most this length times the normal force; None for none, unless the other body says one; of
    contacts between rigid bodies alone, and refused for soft ones.
    collide: False to pass through everything. group: the groups (bits) to which the body belongs, mask: those with
    which it collides; in a contact each body's mask must hold a group of the other. thickness [m]: contacts act at this
    distance from the surface of a soft body or a rigid mesh; None to leave it to the engine.
    """

    friction: float | None = None
    restitution: float | None = None
    rolling_friction: float | None = None
    torsional_friction: float | None = None
    collide: bool = True
    group: int = 1
    mask: int = ALL_GROUPS
    thickness: float | None = None

    def check_contact(self) -> None:
        name = getattr(self, "name", None)
        with said_of("" if name is None else repr(name)):
            for key in ("friction", *TORQUES):
                setattr(self, key, optional_number(getattr(self, key), key, low=0))
            self.restitution = optional_number(self.restitution, "restitution", low=0, high=1)
            self.thickness = optional_number(self.thickness, "thickness", low=0, open_low=True)
            self.collide = flag(self.collide, "collide")
            for key in ("group", "mask"):
                setattr(self, key, whole(getattr(self, key), key, 0, ALL_GROUPS, " (63 bits, one for each group)"))

    def check_again(self) -> None:
        self.check_contact()

    def may_touch(self, other: "ContactOptions") -> bool:
        """Whether this body and another accept each other: both collide, and each mask holds a group of the other."""
        instance(other, "the other", ContactOptions, "a body")
        accepted = self.mask & other.group and other.mask & self.group
        return bool(self.collide and other.collide and accepted)


CONTACT_KEYS = tuple(option.name for option in fields(ContactOptions))
"""The names of these options, in scene files too."""


@dataclass(frozen=True, eq=False)
class ContactRule:
    """What a scene says of the contact of two bodies `a` and `b`, in either order.

    collide: False when they pass through each other. friction, restitution: in place of what the bodies say; None to
    leave it to them.
    """

    a: Any
    b: Any
    collide: bool = True
    friction: float | None = None
    restitution: float | None = None

    def __post_init__(self):
        with said_of(" with ".join(repr(getattr(body, "name", body)) for body in (self.a, self.b))):
            numbers = (
                optional_number(self.friction, "contact friction", low=0),
                optional_number(self.restitution, "contact restitution", low=0, high=1),
            )
        for key, number in zip(("friction", "restitution"), numbers):
            object.__setattr__(self, key, number)

    @property
    def names(self) -> frozenset[str]:
        """The names of the two bodies."""
        return frozenset((self.a.name, self.b.name))

    def says_the_same(self, other: "ContactRule") -> bool:
        """Whether another rule of the same pair is no other rule."""
        keys = ("names", "collide", "friction", "restitution")
        return all(getattr(self, key) == getattr(other, key) for key in keys)

    def __str__(self) -> str:
        if not self.collide:
            return "they do not collide"
        said = {"friction": self.friction, "restitution": self.restitution}
        return ", ".join(f"{key} {value:g}" for key, value in said.items() if value is not None)


def check_thickness(thickness: float, points: np.ndarray, whose: str) -> None:
    """Refuse layers [m] around a mesh of points (n, 3) that would meet inside it."""
    allowed = float(np.ptp(points, axis=0).min()) / 2
    if thickness > allowed:
        raise SceneError(
            f"thickness of {whose} must be at most {allowed:g} m, half of the smallest extent of its mesh, got "
            f"{thickness:g}"
        )
