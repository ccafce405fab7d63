"""How a saved scene file looks: the order of its tables, inline or not, a few comments."""

import re
from typing import Any

import tomlkit
from tomlkit.items import AoT, Array, InlineTable, Table, Trivia

HEADER = (
    "A pliant scene: SI units (m, kg, s, N, Pa), z up, rotations (w, x, y, z).",
    "Run it with: pliant run FILE",
)
UNITS = {
    "young": "Pa",
    "density": "kg/m3",
    "mass": "kg",
    "damping": "s",
    "mass_damping": "1/s",
    "dt": "s",
    "seconds": "s",
    "gravity": "m/s2",
    "compliance": "m/N",
    "pressure": "Pa",
    "thickness": "m",
    "contact_distance": "m",
    "bend_stiffness": "N m",
    "rolling_friction": "m",
    "torsional_friction": "m",
}
LOADS = ("fibres", "pin", "clamp", "force", "traction", "pressure", "wind", "torque")
"""What bodies have several of, each a table of its own."""

WIDE = 24
"""How many numbers a line of a long list takes."""


def scene_text(tables: dict[str, Any]) -> str:
    """The text of a scene file from its plain tables."""
    document = tomlkit.document()
    for line in HEADER:
        document.add(tomlkit.comment(line))
    document.add(tomlkit.nl())
    fill(document, {key: tables[key] for key in ("format", "gravity", "overlaps", "order") if tables.get(key)})
    if tables["run"]:
        document.add("run", block(tables["run"]))
    if tables["materials"]:
        materials = tomlkit.table(is_super_table=True)
        for name, material in tables["materials"].items():
            materials.add(name, block(material))
        document.add("materials", materials)
    for kind in ("soft", "cloth", "rigid", "rod", "joint", "contact"):
        if tables[kind]:
            document.add(kind, blocks(tables[kind]))
    text = re.sub(r"\n{3,}", "\n\n", tomlkit.dumps(document))  # values hold no line breaks: text escapes them
    return text.rstrip("\n") + "\n"


def blocks(entries: list[dict[str, Any]]) -> AoT:
    """[[name]] tables, an empty line between."""
    array = tomlkit.aot()
    for entry in entries:
        array.append(block(entry))
    return array


def block(entries: dict[str, Any]) -> Table:
    """A [name] table."""
    table = tomlkit.table()
    loads = {key: value for key, value in entries.items() if key in LOADS and isinstance(value, list)}
    fill(table, {key: value for key, value in entries.items() if key not in loads})
    table.add(tomlkit.nl())
    for key, value in loads.items():
        if value:
            table.add(key, blocks(value))
    return table


def fill(container: Any, entries: dict[str, Any]) -> None:
    """Add keys and values, with their units."""
    for key, value in entries.items():
        container.add(key, inline(value))
        if key in UNITS and not (key == "damping" and "type" in entries):  # of a joint: N s/m
            container[key].comment(UNITS[key])


def inline(value: Any) -> Any:
    """A value on one line, but long lists of numbers on several."""
    if isinstance(value, dict):
        return inline_table(value)
    if isinstance(value, list):
        return array(value)
    return value


def inline_table(entries: dict[str, Any]) -> InlineTable:
    """{ key = value }"""
    table = tomlkit.inline_table()
    for key, value in entries.items():
        table.append(key, inline(value))
    return table


def array(values: list) -> Array:
    """[value, value]"""
    if len(values) > WIDE and not any(isinstance(value, str) for value in values):
        return LongArray(values)
    result = tomlkit.array()
    result.extend([inline(value) for value in values])
    return result


class LongArray(Array):
    """A long list of numbers or of vectors, several to a line, written in one go: tomlkit takes minutes for it."""

    def __init__(self, values: list):
        super().__init__([], Trivia())
        width = WIDE if not isinstance(values[0], list) else WIDE // 4
        lines = (values[start : start + width] for start in range(0, len(values), width))
        # Python and TOML write finite numbers and lists of them alike
        self.text = "[\n" + "".join(f"    {', '.join(map(repr, line))},\n" for line in lines) + "]"

    def as_string(self) -> str:
        """The text in the file."""
        return self.text
