"""What joints of each type have, key by key, as the page asks for it: read from the tables of scene files."""

from typing import Any, get_type_hints

from pliant.scene_file import joints as said

KINDS = (
    *((said.Vector, "point"), (said.TwoPoints, "points"), (said.Direction, "direction"), (said.Limits, "limits")),
    *((said.CoordinateTable, "coordinate"), (said.MotorTable, "motor"), (said.Nodes, "nodes"), (said.Flag, "flag")),
    *((said.Number, "number"), (said.Positive, "number"), (said.NonNegative, "number"), (said.MovingNumber, "moving")),
    *((said.NotZero, "number"), (said.Swing, "number")),
    *((said.Text, "name"), (list[said.PathTable], "path")),
)
UNITS = (
    {"compliance": "m/N", "damping": "N s/m", "break_force": "N", "break_torque": "N m", "length": "m", "within": "m"}
    | {"stiffness": "N/m", "at": "m", "swing": "rad", "twist": "rad", "rest": "rad", "radius": "m", "lead": "m"}
    | {"limits": "m"}
)
TURNING = {
    "hinge": {"limits": "rad", "free": "rad"},
    "torsion": {"stiffness": "N m/rad", "damping": "N m s/rad"},
    "universal": {"first": "rad", "second": "rad"},
    "cylindrical": {"angle": "rad"},
    "planar": {"angle": "rad"},
}
"""Units of joints that turn, where they are others; coordinates that are no angle are lengths."""

START = {"stiffness": 1000.0, "ratio": -1.0, "radius": 0.1, "lead": 0.01}
"""With which numbers a new joint begins that it needs."""


def joint_keys() -> dict[str, dict[str, Any]]:
    """Of every type of joint its keys: kind, unit, whether it is needed, and with what number it begins."""
    return {name: _keys(name, table) for name, table in said.JOINT_TABLES.items()}


def _keys(name: str, table: type[said.OptionsTable]) -> dict[str, Any]:
    hints, found = get_type_hints(table, include_extras=True), {}
    for key, field in table.model_fields.items():
        if key in ("type", "name"):
            continue
        kind = next(kind for hint, kind in KINDS if hints[key] is hint or hints[key] == hint)
        unit = TURNING.get(name, {}).get(key, "m" if kind == "coordinate" else UNITS.get(key, ""))
        found[key] = {"kind": kind, "unit": unit, "needed": field.is_required(), "start": START.get(key)}
    return found
