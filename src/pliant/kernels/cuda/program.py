"""Newton's step of a model on a GPU: its arrays, its launches, and the graphs these make."""

from functools import partial

from pliant.kernels.cuda import codes as c
from pliant.kernels.cuda import elements, matrix, nodes, reduce
from pliant.kernels.cuda.arrays import NodeData, SetData
from pliant.kernels.cuda.codes import mask
from pliant.kernels.cuda.launches import Launches
from pliant.kernels.cuda.layout import WARP, Layout
from pliant.kernels.cuda.room import allow_shared

GRAPHS = (
    "step",
    "short step",
    "renewing step",
    "step from rest",
    "iterate",
    "renewing iterate",
    "balance",
    "trial",
    "restart",
)


class Program(Launches):
    """The arrays of a simulation, and the launches that make steps of them."""

    def __init__(self, layout: Layout, sets: list[SetData], data: NodeData, more: list = ()):
        super().__init__(layout, sets, data, more)
        self.compile()

    def restart(self) -> None:
        motion = (self.record, self.x, self.warm, self.target, self.u, self.xt)
        nodes.restart[self._over_rows(), 128, self.room.stream](self.numbers, self.status, mask(c.START), *motion)

    def trial(self) -> None:
        motion = (self.record, self.x, self.base, self.u, self.xt)
        nodes.trial[self._over_rows(), 128, self.room.stream](self.numbers, self.status, mask(c.TRYING), *motion)

    def correct(self) -> None:
        motion = (self.record, self.x, self.base, self.u, self.xt)
        nodes.correct[self._over_rows(), 128, self.room.stream](self.numbers, self.status, mask(c.BALANCE), *motion)

    def begin(self) -> None:
        """Energies, forces and stiffness blocks at once."""
        for i, own in enumerate(self._each_set()):
            after = (self.slots, int(self.first_block[i]), self.element_blocks, self.partials, self.stiffness)
            own(elements.begin, self.numbers, self.status, mask(c.START), *after)
        for own in self.others:
            own.forces(mask(c.START))
            own.blocks(mask(c.START))
        self.damp(mask(c.START))
        self.damping_blocks(mask(c.START))

    def gradient(self, when: int) -> None:
        """The right side at u, the sums that decide about it, and what comes next."""
        self.gather_forces(when)
        masses = (self.force, self.mass, self.drag, self.stiff, self.damped)
        motion = (self.x, self.u, self.target, self.v, self.record, self.sums)
        found = (self.element_blocks, self.partials, self.shape.blocks, self.tail, self.totals, self.arrived)
        grid = (self.node_blocks, reduce.THREADS, self.room.stream)
        nodes.gradient[grid](self.numbers, self.status, when, *masses, *motion, *found)

    def evaluate(self, when: int) -> None:
        """Energy and gradient of the potential at u, and what follows from them."""
        self.forces(when)
        self.gradient(when)

    def start(self) -> None:
        """The same at the start of the iterations, with the blocks of the first matrix."""
        self.begin()
        self.gradient(mask(c.START))

    def multiply(self) -> None:
        """A product with the matrix, as a launch of its own."""
        slices, warps = len(self.layout.start) - 1, matrix.THREADS // WARP
        grid = (-(-slices // warps), matrix.THREADS, self.room.stream)
        arrays = (self.slices, self.column, self.values, self.record, self.gathered, self.product)
        matrix.make_multiply(self.shape.T)[grid](*arrays)

    def solve(self, when: int) -> None:
        """Newton's direction and its trial, or an estimate of the next correction."""
        numbers = (self.numbers, self.status, when, self.slices, self.column, self.values, self.inverse)
        motion = (self.mass, self.drag, self.x, self.u, self.base, self.xt, self.record, self.gathered)
        work = (self.dots, self.wc, self.tail, self.flags, self.epochs)
        size = self.layout.shared_bytes
        self.solve_kernel[self.shape.blocks, self.shape.threads, self.room.stream, size](*numbers, *motion, *work)

    def prepare(self, first: bool, renew: bool) -> None:
        """The matrix of an iteration."""
        if not first:
            self.blocks()
        self.assemble()
        if renew:
            self.renew()

    def iterate(self, first: bool = False, renew: bool = False, balance: bool = True) -> None:
        """One iteration of Newton's method, as far as the status lets it; the first has its blocks from the start."""
        self.prepare(first, renew)
        self.solve(c.ITERATE)
        self.evaluate(mask(c.TRYING))
        self.estimate()
        if balance:
            self.balance()

    def estimate(self) -> None:
        """An estimate of the next correction."""
        self.solve(c.ESTIMATE)
        self._conclude()

    def balance(self) -> None:
        """The estimated correction taken, if forces are not in balance yet."""
        self.correct()
        self.evaluate(mask(c.BALANCE))

    def _conclude(self) -> None:
        found = (self.shape.blocks, self.tail, self.totals)
        reduce.conclude[1, 2 * WARP, self.room.stream](self.numbers, self.status, mask(c.ESTIMATE), *found)

    # ---- graphs

    def _work(self, name: str) -> None:
        """What is queued for the graph of a name."""
        if name in ("step", "short step", "renewing step"):
            self.predict()
            self.flow()
            self.start()
            self.iterate(first=True, renew=name == "renewing step", balance=name != "short step")
        elif name == "step from rest":
            self.predict()
            self.evaluate(mask(c.REST))
            self.flow()
            self.restart()
            self.start()
        elif name in ("iterate", "renewing iterate"):
            self.iterate(renew=name == "renewing iterate")
        elif name == "balance":
            self.estimate()
            self.balance()
        elif name == "trial":
            self.trial()
            self.evaluate(mask(c.TRYING))
        elif name == "restart":
            self.restart()
            self.start()
        self.report()

    def compile(self) -> None:
        """Compiles every kernel by launching it once; all arrays are as good as before afterwards but for x and v."""
        self.predict()
        self.flow()
        self.status_to(c.DONE)
        self.evaluate(0)
        self.start()
        self.blocks()
        self.assemble()
        self.restart()
        self.trial()
        self.correct()
        self._first_solve()
        self.renew()
        self._conclude()
        self.room.wait()
        self.graphs = {name: self.room.capture(partial(self._work, name)) for name in GRAPHS}

    def _first_solve(self) -> None:
        """Compiles conjugate gradients; with much shared memory their first launch is refused until it is allowed."""
        try:
            self.solve(c.ITERATE)
        except Exception:  # whatever class the driver's refusal has
            allow_shared(self.solve_kernel, self.layout.shared_bytes)
            self.solve(c.ITERATE)


class Constant(Program):
    """Steps whose matrix depends on their length alone, as of linear elasticity: it is assembled and has its coarse
    level renewed where a graph says so, and nowhere else."""

    def begin(self) -> None:
        """Energies and forces."""
        self.forces(mask(c.START))

    def prepare(self, first: bool, renew: bool) -> None:
        """The matrix, if it is to be another."""
        if renew:
            self.blocks()
            self.assemble()
            self.renew()
