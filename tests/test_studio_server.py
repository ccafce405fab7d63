"""The server of the studio: who gets in, what it answers, and what it does not do."""

import json
import random

import numpy as np
import pytest

pytest.importorskip("starlette", reason="the studio needs the extra: pip install 'pliant[studio]'")
pytest.importorskip("httpx2", reason="tests of the studio's server need httpx2")

from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

import pliant as pl
from pliant import scene_file
from pliant.benchmarks._studio_page import fuzzed
from pliant.studio import folder
from pliant.studio.server import application
from pliant.studio.session import Session
from studio_support import HOME, START, TOKEN

SCENE = (
    START
    + """mesh = { box = [1, 1, 1], cells = 1 }
position = [0, 0, 1]
[[rigid]]
name = "floor"
shape = { plane = [0, 0, 1] }
static = true
"""
)


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    place = tmp_path_factory.mktemp("home")
    (place / "scene.toml").write_text(SCENE)
    (place / "broken.toml").write_text(SCENE.replace("corotated", "rubbery"))
    (place.parent / "secret.toml").write_text(SCENE)
    return place


@pytest.fixture
def stranger(home):
    """A browser without the token; no process is started for it."""
    return TestClient(application(Session(home), TOKEN, start=False), base_url=HOME)


@pytest.mark.parametrize(
    "path", ["/", "/studio.js", "/talk", "/?token=wrong", "/../secret.toml", "/%2e%2e/secret.toml"]
)
def test_without_the_token_there_is_nothing(stranger, path):
    answer = stranger.get(path)
    assert answer.status_code == 403
    assert "content-security-policy" in answer.headers


def test_the_token_becomes_a_cookie_and_leaves_the_address(stranger):
    answer = stranger.get("/", params={"token": TOKEN}, follow_redirects=False)
    assert answer.status_code == 303 and answer.headers["location"] == "/"
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie and "samesite=strict" in cookie


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "localhost.evil:80", "evil@127.0.0.1", ""])
def test_other_names_of_this_machine_are_refused(server, host):
    assert server.get("/", headers={"host": host}).status_code == 403


@pytest.mark.parametrize("host", ["localhost:1", "127.0.0.1:65535", "[::1]:80", "localhost"])
def test_names_of_this_machine_are_taken_with_any_port(server, host):
    assert server.get("/nothing", headers={"host": host}).status_code == 404


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:8701", "https://127.0.0.1:8700"])
def test_pages_of_others_get_nothing(server, origin):
    assert server.get("/", headers={"origin": origin}).status_code == 403
    with pytest.raises(WebSocketDisconnect), server.websocket_connect("/talk", headers={"origin": origin}):
        pass


def test_a_websocket_must_say_where_it_comes_from(server):
    with pytest.raises(WebSocketDisconnect), server.websocket_connect("/talk"):
        pass


@pytest.mark.parametrize(
    "path", ["/scene.toml", "/page/studio.js", "/..%2fsession.py", "/examples/beam.toml", "/server.py"]
)
def test_no_file_but_the_page_is_served(server, path):
    assert server.get(path).status_code == 404


def test_the_page_may_load_nothing_from_elsewhere(server):
    policy = server.get("/nothing").headers["content-security-policy"]
    assert "default-src 'none'" in policy and "script-src 'self';" in policy and "unsafe" not in policy
    assert "http" not in policy and "*" not in policy


def test_surfaces_and_a_frame_say_the_scene(page):
    soft, rigid = page.surfaces["soft"][0], page.surfaces["rigid"][0]
    assert (soft["name"], soft["points"], soft["triangles"]) == ("cube", 8, 12)
    assert rigid["plane"] == [0, 0, 1]
    points = np.frombuffer(page.points, "<f4")[:24].reshape(8, 3)
    assert points.min(axis=0).tolist() == [0, 0, 1] and points.max(axis=0).tolist() == [1, 1, 2]


def test_edits_change_the_scene_and_are_undone(page):
    before = page.state["tables"]
    assert "error" not in page.edit(do="put", path=["soft", 0, "position"], value=[0, 0, 3])
    page.until(lambda: page.frame["revision"] == page.state["revision"])
    assert np.frombuffer(page.points, "<f4")[:24].reshape(8, 3)[:, 2].min() == 3
    page.ask("undo")
    page.until(lambda: page.state["tables"] == before)
    page.ask("redo")
    page.until(lambda: page.state["tables"]["soft"][0]["position"] == [0, 0, 3])
    page.ask("undo")


def test_a_wrong_edit_is_refused_with_the_words_of_check_and_changes_nothing(page, home):
    before = page.state["tables"]
    answer = page.edit(do="put", path=["soft", 0, "material", "law"], value="rubbery")
    with pytest.raises(scene_file.files.SceneError) as check:
        scene_file.read(home / "broken.toml")
    assert answer["error"] == str(check.value).replace(str(home / "broken.toml"), "scene")
    page.ask("text")
    assert page.state["tables"] == before and page.state["undo"] == 0


def test_an_edit_of_an_older_scene_is_refused(page):
    answer = page.ask("edit", command={"do": "put", "path": ["gravity"], "value": [0, 0, 0]}, revision=0)
    assert "changed meanwhile" in answer["error"]


def answers(page, *numbers: int) -> list[dict]:
    """The answers to requests, in whatever order they come."""
    found: dict[int, dict] = {}
    while set(numbers) - set(found):
        said = page.take()
        found |= {said["id"]: said} if said["kind"] == "reply" else {}
    return [found[number] for number in numbers]


def test_of_two_edits_for_one_scene_the_second_is_refused(page):
    """Two pages may ask before either is answered: what the second has not seen is not written over."""
    revision, path = page.state["revision"], ["soft", 0, "position"]
    edits = [{"do": "put", "path": path, "value": value} for value in ([1, 0, 0], [0, 2, 0])]
    first, second = answers(page, *(page.tell("edit", command=edit, revision=revision) for edit in edits))
    assert "error" not in first and second["stale"] and "changed meanwhile" in second["error"]
    assert page.state["tables"]["soft"][0]["position"] == [1, 0, 0]
    page.ask("undo")


def test_a_run_that_is_stopped_or_edited_while_it_is_built_is_no_error(page):
    edit = {"do": "put", "path": ["gravity"], "value": [0, 0, -9]}
    asked = page.tell("play"), page.tell("edit", command=edit, revision=page.state["revision"])
    assert ["error" in answer and answer["error"] for answer in answers(page, *asked)] == [False, False]
    page.ask("undo")


def test_bodies_are_added_under_free_names_and_taken_out(page):
    table = {"name": "cube", "shape": {"sphere": 0.1}, "density": 100, "position": [0, 0, 4]}
    assert page.ask("add", body="rigid", table=table)["value"] == "cube 2"
    page.until(lambda: len(page.state["tables"]["rigid"]) == 2)
    assert "error" not in page.ask("remove", body="rigid", index=1, revision=page.state["revision"])
    page.until(lambda: len(page.state["tables"]["rigid"]) == 1)


def test_a_run_has_the_bits_of_the_library_and_goes_back_to_the_start(page, home):
    for _ in range(3):
        page.ask("step")
    page.until(lambda: page.frame["steps"] == 3)
    sim = scene_file.load(home / "scene.toml").simulate(dt=0.01)
    sim.step(3)
    cube = sim.scene.find("cube")
    assert np.frombuffer(page.points, "<f4")[:24].tobytes() == sim.surface(cube).points.astype("<f4").tobytes()
    assert page.frame["time"] == sim.time and page.frame["iterations"] == sim.info.iterations
    assert page.frame["converged"] is True and page.frame["energy"]["total"] == sim.energy().total
    page.ask("reset")
    page.until(lambda: page.frame["steps"] == 0)


def test_play_pause_colour_and_an_edit_while_it_plays(page):
    page.ask("paint", color="stress")
    page.ask("play")
    page.until(lambda: page.frame["steps"] > 5 and page.frame["playing"])
    assert page.frame["field"]["title"] == "von Mises stress [Pa]"
    page.ask("pause")
    page.until(lambda: page.state["phase"] == "paused" and not page.frame["playing"])
    page.ask("play")
    page.until(lambda: page.state["phase"] == "playing")
    assert "error" not in page.edit(do="put", path=["gravity"], value=[0, 0, -1.6])
    page.until(lambda: page.state["phase"] == "ready" and page.frame["steps"] == 0)
    page.ask("paint", color="none")


def test_a_process_that_is_ended_is_replaced(page, server):
    session = server.app.app.state.session
    page.ask("play")
    session.worker.kill()
    page.until(lambda: page.state["phase"] == "ended")
    assert "error" not in page.ask("reset")
    page.until(lambda: page.state["phase"] == "ready")
    assert "error" not in page.ask("step")


def test_files_are_saved_in_the_folder_and_nowhere_else(page, home):
    assert page.ask("save", file="copy.toml")["value"] == {"file": "copy.toml"}
    assert scene_file.same(scene_file.load(home / "copy.toml"), scene_file.load(home / "scene.toml"))
    listed = sorted(path.name for path in home.parent.rglob("*"))
    for name in (
        "../out.toml",
        "/tmp/out.toml",
        "sub/out.toml",
        ".out.toml",
        "out.py",
        "out.toml\0",
        "x" * 300 + ".toml",
    ):
        assert "plain" in page.ask("save", file=name)["error"]
        assert "plain" in page.ask("open", file=name)["error"]
    assert sorted(path.name for path in home.parent.rglob("*")) == listed
    assert "No such file" in page.ask("open", file="none.toml")["error"]


def test_the_quality_of_a_mesh_counts_every_angle(page):
    quality = page.ask("quality", body="cube")["value"]
    assert sum(quality["counts"]) == 6 * quality["tets"] and quality["volume"] == pytest.approx(1)
    assert len(quality["counts"]) == 18 and quality["counts"][9] > 0


def test_a_body_is_pulled_where_the_mouse_goes(page):
    page.edit(do="put", path=["gravity"], value=[0, 0, 0])
    assert "while the scene plays" in page.ask("pull", body="cube", point=[1, 1, 2], target=[1, 1, 2])["error"]
    page.ask("play")
    assert "error" not in page.ask("pull", body="cube", point=[0.5, 0.5, 2], target=[0.5, 0.5, 4])
    assert "three finite numbers" in page.ask("drag", target=[0, 0])["error"]
    page.ask("drag", target=[0.5, 0.5, 5])
    page.until(lambda: np.frombuffer(page.points, "<f4")[:24].reshape(8, 3)[:, 2].mean() > 2.5)
    page.ask("release")
    page.ask("pause")
    assert page.frame["converged"]


def test_the_time_line_films_and_pictures(page, home):
    assert "play first" in page.ask("film", file="film.webp", camera={})["error"]
    page.ask("play")
    page.until(lambda: page.frame.get("kept", 0) >= 4)
    page.ask("pause")
    page.until(lambda: page.state["phase"] == "paused")
    steps = page.frame["steps"]
    page.ask("scrub", index=0)
    page.until(lambda: page.frame.get("scrubbed"))
    assert page.frame["time"] == 0 and page.frame["steps"] == steps
    assert np.frombuffer(page.points, "<f4")[:24].reshape(8, 3)[:, 2].min() == 1
    assert page.ask("film", file="film.webp", camera={"eye": [5, -5, 3], "target": [0, 0, 1]})["value"] == "film.webp"
    assert page.ask("picture", file="now.png", camera={})["value"] == "now.png"
    for name in ("../film.webp", "film.exe", "/tmp/film.webp"):
        assert "plain" in page.ask("film", file=name, camera={})["error"]
    from PIL import Image

    with Image.open(home / "film.webp") as film, Image.open(home / "now.png") as now:
        assert film.n_frames >= 4 and now.size == (960, 540)


def test_uploads_are_named_plainly_bounded_and_change_no_file(server, home, monkeypatch):
    post = {"headers": {"origin": HOME}}
    assert server.post("/upload/part.stl", content=b"one", **post).text == "part.stl"
    assert server.post("/upload/part.stl", content=b"one", **post).text == "part.stl"
    assert server.post("/upload/part.stl", content=b"two", **post).text == "part 2.stl"
    assert (home / "part.stl").read_bytes() == b"one"
    for name in ("scene.toml", ".part.stl", "..%5cpart.stl", "part.py"):
        assert server.post(f"/upload/{name}", content=b"x", **post).status_code == 400
    for name in ("..%2fpart.stl", "../part.stl"):
        assert server.post(f"/upload/{name}", content=b"x", **post).status_code in (404, 405)
    assert server.post("/upload/evil.stl", content=b"x", headers={"origin": "http://evil.example"}).status_code == 403
    monkeypatch.setattr("pliant.studio.server.MOST_UPLOADED", 1000)
    assert server.post("/upload/large.stl", content=bytes(1001), **post).status_code == 413
    assert not (home / "large.stl").exists() and not (home / "evil.stl").exists()
    assert not (home.parent / "part.stl").exists()


def test_a_file_that_is_no_mesh_is_refused_in_words(page):
    table = {
        "mesh": {"file": "part.stl", "tetrahedralize": {}},
        "material": page.state["tables"]["soft"][0]["material"],
    }
    assert "part.stl" in page.ask("add", body="soft", table=table)["error"]


def test_a_script_comes_back(page):
    assert "scene.add_soft" in page.ask("python")["value"]


def test_malformed_messages_do_no_harm(page, home, caplog):
    source = random.Random(1)
    listed = sorted(path.name for path in home.parent.rglob("*"))
    for _ in range(10):
        for _ in range(100):
            page.send(fuzzed(source))
        answer = page.ask("text")
        assert str(home) not in json.dumps(answer)
    assert "error" not in page.ask("open", file="scene.toml")
    assert sorted(path.name for path in home.parent.rglob("*")) == listed
    assert not any(str(home) in json.dumps(note) for note in page.notes)
    assert not caplog.records, "an exception that nobody took"


def test_examples_open_and_run(page, home, monkeypatch, tmp_path):
    (tmp_path / "examples").mkdir()
    (tmp_path / "examples" / "one.toml").write_text(SCENE.replace("cube", "example"))
    monkeypatch.setattr(folder, "PAGE", tmp_path)
    assert "error" not in page.ask("open", file="one.toml", example=True)
    page.until(lambda: page.state["tables"]["soft"][0]["name"] == "example")
    assert page.state["name"] is None and [each["file"] for each in page.state["examples"]] == ["one.toml"]


def test_examples_are_saved_with_their_meshes(page, home, monkeypatch, tmp_path):
    example = tmp_path / "examples"
    example.mkdir()
    shell = pl.meshes.sphere(0.5, 2).surface()
    pl.meshes.write(example / "ball.ply", pl.meshes.TriMesh(shell.points, shell.triangles, repair=True))
    (example / "two.toml").write_text(SCENE.replace("{ box = [1, 1, 1], cells = 1 }", MESHED))
    monkeypatch.setattr(folder, "PAGE", tmp_path)
    assert "error" not in page.ask("open", file="two.toml", example=True)
    (home / "ball.ply").write_text("ply of somebody else")
    assert "another file of that name" in page.ask("save", file="mine.toml")["error"]
    assert not (home / "mine.toml").exists()
    (home / "ball.ply").unlink()
    assert page.ask("save", file="mine.toml")["value"] == {"file": "mine.toml"}
    assert (home / "ball.ply").read_bytes() == (example / "ball.ply").read_bytes()
    assert len(scene_file.load(home / "mine.toml").soft_bodies[0].mesh.tets) > 8
    for name in ("mine.toml", "ball.ply"):
        (home / name).unlink()


MESHED = '{ file = "ball.ply", tetrahedralize = { size = 0.4, max_volume_error = 0.3 } }'

SHEET_AND_ROD = """format = 1
[run]
dt = 0.01
[[cloth]]
name = "sheet"
mesh = { grid = [1, 1], cells = [2, 2] }
thickness = 1e-3
material = { law = "stvk", young = 1e5, poisson = 0.3, density = 500 }
position = [0, 0, 2]
[[rod]]
name = "cable"
points = [[0, 0, 1], [0.5, 0, 1], [1, 0, 1]]
radius = 0.01
material = { law = "linear", young = 1e7, poisson = 0.3, density = 1000 }
[[rod.clamp]]
point = 0
"""


def test_sheets_and_rods_are_shown_and_run(page, home):
    (home / "sheet.toml").write_text(SHEET_AND_ROD)
    assert "error" not in page.ask("open", file="sheet.toml")
    page.until(lambda: page.frame.get("revision") == page.state["revision"])
    counts = page.surfaces["soft"][0]["points"], page.surfaces["rods"][0]["points"]
    rest = np.frombuffer(page.points, "<f4")[: 3 * sum(counts)].reshape(-1, 3)
    assert np.all(rest[: counts[0], 2] == 2) and np.allclose(rest[counts[0] :, 2], 1, atol=0.0101)
    assert "error" not in page.ask("step")
    page.until(lambda: page.frame["steps"] == 1)
    moved = np.frombuffer(page.points, "<f4")[: 3 * sum(counts)].reshape(-1, 3)
    assert np.all(moved[: counts[0], 2] < 2) and np.allclose(moved[counts[0] :], rest[counts[0] :], atol=1e-2)
    assert page.ask("rod_point", rod="cable", point=[0.9, 0, 1.1])["value"] == {"number": 2, "at": [1, 0, 1]}
    assert "no rod" in page.ask("rod_point", rod="sheet", point=[0, 0, 0])["error"]
    page.ask("play")
    assert "cannot be pulled" in page.ask("pull", body="cable", point=[0, 0, 1], target=[0, 0, 2])["error"]
    page.ask("pause")
    text = page.ask("python")["value"]
    assert "scene.add_cloth(" in text and "cable[0].clamp()" in text
