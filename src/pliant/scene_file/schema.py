"""The tables of a scene file: which keys each has and what they may hold; see docs/scene-file.md.

A key that may be left out has no default here: what is left out takes the default of the Python call.
"""

from typing import Any

from pliant.meshes.from_surface import GRADINGS, METHODS, STEEPEST
from pliant.meshes.generate import BOX_PATTERNS
from pliant.meshes.sheets import GRID_PATTERNS
from pliant.scene.contact_options import ALL_GROUPS, OVERLAPS
from pliant.scene_file.loads import (
    BodyForceTable,
    ClampTable,
    MovingVector,
    NodeForceTable,
    PinTable,
    PressureTable,
    TorqueTable,
    TractionTable,
    WindTable,
)
from pliant.scene_file.materials import MaterialOrName
from pliant.scene_file.values import (
    FORMAT,
    AnyTable,
    Direction,
    Flag,
    Inertia,
    Name,
    NonNegative,
    Positive,
    Quaternion,
    Share,
    Size,
    Table,
    Text,
    Vector,
    cell_counts,
    choice,
    format_number,
    leaf,
    number_rows,
    one_of,
    points_or_file,
    positive_list,
    real,
    two_names,
    whole,
)


class SceneTable(Table):
    """The file itself; its tables are checked one by one, so that one bad table does not hide the next."""

    format: leaf(format_number, str(FORMAT))
    gravity: Vector = None
    overlaps: choice(*OVERLAPS) = None
    order: list[Text] = None
    run: AnyTable = None
    materials: AnyTable = None
    soft: list[Any] = ()
    cloth: list[Any] = ()
    rigid: list[Any] = ()
    rod: list[Any] = ()
    joint: list[Any] = ()
    contact: list[Any] = ()


class BoxMesh(Table):
    """A box with a corner at the origin, of so many cells."""

    box: Size
    cells: leaf(lambda value: cell_counts(value, 3), "a whole number above 0, or 3 of them, [along x, y, z]")
    pattern: choice(*BOX_PATTERNS) = None
    order: whole(1, 2) = None


class SphereMesh(Table):
    """A ball around the origin; cells from the centre to the surface."""

    sphere: Positive
    cells: whole(1, 1_000_000)
    order: whole(1, 2) = None


class CylinderSize(Table):
    """Radius and height [m]."""

    radius: Positive
    height: Positive


class CylinderMesh(Table):
    """An upright cylinder from z = 0; cells along the radius and along the axis."""

    cylinder: CylinderSize
    cells: leaf(lambda value: cell_counts(value, 2), "a whole number above 0, or 2 of them, [radial, axial]")
    order: whole(1, 2) = None


def _grading(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value not in GRADINGS:
        raise ValueError("is not one of the choices")
    return value


class TetrahedralizeTable(Table):
    """How a surface is filled with tets; see pliant.meshes.tetrahedralize."""

    size: Positive = None
    grading: leaf(_grading, f"one of {', '.join(map(str, GRADINGS))}") = None
    min_dihedral: real(low=0, high=STEEPEST, open_low=True) = None
    sharp: real(low=0, high=180, open_low=True) = None
    max_volume: Positive = None
    max_radius_edge: Positive = None
    max_volume_error: Positive = None
    method: choice(*METHODS) = None


class FileMesh(Table):
    """A mesh file in the folder of the scene file; one of a surface is filled with tets."""

    file: Text
    repair: Flag = None
    order: whole(1, 2) = None
    tetrahedralize: TetrahedralizeTable = None


class DrawingTable(Table):
    """A surface in the folder of the scene file."""

    file: Text
    repair: Flag = None


Groups = whole(0, ALL_GROUPS)


class ContactTable(Table):
    """[[contact]], of two bodies."""

    between: leaf(two_names, "the names of two bodies, [name, name]")
    collide: Flag = None
    friction: NonNegative = None
    restitution: Share = None


class PlacedTable(Table):
    """What every body and every rod has."""

    name: Name = None
    position: Vector = None
    rotation: Quaternion = None
    friction: NonNegative = None
    restitution: Share = None
    collide: Flag = None
    group: Groups = None
    mask: Groups = None


class BodyTable(PlacedTable):
    """What every body has."""

    rolling_friction: NonNegative = None
    torsional_friction: NonNegative = None
    thickness: Positive = None


class SoftTable(BodyTable):
    """[[soft]]"""

    mesh: one_of(box=BoxMesh, sphere=SphereMesh, cylinder=CylinderMesh, file=FileMesh)
    material: MaterialOrName
    velocity: Vector = None
    self_contact: Flag = None
    drawing: DrawingTable = None
    pin: list[PinTable] = ()
    force: list[NodeForceTable] = ()
    traction: list[TractionTable] = ()
    pressure: list[PressureTable] = ()


class GridMesh(Table):
    """A rectangle with a corner at the origin, of so many cells."""

    grid: leaf(lambda value: positive_list(value, 2), "2 positive numbers, [along x, along y]")
    cells: leaf(lambda value: cell_counts(value, 2), "a whole number above 0, or 2 of them, [along x, along y]")
    pattern: choice(*GRID_PATTERNS) = None


class DiskMesh(Table):
    """A disk around the origin; cells from the centre to the rim."""

    disk: Positive
    cells: whole(1, 1_000_000)


class SheetFile(Table):
    """A surface in the folder of the scene file."""

    file: Text
    repair: Flag = None


class FibresTable(Table):
    """Yarns of a sheet."""

    direction: Direction
    young: Positive


class ClothTable(BodyTable):
    """[[cloth]]"""

    mesh: one_of(grid=GridMesh, disk=DiskMesh, file=SheetFile)
    material: MaterialOrName
    thickness: Positive
    thins: Flag = None
    bend_stiffness: NonNegative = None
    flat: Flag = None
    contact_distance: Positive = None
    velocity: Vector = None
    self_contact: Flag = None
    fibres: list[FibresTable] = ()
    pin: list[PinTable] = ()
    clamp: list[ClampTable] = ()
    force: list[NodeForceTable] = ()
    traction: list[TractionTable] = ()
    pressure: list[PressureTable] = ()
    wind: list[WindTable] = ()


class CapsuleSize(Table):
    """Radius and length [m], along z; without a length it is a ball."""

    radius: Positive
    length: NonNegative


class SphereShape(Table):
    """A ball."""

    sphere: Positive


class BoxShape(Table):
    """A box by its edge lengths."""

    box: Size


class CapsuleShape(Table):
    """A cylinder with round ends."""

    capsule: CapsuleSize


class RoundSize(Table):
    """Radius and length [m], along z."""

    radius: Positive
    length: Positive


class CylinderShape(Table):
    """A cylinder."""

    cylinder: RoundSize


class ConeShape(Table):
    """A cone."""

    cone: RoundSize


class PlaneShape(Table):
    """The half-space below a plane, by its outward normal."""

    plane: Direction


class MeshShape(Table):
    """A closed surface in the folder of the scene file."""

    mesh: Text
    repair: Flag = None


class HullShape(Table):
    """The convex hull of points, or of a mesh file in the folder of the scene file."""

    hull: leaf(points_or_file, "an array of points [x, y, z], or a file in the folder of the scene file")
    repair: Flag = None


class Heights(Table):
    """Ground over a rectangle: heights [m], here or in a file of the folder of the scene file."""

    size: leaf(lambda value: positive_list(value, 2), "2 positive numbers, [along x, along y]")
    heights: leaf(number_rows, "an array of arrays of finite numbers, all of one length") = None
    file: Text = None


class HeightfieldShape(Table):
    """Ground."""

    heightfield: Heights


SHAPE_TABLES = {
    "sphere": SphereShape,
    "box": BoxShape,
    "capsule": CapsuleShape,
    "cylinder": CylinderShape,
    "cone": ConeShape,
    "plane": PlaneShape,
    "mesh": MeshShape,
    "hull": HullShape,
    "heightfield": HeightfieldShape,
}


class RigidTable(BodyTable):
    """[[rigid]]"""

    shape: one_of(**SHAPE_TABLES)
    density: Positive = None
    mass: Positive = None
    inertia: Inertia = None
    velocity: MovingVector = None
    angular_velocity: MovingVector = None
    static: Flag = None
    force: list[BodyForceTable] = ()
    torque: list[TorqueTable] = ()
