"""Which of many boxes overlap: a tree that is fitted as they move, and built anew when it has become loose."""

import numpy as np

from pliant.kernels.collide import Boxes
from pliant.kernels.device import Device

# Boxes of a leaf, at most.
LEAF = 8
# How much the nodes' surface may grow, in parts of what it was, before a fitted tree is built anew.
LOOSE = 1.5
# Fits after which it is built anew in any case: boxes that shrink hide how loose it is. Fitting costs a twentieth.
FITS = 20


class Tree:
    """A tree over boxes low, high (n, 3) [m].

    group (n,): boxes of one group >= 0 are never a pair (a body that cannot touch itself); -1: no group.
    """

    def __init__(self, device: Device, low: np.ndarray, high: np.ndarray, group: np.ndarray | None = None):
        self.kernels, count = device.collide.bvh, len(low)
        self.group = np.full(count, -1) if group is None else np.ascontiguousarray(group, np.int64)
        leaves = 1
        while leaves * LEAF < count:
            leaves *= 2
        self.order = np.empty(count, np.int64)
        self._box = np.empty((count, 6))
        self._node = np.empty((2 * leaves, 6))
        self._node_group = np.empty(2 * leaves, np.int64)
        self._pairs = np.empty((2 * count + 16, 2), np.int64)
        self._way = self._node_way = None
        self._leaf = count * np.arange(leaves + 1) // leaves
        self.build(low, high)

    def build(self, low: np.ndarray, high: np.ndarray) -> None:
        """Choose which boxes lie together."""
        self.kernels.order_boxes(low, high, self.group, len(self._node) // 2, self.order)
        self._built, self._fits = self.fit(low, high), 0

    def fit(self, low: np.ndarray, high: np.ndarray) -> float:
        """Follow boxes that moved; the sum of the nodes' half surfaces [m^2]."""
        return self.kernels.fit_tree(low, high, self.group, self.order, self._box, self._node, self._node_group)

    def follow(self, low: np.ndarray, high: np.ndarray) -> None:
        """Follow boxes that moved, and build the tree anew if it has become loose or old: which pairs there are does
        not change, only their order."""
        self._fits += 1
        if self._fits > FITS or self.fit(low, high) > LOOSE * self._built:
            self.build(low, high)

    def pairs(self, other: "Tree | None" = None) -> np.ndarray:
        """Pairs (k, 2) of boxes that overlap or touch: (own, other's), or within this tree (i, j), i < j.

        Valid until asked again.
        """
        second = self if other is None else other
        columns = (*self._columns(), *second._columns(), other is None)
        count = self.kernels.overlapping_pairs(*columns, self._pairs)
        if count > len(self._pairs):
            self._pairs = np.empty((count + count // 4, 2), np.int64)
            self.kernels.overlapping_pairs(*columns, self._pairs)
        return self._pairs[:count]

    def moving(self, low: np.ndarray, high: np.ndarray, new: np.ndarray, members: np.ndarray) -> Boxes:
        """As it is walked, with boxes low, high (n, 3) of what points in its boxes, as last fitted, go. new (points,):
        points of which pairs are looked for; members (n, k): points of the boxes."""
        if self._way is None:
            self._way, self._node_way = np.empty_like(self._box), np.empty_like(self._node)
            self._new, self._node_new = np.empty(len(self._box), bool), np.empty(len(self._node), bool)
        self.kernels.fit_tree(low, high, self.group, self.order, self._way, self._node_way, self._node_group)
        self.kernels.mark_new(new, members, self.order, self._leaf, self._new, self._node_new)
        walked = (self._way, self._node_way, self._leaf, self._new, self._node_new)
        return Boxes(self.order, self._box, self._node, self._node_group, *walked)

    def _columns(self) -> tuple:
        return self.order, self._box, self._node, self._node_group, self.group
