"""What the studio asks of a scene beside running it: selections, cuts, curves, modes, equilibrium, motors, recovery."""

import json
import os

import numpy as np
import pytest

pytest.importorskip("starlette", reason="the studio needs the extra: pip install 'pliant[studio]'")
pytest.importorskip("httpx2", reason="tests of the studio's server need httpx2")


import pliant
from pliant import scene_file
from pliant.studio import commands, studies
from pliant.studio.covers import NO_FACE, Cover
from pliant.studio.geometry import SceneGeometry
from pliant.studio.log import Log, find_lost
from pliant.studio.messages import body_of, header_of
from pliant.studio.recording import Recording
from studio_support import ARM, HOME, START

RUBBER = {"law": "corotated", "young": 1e6, "poisson": 0.4, "density": 1000}
SCENE = (
    START
    + """mesh = { box = [1, 1, 1], cells = 2 }
[[soft.pin]]
nodes = "z < 0.01"
[[soft.traction]]
faces = "z > 0.99"
vector = [0, 0, 10]
[[soft.pressure]]
faces = "x > 0.99"
pressure = 5
"""
    + ARM
)

NOBODY = 2**22 + 1
"""No process has this number: Linux gives none above 2^22."""


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    place = tmp_path_factory.mktemp("home")
    (place / "scene.toml").write_text(SCENE)
    (place / "commented.toml").write_text(SCENE.replace("[run]", "# how it runs\n[run]"))
    leave_a_log(place)
    return place


def leave_a_log(place) -> commands.History:
    """What a studio that has crashed in a folder leaves there."""
    tables = scene_file.parse(place / "scene.toml")
    history = commands.History(tables)
    history.do(commands.adding(tables, "rigid", {"name": "ball", "shape": {"sphere": 0.1}, "density": 10}))
    history.do(commands.Put(("gravity",), [0, 0, -1]))
    history.undo()
    log = Log(place)
    log.write("scene.toml", history.start, history.done)
    assert find_lost(place) is None, "its studio still runs"
    data = json.loads(log.path.read_text())
    log.path.write_text(json.dumps(data | {"pid": NOBODY}))
    return history


@pytest.fixture
def cube():
    scene = pliant.Scene()
    material = pliant.Material.corotated(1e5, 0.3, 1000)
    return scene, scene.add_soft(pliant.meshes.box((1, 1, 1), cells=2), material, name="cube")


def test_a_studio_offers_what_another_has_lost(page, home):
    assert page.state["lost"].startswith("3 edits of scene.toml")
    assert "error" not in page.ask("recover", take=True)
    page.until(lambda: page.state["lost"] is None and len(page.state["tables"]["rigid"]) == 2)
    assert page.state["name"] == "scene.toml" and not page.state["saved"] and page.state["undo"] == 3
    assert "nothing to recover" in page.ask("recover", take=True)["error"]
    logs = [json.loads(path.read_text())["pid"] for path in home.glob(".pliant-studio-*.json")]
    assert logs == [os.getpid()], "the log goes on in the name of this studio"
    page.ask("save", file="recovered.toml")
    assert not list(home.glob(".pliant-studio-*.json"))


@pytest.mark.parametrize("do", ["quality", "nodes"])
def test_rigid_bodies_have_no_nodes(page, do):
    answer = page.ask(do, body="arm")
    assert "'arm'" in answer["error"] and "AttributeError" not in answer["error"]


def test_motors_of_joints_that_are_not_there_are_refused(page):
    page.ask("step")
    for joint in (1, -1):
        answer = page.ask("motor", joint=joint, coordinate="", changes={"velocity": 1.0})
        assert "number of a joint" in answer["error"]


def test_selections_are_those_of_scene_files(page):
    def pick(**said):
        return page.ask("select", body="cube", **said)

    assert len(pick(what="nodes", selection="z < 0.01")["value"]) == 9
    assert pick(what="nodes", selection={"indices": [3, 5]})["value"] == [3, 5]
    plane = {"halfspace": {"point": [0, 0, 0.99], "normal": [0, 0, 1]}}
    assert len(pick(what="faces", selection=plane)["value"]) == 8
    assert "selects no node" in pick(what="nodes", selection="x > 7")["error"]
    assert "not understood" in pick(what="nodes", selection="import os")["error"]
    assert "node indices" in pick(what="nodes", selection={"indices": [999]})["error"]
    assert "no soft body" in page.ask("select", body="arm", what="nodes", selection="all")["error"]
    assert page.ask("nodes", body="cube")["value"] == 27
    page.until(lambda: page.nodes.get("body") == "cube")
    places = np.frombuffer(page.nodes["body_bytes"], "<f4").reshape(-1, 3)
    assert places.shape == (27, 3) and places.max() == 1


def test_surfaces_name_nodes_faces_pins_loads_and_joints(page):
    soft, rigid = page.surfaces["soft"][0], page.surfaces["rigid"][0]
    assert (soft["pinned"], soft["triangles"], soft["moved"]) == (9, 48, 26)
    kinds = {load["kind"]: load["vector"] for load in soft["loads"]}
    assert kinds == {"traction": [0, 0, 10], "pressure": [-5, 0, 0]}
    assert rigid["anchors"] == [{"joint": 0, "place": 1, "at": pytest.approx([-0.2, 0, 0]), "axis": [0, 0, 1]}]
    assert page.surfaces["anchors"] == [{"joint": 0, "place": 0, "at": [2.8, 0.0, 0.0], "axis": [0, 0, 1]}]


def test_a_cut_shows_whole_tets_below_the_plane(cube):
    """Of 2 x 2 x 2 cells the lower four: a box of 1 x 1 x 1/2, 8 triangles above, 8 below, 4 times 4 around it."""
    geometry = SceneGeometry(cube[0], 1)
    geometry.cut([[0, 0, 1], 0.5])
    cube = cube[1]
    cover = geometry.covers[0]
    inside = cover.faces == NO_FACE
    assert len(cover.triangles) == 32 and inside.sum() == 8
    corners = cube.nodes.positions[cover.nodes][cover.triangles]
    assert np.all(corners[inside][..., 2] == 0.5)
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    assert np.einsum("ki,ki->", corners[:, 0], across) / 6 == pytest.approx(0.5), "outward all around"
    assert np.allclose(cube.faces.centres[cover.faces[~inside]], corners[~inside].mean(axis=1))


def test_points_of_a_drawing_follow_the_nodes_that_are_sent(tmp_path):
    surface = pliant.meshes.sphere(0.3, 2).surface()
    used, triangles = np.unique(surface.triangles, return_inverse=True)
    drawing = pliant.meshes.TriMesh(surface.points[used] + 0.5, triangles.reshape(-1, 3))
    scene = pliant.Scene()
    body = scene.add_soft(
        pliant.meshes.box((1, 1, 1), cells=2), pliant.Material.corotated(1e5, 0.3, 1000), drawing=drawing
    )
    geometry = SceneGeometry(scene, 1)
    cover: Cover = geometry.covers[0]
    assert cover.drawn and header_of(geometry.surfaces())["soft"][0]["held"] == cover.held.shape[1]
    moved = body.nodes.positions * [1, 2, 0.5]
    follow = np.einsum("pq,pqi->pi", cover.weights, moved[cover.nodes][cover.held])
    assert np.allclose(follow, geometry.skins[0].at(moved))
    rest = np.frombuffer(body_of(geometry.rest()), "<f4")[: 3 * len(cover.nodes)].reshape(-1, 3)
    assert np.allclose(rest, body.nodes.positions[cover.nodes])


def test_the_worst_tets_are_named(cube):
    quality = studies.quality(cube[1])
    assert sum(quality["counts"]) == 6 * quality["tets"] and len(quality["corners"]) == len(quality["worst"]) == 12
    assert quality["worst"][0] == pytest.approx(quality["angles"][0], abs=0.01)


@pytest.mark.parametrize("law", ["corotated", "stable_neohookean"])
def test_a_curve_begins_with_youngs_modulus(law):
    """Corotated: stress E (s - 1) and 1 - nu (s - 1) across; every law at small strains."""
    found = studies.curve(RUBBER | {"law": law})
    stretch, stress = np.array(found["stretch"]), np.array(found["stress"])
    near = np.abs(stretch - 1) < 0.06
    slope = (stress[near][-1] - stress[near][0]) / (stretch[near][-1] - stretch[near][0])
    assert slope == pytest.approx(1e6, rel=0.01)
    if law == "corotated":
        assert np.allclose(stress, 1e6 * (stretch - 1), atol=1e3)
        assert np.allclose(found["across"], 1 - 0.4 * (stretch - 1), atol=1e-3)


def test_modes_swing_about_the_start(page, home):
    frequencies = page.ask("modes", count=3)["value"]
    expected = scene_file.load(home / "scene.toml").modes(3).frequencies
    assert frequencies == pytest.approx(expected)
    assert "error" not in page.ask("mode", number=1)
    page.until(lambda: page.mode.get("number") == 1)
    count = page.surfaces["soft"][0]["moved"]
    values = np.frombuffer(page.mode["body_bytes"], "<f4")
    assert len(values) == 2 * (3 * count + 7)
    still, there = values[: len(values) // 2], values[len(values) // 2 :]
    assert np.abs(there - still).max() > 0.01
    assert "number of a mode" in page.ask("mode", number=9)["error"]


def test_an_equilibrium_is_that_of_the_library(page, home):
    page.ask("remove", body="rigid", index=0, revision=page.state["revision"])
    assert "error" not in page.ask("equilibrium", load_steps=2)
    page.until(lambda: page.state["phase"] == "paused" and page.frame.get("converged"))
    tables = page.state["tables"]
    sim = scene_file.from_tables(tables, home, "scene").scene.equilibrium(load_steps=2, dt=0.01)
    body, count = sim.scene.soft_bodies[0], page.surfaces["soft"][0]["moved"]
    nodes = np.unique(body.mesh.boundary_faces)
    shown = np.frombuffer(page.points, "<f4")[: 3 * count].reshape(-1, 3)
    assert np.allclose(shown, sim.positions(body)[nodes], atol=1e-6)


def test_a_motor_is_driven_while_it_runs(page):
    assert "nothing runs" in page.ask("motor", joint=0, coordinate="", changes={"velocity": 2.0})["error"]
    page.ask("step")
    assert "error" not in page.ask("motor", joint=0, coordinate="", changes={"velocity": -3.0})
    for _ in range(3):
        page.ask("step")
    page.until(lambda: page.frame["steps"] == 4)
    turn = np.frombuffer(page.points, "<f4")[-4:]
    assert 2 * np.arctan2(turn[3], turn[0]) == pytest.approx(0.01 - 0.09, abs=0.01)


def test_a_limit_of_time_pauses_the_run(page):
    assert "error" in page.ask("pace", speed=0.0, limit=0.0)
    page.ask("pace", speed=100.0, limit=0.05)
    page.ask("play")
    page.until(lambda: page.state["phase"] == "paused")
    page.until(lambda: page.frame["time"] >= 0.05 - 1e-9)
    assert page.frame["time"] == pytest.approx(0.05)
    assert "reached its limit" in page.ask("play")["error"]
    page.ask("pace", speed=1.0, limit=0.0)
    assert page.state["limit"] is None


def test_states_are_saved_for_paraview_and_to_go_on_from(page, home):
    page.ask("step")
    assert page.ask("store", file="state.vtu")["value"] == "state.vtu"
    assert page.ask("store", file="state.npz")["value"] == "state.npz"
    assert "plain" in page.ask("store", file="../state.npz")["error"]
    assert pliant.resume(home / "state.npz").time == pytest.approx(0.01)


def test_a_body_is_renamed_wherever_it_is_named(page):
    revision = page.state["revision"]
    assert "taken" in page.ask("rename", body="rigid", index=0, name="cube", revision=revision)["error"]
    assert "error" not in page.ask("rename", body="rigid", index=0, name="lever", revision=revision)
    page.until(lambda: page.state["tables"]["rigid"][0]["name"] == "lever")
    assert page.state["tables"]["joint"][0]["b"] == "lever"
    page.ask("undo")
    page.until(lambda: page.state["tables"]["joint"][0]["b"] == "arm")


def test_a_person_is_asked_before_comments_or_files_are_lost(page, home):
    page.ask("open", file="commented.toml")
    assert "comments in commented.toml" in page.ask("save", file="commented.toml")["value"]["question"]
    assert "# how it runs" in (home / "commented.toml").read_text()
    assert "exists already" in page.ask("save", file="scene.toml")["value"]["question"]
    assert page.ask("save", file="commented.toml", sure=True)["value"] == {"file": "commented.toml"}
    assert page.ask("save", file="commented.toml")["value"] == {"file": "commented.toml"}, "its own comments stay"
    (home / "commented.toml").write_text(SCENE.replace("[run]", "# how it runs\n[run]"))


def test_a_mesh_file_that_is_refused_does_not_stay(page, server, home):
    post = {"headers": {"origin": HOME}}
    assert server.post("/upload/refused.stl", content=b"nonsense", **post).text == "refused.stl"
    table = {"mesh": {"file": "refused.stl", "tetrahedralize": {}}, "material": RUBBER}
    error = page.ask("add", body="soft", table=table)["error"]
    assert "refused.stl" in error and str(home) not in error, "no page is told where the folder is"
    page.ask("discard", file="refused.stl")
    assert not (home / "refused.stl").exists()
    page.ask("discard", file="scene.toml")
    assert (home / "scene.toml").exists(), "only what a page has brought is thrown away"


def write(path, text):
    path.write_text(text)
    return path


def test_colours_between_frames_that_have_them_are_interpolated(cube):
    scene, _ = cube
    sim = scene.simulate(dt=0.01)
    recording = Recording(sim, SceneGeometry(scene, 1), "displacement")
    for step in range(3):
        recording.next_colors = np.inf if step == 1 else 0.0
        recording.keep()
        sim.step(4)
    assert [shot.values is None for shot in recording.shots] == [False, True, False]
    first, middle, last = (recording.shot(k).values[0] for k in range(3))
    assert np.allclose(middle, (first + last) / 2) and last.max() > 0
    plain = Recording(sim, SceneGeometry(scene, 1), "none")
    plain.keep()
    assert plain.shot(7).values is None
