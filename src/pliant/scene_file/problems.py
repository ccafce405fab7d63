"""What is wrong with a scene file: every problem is collected, and all are shown together in one SceneError."""

import difflib
import json
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from pydantic import BaseModel, ValidationError

from pliant.errors import PliantError, SceneError

SHOWN_LENGTH = 80
"""How many characters of a bad value a line shows."""

MISSING = object()
"""Stands for a value that is not there."""

Path = tuple[str | int, ...]


def show(value: Any) -> str:
    """The value as TOML writes it, on one line, shortened, with control characters escaped."""
    text = "(missing)" if value is MISSING else _toml(value)
    return text if len(text) <= SHOWN_LENGTH else text[: SHOWN_LENGTH - 3] + "..."


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(key)} = {_toml(entry)}" for key, entry in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_toml(entry) for entry in value) + "]"
    return repr(value)


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else json.dumps(key)


def show_path(path: Path) -> str:
    """The key as dotted names and indices: `soft[0].mesh.cells`."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{_key(part)}" for part in path)
    return text.removeprefix(".")


def did_you_mean(word: Any, known: Iterable[str]) -> str:
    """A hint ` (did you mean 'x'?)`, or nothing when no known word is close."""
    close = difflib.get_close_matches(str(word), list(known), n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""


class Problems:
    """The problems found in one file so far, a line each: `file: key: value -> what is wrong; allowed: ...`."""

    def __init__(self, file: str):
        self.file = file
        self.lines: list[str] = []

    def add(self, path: Path, value: Any, message: str) -> None:
        """Note one problem of the value at `path`."""
        where = f"{show_path(path)}: {show(value)}" if path else show(value)
        self.lines.append(f"{self.file}: {where} -> {message}")

    def validate(self, table: type[BaseModel], data: Any, path: Path) -> BaseModel | None:
        """The data as a table of the schema, or None after noting everything that is wrong with it."""
        try:
            return table.model_validate(data)
        except ValidationError as error:
            for problem in error.errors(include_url=False):
                # the union of several kinds of table marks its choice as "<kind>", which is no key of the file
                inner = tuple(part for part in problem["loc"] if not str(part).startswith("<"))
                value = MISSING if problem["type"] == "scene_missing" else problem["input"]
                self.add(path + inner, value, problem["msg"])
            return None

    @contextmanager
    def collect(self, path: Path, value: Any) -> Iterator[None]:
        """Note an error of the scene or of a mesh, raised inside the block, as a problem of the value at `path`."""
        try:
            yield
        except PliantError as error:
            self.add(path, value, str(error))

    def finish(self) -> None:
        """Raise everything noted, if there is anything."""
        if self.lines:
            raise SceneError("\n".join(self.lines))
