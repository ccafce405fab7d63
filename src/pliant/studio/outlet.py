"""The way out of a worker: messages are written by a thread of their own, so no step waits for whoever reads them."""

import threading
from collections import deque
from typing import BinaryIO

from pliant.studio.messages import framed


class Outlet:
    """Messages go out in order; a frame takes the place of the one before it where that has not gone out yet."""

    def __init__(self, stream: BinaryIO):
        self.stream = stream
        self.waiting: deque[tuple[bytes, bool]] = deque()
        self.some = threading.Condition()
        threading.Thread(target=self._write, daemon=True).start()

    def send(self, message: bytes, frame: bool = False) -> None:
        """Have a message written."""
        with self.some:
            if frame and self.waiting and self.waiting[-1][1]:
                self.waiting.pop()
            self.waiting.append((message, frame))
            self.some.notify()

    def _write(self) -> None:
        while True:
            with self.some:
                while not self.waiting:
                    self.some.wait()
                message, _ = self.waiting.popleft()
            self.stream.write(framed(message))
            self.stream.flush()
