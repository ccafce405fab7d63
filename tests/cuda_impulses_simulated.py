"""Run in a process of its own with Numba's CUDA simulator: MPRGP of the GPU by one thread, row by row, with its
decisions, against that of the host, on problems that scenes pose."""

import sys
from importlib import import_module
from types import SimpleNamespace

import numpy as np
from numba.cuda.simulator.kernel import FakeCUDAKernel

import pliant as pl
from pliant.solve.dual.solver import DualSolver

# instructions of a GPU, which one thread does not need
sys.modules["pliant.kernels.cuda.ptx"] = SimpleNamespace(acquire=None, release=None)
NAMES = ("impulses", "mprgp", "warp", "box_rows", "mprgp_decisions", "impulse_program")
impulses, mprgp, warp, box_rows, d, impulse_program = (import_module(f"pliant.kernels.cuda.{name}") for name in NAMES)
# the one thread of a grid
THREAD = SimpleNamespace(grid=lambda axes: 0, gridsize=lambda axes: 1)
# functions of the GPU as plain ones: the simulator's own way into each of them takes its time
for module in (warp, impulses, box_rows, mprgp):
    for name, own in vars(module).items():
        if isinstance(own, FakeCUDAKernel):
            setattr(module, name, own.fn)
    module.cuda = THREAD
impulses.meet, impulses.SHARE = lambda flags, epoch: epoch, 1


class Room:
    """Arrays of the host in place of those of a GPU."""

    def __init__(self):
        self.stream = self.moved = 0
        self.lent = {}

    def zeros(self, count, dtype):
        return np.zeros(count, dtype)

    def pinned(self, count):
        return np.zeros(count)

    def lend(self, name, array, dtype):
        found = self.reserve(name, array.size, dtype)
        found[: array.size] = array.ravel()
        return found

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


def solve(s, v, part, flags, numbers):
    """`mprgp.solve` by one thread."""
    while numbers[d.ACTION] != d.DONE:
        _, sums, least, _ = mprgp.act(s, v, numbers, flags, 0)
        d.decide(numbers, np.array(sums), least)


class Launch:
    def __getitem__(self, grid):
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
        solver.program = impulse_program.ImpulseProgram(np.float64, Room(), 4)
        sim.step(3)
        assert solver.worst < 1e-4, solver.worst
        assert solver.products > 3 and (solver.refreshes > 0) == rough
    print("simulated")


if __name__ == "__main__":
    main()
