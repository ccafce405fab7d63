"""Scene files by grammar (from the tables of the schema, so that a new key is tried on the day it is there) and by
mutation of good ones."""

import json
import tomllib
from copy import deepcopy
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

from hypothesis import strategies as st

import formulas
from bases import BASES
from mutations import bytes_mutated
from pliant import scene_file
from pliant.scene_file.run import solver_table
from pliant.scene_file.values import Table
from pliant.solve.options import SOLVERS

EXAMPLES = sorted((Path(__file__).parents[2] / "examples" / "scenes").glob("*.toml"))
ODD = (None, True, 0, 1, -1, 2, 3, 1e-200, 1e200, 10**30, 1e308, "", "a", "ball", "beam", "x < 0.5", "x" * 400, [], {})
ODD += ([1, 2], [0, 0, 0], [1, 2, 3], [1, 0, 0, 0], ["ball", "beam"], [[0, 0, 0], [1, 1, 1]], {"a": 1}, "world")
ODD += ({"times": [0, 1], "values": [1, 2]}, {"box": [[0, 0, 0], [1, 1, 1]]}, [{}], [[[]]], "all", "../a.msh")


@cache
def every_table() -> list[list[str]]:
    """The keys of each table of the schema, and of the options of each solver."""
    found = {solver_table(name) for name in SOLVERS}
    for module in iter_modules(scene_file.__path__, "pliant.scene_file."):
        every = vars(import_module(module.name)).values()
        found |= {value for value in every if isinstance(value, type) and issubclass(value, Table)}
    return sorted(sorted(own.model_fields) for own in found - {Table})


@cache
def known_keys() -> list[str]:
    """All keys of all tables."""
    return sorted({key for keys in every_table() for key in keys})


@cache
def seen() -> dict[str, list[Any]]:
    """Values of each key in good files, and of the options of solvers."""
    found: dict[str, list[Any]] = {"type": list(SOLVERS)}
    for solver in SOLVERS.values():
        for key, value in vars(solver()).items():
            found.setdefault(key, []).append(value)

    def walk(value: Any) -> None:
        entries = value.items() if isinstance(value, dict) else ((None, entry) for entry in value)
        for key, entry in entries:
            if key is not None:
                found.setdefault(key, []).append(entry)
            if isinstance(entry, dict | list):
                walk(entry)

    for text in [*BASES.values(), *(path.read_bytes() for path in EXAMPLES)]:
        walk(tomllib.loads(text.decode()))
    return found


def value_of(draw, key: str, depth: int) -> Any:
    """A value for a key: one that was seen there, an odd one, or a table."""
    kind = draw(st.integers(0, 5))
    usual = seen().get(key, [])
    if key == "energy" and kind < 4:
        return draw(formulas.energies())
    if kind < 4 and usual:
        return deepcopy(usual[draw(st.integers(0, len(usual) - 1))])
    if kind == 5 and depth < 3:
        return table_of(draw, depth + 1)
    return deepcopy(ODD[draw(st.integers(0, len(ODD) - 1))])


def table_of(draw, depth: int = 0) -> dict:
    """A table with some of the keys of one in the schema."""
    keys = draw(st.sampled_from(every_table()))
    chosen = draw(st.lists(st.sampled_from(keys), max_size=6, unique=True)) if keys else []
    return {key: value_of(draw, key, depth) for key in chosen}


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every (table or array, key or number) in a value."""
    entries = list(value.items() if isinstance(value, dict) else enumerate(value))
    found = [(value, key) for key, _ in entries]
    for _, entry in entries:
        if isinstance(entry, dict | list):
            found += places(entry)
    return found


def change(draw, data: dict) -> None:
    """One thing in good tables is left out, said twice, added or becomes another."""
    every = places(data)
    if not every:
        return
    holder, key = every[draw(st.integers(0, len(every) - 1))]
    kind = draw(st.integers(0, 4))
    if kind == 0:
        del holder[key]
    elif kind == 1 and isinstance(holder, list):
        holder.insert(key, deepcopy(holder[key]))
    elif kind == 2 and isinstance(holder, dict):
        new = draw(st.sampled_from(known_keys()))
        holder[new] = value_of(draw, new, 0)
    else:
        holder[key] = value_of(draw, key if isinstance(key, str) else "", 0)


@st.composite
def by_grammar(draw) -> bytes:
    """A file whose tables and keys are those of the schema."""
    data = tomllib.loads(draw(st.sampled_from(list(BASES.values()))).decode())
    for _ in range(draw(st.integers(0, 3))):
        change(draw, data)
    for key in ("soft", "rigid", "cloth", "rod", "joint", "contact"):
        if draw(st.integers(0, 29)) == 29 and isinstance(data.setdefault(key, []), list):
            data[key].append(table_of(draw))
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
    return bytes_mutated([*2 * list(BASES.values()), *(path.read_bytes() for path in EXAMPLES)])
