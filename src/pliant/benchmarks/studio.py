"""The studio as its page sees it: how soon it can be used, frames per second of a body drawn with 100,000 triangles and
what they cost the run, ten pages at once, memory, how soon a long step is interrupted, 10,000 malformed messages.

It starts `pliant studio` in a folder of its own and is its page, without a picture: drawing is the browser's part.
"""

import os
import random
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter, sleep, thread_time
from urllib.request import HTTPCookieProcessor, build_opener

import numpy as np

from pliant import meshes, scene_file
from pliant.benchmarks._studio_page import Page, fuzzed
from pliant.errors import PliantError
from pliant.output.drawing import tessellate

BALL = """format = 1
[run]
dt = 0.01
threads = 1
[[soft]]
name = "ball"
mesh = { sphere = 0.5, cells = CELLS }
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
PAGES = 10


def connect(address: str) -> Page:
    """A page at the address that the studio has printed."""
    from websockets.sync.client import connect as open_socket

    home = re.match(r"http://[^/]*", address)[0]
    opener = build_opener(HTTPCookieProcessor())
    opener.open(address).read()
    jar = next(handler.cookiejar for handler in opener.handlers if hasattr(handler, "cookiejar"))
    cookie = "; ".join(f"{entry.name}={entry.value}" for entry in jar)
    options = {"origin": home, "additional_headers": {"Cookie": cookie}, "max_size": None, "compression": None}
    socket = open_socket(home.replace("http", "ws") + "/talk", **options).__enter__()
    return Page(socket.recv, socket.send)


@contextmanager
def studio(folder: Path) -> Iterator[tuple[subprocess.Popen, str]]:
    """A studio in a folder, and its address."""
    command = [sys.executable, "-u", "-c", "from pliant.cli import main; main()", "studio", "--no-browser"]
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(str(Path(entry).resolve()) for entry in sys.path if entry)
    }
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True, env=environment)
    try:
        said = process.stdout.readline().split()
        if not said:
            raise PliantError("the studio does not start; `pliant studio` says why")
        yield process, said[-1]
    finally:
        process.terminate()
        process.wait(20)


def children(process: int) -> list[int]:
    """The processes that a process has started."""
    return [int(child) for child in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def memory(process: int) -> float:
    """Resident memory of a process and its children [MB]."""
    found = [process, *children(process)]
    lines = [Path(f"/proc/{pid}/status").read_text() for pid in found]
    return sum(int(re.search(r"VmRSS:\s+(\d+)", text)[1]) for text in lines) / 1024


def busiest(process: int, before: dict[int, int]) -> float:
    """Processor time [s] of the first thread of that worker of a studio which has used most since `before`."""
    now = {child: int(Path(f"/proc/{child}/task/{child}/schedstat").read_text().split()[0]) for child in before}
    before.update({child: now[child] - before[child] for child in now})
    return max(before.values()) / 1e9


def speed(page: Page, seconds: float, process: int) -> tuple[float, float, float]:
    """Steps and frames per second of wall time while the page looks on, and steps per second of processor time of the
    thread that takes them."""
    page.until(lambda: page.frame.get("steps", 0) > 30)
    used = dict.fromkeys(children(process), 0)
    busiest(process, used)
    start, steps, frames = perf_counter(), page.frame["steps"], page.frames
    while perf_counter() - start < seconds:
        page.take()
    wall, taken = perf_counter() - start, page.frame["steps"] - steps
    return taken / wall, (page.frames - frames) / wall, taken / busiest(process, used)


def alone(path: Path, seconds: float) -> tuple[float, float]:
    """Steps of the library itself per second of wall time, and of processor time of its thread."""
    sim = scene_file.load(path).simulate(dt=0.01, threads=1)
    sim.step(30)
    start, began, steps = perf_counter(), thread_time(), 0
    while perf_counter() - start < seconds:
        sim.step()
        steps += 1
    return steps / (perf_counter() - start), steps / (thread_time() - began)


def first_use(folder: Path) -> dict:
    """Seconds from the command to a page that can be used."""
    start = perf_counter()
    with studio(folder) as (_, address):
        page = connect(address)
        page.until(lambda: page.state.get("phase") == "ready")
        return {"label": "first use", "seconds": perf_counter() - start}


def drawn(page: Page, folder: Path, cells: int, seconds: float, process: int) -> dict:
    """Frames per second, and how much slower the run is than the library alone, by wall time and by processor time of
    the thread that steps; both by turns, the best of three."""
    path = folder / "ball.toml"
    path.write_text(BALL.replace("CELLS", str(cells)))
    page.ask("open", file="ball.toml")
    page.ask("pace", speed=1000.0, limit=0.0)
    without, runs = [], []
    for _ in range(3):
        without.append(alone(path, seconds))
        page.ask("reset")
        page.ask("play")
        runs.append(speed(page, seconds, process))
        page.ask("pause")
    steps, frames, work = (max(run[k] for run in runs) for k in range(3))
    wall, processor = (max(run[k] for run in without) for k in range(2))
    size = page.surfaces["soft"][0]
    return {
        "label": f"{size['tets']} tets drawn",
        "triangles": size["triangles"],
        "bytes_per_frame": len(page.points),
        "frames_per_second": frames,
        "steps_per_second": steps,
        "without_studio": wall,
        "slower_percent": 100 * (1 - steps / wall),
        "slower_percent_by_processor_time": 100 * (1 - work / processor),
    }


def together(page: Page, address: str, process: subprocess.Popen, seconds: float) -> dict:
    """Ten pages look on: frames per second of the slowest, and growth of memory over the second half."""
    page.ask("pace", speed=1.0, limit=0.0)
    page.ask("reset")
    page.ask("play")
    stop, counts = threading.Event(), []

    def look_on() -> None:
        other = connect(address)
        while not stop.is_set():
            other.take()
        counts.append(other.frames)

    others = [threading.Thread(target=look_on) for _ in range(PAGES - 1)]
    for other in others:
        other.start()
    speed(page, seconds / 2, process.pid)
    before = memory(process.pid)
    _, frames, _ = speed(page, seconds / 2, process.pid)
    after = memory(process.pid)
    stop.set()
    for other in others:
        other.join()
    least = min([frames, *(count / seconds for count in counts)])
    sizes = {"memory_mb": after, "growth_mb": after - before}
    return {"label": f"{PAGES} pages", "seconds": seconds, "frames_per_second": least, **sizes}


def interrupted(page: Page, folder: Path) -> dict:
    """Seconds until a step of 64,000 cells is ended, and until the scene is shown again."""
    (folder / "heavy.toml").write_text(HEAVY)
    page.ask("open", file="heavy.toml")
    page.tell("step")
    sleep(4)
    start = perf_counter()
    page.tell("reset")
    page.until(lambda: page.state["phase"] == "starting")
    ended = perf_counter() - start
    page.until(lambda: page.state["phase"] == "ready")
    return {"label": "long step ended", "seconds": ended, "shown_again_seconds": perf_counter() - start}


def malformed(page: Page, folder: Path, count: int) -> dict:
    """Messages that are not quite right: batches after which the studio answers, and files that they have made."""
    page.ask("open", file="ball.toml")
    before = {path.name for path in folder.iterdir()}
    source, answered = random.Random(7), 0
    for _ in range(count // 100):
        for _ in range(100):
            page.send(fuzzed(source))
        answered += "error" not in page.ask("text")
    new = {path.name for path in folder.iterdir() if not path.name.startswith(".")} - before
    return {"label": "malformed messages", "messages": count, "batches_answered": answered, "new_files": len(new)}


def run(quick: bool = False) -> dict:
    """All cases; quick: seconds in place of a quarter of an hour."""
    folder = Path(tempfile.mkdtemp(prefix="pliant-studio-"))
    points, triangles = tessellate.sphere(0.5, 320)
    meshes.write(folder / "ball.obj", meshes.TriMesh(np.array(points), np.array(triangles)))
    cases = [min((first_use(folder) for _ in range(3)), key=lambda case: case["seconds"])]
    with studio(folder) as (process, address):
        page = connect(address)
        page.until(lambda: page.state.get("phase") == "ready")
        cases += [drawn(page, folder, cells, 2 if quick else 8, process.pid) for cells in (4, 8)]
        cases.append(together(page, address, process, 8 if quick else 900))
        cases.append(interrupted(page, folder))
        cases.append(malformed(page, folder, 1000 if quick else 10_000))
    return {"name": "studio", "cores": os.cpu_count(), "cases": cases}
