"""The arrays of a simulation on a GPU."""

from dataclasses import dataclass

import numpy as np

from pliant.kernels.cuda import coarse_inverse, elements, exchange
from pliant.kernels.cuda import codes as c
from pliant.kernels.cuda.kinds import put_others
from pliant.kernels.cuda.layout import WARP, Layout, grouped, inverse_width, ungrouped
from pliant.kernels.cuda.room import Room
from pliant.kernels.cuda.set_law import SetLaw
from pliant.kernels.cuda.solving import make_solve
from pliant.kernels.cuda.toolkit import find_gpu
from pliant.kernels.cuda.views import DeviceArray, OnDevice

# Shared memory that the inverse of the coarse matrix takes beside its rows, at most [bytes].
FIXED_SHARED = 16384
# Most blocks of the sums over nodes.
NODE_BLOCKS = 528


@dataclass
class SetData:
    """What a program must know of an element set: law, a named tuple of numbers and of parameters (count,); gradients
    (count, 9) [1/m], volume (count,) [m3]; damping: (beta [s], lam, mu [Pa]) (count,) each, or None; plastic:
    (yield strain, creep [1/s], largest strain) (count,) each, or None; rotates: whether it damps and flows in rotated
    frames."""

    tets: np.ndarray
    law: tuple
    gradients: np.ndarray
    volume: np.ndarray
    damping: tuple | None
    plastic: tuple | None
    rotates: bool


@dataclass
class NodeData:
    """Of nodes: mass [kg], drag [1/s], stiffness [N/m], damping [N s/m] (n,); free (n, 3); loads: (nodes, weights) of
    each vector [N]; pin (n, 3): 0, k for the velocity k - 1 of the vectors, -k for the displacement from pin_start."""

    mass: np.ndarray
    drag: np.ndarray
    stiffness: np.ndarray
    damping: np.ndarray
    free: np.ndarray
    loads: list
    pin: np.ndarray
    pin_start: np.ndarray
    vectors: int


def in_lanes(value: np.ndarray, order: np.ndarray, groups: int) -> np.ndarray:
    """Numbers (count,) of a set's elements as (groups, WARP), ones where there is no element."""
    out = np.ones(groups * WARP)
    out[: len(order)] = value[order]
    return out.reshape(groups, WARP)


class Arrays:
    """All that a GPU keeps of a simulation. Where a step starts: x, v, previous (velocity before it), warm (last change
    by elements); where it ends: xt, u, and target, the velocity without elements."""

    def __init__(self, layout: Layout, sets: list[SetData], data: NodeData, more: list = ()):
        """sets: of tets of four nodes; more: of other kinds (`kinds`), in the order of the layout."""
        self.layout, self.room, self.shape, self.views = layout, Room(), layout.shape, None
        self._put_elements(sets, more)
        self._put_nodes(data)
        self._put_matrix()
        self._put_numbers(data.vectors)

    def _put_elements(self, sets: list[SetData], more: list) -> None:
        layout, room = self.layout, self.room
        self.tets = room.put(layout.nodes_in_groups())
        self.gradients = room.put(layout.in_groups([own.gradients for own in sets]))
        self.volume = room.put(layout.in_groups([own.volume for own in sets]))
        self.laws = []
        for (_, groups, order), own in zip(layout.sets, sets):
            parts = [self._law_part(value, order, groups) for value in own.law]
            self.laws.append(SetLaw(room, type(own.law)(*parts)))
        self.damping = [self._material(own.damping, own, place) for own, place in zip(sets, layout.sets)]
        self.flowing = [self._material(own.plastic, own, place) for own, place in zip(sets, layout.sets)]
        self.rest_gradients = self.gradients
        if any(self.flowing):
            self.rest_gradients = room.put(layout.in_groups([own.gradients for own in sets]))
            self.plastic, self.plastic_before = (room.zeros(layout.groups * 6 * WARP, np.float64) for _ in range(2))
        self.slots = room.zeros(layout.slots, np.float64)
        self.stiffness = room.zeros(layout.blocks, np.float32)
        blocks = [-(-groups * WARP // elements.THREADS) for _, groups, _ in layout.sets]
        self.first_block = np.cumsum([0, *blocks])
        self.others = put_others(self, more, int(self.first_block[-1]))
        self.element_blocks = sum(blocks) + sum(own.thread_blocks for own in self.others)
        self.partials = room.zeros(3 * self.element_blocks, np.float64)

    def _material(self, values: tuple | None, own: SetData, place: tuple):
        """Numbers (count,) of a set's elements as (groups, WARP), whether its frames rotate; None if there are none."""
        _, groups, order = place
        return values and (tuple(self._law_part(value, order, groups) for value in values), own.rotates)

    def _law_part(self, value, order: np.ndarray, groups: int):
        """A parameter of a law: a number, or those of the elements as (groups, WARP)."""
        return self.room.put(in_lanes(value, order, groups), flat=False) if isinstance(value, np.ndarray) else value

    def _put_nodes(self, data: NodeData) -> None:
        layout, room = self.layout, self.room
        self.mass, self.drag = room.put(layout.of_rows(data.mass)), room.put(layout.of_rows(data.drag))
        self.stiff, self.damped = room.put(layout.of_rows(data.stiffness)), room.put(layout.of_rows(data.damping))
        record = np.zeros((layout.rows, c.RECORD), np.float32)
        record[layout.place, c.FREE : c.FREE + 3] = data.free
        self.record = room.put(grouped(record))
        self.pin = room.put(layout.vector(data.pin), np.int32)
        self.pin_start = room.put(layout.vector(data.pin_start))
        self._put_loads(data.loads)
        names = ("x", "v", "previous", "warm", "target", "u", "xt", "base", "force")
        for name in names:
            setattr(self, name, room.zeros(layout.rows * 3, np.float64))
        # where elements are evaluated: positions, velocities, and the positions in whose frames they damp
        self.at, self.moving = self.xt, self.u
        self.frames = room.zeros(layout.rows * 3, np.float64) if self.damped_elements else self.x
        self.gather_start = room.put(layout.gather_start, np.int32)
        self.gather_code = room.put(layout.gather_code)
        self.node_blocks = min(-(-layout.rows // 256), NODE_BLOCKS)
        self.sums = room.zeros(c.NODE_SUMS * self.node_blocks, np.float64)

    def _put_loads(self, loads: list) -> None:
        """Loads by row, in their order."""
        rows = [self.layout.place[own] for own, _ in loads] or [np.zeros(0, np.int64)]
        weight = np.concatenate([weights for _, weights in loads] or [np.zeros(0)])
        which = np.repeat(np.arange(len(loads)), [len(own) for own, _ in loads])
        row = np.concatenate(rows)
        order = np.argsort(row, kind="stable")
        start = np.searchsorted(row[order], np.arange(self.layout.rows + 1))
        pad = 0 if len(row) else 1  # kernels take no empty arrays
        index = np.r_[which[order], np.zeros(pad)]
        weights = np.r_[weight[order], np.zeros(pad)]
        self.loads = (self.room.put(start, np.int32), self.room.put(index, np.int32), self.room.put(weights))

    def _put_matrix(self) -> None:
        layout, room, shape = self.layout, self.room, self.shape
        self.slices, self.column = room.put(layout.start, np.int32), room.put(layout.column)
        self.list_start, self.list_code = room.put(layout.list_start, np.int32), room.put(layout.list_code)
        self.edge_place = room.put(layout.edge_place)
        self.values = room.zeros((layout.pairs + 1) * 18 * WARP, np.float32)
        n, width = 6 * shape.aggregates, inverse_width(shape.blocks, shape.threads, shape.m)
        self.task = {name: room.put(own, np.int32) for name, own in layout.coarse_tasks().items()}
        self.part = room.zeros(len(self.task["begin"]) * 36, np.float64)
        self.coarse = room.zeros(n * n, np.float64)
        self.panel, self.scale = room.zeros(2 * coarse_inverse.PANEL * n, np.float64), room.zeros(n, np.float64)
        self.inverse, self.wc = room.zeros(n * width, np.float32), room.zeros(n, np.float32)
        self.gathered, self.product = (room.zeros(layout.rows * 4, np.float32) for _ in range(2))
        self.dots, self.tail = (
            room.zeros(2 * shape.blocks, np.float32),
            room.zeros(c.TAIL_SUMS * shape.blocks, np.float64),
        )
        self.flags, self.epochs = room.zeros(shape.blocks, np.int64), room.zeros(1, np.int64)
        size = coarse_inverse.inverse_bytes(shape.blocks, shape.m)
        self.inverse_shared = size if size + FIXED_SHARED <= find_gpu().shared else 0
        self.invert = coarse_inverse.make_invert(shape.blocks, shape.m, width, self.inverse_shared > 0)
        room.prepare(self.invert, self.inversion, self.inverse_shared)
        self.solve_kernel = make_solve(shape.blocks, shape.threads, shape.m, shape.T, layout.size)

    @property
    def inversion(self) -> tuple:
        """What the inverse of the coarse matrix is made of."""
        return (self.coarse, self.panel, self.scale, self.inverse, self.flags, self.epochs)

    def _put_numbers(self, vectors: int) -> None:
        room, first = self.room, max(3 * vectors, 3)
        # one array, so that what the host says, and what it is told, is a copy each: vectors, numbers, status
        every = room.zeros(first + c.NUMBERS + 1, np.float64)
        self.vectors, self.numbers = every[:first], every[first : first + c.NUMBERS]
        self.status, self.arrived = every[first + c.NUMBERS :].view(np.int32), room.zeros(1, np.int32)
        self.said, self.told = every[: first + c.PARAMETERS], every[first:]
        self.totals = room.zeros(c.NODE_SUMS, np.float64)
        self.host_said, self.host_told = room.pinned(first + c.PARAMETERS), room.pinned(c.NUMBERS + 1)
        self.host_vectors, self.host_parameters = self.host_said[:first], self.host_said[first:]
        self.host_numbers, self.host_status = self.host_told[: c.NUMBERS], self.host_told[c.NUMBERS :].view(np.int32)

    def download_level(self) -> tuple[np.ndarray, np.ndarray]:
        """The inverse of the coarse matrix, flat, and the arms (rows, 3) [m] with which it was made, float32."""
        record = ungrouped(self.room.download(self.record), c.RECORD)
        return self.room.download(self.inverse), np.ascontiguousarray(record[:, c.ARM : c.ARM + 3])

    def upload_level(self, inverse: np.ndarray, arms: np.ndarray) -> bool:
        """Takes up such a coarse level; whether it fits."""
        if inverse.shape != self.inverse.shape or arms.shape != (self.layout.rows, 3):
            return False
        record = ungrouped(self.room.download(self.record), c.RECORD).copy()
        record[:, c.ARM : c.ARM + 3] = arms
        for target, values in ((self.inverse, inverse), (self.record, grouped(record))):
            self.room.write(target, np.ascontiguousarray(values, dtype=np.float32))
            self.room.wait()
        return True

    def view(self, positions: str, velocities: str) -> OnDevice:
        """The arrays of two names by node, for other libraries."""
        if self.views is None:
            place = self.room.put(self.layout.place, np.int32)
            self.views = (place, *(self.room.zeros(3 * self.layout.nodes, np.float64) for _ in range(2)))
        place, *targets = self.views
        grid = (-(-self.layout.nodes // exchange.THREADS), exchange.THREADS, self.room.stream)
        for name, target in zip((positions, velocities), targets):
            exchange.collect[grid](place, getattr(self, name), target)
        self.room.wait()
        size, number = (self.layout.nodes, 3), self.room.device_id
        return OnDevice(*(DeviceArray(self.room.address(target), size, target, number) for target in targets))

    @property
    def damped_elements(self) -> bool:
        """Whether any element is damped."""
        return any(self.damping) or any(own.is_damped for own in self.others)

    @property
    def bytes_per_element(self) -> float:
        """Memory of the GPU for each element."""
        return self.room.bytes / self.layout.elements

    def upload(self, **values: np.ndarray) -> None:
        """Values (n, 3) of nodes into the arrays of these names."""
        for name, own in values.items():
            self.room.write(getattr(self, name), self.layout.vector(np.ascontiguousarray(own, dtype=float)))
            self.room.wait()

    def upload_plastic(self, strain: list[np.ndarray], gradients: list[np.ndarray]) -> None:
        """Plastic strains (count, 6) of the sets' elements, and the gradients (count, 9) seen from there."""
        for target, values in ((self.plastic, strain), (self.gradients, gradients)):
            self.room.write(target, self.layout.in_groups(values))
            self.room.wait()

    def download_plastic(self, name: str) -> list[np.ndarray]:
        """Plastic strains (count, 6) of the sets' elements, from "plastic" or "plastic_before"."""
        flat = ungrouped(self.room.download(getattr(self, name)), 6)
        found = []
        for first, _, order in self.layout.sets:
            own = np.empty((len(order), 6))
            own[order] = flat[first * WARP : first * WARP + len(order)]
            found.append(own)
        return found

    def download(self, name: str) -> np.ndarray:
        """The array of a name as (n, 3) by node."""
        return self.layout.of_nodes(self.room.download(getattr(self, name)))
