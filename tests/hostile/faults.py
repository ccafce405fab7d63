"""Processes that are killed, interrupted, or run out of disk; and what must then be whole."""

import contextlib
import os
import random
import re
import signal
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


def kill_at_random(folder: Path, chance: random.Random) -> None:
    """Run, and kill the process without warning after some frames."""
    process = start("run", put(folder, seconds=30), "--out", folder / "out", "--json")
    try:
        wait_for("out/case.pvd", folder)
        time.sleep(chance.uniform(0, 0.6))
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()


def check_whole(folder: Path) -> int:
    """Every file is whole, and every frame that the series lists is there; how many files there are."""
    from pliant.meshes import read

    files = [path for path in folder.rglob("*") if path.is_file() and ".tmp" not in path.name]
    for path in files:
        if path.suffix == ".vtu" and "ball" not in path.name:
            assert len(read(path).points)
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
