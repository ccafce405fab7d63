"""What acts on bodies, as kept records: pins, forces at nodes, tractions and pressures on faces, forces on bodies."""

from dataclasses import dataclass

from pliant.scene.selections import Selection


@dataclass(frozen=True, eq=False)
class Pin:
    """Nodes whose motion along some axes ("x" to "xyz") is prescribed; held still when neither is given.

    velocity: (3,) [m/s]. displacement: from where the scene puts the nodes, (3,) or, in ascending order of the k
    selected nodes, (k, 3) [m]. Each may be a function of time that returns such values.
    """

    nodes: Selection
    axes: str = "xyz"
    velocity: object = None
    displacement: object = None


SPREADS = ("even", "area")
"""How a force on nodes is spread: the same on each; by the area of the selected part of the boundary around each."""


@dataclass(frozen=True, eq=False)
class NodeForce:
    """A total force (3,) [N], or a function of time, spread over nodes; `spread` is one of SPREADS."""

    nodes: Selection
    vector: object
    spread: str = "even"


@dataclass(frozen=True, eq=False)
class FaceTraction:
    """A dead load on faces: a force per area before deformation, (3,) [Pa], or a function of time."""

    faces: Selection
    vector: object


@dataclass(frozen=True, eq=False)
class FacePressure:
    """A pressure [Pa], or a function of time, that follows faces as they move and pushes inward where positive."""

    faces: Selection
    pressure: object


@dataclass(frozen=True, eq=False)
class BodyForce:
    """A force [N] on a rigid body at a point fixed in the body (None: the centre of mass), or a function of time."""

    vector: object
    at: tuple[float, float, float] | None
