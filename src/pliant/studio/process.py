"""Worker processes as the server sees them: requests that are answered, messages that come by themselves, an end."""

import asyncio
import itertools
import sys
from collections.abc import Callable
from typing import Any

from pliant.errors import PliantError
from pliant.studio.messages import LARGEST, LENGTH, framed, header_of, pack


class WorkerLost(PliantError):
    """The process ended before it answered."""


class WorkerProcess:
    """A process that runs pliant.studio.worker; `listen` is given every message that is no answer, with its header."""

    def __init__(self, process: asyncio.subprocess.Process, listen: Callable[[dict, bytes], None]):
        self.process, self.listen = process, listen
        self.ready = asyncio.get_running_loop().create_future()
        self.waiting: dict[int, asyncio.Future] = {}
        self.numbers = itertools.count(1)
        self.reader = asyncio.create_task(self._read())

    @classmethod
    async def start(cls, listen: Callable[[dict, bytes], None]) -> "WorkerProcess":
        """Start a process; it may be asked at once, and answers when it has loaded what it needs."""
        pipe = asyncio.subprocess.PIPE
        command = (sys.executable, "-m", "pliant.studio.worker")
        return cls(await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe), listen)

    @property
    def alive(self) -> bool:
        """Whether the process still runs."""
        return self.process.returncode is None and not self.reader.done()

    async def ask(self, do: str, **arguments: Any) -> Any:
        """Ask for something; the answer, or PliantError with what went wrong."""
        if not self.alive:
            raise WorkerLost("the process of the simulation has ended; Reset starts another")
        number = next(self.numbers)
        answer = self.waiting[number] = asyncio.get_running_loop().create_future()
        try:
            self.process.stdin.write(framed(pack({"id": number, "do": do, **arguments})))
            return await answer
        finally:
            self.waiting.pop(number, None)

    def kill(self) -> None:
        """End the process at once, whatever it is doing."""
        if self.process.returncode is None:
            self.process.kill()

    async def close(self) -> None:
        """End the process and wait until it is gone."""
        self.kill()
        await self.process.wait()
        await asyncio.gather(self.reader, return_exceptions=True)

    async def _read(self) -> None:
        stream = self.process.stdout
        try:
            while True:
                (length,) = LENGTH.unpack(await stream.readexactly(4))
                if length > LARGEST:
                    self.kill()
                    break
                self._take(await stream.readexactly(length))
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            lost = "the process of the simulation has ended, by a crash or for want of memory; Reset starts another"
            for answer in (*self.waiting.values(), self.ready):
                if not answer.done():
                    answer.set_exception(WorkerLost(lost))
                    answer.exception()  # whoever does not wait for it need not hear of it
            self.listen({"kind": "ended"}, b"")

    def _take(self, message: bytes) -> None:
        header = header_of(message)
        if header["kind"] == "ready":
            self.ready.set_result(header)
        elif header["kind"] == "reply":
            answer = self.waiting.get(header["id"])
            if answer is not None and not answer.done():
                if "error" in header:
                    answer.set_exception(PliantError(header["error"]))
                else:
                    answer.set_result(header.get("value"))
        else:
            self.listen(header, message)
