"""Explicit steps on a GPU: forces at the start of a step, and what they make of velocities (twin of solve.explicit)."""

from functools import partial

import numpy as np
from numba import cuda, float64

from pliant.kernels.cuda import codes as c
from pliant.kernels.cuda import reduce
from pliant.kernels.cuda.arrays import NodeData, SetData
from pliant.kernels.cuda.launches import Launches
from pliant.kernels.cuda.layout import Layout
from pliant.kernels.cuda.nodes import dot, record_place
from pliant.kernels.cuda.reduce import is_last
from pliant.kernels.cuda.stored import kernel
from pliant.kernels.cuda.warp import device, get, load3, node_place, store3, warp_sum

# All statuses: here every kernel runs when it is launched.
ALWAYS = (1 << c.STATUSES) - 1
WARPS = reduce.THREADS // 32
# Sums that are left in the numbers of a step: of m u^2, of energies, of inverted elements.
FOUND = (c.SQUARE, c.ENERGY, c.INVERTED)


@device
def block_sum(value, shared):
    """The sum over a block of threads, in its first thread; shared: a number for each warp."""
    value = warp_sum(value)
    cuda.syncthreads()
    if cuda.threadIdx.x & 31 == 0:
        shared[cuda.threadIdx.x >> 5] = value
    cuda.syncthreads()
    total = float64(0.0)
    if cuda.threadIdx.x == 0:
        for k in range(WARPS):
            total += shared[k]
    return total


@device
def strided_sum(a, first, count):
    """This thread's part of the sum of `count` numbers of an array."""
    total = float64(0.0)
    for k in range(cuda.threadIdx.x, count, reduce.THREADS):
        total += get(a, first + k)
    return total


@kernel
def kick(numbers, force, mass, drag, record, x, target, u, xt, sums, blocks, partials, arrived):
    """u = u* - h M^-1 f where nodes are free, and where it leads; the block of threads that comes last adds up sums of
    nodes and partials [0:2][blocks] of elements."""
    shared, own, h = cuda.shared.array(WARPS, float64), float64(0.0), numbers[c.STEP]
    row = cuda.grid(1)
    while row < mass.shape[0]:
        bare = get(mass, row)
        if bare > 0.0:
            at, free = node_place(row), load3(record, record_place(row) + c.FREE * 32)
            w, f, v, p = h / (bare * (1.0 + h * get(drag, row))), load3(force, at), load3(target, at), load3(x, at)
            v = (v[0] - w * free[0] * f[0], v[1] - w * free[1] * f[1], v[2] - w * free[2] * f[2])
            store3(u, at, v)
            store3(xt, at, (p[0] + h * v[0], p[1] + h * v[1], p[2] + h * v[2]))
            own += bare * dot(v, v)
        row += cuda.gridsize(1)
    own = block_sum(own, shared)
    if cuda.threadIdx.x == 0:
        sums[cuda.blockIdx.x] = own
    if is_last(arrived):
        square = block_sum(strided_sum(sums, 0, cuda.gridDim.x), shared)
        energy = block_sum(strided_sum(partials, 0, blocks), shared)
        inverted = block_sum(strided_sum(partials, blocks, blocks), shared)
        if cuda.threadIdx.x == 0:
            numbers[c.SQUARE], numbers[c.ENERGY], numbers[c.INVERTED] = square, energy, inverted


class Explicit(Launches):
    """The arrays of a simulation without those of a matrix, and the graph of its steps."""

    def __init__(self, layout: Layout, sets: list[SetData], data: NodeData, more: list = ()):
        super().__init__(layout, sets, data, more)
        # elements are evaluated at the start of the step
        self.at, self.moving, self.frames = self.x, self.v, self.x
        self._step()
        self.room.wait()
        self.graphs = {"step": self.room.capture(partial(self._step))}

    def _put_matrix(self) -> None:
        """Nothing is solved."""

    def _step(self) -> None:
        self.predict()
        self.flow()
        self.forces(ALWAYS)
        self.gather_forces(ALWAYS)
        motion = (self.force, self.mass, self.drag, self.record, self.x, self.target, self.u, self.xt)
        found = (self.sums, self.element_blocks, self.partials, self.arrived)
        kick[self.node_blocks, reduce.THREADS, self.room.stream](self.numbers, *motion, *found)
        self.report()

    @property
    def is_finite(self) -> bool:
        """Whether the last step left finite velocities and energies."""
        return bool(np.isfinite(self.host_numbers[list(FOUND)]).all())
