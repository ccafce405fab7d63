"""Scene files by grammar (from the tables of the schema, so that a new key is tried on the day it is there) and by
mutation of good ones."""

import json
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from mutations import bytes_mutated
from pliant.scene_file import joints, loads, rods, run, schema
from pliant.scene_file.values import Table

EXAMPLES = sorted((Path(__file__).parents[2] / "examples" / "scenes").glob("*.toml"))
SMALL = b"""format = 1
[run]
dt = 0.01
seconds = 0.1
output = [".vtu"]
[materials.rubber]
law = "corotated"
young = 1e5
poisson = 0.3
density = 1000
[[soft]]
name = "beam"
material = "rubber"
mesh = { box = [1, 0.2, 0.2], cells = [2, 1, 1] }
[[soft.pin]]
nodes = "x < 0.01 and z >= 0"
velocity = { times = [0, 1], values = [[0, 0, 0], [0, 0, 1]] }
[[soft.pressure]]
faces = { halfspace = { point = [0, 0, 0.2], normal = [0, 0, 1] } }
pressure = 100
[[rigid]]
name = "ball"
shape = { sphere = 0.1 }
density = 500
position = [0.5, 0.1, 1]
[[rigid]]
name = "block"
shape = { box = [0.2, 0.2, 0.2] }
mass = 1
position = [0.5, 0.1, 2]
[[rigid]]
name = "floor"
shape = { plane = [0, 0, 1] }
static = true
position = [0, 0, -1]
[[joint]]
type = "hinge"
name = "pivot"
a = "ball"
b = "block"
at = [0.5, 0.1, 1.5]
axis = [0, 1, 0]
limits = [-1, 1]
motor = { velocity = 1, max_torque = 3 }
[[joint]]
type = "ball"
a = "ball"
b = "beam"
at = [0.5, 0.1, 0.2]
[[contact]]
between = ["ball", "floor"]
friction = 0.3
"""
DRESSED = (
    SMALL
    + b"""[[cloth]]
name = "flag"
material = "rubber"
thickness = 0.001
mesh = { grid = [1, 1], cells = [2, 1] }
position = [0, 5, 0]
thins = false
fibres = [{ direction = [1, 0, 0], young = 1e5 }]
[[cloth.clamp]]
nodes = "x < 0.01"
[[cloth.wind]]
velocity = [0, 1, 0]
drag = 0.5
[[rod]]
name = "cable"
points = [[6, 0, 0], [6, 1, 0], [6, 1, 1]]
segments = 2
section = { tube = [0.02, 0.01] }
material = "rubber"
curvature = [0.1, 0, 0.2]
normal = [1, 0, 0]
straight = true
stretched = 1.01
[[rod.clamp]]
point = 0
angular_velocity = { times = [0, 1], values = [[0, 0, 0], [0, 0, 1]] }
[[rod.force]]
point = 4
vector = [0, 0, 1]
[[joint]]
type = "ball"
a = "cable.4"
b = "world"
at = [6, 1, 1]
"""
)
ODD = (None, True, 0, 1, -1, 2, 3, 1e-200, 1e200, 10**30, 1e308, "", "a", "ball", "beam", "x < 0.5", "x" * 400, [], {})
ODD += ([1, 2], [0, 0, 0], [1, 2, 3], [1, 0, 0, 0], ["ball", "beam"], [[0, 0, 0], [1, 1, 1]], {"a": 1}, "world")
ODD += ({"times": [0, 1], "values": [1, 2]}, {"box": [[0, 0, 0], [1, 1, 1]]}, [{}], [[[]]], "all", "../a.msh")


def tables(module) -> list[type[Table]]:
    """The tables that a module of the schema has."""
    own = [value for value in vars(module).values() if isinstance(value, type) and issubclass(value, Table)]
    return [value for value in own if value is not Table]


@cache
def known_keys() -> list[str]:
    """All keys of all tables."""
    found = {key for module in (schema, joints, loads, rods, run) for own in tables(module) for key in own.model_fields}
    return sorted(found)


@cache
def seen() -> dict[str, list[Any]]:
    """Values of each key in good files."""
    found: dict[str, list[Any]] = {}

    def walk(value: Any) -> None:
        entries = value.items() if isinstance(value, dict) else ((None, entry) for entry in value)
        for key, entry in entries:
            if key is not None:
                found.setdefault(key, []).append(entry)
            if isinstance(entry, dict | list):
                walk(entry)

    for text in [DRESSED, *(path.read_bytes() for path in EXAMPLES)]:
        walk(tomllib.loads(text.decode()))
    return found


def value_of(draw, key: str, depth: int) -> Any:
    """A value for a key: one that was seen there, an odd one, or a table of any keys."""
    kind = draw(st.integers(0, 5))
    usual = seen().get(key, [])
    if kind < 4 and usual:
        return usual[draw(st.integers(0, len(usual) - 1))]
    if kind == 5 and depth < 3:
        return table_of(draw, known_keys(), depth + 1)
    return ODD[draw(st.integers(0, len(ODD) - 1))]


def table_of(draw, keys: list[str], depth: int = 0) -> dict:
    """A table with some of some keys."""
    chosen = draw(st.lists(st.sampled_from(keys), max_size=6, unique=True))
    return {key: value_of(draw, key, depth) for key in chosen}


def varied(draw, value: Any, depth: int = 0) -> Any:
    """A good value with a few places changed."""
    if isinstance(value, dict):
        kept = {key: varied(draw, entry, depth + 1) for key, entry in value.items() if draw(st.integers(0, 30)) != 30}
        if draw(st.integers(0, 12)) == 12:
            key = draw(st.sampled_from(known_keys()))
            kept[key] = value_of(draw, key, depth)
        return kept
    if isinstance(value, list):
        return [varied(draw, entry, depth + 1) for entry in value] * (1 + (draw(st.integers(0, 40)) == 40))
    return ODD[draw(st.integers(0, len(ODD) - 1))] if draw(st.integers(0, 40)) == 40 else value


@st.composite
def by_grammar(draw) -> bytes:
    """A file whose tables and keys are those of the schema."""
    base = draw(st.sampled_from((SMALL, DRESSED)))
    data = varied(draw, tomllib.loads(base.decode()))
    for key in ("soft", "rigid", "cloth", "rod", "joint", "contact"):
        if draw(st.integers(0, 6)) == 6:
            data.setdefault(key, [])
            if isinstance(data[key], list):
                data[key].append(table_of(draw, known_keys()))
    return "\n".join(written(data)).encode()


def written(data: dict) -> list[str]:
    """The lines of a file; None is left out."""
    return [f"{json.dumps(key)} = {toml(value)}" for key, value in data.items() if value is not None]


def toml(value: Any) -> str:
    """A value as TOML."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(k)} = {toml(v)}" for k, v in value.items() if v is not None) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(toml(entry) for entry in value if entry is not None) + "]"
    if isinstance(value, float):
        return repr(value).replace("e+", "e") if "." in repr(value) or "e" in repr(value) else repr(value) + ".0"
    return json.dumps(value)


def by_mutation():
    """A good file, changed as a text."""
    return bytes_mutated([SMALL, *[DRESSED] * 3, *(path.read_bytes() for path in EXAMPLES)])
