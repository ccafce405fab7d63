"""The named exceptions of pliant; each message says what is wrong, where, and what is allowed."""

from collections.abc import Iterator
from contextlib import contextmanager


class PliantError(Exception):
    """Base of every exception that pliant raises on purpose."""

    about: object = None
    """The body, joint or solver that is at fault, where one is: a file says by which of its keys it is described."""


@contextmanager
def about(thing: object) -> Iterator[None]:
    """Let errors raised inside the block say whose fault they are, unless they do."""
    try:
        yield
    except PliantError as error:
        error.about = thing if error.about is None else error.about
        raise


@contextmanager
def said_of(whom: str) -> Iterator[None]:
    """Let messages of errors raised inside the block end with whom they are about, where that has a name."""
    try:
        yield
    except PliantError as error:
        if whom:
            error.args = (f"{error} (of {whom})", *error.args[1:])
        raise


class SceneError(PliantError, ValueError):
    """A scene, or a scene file, asks for something that makes no sense."""


class MeshError(PliantError, ValueError):
    """A mesh is degenerate, inverted, non-manifold, or unreadable."""


class SolverError(PliantError, RuntimeError):
    """A solver cannot honour the scene, or the simulation broke down (step, body and element are named)."""

    info: object = None
    """The solver's report of the step that broke down, where there is one."""


class FileError(PliantError, OSError):
    """A file cannot be read or written; it is named, and why."""


class DeviceError(PliantError, RuntimeError):
    """A device is not there, or is not up to what it is asked for."""
