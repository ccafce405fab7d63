"""The part of a GPU in steps that the host drives: elements, the matrix, and linear systems with rows of contacts and
joints (`solve.resident.driven`)."""

from functools import partial

import numpy as np

from pliant.kernels.cuda import codes as c
from pliant.kernels.cuda import exchange, passes, wide
from pliant.kernels.cuda.arrays import NodeData, SetData
from pliant.kernels.cuda.launches import Launches
from pliant.kernels.cuda.layout import WARP, Layout, inverse_width
from pliant.kernels.cuda.row_arrays import RowArrays, WideData

# All statuses: here every kernel runs when it is launched.
ALWAYS = (1 << c.STATUSES) - 1
THREADS = exchange.THREADS
# Graphs without the arrays of rows, which move when they grow.
WITHOUT_ROWS = ("evaluate", "assemble", "release", "coarsen", "invert", "local", "stretch")


class Driven(Launches):
    """The arrays of a simulation, what is asked of them, and the graphs that answer."""

    rows_type = WideData

    def __init__(self, layout: Layout, sets: list[SetData], data: NodeData, more: list = ()):
        super().__init__(layout, sets, data, more)
        room, n = self.room, layout.nodes
        self.nodes = n
        self.place = room.put(layout.place, np.int32)
        self.raw, self.raw_velocity, self.raw_force = (room.zeros(3 * n, np.float64) for _ in range(3))
        self.host_raw, self.host_velocity, self.host_force = (room.pinned(3 * n) for _ in range(3))
        self.host_step, self.host_partials = room.pinned(c.NUMBERS), room.pinned(self.partials.size)
        size = (1, layout.rows * 4)
        self.right, self.z, self.p, self.w, self.answer = (
            room.put(np.zeros(size, np.float32), flat=False) for _ in range(5)
        )
        n = 6 * self.shape.aggregates
        self.restricted, self.moves = (room.put(np.zeros((1, n), np.float32), flat=False) for _ in range(2))
        self.product_blocks = -(-(len(layout.start) - 1) * WARP // THREADS)
        self.row_blocks = -(-layout.rows // THREADS)
        self.dot_parts = room.zeros(max(self.product_blocks, self.row_blocks), np.float64)
        self.host_part = room.pinned(self.dot_parts.size)
        self.ended, self.scalars = room.zeros(passes.FLAGS, np.int32), room.zeros(passes.SCALARS, np.float64)
        self.host_flags, self.host_none = (room.pinned(passes.FLAGS).view(np.int32)[: passes.FLAGS] for _ in range(2))
        self.host_scalars, self.host_begin = room.pinned(passes.SCALARS), room.pinned(passes.SCALARS)
        self.lists = RowArrays(room, layout.rows, 6 * self.shape.aggregates)
        self.graphs, self.known = {}, set()
        self._compile()

    # ---- what the host asks

    def begin(self, x: np.ndarray, h: float) -> None:
        """A step of h [s] from positions x (n, 3) begins."""
        self.host_step[c.STEP] = h
        self.room.write(self.numbers, self.host_step)
        self._upload(x, self.x)

    def take_frames(self, x: np.ndarray) -> None:
        """Let damping act in the frames that elements have at positions x (n, 3)."""
        self._upload(x, self.frames)

    def evaluate(self, x: np.ndarray, v: np.ndarray) -> tuple[float, float, int, np.ndarray]:
        """Energy [J], half of the viscous power [W], the number of inverted elements, and forces (n, 3) [N] with the
        sign of a gradient, at positions x and velocities v (n, 3)."""
        self.host_raw[:], self.host_velocity[:] = x.ravel(), v.ravel()
        self._run(("evaluate", *self.pulling), self._evaluate)
        energy, inverted, work = self.host_partials.reshape(3, -1).sum(axis=1)
        return float(energy), float(work) / self.host_step[c.STEP], int(inverted), self._force()

    def assemble(self, project: bool) -> None:
        """The matrix of elements and masses at the positions last evaluated; project: without the directions in which
        elements have negative stiffness."""
        self.host_step[c.PROJECT] = project
        self._run(("assemble", *self.pulling), self._assemble)

    def hold(self, rows: np.ndarray, extra: np.ndarray) -> None:
        """Adds extra (k, 12) to the diagonal blocks of rows (k,), see `wide.hold`; before `take_rows`."""
        if len(rows):
            held, numbers = self.room.lend("held", rows, np.int32), self.room.lend("extra", extra, np.float32)
            wide.hold[-(-len(rows) // THREADS), THREADS, self.room.stream](len(rows), held, numbers, self.record)

    def release(self) -> None:
        """Takes back what `hold` has added."""
        self._run(("release",), partial(self.diagonals, ALWAYS))

    def take_rows(self, data: WideData) -> None:
        """Row blocks of the next linear systems."""
        if self.lists.take(data):
            self.graphs = {name: graph for name, graph in self.graphs.items() if name[0] in WITHOUT_ROWS}

    def coarse_matrix(self, rows: np.ndarray) -> np.ndarray:
        """Makes the coarse matrix of elements, masses and what is held; arms (k, 3) [m] of some rows (k,)."""
        self._run(("coarsen",), self.coarsen)
        if not len(rows):
            return np.zeros((0, 3))
        held, found = self.room.lend("held", rows, np.int32), self.room.lend("arms", np.zeros(3 * len(rows)), float)
        grid = (-(-len(rows) // THREADS), THREADS, self.room.stream)
        exchange.collect_arms[grid](len(rows), held, self.record, found)
        return self.room.download(found)[: 3 * len(rows)].reshape(-1, 3)

    def invert_with(self, aggregates: np.ndarray, dense: np.ndarray) -> None:
        """The inverse of the coarse matrix with dense (6 k, 6 k) of some aggregates (k,) added."""
        if len(aggregates):
            which, numbers = self.room.lend("held", aggregates, np.int32), self.room.lend("dense", dense, np.float64)
            grid = (-(-dense.size // THREADS), THREADS, self.room.stream)
            wide.add_coarse[grid](len(aggregates), which, self.shape.aggregates, numbers, self.coarse)
        self._run(("invert",), self.invert_coarse)

    def stiff_products(self) -> np.ndarray:
        """J Y (s, s) of the stiff rows, with answers Y of the preconditioner without them, which are kept."""
        lists, stream = self.lists, self.room.stream
        if not lists.stiff:
            return np.zeros((0, 0))
        self.room.write(self.ended, self.host_none)
        rights, answers = (each.reshape(-1, self.layout.rows * 4) for each in (lists.rights, lists.answers))
        sums, moves = (each.reshape(-1, 6 * self.shape.aggregates) for each in (lists.sums, lists.moves))
        entries = (lists.entry_start, lists.entry_row, lists.entry_jacobian, self.layout.rows)
        wide.columns[(self.row_blocks, lists.stiff), THREADS, stream](*entries, rights)
        self._base(lists.stiff, rights, sums, moves, answers)
        met = lists.met.reshape(-1, lists.size[3])
        grid = (-(-lists.stiff // 3 * WARP // THREADS), lists.stiff)
        rows = (lists.start, lists.node, lists.jacobian)
        wide.rates[grid, THREADS, stream](self.ended, lists.counts, wide.STIFF, *rows, answers, met)
        return self.room.download(lists.met).reshape(-1, lists.size[3])[: lists.stiff, : lists.stiff].astype(float).T

    def take_woodbury(self, matrix: np.ndarray) -> None:
        """S (s, s) of the stiff rows."""
        self.lists.take_woodbury(matrix)

    def solve(self, b: np.ndarray, tolerance: float) -> tuple[np.ndarray, int, bool]:
        """The solution (n, 3) for a right-hand side (n, 3) of about unit size; passes, and whether the matrix was found
        not to be positive."""
        kind = (self.lists.blocks > 0, self.lists.numbers > 0, self.lists.stiff > 0)
        self.host_raw[:], self.host_begin[passes.LIMIT] = b.ravel(), tolerance * tolerance
        self._run(("solve", *kind), partial(self._solve, *kind))
        while not self._flag(passes.OVER):
            self._run(("further", *kind), partial(self._further, *kind))
        found = self.host_force.reshape(-1, 3).copy()
        return found, int(self.host_scalars[passes.PASSES]) - 1, self._flag(passes.INDEFINITE)

    def local_square(self, g: np.ndarray) -> float:
        """g^T D^-1 g for numbers (n, 3) of nodes, with the diagonal blocks D."""
        self.host_raw[:] = g.ravel()
        self._run(("local",), self._local)
        return float(self.host_part[: self._over_nodes()].sum())

    def stretch(self, u: np.ndarray) -> float:
        """u^T K u of the free components of velocities (n, 3), with the elements' part K of the matrix."""
        self.host_raw[:] = u.ravel()
        self._run(("stretch",), self._stretch)
        return float(self.host_part[: self.product_blocks].sum())

    def multiply(self, u: np.ndarray) -> np.ndarray:
        """A u (n, 3) of free components with elements, masses and what is held, but not the row blocks."""
        self.host_raw[:] = u.ravel()
        self._run(("multiply",), self._multiply)
        return self._force()

    # ---- graphs

    def _run(self, name: tuple, work) -> None:
        """Launches what a function queues, as a graph once that is made, and waits for it; name: what it is, and of
        what kind."""
        if name not in self.known:  # it may have to be compiled
            self.known.add(name)
            work()
        else:
            if name not in self.graphs:
                self.graphs[name] = self.room.capture(work)
            self.room.launch(self.graphs[name])
        self.room.wait()

    def _force(self) -> np.ndarray:
        return self.host_force.reshape(-1, 3).copy()

    def _flag(self, which: int) -> bool:
        return bool(self.host_flags[which])

    def _over_nodes(self) -> int:
        return -(-self.nodes // THREADS)

    def _node_grid(self) -> tuple:
        return (self._over_nodes(), THREADS, self.room.stream)

    def _upload(self, values: np.ndarray, target) -> None:
        """Numbers (n, 3) of nodes into rows."""
        self.host_raw[:] = values.ravel()
        self.room.write(self.raw, self.host_raw)
        exchange.spread[self._node_grid()](self.place, self.raw, target)
        self.room.wait()

    def _evaluate(self) -> None:
        self.room.write(self.raw, self.host_raw)
        exchange.spread[self._node_grid()](self.place, self.raw, self.xt)
        if self.damped_elements:
            self.room.write(self.raw_velocity, self.host_velocity)
            exchange.spread[self._node_grid()](self.place, self.raw_velocity, self.u)
        self.forces(ALWAYS)
        self.gather_forces(ALWAYS)
        exchange.collect[self._node_grid()](self.place, self.force, self.raw_force)
        self.room.read(self.raw_force, self.host_force)
        self.room.read(self.partials, self.host_partials)

    def _assemble(self) -> None:
        self.room.write(self.numbers, self.host_step)
        self.blocks(ALWAYS)
        self.edges(ALWAYS)
        self.diagonals(ALWAYS)

    def _local(self) -> None:
        self.room.write(self.raw, self.host_raw)
        exchange.local_squares[self._node_grid()](self.place, self.raw, self.record, self.dot_parts)
        self.room.read(self.dot_parts, self.host_part)

    def _take_quads(self, target) -> None:
        self.room.write(self.raw, self.host_raw)
        exchange.spread_quads[self._node_grid()](self.place, self.raw, self.record, target.reshape(-1))

    def _give_quads(self, source) -> None:
        exchange.collect_quads[self._node_grid()](self.place, source.reshape(-1), self.raw_force)
        self.room.read(self.raw_force, self.host_force)

    def _stretch(self) -> None:
        self._take_quads(self.z)
        kernel, matrix = passes.make_stretch(self.shape.T), (self.slices, self.column, self.values)
        kernel[self.product_blocks, THREADS, self.room.stream](*matrix, self.z.reshape(-1), self.dot_parts)
        self.room.read(self.dot_parts, self.host_part)

    def _multiply(self) -> None:
        self.room.write(self.ended, self.host_none)
        self._take_quads(self.p)
        self.room.clear(self.lists.push)
        self._product()
        self._give_quads(self.w)

    def _solve(self, blocks: bool, numbers: bool, stiff: bool) -> None:
        self.room.write(self.ended, self.host_none)
        self.room.write(self.scalars, self.host_begin)
        self.room.clear(self.answer)
        self.room.clear(self.p)
        self._take_quads(self.right)
        passes.restrict[(self.shape.aggregates, 1), THREADS, self.room.stream](
            self.layout.size, self.record, self.right, self.restricted
        )
        self._precondition(stiff)
        self._direction(0)
        self._passes(blocks, numbers, stiff)

    def _further(self, blocks: bool, numbers: bool, stiff: bool) -> None:
        passes.carry[1, 1, self.room.stream](self.scalars)
        self._passes(blocks, numbers, stiff)

    def _passes(self, blocks: bool, numbers: bool, stiff: bool) -> None:
        """CHUNK passes, and what they have found."""
        stream, numbers_of = self.room.stream, (self.product_blocks, self.dot_parts, self.layout.size, self.record)
        vectors = [each.reshape(-1) for each in (self.p, self.w, self.answer, self.right, self.restricted)]
        for k in range(passes.CHUNK):
            if blocks:
                self._push(numbers)
            self._product()
            passes.update[self.shape.aggregates, THREADS, stream](self.ended, k, self.scalars, *numbers_of, *vectors)
            self._precondition(stiff)
            self._direction(k + 1)
        self._give_quads(self.answer)
        self.room.read(self.ended, self.host_flags)
        self.room.read(self.scalars, self.host_scalars)

    def _push(self, numbers: bool) -> None:
        """What row blocks push by when nodes move by p."""
        lists, stream = self.lists, self.room.stream
        warps, rows = -(-lists.size[0] * WARP // THREADS), (lists.start, lists.node, lists.jacobian)
        rate = lists.rate.reshape(1, -1)
        wide.rates[(warps, 1), THREADS, stream](self.ended, lists.counts, wide.BLOCKS, *rows, self.p, rate)
        if numbers:
            warps, width = -(-lists.size[2] * WARP // THREADS), lists.response_width
            response = (lists.response, lists.rate, lists.answer)
            wide.respond[warps, THREADS, stream](self.ended, lists.counts, width, *response)
        else:
            self.room.clear(lists.answer)
        bodies = (lists.weight, lists.body, lists.body_jacobian, lists.answer, lists.rate, lists.push)
        wide.push[-(-lists.size[0] // THREADS), THREADS, stream](self.ended, lists.counts, *bodies)

    def _product(self) -> None:
        """w = A p with what row blocks push by."""
        lists = self.lists
        entries = (lists.entry_start, lists.entry_row, lists.entry_jacobian, lists.push)
        matrix = (self.slices, self.column, self.values, self.record)
        kernel, vectors = passes.make_multiply(self.shape.T), (self.p.reshape(-1), self.w.reshape(-1), self.dot_parts)
        kernel[self.product_blocks, THREADS, self.room.stream](self.ended, *matrix, *entries, *vectors)

    def _base(self, columns: int, right, sums, moves, z) -> None:
        """The preconditioner without stiff rows, of several columns."""
        stream, n, size = self.room.stream, 6 * self.shape.aggregates, self.layout.size
        width = inverse_width(self.shape.blocks, self.shape.threads, self.shape.m)
        if columns > 1 or right is not self.right:
            passes.restrict[(self.shape.aggregates, columns), THREADS, stream](size, self.record, right, sums)
        grid = (-(-n * WARP // THREADS), columns)
        passes.coarse_multiply[grid, THREADS, stream](self.ended, n, width, self.inverse, sums, moves)
        rows = (size, self.shape.aggregates, self.record, right, moves, z, self.dot_parts)
        passes.prolong[(self.row_blocks, columns), THREADS, stream](self.ended, *rows)

    def _precondition(self, stiff: bool) -> None:
        """z from the right side, whose sums over aggregates are known."""
        self._base(1, self.right, self.restricted, self.moves, self.z)
        if not stiff:
            return
        lists, stream = self.lists, self.room.stream
        rows, rate = (lists.start, lists.node, lists.jacobian), lists.rate.reshape(1, -1)
        warps = -(-lists.size[3] * WARP // THREADS)
        wide.rates[(warps, 1), THREADS, stream](self.ended, lists.counts, wide.STIFF, *rows, self.z, rate)
        small = (lists.size[3], lists.woodbury, lists.rate, lists.share)
        wide.weigh[warps, THREADS, stream](self.ended, lists.counts, *small)
        vectors = (lists.answers.reshape(-1, self.layout.rows * 4), lists.share)
        ends = (self.right.reshape(-1), self.z.reshape(-1), self.dot_parts)
        wide.correct[self.row_blocks, THREADS, stream](self.ended, lists.counts, self.layout.rows, *vectors, *ends)

    def _direction(self, k: int) -> None:
        vectors = (self.layout.rows, self.z.reshape(-1), self.p.reshape(-1))
        passes.direction[self.row_blocks, THREADS, self.room.stream](
            self.ended, k, self.scalars, self.dot_parts, *vectors
        )

    def _compile(self) -> None:
        """Compiles what every simulation needs by launching it once."""
        nothing = np.zeros((self.nodes, 3))
        self.begin(nothing, 1.0)
        self.evaluate(nothing, nothing)
        self.assemble(True)
        self.invert_with(np.zeros(0, int), self.coarse_matrix(np.zeros(0, int)))
        self.solve(nothing, 1.0)
        self.release()
        self.local_square(nothing)
        self.stretch(nothing)
