"""Checks of what a user says, in one vocabulary: each returns the cleaned value or raises a SceneError that names it,
says what it must be, and shows what it is."""

import contextlib
import math
import operator
import os
import re
from collections.abc import Callable, Iterable
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np

from pliant.errors import SceneError

DEVICES = ("cpu", "cuda")
"""Where simulations compute."""

LARGEST, SMALLEST = 1e100, 1e-100
"""Numbers lie below the one, and those that must be positive above the other: their products stay finite."""

FINEST = 1e-6
"""Numbers at a body's place are at most that much apart, relative to its smallest parts."""

SHOWN_LENGTH = 80
"""How many characters of a bad value a message shows."""

SHOWN_CHOICES = 20
"""How many of many allowed names a message lists."""

LABEL_RULE = "up to 100 letters, digits, spaces and _ + - . (the first a letter, a digit or _)"
"""What names are made of: names appear in files, so they must not be able to say a path."""


def shown(value: Any) -> str:
    """A value as Python writes it, on one line and not too long; large arrays by their shape."""
    if isinstance(value, np.ndarray) and value.size > 12:
        return f"an array of {value.dtype} of shape {value.shape}"
    if isinstance(value, str | bytes) and len(value) > SHOWN_LENGTH:
        return repr(value[: SHOWN_LENGTH - 3]) + "..."
    if isinstance(value, list | tuple | set | frozenset | dict) and len(value) > 12:
        return f"a {type(value).__name__} of {len(value)}"
    try:
        text = " ".join(repr(value).split())
    except Exception:  # whatever a foreign object does when it is asked for its name
        text = f"a {type(value).__name__}"
    return text if len(text) <= SHOWN_LENGTH else text[: SHOWN_LENGTH - 3] + "..."


def within_reach(farthest: float, size: float, what: str) -> None:
    """Refuse a place [m] so far from the origin that parts of a size [m] are lost in rounding there."""
    if (apart := float(np.spacing(farthest))) > FINEST * size:
        raise SceneError(
            f"{what} lies {farthest:.3g} m from the origin, where numbers are {apart:.2g} m apart: its parts of "
            f"{size:.2g} m are lost in rounding; put the scene nearer to the origin"
        )


def listed(names: Iterable[str]) -> str:
    """Names with commas between them; of many only the first."""
    names = list(names)
    more = f" and {len(names) - SHOWN_CHOICES} more" if len(names) > SHOWN_CHOICES else ""
    return ", ".join(names[:SHOWN_CHOICES]) + more


def counted(number: int, word: str) -> str:
    """So many of something: 1 rod, 2 rods."""
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def refusal(name: str, rule: str, value: Any) -> SceneError:
    """The error that says what a value must be and what it is."""
    return SceneError(f"{name} must be {rule}, got {shown(value)}")


def label(value, name: str) -> str:
    """A name of something; see LABEL_RULE."""
    if not isinstance(value, str) or not re.fullmatch(r"\w[\w .+-]{0,99}", value):
        raise refusal(name, LABEL_RULE, value)
    return value


def choice(value, name: str, allowed: Iterable[str]) -> str:
    """One of a few words."""
    if not isinstance(value, str) or value not in allowed:
        raise refusal(name, f"one of {', '.join(map(repr, allowed))}", value)
    return value


def flag(value, name: str) -> bool:
    """True or False; nothing else counts as one of them."""
    if not isinstance(value, bool | np.bool_):
        raise refusal(name, "True or False", value)
    return bool(value)


def instance(value, name: str, kind: type | tuple[type, ...], rule: str):
    """A thing of some kind."""
    if not isinstance(value, kind):
        raise refusal(name, rule, value)
    return value


def file_path(value, name: str = "path") -> Path:
    """The path of a file: a text or something like pathlib.Path."""
    if not isinstance(value, str | os.PathLike) or not isinstance(text := os.fspath(value), str):
        raise refusal(name, "a text or a pathlib.Path", value)
    try:
        bad = not text or b"\0" in os.fsencode(text)
    except UnicodeEncodeError:  # half of a character
        bad = True
    if bad:
        raise refusal(name, "the path of a file", value)
    return Path(text)


def device_name(value) -> str:
    """The name of a device."""
    if not isinstance(value, str) or value not in DEVICES:
        raise SceneError(f"device {shown(value)} is not available; there are {' and '.join(map(repr, DEVICES))}")
    return value


def number(value, name: str, *, low: float = -math.inf, high: float = math.inf, open_low: bool = False) -> float:
    """A finite float within [low, high] (or ]low, high] with `open_low`); neither text nor True or False is one."""
    scalar = value.item() if isinstance(value, np.generic | np.ndarray) and value.ndim == 0 else value
    if isinstance(scalar, bool) or not isinstance(scalar, Real):
        raise refusal(name, "a number", value)
    try:
        result = float(scalar)
    except OverflowError:
        result = math.inf
    too_low = result <= low if open_low else result < low
    if not math.isfinite(result) or too_low or result > high:
        begin, end = "]" if open_low or low == -math.inf else "[", "[" if high == math.inf else "]"
        raise refusal(name, f"a finite number in {begin}{low:g}, {high:g}{end}", value)
    if abs(result) > LARGEST or (open_low and low == 0 and result < SMALLEST):
        raise refusal(name, f"a number between {SMALLEST:g} and {LARGEST:g} in size", value)
    return result


def number_or_infinity(value, name: str) -> float:
    """A number above 0, which may be infinite."""
    if isinstance(value, Real) and value == math.inf:
        return math.inf
    return number(value, name, low=0, open_low=True)


def optional_number(value, name: str, **bounds) -> float | None:
    """A number as `number` has it, or None."""
    return None if value is None else number(value, name, **bounds)


def whole(value, name: str, low: int, high: int | None = None, note: str = "") -> int:
    """A whole number from low on, up to high if there is one; True, False and 2.0 are none. note: what it is for."""
    rule = f"a whole number from {low} " + ("on" if high is None else f"to {high}") + note
    try:
        result = None if isinstance(value, bool | np.bool_) else operator.index(value)
    except TypeError:
        result = None
    if result is None or result < low or (high is not None and result > high):
        raise refusal(name, rule, value)
    return result


def numbers(value, name: str, shapes: Iterable[tuple[int | None, ...]], rule: str) -> np.ndarray:
    """A new array of finite numbers of one of some shapes, None standing for any length; text is no number."""
    array = None
    with contextlib.suppress(Exception):  # whatever NumPy makes of a foreign object
        array = np.asarray(value)
    if array is None or (array.dtype.kind not in "iuf" and array.size):
        raise refusal(name, rule, value)
    fits = any(
        len(shape) == array.ndim and all(n is None or n == m for n, m in zip(shape, array.shape)) for shape in shapes
    )
    if not fits:
        raise SceneError(f"{name} must be {rule}, got an array of shape {array.shape}")
    array = np.array(array, dtype=np.float64)
    wrong = np.argwhere(~(np.abs(array) <= LARGEST))
    if len(wrong):
        where = tuple(int(index) for index in wrong[0])
        raise SceneError(f"{name} must be {rule}, got {array[where]} at {list(where)}")
    return array


def vector(value, name: str, size: int = 3) -> tuple[float, ...]:
    """A tuple of `size` finite floats."""
    array = None
    with contextlib.suppress(Exception):
        array = np.asarray(value)
    if array is None or array.shape != (size,) or array.dtype.kind not in "iuf":
        raise refusal(name, f"{size} finite numbers", value)
    if not np.all(np.abs(array) <= LARGEST):
        raise refusal(name, f"{size} finite numbers up to {LARGEST:g} in size", value)
    return tuple(array.astype(float).tolist())


def positive_vector(value, name: str, size: int = 3) -> tuple[float, ...]:
    """A tuple of `size` positive lengths."""
    lengths = vector(value, name, size)
    if min(lengths) < SMALLEST:
        raise refusal(name, f"{size} positive lengths", value)
    return lengths


def unit_quaternion(value, name: str) -> tuple[float, ...]:
    """A quaternion (w, x, y, z), normalised."""
    return _normalised(vector(value, name, 4), f"{name} must be a quaternion (w, x, y, z) of non-zero length")


def unit_vector(value, name: str) -> tuple[float, ...]:
    """A direction, normalised."""
    return _normalised(vector(value, name), f"{name} must be a direction of non-zero length")


def _normalised(components: tuple[float, ...], rule: str) -> tuple[float, ...]:
    """Divide by the length; what has length 1 up to rounding stays, so that normalising twice changes nothing."""
    length = math.hypot(*components)
    if length < 1e-12 or not math.isfinite(length):
        raise SceneError(f"{rule}, got {components!r}")
    return components if abs(length - 1) <= 4e-16 * len(components) else tuple(c / length for c in components)


class FunctionOfTime:
    """A user's function of time [s] whose every value is checked."""

    def __init__(self, function: Callable, name: str, check: Callable[[Any, str], Any]):
        self.function, self.name, self.check = function, name, check
        self(0.0)

    def __call__(self, time: float):
        try:
            value = self.function(time)
        except Exception as error:
            name = f"{self.name} at time {time:g}"
            raise SceneError(f"{name}: the function failed with {type(error).__name__}: {error}") from error
        if type(value) is float and self.check is number and abs(value) <= LARGEST:
            return value  # by far the most
        return self.check(value, f"{self.name} at time {time:g}")

    def __eq__(self, other) -> bool:
        return isinstance(other, FunctionOfTime) and self.function == other.function

    def __hash__(self) -> int:
        return hash(self.function)


def or_function(value, name: str, check: Callable[[Any, str], Any]):
    """A value that a check cleans, or a function of time [s] whose values it does (tried once at t = 0).

    What keeps its shape by itself, as Keyframes do, is left as it is after that.
    """
    if not callable(value):
        return check(value, name)
    checked = FunctionOfTime(value, name, check)
    return value if getattr(value, "keeps_shape", False) else checked


def vector_or_function(value, name: str):
    """A 3-vector, or a function of time [s] that returns one."""
    return or_function(value, name, vector)


def number_or_function(value, name: str):
    """A finite float, or a function of time [s] that returns one."""
    return or_function(value, name, number)


def at_time(value, time: float) -> np.ndarray:
    """The value of a constant or of a function of time, as an array: (3,) for a vector, () for a number."""
    return np.asarray(value(time) if callable(value) else value, dtype=float)
