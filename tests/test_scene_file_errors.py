"""Bad scene files: each message names file, key, value and what is allowed, and all are shown together."""

import math
import random
import tomllib
from pathlib import Path

import pytest
import tomlkit

import pliant as pl
from pliant.scene_file import build as scene_build
from pliant.scene_file.files import load
from scene_texts import BALL, JOINT, MATERIAL, SOFT, errors, put

EXAMPLES = sorted((Path(__file__).parent.parent / "examples" / "scenes").glob("*.toml"))

# key: value -> what is wrong; allowed: ...
BAD_VALUES = {
    "no format": ("gravity = [0, 0, 0] # format", "format: (missing) -> is needed; allowed: 1"),
    "future format": ("format = 2", "format: 2 -> is not a format that this version reads; allowed: 1"),
    "unknown key": ("gravty = 1", "gravty: 1 -> unknown key (did you mean 'gravity'?); allowed: format, gravity,"),
    "short vector": ("gravity = [0, 1]", "gravity: [0, 1] -> is not an array of 3 numbers; allowed: 3 finite numbers"),
    "infinite": ("gravity = [0, 0, -inf]", "gravity: [0, 0, -inf] -> is not finite; allowed: 3 finite numbers"),
    "text number": ('gravity = [0, 0, "9.81"]', 'gravity: [0, 0, "9.81"] -> is not a number; allowed: 3 finite'),
    "huge integer": ("gravity = [0, 0, 1" + 400 * "0" + "]", "-> is larger than 1e+100; allowed: 3 finite numbers"),
    "not tables": ("soft = 3", "soft: 3 -> is not an array; allowed: an array (of tables: [[...]])"),
    "not a table": ("soft = [3]", "soft[0]: 3 -> is not a table; allowed: a table of name, position"),
    "run": ("run = 1", "run: 1 -> is not a table; allowed: a table"),
    "dt": ("[run]\ndt = 0", "run.dt: 0 -> is out of range; allowed: a finite number above 0"),
    "dt nan": ("[run]\ndt = nan", "run.dt: nan -> is not finite; allowed: a finite number above 0"),
    "dt true": ("[run]\ndt = true", "run.dt: true -> is not a number; allowed: a finite number above 0"),
    "threads": ("[run]\nthreads = 0", "run.threads: 0 -> is out of range; allowed: a whole number from 1 to 1024"),
    "device": ('[run]\ndevice = "metal"', "run.device: \"metal\" -> is not one of the choices; allowed: 'cpu', 'cuda'"),
    "precision": (
        '[run]\nprecision = "half"',
        "run.precision: \"half\" -> is not one of the choices; allowed: 'float32'",
    ),
    "color": (
        '[run]\ncolor = "strin"',
        "run.color: \"strin\" -> is not one of the choices (did you mean 'strain'?); al",
    ),
    "camera": ("[run]\ncamera = { eye = 1 }", "run.camera.eye: 1 -> is not an array of 3 numbers; allowed: 3 finite"),
    "output kind": ('[run]\noutput = ["a.exe"]', 'run.output[0]: "a.exe" -> has no known suffix; allowed: names or'),
    "output twice": (
        '[run]\noutput = [".gif", ".gif"]',
        'run.output[1]: ".gif" -> is listed twice; allowed: each name',
    ),
    "solver": (
        '[run]\nsolver = "dula"',
        "run.solver.type: \"dula\" -> is not one of the choices (did you mean 'dual'?); al",
    ),
    "solver type": (
        "[run]\nsolver = { type = [] }",
        "run.solver.type: [] -> is not one of the choices; allowed: 'newton', 'mixed'",
    ),
    "solver key": (
        "[run]\nsolver = { tolerence = 1 }",
        "run.solver.tolerence: 1 -> unknown key (did you mean 'tolerance'?); allowed: type, tolerance, max_iterations",
    ),
    "solver value": (
        "[run]\nsolver = { max_iterations = 1.5 }",
        "run.solver.max_iterations: 1.5 -> Newton max_iterations must be a whole number from 1 to 1000000000, got 1.5",
    ),
    "solver choice": (
        '[run]\nsolver = { type = "dual", method = "magic" }',
        "run.solver.method: \"magic\" -> Dual method must be one of 'mprgp', 'pgs', got 'magic'",
    ),
    "law": (
        MATERIAL.replace('"corotated"', '"corotate"'),
        "materials.rubber.law: \"corotate\" -> is not one of the choices (did you mean 'corotated'?); allowed:",
    ),
    "young": (MATERIAL.replace("1e6", "-1"), "materials.rubber.young: -1 -> is out of range; allowed: a finite number"),
    "no young": (MATERIAL.replace("young = 1e6", ""), "materials.rubber.young: (missing) -> is needed; allowed: a fin"),
    "incompressible": (
        MATERIAL.replace("0.4", "0.5"),
        "materials.rubber.poisson: 0.5 -> is incompressible, the bulk mod",
    ),
    "poisson": (
        MATERIAL.replace("0.4", "0.6"),
        "materials.rubber.poisson: 0.6 -> is out of range; allowed: a number ab",
    ),
    "plasticity": (
        MATERIAL + "plasticity = 1",
        "materials.rubber.plasticity: 1 -> is not a table; allowed: a table of",
    ),
    "odd material": (
        MATERIAL.replace("rubber", '"a.b"') + "x = 1",
        'materials."a.b".x: 1 -> unknown key; allowed: law',
    ),
    "no material": (
        SOFT.replace('"rubber"', '"ruber"'),
        "soft[0].material: \"ruber\" -> no material has this name (did you mean 'rubber'?); allowed: rubber",
    ),
    "fibres across": (
        MATERIAL + '[[cloth]]\nmesh = { grid = [1, 1], cells = 1 }\nmaterial = "rubber"\nthickness = 0.01\n'
        "fibres = [{ direction = [1, 0, 0], young = 1 }, { direction = [0, 0, 1], young = 1 }]",
        "cloth[0].fibres[1].direction: [0, 0, 1] -> fibres along [0.0, 0.0, 1.0] stand across triangle 0",
    ),
    "no mesh": (
        SOFT.replace("mesh", "# mesh"),
        "soft[0].mesh: (missing) -> is needed; allowed: a table with one of the",
    ),
    "mesh kind": (
        SOFT.replace("box", "cube"),
        "soft[0].mesh: { cube = [1, 1, 1], cells = 1 } -> is none of the known kinds; allowed: a table with one of the "
        "keys box, sphere, cylinder, file",
    ),
    "mesh size": (SOFT.replace("[1, 1, 1]", "[1, 0, 1]"), "soft[0].mesh.box: [1, 0, 1] -> is out of range; allowed: 3"),
    "mesh cells": (
        SOFT.replace("cells = 1", "cells = 0"),
        "soft[0].mesh.cells: 0 -> is not made of whole numbers above",
    ),
    "mesh pattern": (
        SOFT.replace("cells = 1", 'cells = 1, pattern = "seven"'),
        "soft[0].mesh.pattern: \"seven\" -> is not one of the choices; allowed: 'mirrored', 'five', 'six', 'twelve'",
    ),
    "huge mesh": (
        SOFT.replace("cells = 1", "cells = [1000, 1000, 1000]"),
        "soft[0].mesh: { box = [1, 1, 1], cells = [1000, 1000, 1000] } -> asks for 6000000000 tets; allowed: at most",
    ),
    "huge cylinder": (
        SOFT.replace("box = [1, 1, 1], cells = 1", "cylinder = { radius = 1, height = 1 }, cells = 99999"),
        "tets; allowed: at most 2000000 in a scene file, take fewer cells",
    ),
    "empty pin": (
        SOFT + '[[soft.pin]]\nnodes = "x > 2"',
        "soft[0].pin[0].nodes: \"x > 2\" -> pin of 'beam' selects no node; its nodes lie between",
    ),
    "pin code": (
        SOFT + "[[soft.pin]]\nnodes = \"__import__('os')\"",
        "soft[0].pin[0].nodes: \"__import__('os')\" -> selection \"__import__('os')\" is not understood; allowed",
    ),
    "pin nodes": (
        SOFT + "[[soft.pin]]\nnodes = { ball = 1 }",
        "soft[0].pin[0].nodes: { ball = 1 } -> is none of the known kinds; allowed: a table with one of the keys box, "
        "sphere, halfspace, set, indices; or comparisons such as",
    ),
    "pin set": (
        SOFT + '[[soft.pin]]\nnodes = { set = "left" }',
        "soft[0].pin[0].nodes: { set = \"left\" } -> the mesh has no node set 'left'; it has: none",
    ),
    "pin index": (
        SOFT + "[[soft.pin]]\nnodes = { indices = [99] }",
        "soft[0].pin[0].nodes: { indices = [99] } -> node indices must be in 0..7, got [99]",
    ),
    "pin indices": (
        SOFT + "[[soft.pin]]\nnodes = { indices = [-1] }",
        "soft[0].pin[0].nodes.indices: [-1] -> is not an array of whole numbers from 0; allowed: an array of node",
    ),
    "pin box": (
        SOFT + "[[soft.pin]]\nnodes = { box = [0, 1] }",
        "soft[0].pin[0].nodes.box: [0, 1] -> is not an array of 3 numbers; allowed: two points",
    ),
    "pin axes": (
        SOFT + '[[soft.pin]]\nnodes = "x < 2"\naxes = "w"',
        "soft[0].pin[0].axes: \"w\" -> is not made of these letters; allowed: letters of 'xyz'",
    ),
    "keyframes": (
        SOFT + '[[soft.pin]]\nnodes = "x < 2"\nvelocity = { times = [1, 0], values = [[0, 0, 0], [1, 1, 1]] }',
        "soft[0].pin[0].velocity: { times = [1, 0], values = [[0, 0, 0], [1, 1, 1]] } -> keyframes need at least two",
    ),
    "keyframe value": (
        SOFT + '[[soft.force]]\nnodes = "x < 2"\nvector = { times = [0, 1], values = [[0, 0, 0], [1, 1]] }',
        "soft[0].force[0].vector.values[1]: [1, 1] -> is not an array of 3 numbers; allowed: 3 finite numbers",
    ),
    "body name": (SOFT.replace('"beam"', '"a/b"'), 'soft[0].name: "a/b" -> is not a name; allowed: up to 100 letters'),
    "same name": (
        BALL + BALL,
        "rigid[1]: { name = \"ball\", shape = { sphere = 1 }, mass = 1 } -> body name 'ball' is",
    ),
    "world": (BALL.replace('"ball"', '"world"'), "-> body name 'world' is taken; names must be unique and not 'world'"),
    "shape": (
        BALL.replace("sphere", "spere"),
        "rigid[0].shape: { spere = 1 } -> is none of the known kinds; allowed: a",
    ),
    "radius": (
        BALL.replace("sphere = 1", "sphere = -1"),
        "rigid[0].shape.sphere: -1 -> is out of range; allowed: a fin",
    ),
    "plane": (BALL.replace("sphere = 1", "plane = [0, 0, 1]"), "-> a plane is infinite: add it with static=True"),
    "normal": (BALL.replace("sphere = 1", "plane = [0, 0, 0]"), "rigid[0].shape.plane: [0, 0, 0] -> has no length; al"),
    "rotation": (BALL + "rotation = [0, 0, 0, 0]", "rigid[0].rotation: [0, 0, 0, 0] -> has no length; allowed: 4 numb"),
    "static": (BALL + "static = 1", "rigid[0].static: 1 -> is not true or false; allowed: true or false"),
    "mass": (BALL.replace("mass = 1", ""), "-> a rigid body needs either density=... [kg/m3] or mass=... [kg]"),
    "inertia": (BALL + "inertia = [1, 2, -3]", "rigid[0].inertia: [1, 2, -3] -> inertia must be positive definite"),
    "restitution": (
        BALL + "restitution = 2",
        "rigid[0].restitution: 2 -> is out of range; allowed: a finite number at",
    ),
    "moving": (
        BALL + "velocity = { times = [0, 1], values = [[0, 0, 0], [1, 1, 1]] }",
        "-> velocity must be 3 finite numbers",
    ),
    "joint type": (
        JOINT.replace('type = "ball"', 'type = "bal"'),
        'joint[0].type: "bal" -> is not one of the choices (did',
    ),
    "joint body": (
        JOINT.replace('a = "ball"', 'a = "bal"'),
        "joint[0].a: \"bal\" -> no body has this name (did you mean 'ball'?); allowed: ball, world",
    ),
    "joint twice": (
        JOINT.replace('"world"', '"ball"'),
        'joint[0]: { type = "ball", a = "ball", b = "ball", at = [0, 0',
    ),
    "joint at": (JOINT.replace("[0, 0, 0]", "[0]"), "joint[0].at: [0] -> is not an array of 3 numbers; allowed: 3 fin"),
    "order": (
        BALL.replace("[[", 'order = ["bal"]\n[['),
        'order: ["bal"] -> does not name every body once; allowed: the',
    ),
}


@pytest.mark.parametrize("case", BAD_VALUES)
def test_bad_values_name_file_key_value_and_what_is_allowed(case, tmp_path):
    text, message = BAD_VALUES[case]
    found = errors(put(tmp_path, text))
    assert len(found) == 1
    assert message in found[0]
    assert found[0].startswith(message.split(":")[0]) or message.startswith(("->", "tets"))


def test_all_errors_are_listed_at_once(tmp_path):
    text = 'gravity = 1\n[run]\ndt = -1\nsolver = { type = "dual", method = 3, tolerance = 0 }\n' + SOFT.replace(
        "1e6", '"soft"'
    )
    text += '[[soft]]\nmesh = { box = [1, 1, 1], cells = 1 }\nmaterial = "steel"\n[[soft.pin]]\nnodes = "x > 9"\n'
    text += BALL + "density = 2\n" + '[[joint]]\ntype = "ball"\na = "ball"\nb = "bell"\nat = [0, 0, 0]\n'
    keys = [line.split(": ")[0] for line in errors(put(tmp_path, text))]
    assert keys == [
        "gravity",
        "run.dt",
        "run.solver.method",
        "run.solver.tolerance",
        "materials.rubber.young",
        "soft[1].material",
        "rigid[0]",
        "joint[0].b",
    ]


def test_joint_with_a_broken_body_is_no_further_error(tmp_path):
    found = errors(put(tmp_path, JOINT.replace("sphere = 1", "sphere = 0")))
    assert [line.split(": ")[0] for line in found] == ["rigid[0].shape.sphere"]


def test_tets_of_all_bodies_are_limited_together(tmp_path, monkeypatch):
    monkeypatch.setattr(scene_build, "MAX_TETS", 60)
    other = '[[soft]]\nmaterial = "rubber"\nmesh = { sphere = 1, cells = 1 }\n'
    load(put(tmp_path, SOFT + other))
    message = "soft[2].mesh: { sphere = 1, cells = 1 } -> asks for 48 tets besides 54 of other bodies; allowed"
    assert errors(put(tmp_path, SOFT + other + other))[0].startswith(message)


def test_many_tets_are_announced(tmp_path, monkeypatch):
    monkeypatch.setattr(scene_build, "MANY_TETS", 47)
    with pytest.warns(UserWarning, match=r"scene\.toml: soft\[0\]\.mesh: asks for 48 tets, which take about .* GB"):
        load(put(tmp_path, SOFT.replace("box = [1, 1, 1], cells = 1", "sphere = 1, cells = 1")))


@pytest.mark.parametrize("recipe", ["box = [1, 2, 3], cells = [2, 1, 3]", "sphere = 1, cells = 2"])
@pytest.mark.parametrize("pattern", ["", ', pattern = "five"', ', pattern = "twelve"'])
def test_tets_are_counted_before_they_are_made(recipe, pattern, tmp_path, monkeypatch):
    if "sphere" in recipe and pattern:
        return
    path = put(tmp_path, SOFT.replace("box = [1, 1, 1], cells = 1", recipe + pattern))
    count = len(load(path).find("beam").mesh.tets)
    monkeypatch.setattr(scene_build, "MAX_TETS", count - 1)
    assert f"asks for {count} tets" in errors(path)[0]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"format = 1\ngravity = [0, 0\n[run]\n", "line 3, column 1: not valid TOML"),
        (b"format = 1\ngravity = ", "line 2, column 11: not valid TOML"),
        (b"format = 1\nformat = 1\n", "line 2, column 11: not valid TOML: Cannot overwrite a value"),
        (b"format = 1\nname = '\xff'\n", "line 2: the file is not UTF-8 text"),
        (b"x = " + 20000 * b"[", "its arrays or tables are nested too deep"),
        (b"x = 1" + 5000 * b"0", "the file is not a scene file"),
    ],
    ids=["array", "end", "twice", "encoding", "nested", "digits"],
)
def test_syntax_errors_name_line_and_column(tmp_path, content, message):
    path = tmp_path / "scene.toml"
    path.write_bytes(content)
    assert errors(path)[0].startswith(message)


def test_missing_and_odd_files(tmp_path):
    assert "cannot read the scene file: No such file" in errors(tmp_path / "missing.toml")[0]
    assert "this is not a file" in errors(tmp_path)[0]


def test_control_characters_are_not_echoed(tmp_path):
    found = errors(put(tmp_path, 'color = "\\u001b[31m"\n"\\u001b[2J" = 1\n'))
    assert all("\x1b" not in line for line in found)


ODD_VALUES = [
    None,
    True,
    0,
    -1,
    10**400,
    math.nan,
    math.inf,
    1e308,
    "",
    "x < 1",
    "ball",
    [],
    [[]],
    [1, 2],
    {},
    {"box": 1},
]


def replaced(value, rng):
    """A copy of nested tables with one value, anywhere, replaced by an odd one or left out."""
    if not isinstance(value, dict | list) or not value or rng.random() < 0.1:
        return rng.choice(ODD_VALUES)
    copy = value.copy()
    key = rng.choice(list(value)) if isinstance(value, dict) else rng.randrange(len(value))
    copy[key] = replaced(value[key], rng)
    return copy


def without_none(value):
    """Nested tables without the entries that are None, which TOML cannot say."""
    if isinstance(value, dict):
        return {key: without_none(entry) for key, entry in value.items() if entry is not None}
    return [without_none(entry) for entry in value if entry is not None] if isinstance(value, list) else value


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_a_file_with_one_odd_value_loads_or_says_what_is_wrong(example, tmp_path):
    rng = random.Random(7)
    tables = tomllib.loads(example.read_text())
    refused = 0
    for _ in range(150):
        changed = without_none(replaced(tables, rng))
        path = tmp_path / "scene.toml"
        path.write_text(tomlkit.dumps(changed if isinstance(changed, dict) else {}))
        try:
            load(path)
        except pl.SceneError as error:
            refused += 1
            assert all(line.startswith(f"{path}: ") and " -> " in line for line in str(error).split("\n"))
    assert refused > 75  # most odd values make no sense
