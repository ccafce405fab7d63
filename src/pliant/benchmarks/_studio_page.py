"""A page of the studio without a picture, for measuring and testing: it asks, takes what comes, and says at once that
it has drawn. And messages that are not quite right."""

import json
import random
import struct
from collections.abc import Callable
from typing import Any


class Page:
    """What the page does over its WebSocket; receive: the next message, text or bytes; send: sends a text."""

    def __init__(self, receive: Callable[[], str | bytes], send: Callable[[str], Any]):
        self.receive, self.send, self.number = receive, send, 0
        self.state, self.surfaces, self.frame, self.mode, self.nodes = {}, {}, {}, {}, {}
        self.points, self.notes, self.frames = b"", [], 0

    def take(self) -> dict:
        """The next message; what it says is kept."""
        message = self.receive()
        if isinstance(message, str):
            data = json.loads(message)
            if data["kind"] == "state":
                self.state = data
            elif data["kind"] != "reply":
                self.notes.append(data)
            return data
        (length,) = struct.unpack_from("<I", message)
        header = json.loads(message[4 : 4 + length])
        setattr(self, header["kind"], header)
        if header["kind"] == "frame":
            self.points, self.frames = message[4 + length :], self.frames + 1
            self.send('{"do":"drawn"}')
        elif header["kind"] in ("mode", "nodes"):
            header["body_bytes"] = message[4 + length :]
        return header

    def tell(self, do: str, **arguments: Any) -> int:
        """Ask without waiting for the answer; its number."""
        self.number += 1
        self.send(json.dumps({"id": self.number, "do": do, **arguments}))
        return self.number

    def ask(self, do: str, **arguments: Any) -> dict:
        """Ask, and take what comes until the answer does."""
        number = self.tell(do, **arguments)
        while (answer := self.take())["kind"] != "reply" or answer["id"] != number:
            pass
        return answer

    def until(self, condition: Callable[[], bool]) -> None:
        """Take what comes until a condition holds."""
        while not condition():
            self.take()

    def edit(self, **command: Any) -> dict:
        """A command on the scene as the page knows it."""
        return self.ask("edit", command=command, revision=self.state["revision"])


JUNK = [None, True, -1, 1e308, "", "../x", "\ud800", [], {}, [[[]]], {"do": "put"}, "soft", ["soft", 0], 2**70]
DEEDS = [
    *(
        "edit",
        "add",
        "remove",
        "rename",
        "undo",
        "redo",
        "open",
        "save",
        "paint",
        "pause",
        "drawn",
        "eval",
        "_build",
        7,
    ),
    *("select", "nodes", "cut", "curve", "motor", "mode", "pace", "touching", "discard", "recover", "store", None),
]
KEYS = [
    *("command", "revision", "body", "table", "index", "file", "example", "color", "speed", "self", "id", "x", "sure"),
    *("what", "selection", "normal", "offset", "material", "joint", "coordinate", "changes", "number", "limit", "show"),
    *("take", "name"),
]
NONSENSE = ["", "[" * 5000, "nul", "1" * 5000, "\x00\xff", '{"do":NaN}']


def fuzzed(source: random.Random) -> str:
    """A message that is not quite right."""
    said = {source.choice(KEYS): source.choice(JUNK) for _ in range(source.randrange(5))}
    text = json.dumps({"do": source.choice(DEEDS)} | said)
    if source.random() < 0.3:
        text = text[: source.randrange(len(text))]
    return text if source.random() < 0.9 else source.choice(NONSENSE)
