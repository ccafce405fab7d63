"""The scene that the studio holds, and what pages may ask of it."""

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from pliant.errors import PliantError, SceneError
from pliant.studio import commands, folder
from pliant.studio.clients import Client
from pliant.studio.process import WorkerLost
from pliant.studio.rod_numbers import keeping_points
from pliant.studio.stage import Stage, empty_scene


class Stale(SceneError):
    """An edit that was made for a scene which has changed meanwhile."""


class Session(Stage):
    """One scene; requests of pages are methods of the table REQUESTS at the end."""

    def load(self, name: str) -> None:
        """Begin with a scene file of the folder, which the first worker reads."""
        if not (self.home / name).is_file():
            raise SceneError(f"{self.home / name}: there is no such scene file")
        self.name = self.wanted = name

    async def answer(self, client: Client, text: str) -> None:
        """Do what a page asks for, and tell it how that went."""
        number = None
        try:
            request = _parsed(text)
            if not isinstance(request, dict) or not isinstance(request.get("do"), str):
                raise SceneError("a request is a table with a key 'do'")
            number = request.pop("id", None)
            if not isinstance(number, int | None):
                raise SceneError("the id of a request is a whole number")
            if (do := request.pop("do")) == "drawn":
                return client.drawn()
            if do not in REQUESTS:
                raise SceneError(f"the studio does not know the request {do[:40]!r}")
            value = await _call(REQUESTS[do], self, request)
            client.note({"kind": "reply", "id": number, "value": value})
        except (PliantError, OSError) as error:
            text = str(error) if isinstance(error, PliantError) else error.strerror or "the file cannot be used"
            said = {"error": self.without_paths(text), "stale": isinstance(error, Stale)}
            client.note({"kind": "reply", "id": number, **said})

    async def _do(self, make: Callable[[], commands.Command], revision: int | None = None) -> None:
        """Make a command and do it; revision: of the scene that it is for, which must be the present one."""
        await self._change(lambda: self.history.do(make()), lambda: self.history.forget(), revision)

    async def _change(
        self, change: Callable[[], None], take_back: Callable[[], None], revision: int | None = None
    ) -> None:
        """Change the tables and show them; take it back if they make no scene."""
        async with self.lock:
            if revision is not None and revision != self.revision:
                raise Stale("the scene has changed meanwhile; look again, then edit")
            await self._calm()
            change()
            self.saved, before = False, self.saved
            try:
                await self._build()
                self.keep_uploads()
                self._log()
            except PliantError:
                take_back()
                self.saved = before
                if not self.worker.alive:
                    await self._fresh()
                self._show_state()
                raise

    def _log(self) -> None:
        """Write down what has been done since the file, so that it can be recovered after a crash."""
        written = self.log.write(self.name, self.history.start, self.history.done)
        if self.logged and not written:
            self._tell({"kind": "warning", "text": "The folder takes no files: a crash would lose what is not saved."})
        self.logged = written

    async def recover(self, take: bool) -> None:
        """Take up what a studio that crashed has left, or throw it away."""
        lost, self.lost = self.lost, None
        if lost is None:
            raise SceneError("there is nothing to recover")
        if take:
            history = lost.history()
            await self._open(history.tables, lost.name, self.home, history)
            self.saved = False
        lost.forget()
        self._show_state()

    async def discard(self, file: str) -> None:
        """Delete a mesh file that a page has brought, if no scene uses it."""
        if file in self.uploads:
            self.discard_uploads(file)

    async def rename(self, body: str, index: int, name: str, revision: int) -> None:
        """Give a body or joint another name, wherever it is named."""
        await self._do(lambda: commands.renaming(self.history.tables, body, index, name), revision)

    async def edit(self, command: Any, revision: int) -> None:
        """A command of a page, made for the scene of a revision."""
        made = commands.deserialise(command)
        await self._do(lambda: keeping_points(self.history.tables, made), revision)

    async def add(self, body: str, table: dict) -> str | None:
        """Add a body, a joint or a rule of contact; its name, if it has one."""
        await self._do(lambda: commands.adding(self.history.tables, body, table))
        return self.history.tables[body][-1].get("name")

    async def remove(self, body: str, index: int, revision: int) -> None:
        """Take out a body or joint, and what holds on to it."""
        await self._do(lambda: commands.removing(self.history.tables, body, index), revision)

    async def undo(self) -> None:
        """Take back the last command."""
        await self._change(self.history.undo, self.history.redo)

    async def redo(self) -> None:
        """Do again what was taken back."""
        await self._change(self.history.redo, self.history.undo)

    async def new(self) -> None:
        """An empty scene."""
        await self._open(empty_scene(), None, self.home)

    async def open(self, file: str, example: bool = False) -> None:
        """A scene file of the folder, or an example."""
        home = folder.PAGE / "examples" if example else self.home
        tables = await self._read(self._helper(), home, file)
        await self._open(tables, None if example else file, home)

    async def _open(self, tables: dict, name: str | None, base: Path, history: commands.History | None = None) -> None:
        before = self.history, self.name, self.base

        def put(history, name, base):
            self.history, self.name, self.base = history, name, base
            self.opened += 1

        await self._change(lambda: put(history or commands.History(tables), name, base), lambda: put(*before))
        self.saved = True
        self._show_state()

    async def save(self, file: str, sure: bool = False) -> dict:
        """Write the scene into the folder; unless sure, what would be lost is asked first, and nothing is written."""
        path = folder.inside(self.home, folder.plain_name(file, ".toml"))
        asked = None if sure else folder.question(path, file == self.name, self.history.tables)
        if asked is not None:
            return {"question": asked}
        folder.bring(self.history.tables, self.base, self.home)
        folder.write_scene(path, self.history.tables)
        self.name, self.saved, self.base = file, True, self.home
        self.history.settle()
        self.log.close(True)
        self._show_state()
        return {"file": file}

    async def text(self) -> str:
        """The scene as the text of a scene file."""
        return folder.scene_text(self.history.tables)

    async def python(self) -> str:
        """The scene as a Python script."""
        return await self.worker.ask("python")

    async def play(self) -> None:
        """Run the scene."""
        await self._run("play", "playing", speed=self.speed, limit=self.limit)

    async def pace(self, speed: float, limit: float) -> None:
        """How many times as fast as real time a run may be, and at what time [s] it pauses; 0: never."""
        if not speed > 0 or not limit >= 0:
            raise SceneError("a speed is above 0, a limit of time is 0 (none) or more")
        self.speed, self.limit = float(speed), float(limit) or None
        self._show_state()
        if self.phase == "playing":
            await self.play()

    async def equilibrium(self, load_steps: int) -> None:
        """Put the scene where it is at rest under its loads."""
        await self._run("equilibrium", "paused", load_steps=max(1, min(load_steps, 1000)))

    async def modes(self, count: int) -> list:
        """The lowest natural frequencies [Hz]."""
        return await self._run("modes", "ready", count=max(1, min(count, 100)))

    async def mode(self, number: int) -> None:
        """Show a mode."""
        await self.worker.ask("mode", number=number)

    async def motor(self, joint: int, coordinate: str, changes: dict) -> None:
        """Change a motor of the run."""
        await self.worker.ask("motor", joint=joint, coordinate=coordinate or None, changes=changes)

    async def cut(self, normal: list, offset: float) -> None:
        """Cut soft bodies open below a plane; an empty normal closes them."""
        cutting = [_point(normal), offset] if normal else None
        await self.worker.ask("cut", cutting=cutting)
        self.cutting = cutting
        self._show_state()

    async def touching(self, show: bool) -> None:
        """Whether contacts are shown."""
        await self.worker.ask("contacts", show=show)
        self.contacts = show
        self._show_state()

    async def select(self, body: str, what: str, selection: Any) -> list:
        """The nodes or faces that a selection picks."""
        return await self.worker.ask("select", body=body, what=what, selection=selection)

    async def nodes(self, body: str) -> int:
        """Have the places of all nodes of a body sent."""
        return await self.worker.ask("nodes", body=body)

    async def rod_point(self, rod: str, point: list) -> dict:
        """The point of a rod that is nearest to a place: its number, and where it is."""
        return await self.worker.ask("rod_point", rod=rod, point=_point(point))

    async def curve(self, material: dict) -> dict:
        """Stress over stretch of a material; the spare process computes it, so no run waits."""
        return await self._helper().ask("curve", material=material)

    async def step(self) -> None:
        """One step."""
        await self._run("step", "paused")

    async def _run(self, do: str, phase: str, **arguments: Any) -> Any:
        async with self.lock:
            if self.phase == "building":
                raise SceneError("the scene is being built; Stop ends that")
            await self._calm() if self.phase == "ended" else None
            worker = self.worker
            self.phase = "building"
        try:
            value = await worker.ask(do, **arguments)
            if self.worker is worker:  # a short run may have ended before its answer is seen: that is the later word
                self._show_state(phase if self.phase == "building" else None)
            return value
        except WorkerLost:
            if self.worker is worker:
                raise
            return None  # ended on purpose, by Stop or an edit
        except PliantError:
            if self.worker is worker and worker.alive:
                self._show_state("ready")
            raise

    async def prepare(self) -> None:
        """Make the simulation, without a step."""
        await self._run("prepare", "paused")

    async def pause(self) -> None:
        """Stop after the present step."""
        await self.worker.ask("pause")
        self._show_state("paused")

    async def reset(self) -> None:
        """Back to the start, at once: a process in the middle of a step is ended."""
        async with self.lock:
            await self._calm()
            await self.worker.ask("reset")
            self._show_state("ready")

    async def scrub(self, index: int) -> None:
        """Show a frame that was kept."""
        await self.worker.ask("scrub", index=index)
        if self.phase == "playing":
            self._show_state("paused")

    async def picture(self, file: str, camera: dict) -> str:
        """A picture of the present state, in the folder."""
        return await self._draw("picture", file, camera, ".png")

    async def film(self, file: str, camera: dict) -> str:
        """A film of the frames kept, in the folder."""
        return await self._draw("film", file, camera, ".webp", ".gif")

    async def store(self, file: str) -> str:
        """The present state as a file for ParaView or a checkpoint, in the folder."""
        path = folder.inside(self.home, folder.plain_name(file, ".vtu", ".npz"))
        await self.worker.ask("store", file=str(path))
        self._show_state("paused" if self.phase in ("ready", "building") else self.phase)
        return file

    async def _draw(self, what: str, file: str, camera: dict, *suffixes: str) -> str:
        path = folder.inside(self.home, folder.plain_name(file, *suffixes))
        phase = "paused" if self.phase == "playing" and what == "film" else self.phase
        await self.worker.ask(what, file=str(path), camera=camera or None)
        self._show_state(phase)
        return file

    async def pull(self, body: str, point: list, target: list) -> None:
        """Pull at a point of a body."""
        await self.worker.ask("pull", body=body, point=_point(point), target=_point(target))

    async def drag(self, target: list) -> None:
        """Pull to another place."""
        await self.worker.ask("drag", target=_point(target))

    async def release(self) -> None:
        """Pull no more."""
        await self.worker.ask("release")

    async def quality(self, body: str) -> dict:
        """How good the mesh of a soft body is."""
        return await self.worker.ask("quality", body=body)

    async def paint(self, color: str) -> None:
        """Colour soft bodies by a field."""
        await self.worker.ask("paint", color=color)
        self.color = color
        self._show_state()


REQUESTS: dict[str, Callable[..., Awaitable[Any]]] = {
    name: getattr(Session, name)
    for name in (
        *("edit", "add", "remove", "rename", "undo", "redo", "new", "open", "save", "recover", "text", "python"),
        *("prepare", "play", "pace", "step", "pause", "reset", "equilibrium", "modes", "mode", "motor", "paint"),
        *("scrub", "picture", "film", "store", "pull", "drag", "release", "quality", "select", "nodes", "curve"),
        *("cut", "touching", "discard", "rod_point"),
    )
}


def _point(values: list) -> list[float]:
    """Three finite numbers."""
    good = len(values) == 3 and all(isinstance(value, int | float) and abs(value) < 1e9 for value in values)
    if not good:
        raise SceneError("a point is three finite numbers")
    return [float(value) for value in values]


def _parsed(text: str) -> Any:
    """JSON without numbers that are none."""

    def refuse(word: str) -> None:
        raise ValueError(word)

    try:
        return json.loads(text, parse_constant=refuse)
    except (ValueError, RecursionError):
        raise SceneError("the request is not JSON") from None


async def _call(method: Callable[..., Awaitable[Any]], session: Session, arguments: dict) -> Any:
    """Call a method by what a page says, whose names and kinds must be those of the method."""
    hints = {name: kind for name, kind in method.__annotations__.items() if name != "return"}
    needed = len(hints) - len(method.__defaults__ or ())
    if set(arguments) - set(hints) or set(list(hints)[:needed]) - set(arguments):
        raise SceneError(f"{method.__name__} takes {', '.join(hints) or 'nothing'}")
    for name, value in arguments.items():
        kind = (int, float) if hints[name] is float else object if hints[name] is Any else hints[name]
        if not isinstance(value, kind) or (isinstance(value, bool) and hints[name] is not bool):
            raise SceneError(f"{name} must be of another kind")
    return await method(session, **arguments)
