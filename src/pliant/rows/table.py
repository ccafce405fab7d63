"""The row table: blocks of three rows over any triples, in slices of lanes (theory section 2).

A block asks J u + R lambda = b with bounds low <= lambda <= high. Blocks that touch equally many triples share
slices, so a slice of LANES blocks is a dense piece: `jacobian[entry, 9, lane]` for the entries
start[slice]..start[slice+1].
"""

from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np

from pliant.kernels.lanes import LANES


@dataclass
class Rows:
    """Row blocks of one family, or of all families together.

    start (slices + 1,); triples (entries, LANES); jacobian (entries, 9, LANES); compliance R, target b [m/s], low, high
    [N s] (slices, 3, LANES); friction (slices, LANES): Coulomb's coefficient of a contact, 0 elsewhere.
    """

    start: np.ndarray
    triples: np.ndarray
    jacobian: np.ndarray
    compliance: np.ndarray
    target: np.ndarray
    low: np.ndarray
    high: np.ndarray
    friction: np.ndarray

    @property
    def slices(self) -> int:
        """How many slices there are."""
        return len(self.start) - 1

    def between(self, first: int, last: int) -> "Rows":
        """The slices first..last, seen as a table of their own."""
        entries, slices = slice(self.start[first], self.start[last]), slice(first, last)
        of_slices = (self.compliance, self.target, self.low, self.high, self.friction)
        start = self.start[first : last + 1] - self.start[first]
        return Rows(start, self.triples[entries], self.jacobian[entries], *(part[slices] for part in of_slices))

    @classmethod
    def empty(cls, start: np.ndarray) -> "Rows":
        """Rows with nothing in them for the given slices: no Jacobian, no bounds."""
        return cls._of_slices(start) if len(start) > 1 else cls._none()

    @classmethod
    @cache
    def _none(cls) -> "Rows":
        """No rows at all, into which nobody can write."""
        return cls._of_slices(np.zeros(1, np.int64))

    @classmethod
    def _of_slices(cls, start: np.ndarray) -> "Rows":
        slices, entries = len(start) - 1, int(start[-1])
        shape = (slices, 3, LANES)
        return cls(
            start.astype(np.int64),
            np.zeros((entries, LANES), np.int32),
            np.zeros((entries, 9, LANES)),
            np.zeros(shape),
            np.zeros(shape),
            np.full(shape, -np.inf),
            np.full(shape, np.inf),
            np.zeros((slices, LANES)),
        )


def layout(widths: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Slices for blocks of the given widths (triples touched): start (slices + 1,), and each block's slice and lane."""
    return _layout(widths.astype(np.int64).tobytes())


@lru_cache(maxsize=32)
def _layout(widths: bytes) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The same, once for contacts that stay: nobody writes into what it gives."""
    widths = np.frombuffer(widths, np.int64)
    number = np.bincount(widths)  # of blocks of each width
    slices = -(-number // LANES)
    start = np.concatenate([[0], np.cumsum(np.repeat(np.arange(len(number)), slices))])
    order = np.argsort(widths, kind="stable")
    before = np.cumsum(number) - number  # blocks of smaller widths
    place = np.empty(len(widths), np.int64)
    place[order] = np.arange(len(widths)) + (LANES * (np.cumsum(slices) - slices) - before)[widths[order]]
    return start, place // LANES, place % LANES


def concatenate(parts: list[Rows]) -> Rows:
    """One table of several."""
    parts = [part for part in parts if part.slices] or parts[:1]
    if len(parts) == 1:
        return parts[0]
    offsets = np.cumsum([0] + [int(part.start[-1]) for part in parts])
    start = np.concatenate([part.start[:-1] + offset for part, offset in zip(parts, offsets)] + [offsets[-1:]])
    names = ("triples", "jacobian", "compliance", "target", "low", "high", "friction")
    return Rows(start, *(np.concatenate([getattr(part, name) for part in parts]) for name in names))


def entry_pairs(joints: Rows) -> tuple[np.ndarray, ...]:
    """Pairs of entries of every row block with a Jacobian: entry i, entry j, triple i, triple j, (slice, lane) each.
    Two entries of one triple, as of a gear between the joints of one body, count in both orders."""
    columns = []
    for s in range(joints.slices):
        for i in range(joints.start[s], joints.start[s + 1]):
            for j in range(joints.start[s], i + 1):
                used = np.flatnonzero(np.any(joints.jacobian[i] != 0, axis=0) & np.any(joints.jacobian[j] != 0, axis=0))
                pair = [np.full(len(used), i), np.full(len(used), j), joints.triples[i, used], joints.triples[j, used]]
                columns.append([*pair, np.stack([np.full(len(used), s), used], axis=1)])
    if not columns:
        none = np.zeros(0, np.int64)
        return none, none, none, none, np.zeros((0, 2), np.int64)
    first, second, i, j, place = (np.concatenate([c[k] for c in columns]).astype(np.int64) for k in range(5))
    both = np.flatnonzero((first != second) & (i == j))
    first, second = np.concatenate([first, second[both]]), np.concatenate([second, first[both]])
    return first, second, *(np.concatenate([each, each[both]]) for each in (i, j, place))
