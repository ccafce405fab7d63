"""Numbers of the studio: python bench/studio.py [seconds to run on]

Starts `pliant studio` in a folder of its own and is its page: how long until it is usable, frames per second of a soft
body drawn with 100,000 triangles beside the speed of the same run without a page, how soon a long step is interrupted,
ten pages at once, growth of memory, and 10,000 malformed messages.
"""

import json
import os
import random
import re
import struct
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from time import perf_counter, sleep
from urllib.request import HTTPCookieProcessor, build_opener

import numpy as np
from websockets.sync.client import connect

from pliant import meshes, scene_file
from pliant.output.drawing import tessellate

BALL = """format = 1
[run]
dt = 0.01
threads = 1
[[soft]]
name = "ball"
mesh = { sphere = 0.5, cells = 4 }
material = { law = "corotated", young = 1e5, poisson = 0.4, density = 1000, damping = 0.01 }
drawing = { file = "ball.obj" }
position = [0, 0, 1]
[[soft.pin]]
nodes = "z > 1.4"
"""
HEAVY = """format = 1
[[soft]]
name = "block"
mesh = { box = [1, 1, 1], cells = 40 }
material = { law = "stable_neohookean", young = 1e6, poisson = 0.45, density = 1000 }
[[soft.pin]]
nodes = "x < 0.01"
"""


class Page:
    """A page without a picture: asks, takes, and says at once that it has drawn."""

    def __init__(self, address: str):
        home = re.match(r"http://[^/]*", address)[0]
        opener = build_opener(HTTPCookieProcessor())
        opener.open(address).read()
        jar = next(handler.cookiejar for handler in opener.handlers if hasattr(handler, "cookiejar"))
        cookie = "; ".join(f"{entry.name}={entry.value}" for entry in jar)
        options = {"origin": home, "additional_headers": {"Cookie": cookie}, "max_size": None, "compression": None}
        self.socket = connect(home.replace("http", "ws") + "/talk", **options).__enter__()
        self.state, self.frame, self.frames, self.number = {}, {}, 0, 0

    def take(self) -> dict:
        message = self.socket.recv()
        if isinstance(message, str):
            data = json.loads(message)
            if data["kind"] == "state":
                self.state = data
            return data
        (length,) = struct.unpack_from("<I", message)
        header = json.loads(message[4 : 4 + length])
        if header["kind"] == "frame":
            self.frame, self.frames = header, self.frames + 1
            self.socket.send('{"do":"drawn"}')
        return header

    def ask(self, do: str, **arguments) -> dict:
        self.number += 1
        self.socket.send(json.dumps({"id": self.number, "do": do, **arguments}))
        while (answer := self.take())["kind"] != "reply" or answer["id"] != self.number:
            pass
        return answer

    def until(self, condition) -> None:
        while not condition():
            self.take()


def memory(pid: int) -> float:
    """Resident memory of a process [MB]."""
    return int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())[1]) / 1024


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def speed(page: Page, seconds: float) -> tuple[float, float]:
    """Steps and frames per second of wall time while the page looks on."""
    page.until(lambda: page.frame.get("steps", 0) > 30)
    start, steps, frames = perf_counter(), page.frame["steps"], page.frames
    while perf_counter() - start < seconds:
        page.take()
    wall = perf_counter() - start
    return (page.frame["steps"] - steps) / wall, (page.frames - frames) / wall


def alone(folder: Path, seconds: float) -> float:
    """Steps per second of the library itself."""
    sim = scene_file.load(folder / "ball.toml").simulate(dt=0.01, threads=1)
    sim.step(30)
    start = perf_counter()
    while perf_counter() - start < seconds:
        sim.step()
    return (round(sim.time / sim.dt) - 30) / (perf_counter() - start)


def look_on(address: str, stop: threading.Event, counts: list) -> None:
    page = Page(address)
    while not stop.is_set():
        page.take()
    counts.append(page.frames)


def fuzz(page: Page, count: int) -> int:
    """Malformed messages; how many were answered."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
    from test_studio_server import fuzzed

    source, answered = random.Random(7), 0
    for _ in range(count // 100):
        for _ in range(100):
            page.socket.send(fuzzed(source))
        answered += "error" not in page.ask("text")
    return answered


def main(seconds: float) -> None:
    folder = Path(tempfile.mkdtemp(prefix="pliant-studio-"))
    points, triangles = tessellate.sphere(0.5, 320)
    meshes.write(folder / "ball.obj", meshes.TriMesh(np.array(points), np.array(triangles)))
    (folder / "ball.toml").write_text(BALL)
    (folder / "heavy.toml").write_text(HEAVY)
    started = perf_counter()
    command = [sys.executable, "-u", "-c", "from pliant.cli import main; main()", "studio", "--no-browser"]
    studio = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True, env=os.environ)
    address = studio.stdout.readline().split()[-1]
    page = Page(address)
    page.until(lambda: page.state.get("phase") == "ready")
    print(f"from the command to a page that can be used: {perf_counter() - started:.2f} s")
    page.ask("open", file="ball.toml")
    print(f"drawn triangles: {len(triangles)}")
    without = alone(folder, 10)
    page.ask("play", speed=1000.0)
    with_page = speed(page, 10)
    print(f"frames per second {with_page[1]:.1f}; steps per second {with_page[0]:.1f}, without a studio {without:.1f}")
    page.ask("reset")
    page.ask("play", speed=1.0)
    stop, counts = threading.Event(), []
    others = [threading.Thread(target=look_on, args=(address, stop, counts)) for _ in range(9)]
    for other in others:
        other.start()
    sleep(2)
    before = [memory(pid) for pid in (studio.pid, *children(studio.pid))]
    _, frames = speed(page, seconds)
    after = [memory(pid) for pid in (studio.pid, *children(studio.pid))]
    stop.set()
    for other in others:
        other.join()
    print(f"ten pages for {seconds:g} s: {frames:.1f} frames per second here, elsewhere {sorted(counts)} frames in all")
    print("memory of server and workers [MB]:", [f"{a:.0f} -> {b:.0f}" for a, b in zip(before, after)])
    page.ask("open", file="heavy.toml")
    page.number += 1
    page.socket.send(json.dumps({"id": page.number, "do": "step"}))
    sleep(4)
    start = perf_counter()
    page.number += 1
    page.socket.send(json.dumps({"id": page.number, "do": "reset"}))
    page.until(lambda: page.state["phase"] == "starting")
    ended = perf_counter() - start
    page.until(lambda: page.state["phase"] == "ready")
    again = perf_counter() - start
    print(f"a step of 64,000 cells interrupted after {ended:.3f} s, the scene shown again after {again:.2f} s")
    page.ask("open", file="ball.toml")
    listed = sorted(path.name for path in folder.iterdir())
    print(f"malformed messages: {fuzz(page, 10_000)} of 100 batches answered; {page.ask('pause')}")
    print("files before and after:", listed == sorted(path.name for path in folder.iterdir()))
    studio.terminate()
    studio.wait(20)


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 60.0)
