"""Box problems in impulses on a GPU: their arrays, and the launches that solve them."""

from functools import partial
from time import perf_counter

import numpy as np

from pliant.kernels.cuda import mprgp_decisions as d
from pliant.kernels.cuda.box_rows import Contacts, Vectors
from pliant.kernels.cuda.impulse_hand import System
from pliant.kernels.cuda.impulse_places import arrange, element_order
from pliant.kernels.cuda.impulse_sums import MOST_BLOCKS, THREADS, WIDTH
from pliant.kernels.cuda.mprgp import solve
from pliant.kernels.lanes import LANES
from pliant.kernels.operators import Friction, SystemOperator

# What of an operator says which triples it holds, what else of it is uploaded once and in every step, and what of
# `Places`.
STRUCTURE = ("nodes", "start", "triples", "adjacency", "row_adjacency")
CONSTANT = ("gradients", "basis", "ones")
CHANGING = ("rotation", "compliance", "jacobian", "compliance_rows", "inverse_mass", "scale")
LISTS = ("order", "spots", "first", "common", "triple", "push_start", "pushes", "mate_start", "mates")
# Shared memory [bytes] of a block of threads that kernels take beside what is lent to it.
FIXED = 2048


class ImpulseProgram:
    """Box problems in impulses on a GPU: uploads what the host poses, solves, and gives impulses back; seconds: spent
    with that."""

    def __init__(self, dtype, room, blocks: int, shared: int):
        """room: of its arrays; blocks: how many blocks of threads run at once; shared: memory of one [bytes]."""
        self.dtype, self.room, self.most = np.dtype(dtype), room, min(blocks, MOST_BLOCKS)
        self.part = self.room.zeros(2 * WIDTH * self.most, np.float64)
        self.numbers, self.host = self.room.zeros(d.NUMBERS, np.float64), self.room.pinned(d.NUMBERS)
        self.flags, self.shared = self.room.zeros(MOST_BLOCKS + 1, np.int64), shared - FIXED
        self.posed, self.system, self.sent = None, None, {}
        self.graphs, self.seen, self.seconds = {}, None, 0.0
        self.given = self.contacts = self.ordered = None

    def solve(
        self, operator: SystemOperator, b, low, high, friction: Friction, x, g, tolerance, most, direction, powers
    ):
        """MPRGP as `kernels.cpu.linalg.mprgp.solve_mprgp`: x, the gradient g and the bounds are written in place;
        products, relative residual, refreshes, and the square of what is left."""
        clock = perf_counter()
        if operator is not self.posed:
            self._pose(operator, b, friction)
        rough = len(friction.coefficient) > 0
        bounded = rough or bool(np.any(low > -np.inf) or np.any(high < np.inf))
        given = {"x": x} | ({"low": low, "high": high, "direction": direction} if bounded else {})
        for name, own in given.items():
            self.room.stage(f"v {name}", own, self.dtype)
        self.host[:] = 0.0
        self.host[: d.PARAMETERS] = tolerance, most, powers, bounded, rough, friction.cone
        self.host[d.ACTION], self.host[d.ALPHA] = d.BEGIN, 1.0
        self.room.write(self.numbers, self.host)
        self._launch()
        self.room.read(self.numbers, self.host)
        self._read({"x": x, "g": g} | ({"low": low, "high": high} if rough else {}))
        self.seconds += perf_counter() - clock
        products, residual, refreshes, fallen = self.host[[d.PRODUCTS, d.RESIDUAL, d.REFRESHES, d.FALLEN]]
        return int(products), float(residual), int(refreshes), float(fallen)

    def _read(self, targets: dict[str, np.ndarray]) -> None:
        """Vectors of the names into arrays, once all work is done."""
        found = {name: self.room.unstage(f"v {name}", len(own), self.dtype) for name, own in targets.items()}
        self.room.wait()
        for name, own in targets.items():
            own[:] = found[name]

    def _launch(self) -> None:
        """Queues the solve; as a graph, which costs the host far less, once that has been done with these arrays."""
        key, given = (*self.grid, self.room.moved), (self.system, self.vectors, self.on_rows)
        arguments = (*given, self.part, self.flags, self.numbers)
        work = partial(solve[self.grid[0], THREADS, self.room.stream, self.grid[1]], *arguments)
        if key in self.graphs:
            self.room.launch(self.graphs[key])
        elif key == self.seen:
            self.graphs = {key: self.room.capture(work)}
            self.room.launch(self.graphs[key])
        else:
            self.seen = key
            self.room.prepare(solve, arguments, self.shared)
            work()

    def _pose(self, operator: SystemOperator, b, friction: Friction) -> None:
        """Uploads an operator and what belongs to it."""
        self.posed, n = operator, len(b)
        slices, elements = len(operator.compliance_rows), len(operator.nodes) * LANES
        if not self._same_structure(operator):
            self._take_structure(operator)
        fields = {name: self._send(name, own, np.int32) for name, own in self.structure.items()}
        fields |= {name: self._send(name, getattr(operator, name), self.dtype) for name in CONSTANT}
        packed = self.room.pack("operator", {name: getattr(operator, name) for name in CHANGING} | {"b": b}, self.dtype)
        fields |= {name: packed[name] for name in CHANGING}
        fields |= {name: self.room.reserve(name, size, dtype) for name, (size, dtype) in self.scratch.items()}
        self.system = System(**fields)
        if len(friction.coefficient) or self.contacts is None or len(self.contacts["friction"]) != slices * 3 * LANES:
            self.contacts = _by_row(friction, 6 * elements, slices)
        of_rows = {name: self._send(name, own, np.float64) for name, own in self.contacts.items()}
        self.on_rows = Contacts(scale=self.system.scale, **of_rows)
        names = ("x", "low", "high", "g", "direction")
        vectors = {name: self.room.reserve(f"v {name}", n, self.dtype) for name in names} | {"b": packed["b"]}
        self.vectors = Vectors(**vectors, p=vectors["g"], phi=vectors["g"], product=vectors["g"])  # these stay at hand
        if len(friction.coefficient):
            self.contacts = None  # the next problem has others

    def _same_structure(self, operator: SystemOperator) -> bool:
        """Whether an operator's elements and rows hold the same triples as those of the last one."""
        given = tuple(getattr(operator, name) for name in STRUCTURE)
        same = self.given is not None and all(a is b or np.array_equal(a, b) for a, b in zip(self.given, given))
        self.given = self.given if same else given
        return same

    def _take_structure(self, operator: SystemOperator) -> None:
        """Who owns what of an operator."""
        if self.ordered is None or self.ordered[0] is not operator.nodes:
            self.ordered = operator.nodes, element_order(operator.nodes)
        places = arrange(operator, self.ordered[1], self.most)
        own, blocks = places.sizes, places.blocks
        fits = own.bytes <= self.shared
        self.grid = (blocks, own.bytes if fits else 0)
        sizes = np.array([*own, fits, own.floats, own.integers])
        self.structure = {name: getattr(places, name) for name in LISTS} | {"start": operator.start, "sizes": sizes}
        self.scratch = {
            "exchange": (6 * own.places, np.float64),
            "floats": (1 if fits else blocks * own.floats, np.float64),
            "integers": (1 if fits else blocks * own.integers, np.int32),
        }

    def _send(self, name: str, array: np.ndarray, dtype):
        """An array on the GPU; the one that was sent last under this name lies there already."""
        if self.sent.get(name, (None,))[0] is not array:
            self.sent[name] = (array, self.room.stage(name, _filled(array), dtype))
        return self.sent[name][1]


def _filled(array: np.ndarray) -> np.ndarray:
    """The array, with a number in it: kernels take no empty ones."""
    return array if array.size else np.zeros(1, array.dtype)


def _by_row(friction: Friction, first: int, slices: int) -> dict[str, np.ndarray]:
    """Coefficients and diagonals of contacts, and radii to begin with, by row."""
    coefficient, diagonal = np.zeros(slices * 3 * LANES), np.ones(slices * 3 * LANES)
    coefficient[friction.normal - first], diagonal[friction.normal - first] = friction.coefficient, friction.diagonal
    return {"friction": coefficient, "diagonal": diagonal, "radius": np.zeros_like(coefficient)}
