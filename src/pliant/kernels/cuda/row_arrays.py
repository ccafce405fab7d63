"""The arrays of row blocks on a GPU (see `wide`), which grow with what there is."""

from dataclasses import dataclass

import numpy as np

from pliant.kernels.cuda import wide
from pliant.kernels.cuda.room import Room

# Row blocks, entries at nodes, and numbers of rigid bodies for which there is room at first.
BLOCKS, ENTRIES, NUMBERS = 64, 256, 12
# How many times what is wanted they then have room for: of these, and of stiff rows, which have whole vectors each.
GROWTH = (2, 2, 1, 1)


@dataclass
class WideData:
    """Row blocks (m) for conjugate gradients, stiff ones first: `stiff` of them. block, row, jacobian (k, 3, 3): of
    entries at nodes, sorted by block; weight (m, 6); body (m, BODY_ENTRIES): places of rigid triples in the numbers
    of bodies, or -1, with body_jacobian (m, BODY_ENTRIES, 3, 3); response (numbers, 3 m): what rates move bodies by."""

    stiff: int
    block: np.ndarray
    row: np.ndarray
    jacobian: np.ndarray
    weight: np.ndarray
    body: np.ndarray
    body_jacobian: np.ndarray
    response: np.ndarray
    bodies = wide.BODY_ENTRIES

    @classmethod
    def nothing(cls) -> "WideData":
        """No row blocks."""
        none = np.zeros(0, np.int64)
        bodies = (np.zeros((0, cls.bodies), np.int64), np.zeros((0, cls.bodies, 3, 3)), np.zeros((0, 0)))
        return cls(0, none, none, np.zeros((0, 3, 3)), np.zeros((0, 6)), *bodies)

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Row blocks, entries, numbers of bodies, stiff rows."""
        return len(self.weight), len(self.block), len(self.response), 3 * self.stiff


class RowArrays:
    """Row blocks as kernels take them; `rows`: of the matrix."""

    def __init__(self, room: Room, rows: int, coarse: int):
        """coarse: the size of the coarse matrix."""
        self.room, self.rows, self.coarse, self.size = room, rows, coarse, (0, 0, 0, 0)
        self.counts = room.zeros(wide.COUNTS, np.int32)
        self.entry_start = room.zeros(rows + 1, np.int32)
        self._make((BLOCKS, ENTRIES, NUMBERS, 3))
        self.take(WideData.nothing())

    def _make(self, size: tuple[int, int, int, int]) -> None:
        """Room for so many row blocks, entries, numbers of bodies and stiff rows."""
        room, (blocks, entries, numbers, stiff) = self.room, size
        self.size = size
        self.start, self.node, self.entry_row = (room.zeros(k, np.int32) for k in (blocks + 1, entries, entries))
        self.jacobian, self.entry_jacobian = (room.zeros(9 * entries, np.float32) for _ in range(2))
        self.weight, self.body_jacobian = (
            room.zeros(6 * blocks, np.float32),
            room.zeros(9 * wide.BODY_ENTRIES * blocks, np.float32),
        )
        self.body = room.put(np.full(wide.BODY_ENTRIES * blocks, -1), np.int32)
        self.rate, self.push = (room.zeros(3 * blocks, np.float32) for _ in range(2))
        self.response, self.answer = room.zeros(numbers * 3 * blocks, np.float32), room.zeros(numbers, np.float32)
        self.woodbury, self.share = room.zeros(stiff * stiff, np.float32), room.zeros(stiff, np.float32)
        self.rights, self.answers = (room.zeros(stiff * self.rows * 4, np.float32) for _ in range(2))
        self.sums, self.moves = (room.zeros(stiff * self.coarse, np.float32) for _ in range(2))
        self.met = room.zeros(stiff * stiff, np.float32)

    def take(self, data: WideData) -> bool:
        """Uploads row blocks; whether the arrays have moved for it."""
        grown = tuple(now if wanted <= now else k * wanted for wanted, now, k in zip(data.shape, self.size, GROWTH))
        moved = grown != self.size
        if moved:
            self._make(grown)
        self.blocks, _, self.numbers, self.stiff = data.shape
        self._write(self.counts, np.array([self.blocks, data.stiff, self.numbers]), np.int32)
        order = np.argsort(data.row, kind="stable")
        self._write(self.entry_start, np.searchsorted(data.row[order], np.arange(self.rows + 1)), np.int32)
        if self.blocks:
            self._write(self.start, np.searchsorted(data.block, np.arange(self.blocks + 1)), np.int32)
            self._write(self.node, data.row, np.int32)
            self._write(self.jacobian, data.jacobian, np.float32)
            self._write(self.entry_row, data.block[order], np.int32)
            self._write(self.entry_jacobian, data.jacobian[order], np.float32)
            self._write(self.weight, data.weight, np.float32)
            self._write(self.body, data.body, np.int32)
            self._write(self.body_jacobian, data.body_jacobian, np.float32)
        if self.numbers:
            padded = np.zeros((self.numbers, self.response_width))
            padded[:, : 3 * self.blocks] = data.response
            self._write(self.response, padded, np.float32)
        return moved

    def _write(self, target, values: np.ndarray, dtype) -> None:
        if values.size:
            self.room.write(target, np.ascontiguousarray(values, dtype=dtype).ravel())

    @property
    def response_width(self) -> int:
        """Length of a row of the bodies' response."""
        return 3 * self.size[0]

    def take_woodbury(self, matrix: np.ndarray) -> None:
        """Uploads S of the stiff rows (s, s)."""
        padded = np.zeros((self.stiff, self.size[3]))
        padded[:, : self.stiff] = matrix
        self._write(self.woodbury, padded, np.float32)
