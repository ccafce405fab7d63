"""What is wrong with a scene file: every problem is collected, and all are shown together in one SceneError."""

import difflib
import json
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any

from pydantic import BaseModel, ValidationError

from pliant.checks import SHOWN_LENGTH
from pliant.errors import PliantError, SceneError

SHOWN_PROBLEMS = 100
"""How many problems of a file are shown; the others are counted."""

LONGEST_WORD, MOST_WORDS, MOST_ALIKE = 40, 200, 20
"""Letters of words for which a similar one is looked for, among how many, and how many of these with the same letters
are compared closely: a hint must not take longer than reading."""

MISSING = object()
"""Stands for a value that is not there."""

Path = tuple[str | int, ...]


def show(value: Any) -> str:
    """The value as TOML writes it, on one line, shortened, with control characters escaped."""
    if value is MISSING:
        return "(missing)"
    text = ""
    for piece in _toml(value):
        text += piece
        if len(text) > SHOWN_LENGTH:  # whatever else there is of a large value is not looked at
            return text[: SHOWN_LENGTH - 3] + "..."
    return text


def _toml(value: Any) -> Iterator[str]:
    """The pieces of a value's text, from the left."""
    if isinstance(value, bool):
        yield "true" if value else "false"
    elif isinstance(value, str):
        yield json.dumps(value[: SHOWN_LENGTH + 1])
    elif isinstance(value, dict):
        yield "{ "
        for number, (key, entry) in enumerate(value.items()):
            yield f"{', ' if number else ''}{_key(key)} = "
            yield from _toml(entry)
        yield " }"
    elif isinstance(value, list | tuple):
        yield "["
        for number, entry in enumerate(value):
            yield ", " if number else ""
            yield from _toml(entry)
        yield "]"
    elif isinstance(value, int) and value.bit_length() > 300:
        yield f"{'-' if value < 0 else ''}(a whole number of {value.bit_length()} bits)"
    else:
        yield repr(value)


def _key(key: str) -> str:
    key = key[: SHOWN_LENGTH + 1]
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else json.dumps(key)


def show_path(path: Path) -> str:
    """The key as dotted names and indices: `soft[0].mesh.cells`."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{_key(part)}" for part in path[:20])
    return text.removeprefix(".")


def did_you_mean(word: Any, known: Iterable[str]) -> str:
    """A hint ` (did you mean 'x'?)`, or nothing when no known word is close."""
    if not isinstance(word, str) or len(word) > LONGEST_WORD:
        return ""
    letters = set(word)
    alike = [
        name
        for name in islice(known, MOST_WORDS)
        if abs(len(name) - len(word)) <= 4 and len(letters.symmetric_difference(name)) <= 5
    ]
    close = difflib.get_close_matches(word, alike[:MOST_ALIKE], n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""


class Problems:
    """The problems found in one file so far, a line each: `file: key: value -> what is wrong; allowed: ...`."""

    def __init__(self, file: str):
        self.file = file
        self.lines: list[str] = []
        self.more = 0

    def add(self, path: Path, value: Any, message: str) -> None:
        """Note one problem of the value at `path`; beyond SHOWN_PROBLEMS they are only counted."""
        if self.full:
            self.more += 1
            return
        where = f"{show_path(path)}: {show(value)}" if path else show(value)
        self.lines.append(f"{self.file}: {where} -> {message}")

    @property
    def full(self) -> bool:
        """Whether further problems are only counted."""
        return len(self.lines) >= SHOWN_PROBLEMS

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
            more = [f"{self.file}: and {self.more} more problems"] if self.more else []
            raise SceneError("\n".join([*self.lines, *more]))
