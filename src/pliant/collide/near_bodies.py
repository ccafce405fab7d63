"""Pairs of rigid bodies near each other, kept from look to look while most of them do not move far.

Boxes around bodies change little between two looks of a step, and from step to step of what rests. So pairs are found
with wider boxes, in a tree, and as long as all boxes stay within these, the pairs of those are the only ones that can
overlap: which do is tested one by one. Pairs of a few that leave theirs are found anew. What is found does not depend
on what was kept.
"""

from collections.abc import Callable

import numpy as np

from pliant.collide.things import Things
from pliant.kernels.device import Device

# By how much boxes are wider, in parts of the radii of bodies.
WIDER = 0.15
# The part of the bodies that may leave their wider boxes before all pairs are found anew: as quick.
FEW = 0.03


class NearBodies:
    """Pairs of boxes of bodies (b,), ascending, of all; radius (all,) [m], infinite for planes; find: all their pairs
    (k, 2), sorted, that may touch and whose boxes low, high (all, 3) [m] overlap."""

    def __init__(self, device: Device, things: Things, bodies: np.ndarray, radius: np.ndarray, find: Callable):
        self.kernels, self.things, self.bodies, self.find = device.collide.broad, things, bodies, find
        self.margin = WIDER * np.where(np.isinf(radius), 0.0, radius)[:, None]
        self.kept = np.zeros((0, 2), np.int64)
        self.low = self.high = np.full((len(radius), 3), np.nan)

    def pairs(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """Pairs (k, 2) of bodies whose boxes low, high (all, 3) [m] overlap, sorted."""
        room = np.empty(len(self.bodies), np.int64)
        gone = room[: self.kernels.boxes_leaving(self.bodies, low, high, self.low, self.high, room)]
        if len(gone) > FEW * len(self.bodies):
            self.low, self.high = low - self.margin, high + self.margin
            self.kept = self.find(self.low, self.high)
        elif len(gone):
            self.low[gone], self.high[gone] = low[gone] - self.margin[gone], high[gone] + self.margin[gone]
            self._renew(gone)
        near = np.empty_like(self.kept)
        return near[: self.kernels.overlapping_of(self.kept, low, high, near)]

    def _renew(self, some: np.ndarray) -> None:
        """Find the pairs of some bodies (s,) anew."""
        among, count = np.zeros(len(self.low), bool), len(self.low)
        among[some] = True
        others = np.empty_like(self.kept)
        others = others[: self.kernels.without_these(self.kept, among, others)]
        numbers = (self.things.manners, some, self.bodies, self.things.soft_count, self.low, self.high, among)
        new = np.empty((32 * len(some), 2), np.int64)
        if (found := self.kernels.pairs_of(*numbers, new)) > len(new):
            new = np.empty((found, 2), np.int64)
            self.kernels.pairs_of(*numbers, new)
        keys = np.sort(new[:found, 0] * count + new[:found, 1])
        places = np.searchsorted(others[:, 0] * count + others[:, 1], keys)
        self.kept = np.insert(others, places, np.stack(np.divmod(keys, count), axis=1), axis=0)
