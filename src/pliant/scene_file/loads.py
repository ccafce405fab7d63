"""The tables of a scene file that say pins and loads, and which nodes or faces they act on; see docs/scene-file.md."""

from typing import Annotated

from pydantic import Field

from pliant.scene.held import SPREADS
from pliant.scene_file.values import (
    Direction,
    NonNegative,
    Number,
    Positive,
    Table,
    Text,
    TwoPoints,
    Vector,
    axes_of,
    choice,
    index_list,
    leaf,
    number_list,
    one_of,
    selection_text,
)

Times = leaf(number_list, "2 or more ascending times [s]")


class KeyframesTable(Table):
    """A vector that changes in time, linear between times [s]."""

    times: Times
    values: Annotated[list[Vector], Field(description="an array of vectors, one for each time")]


class NumberKeyframesTable(Table):
    """A number that changes in time, linear between times [s]."""

    times: Times
    values: leaf(number_list, "an array of numbers, one for each time")


MovingVector = one_of(other=Vector, what="3 finite numbers, [x, y, z]", times=KeyframesTable, values=KeyframesTable)
MovingNumber = one_of(other=Number, what="a finite number", times=NumberKeyframesTable, values=NumberKeyframesTable)


class InBoxTable(Table):
    """Nodes or face centres in the box between two corners."""

    box: TwoPoints


class CentreRadius(Table):
    """A ball."""

    centre: Vector
    radius: NonNegative


class InSphereTable(Table):
    """Nodes or face centres in a ball."""

    sphere: CentreRadius


class PointNormal(Table):
    """A plane and the side of it."""

    point: Vector
    normal: Direction


class InHalfSpaceTable(Table):
    """Nodes or face centres on one side of a plane."""

    halfspace: PointNormal


class InSetTable(Table):
    """Nodes of a named set of the mesh file; faces with all their nodes in it."""

    set: Text


class NodeIndicesTable(Table):
    """Nodes by number."""

    indices: leaf(lambda value: index_list(value, "node"), "an array of node numbers from 0")


class FaceIndicesTable(Table):
    """Faces of the boundary by number."""

    indices: leaf(lambda value: index_list(value, "face"), "an array of face numbers from 0")


PLACES = {"box": InBoxTable, "sphere": InSphereTable, "halfspace": InHalfSpaceTable, "set": InSetTable}
WHERE = 'comparisons such as "x < 0.01 and z >= 0.5" or "x < 0 or x > 1", or "all"'
Where = leaf(selection_text, WHERE)
Nodes = one_of(other=Where, what=WHERE, **PLACES, indices=NodeIndicesTable)
Faces = one_of(other=Where, what=WHERE, **PLACES, indices=FaceIndicesTable)


class NodeSelectionTable(Table):
    """Nodes alone."""

    nodes: Nodes


class FaceSelectionTable(Table):
    """Faces alone."""

    faces: Faces


class PinTable(Table):
    """[[soft.pin]]"""

    nodes: Nodes
    axes: leaf(axes_of, "letters of 'xyz'") = None
    velocity: MovingVector = None
    displacement: MovingVector = None


class ClampTable(Table):
    """[[cloth.clamp]]"""

    nodes: Nodes
    velocity: MovingVector = None
    displacement: MovingVector = None


class WindTable(Table):
    """[[cloth.wind]]"""

    velocity: MovingVector
    drag: NonNegative = None
    lift: NonNegative = None
    density: Positive = None


class NodeForceTable(Table):
    """[[soft.force]]"""

    nodes: Nodes
    vector: MovingVector
    spread: choice(*SPREADS) = None


class TractionTable(Table):
    """[[soft.traction]]"""

    faces: Faces
    vector: MovingVector


class PressureTable(Table):
    """[[soft.pressure]]"""

    faces: Faces
    pressure: MovingNumber


class BodyForceTable(Table):
    """[[rigid.force]]"""

    vector: MovingVector
    at: Vector = None


class TorqueTable(Table):
    """[[rigid.torque]]"""

    vector: MovingVector
