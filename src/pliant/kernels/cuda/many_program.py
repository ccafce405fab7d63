"""Many scenes on a GPU: their arrays, and the one launch that steps them."""

import numpy as np
from numba import config, cuda

from pliant.errors import DeviceError
from pliant.kernels.cuda import many_arrays as a
from pliant.kernels.cuda.many_newton import advance, advance_new
from pliant.kernels.cuda.many_sums import ROOM
from pliant.kernels.joints import AnchorArrays
from pliant.kernels.laws import USER_LAW

# Threads of a block, which has one scene; blocks that a multiprocessor is given, and bytes of its shared memory for
# these (of 228 KB; a block itself takes one more).
THREADS, MOST_BLOCKS, SHARED = 128, 8, 220 * 1024
# So many scenes are written one by one.
FEW = 8
# Part of the free memory that scenes may take.
MOST_MEMORY = 0.9


class ManyProgram:
    """c scenes of one structure; arrays as `many_arrays` describes them, from host arrays."""

    def __init__(self, structure, scenes, blocks, states, *, width: int, damped: bool, rotates: bool):
        self.count, self.nodes = states.x.shape[:2]
        self.tets, self.width, self.damped, self.rotates = len(structure.tets), width, damped, rotates
        slots, self.shared = self._slots()
        work = self._work(slots, scenes.rows.shape[2], int(blocks.start[-1]))
        self.bytes = sum(_bytes(part) for part in (structure, scenes, blocks, states, work))
        self._refuse_too_much()
        self.slots = slots
        self.structure, self.scenes, self.blocks, self.states, self.work = map(
            _sent, (structure, scenes, blocks, states, work)
        )
        self.numbers = cuda.to_device(np.zeros(a.NUMBERS))
        self.todo = cuda.to_device(np.zeros(self.count, np.int64))
        self.kernel = advance_new if type(scenes.law).__name__.startswith(USER_LAW) else advance
        self.compiled = False

    def _slots(self) -> tuple[int, int]:
        """How many scenes are stepped at a time, and the bytes of the band where shared memory holds it, else 0."""
        band = 8 * self.nodes * (self.width + 1) * 9
        own = band + 8 * ROOM + 1024
        if config.ENABLE_CUDASIM:
            return min(self.count, 2), 0
        from pliant.kernels.cuda.toolkit import find_gpu

        gpu = find_gpu()
        fits = own <= min(gpu.shared, SHARED)
        blocks = min(MOST_BLOCKS, SHARED // own) if fits else MOST_BLOCKS
        return min(self.count, gpu.multiprocessors * blocks), band if fits else 0

    def _work(self, slots: int, rows: int, entries: int):
        shapes = {
            "vectors": (slots, a.VECTORS, self.nodes, 3),
            "rows": (slots, a.ROWS, rows, 3),
            "forces": (slots, self.tets, 12),
            "frames": (slots, self.tets if self.damped else 1, 9),
            "stiffness": (slots, self.tets, 54),
            "band": (slots, 1 if self.shared else self.nodes * (self.width + 1) * 9),
            "jacobian": (slots, entries, 9, 1),
        }
        room = {name: np.zeros(shape) for name, shape in shapes.items()}
        room["rows"][:] = 1.0  # rows are looked at once before their compliance is known
        return a.Work(**room, triples=np.zeros((slots, entries, 1), np.int32), bodies=np.zeros((1, 4)))

    def _refuse_too_much(self) -> None:
        if config.ENABLE_CUDASIM:
            return
        free = int(cuda.current_context().get_memory_info()[0])
        if self.bytes > MOST_MEMORY * free:
            raise DeviceError(
                f"{self.count} scenes of {self.tets} tets need {self.bytes / 2**30:.2f} GiB on the GPU, of which "
                f"{free / 2**30:.2f} are free"
            )

    def step(self, todo: np.ndarray, h: float, tolerance: float, most_iterations: int) -> np.ndarray:
        """Take todo[i] steps of length h [s] of every scene; reports (c, REPORT)."""
        self.numbers.copy_to_device(np.array([h, tolerance, float(most_iterations)]))
        self.todo.copy_to_device(todo)
        many = (self.structure, self.scenes, self.blocks, self.states, self.work)
        options = (self.damped, self.rotates, self.width, self.shared > 0)
        if self.shared and not self.compiled:
            self._allow_shared((*many, self.numbers, self.todo, *options))
        self.kernel[self.slots, THREADS, 0, self.shared](*many, self.numbers, self.todo, *options)
        return self.states.report.copy_to_host()

    def _allow_shared(self, arguments: tuple) -> None:
        """Let the kernel have the shared memory it needs, once it is compiled."""
        from pliant.kernels.cuda.room import allow_shared

        self.kernel.compile(tuple(self.kernel.typeof_pyval(value) for value in arguments))
        allow_shared(self.kernel, self.shared)
        self.compiled = True

    # ---- copies

    def read(self, name: str) -> np.ndarray:
        """An array of states on the host."""
        return getattr(self.states, name).copy_to_host()

    def write(self, numbers: list[int], values: dict[str, np.ndarray]) -> None:
        """Set arrays of states, values[name] (k, ...), of k scenes."""
        for name, rows in values.items():
            _write(getattr(self.states, name), numbers, rows)

    def write_rows(self, numbers: list[int], rows: np.ndarray) -> None:
        """Set what rows (k, GIVEN, blocks, 3) of k scenes are given."""
        _write(self.scenes.rows, numbers, rows)


def _write(target, numbers: list[int], rows: np.ndarray) -> None:
    if target.size == 0:
        return
    if len(numbers) <= FEW:
        for i, row in zip(numbers, rows):
            target[i].copy_to_device(np.ascontiguousarray(row))
        return
    if list(numbers) != list(range(target.shape[0])):
        whole = target.copy_to_host()
        whole[numbers] = rows
        rows = whole
    target.copy_to_device(np.ascontiguousarray(rows))


def _sent(part):
    """A named tuple of host arrays on the device."""
    if isinstance(part, np.ndarray):
        return cuda.to_device(np.ascontiguousarray(part))
    return type(part)(*map(_sent, part))


def _bytes(part) -> int:
    return part.nbytes if isinstance(part, np.ndarray) else sum(map(_bytes, part))


def anchors(*columns):
    """One side of the blocks of joints."""
    return AnchorArrays(*columns)
