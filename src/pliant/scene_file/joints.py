"""The tables [[joint]] of a scene file: which keys each type has and what they may hold."""

from math import pi
from typing import Any

from pydantic import ConfigDict

from pliant.scene.catalogue import JOINTS
from pliant.scene_file.loads import MovingNumber, Nodes
from pliant.scene_file.values import (
    Direction,
    Flag,
    Name,
    NonNegative,
    NotZero,
    Number,
    Positive,
    Share,
    Table,
    Text,
    TwoPoints,
    Vector,
    choice,
    finite_list,
    leaf,
    real,
)

Swing = real(low=0, high=pi, open_low=True)
Limits = leaf(lambda value: finite_list(value, 2), "2 finite numbers, [low, high] in radians or metres")


class MotorTable(Table):
    """What drives a coordinate: a velocity, or a position with a stiffness."""

    velocity: MovingNumber = None
    position: MovingNumber = None
    stiffness: Positive = None
    damping: NonNegative = None
    max_torque: Positive = None
    max_force: Positive = None


class CoordinateTable(Table):
    """What a free coordinate has."""

    limits: Limits = None
    motor: MotorTable = None
    friction: NonNegative = None
    stiffness: NonNegative = None
    damping: NonNegative = None
    rest: Number = None
    limit_stiffness: Positive = None
    limit_damping: NonNegative = None
    restitution: Share = None


class OptionsTable(Table):
    """[[joint]]: what every joint has."""

    type: choice(*JOINTS)
    name: Name = None
    compliance: NonNegative = None
    damping: NonNegative = None
    break_force: Positive = None
    break_torque: Positive = None
    collide: Flag = None


class JointTable(OptionsTable):
    """What joints between two things have."""

    a: Text
    b: Text


class BallTable(JointTable):
    """type = "ball" """

    at: Vector
    axis: Direction = None
    swing: Swing = None
    twist: Limits = None


class FixedTable(JointTable):
    """type = "fixed" """

    at: Vector
    nodes: Nodes = None


class BetweenTable(JointTable):
    """type = "distance" or "rope" """

    at: TwoPoints
    length: Positive = None


class SpringTable(BetweenTable):
    """type = "spring" """

    stiffness: NonNegative


class AxisTable(JointTable):
    """type = "on_plane", and what other joints with an axis have"""

    at: Vector
    axis: Direction


class OneCoordinateTable(AxisTable):
    """type = "hinge" or "slider" """

    limits: Limits = None
    motor: MotorTable = None
    free: CoordinateTable = None


class CylindricalTable(AxisTable):
    """type = "cylindrical" """

    travel: CoordinateTable = None
    angle: CoordinateTable = None


class UniversalTable(AxisTable):
    """type = "universal" """

    second_axis: Direction
    first: CoordinateTable = None
    second: CoordinateTable = None


class PlanarTable(AxisTable):
    """type = "planar" """

    along: Direction = None
    first: CoordinateTable = None
    second: CoordinateTable = None
    angle: CoordinateTable = None


class OnLineTable(AxisTable):
    """type = "on_line" """

    travel: CoordinateTable = None


class TorsionTable(AxisTable):
    """type = "torsion" """

    stiffness: NonNegative
    rest: Number = None


class GearTable(OptionsTable):
    """type = "gear" """

    first: Text
    second: Text
    ratio: NotZero


class RackTable(OptionsTable):
    """type = "rack" """

    first: Text
    second: Text
    radius: NotZero


class ScrewTable(OptionsTable):
    """type = "screw" """

    first: Text
    lead: NotZero


class PathTable(Table):
    """A point of a tendon's path."""

    body: Text
    at: Vector


class TendonTable(OptionsTable):
    """type = "tendon" """

    path: list[PathTable]
    length: MovingNumber = None
    stiffness: Positive = None


class AttachTable(JointTable):
    """type = "attach" """

    within: NonNegative = None


class UnknownJointTable(OptionsTable):
    """A joint of no known type: its own keys cannot be judged."""

    model_config = ConfigDict(extra="ignore")


JOINT_TABLES = {
    "ball": BallTable,
    "fixed": FixedTable,
    "distance": BetweenTable,
    "rope": BetweenTable,
    "spring": SpringTable,
    "hinge": OneCoordinateTable,
    "slider": OneCoordinateTable,
    "cylindrical": CylindricalTable,
    "universal": UniversalTable,
    "planar": PlanarTable,
    "on_line": OnLineTable,
    "on_plane": AxisTable,
    "torsion": TorsionTable,
    "gear": GearTable,
    "rack": RackTable,
    "screw": ScrewTable,
    "tendon": TendonTable,
    "attach": AttachTable,
}
# keys with tables of their own: those of coordinates
COORDINATES = ("free", "travel", "angle", "first", "second")


def joint_table(data: Any) -> type[Table]:
    """The table of a joint by its `type`."""
    kind = data.get("type") if isinstance(data, dict) else None
    return JOINT_TABLES.get(kind, UnknownJointTable) if isinstance(kind, str) else UnknownJointTable
