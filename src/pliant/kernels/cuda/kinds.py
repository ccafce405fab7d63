"""Elements beside tets of four nodes: their arrays on a GPU, and the launches of their kernels."""

from dataclasses import dataclass

import numpy as np

from pliant.kernels.cuda import elements, quadratic, springs
from pliant.kernels.cuda.layout import WARP, Others
from pliant.kernels.cuda.set_law import SetLaw


@dataclass
class TenData:
    """Tets of ten nodes (count, 10); law: a named tuple of numbers and of parameters (count, 4) of the points;
    gradients (count, 4, 30) [1/m], volume (count, 4) [m3]; damping: (beta [s], lam, mu [Pa]) (count, 4) each, or None;
    rotates: whether they damp in rotated frames."""

    nodes: np.ndarray
    law: tuple
    gradients: np.ndarray
    volume: np.ndarray
    damping: tuple | None
    rotates: bool


@dataclass
class SpringData:
    """Springs between nodes (count, 2): stiffness [N/m], rest length [m], damping [N s/m] (count,)."""

    nodes: np.ndarray
    stiffness: np.ndarray
    rest: np.ndarray
    damping: np.ndarray


class OtherSet:
    """What both kinds share. first_block: of its blocks of threads among those of all sets."""

    def __init__(self, program, place: Others, nodes: int, first_block: int):
        self.program, self.place, self.first_block = program, place, first_block
        offsets = place.rows // WARP * WARP * 3 + place.rows % WARP
        rows = np.zeros((place.groups * WARP, nodes), np.int64)
        rows[: len(offsets)] = offsets
        self.nodes = program.room.put(rows.reshape(-1, WARP, nodes).transpose(0, 2, 1), np.int32)

    @property
    def groups(self) -> int:
        return self.place.groups

    @property
    def thread_blocks(self) -> int:
        """Blocks of threads with a thread to an element."""
        return self._grid()[0]

    def _grid(self, share: int = 1) -> tuple:
        """So many threads to an element."""
        blocks = -(-self.groups * share * WARP // elements.THREADS)
        return (blocks, elements.THREADS, self.program.room.stream)

    def _when(self, when: int) -> tuple:
        return (self.program.numbers, self.program.status, when)

    def _slots(self) -> tuple:
        program = self.program
        return (self.place.slot, program.slots, self.first_block, program.element_blocks, program.partials)


class TenSet(OtherSet):
    """Tets of ten nodes."""

    def __init__(self, program, place: Others, own: TenData, first_block: int):
        super().__init__(program, place, quadratic.NODES, first_block)
        room, points = program.room, self.groups * quadratic.POINTS
        self.law = SetLaw(room, type(own.law)(*(self._of_points(value) for value in own.law)))
        self.gradients = room.put(self._points(own.gradients, 30))
        self.volume = room.put(self._points(own.volume[:, :, None], 1))
        self.data = room.zeros(points * quadratic.DATA * WARP, np.float32)
        self.damping = own.damping and tuple(self._of_points(value) for value in own.damping)
        self.rotates, self.is_damped = own.rotates, bool(self.damping)
        self.damping_data = room.zeros(points * quadratic.DAMPING_DATA * WARP if self.damping else 1, np.float32)

    def _points(self, values: np.ndarray, width: int, fill: float = 0.0) -> np.ndarray:
        """Values (count, 4, c) as (groups POINTS, c, WARP)."""
        out = np.full((self.groups * WARP, quadratic.POINTS, width), fill)
        out[: len(values)] = values[self.place.order]
        out = out.reshape(self.groups, WARP, quadratic.POINTS, width)
        return np.ascontiguousarray(out.transpose(0, 2, 3, 1)).reshape(-1, width, WARP)

    def _of_points(self, value):
        """A parameter: a number, or those of the points as (groups POINTS, WARP)."""
        return self.program.room.put(self._lanes(value), flat=False) if isinstance(value, np.ndarray) else value

    def _lanes(self, value: np.ndarray) -> np.ndarray:
        """Numbers (count, 4) as (groups POINTS, WARP)."""
        return self._points(value[:, :, None], 1, 1.0)[:, 0]

    def pull_back(self, given: tuple | None) -> None:
        """Let points follow mu |F - R|^2 where they are said to be pulled: (pulled, mu [Pa]) (count, 4) each."""
        self.law.pull_back(*((given and [self._lanes(value) for value in given]) or (None, None)))

    def _geometry(self, x) -> tuple:
        return (self.groups, x, self.nodes, self.gradients, self.volume)

    def forces(self, when: int) -> None:
        """Energies and forces."""
        own = (self.law.now, *self._geometry(self.program.at), self.program.status, when)
        quadratic.evaluate[self._grid()](*own, *self._slots())

    def damp(self, when: int) -> None:
        """Adds viscous forces and their power."""
        if self.damping:
            program = self.program
            fields = (self.groups, program.frames, program.moving, self.nodes, self.gradients, self.volume)
            own = (self.damping, self.rotates, *fields, *self._when(when))
            quadratic.damp[self._grid()](*own, *self._slots())

    def blocks(self, when: int) -> None:
        """Stiffness blocks, with those of damping."""
        program, points, pairs = self.program, self._grid(quadratic.POINTS), self._grid(quadratic.PAIRS)
        quadratic.prepare[points](self.law.now, *self._geometry(program.at), *self._when(when), self.data)
        out = (self.groups, program.status, when, self.place.block)
        quadratic.pair_blocks[pairs](*out, self.data, program.stiffness)
        if self.damping:
            own = (self.damping, self.rotates, *self._geometry(program.frames), *self._when(when))
            quadratic.prepare_damping[points](*own, self.damping_data)
            quadratic.damping_blocks[pairs](*out, self.damping_data, program.stiffness)


class SpringSet(OtherSet):
    """Springs between nodes."""

    def __init__(self, program, place: Others, own: SpringData, first_block: int):
        super().__init__(program, place, 2, first_block)
        put = program.room.put
        self.stiffness, self.damping = put(place.in_groups(own.stiffness)), put(place.in_groups(own.damping))
        self.rest, self.is_damped = put(place.in_groups(own.rest, 1.0)), bool(np.any(own.damping > 0))
        self.law = SetLaw(program.room, ())

    def pull_back(self, given: None) -> None:
        """Springs are never inside out."""

    def forces(self, when: int) -> None:
        """Energies and forces."""
        program = self.program
        own = (self.groups, program.at, self.nodes, self.stiffness, self.rest, program.status, when)
        springs.evaluate[self._grid()](*own, *self._slots())

    def damp(self, when: int) -> None:
        """Adds viscous forces and their power."""
        if self.is_damped:
            program = self.program
            own = (self.groups, program.frames, program.moving, self.nodes, self.damping, *self._when(when))
            springs.damp[self._grid()](*own, *self._slots())

    def blocks(self, when: int) -> None:
        """Stiffness blocks, with those of damping."""
        program = self.program
        own = (self.groups, program.at, program.frames, self.nodes, self.stiffness, self.rest, self.damping)
        springs.pair_blocks[self._grid()](*own, *self._when(when), self.place.block, program.stiffness)


def put_others(program, more: list, first_block: int) -> list[OtherSet]:
    """Sets of other kinds on a program's GPU, from what must be known of them, in the order of its layout."""
    found = []
    for place, own in zip(program.layout.more, more):
        made = (TenSet if isinstance(own, TenData) else SpringSet)(program, place, own, first_block)
        first_block += made.thread_blocks
        found.append(made)
    return found
