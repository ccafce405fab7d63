"""A page that is connected: what it still has to be told, with a bound on how much that can become."""

import asyncio
import json
from typing import Any

IN_FLIGHT = 2
"""Frames that are on their way to a page; another one is sent when it says that it has drawn one."""

MOST_NOTES = 200
"""A page that does not take so many answers and notes is given up."""


class Client:
    """Answers and notes go out in order. Of states, surfaces and frames only the latest goes out."""

    def __init__(self):
        self.notes: list[str] = []
        self.latest: dict[str, str | bytes] = {}
        self.in_flight = 0
        self.event = asyncio.Event()

    def note(self, note: dict[str, Any]) -> None:
        """Something that must arrive, in order."""
        self.notes.append(json.dumps(note))
        self.event.set()

    def show(self, slot: str, message: str | bytes) -> None:
        """Something of which the latest counts; slot: "state", "surfaces", "nodes", "mode", "frame"."""
        self.latest[slot] = message
        if slot == "surfaces":
            self.latest.pop("frame", None)
            self.latest.pop("mode", None)
        self.event.set()

    def drawn(self) -> None:
        """The page has drawn a frame."""
        self.in_flight = max(0, self.in_flight - 1)
        self.event.set()

    @property
    def overrun(self) -> bool:
        """Whether the page has stopped listening."""
        return len(self.notes) > MOST_NOTES

    async def next(self) -> str | bytes:
        """The next message for the page, as soon as there is one."""
        while True:
            self.event.clear()
            if "state" in self.latest:  # before the answer to what changed it, so that the page knows what it asks next
                return self.latest.pop("state")
            if self.notes:
                return self.notes.pop(0)
            for slot in ("surfaces", "nodes", "mode"):
                if slot in self.latest:
                    return self.latest.pop(slot)
            if "frame" in self.latest and self.in_flight < IN_FLIGHT:
                self.in_flight += 1
                return self.latest.pop("frame")
            await self.event.wait()
