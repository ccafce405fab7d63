"""What the studio writes and reads: laws as formulas, scripts, logs of unsaved edits, comments; fields at nodes."""

import json

import numpy as np
import pytest

pytest.importorskip("starlette", reason="the studio needs the extra: pip install 'pliant[studio]'")
pytest.importorskip("httpx2", reason="tests of the studio's server need httpx2")

import pliant
from pliant import scene_file
from pliant.errors import SceneError
from pliant.output.fields import contact_pressures, speeds
from pliant.studio import commands, folder
from pliant.studio.clients import IN_FLIGHT, MOST_NOTES, Client
from pliant.studio.log import find_lost
from pliant.studio.python_text import python_text
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
