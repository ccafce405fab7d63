"""What bodies, their loads and rules of contact have, key by key, as the page asks for it: read from scene files."""

from typing import Any, get_type_hints

from pliant.meshes.from_surface import GRADINGS, METHODS
from pliant.meshes.generate import BOX_PATTERNS
from pliant.meshes.sheets import GRID_PATTERNS
from pliant.scene.held import SPREADS
from pliant.scene.sections import SECTIONS
from pliant.scene_file import loads, rods, schema
from pliant.scene_file.values import Direction, Flag, Inertia, NonNegative, Number, Positive, Share, Table, Vector

TABLES = (
    {"soft": schema.SoftTable, "cloth": schema.ClothTable, "rigid": schema.RigidTable, "rod": rods.RodTable}
    | {"contact": schema.ContactTable, "tetrahedralize": schema.TetrahedralizeTable, "box": schema.BoxMesh}
    | {"grid": schema.GridMesh, "soft.force": loads.NodeForceTable, "cloth.fibres": schema.FibresTable}
    | {"cloth.wind": loads.WindTable, "rigid.force": loads.BodyForceTable, "rigid.torque": loads.TorqueTable}
    | {"rod.clamp": rods.ClampTable, "rod.force": rods.PointForceTable, "rod.torque": rods.PointTorqueTable}
)
"""Tables by the names under which the page knows them."""

KINDS = (
    *((Vector, "vector"), (rods.Vectors, "vector"), (Direction, "direction"), (Flag, "flag"), (Inertia, "numbers")),
    *((loads.MovingVector, "moving"), (loads.Nodes, "nodes"), (schema.Groups, "groups"), (Share, "number")),
    *((Number, "number"), (Positive, "number"), (NonNegative, "number")),
)
NUMBERS = ("order", "point", "segments", "radius", "stretched", "min_dihedral", "sharp")
"""Keys of other numbers, with bounds of their own."""

CHOICES: dict[str, dict[str, list]] = {
    "tetrahedralize": {"method": list(METHODS), "grading": list(GRADINGS)},
    "box": {"pattern": list(BOX_PATTERNS)},
    "grid": {"pattern": list(GRID_PATTERNS)},
    "soft.force": {"spread": list(SPREADS)},
}
UNITS = (
    {"rolling_friction": "m", "torsional_friction": "m", "thickness": "m", "contact_distance": "m", "at": "m"}
    | {"velocity": "m/s", "angular_velocity": "rad/s", "displacement": "m", "density": "kg/m³", "mass": "kg"}
    | {"young": "Pa", "bend_stiffness": "N m", "inertia": "kg m²", "curvature": "1/m", "radius": "m", "size": "m"}
    | {"min_dihedral": "°", "sharp": "°", "max_volume": "m³"}
)
FORCES = {"soft.force": "N", "rigid.force": "N", "rod.force": "N", "rigid.torque": "N m", "rod.torque": "N m"}
YES = ("collide", "thins", "self_contact")
"""Flags that are true where nothing is said."""


def body_keys() -> dict[str, Any]:
    """Of every table its keys: kind, unit, whether it is needed, what it may be and what it is where nothing is said;
    and the sizes of every section that a rod may have."""
    return {name: _keys(name, table) for name, table in TABLES.items()} | {"sections": SECTIONS}


def _keys(name: str, table: type[Table]) -> dict[str, Any]:
    hints, found = get_type_hints(table, include_extras=True), {}
    for key, field in table.model_fields.items():
        choices = CHOICES.get(name, {}).get(key)
        kind = "choice" if choices else _kind(key, hints[key])
        unit = FORCES.get(name, "") if key == "vector" else UNITS.get(key, "")
        said = {"kind": kind, "unit": unit, "needed": field.is_required(), "yes": key in YES}
        found[key] = said | ({"choices": choices} if choices else {})
    return found


def _kind(key: str, hint: Any) -> str:
    """How a key is edited; "other": by a panel of its own, or not at all."""
    known = next((kind for known, kind in KINDS if hint is known or hint == known), "other")
    return "number" if known == "other" and key in NUMBERS else known
