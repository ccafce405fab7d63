"""What a session stands on: the process that builds and runs its scene, and the pages that look at it."""

import asyncio
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pliant.errors import PliantError, SceneError
from pliant.studio import commands, folder
from pliant.studio.clients import Client
from pliant.studio.log import Log, Lost, find_lost
from pliant.studio.process import WorkerLost, WorkerProcess

PATIENCE = 0.1
"""How long a playing worker may take to pause before it is ended [s]."""

BUILD_SECONDS = 120.0
"""How long a scene may take to build."""


def empty_scene() -> dict[str, Any]:
    """The tables of a scene without bodies."""
    return {"format": 1, "gravity": [0.0, 0.0, -9.81], "run": {"dt": 0.01}}


class Stage:
    """A scene as tables, with its history, shown to pages by a worker process; a spare one waits to take its place."""

    def __init__(self, home: Path):
        self.home = self.base = home
        self.name, self.saved, self.opened = None, True, 0
        self.history = commands.History(empty_scene())
        self.wanted: str | None = None
        self.revision, self.phase, self.color = 0, "starting", "none"
        self.clients: set[Client] = set()
        self.shown: dict[str, bytes] = {}
        self.worker: WorkerProcess | None = None
        self.spare: asyncio.Task | None = None
        self.lock = asyncio.Lock()
        self.catalogue: dict[str, Any] = {}
        self.speed, self.limit, self.contacts = 1.0, None, False
        self.cutting: list | None = None
        self.uploads: set[str] = set()
        self.log, self.logged = Log(home), True
        self.lost: Lost | None = None
        self.welcome: dict[str, str] = {}

    async def start(self) -> None:
        """Start the worker and show the scene; an empty one, and why, if the file makes none."""
        self.lost = find_lost(self.home)
        async with self.lock:
            try:
                await self._fresh()
            except PliantError as error:
                self.history, self.name, self.wanted = commands.History(empty_scene()), None, None
                self.welcome = {"kind": "problem", "text": str(error)}
                self._tell(self.welcome)
                await self._fresh()

    async def close(self) -> None:
        """End all processes."""
        if self.spare is not None:
            await asyncio.gather(self.spare, return_exceptions=True)
            if not self.spare.cancelled() and self.spare.exception() is None:
                await self.spare.result().close()
        if self.worker is not None:
            await self.worker.close()
        self.discard_uploads()
        self.log.close(self.saved)

    def keep_uploads(self) -> None:
        """Mesh files that the scene uses are there to stay: a file may have been saved that names them."""
        used = json.dumps(self.history.tables)
        self.uploads = {name for name in self.uploads if json.dumps(name) not in used}

    def discard_uploads(self, *names: str) -> None:
        """Delete mesh files that a page has brought and that no scene has used; without names, all of them."""
        for name in [name for name in self.uploads if not names or name in names]:
            self.uploads.discard(name)
            (self.home / name).unlink(missing_ok=True)

    def join(self, client: Client) -> None:
        """A page has connected: it is told everything."""
        self.clients.add(client)
        if self.welcome:
            client.note(self.welcome)
        client.show("state", self._state())
        for slot in ("surfaces", "frame"):
            if slot in self.shown:
                client.show(slot, self.shown[slot])

    def _state(self) -> str:
        history = self.history
        state = {
            "kind": "state",
            "revision": self.revision,
            "tables": history.tables,
            "name": self.name,
            "saved": self.saved,
            "opened": self.opened,
            "undo": len(history.undos),
            "redo": len(history.redos),
            "phase": self.phase,
            "color": self.color,
            "speed": self.speed,
            "limit": self.limit,
            "contacts": self.contacts,
            "cutting": self.cutting,
            "lost": self.lost and self.lost.summary,
            "scenes": folder.scenes(self.home),
            "examples": folder.examples(folder.PAGE),
            "catalogue": self.catalogue,
        }
        return json.dumps(state)

    def _show_state(self, phase: str | None = None) -> None:
        self.phase = phase or self.phase
        state = self._state()
        for client in self.clients:
            client.show("state", state)

    def _tell(self, note: dict) -> None:
        for client in self.clients:
            client.note(note | {"text": self.without_paths(str(note.get("text")))})

    def without_paths(self, text: str) -> str:
        """What a page is told, without the folders of this machine."""
        for place in (self.home, self.base, folder.PAGE):
            text = text.replace(f"{place}{os.sep}", "").replace(str(place), "the folder of the studio")
        return text

    def _listen(self, worker_of: list) -> Callable[[dict, bytes], None]:
        """What hears the messages of one worker, as long as it is the one that counts."""

        def listen(header: dict, message: bytes) -> None:
            if not worker_of or self.worker is not worker_of[0]:
                return
            kind = header["kind"]
            if kind in ("surfaces", "frame"):
                if kind == "surfaces":
                    self.shown.pop("frame", None)
                self.shown[kind] = message
                for client in self.clients:
                    client.show(kind, message)
            elif kind in ("mode", "nodes"):
                for client in self.clients:
                    client.show(kind, message)
            elif kind == "ended":
                self._show_state("ended")
            elif kind == "phase":
                self._show_state(header["phase"])
            else:
                self._tell(
                    {"kind": "problem" if kind == "stopped" else kind, "text": header.get("error", header.get("text"))}
                )
                if kind == "stopped":
                    self._show_state("paused")

        return listen

    async def _launch(self) -> WorkerProcess:
        worker_of: list[WorkerProcess] = []
        worker = await WorkerProcess.start(self._listen(worker_of))
        worker_of.append(worker)
        return worker

    async def _fresh(self) -> None:
        """Take another process in place of the one there is, and show the scene in it."""
        old, self.worker = self.worker, None
        if old is not None:
            old.kill()
            self._show_state("starting")
        worker = await (self.spare or asyncio.ensure_future(self._launch()))
        self.worker = worker if worker.alive else await self._launch()
        self.spare = None
        if not self.catalogue:
            self.catalogue = await self.worker.ask("catalogue")
        if self.wanted is not None:
            self.history = commands.History(await self._read(self.worker, self.home, self.wanted))
            self.wanted = None
        await self._build()
        self.spare = asyncio.create_task(self._launch())

    async def _read(self, worker: WorkerProcess, home: Path, file: str) -> dict[str, Any]:
        """The tables of a scene file; a worker reads it, so that this process loads little and starts at once."""
        path = folder.inside(home, folder.plain_name(file, ".toml"))
        try:
            return await worker.ask("parse", file=str(path))
        except PliantError as error:
            raise SceneError(str(error).replace(str(path), file)) from None

    def _helper(self) -> WorkerProcess:
        """A process for what no run should wait for: the spare one, if it is there."""
        spare = self.spare
        found = spare.result() if spare is not None and spare.done() and not spare.exception() else self.worker
        if found is None:
            raise SceneError("the engine is starting; try again")
        return found

    async def _build(self) -> None:
        """Have the worker make the scene; it has another revision if it can be made."""
        revision = self.revision + 1
        try:
            looks = {"color": self.color, "contacts": self.contacts, "cutting": self.cutting}
            place = {"folder": str(self.base), "revision": revision}
            request = self.worker.ask("build", tables=self.history.tables, **place, **looks)
            await asyncio.wait_for(request, BUILD_SECONDS)
            self.revision = revision
        except TimeoutError:
            self.worker.kill()
            raise SceneError(f"the scene took longer than {BUILD_SECONDS:g} s to build") from None
        finally:
            self._show_state("ready")

    async def _calm(self) -> None:
        """A worker that listens: one that does not stop stepping in time is ended."""
        if self.worker is None or not self.worker.alive:
            await self._fresh()
        elif self.phase in ("playing", "building"):
            try:
                await asyncio.wait_for(self.worker.ask("pause"), PATIENCE)
            except (TimeoutError, WorkerLost):
                await self._fresh()
