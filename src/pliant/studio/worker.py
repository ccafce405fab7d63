"""The process that builds and runs one scene for the studio: requests come in by its standard input, frames and answers
go out by its standard output (studio/messages.py). It ends with its server."""

import os
import queue
import sys
import threading
import warnings
from collections import deque
from pathlib import Path
from time import perf_counter
from typing import Any, BinaryIO

from pliant.errors import PliantError
from pliant.studio.messages import framed, header_of, pack, read_framed

FRAME_SECONDS = 1 / 30
"""Least time between two frames to the page [s]."""

RATE_SECONDS = 1.0
"""The real-time factor is that of the last second."""


class Worker:
    """One scene and its simulation."""

    def __init__(self, inbox: queue.Queue, out: BinaryIO):
        self.inbox, self.out = inbox, out
        self.file = self.geometry = self.sim = None
        self.folder, self.color, self.playing, self.speed = Path(), "none", False, 1.0
        self.steps, self.lasted = 0, 0.0
        self.last_frame, self.started = 0.0, (0.0, 0.0)
        self.pace: deque[tuple[float, float]] = deque()
        self.recording = self.spring = None

    def serve(self) -> None:
        """Do what is asked until the server is gone; step while playing."""
        while True:
            try:
                request = self.inbox.get(timeout=self._pause()) if self.playing else self.inbox.get()
            except queue.Empty:
                self._advance()
                continue
            if request is None:
                return
            self._answer(request)

    def send(self, message: bytes) -> None:
        """Send a message to the server."""
        self.out.write(framed(message))
        self.out.flush()

    def _answer(self, request: dict[str, Any]) -> None:
        reply: dict[str, Any] = {"kind": "reply", "id": request.get("id")}
        try:
            arguments = {key: value for key, value in request.items() if key not in ("id", "do")}
            reply["value"] = REQUESTS[request["do"]](self, **arguments)
        except PliantError as error:
            reply["error"] = str(error)
        except Exception as error:  # the page is told, and the process goes on with the next request
            reply["error"] = f"{type(error).__name__}: {error}"
        self.send(pack(reply))

    def catalogue(self) -> dict[str, Any]:
        """What there is to choose from."""
        from pliant.studio.catalogue import catalogue

        return catalogue()

    def build(self, tables: dict, folder: str, revision: int, color: str) -> dict[str, Any]:
        """Make the scene of the tables and show it; an error leaves the scene that was there."""
        from pliant import scene_file
        from pliant.studio.geometry import SceneGeometry

        file = scene_file.from_tables(tables, Path(folder).resolve(), "scene")
        geometry = SceneGeometry(file.scene, revision)
        self.file, self.geometry, self.folder, self.color = file, geometry, Path(folder), color
        self.send(geometry.surfaces())
        return self.reset()

    def reset(self) -> dict[str, Any]:
        """Go back to the start."""
        self.sim, self.playing, self.steps = None, False, 0
        self.recording = self.spring = None
        self.send(self.geometry.rest())
        return {"dt": self.file.run.dt}

    def play(self, speed: float = 1.0) -> None:
        """Step until told otherwise, at most `speed` times as fast as real time."""
        self._ready()
        self.playing, self.speed = True, float(speed)
        self.started = (perf_counter(), self.sim.time)
        self.pace.clear()

    def pause(self) -> None:
        """Stop stepping."""
        self.playing = False
        self._show()

    def step(self) -> None:
        """Take one step."""
        self._ready()
        self.playing = False
        self._step()
        self._show()

    def paint(self, color: str) -> None:
        """Colour soft bodies by a field."""
        from pliant.output.fields import COLOR_FIELDS
        from pliant.studio.geometry import NO_COLOR

        if color not in (NO_COLOR, *COLOR_FIELDS):
            raise PliantError(f"color must be one of {', '.join((NO_COLOR, *COLOR_FIELDS))}")
        self.color, self.geometry.highest, self.geometry.shot = color, 0.0, None
        if self.recording is not None:
            self.recording.paint(color)
        self._show()

    def scrub(self, index: int) -> None:
        """Show a frame that was kept; the run goes on from where it is."""
        self._kept()
        self.playing = False
        shots = self.recording.shots
        self.send(self.geometry.kept(shots[max(0, min(index, len(shots) - 1))], self.color, self.steps))

    def picture(self, file: str, camera: dict | None) -> None:
        """Write a picture of the present state."""
        from pliant.studio.recording import picture

        self._ready()
        picture(self.sim, Path(file), self.color, camera)

    def film(self, file: str, camera: dict | None) -> int:
        """Write a film of the frames kept; how many these are."""
        self._kept()
        self.playing = False
        return self.recording.film(Path(file), camera)

    def _kept(self) -> None:
        if self.recording is None:
            raise PliantError("nothing has run yet; play first")

    def pull(self, body: str, point: list, target: list) -> None:
        """Begin to pull at a point of a body, or pull another way."""
        from pliant.studio.pull import Pull

        if self.sim is None or not self.playing:
            raise PliantError("a body can be pulled while the scene plays")
        self.spring = Pull(self.sim, body, point, target)

    def drag(self, target: list) -> None:
        """Pull to another place."""
        if self.spring is not None:
            self.spring.target[:] = [float(each) for each in target]

    def release(self) -> None:
        """Pull no more."""
        self.spring = None

    def quality(self, body: str) -> dict[str, Any]:
        """How good the mesh of a soft body is: counts of angles between faces, in steps of 10 degrees."""
        quality = self.file.scene.find(body).mesh.quality()
        counts, _ = quality.angle_counts()
        return {
            "tets": len(quality.volumes),
            "counts": [int(count) for count in counts],
            "angles": [quality.min_dihedral, quality.max_dihedral],
            "radius_edge": quality.max_radius_edge,
            "volume": quality.total_volume,
        }

    def python(self) -> str:
        """The scene as a script."""
        from pliant.studio.python_text import python_text

        return python_text(self.file, self.folder)

    def _ready(self) -> None:
        """Make the simulation if there is none."""
        from pliant.studio.recording import Recording

        if self.sim is None:
            self.send(pack({"kind": "phase", "phase": "building"}))
            run = self.file.run
            with self.file.addressed():
                self.sim = self.file.scene.simulate(dt=run.dt, solver=run.solver, **run.place)
            self.recording = Recording(self.sim, self.geometry, self.color)
            self.recording.keep()

    def _pause(self) -> float:
        """How long to wait before the next step to keep the pace asked for [s]."""
        wall, time = self.started
        return max(1e-4, (self.sim.time - time) / self.speed - (perf_counter() - wall))

    def _advance(self) -> None:
        try:
            self._step()
        except Exception as error:
            self.playing = False
            name = "" if isinstance(error, PliantError) else f"{type(error).__name__}: "
            self.send(pack({"kind": "stopped", "error": f"{name}{error}"}))
            self._show()
            return
        if perf_counter() - self.last_frame >= FRAME_SECONDS:
            self._show()

    def _step(self) -> None:
        start = perf_counter()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            if self.spring is not None:
                self.spring.apply()
            self.sim.step()
        self.recording.keep()
        for warning in caught:
            self.send(pack({"kind": "warning", "text": str(warning.message)[:2000]}))
        now = perf_counter()
        self.lasted, self.steps = now - start, self.steps + 1
        self.pace.append((now, self.sim.time))
        while now - self.pace[0][0] > RATE_SECONDS:
            self.pace.popleft()

    def _show(self) -> None:
        """Send a frame."""
        now = perf_counter()
        self.last_frame = max(self.last_frame + FRAME_SECONDS, now - FRAME_SECONDS)
        if self.sim is None:
            self.send(self.geometry.rest())
            return
        numbers = {"steps": self.steps, "seconds": self.lasted, "playing": self.playing, "rate": self._rate()}
        numbers |= {"kept": len(self.recording.shots), "full": self.recording.full}
        self.send(self.geometry.frame(self.sim, self.color, numbers))

    def _rate(self) -> float | None:
        """Simulated over elapsed time, of the last second; None while that is not known."""
        if not self.playing or len(self.pace) < 2:
            return None
        (first, start), (last, end) = self.pace[0], self.pace[-1]
        return (end - start) / (last - first)


REQUESTS = {
    "catalogue": Worker.catalogue,
    "build": Worker.build,
    "play": Worker.play,
    "pause": Worker.pause,
    "step": Worker.step,
    "reset": Worker.reset,
    "paint": Worker.paint,
    "python": Worker.python,
    "scrub": Worker.scrub,
    "picture": Worker.picture,
    "film": Worker.film,
    "pull": Worker.pull,
    "drag": Worker.drag,
    "release": Worker.release,
    "quality": Worker.quality,
}


def receive(stream: BinaryIO, inbox: queue.Queue) -> None:
    """Put requests into the inbox as they come; when the server is gone, so is the process, even within a step."""
    while (message := read_framed(stream)) is not None:
        inbox.put(header_of(message))
    os._exit(0)


def main() -> None:
    """Serve standard input and output; what others print goes to standard error."""
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    inbox: queue.Queue = queue.Queue()
    threading.Thread(target=receive, args=(sys.stdin.buffer, inbox), daemon=True).start()
    import pliant.simulation
    import pliant.studio.recording  # noqa: F401  loaded before anybody waits for it

    worker = Worker(inbox, out)
    worker.send(pack({"kind": "ready", "pid": os.getpid()}))
    worker.serve()


if __name__ == "__main__":
    main()
