"""What surrounds a run: threads, forked processes, variables of the environment, where output goes, the clock."""

import copy
import multiprocessing
import os
import pickle
import subprocess
import sys
import time
import types
from pathlib import Path
from threading import Thread

import numpy as np
import pytest

import faults
import pliant as pl
from pliant import jit


def ball() -> tuple:
    scene = pl.Scene()
    return scene, scene.add_rigid(pl.Sphere(1), mass=1)


def test_steps_of_one_simulation_come_one_after_the_other():
    """What two threads, or a function of time, would overwrite for each other is refused."""
    scene, body = ball()
    inside = []
    body.force(lambda time: (inside and inside.pop()()) or (0, 0, 0))
    sim = scene.simulate(0.01).step()
    inside.append(sim.step)
    with pytest.raises(pl.SceneError, match="in the midst of a step"):
        sim.step()
    said = []

    def elsewhere() -> None:
        try:
            sim.step()
        except pl.SceneError as error:
            said.append(str(error))

    def another_thread() -> None:
        thread = Thread(target=elsewhere)
        thread.start()
        thread.join()

    inside.append(another_thread)
    assert sim.step().state.step == 2
    assert len(said) == 1 and "in the midst of a step" in said[0]


@pytest.mark.parametrize("way", [copy.copy, copy.deepcopy, pickle.dumps])
def test_simulations_are_copied_by_checkpoints(way):
    with pytest.raises(pl.SceneError, match=r"write sim\.checkpoint\(path\), and pliant\.resume"):
        way(ball()[0].simulate(0.01))


def test_a_process_forked_after_simulating_says_so():
    """Its threads are not there, and the first loop on them would end the process without a word."""
    if "fork" not in multiprocessing.get_all_start_methods():
        pytest.skip("there is no fork here")
    ball()[0].simulate(0.01).step()
    if jit.numba.threading_layer() != "omp":
        pytest.skip("these threads can be forked")
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()

    def child() -> None:
        try:
            theirs.send(f"stepped to {ball()[0].simulate(0.01).step().time}")
        except pl.SceneError as error:
            theirs.send(str(error))

    process = context.Process(target=child)
    process.start()
    assert ours.poll(60) and 'multiprocessing.set_start_method("spawn")' in ours.recv()
    process.join(60)
    assert process.exitcode == 0


@pytest.mark.parametrize(
    ("variable", "value"),
    [("NUMBA_NUM_THREADS", "0"), ("NUMBA_NUM_THREADS", "100000"), ("NUMBA_THREADING_LAYER", "nonsense")],
)
def test_variables_that_threads_cannot_be_made_of_are_named(variable, value, tmp_path):
    code, out, error = faults.run("check", faults.put(tmp_path), **{variable: value})
    assert code == 1 and "Traceback" not in out + error
    assert variable in error and value in error


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no file here is always full")
@pytest.mark.parametrize("words", [["--help"], ["devices"], ["mesh", "--help"]])
def test_output_that_cannot_be_written_is_said(words):
    command = [sys.executable, "-c", "from pliant.cli import main; main()", *words]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1
    assert done.stderr == "error: the output cannot be written: No space left on device\n"


def test_the_clock_may_jump(tmp_path, monkeypatch):
    """Wall clocks are asked for nothing but the age of compiled code: whatever they show, bits and files stay."""
    found = []
    for now, name in ((None, "a"), (0.0, "b"), (-1e6, "c"), (4e9, "d"), (1e12, "e")):
        if now is not None:
            monkeypatch.setattr(time, "time", lambda now=now: now)
        sim = ball()[0].simulate(0.01)
        with pl.Recorder(sim, tmp_path / name, ["s.pvd", "s.png"]) as recorder:
            for _ in sim.run(0.05):
                recorder.frame()
        sim.checkpoint(tmp_path / name / "s.npz")
        for path in (tmp_path / name).rglob("*"):
            if now is not None:
                os.utime(path, (abs(now), abs(now)))
        assert pl.resume(tmp_path / name / "s.npz").step().time == pytest.approx(0.06)
        names = sorted(path for path in (tmp_path / name).rglob("*") if path.is_file())
        found.append([(path.relative_to(tmp_path / name), path.read_bytes()) for path in names])
    assert len(found[0]) > 4 and all(each == found[0] for each in found)


def test_compiled_code_survives_clocks_that_jump(tmp_path, monkeypatch):
    """A clock that runs ahead makes old versions forgotten, never those of this process; one that goes back nothing."""
    home = tmp_path / jit.HOME
    home.mkdir()
    monkeypatch.setattr(jit, "_home", lambda: home)
    folders = [jit._made(home / f"pliant.kernels.cpu.{name}-{'0' * 16}") for name in ("rods", "cloth")]
    ahead = types.SimpleNamespace(time=lambda: time.time() - 1e9)
    monkeypatch.setattr(jit, "time", ahead)
    jit._forget_old_versions(home, "pliant.kernels.cpu.rods")
    assert all(folder.is_dir() for folder in folders)
    os.utime(folders[1] / jit.MARKER, (2e9, 2e9))  # made when the clock was ahead
    monkeypatch.setattr(jit, "time", time)
    jit._forget_old_versions(home, "pliant.kernels.cpu.rods")
    assert all(folder.is_dir() for folder in folders)
    monkeypatch.setattr(jit, "time", types.SimpleNamespace(time=lambda: time.time() + 1e9))
    jit._forget_old_versions(home, "pliant.kernels.cpu.rods")
    assert not folders[0].exists()
    kernel = jit.kernel_in(folders[0], _double, parallel=False)  # a process that began before the clock jumped
    assert kernel(np.arange(3.0))[2] == 4.0


def _double(values):
    return 2.0 * values


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_what_is_no_file_is_said(tmp_path):
    """A pipe would be waited for without end, and a folder is no file that is missing."""
    os.mkfifo(tmp_path / "pipe.msh")
    for suffix in ("npz", "toml"):
        os.mkfifo(tmp_path / f"pipe.{suffix}")
    (tmp_path / "folder.msh").mkdir()
    for name, read in (("pipe.msh", pl.meshes.read), ("folder.msh", pl.meshes.read), ("pipe.npz", pl.resume)):
        with pytest.raises(pl.PliantError, match=f"{name}: this is not a file"):
            read(tmp_path / name)
    with pytest.raises(pl.PliantError, match=r"pipe\.toml: this is not a file"):
        pl.load(tmp_path / "pipe.toml")
