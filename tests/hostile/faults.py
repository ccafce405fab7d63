"""Processes that are killed, interrupted, or run out of disk; and what must then be whole."""

import contextlib
import os
import random
import re
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

SCENE = """format = 1
[run]
dt = 0.01
seconds = {seconds}
frames_per_second = 100
output = {output}
[materials.rubber]
law = "corotated"
young = 1e5
poisson = 0.3
density = 1000
[[soft]]
name = "beam"
material = "rubber"
mesh = {{ box = [1, 0.2, 0.2], cells = [6, 2, 2] }}
[[soft.pin]]
nodes = "x < 0.01"
[[rigid]]
name = "ball"
shape = {{ sphere = 0.1 }}
density = 500
position = [0.5, 0.1, 0.5]
"""


def put(folder: Path, seconds: float = 0.3, output: str = '[".pvd", ".vtu", ".png"]') -> Path:
    """A scene file."""
    path = folder / "case.toml"
    path.write_text(SCENE.format(seconds=seconds, output=output))
    return path


def start(*words, **environment) -> subprocess.Popen:
    """The command line in a process of its own."""
    command = [sys.executable, "-c", "from pliant.cli import main; main()", *map(str, words)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(command, env=os.environ | environment, start_new_session=True, **pipes)


def run(*words, **environment) -> tuple[int, str, str]:
    """The command line to its end: exit status, output, errors."""
    process = start(*words, **environment)
    out, error = process.communicate(timeout=300)
    return process.returncode, out, error


def wait_for(pattern: str, folder: Path, seconds: float = 120.0) -> None:
    """Until there is a file."""
    end = time.monotonic() + seconds
    while not list(folder.glob(pattern)):
        assert time.monotonic() < end, f"no {pattern} came"
        time.sleep(0.01)


def kill(process: subprocess.Popen) -> None:
    """End a process without warning."""
    process.kill()  # nothing, if it has ended
    process.communicate()


def kill_at_random(folder: Path, chance: random.Random, whole: float) -> bool:
    """Run, and kill the process without warning: at any moment of the time [s] that the whole run takes, or soon after
    the first frame; whether it had ended before."""
    process = start("run", put(folder), "--out", folder / "out", "--checkpoint", "end.npz", "--json")
    try:
        if chance.random() < 0.5:
            wait_for("out/case.pvd", folder)
            time.sleep(chance.uniform(0, 0.4 * whole))
        else:
            time.sleep(chance.uniform(0, whole))
        return process.poll() is not None
    finally:
        kill(process)


SAVING = """
import sys, warnings
warnings.simplefilter("ignore")
import pliant as pl
scene = pl.Scene()
beam = scene.add_soft(pl.meshes.box((1, 0.2, 0.2), (4, 1, 1)), pl.Material.corotated(1e5, 0.3, 1000))
beam.pin("x < 0.01")
sim = scene.simulate(0.01)
while sim.state.step < int(sys.argv[2]):
    sim.step().checkpoint(sys.argv[1])
    sim.save(sys.argv[1] + ".vtu")
    print(sim.state.step, flush=True)
"""


def kill_while_saving(folder: Path, chance: random.Random, steps: int) -> int:
    """Steps with a checkpoint after each, killed on the way; the last step whose checkpoint was written for sure."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process = subprocess.Popen([sys.executable, "-c", SAVING, str(folder / "a.npz"), str(steps)], **pipes)
    try:
        wait_for("a.npz", folder)
        time.sleep(chance.uniform(0, 0.3))
    finally:
        process.kill()
        said = process.communicate()[0]
    return int((said.split() or ["0"])[-1])


def check_whole(folder: Path) -> int:
    """Every file is whole, and every frame that the series lists is there; how many files there are."""
    from pliant.meshes import read

    files = [path for path in folder.rglob("*") if path.is_file() and ".tmp" not in path.name]
    for path in files:
        if path.suffix == ".vtu" and "ball" not in path.name:
            assert len(read(path, repair=True).points)  # of the last state, with surfaces of rigid bodies
        elif path.suffix == ".vtu":
            assert path.read_text().endswith("</VTKFile>\n")
        elif path.suffix == ".pvd":
            listed = re.findall(r'file="([^"]+)"', path.read_text())
            assert listed and all((path.parent / name).is_file() for name in listed)
            assert path.read_text().rstrip().endswith("</VTKFile>")
        elif path.suffix == ".npz":
            with np.load(path) as stored:
                assert all(stored[name] is not None for name in stored.files)
    return len(files)


def same_frames(folder: Path, reference: Path) -> int:
    """A series that was cut short has the first frames of a whole one, all bits of them; at most one of each body is
    not listed yet. How many frames there are."""
    series = folder / "case.pvd"
    listed = re.findall(r'file="([^"]+)"', series.read_text()) if series.exists() else []
    assert listed == re.findall(r'file="([^"]+)"', (reference / "case.pvd").read_text())[: len(listed)]
    there = [path for path in folder.rglob("case_*.vtu") if ".tmp" not in path.name]
    for path in there:
        assert path.read_bytes() == (reference / path.relative_to(folder)).read_bytes(), path
    assert len(there) - len(listed) <= 2, "more than the running frame is lost"
    return len(listed)


@contextlib.contextmanager
def small_disk(folder: Path, kilobytes: int):
    """A file system of so many kilobytes; skipped where it may not be made."""
    folder.mkdir(exist_ok=True)
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", folder], capture_output=True)
    if mounted.returncode:
        pytest.skip("a small file system needs the right to mount one")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


def read_only(folder: Path) -> None:
    """Let nobody write to a small disk any more."""
    subprocess.run(["mount", "-o", "remount,ro", folder], check=True)
