"""The law of a set of elements on a GPU, and what takes its place where bodies are turned inside out."""

import numpy as np

from pliant.kernels.laws import PulledBack


class SetLaw:
    """own: the law of a set, a named tuple of numbers and arrays (groups, WARP); now: what its elements follow."""

    def __init__(self, room, own: tuple):
        self.room, self.own, self.now, self.pulled = room, own, own, None

    def pull_back(self, pulled: np.ndarray | None, mu: np.ndarray | None) -> None:
        """Let elements where `pulled` (groups, WARP) is 1 follow mu |F - R|^2 [Pa]; None: all their own law."""
        if pulled is None:
            self.now = self.own
            return
        if self.pulled is None:  # arrays that graphs go on using
            self.pulled = PulledBack(self.own, *(self.room.put(each, flat=False) for each in (mu, pulled)))
        self.room.write(self.pulled.pulled, np.ascontiguousarray(pulled))
        self.room.wait()
        self.now = self.pulled

    @property
    def pulling(self) -> bool:
        """Whether any of its elements may be pulled back."""
        return self.now is not self.own
