"""Edits of the studio: commands apply, invert and serialise; scenes become scripts that build the same scene."""

import copy
import json
import random
from pathlib import Path

import pytest

from pliant import scene_file
from pliant.errors import SceneError
from pliant.studio import commands, folder
from pliant.studio.commands import Drop, Group, History, Insert, Put
from pliant.studio.python_text import python_text
from scene_texts import BALL, JOINT, SOFT

EXAMPLES = sorted((Path(__file__).parents[1] / "examples" / "scenes").glob("*.toml"))


def places(value, path=()):
    """All paths in nested tables."""
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, entry in entries:
        yield (*path, key)
        yield from places(entry, (*path, key))


def random_command(tables, source: random.Random):
    """A command that fits the tables."""
    path = source.choice([path for path in places(tables) if path[0] != "format"])
    entries = commands.find(tables, path[:-1])
    kind = source.choice(("put", "drop", "insert", "new", "group"))
    value = source.choice([1.5, "text", [1, 2, 3], {"key": [0.5]}])
    if kind == "insert" and isinstance(entries, list):
        return Insert((*path[:-1], source.randrange(len(entries) + 1)), value)
    if kind == "new" and isinstance(entries, dict) and len(path) > 1:
        return Put((*path[:-1], f"new {source.random()}"), value)
    if kind == "drop" and len(path) > 1:
        return Drop(path)
    if kind == "group":
        return Group((Put(path, value), Put(path, 7)))
    return Put(path, value)


def random_bodies(tables, source: random.Random):
    """A command that adds or takes out a body or joint."""
    kind = source.choice([kind for kind in ("soft", "rigid", "joint") if tables.get(kind)] or ["soft"])
    if source.random() < 0.5 or not tables.get(kind):
        return commands.adding(tables, kind, source.choice([{"name": "beam"}, {"a": "beam", "b": "ball"}, {}]))
    return commands.removing(tables, kind, source.randrange(len(tables[kind])))


@pytest.mark.parametrize("seed", range(20))
def test_random_edits_are_undone_and_done_again_exactly(seed):
    source = random.Random(seed)
    tables = scene_file.parse(source.choice(EXAMPLES))
    history, states = History(tables), [copy.deepcopy(tables)]
    for number in range(40):
        command = (random_bodies if number < 10 else random_command)(tables, source)
        assert commands.deserialise(json.loads(json.dumps(commands.serialise(command)))) == command
        history.do(copy.deepcopy(command))
        states.append(copy.deepcopy(tables))
    for state in reversed(states[:-1]):
        history.undo()
        assert tables == state
    with pytest.raises(SceneError, match="nothing to undo"):
        history.undo()
    for state in states[1:]:
        history.redo()
        assert tables == state


def test_a_group_that_fails_changes_nothing():
    tables = {"gravity": [0, 0, -1], "soft": []}
    with pytest.raises(SceneError):
        Group((Put(("gravity",), [0, 0, 0]), Drop(("soft", 3)))).apply(tables)
    assert tables == {"gravity": [0, 0, -1], "soft": []}


def test_a_body_goes_with_its_joints_contacts_and_place_in_the_order():
    tables = {
        "order": ["a", "b", "c"],
        "rigid": [{"name": "a"}, {"name": "b"}, {"name": "c"}],
        "joint": [
            {"name": "j", "type": "hinge", "a": "a", "b": "b"},
            {"name": "k", "type": "hinge", "a": "b", "b": "c"},
            {"name": "gear", "type": "gear", "first": "j", "second": "k"},
            {"type": "tendon", "path": [{"body": "c"}, {"body": "a"}]},
        ],
        "contact": [{"between": ["a", "b"]}, {"between": ["b", "c"]}],
    }
    before, history = copy.deepcopy(tables), History(tables)
    history.do(commands.removing(tables, "rigid", 0))
    assert tables["joint"] == [before["joint"][1]] and tables["contact"] == [before["contact"][1]]
    assert tables["order"] == ["b", "c"] and [body["name"] for body in tables["rigid"]] == ["b", "c"]
    history.undo()
    assert tables == before


@pytest.mark.parametrize(
    "data",
    [
        *(None, [], "put", {}, {"do": "put"}, {"do": "put", "path": ["gravity"]}, {"do": "eval", "path": ["run"]}),
        *({"do": "put", "path": [], "value": 1}, {"do": "put", "path": ["format"], "value": 2}),
        *({"do": "put", "path": ["__class__"], "value": 1}, {"do": "put", "path": ["run", 1.5], "value": 1}),
        *({"do": "put", "path": ["run", True], "value": 1}, {"do": "put", "path": ["run", "dt"], "value": None}),
        {"do": "put", "path": ["run"] * 40, "value": 1},
    ],
)
def test_what_is_no_command_is_refused(data):
    with pytest.raises(SceneError):
        commands.deserialise(data)


@pytest.mark.parametrize(
    "name", ["../x.toml", "/etc/passwd", "a/b.toml", ".x.toml", "x.py", "x\n.toml", "", 5, "C:x.toml"]
)
def test_names_lead_nowhere_else(name, tmp_path):
    with pytest.raises(SceneError):
        folder.inside(tmp_path, folder.plain_name(name, ".toml"))


def test_links_do_not_lead_out(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "out.toml").write_text("format = 1\n")
    (tmp_path / "in" / "link.toml").symlink_to(tmp_path / "out.toml")
    with pytest.raises(SceneError, match="leads out"):
        folder.inside(tmp_path / "in", "link.toml")


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_a_saved_scene_reads_back_as_the_same_scene(example, tmp_path):
    tables = scene_file.parse(example)
    folder.bring(tables, example.parent, tmp_path)
    folder.write_scene(tmp_path / "copy.toml", tables)
    assert scene_file.same(scene_file.load(tmp_path / "copy.toml"), scene_file.load(example))


KITCHEN_SINK = (
    'format = 1\norder = ["ball", "beam", "class", "rod"]\n'
    + SOFT
    + "friction = 0.3\nrotation = [0.8, 0.6, 0, 0]\nvelocity = [1, 0, 0]\n"
    + '[[soft.pin]]\nnodes = { box = [[-1, -1, -1], [0.5, 2, 2]] }\naxes = "xz"\n'
    + "displacement = { times = [0, 1], values = [[0, 0, 0], [0, 0, 1]] }\n"
    + '[[soft.force]]\nnodes = { indices = [1, 2] }\nvector = [0, 0, 1]\nspread = "even"\n'
    + "[[soft.traction]]\nfaces = { halfspace = { point = [0, 0, 0.9], normal = [0, 0, 1] } }\nvector = [1, 0, 0]\n"
    + "[[soft.pressure]]\nfaces = { sphere = { centre = [1, 1, 1], radius = 9 } }\npressure = 5\n"
    + JOINT.replace("at = [0, 0, 0]", "at = [0, 0, 0]\nswing = 0.5\ncompliance = 1e-3\ndamping = 2\n")
    + BALL.replace('"ball"', '"class"').replace("mass = 1", "mass = 2\ninertia = [1, 2, 2]\nposition = [5, 0, 0]")
    + "[[rigid.force]]\nvector = [0, 1, 0]\nat = [0, 0, 1]\n[[rigid.torque]]\nvector = [0, 0, 1]\n"
    + BALL.replace('"ball"', '"rod"').replace("{ sphere = 1 }", "{ capsule = { radius = 0.1, length = 1 } }")
    + '[[joint]]\nname = "turn"\ntype = "hinge"\na = "class"\nb = "world"\nat = [5, 0, 0]\naxis = [0, 0, 1]\n'
    + "limits = [-1, 2]\nmotor = { velocity = 3, max_torque = 7 }\n"
    + '[[joint]]\ntype = "tendon"\npath = [{ body = "rod", at = [0, 0, 0] }, { body = "class", at = [5, 0, 0] }]\n'
    + '[[joint]]\ntype = "spring"\na = "rod"\nb = "world"\nat = [[0, 0, 0], [0, 0, 3]]\nstiffness = 40\n'
    + '[[contact]]\nbetween = ["class", "rod"]\nfriction = 0.1\n'
    + '[[contact]]\nbetween = ["rod", "beam"]\ncollide = false\n'
)


def built(text: str) -> dict:
    """What a script builds, without running it."""
    names: dict = {}
    exec(text.split("\nsim = ")[0], names)
    return names


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_python_builds_the_scene_of_an_example(example, monkeypatch):
    monkeypatch.chdir(example.parent)  # where the mesh files are that the script reads
    file = scene_file.read(example)
    assert scene_file.same(built(python_text(file, example.parent))["scene"], file.scene)


def test_python_builds_a_scene_of_many_things(tmp_path):
    (tmp_path / "scene.toml").write_text(KITCHEN_SINK)
    file = scene_file.read(tmp_path / "scene.toml")
    names = built(python_text(file, tmp_path))
    assert scene_file.same(names["scene"], file.scene)
    assert names["class_"].name == "class"


def test_python_gives_the_same_bits():
    """The script of an example, with fewer steps, against the scene file itself."""
    path = next(path for path in EXAMPLES if path.stem == "beam")
    file = scene_file.read(path)
    script = python_text(file, path.parent)
    names: dict = {}
    exec(script.split("\nfor _ in sim.run")[0], names)
    ours, theirs = file.scene.simulate(dt=file.run.dt, solver=file.run.solver), names["sim"]
    ours.step(5)
    theirs.step(5)
    assert ours.state.x.tobytes() == theirs.state.x.tobytes()
    assert ours.state.body_position.tobytes() == theirs.state.body_position.tobytes()


def test_a_rule_of_contact_is_added_named_after_its_bodies_and_goes_with_them():
    tables = {"rigid": [{"name": "a"}, {"name": "b"}]}
    history = commands.History(tables)
    history.do(commands.adding(tables, "contact", {"between": ["a", "b"], "friction": 0.2}))
    assert tables["contact"] == [{"between": ["a", "b"], "friction": 0.2}]
    history.do(commands.renaming(tables, "rigid", 1, "c"))
    assert tables["contact"][0]["between"] == ["a", "c"]
    history.do(commands.removing(tables, "rigid", 0))
    assert tables["contact"] == []
    history.undo()
    history.do(commands.removing(tables, "contact", 0))
    assert tables["contact"] == [] and len(tables["rigid"]) == 2


def test_names_that_are_taken_get_the_next_number():
    tables = {"soft": [{"name": "part"}, {"name": "part 3"}], "joint": [{"name": "part 2"}]}
    assert [commands.free_name(tables, name) for name in ("part", "part 2", "part 5")] == ["part 4", "part 4", "part 5"]
