"""What the log says of work that nobody has asked for by name: compiling."""

import contextlib
from collections.abc import Iterator
from logging import getLogger
from pathlib import Path
from threading import Timer
from time import perf_counter

LOGGER = getLogger("pliant")
# Seconds of compiling after which it is said, and seconds without any after which it is said again.
PATIENCE, PAUSE = 1.5, 60.0


class Notice:
    """Says in the log, once for all kernels that are compiled one after the other, what takes so long."""

    def __init__(self):
        self.spent, self.ended, self.said = 0.0, 0.0, False
        self.kept_in: Path | None = None
        """Where compiled code is kept, if anywhere."""

    @contextlib.contextmanager
    def noticed(self) -> Iterator[None]:
        """Count the time of a block."""
        start = perf_counter()
        if start - self.ended > PAUSE:
            self.spent, self.said = 0.0, False
        timer = Timer(max(PATIENCE - self.spent, 0.0), self.say)
        timer.daemon = True
        if not self.said:
            with contextlib.suppress(RuntimeError):  # no more threads can be started
                timer.start()
        try:
            yield
        finally:
            timer.cancel()
            self.ended = perf_counter()
            self.spent += self.ended - start
            if self.spent >= PATIENCE:  # the timer's thread may have been late
                self.say()

    def say(self) -> None:
        """One line, at the level of warnings: without any settings it goes to standard error."""
        if not self.said:
            self.said = True
            LOGGER.warning("pliant compiles code for what is simulated, which takes a while; it %s", self._fate())

    def _fate(self) -> str:
        if self.kept_in is None:
            return "is not kept, because no folder for it can be written: set PLIANT_CACHE to one that can"
        return f"is kept in {self.kept_in} and found there by the next run"


COMPILING = Notice()
