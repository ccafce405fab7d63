"""Launches of the kernels that all programs share: elements, the matrix, its coarse level."""

import numpy as np

from pliant.kernels.cuda import coarse, coarse_inverse, damping, elements, matrix, nodes, plastic
from pliant.kernels.cuda import codes as c
from pliant.kernels.cuda.arrays import Arrays, in_lanes
from pliant.kernels.cuda.codes import mask
from pliant.kernels.cuda.layout import WARP


class Launches(Arrays):
    """The arrays of a simulation, and what is done with them on the GPU; `when`: in which statuses."""

    def _each_set(self):
        """For every set a function that launches a kernel over its elements."""
        for law, (first, groups, _) in zip(self.laws, self.layout.sets):
            grid = (-(-groups * WARP // elements.THREADS), elements.THREADS, self.room.stream)
            own = (law.now, first, groups, self.at, self.tets, self.gradients, self.volume)
            yield lambda kernel, *more, grid=grid, own=own: kernel[grid](*own, *more)

    def pull_back(self, tets: list, more: list) -> None:
        """Let bodies that are turned inside out be pulled back to shape: for every set of tets of four nodes, and of
        other kinds, None or (pulled, mu [Pa]) of its elements (count,), or of their points (count, points)."""
        for law, given, (_, groups, order) in zip(self.laws, tets, self.layout.sets):
            law.pull_back(*((given and [in_lanes(value, order, groups) for value in given]) or (None, None)))
        for own, given in zip(self.others, more):
            own.pull_back(given)

    @property
    def pulling(self) -> tuple:
        """Of which sets bodies are pulled back."""
        return tuple(law.pulling for law in [*self.laws, *(own.law for own in self.others)])

    def forces(self, when: int) -> None:
        """Energies and forces of the elements."""
        for i, own in enumerate(self._each_set()):
            after = (self.slots, int(self.first_block[i]), self.element_blocks, self.partials)
            own(elements.evaluate, self.status, when, *after)
        for own in self.others:
            own.forces(when)
        self.damp(when)

    def damp(self, when: int) -> None:
        """Adds viscous forces and their power."""
        for i, (material, rotates, first, groups, grid) in self._sets_with(self.damping):
            motion = (self.frames, self.moving, self.tets, self.rest_gradients, self.volume)
            after = (self.slots, int(self.first_block[i]), self.element_blocks, self.partials)
            damping.damp[grid](material, rotates, first, groups, *motion, self.numbers, self.status, when, *after)
        for own in self.others:
            own.damp(when)

    def damping_blocks(self, when: int) -> None:
        """Adds the blocks of damping."""
        for _, (material, rotates, first, groups, grid) in self._sets_with(self.damping):
            geometry = (self.frames, self.tets, self.rest_gradients, self.volume, self.numbers, self.status, when)
            damping.damping_blocks[grid](material, rotates, first, groups, *geometry, self.stiffness)

    def _sets_with(self, materials: list):
        """Number of every set with such a material; that, whether it rotates, its groups and its grid."""
        for i, (own, (first, groups, _)) in enumerate(zip(materials, self.layout.sets)):
            if own:
                grid = (-(-groups * WARP // elements.THREADS), elements.THREADS, self.room.stream)
                yield i, (*own, first, groups, grid)

    def gather_forces(self, when: int) -> None:
        """Forces of the nodes from those of their elements."""
        lists = (self.gather_start, self.gather_code, self.slots, self.force)
        warps = -(-(len(self.layout.gather_start) - 1) // 4)
        nodes.gather[warps, 4 * WARP, self.room.stream](self.status, when, *lists)

    def blocks(self, when: int = mask(c.ITERATE)) -> None:
        """Stiffness blocks of the elements, with those of damping."""
        for own in self._each_set():
            own(elements.stiffness, self.numbers, self.status, when, self.stiffness)
        for own in self.others:
            own.blocks(when)
        self.damping_blocks(when)

    def edges(self, when: int = mask(c.ITERATE)) -> None:
        """Off-diagonal blocks of the matrix."""
        steps, warps = len(self.layout.list_start) - 1, matrix.THREADS // WARP
        lists = (self.list_start, self.list_code, self.edge_place, self.stiffness, self.values)
        matrix.edges[-(-steps // warps), matrix.THREADS, self.room.stream](self.status, when, *lists)

    def diagonals(self, when: int = mask(c.ITERATE)) -> None:
        """Diagonal blocks of the matrix and their inverses."""
        slices, warps = len(self.layout.start) - 1, matrix.THREADS // WARP
        own = (self.slices, self.values, self.mass, self.drag, self.record)
        grid = (-(-slices // warps), matrix.THREADS, self.room.stream)
        matrix.make_diagonals(self.shape.T)[grid](self.numbers, self.status, when, *own)

    def assemble(self) -> None:
        """The matrix from the stiffness blocks."""
        self.edges()
        self.diagonals()

    def renew(self) -> None:
        """The coarse level of the matrix last assembled, at the positions of the start."""
        self.coarsen()
        self.invert_coarse()

    def coarsen(self) -> None:
        """The coarse matrix."""
        stream, task, n = self.room.stream, self.task, 6 * self.shape.aggregates
        coarse.arms[self.shape.aggregates, coarse.THREADS, stream](self.x, self.mass, self.layout.size, self.record)
        coarse.clear[-(-n * n // 256), 256, stream](self.coarse)
        entries = (task["begin"], task["end"], task["row"], task["col"], task["at"], self.values, self.record)
        grid = -(-task["begin"].shape[0] // (coarse.THREADS // WARP))
        coarse.tasks[grid, coarse.THREADS, stream](*entries, self.part)
        pairs = task["pair"].shape[0]
        sums = (task["pair_start"], task["pair"], self.shape.aggregates, self.part, self.coarse)
        coarse.pair_sums[-(-pairs * 36 // 256), 256, stream](*sums)

    def invert_coarse(self) -> None:
        """Its inverse, in which it is lost."""
        grid = (self.shape.blocks, coarse_inverse.THREADS, self.room.stream, self.inverse_shared)
        self.invert[grid](*self.inversion)

    # ---- resident steps

    def say(self) -> None:
        """Queues a copy of the parameters and vectors of the host, from which steps go on until they are others."""
        self.room.write(self.said, self.host_said)

    def predict(self) -> None:
        """The end of the last step becomes the start of the next; velocities without elements."""
        start = (self.numbers, self.status, self.mass, self.drag, self.loads, self.vectors, self.pin, self.pin_start)
        motion = (self.record, self.x, self.v, self.previous, self.warm, self.target, self.u, self.xt)
        nodes.predict[self._over_rows(), 128, self.room.stream](*start, *motion)
        if self.frames is not self.x:
            nodes.frames[self._over_rows(), 128, self.room.stream](self.numbers, self.x, self.frames)

    def _over_rows(self) -> int:
        return -(-self.layout.rows // 128)

    def flow(self) -> None:
        """The plastic flow of the step."""
        for _, (material, rotates, first, groups, grid) in self._sets_with(self.flowing):
            geometry = (self.x, self.tets, self.rest_gradients, self.volume, self.numbers)
            strains = (self.plastic, self.plastic_before, self.gradients)
            plastic.flow[grid](material, rotates, first, groups, *geometry, *strains)

    def report(self) -> None:
        """Numbers and status to the host."""
        self.room.read(self.told, self.host_told)

    def status_to(self, status: int) -> None:
        """Sets the status from the host."""
        self.room.write(self.status, np.array([status, 0], np.int32))
        self.room.wait()

    def launch(self, name: str) -> None:
        """Queues the graph of a name."""
        self.room.launch(self.graphs[name])

    def wait(self) -> int:
        """Waits for all that is queued; the status that it leaves."""
        self.room.wait()
        return int(self.host_status[0])

    def run(self, name: str) -> int:
        """Launches the graph of a name and waits for it; the status that it leaves."""
        self.launch(name)
        return self.wait()
