"""What a free coordinate of a joint may have: limits, a motor, friction, a spring. N and m for travel, N m and rad for
angles."""

from dataclasses import dataclass
from math import inf

import numpy as np

from pliant.checks import instance, number, number_or_function, number_or_infinity, optional_number, refusal
from pliant.errors import SceneError


@dataclass(frozen=True, kw_only=True)
class Motor:
    """Drives the free coordinate of a joint: to a velocity [rad/s or m/s], or towards a position [rad or m] like a
    spring with `stiffness` [N m/rad or N/m] and `damping`, stable at any gain. Both may be functions of time.
    max_torque: the most it gives [N m, or N for travel]; max_force is another name for it."""

    velocity: object = None
    position: object = None
    stiffness: float | None = None
    damping: float = 0.0
    max_torque: float = inf
    max_force: float | None = None

    def __post_init__(self):
        if (self.velocity is None) == (self.position is None):
            raise SceneError("a motor needs either a velocity or a position")
        for name in ("velocity", "position"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, number_or_function(value, f"motor {name}"))
        object.__setattr__(self, "damping", number(self.damping, "motor damping", low=0))
        if self.position is None and (self.stiffness is not None or self.damping):
            raise SceneError("motor stiffness and damping go with a position; a velocity is met as max_torque allows")
        if self.position is not None:
            if self.stiffness is None:
                raise SceneError("a motor with a position needs a stiffness [N m/rad or N/m]")
            object.__setattr__(self, "stiffness", number(self.stiffness, "motor stiffness", low=0, open_low=True))
        bound = number_or_infinity(self.max_torque, "motor max_torque")
        if self.max_force is not None:
            if bound != inf:
                raise SceneError("a motor has max_torque or max_force, which mean the same, not both")
            bound = number_or_infinity(self.max_force, "motor max_force")
        object.__setattr__(self, "max_torque", bound)
        object.__setattr__(self, "max_force", None)

    def changed(self, changes: dict) -> "Motor":
        """This motor with other numbers; a new target takes the place of the old."""
        names = ("velocity", "position", "stiffness", "damping", "max_torque", "max_force")
        numbers = {name: getattr(self, name) for name in names}
        instance(changes, "changes", dict, "a dict of names and numbers")
        if wrong := set(changes) - set(names):
            raise SceneError(f"a motor has {', '.join(names)}, but no {', '.join(sorted(map(str, wrong)))}")
        if "max_force" in changes:
            numbers["max_torque"] = inf
        if changes.get("velocity") is not None:
            numbers |= {"position": None, "stiffness": None, "damping": 0.0}
        if changes.get("position") is not None:
            numbers["velocity"] = None
        return Motor(**(numbers | changes))


@dataclass(frozen=True, kw_only=True)
class Coordinate:
    """How a joint may move along one of its free coordinates, which is 0 at the start.

    limits: least and greatest value; stiff unless limit_stiffness [N/m or N m/rad] says otherwise, with limit_damping;
    restitution: of a limit that is run into, 0 to 1. motor: a pliant.Motor. friction: force [N or N m] that holds
    until it is exceeded. stiffness, damping, rest: a spring within the joint and where it is at rest.
    """

    limits: tuple[float, float] | None = None
    motor: Motor | None = None
    friction: float = 0.0
    stiffness: float = 0.0
    damping: float = 0.0
    rest: float = 0.0
    limit_stiffness: float | None = None
    limit_damping: float = 0.0
    restitution: float = 0.0

    def __post_init__(self):
        def put(name: str, value) -> None:
            object.__setattr__(self, name, value)

        if self.limits is not None:
            put("limits", check_limits(self.limits, "limits"))
        if self.motor is not None:
            instance(self.motor, "motor", Motor, "a pliant.Motor")
        for name in ("friction", "stiffness", "damping", "limit_damping"):
            put(name, number(getattr(self, name), name, low=0))
        put("rest", number(self.rest, "rest"))
        put("restitution", number(self.restitution, "restitution", low=0, high=1))
        put("limit_stiffness", optional_number(self.limit_stiffness, "limit_stiffness", low=0, open_low=True))
        if self.rest and not self.stiffness:
            raise SceneError("rest is where a spring is relaxed; it goes with a stiffness above 0")
        soft = self.limit_stiffness is not None or self.limit_damping or self.restitution
        if self.limits is None and soft:
            raise SceneError("limit_stiffness, limit_damping and restitution go with limits")
        if self.limit_damping and self.limit_stiffness is None:
            raise SceneError("limit_damping goes with limit_stiffness: a rigid limit stops at once")

    @property
    def driven(self) -> bool:
        """Whether there is a motor, friction or a spring."""
        return self.motor is not None or self.friction > 0 or self.stiffness > 0 or self.damping > 0


def check_limits(limits, name: str) -> tuple[float, float]:
    """Limits of a coordinate: two numbers in order, around 0."""
    if not isinstance(limits, tuple | list | np.ndarray) or np.shape(limits) != (2,):
        raise refusal(name, "two values (low, high)", limits)
    low, high = (number(value, f"{name}[{k}]") for k, value in enumerate(limits))
    if not low < high:
        raise refusal(name, "in order, low < high", limits)
    if not low <= 0 <= high:
        raise SceneError(f"{name} must hold the value 0 of the start, got {limits!r}")
    return low, high
