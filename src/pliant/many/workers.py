"""Worker processes: each takes steps of one simulation at a time, whatever the others do.

Processes and not threads: most of a small step is Python, which runs in one thread at a time. A step is a function of
the model and the state, so a worker makes the model of the scene once and is sent states, and answers with states; the
bits do not depend on who took a step.
"""

import contextlib
import io
import pickle
import subprocess
import sys
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from threading import Thread

from pliant.many.advance import Outcome, Task
from pliant.simulation import Simulation

# What a process runs; the user's modules are looked for where this process would look.
PROGRAM = "import sys; sys.path[:] = {0!r}; from pliant.many.worker import main; main()"
# Into how many parts the simulations of a worker are divided: what is sent at once costs less, and what waits can be
# taken over by others.
PARTS = 4
LOST = "the process that took its steps has ended ({0}), perhaps for want of memory"


class Worker:
    """One process, as this one sees it: `known` are scenes it has, `states` the last states it answered with."""

    def __init__(self):
        pipe = subprocess.PIPE
        command = [sys.executable, "-c", PROGRAM.format(sys.path)]
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe)
        self.known: set[int] = set()
        self.states: dict[int, object] = {}

    def send(self, tasks: list[Task]) -> None:
        """Ask for steps; an EOFError or OSError means, here and below, that the process has ended."""
        pickle.dump(tasks, self.process.stdin, pickle.HIGHEST_PROTOCOL)
        self.process.stdin.flush()

    def receive(self) -> Outcome:
        """What became of the next task."""
        return pickle.load(self.process.stdout)

    def task(self, i: int, scene: int, steps: int, sim: Simulation, described: dict[int, bytes]) -> Task:
        """Steps of a simulation, with what the process does not know yet."""
        text = None if scene in self.known else described[scene]
        self.known.add(scene)
        return Task(i, scene, steps, None if self.states.get(i) is sim.state else sim.state, sim.motors, text)

    def end(self) -> int:
        """End the process; its exit status."""
        self.process.kill()
        for stream in (self.process.stdin, self.process.stdout):
            with contextlib.suppress(OSError):  # what was still to be written
                stream.close()
        return self.process.wait()


class Workers:
    """So many processes; made when there is something to do, and ended with this object."""

    def __init__(self, count: int):
        self.count = count
        self.workers: list[Worker | None] = [None] * count
        self.stopped = False
        self.finalizer = weakref.finalize(self, _end_all, self.workers)

    def close(self) -> None:
        """End all processes; the next step starts others."""
        _end_all(self.workers)

    def step(self, sims: list, todo: dict[int, int], scenes: list[int], described: dict[int, bytes], done: Callable):
        """Take todo[i] steps of sims[i], described[scenes[i]]; done(i, outcome) is called for each, in any order, from
        other threads."""
        self.stopped = False
        queues = [deque(list(todo)[k :: self.count]) for k in range(self.count)]
        sent = (sims, todo, scenes, described)
        threads = [Thread(target=self._serve, args=(k, queues, *sent, done), daemon=True) for k in range(self.count)]
        for thread in threads:
            thread.start()
        try:
            for thread in threads:
                thread.join()
        except BaseException:  # an interrupt: what is under way is given up
            self.stopped = True
            self.close()
            for thread in threads:
                thread.join()
            raise

    def _serve(self, own: int, queues: list[deque], sims, todo, scenes, described, done: Callable) -> None:
        """Keep one process busy until nothing is left to do."""
        for numbers in _turns(own, queues, max(len(todo) // (PARTS * self.count), 1)):
            waiting = deque(numbers)
            while waiting and not self.stopped:
                try:
                    worker = self.workers[own] = self.workers[own] or Worker()
                    worker.send([worker.task(i, scenes[i], todo[i], sims[i], described) for i in waiting])
                    while waiting:
                        outcome = worker.receive()
                        worker.states[waiting[0]] = outcome.state
                        done(waiting.popleft(), outcome)
                except (EOFError, OSError, pickle.UnpicklingError, ValueError):  # the others go to another process
                    sim, reason = sims[waiting[0]], LOST.format(self._lose(own))
                    done(waiting.popleft(), Outcome(sim.state, sim.info, 0, reason))
            if self.stopped:
                return

    def _lose(self, own: int) -> str:
        """Forget a process that has ended; how it did."""
        worker, self.workers[own] = self.workers[own], None
        return "it could not be started" if worker is None else f"exit status {worker.end()}"


def _turns(own: int, queues: list[deque], most: int) -> Iterator[list[int]]:
    """Simulations of a worker's own queue, at most so many at a time, then of the others', from their ends."""
    others = sorted(range(len(queues)), key=lambda k: (k - own) % len(queues))
    while True:
        for k in others:
            found = []
            with contextlib.suppress(IndexError):
                while len(found) < (most if k == own else 1):
                    found.append(queues[k].popleft() if k == own else queues[k].pop())
            if found:
                break
        else:
            return
        yield found


def _end_all(workers: list) -> None:
    for k, worker in enumerate(workers):
        workers[k] = None
        if worker is not None:
            worker.end()


# ---- what can be sent


class _Travelling(pickle.Pickler):
    """Refuses what another process could not read: what only this program's main file says."""

    def reducer_override(self, thing):
        if getattr(thing, "__module__", None) == "__main__" and isinstance(thing, type | type(_end_all)):
            raise pickle.PicklingError(f"{thing.__qualname__} is of the main program")
        return NotImplemented


def described(sim: Simulation) -> tuple[bytes, str]:
    """The arguments of a simulation for another process, or empty, and why it cannot be sent."""
    arguments = (sim.scene, sim.dt)
    options = {"solver": sim.solver, "precision": sim.precision, "threads": 1}
    buffer = io.BytesIO()
    try:
        _Travelling(buffer, pickle.HIGHEST_PROTOCOL).dump((arguments, options))
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        return b"", str(error)
    return buffer.getvalue(), ""
