"""`pliant sweep`: a scene file with every combination of values; what is wrong with a key is named."""

import json

import pytest
from click.testing import CliRunner

import pliant as pl
from pliant.cli.group import main
from small_scenes import BALL, RUBBER

TEXT = (
    """format = 1

[run]
dt = 0.02
seconds = 0.1
"""
    + RUBBER
    + """
[[soft]]
name = "block"
mesh = { box = [0.2, 0.1, 0.1], cells = [2, 1, 1] }
material = "rubber"
"""
    + BALL
    + """
[[joint]]
name = "arm"
type = "hinge"
a = "world"
b = "ball"
at = [0.5, 0, 0.5]
axis = [0, 1, 0]
"""
)


@pytest.fixture
def scene(tmp_path):
    path = tmp_path / "scene.toml"
    path.write_text(TEXT, encoding="utf-8")
    return path


def sweep(path, *arguments, code: int = 0) -> str:
    result = CliRunner().invoke(main, ["sweep", str(path), "--workers", "1", *arguments])
    assert result.exit_code == code, result.output + repr(result.exception)
    return result.stdout if code == 0 else result.stderr


def test_every_combination_is_run_as_by_itself(scene):
    values = ("--set", "materials.rubber.young=1e5,4e5", "--set", "rigid.ball.velocity=[1.0,0.0,0.0],[0.0,0.0,0.0]")
    report = json.loads(sweep(scene, *values, "--json"))
    runs = report["runs"]
    assert [run["values"]["materials.rubber.young"] for run in runs] == [1e5, 1e5, 4e5, 4e5]
    assert [run["values"]["rigid.ball.velocity"][0] for run in runs] == [1, 0, 1, 0]
    assert not any(run["failed"] for run in runs) and {round(run["time"], 9) for run in runs} == {0.1}
    scene.write_text(
        TEXT.replace("young = 1e5", "young = 4e5").replace("mass = 1", "mass = 1\nvelocity = [1.0, 0.0, 0.0]")
    )
    sim = pl.load(scene).simulate(0.02, threads=1).step(5)
    assert runs[2]["energy"]["elastic"] == sim.energy().elastic
    assert runs[2]["joints"]["arm.angle"] == sim.joint_position(sim.scene.joints[0])
    assert runs[2]["rigid"]["ball"] == sim.pose(sim.scene.find("ball"))[0].tolist()
    assert runs[0]["soft"]["block"] == pytest.approx(9.81 * 0.02**2 * 15, rel=1e-6)  # it falls freely


def test_rods_are_told_of(scene):
    rod = '[[rod]]\nname = "wire"\npoints = [[0, 5, 0], [1, 5, 0]]\nmaterial = "rubber"\nradius = 0.01\n'
    scene.write_text(TEXT + rod)
    runs = json.loads(sweep(scene, "--set", "rod.wire.radius=0.01,0.02", "--json"))["runs"]
    assert runs[1]["rods"]["wire"] == pytest.approx(9.81 * 0.02**2 * 15, rel=1e-6)  # it falls freely
    header, line = sweep(scene, "--set", "rod.wire.radius=0.01").splitlines()
    assert header.split()[-4:] == ["block", "moved", "wire", "moved"]
    assert float(line.split()[-1]) == pytest.approx(9.81 * 0.02**2 * 15, rel=1e-5)


def test_a_table_has_a_line_for_each_run(scene):
    lines = sweep(scene, "--set", "rigid.0.mass=1,2,3", "--seconds", "0.04").splitlines()
    assert len(lines) == 4 and lines[0].split()[:3] == ["rigid.0.mass", "time", "kinetic"]
    assert [line.split()[:2] for line in lines[1:]] == [["1", "0.04"], ["2", "0.04"], ["3", "0.04"]]


@pytest.mark.parametrize(
    ("change", "code", "message"),
    [
        ("materials.steel.young=1", 1, "there is no materials.steel.young: materials has rubber, but no 'steel'"),
        ("rigid.box.mass=1", 1, "there is no rigid.box.mass: rigid has 0, ball, but no 'box'"),
        ("materials.rubber.young=-1", 1, "scene.toml with materials.rubber.young = -1.*young"),
        ("materials.rubber.age=1", 1, "age"),
        ("materials.rubber.young", 2, "is not KEY=VALUE,VALUE"),
        ("materials.rubber.young=soft", 2, "is not KEY=VALUE,VALUE"),
        ("run.dt=0.1,0.2", 2, "share the table"),
    ],
)
def test_what_is_wrong_with_a_change_is_named(scene, change, code, message):
    import re

    assert re.search(message, sweep(scene, "--set", change, code=code), re.DOTALL)
