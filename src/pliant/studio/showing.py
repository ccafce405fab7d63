"""When frames go to the page and what they hold: a run that cannot keep its pace spends little of its time on them."""

from collections import deque
from time import perf_counter, thread_time
from typing import Any

from pliant.studio.geometry import NO_COLOR, SceneGeometry

FRAME_SECONDS = 1 / 30
"""Least time between two frames to the page [s]."""

ENERGY_SECONDS = 0.2
"""Least time between two frames that say energies [s]."""

FRAME_SHARE, COLOR_SHARE, ENERGY_SHARE = 0.03, 0.03, 0.01
"""The parts of its time that a run which cannot keep its pace spends on frames, on their colours and on energies: there
are fewer of each, if need be, and the page keeps the colours that it has."""

RATE_SECONDS = 1.0
"""The real-time factor is that of the last second."""


class Showing:
    """What has been shown of a run, and when the next frame is due."""

    def __init__(self):
        self.next_frame = self.next_colors = self.next_energy = 0.0
        self.pace: deque[tuple[float, float]] = deque()

    @property
    def due(self) -> bool:
        """Whether it is time for a frame."""
        return perf_counter() >= self.next_frame

    def stepped(self, time: float) -> None:
        """A run has come to a time [s]."""
        now = perf_counter()
        self.pace.append((now, time))
        while now - self.pace[0][0] > RATE_SECONDS:
            self.pace.popleft()

    @property
    def rate(self) -> float | None:
        """Simulated over elapsed time, of the last second; None while that is not known."""
        if len(self.pace) < 2:
            return None
        (first, start), (last, end) = self.pace[0], self.pace[-1]
        return (end - start) / (last - first)

    def frame(self, geometry: SceneGeometry, sim, color: str, numbers: dict[str, Any], behind: bool) -> bytes:
        """The frame of a run as it is now; behind: whether it cannot keep its pace. A frame of a run that does not go
        on holds everything."""
        start, full = perf_counter(), not numbers["playing"]
        began = thread_time()
        if full or start >= self.next_energy:
            energy = geometry.energies(sim)
            numbers["energy"] = energy
            self.next_energy = start + max(ENERGY_SECONDS, self._wait(began, ENERGY_SHARE, behind))
        began = thread_time()
        colored = color != NO_COLOR and (full or start >= self.next_colors)
        if colored:
            geometry.take(sim, color)
            self.next_colors = start + self._wait(began, COLOR_SHARE, behind)
        began = thread_time()
        message = geometry.frame(sim, color, colored, numbers)
        self.next_frame = max(self.next_frame + FRAME_SECONDS, start, start + self._wait(began, FRAME_SHARE, behind))
        return message

    def _wait(self, began: float, share: float, behind: bool) -> float:
        """How long what has been done since a time of this thread may not be done again [s]."""
        return (thread_time() - began) / share if behind else 0.0
