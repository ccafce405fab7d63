"""A studio whose worker is in this process: what pages may ask, and what they hear of it."""

import io
import json
import queue
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

import scene_files
from pliant.errors import PliantError
from pliant.studio.clients import Client
from pliant.studio.messages import body_of, framed, header_of, pack, read_framed
from pliant.studio.session import REQUESTS, Session
from pliant.studio.worker import REQUESTS as WORK
from pliant.studio.worker import Worker
from studio_support import ARM, START

SCENE = (
    START
    + """mesh = { box = [1, 1, 1], cells = 1 }
[[soft.pin]]
nodes = "z < 0.01"
"""
    + ARM
)
ODD = (None, True, 0, 1, -1, 3, 10**30, 1e300, 0.5, "", "a", "x" * 400, "\0", [], {}, [1, 2], [0, 0, 1], {"a": 1}, [[]])
FITS: dict[str, tuple] = {
    "angle": (0, 1),
    "axis": ([0, 0, 1],),
    "body": ("soft", "rigid", "joint", "cloth", "rod", "cube", "arm"),
    "camera": ({}, {"eye": [3, -5, 2], "target": [0, 0, 0]}, {"eye": [3, 3, 3]}),
    "changes": ({"velocity": 2.0}, {"velocity": "fast"}, {"max_torque": -1}, {"wheel": 1}),
    "color": ("stress", "none", "speed"),
    "coordinate": ("", "angle"),
    "count": (1, 3),
    "cutting": (None,),
    "file": ("scene.toml", "new.toml", "a.png", "a.gif", "a.vtu", "a.npz", "../a.toml", "cube.stl", "c.webp"),
    "index": (0, 1, -1, 7),
    "joint": (0, 1, -1),
    "limit": (0, 1),
    "load_steps": (1, 2),
    "material": ({"law": "corotated", "young": 1e6, "poisson": 0.4, "density": 1000}, {"law": "linear"}),
    "name": ("cube", "arm", "world", "shoulder", "leg"),
    "normal": ([1, 0, 0], [0, 0, 0], []),
    "number": (0, 1, 99),
    "offset": (0.5,),
    "point": ([0.5, 0.5, 1],),
    "rod": ("rod", "leg", "cable"),
    "selection": ("z > 0.9", {"box": [[0, 0, 0], [1, 1, 1]]}, {"indices": [0]}),
    "speed": (1, 0.5),
    "target": ([0.5, 0.5, 2],),
    "what": ("nodes", "faces"),
}


class NearWorker:
    """A worker that answers at once; an error that is not pliant's own reaches the test."""

    alive = True

    def __init__(self, listen):
        self.listen, self.out = listen, io.BytesIO()
        self.worker = Worker(queue.Queue(), self.out)

    async def ask(self, do: str, **arguments: Any) -> Any:
        request = header_of(pack({"do": do, **arguments}))
        try:
            value = WORK[request.pop("do")](self.worker, **request)
            if self.worker.playing:
                self.worker._step()
                self.worker._show()
            return header_of(pack({"value": value}))["value"]
        except PliantError as error:
            raise PliantError(str(error)) from error
        finally:
            self._tell()

    def _tell(self) -> None:
        self.out.seek(0)
        while (message := read_framed(self.out)) is not None:
            assert framed(message) and body_of(message) is not None
            self.listen(header_of(message), message)
        self.out.seek(0)
        self.out.truncate()

    def kill(self) -> None:
        """It has no process."""

    async def close(self) -> None:
        """It has no process."""


class NearSession(Session):
    """A session without processes."""

    async def _launch(self) -> NearWorker:
        worker_of: list[NearWorker] = []
        worker_of.append(NearWorker(self._listen(worker_of)))
        return worker_of[0]


async def session_in(folder: Path) -> tuple[NearSession, Client]:
    """A session with a scene, and a page that looks at it."""
    (folder / "scene.toml").write_text(SCENE)
    session, client = NearSession(folder), Client()
    session.load("scene.toml")
    await session.start()
    session.join(client)
    return session, client


def command(draw, depth: int = 0) -> Any:
    """An edit, good or not."""
    kind = draw(st.sampled_from(("put", "put", "put", "drop", "insert", "group", "odd")))
    if kind == "odd":
        return draw(st.sampled_from(ODD))
    if kind == "group":
        return {"do": "group", "members": [command(draw, depth + 1) for _ in range(draw(st.integers(0, 2)))]}
    roots = ("soft", "rigid", "joint", "materials", "run", "gravity", "contact", "order", "format")
    path: list = [draw(st.sampled_from(roots))]
    if draw(st.integers(0, 3)):
        path.append(draw(st.sampled_from((0, 0, 0, 1, -1, "dt", "a"))))
    if len(path) > 1 and draw(st.integers(0, 3)):
        path.append(draw(st.sampled_from(scene_files.known_keys())))
    value = scene_files.value_of(draw, path[-1] if isinstance(path[-1], str) else "", 0)
    return {"do": kind, "path": path, "value": value}


def request(draw, session: Session) -> str:
    """What a page may send: a request with arguments of its kinds, or anything."""
    if draw(st.integers(0, 19)) == 19:
        return draw(st.sampled_from(("", "[", "null", "[]", '{"do": 3}', '{"do": "drawn"}', '{"do": "x"}', "[" * 5000)))
    do = draw(st.sampled_from(sorted(REQUESTS)))
    said: dict[str, Any] = {"id": 1, "do": do}
    for name, kind in REQUESTS[do].__annotations__.items():
        if name == "return" or draw(st.integers(0, 24)) == 24:
            continue
        if name == "revision":
            said[name] = session.revision - (draw(st.integers(0, 9)) == 9)
        elif name == "command":
            said[name] = command(draw)
        elif name == "table":
            said[name] = scene_files.table_of(draw)
        elif kind is bool and draw(st.integers(0, 9)) != 9:
            said[name] = draw(st.booleans())
        elif name in FITS and draw(st.integers(0, 3)):
            said[name] = draw(st.sampled_from(FITS[name]))
        else:
            said[name] = draw(st.sampled_from(ODD))
    return json.dumps(said)
