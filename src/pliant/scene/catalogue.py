"""All joints by the names they have in scene files."""

from pliant.scene.couplings import Attach, Gear, Rack, Screw, Tendon
from pliant.scene.joints import (
    Ball,
    Cylindrical,
    Distance,
    Fixed,
    Hinge,
    OnLine,
    OnPlane,
    Planar,
    Rope,
    Slider,
    Spring,
    Torsion,
    Universal,
)

PLACED = (Ball, Fixed, Distance, Rope, Spring, Hinge, Slider, Cylindrical, Universal, Planar, OnLine, OnPlane, Torsion)
OTHERS = (Gear, Rack, Screw, Tendon, Attach)


def _name(joint: type) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in joint.__name__)[1:]


JOINTS = {_name(joint): joint for joint in (*PLACED, *OTHERS)}
