"""Ctrl-C that waits where an exception would do harm."""

import contextlib
import signal
import threading
from collections.abc import Iterator


@contextlib.contextmanager
def interruptions_later() -> Iterator[None]:
    """Let Ctrl-C (in the main thread, where it arrives) take effect when the block has ended; a second one at once."""
    heard, before = [], signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return

    def note(*arrived) -> None:
        heard.append(arrived)
        if len(heard) > 1:
            signal.signal(signal.SIGINT, before)
            heard.clear()
            before(*arrived)

    signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if heard:
            before(*heard[0])
