"""The process that builds and runs one scene for the studio: requests come in by its standard input, frames and answers
go out by its standard output (studio/messages.py). It ends with its server."""

import os
import queue
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any, BinaryIO

from pliant.checks import whole
from pliant.errors import PliantError
from pliant.studio import studies
from pliant.studio.inquiries import Inquiries
from pliant.studio.messages import header_of, pack, read_framed
from pliant.studio.outlet import Outlet

IDLE_SECONDS = 0.2
"""After so long without a request a process loads what a run will need [s]."""


class Worker(Inquiries):
    """One scene and its simulation."""

    def __init__(self, inbox: queue.Queue, out: BinaryIO):
        self.inbox, self.outlet = inbox, Outlet(out)
        self.file = self.geometry = self.sim = self.showing = None
        self.folder, self.color, self.playing, self.speed = Path(), "none", False, 1.0
        self.steps, self.lasted = 0, 0.0
        self.started = (0.0, 0.0)
        self.recording = self.spring = self.natural = None
        self.limit: float | None = None
        self.loaded = False

    def serve(self) -> None:
        """Do what is asked until the server is gone; step while playing."""
        while True:
            try:
                wait = self._pause() if self.playing else None if self.loaded else IDLE_SECONDS
                request = self.inbox.get_nowait() if wait == 0 else self.inbox.get(timeout=wait)
            except queue.Empty:
                self._advance() if self.playing else self._load()
                continue
            self._answer(request)

    def _load(self) -> None:
        """Load what a run needs, before anybody waits for it but after the scene is shown."""
        import pliant.simulation
        import pliant.studio.recording  # noqa: F401

        self.loaded = True

    def send(self, message: bytes) -> None:
        """Send a message to the server."""
        self.outlet.send(message)

    def _answer(self, request: dict[str, Any]) -> None:
        reply: dict[str, Any] = {"kind": "reply", "id": request.get("id")}
        try:
            arguments = {key: value for key, value in request.items() if key not in ("id", "do")}
            with self._warning():
                reply["value"] = REQUESTS[request["do"]](self, **arguments)
        except PliantError as error:
            reply["error"] = str(error)
        except Exception as error:  # the page is told, and the process goes on with the next request
            reply["error"] = f"{type(error).__name__}: {error}"
        self.send(pack(reply))

    @contextmanager
    def _warning(self) -> Iterator[None]:
        """Tell the page what is warned of."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield
        for warning in caught:
            self.send(pack({"kind": "warning", "text": str(warning.message)[:2000]}))

    def build(
        self, tables: dict, folder: str, revision: int, color: str, contacts: bool, cutting: list | None
    ) -> dict[str, Any]:
        """Make the scene of the tables and show it; an error leaves the scene that was there."""
        from pliant import scene_file
        from pliant.studio.geometry import SceneGeometry

        file = scene_file.from_tables(tables, Path(folder).resolve(), "scene")
        geometry = SceneGeometry(file.scene, revision)
        geometry.contacts = contacts
        geometry.cut(cutting)
        self.file, self.geometry, self.folder, self.color = file, geometry, Path(folder), color
        self.send(geometry.surfaces())
        return self.reset()

    def reset(self) -> dict[str, Any]:
        """Go back to the start."""
        self.sim, self.playing, self.steps = None, False, 0
        self.recording = self.spring = self.natural = None
        self.send(self.geometry.rest())
        return {"dt": self.file.run.dt}

    def play(self, speed: float = 1.0, limit: float | None = None) -> None:
        """Step until told otherwise, or until the time `limit` [s], at most `speed` times as fast as real time."""
        self._ready()
        if limit is not None and self.sim.time >= limit - 1e-9:
            raise PliantError(f"the run has reached its limit of {limit:g} s; set a later one, or Reset")
        self.playing, self.speed, self.limit = True, float(speed), limit
        self.started = (perf_counter(), self.sim.time)
        self.showing.pace.clear()

    def prepare(self) -> None:
        """Make the simulation: what it needs is compiled or loaded."""
        self._ready()
        self._show()

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
        self.color, self.geometry.highest, self.geometry.moment = color, 0.0, None
        if self.recording is not None:
            self.recording.paint(color)
        self._show()

    def scrub(self, index: int) -> None:
        """Show a frame that was kept; the run goes on from where it is."""
        self._kept()
        self.playing = False
        self.send(self.geometry.kept(self.recording.shot(index), self.color, self.steps))

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

    def cut(self, cutting: list | None) -> None:
        """Cut soft bodies open along a plane, its normal and offset [m]; None: close them."""
        self.geometry.cut(cutting)
        self.send(self.geometry.surfaces())
        self._show()

    def contacts(self, show: bool) -> None:
        """Whether frames say where bodies touch."""
        self.geometry.contacts = show
        self._show()

    def motor(self, joint: int, coordinate: str | None, changes: dict) -> None:
        """Change what a motor does from now on in this run; the scene stays as it is."""
        if self.sim is None:
            raise PliantError("nothing runs; set the motor of the scene instead")
        every = self.file.scene.joints
        self.sim.set_motor(every[whole(joint, "the number of a joint", 0, len(every) - 1)], coordinate, **changes)

    def equilibrium(self, load_steps: int = 1) -> None:
        """Go to where the scene is at rest under its loads; the run goes on from there."""
        self.reset()
        self.send(pack({"kind": "phase", "phase": "building"}))
        run = self.file.run
        with self.file.addressed():
            solver = run.solver if isinstance(run.solver, studies.STATIC_SOLVERS) else None
            place = {key: value for key, value in run.place.items() if key != "precision"}
            self.sim = self.file.scene.equilibrium(solver=solver, load_steps=load_steps, dt=run.dt, **place)
        self._record()
        self._show()

    def store(self, file: str) -> None:
        """Write the present state: for ParaView, or a checkpoint from which the run goes on."""
        self._ready()
        self.sim.save(file)

    def _ready(self) -> None:
        """Make the simulation if there is none."""
        if self.sim is None:
            self.send(pack({"kind": "phase", "phase": "building"}))
            run = self.file.run
            with self.file.addressed():
                self.sim = self.file.scene.simulate(dt=run.dt, solver=run.solver, **run.place)
            self._record()

    def _record(self) -> None:
        from pliant.studio.recording import Recording
        from pliant.studio.showing import Showing

        self.showing = Showing()
        self.recording = Recording(self.sim, self.geometry, self.color)
        self.recording.keep()

    def _pause(self) -> float:
        """How long to wait before the next step to keep the pace asked for [s]."""
        wall, time = self.started
        return max(0.0, (self.sim.time - time) / self.speed - (perf_counter() - wall))

    def _advance(self) -> None:
        try:
            self._step()
        except Exception as error:
            self.playing = False
            name = "" if isinstance(error, PliantError) else f"{type(error).__name__}: "
            self.send(pack({"kind": "stopped", "error": f"{name}{error}"}))
            self._show()
            return
        if self.limit is not None and self.sim.time >= self.limit - 1e-9:
            self.playing = False
            self.send(pack({"kind": "phase", "phase": "paused"}))
            self._show()
        elif self.showing.due:
            self._show()

    def _step(self) -> None:
        start = perf_counter()
        with self._warning():
            if self.spring is not None:
                self.spring.apply()
            self.sim.step()
        self.recording.keep()
        self.lasted, self.steps = perf_counter() - start, self.steps + 1
        self.showing.stepped(self.sim.time)

    def _show(self) -> None:
        """Send a frame."""
        if self.sim is None:
            self.send(self.geometry.rest())
            return
        numbers = {"steps": self.steps, "seconds": self.lasted, "playing": self.playing}
        numbers["rate"] = self.showing.rate if self.playing else None
        numbers |= self.recording.numbers
        behind = self.playing and self._pause() == 0
        self.outlet.send(self.showing.frame(self.geometry, self.sim, self.color, numbers, behind), frame=True)


REQUESTS = {
    name: getattr(Worker, name)
    for name in (
        *("catalogue", "parse", "build", "prepare", "play", "pause", "step", "reset", "paint", "python", "scrub"),
        *("picture", "film", "pull", "drag", "release", "quality", "select", "nodes", "cut", "contacts", "motor"),
        *("curve", "rod_point", "equilibrium", "modes", "mode", "store"),
    )
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
    worker = Worker(inbox, out)
    worker.send(pack({"kind": "ready", "pid": os.getpid()}))
    worker.serve()


if __name__ == "__main__":
    main()
