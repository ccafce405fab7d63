"""Box problems in impulses on a GPU: their arrays, and the launches that solve them."""

from functools import partial
from time import perf_counter

import numpy as np

from pliant.kernels.cuda import mprgp_decisions as d
from pliant.kernels.cuda.box_rows import Vectors
from pliant.kernels.cuda.impulses import SHARE, System
from pliant.kernels.cuda.mprgp import MOST_BLOCKS, THREADS, WIDTH, solve
from pliant.kernels.lanes import LANES
from pliant.kernels.operators import Friction, SystemOperator

# What of an operator says which triples it holds, and what else of it is uploaded as it is.
STRUCTURE = ("nodes", "start", "triples", "adjacency", "row_adjacency_start", "row_adjacency")
ELEMENT_FIELDS = ("gradients", "rotation", "compliance", "basis", "ones", "inverse_mass", "scale")


class ImpulseProgram:
    """Box problems in impulses on a GPU: uploads what the host poses, solves, and gives impulses back; seconds: spent
    with that."""

    def __init__(self, dtype, room, blocks: int):
        """room: of its arrays; blocks: how many blocks of threads run at once."""
        self.dtype, self.room, self.blocks = np.dtype(dtype), room, min(blocks, MOST_BLOCKS)
        self.part = self.room.zeros(2 * WIDTH * self.blocks, np.float64)
        self.numbers, self.host = self.room.zeros(d.NUMBERS, np.float64), self.room.pinned(d.NUMBERS)
        self.flags = self.room.zeros(MOST_BLOCKS + 1, np.int64)
        self.posed, self.system, self.sent = None, None, {}
        self.graphs, self.seen, self.seconds = {}, None, 0.0
        self.given = self.contacts = None

    def solve(
        self, operator: SystemOperator, b, low, high, friction: Friction, x, g, tolerance, most, direction, powers
    ):
        """MPRGP as `kernels.cpu.linalg.mprgp.solve_mprgp`: x, the gradient g and the bounds are written in place;
        products, relative residual, refreshes, and the square of what is left."""
        clock = perf_counter()
        if operator is not self.posed:
            self._pose(operator, b, friction, direction)
        vectors, rough = self.vectors, len(friction.coefficient) > 0
        for name, own in (("x", x), ("low", low), ("high", high)):
            self.room.write(getattr(vectors, name), own)
        bounded = rough or bool(np.any(low > -np.inf) or np.any(high < np.inf))
        self.host[:] = 0.0
        self.host[: d.PARAMETERS] = tolerance, most, powers, bounded, rough, friction.cone
        self.host[d.ACTION], self.host[d.ALPHA] = d.BEGIN, 1.0
        self.room.write(self.numbers, self.host)
        threads = max(int(self.sizes[1]), SHARE * int(self.sizes[2]))
        blocks = min(max(-(-threads // THREADS), 1), self.blocks)
        self._launch(blocks)
        self.room.read(self.numbers, self.host)
        for name, own in (("x", x), ("g", g), *((("low", low), ("high", high)) if rough else ())):
            self.room.read(getattr(vectors, name), own)
        self.room.wait()
        self.seconds += perf_counter() - clock
        products, residual, refreshes, fallen = self.host[[d.PRODUCTS, d.RESIDUAL, d.REFRESHES, d.FALLEN]]
        return int(products), float(residual), int(refreshes), float(fallen)

    def _launch(self, blocks: int) -> None:
        """Queues the solve; as a graph, which costs the host far less, once that has been done with these arrays."""
        key = (blocks, self.room.moved)
        work = partial(
            solve[blocks, THREADS, self.room.stream], self.system, self.vectors, self.part, self.flags, self.numbers
        )
        if key in self.graphs:
            self.room.launch(self.graphs[key])
        elif key == self.seen:
            self.graphs = {key: self.room.capture(work)}
            self.room.launch(self.graphs[key])
        else:
            self.seen = key
            work()

    def _pose(self, operator: SystemOperator, b, friction: Friction, direction) -> None:
        """Uploads an operator and what belongs to it."""
        self.posed, real, n = operator, self.dtype, len(b)
        slices, elements = len(operator.compliance_rows), len(operator.nodes) * LANES
        if not self._same_structure(operator):
            self._take_structure(operator, elements)
        scale = operator.scale[6 * elements :].reshape(slices, 3, LANES)
        seen = operator.jacobian.reshape(-1, 3, 3, LANES) * scale[self.owner][:, :, None]
        reals = {name: getattr(operator, name) for name in ELEMENT_FIELDS}
        reals |= {"jacobian": seen, "compliance_rows": operator.compliance_rows * scale**2}
        fields = {name: self._send(name, own, np.int32) for name, own in self.structure.items()}
        fields |= {name: self._send(name, own, real) for name, own in reals.items()}
        sizes = {"velocity": 3 * len(operator.inverse_mass), "slots": elements * 12 + 1}
        fields |= {name: self.room.reserve(name, size, real) for name, size in sizes.items()}
        self.system = System(**fields)
        if len(friction.coefficient) or self.contacts is None or len(self.contacts["friction"]) != slices * 3 * LANES:
            self.contacts = _by_row(friction, 6 * elements, slices)
        given = {"b": b, "direction": direction, **self.contacts}
        vectors = {name: self._send(f"v {name}", own, real) for name, own in given.items()}
        for name in ("x", "low", "high", "g", "p", "phi", "product"):
            vectors[name] = self.room.reserve(f"v {name}", n, real)
        self.vectors = Vectors(**vectors)
        if len(friction.coefficient):
            self.contacts = None  # the next problem has others

    def _same_structure(self, operator: SystemOperator) -> bool:
        """Whether an operator's elements and rows hold the same triples as those of the last one."""
        given = tuple(getattr(operator, name) for name in STRUCTURE)
        same = self.given is not None and all(map(np.array_equal, self.given, given))
        self.given = self.given if same else given
        return same

    def _take_structure(self, operator: SystemOperator, elements: int) -> None:
        """Places of an operator's Jacobians and impulses."""
        slices = len(operator.compliance_rows)
        self.owner = np.repeat(np.arange(slices), np.diff(operator.start))
        self.sizes = np.array([elements, elements + slices * 3 * LANES, len(operator.inverse_mass)], np.int32)
        code = operator.row_adjacency - elements * 12
        entry, lane = code // (3 * LANES), code % LANES
        self.structure = {
            "nodes": operator.nodes,
            "start": operator.start,
            "of_rows": operator.triples,
            "adjacency_start": operator.adjacency_start,
            "adjacency": operator.adjacency,
            "row_adjacency_start": operator.row_adjacency_start,
            "row_adjacency": entry * 9 * LANES + lane,
            "row_place": 6 * elements + self.owner[entry] * 3 * LANES + lane,
            "sizes": self.sizes,
        }

    def _send(self, name: str, array: np.ndarray, dtype):
        """An array on the GPU; the one that was sent last under this name lies there already."""
        if self.sent.get(name, (None,))[0] is not array:
            self.sent[name] = (array, self.room.lend(name, _filled(array), dtype))
        return self.sent[name][1]


def _filled(array: np.ndarray) -> np.ndarray:
    """The array, with a number in it: kernels take no empty ones."""
    return array if array.size else np.zeros(1, array.dtype)


def _by_row(friction: Friction, first: int, slices: int) -> dict[str, np.ndarray]:
    """Coefficients and diagonals of contacts, and radii to begin with, by row; tangents have coefficients of -1."""
    coefficient, diagonal = np.zeros(slices * 3 * LANES), np.ones(slices * 3 * LANES)
    coefficient[friction.normal - first], diagonal[friction.normal - first] = friction.coefficient, friction.diagonal
    for tangent in (friction.first, friction.second):
        coefficient[tangent - first] = -1.0
    return {"friction": coefficient, "diagonal": diagonal, "radius": np.zeros_like(coefficient)}
