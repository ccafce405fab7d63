"""Loads, laws and solvers in scene files: scene to file to scene, and the words for what is wrong."""

import os
from dataclasses import dataclass, fields
from types import SimpleNamespace

import numpy as np
import pytest

import pliant as pl
from pliant.checks import number
from pliant.errors import SceneError
from pliant.scene import selections
from pliant.scene_file.files import RunSettings, describe, load, read, same, save
from pliant.scene_file.materials import FILE_LAWS
from pliant.scene_file.run import option_kinds
from pliant.solve.options import SOLVERS
from scene_texts import MATERIAL, SOFT, errors, put

RUBBER = pl.Material.corotated(1e6, 0.4, 1000)
RISE = pl.Keyframes((0, 0.1, 1 / 3), ((0, 0, 0), (0, 0, 0.1), (1e-17, -0.0, 1)))
RAMP = pl.Keyframes((0, 1 / 3), (0, 1e5 / 3))


def loaded_scene():
    """A body with every kind of load, each picked in every way."""
    box = pl.meshes.box((1, 0.2, 0.3), cells=(4, 2, 3))
    ends = {"left": np.flatnonzero(box.points[:, 0] == 0)}
    scene = pl.Scene()
    beam = scene.add_soft(pl.meshes.TetMesh(box.points, box.tets, ends), RUBBER, name="beam")
    for faces in (
        beam.faces.normals[:, 0] > 0.9,
        [5, 3],
        "z >= 0.3 and x < 0.5",
        "all",
        selections.InBox((0, 0, 0), (1, 1, 0)),
        selections.InSphere((0, 0, 0), 0.2),
        selections.InHalfSpace((1, 0, 0), (1, 0, 0)),
        selections.InSet("left"),
    ):
        beam.traction(faces, (0, 0, -1 / 3))
        beam.pressure(faces, 1e5 / 3)
    beam.traction("all", RISE)
    beam.pressure("all", RAMP)
    beam.pin("all", axes="z", displacement=(0, 0, 1 / 3))
    beam.pin(selections.InSet("left"), displacement=RISE)
    beam.force("x >= 1", (0, 0, 1), spread="area")
    beam.force("x >= 1", (0, 0, 1), spread="even")
    return scene


def test_loads_round_trip(tmp_path):
    scene = loaded_scene()
    save(scene, tmp_path / "a.toml")
    back = load(tmp_path / "a.toml")
    assert describe(back) == describe(scene)
    save(back, tmp_path / "b.toml")
    text = (tmp_path / "a.toml").read_text()
    assert text.replace("a_beam", "b_beam") == (tmp_path / "b.toml").read_text().replace("a_beam", "b_beam")
    first, second = scene.find("beam"), back.find("beam")
    for kind in ("tractions", "pressures"):
        for ours, theirs in zip(getattr(first, kind), getattr(second, kind), strict=True):
            assert first.select_faces(ours.faces, kind).tolist() == second.select_faces(theirs.faces, kind).tolist()
    assert second.pressures[-1].pressure == RAMP
    assert second.pins[0].displacement == (0, 0, 1 / 3)
    assert [force.spread for force in second.forces] == ["area", "even"]


def test_same_sees_loads():
    changes = [
        lambda beam: beam.traction("all", (0, 0, 1)),
        lambda beam: beam.pressure("all", 1),
        lambda beam: beam.pressures.pop(),
        lambda beam: beam.pin("all", displacement=(0, 0, 1)),
        lambda beam: beam.forces.append(beam.force("x >= 1", (0, 0, 1), spread="area")),
    ]
    for change in changes:
        other = loaded_scene()
        change(other.find("beam"))
        assert not same(loaded_scene(), other)


def test_same_compares_displacements_node_by_node():
    rows = np.arange(6.0).reshape(2, 3)
    scenes = [loaded_scene() for _ in range(3)]
    for scene, displacement in zip(scenes, (rows, rows, rows[::-1])):
        scene.find("beam").pin([0, 1], displacement=displacement)
    assert same(scenes[0], scenes[1])
    assert not same(scenes[0], scenes[2])


def test_saved_loads_read_well(tmp_path):
    scene = pl.Scene()
    beam = scene.add_soft(pl.meshes.box((1, 1, 1), cells=1), RUBBER, name="beam")
    beam.pin("x <= 0", displacement=(0, 0, 1))
    beam.force("z >= 1", (0, 0, 1), spread="area")
    beam.traction("x >= 1", (1, 0, 0))
    beam.pressure("all", 2e4)
    save(scene, tmp_path / "a.toml")
    text = (tmp_path / "a.toml").read_text()
    assert '[[soft.pin]]\nnodes = "x <= 0"\ndisplacement = [0.0, 0.0, 1.0]\n' in text
    assert '[[soft.force]]\nnodes = "z >= 1"\nvector = [0.0, 0.0, 1.0]\nspread = "area"\n' in text
    assert '[[soft.traction]]\nfaces = "x >= 1"\nvector = [1.0, 0.0, 0.0]\n' in text
    assert '[[soft.pressure]]\nfaces = "all"\npressure = 20000.0 # Pa\n' in text


def test_what_only_python_can_say_cannot_be_saved(tmp_path):
    scene = pl.Scene()
    beam = scene.add_soft(pl.meshes.box((1, 1, 1), cells=1), RUBBER, name="beam")
    beam.pin([0, 1], displacement=np.zeros((2, 3)))
    beam.pin([2], displacement=lambda time: (0, 0, time))
    beam.traction("all", lambda time: (0, 0, time))
    beam.pressure("all", lambda time: time)
    clay = scene.add_soft(pl.meshes.box((1, 1, 1), cells=1), RUBBER, name="clay")
    clay.put(material=SimpleNamespace(law="custom", energy=None))
    with pytest.raises(pl.SceneError) as caught:
        save(scene, tmp_path / "a.toml")
    function = "a Python function of time cannot be saved to a file; use pliant.Keyframes(times, values) instead"
    assert str(caught.value).split("\n") == [
        "soft body 'beam': pin[0].displacement: an array with a row for each node cannot be saved to a file; "
        "use one vector for all nodes of a pin instead",
        f"soft body 'beam': pin[1].displacement: {function}",
        f"soft body 'beam': traction[0].vector: {function}",
        f"soft body 'beam': pressure[0].pressure: {function}",
        "soft body 'clay': material: a law made from Python functions cannot be saved to a file; "
        f"use a formula as text, or one of the laws {', '.join(FILE_LAWS)}, instead",
    ]
    assert not os.listdir(tmp_path)


def test_same_compares_laws_made_from_functions():
    scenes = [pl.Scene() for _ in range(3)]
    laws = [SimpleNamespace(law="custom", energy=energy) for energy in (min, min, max)]
    for scene, law in zip(scenes, laws):
        scene.add_soft(pl.meshes.box((1, 1, 1), cells=1), RUBBER).put(material=law)
    assert same(scenes[0], scenes[1])
    assert not same(scenes[0], scenes[2])


PIN, FORCE = '[[soft.pin]]\nnodes = "all"\n', '[[soft.force]]\nnodes = "all"\n'
TRACTION, PRESSURE = '[[soft.traction]]\nfaces = "all"\n', '[[soft.pressure]]\nfaces = "all"\n'

BAD_VALUES = {
    "pin both": (
        PIN + "velocity = [0, 0, 1]\ndisplacement = [0, 0, 1]",
        'soft[0].pin[0]: { nodes = "all", velocity = [0, 0, 1], displacement = [0, 0, 1] } -> has a velocity and a '
        "displacement; allowed: one of the two",
    ),
    "pin rows": (
        PIN + "displacement = [[0, 0, 1], [0, 0, 1]]",
        "soft[0].pin[0].displacement: [[0, 0, 1], [0, 0, 1]] -> is not an array of 3 numbers; allowed: 3 finite",
    ),
    "pin keyframes": (
        PIN + "displacement = { times = [0, 1], values = [[0, 0, 0], 2] }",
        "soft[0].pin[0].displacement.values[1]: 2 -> is not an array of 3 numbers; allowed: 3 finite numbers",
    ),
    "spread": (
        FORCE + 'vector = [0, 0, 1]\nspread = "aera"',
        "soft[0].force[0].spread: \"aera\" -> is not one of the choices (did you mean 'area'?); allowed: 'even', ",
    ),
    "no area": (
        FORCE.replace('"all"', "{ indices = [0] }") + 'vector = [0, 0, 1]\nspread = "area"',
        "soft[0].force[0].nodes: { indices = [0] } -> force of 'beam' with spread='area' needs boundary faces",
    ),
    "no faces": (
        TRACTION.replace("faces", "# ") + "vector = [0, 0, 1]",
        "soft[0].traction[0].faces: (missing) -> is n",
    ),
    "no vector": (
        TRACTION,
        "soft[0].traction[0].vector: (missing) -> is needed; allowed: a table with one of the keys",
    ),
    "traction": (TRACTION + "vector = 3", "soft[0].traction[0].vector: 3 -> is not an array of 3 numbers; allowed: 3"),
    "traction key": (
        TRACTION + "vector = [0, 0, 1]\nnodes = 1",
        "soft[0].traction[0].nodes: 1 -> unknown key; allowed: faces, vector",
    ),
    "empty faces": (
        PRESSURE.replace("all", "x > 2") + "pressure = 1",
        "soft[0].pressure[0].faces: \"x > 2\" -> pressure of 'beam' selects no face; the centres of its faces lie",
    ),
    "face index": (
        PRESSURE.replace('"all"', "{ indices = [12] }") + "pressure = 1",
        "soft[0].pressure[0].faces: { indices = [12] } -> face indices must be in 0..11, got [12]",
    ),
    "face indices": (
        PRESSURE.replace('"all"', "{ indices = 3 }") + "pressure = 1",
        "soft[0].pressure[0].faces.indices: 3 -> is not an array of face numbers; allowed: an array of face numbers",
    ),
    "face kind": (
        PRESSURE.replace('"all"', "{ ball = 3 }") + "pressure = 1",
        "soft[0].pressure[0].faces: { ball = 3 } -> is none of the known kinds; allowed: a table with one of the keys "
        'box, sphere, halfspace, set, indices; or comparisons such as "x < 0.01 and z >= 0.5" or "x < 0 or x > 1", or',
    ),
    "face number": (
        PRESSURE.replace('"all"', "3") + "pressure = 1",
        "soft[0].pressure[0].faces: 3 -> is not a selection; allowed: comparisons such as",
    ),
    "face set": (
        PRESSURE.replace('"all"', '{ set = "left" }') + "pressure = 1",
        "soft[0].pressure[0].faces: { set = \"left\" } -> the mesh has no node set 'left'; it has: none",
    ),
    "pressure": (
        PRESSURE + "pressure = [0, 0, 1]",
        "soft[0].pressure[0].pressure: [0, 0, 1] -> is not a number; allowed: a finite number",
    ),
    "pressure values": (
        PRESSURE + "pressure = { times = [0, 1], values = [[0, 0, 1], [0, 0, 1]] }",
        "soft[0].pressure[0].pressure.values: [[0, 0, 1], [0, 0, 1]] -> is not a number; allowed: an array of numbers",
    ),
    "pressure times": (
        PRESSURE + "pressure = { times = [1, 0], values = [0, 1] }",
        "soft[0].pressure[0].pressure: { times = [1, 0], values = [0, 1] } -> keyframes need at least two times",
    ),
    "not tables": ("pressure = 3", "soft[0].pressure: 3 -> is not an array; allowed: an array (of tables: [[...]])"),
}


@pytest.mark.parametrize("case", BAD_VALUES)
def test_bad_loads_name_file_key_value_and_what_is_allowed(case, tmp_path):
    text, message = BAD_VALUES[case]
    found = errors(put(tmp_path, SOFT + text))
    assert len(found) == 1
    assert found[0].startswith(message)


def test_all_that_is_wrong_with_a_load_is_found(tmp_path):
    text = PRESSURE.replace("all", "x > 2") + "pressure = { times = [1, 0], values = [0, 1] }"
    keys = [line.split(": ")[0] for line in errors(put(tmp_path, SOFT + text))]
    assert keys == ["soft[0].pressure[0].pressure", "soft[0].pressure[0].faces"]


@pytest.mark.parametrize("law", FILE_LAWS)
def test_every_law_can_be_read(law, tmp_path):
    scene = load(put(tmp_path, SOFT.replace('"corotated"', f'"{law}"').replace("0.4", "0.25")))
    assert scene.find("beam").material.law == law
    save(scene, tmp_path / "again.toml")
    assert same(load(tmp_path / "again.toml"), scene)


def test_a_law_made_from_functions_cannot_be_read(tmp_path):
    found = errors(put(tmp_path, MATERIAL.replace('"corotated"', '"custom"')))
    allowed = ", ".join(map(repr, FILE_LAWS))
    assert found == [f'materials.rubber.law: "custom" -> is not one of the choices; allowed: {allowed}']


@dataclass(frozen=True)
class Guess:
    """A solver that does not exist, with an option of every kind; `limit` has a whole default but is a float."""

    method: str = "wild"
    tries: int = 3
    limit: float = 0
    stubborn: bool = False
    step: float | None = None
    seed: int | None = 7

    def __post_init__(self):
        number(self.limit, "Guess limit", low=0)
        if self.method not in ("wild", "mild"):
            raise SceneError(f"Guess method must be one of 'wild', 'mild', got {self.method!r}")
        if self.stubborn and self.step is not None:
            raise SceneError("Guess takes no step when stubborn")


@pytest.fixture
def guess(monkeypatch):
    """A solver becomes known by its name in SOLVERS."""
    monkeypatch.setitem(SOLVERS, "guess", Guess)


@pytest.mark.parametrize(
    "solver",
    [Guess(), Guess("mild", 4, 0.5, True, None, 8), Guess(limit=np.float64(0.25), tries=np.int64(9), step=1)],
    ids=["defaults", "all", "numpy"],
)
def test_a_new_solver_round_trips(guess, tmp_path, solver):
    save(pl.Scene(), tmp_path / "a.toml", RunSettings(solver=solver))
    assert read(tmp_path / "a.toml").run.solver == solver


def test_a_new_solver_by_name(guess, tmp_path):
    assert read(put(tmp_path, '[run]\nsolver = "guess"')).run.solver == Guess()
    assert read(put(tmp_path, '[run]\nsolver = { type = "guess", limit = 2 }')).run.solver == Guess(limit=2)


BAD_SOLVERS = {
    "key": (
        '{ type = "guess", trys = 1 }',
        "run.solver.trys: 1 -> unknown key (did you mean 'tries'?); allowed: type, method, tries, limit, stubborn",
    ),
    "text": ('{ type = "guess", method = 1 }', "run.solver.method: 1 -> Guess method must be one of 'wild', 'mild'"),
    "whole": ('{ type = "guess", tries = 0.5 }', "run.solver.tries: 0.5 -> is not a whole number; allowed: a whole"),
    "number": ('{ type = "guess", limit = "a" }', "run.solver.limit: \"a\" -> Guess limit must be a number, got 'a'"),
    "flag": (
        '{ type = "guess", stubborn = 1 }',
        "run.solver.stubborn: 1 -> is not true or false; allowed: true or fal",
    ),
    "optional": (
        '{ type = "guess", step = true }',
        "run.solver.step: true -> is not a number; allowed: a finite number",
    ),
    "range": (
        '{ type = "guess", limit = -1 }',
        "run.solver.limit: -1 -> Guess limit must be a finite number in [0, inf[",
    ),
    "choice": (
        '{ type = "guess", method = "x" }',
        "run.solver.method: \"x\" -> Guess method must be one of 'wild', 'mi",
    ),
    "together": (
        '{ type = "guess", stubborn = true, step = 1 }',
        'run.solver: { type = "guess", stubborn = true, step = 1 } -> Guess takes no step when stubborn',
    ),
    "unknown": (
        '{ type = "gues", tries = 1 }',
        "run.solver.type: \"gues\" -> is not one of the choices (did you mean 'guess'?); allowed: 'newton', 'mixed'",
    ),
    "kind": ("3", "run.solver: 3 -> is not a table; allowed: a table of type, tolerance, max_iterations, linear"),
}


@pytest.mark.parametrize("case", BAD_SOLVERS)
def test_bad_solvers_name_file_key_value_and_what_is_allowed(guess, case, tmp_path):
    text, message = BAD_SOLVERS[case]
    found = errors(put(tmp_path, f"[run]\nsolver = {text}"))
    assert len(found) == 1
    assert found[0].startswith(message)


def test_none_that_is_no_default_cannot_be_saved(guess, tmp_path):
    with pytest.raises(
        pl.SceneError, match=r"run.solver.seed: None cannot be saved to a file; left out, it would be 7"
    ):
        save(pl.Scene(), tmp_path / "a.toml", RunSettings(solver=Guess(seed=None)))


@pytest.mark.parametrize("name", SOLVERS)
def test_every_solver_can_be_said_in_a_file(name, tmp_path):
    solver = SOLVERS[name]
    assert list(option_kinds(solver)) == [option.name for option in fields(solver)]
    save(pl.Scene(), tmp_path / "a.toml", RunSettings(solver=solver()))
    assert read(tmp_path / "a.toml").run.solver == solver()
    assert read(put(tmp_path, f'[run]\nsolver = "{name}"')).run.solver == solver()
