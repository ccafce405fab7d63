"""What the studio writes and reads: laws as formulas, scripts, logs of unsaved edits, comments; fields at nodes."""

import copy
import io
import json
import os
import queue
import threading
import time
import warnings

import numpy as np
import pytest

pytest.importorskip("starlette", reason="the studio needs the extra: pip install 'pliant[studio]'")
pytest.importorskip("httpx2", reason="tests of the studio's server need httpx2")

import pliant
from pliant import scene_file
from pliant.errors import SceneError
from pliant.output.fields import contact_pressures, speeds
from pliant.output.rod_fields import of_rods
from pliant.output.rod_view import Tube
from pliant.studio import commands, folder, studies, worker
from pliant.studio.clients import IN_FLIGHT, MOST_NOTES, Client
from pliant.studio.geometry import AT_REST, SceneGeometry
from pliant.studio.log import Log, find_lost
from pliant.studio.messages import header_of, read_framed
from pliant.studio.outlet import Outlet
from pliant.studio.python_text import python_text
from pliant.studio.rod_numbers import keeping_points
from pliant.studio.showing import Showing
from pliant.studio.worker import Worker
from test_studio_server import SHEET_AND_ROD
from test_studio_studies import NOBODY, SCENE, leave_a_log, write

OWN = {"energy": "mu / 2 * (I1 / J ** (2 / 3) - 3) + k / 2 * (J - 1) ** 2", "parameters": {"mu": 1e5, "k": 1e6}}


def test_a_law_of_ones_own_goes_to_files_and_scripts_and_back(tmp_path):
    tables = {"format": 1, "soft": [{"name": "own", "mesh": {"box": [1, 1, 1], "cells": 1}}]}
    tables["soft"][0]["material"] = OWN | {"density": 1100, "damping": 0.01}
    file = scene_file.from_tables(tables, tmp_path, "scene")
    scene_file.save(file.scene, tmp_path / "own.toml")
    assert scene_file.same(scene_file.load(tmp_path / "own.toml"), file.scene)
    names: dict = {}
    exec(python_text(file, tmp_path).split("\nsim = ")[0], names)
    assert scene_file.same(names["scene"], file.scene)
    shear, bulk = 1e5, 1e6
    assert names["own"].material.young == pytest.approx(9 * bulk * shear / (3 * bulk + shear))


@pytest.mark.parametrize(
    "energy", ["__import__('os')", "I1.real", "lambda: 1", "[I1]", "mu @ I1", "log(I1, J)", "I1 +", "x" * 2000, "'a'"]
)
def test_a_formula_runs_no_code(energy):
    with pytest.raises(SceneError, match=r"formula"):
        pliant.Material.custom(energy, 1000)


def test_points_of_rods_follow_the_name_of_their_rod():
    tables = {"rod": [{"name": "cable"}], "joint": [{"a": "cable.3", "b": "cables"}]}
    commands.renaming(tables, "rod", 0, "wire").apply(tables)
    assert tables["joint"][0] == {"a": "wire.3", "b": "cables"}


def test_points_of_rods_keep_their_places_when_lines_are_cut_anew():
    """In the middle and at the end of two edges; undone all is as before. Networks keep the numbers of their points."""
    line = {"name": "cable", "points": [[0, 0, 0], [1, 0, 0], [2, 0, 0]], "segments": 8, "clamp": [{"point": 0}]}
    line |= {"force": [{"point": 16, "vector": [0, 0, 1]}, {"point": 8, "vector": [0, 0, 1]}]}
    joints = [{"a": "cable.16", "b": "cable 2.16"}, {"path": [{"body": "world"}, {"body": "cable.4"}]}]
    tables = {"rod": [line], "joint": joints}
    before = copy.deepcopy(tables)
    undo = keeping_points(tables, commands.Put(("rod", 0, "segments"), 4)).apply(tables)
    assert [load["point"] for load in (*line["clamp"], *line["force"])] == [0, 8, 4]
    assert joints == [{"a": "cable.8", "b": "cable 2.16"}, {"path": [{"body": "world"}, {"body": "cable.2"}]}]
    undo.apply(tables)
    assert tables == before
    keeping_points(tables, commands.Drop(("rod", 0, "segments"))).apply(tables)
    assert line["force"][0]["point"] == 2 and joints[0]["a"] == "cable.2"
    net = {"rod": [line | {"edges": [[0, 1], [1, 2]], "segments": 8}]}
    told = commands.Put(("rod", 0, "segments"), 4)
    assert keeping_points(net, told) is told


def test_rods_lie_where_the_scene_puts_them():
    scene, quarter = pliant.Scene(), (np.sqrt(0.5), 0, 0, np.sqrt(0.5))
    material = pliant.Material.linear(1e7, 0.3, 1000)
    rod = scene.add_rod([(0, 0, 0), (1, 0, 0)], material, 0.01, segments=10, position=(0, 0, 5), rotation=quarter)
    tube, sim = Tube(rod, 0), scene.simulate(dt=0.01)
    assert np.allclose(tube.points(AT_REST), tube.points(sim), atol=1e-6)
    assert np.allclose(tube.points(AT_REST).mean(axis=0), (0, 0.5, 5), atol=1e-6)
    found = studies.rod_point(rod, [0, 0.9, 5.2])
    assert found["number"] == 9 and np.allclose(found["at"], (0, 0.9, 5))


def test_unsaved_edits_are_recovered_after_a_crash(tmp_path):
    write(tmp_path / "scene.toml", SCENE)
    history = leave_a_log(tmp_path)
    tables, lost = history.tables, find_lost(tmp_path)
    assert "3 edits of scene.toml" in lost.summary
    again = lost.history()
    assert again.tables == tables
    again.undo()
    again.undo()
    again.undo()
    assert again.tables == history.start
    lost.forget()
    assert find_lost(tmp_path) is None
    for text in ("", "[]", "{", '{"pid": 1}', json.dumps({"pid": NOBODY, "name": 3, "tables": [], "commands": 7})):
        write(tmp_path / ".pliant-studio-7.json", text)
        assert find_lost(tmp_path) is None


def test_a_long_log_begins_with_later_tables():
    tables = {"gravity": [0, 0, 0], "soft": []}
    history = commands.History(tables)
    for number in range(2 * commands.MOST_LOGGED):
        history.do(commands.Put(("gravity",), [0, 0, number]))
    assert len(history.done) <= commands.MOST_LOGGED
    again = commands.History(history.start)
    for command in history.done:
        again.do(command)
    assert again.tables == tables


def test_speed_and_contact_pressure_at_nodes():
    """A cube at rest on a floor: its weight over the area of its face; a fall: all nodes have one speed."""
    scene = pliant.Scene()
    cube = scene.add_soft(pliant.meshes.box((1, 1, 1), cells=2), pliant.Material.corotated(1e6, 0.3, 100))
    sim = scene.simulate(dt=0.01)
    sim.step(3)
    assert np.allclose(speeds(sim)[0], 9.81 * 0.03)
    scene.add_rigid(pliant.Plane(), static=True)
    sim = scene.simulate(dt=0.01)
    sim.step(60)
    (pressure,) = contact_pressures(sim)
    areas = cube.faces.spread(np.arange(len(cube.faces)), len(pressure))
    assert pressure @ areas == pytest.approx(9.81 * 100, rel=0.05)
    assert pressure[cube.nodes.z > 0.1].max() < 1e-6


def test_sheets_and_rods_become_scripts(tmp_path):
    text = SHEET_AND_ROD.replace(
        "[[rod]]", '[[cloth.clamp]]\nnodes = "x < 0.01"\n[[cloth.wind]]\nvelocity = [1, 0, 0]\n[[rod]]'
    )
    file = scene_file.read(write(tmp_path / "scene.toml", text))
    names: dict = {}
    exec(python_text(file, tmp_path).split("\nsim = ")[0], names)
    assert scene_file.same(names["scene"], file.scene)


def test_comments_are_found_outside_of_text():
    assert folder._comments('a = "x # y" # z\n# w\nb = 1') == {"# z", "# w"}


def test_of_frames_the_latest_wins_and_nothing_grows():
    import asyncio

    async def study() -> None:
        client = Client()
        for number in range(1000):
            client.show("frame", str(number))
        assert [await client.next()] == ["999"] and not client.latest
        for number in range(1, IN_FLIGHT):
            client.show("frame", f"next {number}")
            await client.next()
        client.show("frame", "waits")
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(client.next(), 0.01)
        client.drawn()
        assert await client.next() == "waits"
        for _ in range(MOST_NOTES + 1):
            client.note({})
        assert client.overrun

    asyncio.run(study())


class Blocked:
    """A stream that nobody reads before `open` is set."""

    def __init__(self):
        self.open, self.written = threading.Event(), []

    def write(self, data: bytes) -> None:
        self.open.wait()
        self.written.append(data[4:])

    def flush(self) -> None:
        pass


def test_a_step_does_not_wait_for_the_page_and_old_frames_are_left_out():
    stream = Blocked()
    outlet = Outlet(stream)
    outlet.send(b"first")
    for number in range(50):
        outlet.send(b"frame %d" % number, frame=True)
    outlet.send(b"answer")
    outlet.send(b"last", frame=True)
    assert len(outlet.waiting) <= 4
    stream.open.set()
    while len(stream.written) < 4:
        time.sleep(0.001)
    assert stream.written == [b"first", b"frame 49", b"answer", b"last"]


MOVING = """format = 1
[[soft]]
name = "cube"
mesh = { box = [1, 1, 1], cells = 1 }
material = { law = "corotated", young = 1e6, poisson = 0.4, density = 1000 }
velocity = [0, 0, 3]
[[rigid]]
name = "ball"
shape = { sphere = 0.1 }
density = 1000
position = [5, 0, 0]
velocity = [2, 0, 0]
[[rod]]
name = "wire"
points = [[9, 0, 0], [10, 0, 0]]
radius = 0.01
material = { law = "linear", young = 1e7, poisson = 0.3, density = 1000 }
velocity = [0, 1, 0]
"""


MEASURED = ("strain", "stress")


def test_speed_and_displacement_colour_all_bodies_and_stress_those_that_have_it(tmp_path):
    write(tmp_path / "moving.toml", MOVING)
    scene = scene_file.load(tmp_path / "moving.toml")
    scene.gravity = (0.0, 0.0, 0.0)
    sim, geometry = scene.simulate(dt=0.01), SceneGeometry(scene, 1)
    sim.step()
    for field, factor in (("speed", 1.0), ("displacement", 0.01)):
        geometry.moment = None
        soft, rod, rigid = geometry.take(sim, field).values
        assert np.allclose(soft, 3 * factor) and np.allclose(rod, factor) and np.allclose(rigid, [2 * factor])
        assert len(rod) == len(geometry.take(sim, field).tubes[0])
    geometry.moment = None
    assert len(geometry.take(sim, "stress").values) == 2, "soft bodies and rods, not rigid ones"


def test_strain_of_a_rod_is_largest_on_the_outer_side_of_its_bend():
    """A rod that is straight at rest, in an arc of radius R and stretched by 1 %: r / R on top of 1 % outside."""
    radius, arc, angles = 0.02, 1.0, np.linspace(0, 1.2, 25)
    points = arc * np.stack([np.cos(angles), np.sin(angles), 0 * angles], axis=1)
    scene = pliant.Scene(gravity=(0, 0, 0))
    material = pliant.Material.linear(1e6, 0.3, 1000)
    rod = scene.add_rod(points, material, radius=radius, straight=True, stretched=1.01)
    tube, sim = Tube(rod, 0), scene.simulate(dt=1e-3)
    strain, stress = (of_rods(sim, [tube], field)[0].reshape(len(rod.edges), 2, -1) for field in MEASURED)
    away = np.linalg.norm(tube.points(sim).reshape(len(rod.edges), 2, -1, 3).mean(axis=1), axis=2)
    inner = slice(1, -1)  # the ends of the rod have half a bend
    outside, inside = away[inner].argmax(axis=1), away[inner].argmin(axis=1)
    rows = np.arange(len(outside))
    assert np.allclose(stress[inner, 0][rows, outside], 1e6 * (0.01 + radius / arc), rtol=0.02)
    assert np.allclose(stress[inner, 0][rows, inside], 1e6 * abs(0.01 - radius / arc), rtol=0.04)
    assert np.allclose(strain, stress * np.sqrt(1 + 2 * 0.3**2) / 1e6, rtol=0.01)


def test_colours_and_energies_are_said_less_often_than_places(tmp_path):
    write(tmp_path / "moving.toml", MOVING)
    scene = scene_file.load(tmp_path / "moving.toml")
    geometry, sim, showing = SceneGeometry(scene, 1), scene.simulate(dt=0.01), Showing()
    numbers = [{"playing": True} for _ in range(3)]
    headers = [header_of(showing.frame(geometry, sim, "stress", each, behind=True)) for each in numbers]
    assert "energy" in headers[0] and "energy" not in headers[1] and headers[0]["field"]["fresh"]
    still = header_of(showing.frame(geometry, sim, "stress", {"playing": False}, behind=False))
    assert "energy" in still and still["field"]["fresh"] and still["field"]["title"] == headers[2]["field"]["title"]


def test_a_file_with_values_that_no_scene_has_is_refused_by_name(tmp_path):
    write(tmp_path / "date.toml", "format = 1\ngravity = [0, 0, nan]\n[run]\ndt = 2026-01-01\n")
    with pytest.raises(SceneError, match=r"run.dt: .*2026"):
        Worker(queue.Queue(), io.BytesIO()).parse(str(tmp_path / "date.toml"))


def test_what_is_warned_of_while_a_scene_is_built_is_told(monkeypatch):
    monkeypatch.setitem(worker.REQUESTS, "build", lambda self: warnings.warn("it is very large", stacklevel=1))
    read, write = os.pipe()
    Worker(queue.Queue(), os.fdopen(write, "wb"))._answer({"id": 1, "do": "build"})
    with os.fdopen(read, "rb") as stream:
        said = [header_of(read_framed(stream)) for _ in range(2)]
    assert said[0] == {"kind": "warning", "text": "it is very large"} and said[1]["kind"] == "reply"


def test_a_folder_that_takes_no_log_is_known(tmp_path):
    (tmp_path / "file").write_text("")
    edit = commands.Put(("gravity",), [0, 0, 0])
    assert Log(tmp_path).write(None, {}, [edit]) and not Log(tmp_path / "file").write(None, {}, [edit])
