"""How messages name what a user may ask for: as Python does, or as commands do."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_FOR_COMMANDS = ContextVar("messages are for users of commands", default=False)


@contextmanager
def for_commands() -> Iterator[None]:
    """Let messages that are made inside the block name options as commands do."""
    token = _FOR_COMMANDS.set(True)
    try:
        yield
    finally:
        _FOR_COMMANDS.reset(token)


def worded(python: str, command: str) -> str:
    """What to say to users of Python, or to those of commands."""
    return command if _FOR_COMMANDS.get() else python


def option(name: str, value: object = None) -> str:
    """An option, with a value if there is one: `repair=True` and `max_volume`, or `--repair` and `--max-volume`."""
    flag = f"--{name.replace('_', '-')}"
    if value is None:
        return worded(name, flag)
    return worded(f"{name}={value!r}", flag if value is True else f"{flag} {value}")
