"""Whatever is refused while a scene file is read is said with the file, the key, and what is allowed there."""

import inspect
import re
import tomllib
from dataclasses import fields, is_dataclass
from importlib import import_module
from pkgutil import iter_modules

import pytest

import pliant as pl
from bases import BASES, put_files
from pliant import meshes, scene
from pliant.scene.bodies import Rigid, Soft
from pliant.scene.cloth import Cloth
from pliant.scene.rods import RodPoint
from pliant.scene.scene import Scene
from pliant.scene_file.files import from_tables
from pliant.scene_file.run import option_kinds
from pliant.solve.options import MOST, SOLVERS

CALLED = {
    meshes: ("box", "sphere", "cylinder", "grid", "disk", "read", "tetrahedralize"),
    Soft: ("pin", "force", "traction", "pressure", "set_thickness"),
    Cloth: ("clamp", "wind"),
    Rigid: ("force", "torque"),
    RodPoint: ("clamp",),
    Scene: ("add_soft", "add_cloth", "add_rigid", "add_rod", "join", "contact", "ignore_contact"),
}
"""What files call beside the makers of things."""


def makers() -> list[type]:
    """Everything of a scene that checks what it is made of; the scene itself has nothing that files do not check."""
    modules = [import_module(module.name) for module in iter_modules(scene.__path__, "pliant.scene.")]
    every = {
        kind for module in modules for kind in vars(module).values() if inspect.isclass(kind) and is_dataclass(kind)
    }
    own = {kind for kind in every if "__post_init__" in vars(kind) and kind.__module__.startswith("pliant.scene")}
    return sorted(own - {Scene}, key=lambda kind: kind.__qualname__)


TARGETS = {kind.__qualname__: (kind, "__post_init__") for kind in makers()}
TARGETS |= {f"{owner.__name__}.{name}": (owner, name) for owner, names in CALLED.items() for name in names}
NOT_SAID = {"BetweenPoints", "Coupling", "JointOptions", "OneCoordinate"}
"""What joints inherit from and override."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("files")
    put_files(path)
    return path


def problems(data: dict, folder) -> list[str]:
    """The lines of what is wrong with the tables of a file."""
    try:
        from_tables(data, folder, "F.toml")
    except pl.SceneError as error:
        return str(error).split("\n")
    return []


@pytest.mark.parametrize("target", TARGETS)
def test_no_error_of_a_file_is_said_without_its_key(target, monkeypatch, folder):
    owner, name = TARGETS[target]

    def refuse(*arguments, **options):
        raise pl.SceneError("refused by the test")

    monkeypatch.setattr(owner, name, refuse)
    lines = []
    for text in BASES.values():
        lines += problems(tomllib.loads(text.decode()), folder)
    assert any("refused by the test" in line for line in lines) or target in NOT_SAID
    key = r"F\.toml: (materials|soft|cloth|rigid|rod|joint|contact|run)[.\[][^:]*: .* -> "
    assert [line for line in lines if not re.match(key, line)] == []


def numbers_of(value, path=()):
    """Where tables hold numbers, by the keys that lead there."""
    if isinstance(value, dict | list):
        for key, entry in value.items() if isinstance(value, dict) else enumerate(value):
            yield from numbers_of(entry, (*path, key))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield path


def changed(text: bytes, path: tuple, value) -> dict:
    """The tables of a file with another value at one place; of a body nothing but that body."""
    data = tomllib.loads(text.decode())
    table = data
    for key in path[:-1]:
        table = table[key]
    table[path[-1]] = value
    for body in data.get("soft", ()):  # no mesh is made that is not asked about
        if path[2:3] != ("mesh",) and "tetrahedralize" in body["mesh"]:
            body["mesh"] = {"box": [1, 1, 1], "cells": 1}
    if path[0] in ("soft", "cloth", "rigid", "rod"):
        return {"format": 1, "materials": data.get("materials", {}), path[0]: [data[path[0]][path[1]]]}
    return data


def every_number() -> dict[tuple, tuple[bytes, tuple]]:
    """One place for each key that holds numbers, in each kind of table."""
    found = {}
    for text in BASES.values():
        data = tomllib.loads(text.decode())
        for path in (path for path in numbers_of(data) if path[:2] != ("run", "solver")):
            kind = tuple(
                data["joint"][path[1]]["type"] if path[0] == "joint" and k == 1 else key for k, key in enumerate(path)
            )
            found.setdefault(tuple(key for key in kind if isinstance(key, str)), (text, path))
    return found


PYTHON = re.compile(r"must (not be 0|be (a|two|three)( positive| finite| whole)* numbers?)")
"""How Python says which numbers it takes."""


def test_files_allow_no_numbers_that_python_does_not(folder):
    wider = []
    for key, (text, path) in every_number().items():
        [line, *_] = problems(changed(text, path, "none"), folder)
        allowed = line.rpartition("allowed: ")[2]
        bounds = [float(found) for found in re.findall(r"-?\d[\d.]*(?:e[-+]?\d+)?", allowed)]
        for value in {-1, 0, 1e-90, 1e90, *bounds}:
            value = int(value) if "whole" in allowed else value
            lines = problems(changed(text, path, value), folder)
            wider += [(key, value, line) for line in lines if "; allowed: " not in line and PYTHON.search(line)]
    assert wider == []


@pytest.mark.parametrize("name", SOLVERS)
def test_options_of_solvers_are_allowed_in_files_as_in_python(name, folder):
    for key, kind in option_kinds(SOLVERS[name]).items():
        default = next(field.default for field in fields(SOLVERS[name]) if field.name == key)
        for value in (default, -1, 0, 0.5, 1, MOST, MOST + 1, 2**40, "none", True, [1]):
            if value is None:
                continue
            lines = problems({"format": 1, "run": {"solver": {"type": name, key: value}}}, folder)
            try:
                SOLVERS[name](**{key: value})
            except pl.SceneError as error:
                assert len(lines) == 1 and lines[0].startswith(f"F.toml: run.solver.{key}: ")
                assert lines[0].endswith(f"-> {error}")
            else:
                assert lines == [], (key, kind)
