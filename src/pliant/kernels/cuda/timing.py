"""Times of kernels on a GPU, from graphs of many launches."""

from time import perf_counter

import numpy as np

from pliant.kernels.cuda import codes as c


def seconds(program, work, repeats: int = 20) -> float:
    """Time of what a function queues: the median of graphs of so many of it."""
    work()
    program.room.wait()
    graph, times = program.room.capture(lambda: [work() for _ in range(repeats)]), []
    for _ in range(7):
        program.room.wait()
        start = perf_counter()
        program.room.launch(graph)
        program.room.wait()
        times.append((perf_counter() - start) / repeats)
    return float(np.median(times))


def pass_time(program) -> dict[str, float]:
    """Passes of the first linear system of an iteration, and time for each [us]."""
    waiting = np.array([c.ITERATE, 0], np.int32)
    numbers = program.room.download(program.numbers)
    numbers[c.LAST_SIZE] = 0.0

    def once():
        program.room.write(program.numbers, numbers)
        program.room.write(program.status, waiting)
        program.solve(c.ITERATE)

    once()
    program.room.wait()
    passes = float(program.room.download(program.numbers)[c.PASSES])
    return {"passes": passes, "us": 1e6 * seconds(program, once, 1) / (passes + 1)}


def gradient_time(program) -> float:
    """Time [s] of the gradient with its sums, of which one decides what comes next; it starts with a copy of the
    status, for that changes."""
    waiting = np.array([c.TRYING, 0], np.int32)

    def once():
        program.room.write(program.status, waiting)
        program.gradient(c.mask(c.TRYING))

    def copy():
        program.room.write(program.status, waiting)

    return seconds(program, once) - seconds(program, copy)


def copy_bandwidth(program, size: int) -> float:
    """Bytes read and written in a second by a copy of so many bytes."""
    return 2 * size / program.room.copy_time(size)
