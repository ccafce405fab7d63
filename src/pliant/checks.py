"""Small checks of what a user says: each returns the cleaned value or raises a SceneError that names it."""

import math
import re
from collections.abc import Callable

import numpy as np

from pliant.errors import SceneError

DEVICES = ("cpu",)
"""Where simulations compute."""

LABEL_RULE = "up to 100 letters, digits, spaces and _ + - . (the first a letter, a digit or _)"
"""What names are made of: names appear in files, so they must not be able to say a path."""


def label(value, name: str) -> str:
    """A name of something; see LABEL_RULE."""
    if not isinstance(value, str) or not re.fullmatch(r"\w[\w .+-]{0,99}", value):
        raise SceneError(f"{name} must be {LABEL_RULE}, got {value!r}")
    return value


def device_name(value) -> str:
    """The name of a device that is there."""
    if value not in DEVICES:
        raise SceneError(f"device {value!r} is not available; only {' and '.join(map(repr, DEVICES))} is")
    return value


def number(value, name: str, *, low: float = -math.inf, high: float = math.inf, open_low: bool = False) -> float:
    """A finite float within [low, high] (or ]low, high] with `open_low`)."""
    try:
        result = float(value)
    except (TypeError, ValueError, OverflowError):
        raise SceneError(f"{name} must be a number, got {value!r}") from None
    too_low = result <= low if open_low else result < low
    if not math.isfinite(result) or too_low or result > high:
        bracket = "]" if open_low else "["
        raise SceneError(f"{name} must be a finite number in {bracket}{low:g}, {high:g}], got {value!r}")
    return result


def vector(value, name: str, size: int = 3) -> tuple[float, ...]:
    """A tuple of `size` finite floats."""
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise SceneError(f"{name} must be {size} numbers, got {value!r}") from None
    if array.shape != (size,) or not np.all(np.isfinite(array)):
        raise SceneError(f"{name} must be {size} finite numbers, got {value!r}")
    return tuple(array.tolist())


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


def vector_or_function(value, name: str):
    """A 3-vector, or a function of time [s] that returns one (tried once at t = 0)."""
    if isinstance(value, Callable):
        vector(value(0.0), f"{name} at time 0")
        return value
    return vector(value, name)


def number_or_function(value, name: str):
    """A finite float, or a function of time [s] that returns one (tried once at t = 0)."""
    if isinstance(value, Callable):
        number(value(0.0), f"{name} at time 0")
        return value
    return number(value, name)


def at_time(value, time: float) -> np.ndarray:
    """The value of a constant or of a function of time, as an array: (3,) for a vector, () for a number."""
    return np.asarray(value(time) if callable(value) else value, dtype=float)
