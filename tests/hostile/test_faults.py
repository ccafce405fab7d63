"""What may happen to a machine: killed processes, full disks, folders that cannot be written or vanish, cold caches."""

import os
import random
import shutil
import signal
import time
from pathlib import Path

import pytest

import faults
import pliant as pl
from limits import CASES, SEED

pytestmark = pytest.mark.hostile
KILLS, DISKS = max(3, CASES // 50), max(3, CASES // 100)


def test_killed_runs_leave_whole_files(tmp_path):
    chance, files = random.Random(SEED), 0
    for number in range(KILLS):
        folder = tmp_path / str(number)
        folder.mkdir()
        faults.kill_at_random(folder, chance)
        files += faults.check_whole(folder / "out")
        shutil.rmtree(folder)
    print(f"\n{KILLS} kills, {files} files whole")


def test_full_disks_are_named_and_leave_whole_files(tmp_path):
    chance, said = random.Random(SEED), 0
    for number in range(DISKS):
        with faults.small_disk(tmp_path / str(number), chance.randint(16, 300)) as disk:
            scene = faults.put(tmp_path, 0.2)
            code, out, error = faults.run("run", scene, "--out", disk / "out", "--checkpoint", "end.npz", "--json")
            text = out + error
            assert "Traceback" not in text
            if code:
                assert "No space left on device" in text and str(disk) in text
                said += 1
            if (disk / "out").exists():
                faults.check_whole(disk / "out")
                assert not [path for path in disk.rglob("*") if ".tmp" in path.name]
    print(f"\n{DISKS} small disks, {said} were full")
    assert said


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
        scene.write_text("format = 1\n[[rigid]]\nshape = { sphere = 1 }\nmass = 1\n[run]\nseconds = 0.02\n")
        code, out, error = faults.run("run", scene, "--out", tmp_path / "out", PLIANT_CACHE=str(cache))
        assert code == 0, out + error
        after = {path for path in Path(pl.__file__).parent.rglob("*") if path.is_file()}
        assert not [path for path in after - set(before) if path.suffix in (".nbi", ".nbc")]


def test_a_cache_of_others_is_not_used(tmp_path):
    home = tmp_path / "cache" / "pliant-compiled"
    home.mkdir(parents=True)
    os.chown(home, 12345, 12345)
    scene = tmp_path / "scene.toml"
    scene.write_text("format = 1\n[[rigid]]\nshape = { sphere = 1 }\nmass = 1\n[run]\nseconds = 0.02\n")
    options = {"PLIANT_CACHE": str(tmp_path / "cache"), "TMPDIR": str(tmp_path)}
    code, out, error = faults.run("run", scene, "--out", tmp_path / "out", **options)
    assert code == 0, out + error
    assert not list(home.iterdir())
    found = tmp_path / f"pliant-compiled-{os.geteuid()}"
    assert found.is_dir() and found.stat().st_mode & 0o777 == 0o700


def test_two_cold_processes_on_one_cache(tmp_path):
    scene = tmp_path / "scene.toml"
    scene.write_text(
        'format = 1\n[[rigid]]\nshape = { sphere = 1 }\nmass = 1\n[run]\nseconds = 0.05\noutput = ["a.vtu"]\n'
    )
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
