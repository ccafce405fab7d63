"""Mutations of texts and bytes, and values that nobody expects; small choices, so that a failing case shrinks."""

import re

import numpy as np
from hypothesis import strategies as st

NUMBERS = ("0", "-1", "1", "2", "7", "-0.0", "1e-200", "1e200", "1e308", "-1e308", "nan", "inf", "-inf", "1e400")
NUMBERS += ("4294967295", "-2147483648", "9223372036854775807", "18446744073709551616", "1" * 400, "0.1" + "0" * 300)
WORDS = ("", "a", "true", "x" * 3000, "\0", "\u202e", "../../etc/passwd", "[", "]", "{", "}", '"', "'", "#", "=", "$")
WORDS += ("$End", "\n\n", "\r", ",", "[[soft]]", "[run]", "nan", "vertex", "[" * 200, "end_header", "<", "&", "\ufeff")
NUMBER = re.compile(rb"[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?")
NUMBER_BYTES = (b"\x00" * 8, b"\xff" * 8, b"\xff" * 4, b"\x7f" + b"\xff" * 7, b"\x00\x00\xf0\x7f", b"\x80", b"\x0a\x0a")


def bytes_mutated(bases: list[bytes]):
    """One of some contents after a few mutations."""
    step = st.tuples(st.sampled_from(OPERATIONS), st.integers(0, 10**6), st.integers(0, 10**6))
    return st.builds(apply, st.sampled_from(bases), st.lists(step, min_size=1, max_size=4))


def apply(content: bytes, steps) -> bytes:
    """The content after all steps."""
    for operation, place, choice in steps:
        content = operation(content, place % (len(content) + 1), choice)
    return content[:200_000]


def change_number(content: bytes, place: int, choice: int) -> bytes:
    """Put another number in place of one."""
    found = list(NUMBER.finditer(content))
    if not found:
        return content
    match = found[place % len(found)]
    return content[: match.start()] + NUMBERS[choice % len(NUMBERS)].encode() + content[match.end() :]


def insert_word(content: bytes, place: int, choice: int) -> bytes:
    """Put in something foreign."""
    return content[:place] + WORDS[choice % len(WORDS)].encode() + content[place:]


def overwrite(content: bytes, place: int, choice: int) -> bytes:
    """Write bytes that are large or odd numbers over what is there."""
    piece = NUMBER_BYTES[choice % len(NUMBER_BYTES)]
    return content[:place] + piece + content[place + len(piece) :]


def cut(content: bytes, place: int, choice: int) -> bytes:
    """Leave out a piece."""
    return content[:place] + content[place + choice % 200 :]


def end(content: bytes, place: int, choice: int) -> bytes:
    """Leave out the rest."""
    return content[:place]


def flip(content: bytes, place: int, choice: int) -> bytes:
    """Change one bit."""
    if place >= len(content):
        return content
    return content[:place] + bytes([content[place] ^ (1 << choice % 8)]) + content[place + 1 :]


def _line(content: bytes, place: int) -> tuple[int, int]:
    start = content.rfind(b"\n", 0, place) + 1
    stop = content.find(b"\n", place)
    return start, len(content) if stop < 0 else stop + 1


def repeat_line(content: bytes, place: int, choice: int) -> bytes:
    """Say a line several times."""
    start, stop = _line(content, place)
    return content[:stop] + content[start:stop] * (1 + choice % 50) + content[stop:]


def drop_line(content: bytes, place: int, choice: int) -> bytes:
    """Leave out a line."""
    start, stop = _line(content, place)
    return content[:start] + content[stop:]


def move_line(content: bytes, place: int, choice: int) -> bytes:
    """Put a line elsewhere."""
    start, stop = _line(content, place)
    rest = content[:start] + content[stop:]
    at, _ = _line(rest, choice % (len(rest) + 1))
    return rest[:at] + content[start:stop] + rest[at:]


OPERATIONS = (change_number, change_number, change_number, insert_word, overwrite, cut, end, flip)
OPERATIONS += (repeat_line, drop_line, move_line)


class Odd:
    """Something that is nothing of what is asked for."""

    def __repr__(self) -> str:
        return "<odd>"


def _generator():
    yield 1


VALUES = [
    *(None, True, False, 0, 1, -1, 2, 3, 10**400, -(10**30), 0.5, -0.0, 1e-300, 1e300, 1e308),
    *(float("nan"), float("inf"), -float("inf"), 1j, "", "abc", "1e-3", "7", "false", "\0", "x" * 5000, b"abc"),
    *([], [1], [1, 2], [1, 2, 3], [0, 0, 0], [1, 2, 3, 4], (1e200, 0, 0), [[1, 2], [3]], [float("nan")] * 3, ["a"] * 3),
    *({}, {"a": 1}, {"eye": 3}, set(), frozenset([1]), range(3), slice(1), object, int, len, print),
    *(Odd(), Exception("x"), np.zeros(0), np.zeros((0, 3)), np.zeros(3), np.zeros((2, 3)), np.ones((3, 3)), np.eye(3)),
    *(
        np.array("a"),
        np.array(["a", "b"]),
        np.array([1, "a", None], dtype=object),
        np.array([True, False]),
        np.int64(2),
    ),
    *(
        np.int64(2),
        np.float32(0.5),
        np.bool_(True),
        np.array(2.0),
        np.array([2]),
        np.datetime64("2020-01-01"),
        np.ma.masked,
    ),
    *(lambda time: (0, 0, 1), lambda time: 1.0, lambda time: "a", lambda: 0, lambda time: [0] * (3 + (time > 0))),
    *(lambda time: None if time > 0 else 1.0, lambda time: (0, 0, float("nan") if time > 0 else 0), _generator()),
    *("x < 0.1", "x << 1", "all", "xyz", "q", "/", ".", "/nowhere/a.npz", "a.step", "a.msh"),
]
"""What a user may put in the place of anything, by mistake or not."""
