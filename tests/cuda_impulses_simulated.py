"""Run in a process of its own with Numba's CUDA simulator: MPRGP of the GPU by three blocks of one thread, row by row,
with its decisions, against that of the host, on problems that scenes pose."""

import sys
import threading
from importlib import import_module
from types import SimpleNamespace

import numpy as np
from numba.cuda.simulator.kernel import FakeCUDAKernel

import pliant as pl
from pliant.solve.dual.solver import DualSolver

# instructions of a GPU, which single threads do not need
sys.modules["pliant.kernels.cuda.ptx"] = SimpleNamespace(acquire=None, release=None)
NAMES = (
    "impulses",
    "impulse_hand",
    "mprgp",
    "warp",
    "box_rows",
    "mprgp_decisions",
    "impulse_program",
    "impulse_places",
)
impulses, hand, mprgp, warp, box_rows, d, impulse_program, impulse_places = (
    import_module(f"pliant.kernels.cuda.{name}") for name in NAMES
)
BLOCKS = 3
BARRIER = threading.Barrier(BLOCKS, timeout=60)


class Grid(threading.local):
    """What a thread of the host is on the GPU: the one thread of a block."""

    threadIdx, blockDim, gridDim = (SimpleNamespace(x=x) for x in (0, 1, BLOCKS))

    def syncthreads(self):
        pass


GRID = Grid()
# functions of the GPU as plain ones: the simulator's own way into each of them takes its time
for module in (warp, impulses, hand, box_rows, mprgp):
    for name, own in vars(module).items():
        if isinstance(own, FakeCUDAKernel):
            setattr(module, name, own.fn)
    module.cuda = GRID


def meet(flags, epoch):
    BARRIER.wait()
    return epoch + 1


impulses.meet = mprgp.meet = meet
impulses.SHARE, impulses.SHARE_BITS, impulse_places.LEAST_UNITS = 1, 0, 1
impulses.lanes_sum3 = lambda v, lanes: v


def leave_two(first, second, of_warps):
    of_warps[:2] = first, second


def publish_two(part, half, units, of_warps):
    part.reshape(2, -1, BLOCKS)[half, :2, GRID.blockIdx.x] = of_warps[:2]


def two_totals(part, half, found):
    found[:2] = part.reshape(2, -1, BLOCKS)[half, :2].sum(axis=1)


def total(part, own, least, count, of_warps, found, flags, epoch):
    half = epoch & 1
    part.reshape(2, -1, BLOCKS)[half, :, GRID.blockIdx.x] = (*own, least)
    epoch = meet(flags, epoch)
    every = part.reshape(2, -1, BLOCKS)[half]
    found[:-1], found[-1] = every[:-1].sum(axis=1), every[-1].min()
    return epoch


mprgp.leave_two, mprgp.publish_two, mprgp.two_totals, mprgp.total = leave_two, publish_two, two_totals, total
mprgp.take_common = lambda own, half, first: impulses.take_common(own, half, 0)


class Room:
    """Arrays of the host in place of those of a GPU."""

    def __init__(self):
        self.stream = self.moved = 0
        self.lent = {}

    def zeros(self, count, dtype):
        return np.zeros(count, dtype)

    def pinned(self, count):
        return np.zeros(count)

    def stage(self, name, array, dtype):
        found = self.reserve(name, array.size, dtype)
        found[: array.size] = array.ravel()
        return found

    def pack(self, name, arrays, dtype):
        return {part: self.stage(part, np.append(array, 0.0), dtype) for part, array in arrays.items()}

    def unstage(self, name, count, dtype):
        return self.lent[name][:count]

    def reserve(self, name, count, dtype):
        if name not in self.lent or self.lent[name].size < count:
            self.lent[name] = np.zeros(count, dtype)
            self.moved += 1
        return self.lent[name]

    def write(self, target, source):
        target[: len(source)] = source

    def read(self, source, target):
        target[...] = source[: len(target)]

    def wait(self):
        pass

    def capture(self, work):
        return work

    def launch(self, graph):
        graph()

    def prepare(self, kernel, arguments, shared):
        pass


def block_solve(index, s, given, contacts, part, numbers, done):
    """`mprgp.solve` by one block."""
    GRID.blockIdx = SimpleNamespace(x=index)
    assert s.sizes[mprgp.FITS] == 0  # what a block keeps at hand lies in its part of common arrays
    first, second = index * s.sizes[mprgp.FLOATS], index * s.sizes[mprgp.INTEGERS]
    own = hand.at_hand(s, s.floats[first:], s.integers[second:])
    own = own._replace(sizes=(*own.sizes[:-1], 0))  # one lane
    v = mprgp.vectors_at_hand(s, own, s.floats[first:])
    hand.fill(s, own)
    mprgp.take_vectors(own, given, v, numbers[d.BOUNDED] != 0.0)
    n, found, epoch = numbers.copy(), np.zeros(mprgp.WIDTH), 0
    while n[d.ACTION] != d.DONE:
        if n[d.ACTION] == d.GLIDE:
            epoch = mprgp.glide(own, v, n, part, np.zeros(mprgp.WIDTH), found, None, epoch)
        else:
            epoch, sums, least, count = mprgp.act(own, contacts, v, n, None, epoch)
            epoch = total(part, sums, least, count, None, found, None, epoch)
            d.decide(n, found, found[d.ROOM])
    mprgp.give_vectors(own, v, given)
    done[index] = n


def solve(s, given, contacts, part, flags, numbers):
    """`mprgp.solve` by all blocks."""
    done = [None] * BLOCKS
    given = (s, given, contacts, part, numbers, done)
    threads = [threading.Thread(target=block_solve, args=(k, *given)) for k in range(BLOCKS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(n, done[0]) for n in done)  # every block decides the same
    numbers[:] = done[0]


class Launch:
    def __getitem__(self, grid):
        assert grid[0] == BLOCKS
        return solve


class Doubled(DualSolver):
    """The solver of the host with every problem solved by the GPU's way as well; the largest difference of impulses."""

    worst, refreshes, products, program = 0.0, 0, 0, None

    def _once(self, operator, b, low, high, friction, x, work, tolerance, most, direction):
        own, gradient = x.copy(), np.zeros_like(x)
        limits = (tolerance, most, direction.copy(), 15)
        found = self.program.solve(operator, b, low.copy(), high.copy(), friction, own, gradient, *limits)
        info, left = super()._once(operator, b, low, high, friction, x, work, tolerance, most, direction)
        size = np.abs(x * operator.scale).max(initial=1e-30)
        self.worst = max(self.worst, np.abs((own - x) * operator.scale).max(initial=0.0) / size)
        self.refreshes, self.products = self.refreshes + found[2], self.products + found[0]
        assert found[1] <= tolerance and info.residual <= tolerance, (found, info)
        assert abs(found[0] - info.iterations) <= 3 + 0.2 * info.iterations, (found, info)
        return info, left


def sliding() -> pl.Scene:
    """A soft block and a rigid one that slide on a floor, and a pendulum."""
    scene = pl.Scene()
    scene.add_rigid(pl.Plane(), static=True)
    soft = pl.Material.corotated(1e5, 0.3, 1000.0)
    scene.add_soft(pl.meshes.box((0.1, 0.1, 0.1), cells=(1, 1, 1)), soft, position=(0, 0, 1e-4), velocity=(1.0, 0.3, 0))
    scene.add_rigid(pl.Box((0.1, 0.1, 0.1)), density=500, position=(0.5, 0, 0.05), velocity=(0, 0.5, 0))
    bob = scene.add_rigid(pl.Sphere(0.05), density=500, position=(1.0, 0, 0.5))
    scene.join(pl.Ball(pl.world, bob, at=(0.9, 0, 0.6)))
    return scene


def hanging() -> pl.Scene:
    """A chain of two bodies: no bounds."""
    scene = pl.Scene()
    one, two = (scene.add_rigid(pl.Sphere(0.05), mass=m, position=(x, 0, 0)) for m, x in ((1.0, 0.1), (5.0, 0.3)))
    scene.join(pl.Ball(pl.world, one, at=(0, 0, 0)))
    scene.join(pl.Ball(one, two, at=(0.2, 0, 0)))
    return scene


def main() -> None:
    impulse_program.solve = Launch()
    for scene, rough in ((hanging(), False), (sliding(), True)):
        options = pl.Dual(tolerance=1e-6)
        sim = scene.simulate(0.01, solver=options)
        solver = sim.working_solver = Doubled(options, sim.model, "float64")
        solver.program = impulse_program.ImpulseProgram(np.float64, Room(), BLOCKS, 0)
        sim.step(3)
        assert solver.worst < 1e-4, solver.worst
        assert solver.products > 3 and (solver.refreshes > 0) == rough
    print("simulated")


if __name__ == "__main__":
    main()
