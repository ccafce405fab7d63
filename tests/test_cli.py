"""The command line: every command on a tiny scene, and what it says of bad input."""

import json
import subprocess
import sys
from importlib import import_module

import numpy as np
import pytest
from click.testing import CliRunner
from PIL import Image

import pliant as pl
from pliant._version import __version__
from pliant.cli.group import main
from small_scenes import TOML


@pytest.fixture
def scene(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scene.toml").write_text(TOML)
    return tmp_path / "scene.toml"


def pliant(*arguments, code=0):
    """Run a command; returns its output and its error output."""
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output + result.stderr + repr(result.exception)
    return result.stdout, result.stderr


def test_version_and_help():
    assert __version__ in pliant("--version")[0]
    for words in (
        [],
        ["run"],
        ["equilibrium"],
        ["modes"],
        ["check"],
        ["render"],
        ["mesh"],
        ["mesh", "info"],
        ["mesh", "convert"],
        ["bench"],
        ["demo"],
        ["devices"],
    ):
        assert "Example" in pliant(*words, "--help")[0]


def test_importing_the_command_line_loads_nothing_heavy():

    code = "import sys, pliant.cli; print([name for name in ('numba', 'numpy', 'rich', 'PIL') if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"


def test_run_writes_what_the_file_names_into_the_folder(scene, tmp_path):
    out = pliant("run", scene, "--out", tmp_path / "results", "--checkpoint", "end.npz")[0]
    names = {path.name for path in (tmp_path / "results").iterdir()}
    assert names == {"scene.pvd", "scene_frames", "drop.webp", "scene.png", "end.npz"}
    assert {path.name for path in tmp_path.iterdir()} == {"scene.toml", "results"}
    assert "1 soft (27 nodes, 48 tets), 2 rigid" in out and "x real time" in out and "drop.webp" in out
    assert pl.resume(tmp_path / "results" / "end.npz").time == pytest.approx(0.1)


BAR = """
format = 1
[materials.rubber]
law = "linear"
young = 1e5
poisson = 0.0
density = 1000.0
[[soft]]
name = "bar"
material = "rubber"
mesh = { box = [0.1, 0.1, 1.0], cells = [1, 1, 20] }
[[soft.pin]]
nodes = "z > 0.999"
"""


@pytest.fixture
def bar(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bar.toml").write_text(BAR)
    return tmp_path / "bar.toml"


def test_equilibrium_of_a_hanging_bar(bar, tmp_path):
    """Its end sinks by rho g L^2 / (2 E); one cell across, lumped weight moves a corner by up to 5% more."""
    report = json.loads(pliant("equilibrium", bar, "--load-steps", 2, "--json")[0])
    sinks = report["bodies"]["bar"]["displacement"]
    assert 1 <= sinks / (1000 * 9.81 / 2e5) < 1.05
    assert report["residual"] <= 1e-6 and report["elapsed_s"] > 0
    assert {p.name for p in (tmp_path / "out").iterdir()} == {"bar-equilibrium.png", "bar-equilibrium.vtu"}
    assert f"bar: moved by up to {sinks:.4g} m" in pliant("equilibrium", bar)[0]
    bar.write_text(
        BAR + '[run]\nsolver = { type = "newton", integrator = "bdf2" }\n'
    )  # of which a command at rest has no use
    assert f"bar: moved by up to {sinks:.4g} m" in pliant("equilibrium", bar)[0]


def test_equilibrium_takes_a_time_and_names_rigid_bodies(bar):
    """Half the load at half the time: a linear bar without weight stretches by F L / (E A), a ball hangs below it."""
    load = '[[soft.force]]\nnodes = "z < 0.001"\nvector = { times = [0, 1], values = [[0, 0, 0], [0, 0, -10]] }\n'
    ball = '[[rigid]]\nname = "ball"\nshape = { sphere = 0.05 }\ndensity = 1\nposition = [0.05, 0.05, -0.05]\n'
    joint = '[[joint]]\ntype = "ball"\na = "bar"\nb = "ball"\nat = [0.05, 0.05, 0]\n'
    text = bar.read_text().replace("format = 1", "format = 1\ngravity = [0, 0, 0]") + load + ball + joint
    bar.write_text(text)
    report = json.loads(pliant("equilibrium", bar, "--time", 0.5, "--tolerance", 1e-8, "--json")[0])
    assert report["bodies"]["bar"]["displacement"] == pytest.approx(5 / (1e5 * 0.01), rel=0.1)
    assert report["rigid"]["ball"]["position"][2] < -0.05
    assert "ball: rests at" in pliant("equilibrium", bar, "--time", 0.5)[0]


def test_modes_of_a_hanging_bar(bar, tmp_path):
    """The lowest longitudinal frequency sqrt(E / rho) / (4 L) = 2.5 Hz is among them, within 1%."""
    report = json.loads(pliant("modes", bar, "-n", 12, "--json")[0])
    assert min(abs(f / 2.5 - 1) for f in report["frequencies"]) < 0.01 and report["rigid"] == 0
    assert "mode   2" in pliant("modes", bar, "-n", 2, "--pictures")[0]
    assert {p.name for p in (tmp_path / "out").iterdir()} == {"bar-mode1.png", "bar-mode2.png"}
    assert "n must be an integer from 1" in pliant("modes", bar, "-n", 0, code=1)[1]


WIRE = """format = 1
[run]
seconds = 0.02
dt = 0.01
output = [".vtu", ".png"]
[[rod]]
name = "wire"
points = [[0, 0, 0], [1, 0, 0]]
segments = 20
material = { law = "linear", young = 1e10, poisson = 0.3, density = 1000 }
radius = 0.01
clamp = [{ point = 0 }]
force = [{ point = 20, vector = [100, 0, 0] }]
"""


def test_commands_tell_of_rods(bar, tmp_path):
    """A cantilever of weight q L, pulled by P: its deflection v, measured from the tip at s = 0, obeys
    EI v'' = P v - q s^2 / 2 with v(0) = 0 and v'(L) = 0; a segment tells of its middle."""
    bar.write_text(WIRE)
    weight = 9.81 * 1000 * np.pi * 0.01**2
    out = pliant("check", bar)[0]
    assert "1 rod (21 points, 20 segments), 0 joints" in out and f"{weight / 9.81:.6g} kg rods" in out
    assert "0 rigid, 1 rod (20 segments), 0 joints" in pliant("run", bar)[0]
    report = json.loads(pliant("equilibrium", bar, "--json")[0])["rods"]["wire"]
    bending, pull = 1e10 * np.pi * 0.01**4 / 4, 100
    k, own = np.sqrt(pull / bending), weight * bending / pull**2
    other = (own * np.sinh(k) - weight / (pull * k)) / np.cosh(k)

    def deflection(s):
        return weight * s**2 / (2 * pull) + own * (1 - np.cosh(k * s)) + other * np.sinh(k * s)

    root = weight * 0.975**2 / 2 - pull * deflection(0.975)
    assert report["displacement"] == pytest.approx(deflection(1), rel=0.01)
    assert report["tension"] == pytest.approx([pull, pull], rel=1e-3)
    assert report["moment"] == pytest.approx(root, rel=0.01) and report["torque"] < 1e-9
    text = pliant("equilibrium", bar)[0]
    assert f"wire: moved by up to {report['displacement']:.4g} m, tension from " in text and "found in" in text
    names = {"bar.vtu", "bar.png", "bar-equilibrium.vtu", "bar-equilibrium.png"}
    assert {path.name for path in (tmp_path / "out").iterdir()} == names


def test_modes_say_which_are_rigid_motions(bar):
    """Six of a rod that nothing holds; the plane below, which it touches, is not asked."""
    bar.write_text(WIRE.split("clamp")[0] + "[[rigid]]\nshape = { plane = [0, 0, 1] }\nstatic = true\n")
    report = json.loads(pliant("modes", bar, "-n", 8, "--json")[0])
    assert report["rigid"] == 6 and report["frequencies"][6] > 1e4 * report["frequencies"][5]
    assert "the first 6 are rigid motions (0 Hz but for rounding)" in pliant("modes", bar, "-n", 8)[0]


def test_run_options_overrule_the_file(scene):
    out, err = pliant(
        *("run", scene, "--seconds", 0.06, "--dt", 0.01, "--json"),
        *("--solver", "dual", "--precision", "float32", "--tolerance", 1e-3),
    )
    report = json.loads(out)
    assert (report["steps"], report["dt"], report["precision"]) == (6, 0.01, "float32")
    assert report["solver"] == "dual mprgp" and not err
    assert report["energy"]["kinetic"] > 0


@pytest.mark.parametrize(
    "options, message",
    [
        (["--dt", -1], "dt: -1.0 -> is out of range"),
        (["--solver", "magic"], "must be one of newton, mixed, dual, linear, explicit, xpbd, bounded, got 'magic'"),
        (["--precision", "half"], "precision"),
        (["--precision", "float32"], "run.precision: precision 'float32' is of pliant.Dual() alone; pliant.Newton"),
        (["--device", "metal"], "device: \"metal\" -> is not one of the choices; allowed: 'cpu', 'cuda'"),
        (["--tolerance", 0], "Newton tolerance"),
    ],
)
def test_run_names_bad_options(scene, options, message):
    assert message in pliant("run", scene, *options, code=1)[1]


def test_a_checkpoint_stays_in_the_folder(scene):
    assert "not a plain file name" in pliant("run", scene, "--checkpoint", "../end.npz", code=2)[1]


def test_check_summarises(scene):
    out = pliant("check", scene)[0]
    assert "27 nodes, 48 tets, 291 rows" in out and "mass 8 kg soft, 1 kg rigid" in out


def test_check_refuses_what_the_solver_would(tmp_path):
    text = """format = 1
[[rigid]]
name = "a"
shape = { box = [0.2, 0.2, 0.2] }
mass = 1.0
[[joint]]
type = "hinge"
name = "elbow"
a = "world"
b = "a"
at = [0, 0, 0]
axis = [0, 0, 1]
motor = { velocity = 1.0 }
[run]
dt = 0.01
seconds = 1
solver = "xpbd"
"""
    path = tmp_path / "arm.toml"
    path.write_text(text)
    assert "Xpbd has no place for a motor" in pliant("check", path, code=1)[1]


BAD_RUNS = {
    "threads = 1000": r"run.threads: threads must be a whole number from 1 to",
    "seconds = 1e90\ndt = 1e-90": "are more than 1e+12 steps",
    "camera = { eye = [0, 0, 1], target = [0, 0, 1] }": "camera eye and target are the same point",
    'solver = "linear"': "run.solver: pliant.Linear needs a soft body",
}


@pytest.mark.parametrize("settings", BAD_RUNS)
def test_check_refuses_what_run_refuses(settings, tmp_path):
    path = tmp_path / "case.toml"
    path.write_text(f"format = 1\n[run]\n{settings}\n[[rigid]]\nshape = {{ sphere = 1 }}\nmass = 1\n")
    checked, run = pliant("check", path, code=1)[1], pliant("run", path, "--out", tmp_path / "out", code=1)[1]
    assert checked == run
    assert checked.startswith(f"error: {path}: ") and BAD_RUNS[settings] in checked
    assert not (tmp_path / "out").exists()


def test_check_lists_every_error(scene):
    scene.write_text(TOML.replace("young", "yung").replace('"stress"', '"heat"'))
    errors = pliant("check", scene, code=1)[1]
    assert "materials.rubber.yung" in errors and "run.color" in errors and "Traceback" not in errors
    assert "Traceback" in pliant("-v", "check", scene, code=1)[1]
    assert "Traceback" in pliant("check", scene, "--verbose", code=1)[1]


def test_render_scene_and_checkpoint(scene, tmp_path):
    pliant("render", scene, "--size", "64x36", "--time", 0.04, "--contacts")
    assert Image.open(tmp_path / "scene.png").size == (64, 36)
    pliant("run", scene, "--out", tmp_path, "--seconds", 0.02, "--checkpoint", "end.npz")
    eye = ["--eye", 1, -1, 1, "--target", 0, 0, 0]
    pliant("render", tmp_path / "end.npz", "-o", tmp_path / "end.png", "--size", "64x36", "--color", "none", *eye)
    assert Image.open(tmp_path / "end.png").size == (64, 36)


def test_render_names_bad_input(scene, tmp_path):
    assert "WIDTHxHEIGHT" in pliant("render", scene, "--size", "big", code=2)[1]
    assert "written as .png" in pliant("render", scene, "-o", "a.jpg", code=1)[1]
    assert "scene file (.toml) or a checkpoint (.npz)" in pliant("render", "scene.txt", code=1)[1]
    assert "same point" in pliant("render", scene, "--eye", 0, 0, 0, "--target", 0, 0, 0, code=1)[1]
    (tmp_path / "bad.npz").write_text("nothing")
    assert "cannot be read as a pliant checkpoint" in pliant("render", "bad.npz", code=1)[1]


def test_mesh_info_and_convert(tmp_path):
    mesh = pl.meshes.box((1, 1, 1), cells=2)
    pl.meshes.write(tmp_path / "box.node", mesh)
    out = pliant("mesh", "info", tmp_path / "box.node")[0]
    assert "48 tets" in out and "dihedral angle" in out and "from [0.0, 0.0, 0.0] to [1.0, 1.0, 1.0] m" in out
    pliant("mesh", "convert", tmp_path / "box.node", tmp_path / "box.msh")
    assert len(pl.meshes.read(tmp_path / "box.msh").tets) == 48
    pliant("mesh", "convert", tmp_path / "box.node", tmp_path / "box.obj", "--surface")
    assert "26 points" in pliant("mesh", "info", tmp_path / "box.obj")[0]
    assert "there is no such mesh file" in pliant("mesh", "info", tmp_path / "none.vtu", code=1)[1]
    assert "triangles only" in pliant("mesh", "convert", tmp_path / "box.node", tmp_path / "b.obj", code=1)[1]


def test_bench_prints_a_table_or_json(monkeypatch):
    grid = import_module("pliant.benchmarks.grid")

    result = {
        "name": "grid",
        "cores": 2,
        "cases": [{"label": "one", "ms_per_step": 1.23456}, {"label": "two", "rows": 7}],
    }
    monkeypatch.setattr(grid, "run", lambda quick: result | {"quick": quick})
    assert json.loads(pliant("bench", "grid", "--json", "--quick")[0]) == result | {"quick": True}
    table = pliant("bench", "grid")[0]
    assert "ms per step" in table and "1.235" in table and "two" in table
    assert "grid" in pliant("bench", "nothing", code=2)[1]


def test_demo_leaves_its_files(tmp_path):
    report = json.loads(pliant("demo", "--out", tmp_path, "--seconds", 0.05, "--json")[0])
    assert report["steps"] == 3 and report["soft_bodies"] == 2 and report["joints"] == 7
    assert {"demo.webp", "demo.png", "demo.pvd"} <= {path.name for path in tmp_path.iterdir()}


def test_devices_are_reported_in_words_and_as_json():
    out = pliant("devices")[0]
    assert out.startswith("cpu: ") and "cuda: " in out
    found = json.loads(pliant("devices", "--json")[0])
    assert found["cpu"]["threads"] >= 1 and ("missing" in found["cuda"] or found["cuda"]["memory"] > 0)
