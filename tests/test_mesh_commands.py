"""`pliant mesh`: what it says of surfaces, outputs that it refuses before the work, and hints in its own words."""

import numpy as np
import pytest
from click.testing import CliRunner

import pliant as pl
from closed_surfaces import ball, box, inward, together
from pliant import meshes, scene_file
from pliant.cli import main
from pliant.meshes import from_surface
from pliant.meshes.wording import for_commands, option

TURNED = (0.9, 0.1, 0.3, 0.2)


def pliant(*words, code: int = 0) -> tuple[str, str]:
    """What a command prints, and its errors."""
    done = CliRunner().invoke(main, [str(word) for word in words])
    assert done.exit_code == code, done.output + repr(done.exception)
    return done.stdout, done.stderr


def written(path, surface):
    """The path of a file of a surface, whatever is wrong with it."""
    pl.meshes.write(path, pl.meshes.TriMesh.trusted(*surface))
    return path


def without(surface, *triangles: int) -> tuple[np.ndarray, np.ndarray]:
    return surface[0], np.delete(surface[1], triangles, axis=0)


def flipped(surface, *triangles: int) -> tuple[np.ndarray, np.ndarray]:
    turned = surface[1].copy()
    turned[list(triangles)] = turned[list(triangles), ::-1]
    return surface[0], turned


def with_more(surface, *triangles) -> tuple[np.ndarray, np.ndarray]:
    return surface[0], np.concatenate([surface[1], triangles])


def test_info_measures_closed_surfaces(tmp_path):
    # a box of 1 x 2 x 3 m: 2 (1 * 2 + 2 * 3 + 3 * 1) m^2 and 6 m^3, whichever way it is turned
    path = written(tmp_path / "box.ply", box((1, 2, 3), rotation=TURNED))
    out = pliant("mesh", "info", path)[0]
    assert "TriMesh(8 points, 12 triangles)" in out
    assert "area 22 m^2, closed, volume 6 m^3\nit bounds a solid: tetrahedralize takes it\n" in out


def test_info_of_surfaces_whose_faults_no_mesh_may_have(tmp_path):
    """Repeated triangles and such without area, which `read` refuses; sets are told."""
    triangle = ball()[1][5]
    surface = with_more(ball(), triangle, [0, 1, 1])
    mesh = pl.meshes.TriMesh.trusted(*surface, {"a set": np.array([3, 4])})
    pl.meshes.write(tmp_path / "ball.vtu", mesh)
    out = pliant("mesh", "info", tmp_path / "ball.vtu")[0]
    assert "set 'a set': 2 nodes" in out and "not closed" in out
    assert "1 triangles without area: triangle 3073 at" in out and "1 repeated triangles: triangle 3072 at" in out
    with pytest.raises(pl.MeshError):
        pl.meshes.read(tmp_path / "ball.vtu")
    mended = pliant("mesh", "info", tmp_path / "ball.vtu", "--repair")[0]
    assert ", closed, volume 4.1" in mended and "it bounds a solid" in mended


@pytest.mark.parametrize(
    ("surface", "closed", "fault"),
    [
        (without(ball(), 0), False, "3 open edges: edge"),
        (flipped(ball(), 7), False, "3 edges whose triangles disagree about the outside: edge"),
        (inward(ball()), True, "1 surface that points inward (its volume is -4.1"),
        (with_more(ball(), [*ball()[1][0, :2], 900]), False, "1 edges of more than two triangles: edge"),
        (together(ball(), ball(at=(1.0, 0.1, 0.05))), True, "triangles that others pass through: triangle"),
    ],
)
def test_info_lists_what_tetrahedralize_refuses(tmp_path, surface, closed, fault):
    path = written(tmp_path / "part.ply", surface)
    out = pliant("mesh", "info", path)[0]
    assert fault in out and (", closed, volume " in out) == closed and (", not closed\n" in out) != closed
    refused = pliant("mesh", "tetrahedralize", path, code=1)[1]
    head, *faults = refused.rstrip().split("\n")
    assert head.endswith("part.ply does not bound a solid; --repair repairs what can be repaired:")
    assert out.rstrip().split("\n")[-len(faults) :] == faults
    assert list(tmp_path.iterdir()) == [path]


def test_info_of_a_surface_without_inside(tmp_path):
    points = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0.3, 0.3, 0]])
    path = written(tmp_path / "flat.ply", (points, np.array([[0, 1, 3], [1, 2, 3], [2, 0, 3], [0, 2, 1]])))
    out = pliant("mesh", "info", path)[0]
    assert "area 1 m^2, closed, volume 0 m^3" in out and "there is nothing inside that could be filled:" in out


def test_help_says_what_is_told_of_surfaces():
    said = " ".join(pliant("mesh", "info", "--help")[0].split())
    assert "its area, whether it is closed, the volume inside" in said and "pass through each other" in said


@pytest.fixture
def no_work(tmp_path, monkeypatch):
    """A surface ball.obj and tets solid.node that no command reads, and a file and a folder in the way."""

    def begun(*_, **__):
        raise AssertionError("the work has begun")

    written(tmp_path / "ball.obj", ball())
    pl.meshes.write(tmp_path / "solid.node", pl.meshes.box((1, 1, 1), cells=1))
    (tmp_path / "file").write_text("")
    (tmp_path / "folder.ele").mkdir()
    monkeypatch.setattr(meshes, "tetrahedralize", begun)
    monkeypatch.setattr(meshes, "read", begun)
    before = sorted(tmp_path.rglob("*"))
    yield tmp_path
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("out.stl", ".stl files hold triangles only; pliant mesh convert --surface writes"),
        ("out.xyz", "unknown mesh suffix '.xyz'; allowed are .vtu"),
        ("file/out.vtu", "out.vtu: cannot be written: File exists"),
        ("folder.node", "folder.ele: cannot be written: there is a folder of that name"),
    ],
)
def test_outputs_that_cannot_be_are_refused_before_the_work(no_work, target, message):
    assert message in pliant("mesh", "tetrahedralize", no_work / "ball.obj", "-o", no_work / target, code=1)[1]
    assert message in pliant("mesh", "convert", no_work / "solid.node", no_work / target, code=1)[1]


def test_triangles_for_files_of_tets_are_refused_before_the_work(no_work):
    for words in ((no_work / "ball.obj",), (no_work / "solid.node", "--surface")):
        assert (
            ".ele files hold tets only; for triangles use"
            in pliant("mesh", "convert", *words, no_work / "a.ele", code=1)[1]
        )


def test_files_that_may_hold_either_are_refused_when_they_are_read(tmp_path):
    pl.meshes.write(tmp_path / "solid.vtu", pl.meshes.box((1, 1, 1), cells=1))
    said = pliant("mesh", "convert", tmp_path / "solid.vtu", tmp_path / "a.stl", code=1)[1]
    assert "triangles only; pliant mesh convert --surface writes" in said
    pliant("mesh", "convert", tmp_path / "solid.vtu", tmp_path / "a.stl", "--surface")
    assert pl.meshes.read(tmp_path / "a.stl").mass_properties()[0] == 1.0


def test_tetrahedralize_writes_grids_that_come_back(tmp_path):
    """Without -o, a .vtu file beside the surface."""
    source = written(tmp_path / "ball.stl", ball())
    pliant("mesh", "tetrahedralize", source, "--size", 0.2, "--max-volume-error", 0.1)
    expected = pl.meshes.tetrahedralize(source, size=0.2, max_volume_error=0.1)
    found = pl.meshes.read(tmp_path / "ball.vtu")
    assert np.array_equal(found.points, expected.points) and np.array_equal(found.tets, expected.tets)


def test_hints_for_the_volume_leave_out_what_was_given(tmp_path):
    surface = box(rotation=TURNED)
    with pytest.raises(
        pl.MeshError, match=r"use a smaller size, sharp=30 to keep edges, or a larger max_volume_error$"
    ):
        pl.meshes.tetrahedralize(surface, size=0.4)
    with pytest.raises(pl.MeshError, match=r"use a smaller size or a larger max_volume_error$"):
        pl.meshes.tetrahedralize(surface, size=0.8, sharp=30.0)
    path = written(tmp_path / "box.ply", surface)
    said = pliant("mesh", "tetrahedralize", path, "--size", 0.4, code=1)[1]
    assert "use a smaller --size, --sharp 30 to keep edges, or a larger --max-volume-error\n" in said
    said = pliant("mesh", "tetrahedralize", path, "--size", 0.8, "--sharp", 30, code=1)[1]
    assert "use a smaller --size or a larger --max-volume-error\n" in said


@pytest.mark.parametrize(
    ("options", "remedy"),
    [
        ({}, "a smaller size or a smaller min_dihedral"),
        ({"sharp": 30.0}, "a smaller size or a smaller min_dihedral or no sharp"),
        ({"method": "tetgen"}, "a smaller size"),
        ({"method": "tetgen", "min_dihedral": 5.0}, "a smaller size or a smaller min_dihedral"),
    ],
)
def test_hints_for_boundaries_that_meet_themselves(monkeypatch, options, remedy):
    said = []
    mesh = pl.meshes.tetrahedralize(ball(), size=0.2, max_volume_error=0.1)
    monkeypatch.setattr(from_surface, "_attempts", lambda *_: [(mesh, "")])
    monkeypatch.setattr(from_surface, "refuse_tangles", lambda *given: said.append(given[2]))
    pl.meshes.tetrahedralize(ball(), max_volume_error=0.1, **options)
    assert said == [remedy]


def test_repairs_are_told_when_the_mesh_fails_afterwards(tmp_path):
    path = written(tmp_path / "box.ply", without(box(rotation=TURNED), 0))
    out, error = pliant("mesh", "tetrahedralize", path, "--size", 0.4, "--repair", code=1)
    assert out.startswith("the surface was repaired: 1 holes closed by 1 triangles.")
    assert "the volume of the mesh differs" in error
    assert list(tmp_path.iterdir()) == [path]


def test_options_are_named_as_each_user_writes_them(tmp_path):
    assert [option("repair", True), option("max_volume"), option("sharp", 30)] == [
        "repair=True",
        "max_volume",
        "sharp=30",
    ]
    with for_commands():
        assert [option("repair", True), option("max_volume")] == ["--repair", "--max-volume"]
        assert [option("sharp", 30), option("method", "lattice")] == ["--sharp 30", "--method lattice"]
    assert option("method", "lattice") == "method='lattice'"
    path = written(tmp_path / "ball.obj", with_more(ball(), [0, 1, 1]))
    assert "pass --repair to drop them" in pliant("mesh", "convert", path, tmp_path / "a.vtu", code=1)[1]
    said = pliant("mesh", "tetrahedralize", path, "--max-volume", -1, code=1)[1]
    assert "--max-volume must be a finite number above 0" in said
    said = pliant("mesh", "tetrahedralize", path, "--method", "tetgen", "--sharp", 30, code=1)[1]
    assert "--sharp is for --method lattice; --method tetgen has none" in said
    with pytest.raises(pl.MeshError, match="pass repair=True to drop them"):
        pl.meshes.read(path)


def test_scene_files_say_where_repair_stands(tmp_path):
    path = tmp_path / "scene.toml"
    text = """format = 1
[materials.rubber]
law = "corotated"
young = 1e5
poisson = 0.3
density = 1000
[[soft]]
name = "ball"
mesh = { file = "ball.obj", tetrahedralize = { size = 0.2, max_volume_error = 0.1 } }
material = "rubber"
"""
    written(tmp_path / "ball.obj", without(ball(), 0))
    path.write_text(text)
    with pytest.raises(
        pl.SceneError, match=r"in a scene file repair = true beside tetrahedralize\) repairs what can be"
    ):
        scene_file.load(path)
    path.write_text(text.replace("tetrahedralize =", "repair = true, tetrahedralize ="))
    with pytest.warns(UserWarning, match="1 holes closed by 1 triangles"):
        scene = scene_file.load(path)
    assert scene.soft_bodies[0].mesh.volume == pytest.approx(4.19, rel=0.1)
