"""[[rod]] of a scene file, both ways: its tables, how they become a rod, and how a rod becomes a table."""

from typing import Any

import numpy as np

from pliant.scene.contact_options import CONTACT_KEYS
from pliant.scene.rods import MOST_STRETCHED, NOT_OF_RODS, Rod, RodPoint
from pliant.scene.sections import SECTIONS, THICKEST, THINNEST, Section
from pliant.scene_file.loads import MovingVector
from pliant.scene_file.materials import MaterialOrName
from pliant.scene_file.schema import PlacedTable, SheetFile
from pliant.scene_file.values import (
    Flag,
    Table,
    Vector,
    finite_list,
    leaf,
    number_rows,
    one_of,
    real,
    whole,
)

ROD_KEYS = tuple(key for key in CONTACT_KEYS if key not in NOT_OF_RODS)
"""What a rod says about its contacts."""

MOST_POINTS = 10_000_000
"""Numbers of points lie below."""


def _points(value: Any) -> list[list[float]]:
    return [finite_list(point, 3) for point in number_rows(value)]


def _edges(value: Any) -> list[list[int]]:
    rows = number_rows(value)
    if not rows or any(len(row) != 2 or any(not float(entry).is_integer() for entry in row) for row in rows):
        raise ValueError("is not an array of pairs of whole numbers")
    if not all(0 <= entry < MOST_POINTS for row in rows for entry in row):
        raise ValueError("is out of range")
    return [[int(entry) for entry in row] for row in rows]


def _vectors(value: Any) -> list:
    return _points(value) if isinstance(value, list) and value and isinstance(value[0], list) else finite_list(value, 3)


def _sizes(value: Any, count: int) -> list[float]:
    sizes = finite_list(value, count)
    if min(sizes) < THINNEST or max(sizes) > THICKEST:
        raise ValueError("is out of range")
    return sizes


Thick = real(low=THINNEST, high=THICKEST)


def _section_table(kind: str) -> type[Table]:
    """A table with one key, the kind of a section, that holds its sizes."""
    names = SECTIONS[kind]
    if len(names) == 1:
        sizes = Thick
    else:
        allowed = f"{len(names)} numbers from {THINNEST:g} to {THICKEST:g}, [{', '.join(names)}]"
        sizes = leaf(lambda value: _sizes(value, len(names)), allowed)
    return type(f"{kind.capitalize()}Section", (Table,), {"__annotations__": {kind: sizes}, "__doc__": f"A {kind}."})


Vectors = leaf(_vectors, "3 finite numbers, or an array of such vectors, one for each segment")


class ClampTable(Table):
    """[[rod.clamp]]"""

    point: whole(0, MOST_POINTS - 1)
    velocity: MovingVector = None
    angular_velocity: MovingVector = None


class PointForceTable(Table):
    """[[rod.force]]"""

    point: whole(0, MOST_POINTS - 1)
    vector: MovingVector
    at: Vector = None


class PointTorqueTable(Table):
    """[[rod.torque]]"""

    point: whole(0, MOST_POINTS - 1)
    vector: MovingVector


class RodTable(PlacedTable):
    """[[rod]]"""

    points: leaf(_points, "an array of points [x, y, z]") = None
    mesh: SheetFile = None
    edges: leaf(_edges, "an array of pairs of point numbers from 0") = None
    closed: Flag = None
    segments: whole(1, 1_000_000) = None
    material: MaterialOrName
    radius: Thick = None
    section: one_of(**{kind: _section_table(kind) for kind in SECTIONS}) = None
    normal: Vectors = None
    curvature: Vectors = None
    straight: Flag = None
    stretched: real(low=1 / MOST_STRETCHED, high=MOST_STRETCHED) = None
    velocity: Vector = None
    self_contact: Flag = None
    clamp: list[ClampTable] = ()
    force: list[PointForceTable] = ()
    torque: list[PointTorqueTable] = ()


def make_section(table: Table) -> Section:
    """The section that a `section` table describes."""
    kind = next(key for key in SECTIONS if hasattr(table, key))
    sizes = getattr(table, kind)
    return Section(kind, tuple(sizes) if isinstance(sizes, list) else (sizes,))


def rod_table(rod: Rod, given, plain, material: dict[str, Any]) -> dict[str, Any]:
    """A rod as a table; given, plain: how fields and values are said."""
    table = {"name": rod.name, "points": rod.points.tolist(), **_edges_said(rod), "material": material}
    kind, sizes = rod.section.kind, rod.section.sizes
    table |= {"radius": sizes[0]} if kind == "circle" else {"section": {kind: list(sizes)}}
    table |= {} if rod.normal is None else {"normal": np.asarray(rod.normal, float).tolist()}
    if np.any(rod.curvature):
        even = np.all(rod.curvature == rod.curvature[0])
        table["curvature"] = (rod.curvature[0] if even else rod.curvature).tolist()
    table |= given(rod, "position", "rotation", "velocity", *ROD_KEYS, "self_contact", "straight", "stretched")
    table["clamp"] = [{"point": i, **_motion(point, plain)} for i, point in enumerate(rod) if point.static]
    table["force"] = [
        {"point": i, "vector": plain(f.vector), **({} if f.at is None else {"at": list(f.at)})}
        for i, point in enumerate(rod)
        for f in point.forces
    ]
    table["torque"] = [{"point": i, "vector": plain(t)} for i, point in enumerate(rod) for t in point.torques]
    return table


def _motion(point: RodPoint, plain) -> dict[str, Any]:
    """How a clamp moves."""
    said = {key: plain(getattr(point, key)) for key in ("velocity", "angular_velocity")}
    return {key: value for key, value in said.items() if value != [0.0, 0.0, 0.0]}


def _edges_said(rod: Rod) -> dict[str, Any]:
    """Edges, but of a line of points whether it is closed."""
    line = np.arange(len(rod.points))
    simple = np.stack([line[:-1], line[1:]], axis=1)
    if np.array_equal(rod.edges, simple):
        return {}
    if np.array_equal(rod.edges, np.concatenate([simple, [[len(rod.points) - 1, 0]]])):
        return {"closed": True}
    return {"edges": rod.edges.tolist()}
