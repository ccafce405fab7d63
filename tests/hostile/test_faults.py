"""What may happen to a machine: killed processes, full disks, folders that cannot be written or vanish, cold caches."""

import os
import random
import shutil
import signal
import time
from pathlib import Path

import numpy as np
import pytest

import checkpoints
import faults
import pliant as pl
from limits import CASES, SEED

pytestmark = pytest.mark.hostile
KILLS, DISKS = max(6, CASES // 10), max(4, CASES // 40)
"""How often each happens; two thirds of the kills hit runs, the others checkpoints."""


def test_killed_runs_leave_whole_files(tmp_path):
    """What is listed is there, with the bits of a run that was left alone, and the folder serves for the next run."""
    chance, files, frames, ended = random.Random(SEED), 0, 0, 0
    begun = time.monotonic()
    (tmp_path / "whole").mkdir()
    words = ("run", faults.put(tmp_path / "whole"), "--out", tmp_path / "whole" / "out", "--json")
    assert faults.run(*words)[0] == 0
    whole = time.monotonic() - begun
    for number in range(kills := KILLS * 2 // 3):
        folder = tmp_path / str(number)
        folder.mkdir()
        ended += faults.kill_at_random(folder, chance, whole)
        files += faults.check_whole(folder / "out")
        frames += faults.same_frames(folder / "out", tmp_path / "whole" / "out")
        if number % 20 == 0:
            assert faults.run("run", folder / "case.toml", "--out", folder / "out")[0] == 0
            assert faults.same_frames(folder / "out", tmp_path / "whole" / "out") == 62
        shutil.rmtree(folder)
    print(f"\n{kills} kills ({ended} too late), {files} files whole, {frames} frames as they should be")


def test_killed_processes_leave_their_last_checkpoint(tmp_path):
    """The file is that of the last step that was said to be written, or of the one after it, and goes on with the bits
    of a process that was left alone."""
    chance, reached = random.Random(SEED), set()
    for number in range(kills := KILLS - KILLS * 2 // 3):
        folder = tmp_path / str(number)
        folder.mkdir()
        said = faults.kill_while_saving(folder, chance, 2000)
        sim = pl.resume(folder / "a.npz")
        assert said <= sim.state.step <= said + 1
        reached.add(sim.state.step)
        faults.check_whole(folder)
        if number % 10 == 0:
            expected = checkpoints.simulation_of(faults.SAVING).step(sim.state.step + 3)
            np.testing.assert_array_equal(sim.step(3).state.x, expected.state.x)
    print(f"\n{kills} kills while a checkpoint was written after every step, of up to {max(reached)} steps")


def test_a_process_that_is_killed_while_it_compiles_leaves_a_cache_that_works(tmp_path):
    """Several processes are killed on one cache, each somewhat later; the next has the bits of one with its own."""
    scene = tmp_path / "scene.toml"
    scene.write_text(BALL)
    for number in range(3):
        process = faults.start("run", scene, "--out", tmp_path / "killed", PLIANT_CACHE=str(tmp_path / "cache"))
        time.sleep(2.0 + 2.0 * number)
        faults.kill(process)
    for cache in ("cache", "other"):
        code, out, error = faults.run("run", scene, "--out", tmp_path / cache, PLIANT_CACHE=str(tmp_path / cache))
        assert code == 0, out + error
    assert (tmp_path / "cache" / "a.vtu").read_bytes() == (tmp_path / "other" / "a.vtu").read_bytes()


BALL = 'format = 1\n[[rigid]]\nshape = { sphere = 1 }\nmass = 1\n[run]\nseconds = 0.05\noutput = ["a.vtu"]\n'


def commands_that_write(folder: Path, disk: Path) -> dict[str, tuple]:
    """Commands that write to a disk."""
    scene, mesh = faults.put(folder, 0.2), folder / "mesh.msh"
    pl.meshes.write(mesh, pl.meshes.box((1, 1, 1), 6))
    film = folder / "film.toml"
    film.write_text(scene.read_text().replace('".png"', '"a.webp", "a.gif"').replace("[[rigid]]", "[[rigid]]\n"))
    return {
        "run": ("run", scene, "--out", disk / "out", "--checkpoint", "end.npz", "--json"),
        "film": ("run", film, "--out", disk / "out"),
        "render": ("render", scene, "-o", disk / "out" / "a.png"),
        "convert": ("mesh", "convert", mesh, disk / "out" / "a.node"),
        "surface": ("mesh", "convert", mesh, disk / "out" / "a.stl", "--surface"),
    }


def test_full_disks_are_named_and_leave_whole_files(tmp_path):
    chance, said = random.Random(SEED), 0
    for number in range(DISKS):
        with faults.small_disk(tmp_path / str(number), chance.choice((4, 8, 16, 40, 80, 150, 250))) as disk:
            (disk / "out").mkdir()
            every = commands_that_write(tmp_path, disk)
            kind = "run" if number % 2 else chance.choice(sorted(every))
            code, out, error = faults.run(*every[kind])
            text = out + error
            assert "Traceback" not in text
            assert code in (0, 1)
            if code:
                assert "No space left on device" in text and str(disk) in text, text
                said += 1
            faults.check_whole(disk / "out")
            assert not [path for path in disk.rglob("*") if ".tmp" in path.name]
    print(f"\n{DISKS} small disks, {said} were full")
    assert said


def test_a_cache_on_a_full_disk_is_not_needed(tmp_path):
    """What cannot be kept is compiled again next time."""
    scene = tmp_path / "scene.toml"
    scene.write_text(BALL)
    with faults.small_disk(tmp_path / "disk", 100) as disk:
        code, out, error = faults.run("run", scene, "--out", tmp_path / "out", PLIANT_CACHE=str(disk))
    assert code == 0, out + error


def test_a_folder_that_cannot_be_written_is_told_before_the_first_step(tmp_path):
    with faults.small_disk(tmp_path / "disk", 1000) as disk:
        faults.read_only(disk)
        start = time.monotonic()
        code, _, error = faults.run("run", faults.put(tmp_path, 1000), "--out", disk / "out")
        assert code == 1 and "Read-only file system" in error and str(disk) in error
        assert time.monotonic() - start < 100  # it did not simulate a thousand seconds first


def test_a_folder_that_vanishes_is_made_again_or_named(tmp_path):
    process = faults.start("run", faults.put(tmp_path, 2), "--out", tmp_path / "out", "--json")
    faults.wait_for("out/*.pvd", tmp_path)
    shutil.rmtree(tmp_path / "out", ignore_errors=True)
    out, error = process.communicate(timeout=200)
    assert "Traceback" not in out + error
    if process.returncode == 0:
        assert (tmp_path / "out" / "case.vtu").is_file()


def test_a_cache_that_cannot_be_written_is_not_used(tmp_path):
    with faults.small_disk(tmp_path / "cache", 1000) as cache:
        faults.read_only(cache)
        before = {path: path.stat().st_mtime for path in Path(pl.__file__).parent.rglob("*") if path.is_file()}
        scene = tmp_path / "scene.toml"
        scene.write_text(BALL)
        code, out, error = faults.run("run", scene, "--out", tmp_path / "out", PLIANT_CACHE=str(cache))
        assert code == 0, out + error
        after = {path for path in Path(pl.__file__).parent.rglob("*") if path.is_file()}
        assert not [path for path in after - set(before) if path.suffix in (".nbi", ".nbc")]


def test_a_cache_of_others_is_not_used(tmp_path):
    home = tmp_path / "cache" / "pliant-compiled"
    home.mkdir(parents=True)
    os.chown(home, 12345, 12345)
    scene = tmp_path / "scene.toml"
    scene.write_text(BALL)
    options = {"PLIANT_CACHE": str(tmp_path / "cache"), "TMPDIR": str(tmp_path)}
    code, out, error = faults.run("run", scene, "--out", tmp_path / "out", **options)
    assert code == 0, out + error
    assert not list(home.iterdir())
    found = tmp_path / f"pliant-compiled-{os.geteuid()}"
    assert found.is_dir() and found.stat().st_mode & 0o777 == 0o700


def test_two_cold_processes_on_one_cache(tmp_path):
    scene = tmp_path / "scene.toml"
    scene.write_text(BALL)
    cache = str(tmp_path / "cache")
    both = [faults.start("run", scene, "--out", tmp_path / f"out{k}", PLIANT_CACHE=cache) for k in range(2)]
    for process in both:
        out, error = process.communicate(timeout=280)
        assert process.returncode == 0, out + error
    assert (tmp_path / "out0" / "a.vtu").read_bytes() == (tmp_path / "out1" / "a.vtu").read_bytes()


def test_a_second_interruption_ends_at_once(tmp_path):
    process = faults.start("run", faults.put(tmp_path, 60, '["case.pvd", "case.webp"]'), "--out", tmp_path / "out")
    faults.wait_for("out/*.pvd", tmp_path)
    time.sleep(5)
    os.kill(process.pid, signal.SIGINT)
    faults.wait_for("out/interrupted.npz", tmp_path)
    os.kill(process.pid, signal.SIGINT)
    start = time.monotonic()
    out, _ = process.communicate(timeout=100)
    assert process.returncode == 130
    assert time.monotonic() - start < 20
    assert "interrupted.npz" in out
