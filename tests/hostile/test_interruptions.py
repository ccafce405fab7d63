"""What a run leaves when it ends before its time: Ctrl-C, a full disk, a folder that takes no files."""

import errno
import json
import os
import signal

import numpy as np
import pytest
from click.testing import CliRunner

import faults
import pliant as pl
from pliant import files
from pliant.cli import main
from pliant.output import recorder as recorders


def test_ctrl_c_writes_what_there_is_and_a_checkpoint(tmp_path):
    process = faults.start("run", faults.put(tmp_path, 60, '["case.pvd", "case.png"]'), "--out", tmp_path / "out")
    faults.wait_for("out/*.pvd", tmp_path)
    os.kill(process.pid, signal.SIGINT)
    out, error = process.communicate(timeout=100)
    assert process.returncode == 130
    assert "Traceback" not in error and "writing what there is" in error
    for name in ("case.pvd", "case.png", "interrupted.npz"):
        assert f"{name}\n" in out + "\n" and (tmp_path / "out" / name).is_file()
    faults.check_whole(tmp_path / "out")
    sim = pl.resume(tmp_path / "out" / "interrupted.npz")
    assert f"t = {sim.time:.4g} s" in out
    assert sim.step().time >= 0.01


def command(*words) -> tuple[int, str]:
    result = CliRunner().invoke(main, [str(word) for word in words])
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result.exit_code, result.output


def test_outputs_are_opened_before_the_first_step(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(pl.Simulation, "step", lambda *_: pytest.fail("a step was taken"))
    scene = faults.put(tmp_path)
    code, text = command("run", scene, "--out", tmp_path / "file" / "out")
    assert code == 1 and "case.pvd: cannot be written" in text
    (tmp_path / "out" / "case.png").mkdir(parents=True)
    code, text = command("run", scene, "--out", tmp_path / "out")
    assert code == 1 and "case.png: cannot be written: there is a folder of that name" in text
    (tmp_path / "end" / "end.npz").mkdir(parents=True)
    code, text = command("run", scene, "--out", tmp_path / "end", "--checkpoint", "end.npz")
    assert code == 1 and "end.npz: cannot be written" in text


def test_a_full_disk_names_the_file_and_keeps_the_report(tmp_path, monkeypatch):
    real = files.os.replace

    def full(source, target):
        if str(target).endswith((".png", "_000012.vtu")):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(source, target)

    monkeypatch.setattr(files.os, "replace", full)
    code, text = command("run", faults.put(tmp_path), "--out", tmp_path / "out", "--json", "--checkpoint", "end.npz")
    report = json.loads(text)
    assert code == 1
    assert "case.png: cannot be written: No space left on device" in report["error"]
    assert [path.split("/")[-1] for path in report["files"]] == ["case.pvd", "case.vtu", "end.npz"]
    assert not [path for path in (tmp_path / "out").rglob("*") if ".tmp" in path.name]


def test_a_full_disk_keeps_the_report_of_balances_and_modes(tmp_path, monkeypatch):
    """What was computed is told, with the files that could be written, whatever becomes of the pictures."""
    real = files.os.replace

    def full(source, target):
        if str(target).endswith(".png"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(source, target)

    monkeypatch.setattr(files.os, "replace", full)
    scene = faults.put(tmp_path)
    scene.write_text(scene.read_text().partition("[[rigid]]")[0])
    code, text = command("equilibrium", scene, "--out", tmp_path / "out", "--json")
    report = json.loads(text)
    assert code == 1 and "case-equilibrium.png: cannot be written: No space left on device" in report["error"]
    assert report["bodies"]["beam"]["displacement"] > 0 and [path.split("/")[-1] for path in report["files"]] == [
        "case-equilibrium.vtu"
    ]
    code, text = command("modes", scene, "-n", 2, "--pictures", "--out", tmp_path / "out")
    assert code == 1 and "mode   2" in text and "case-mode1.png: cannot be written: No space left" in text


def test_checkpoints_of_any_spelling_leave_nothing_else(tmp_path):
    scene = pl.Scene()
    scene.add_rigid(pl.Sphere(1), mass=1)
    scene.simulate(0.01).checkpoint(tmp_path / "a.NPZ")
    assert [path.name for path in tmp_path.iterdir()] == ["a.NPZ"]
    assert pl.resume(tmp_path / "a.NPZ").time == 0


def test_motors_that_were_set_are_those_of_the_simulation_and_of_its_checkpoints(tmp_path):
    scene = pl.Scene(gravity=(0, 0, 0))
    arm = scene.add_rigid(pl.Box((1, 0.1, 0.1)), mass=1, position=(0.5, 0, 0))
    hinge = scene.join(pl.Hinge(pl.world, arm, (0, 0, 0), (0, 0, 1), motor=pl.Motor(velocity=1.0)))
    one, two = scene.simulate(0.01).step(), scene.simulate(0.01).step()
    one.set_motor(hinge, velocity=3.0)
    assert hinge.motor.velocity == 1.0
    one.step(5)
    two.step(5)
    assert one.joint_velocity(hinge) == pytest.approx(3.0, rel=1e-3)
    assert two.joint_velocity(hinge) == pytest.approx(1.0, rel=1e-3)
    one.checkpoint(tmp_path / "one.npz")
    again = pl.resume(tmp_path / "one.npz")
    np.testing.assert_array_equal(again.step(3).state.body_rotation, one.step(3).state.body_rotation)


def test_a_state_that_is_not_finite_is_never_returned(monkeypatch):
    scene = pl.Scene()
    ball = scene.add_rigid(pl.Sphere(1), mass=1)
    sim = scene.simulate(0.01).step()
    before = sim.state
    from dataclasses import replace

    from pliant import simulation

    real = simulation.euler_step

    def broken(*arguments):
        state, info = real(*arguments)
        return replace(state, body_rotation=state.body_rotation * np.nan), info

    monkeypatch.setattr(simulation, "euler_step", broken)
    with pytest.raises(pl.SolverError, match=r"step 2 .*rigid body 'rigid0' is not finite any more"):
        sim.step()
    assert sim.state is before and np.isfinite(sim.pose(ball)[0]).all()


def test_a_recorder_tries_every_file(tmp_path, monkeypatch):
    scene = pl.Scene()
    scene.add_rigid(pl.Sphere(1), mass=1)

    def fails(path, image):
        raise pl.FileError(f"{path}: cannot be written: no reason")

    monkeypatch.setattr(recorders, "save_png", fails)
    sim = scene.simulate(0.01)
    with (
        pytest.raises(pl.FileError, match=r"a\.png: cannot be written"),
        pl.Recorder(sim, tmp_path, ["a.png", "b.vtu"]),
    ):
        sim.step()
    assert (tmp_path / "b.vtu").is_file()


def test_outputs_do_not_take_the_place_of_inputs(tmp_path, monkeypatch):
    """A mesh from which a scene or other meshes are made stays, whatever the folder for results."""
    monkeypatch.chdir(tmp_path)
    scene = faults.put(tmp_path, output='[".vtu"]')
    text = scene.read_text()
    for name, command_name in (("case-equilibrium.vtu", "equilibrium"), ("case.vtu", "run")):
        pl.meshes.write(name, pl.meshes.box((1, 0.2, 0.2), (6, 2, 2)))
        scene.write_text(text.replace("box = [1, 0.2, 0.2], cells = [6, 2, 2]", f'file = "{name}"'))
        before = (tmp_path / name).read_bytes()
        code, said = command(command_name, "case.toml", "--out", ".")
        assert code == 1 and f"{name}: the scene is made of this file" in said
        assert (tmp_path / name).read_bytes() == before
    code, text = command("mesh", "tetrahedralize", "case.vtu")
    assert code == 1 and "name another file with -o" in text
    assert (tmp_path / "case.vtu").read_bytes() == before
    assert command("run", "case.toml", "--out", "out")[0] == 0


@pytest.mark.parametrize("words", [("mesh", "tetrahedralize"), ("mesh", "info"), ("check",), ("run",), ("render",)])
def test_an_empty_name_is_no_file(words):
    code, text = command(*words, "")
    assert code == 2 and "the name of a file must not be empty" in text
