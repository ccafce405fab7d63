"""How many threads a simulation uses: as asked, or what measuring shows to be quicker.

Results do not depend on the number of threads, so it may change from step to step. On a machine whose other cores are
busy, threads that wait for each other are slower than one.
"""

from time import perf_counter

from pliant.checks import whole
from pliant.jit import thread_count, use_threads

# Steps that are not counted (they compile), steps of each trial, and steps between two trials: at first, and at most
# where trials go on choosing the same, for those of the other choice may be slow.
COMPILING, TRIAL, BETWEEN, LONGEST = 2, 5, 20, 160
# How much longer several threads may seem to take than one before one is taken: steps differ by more than threads gain,
# and what another process takes away is more.
SEEMING = 1.05
# What a step costs besides its iterations, in iterations.
BESIDES = 30.0


class Threads:
    """Chooses between one thread and many for every step."""

    def __init__(self, asked: int | None, groups: int):
        """asked: a number of threads, or None. groups: of elements and rows; few of them are always for one thread."""
        self.most = thread_count(None if asked is None else whole(asked, "threads", 1), groups)
        self.count = self.most
        self.measures = asked is None and self.most > 1
        self.done, self.times = 0, {1: [], self.most: []}
        self.next, self.pause = COMPILING, BETWEEN  # when the next trial begins, and how many steps later the one after

    def run(self, step):
        """Take one step, a function without arguments, with the threads that it is the turn of."""
        if not self.measures:
            with use_threads(self.most):
                return step()
        trying = self.done >= self.next
        count = (1 if (self.done - self.next) % 2 else self.most) if trying else self.count
        start = perf_counter()
        with use_threads(count):
            result = step()
        self._note(count, (perf_counter() - start) / _work(result), trying)
        return result

    def _note(self, count: int, seconds: float, trying: bool) -> None:
        """Keep the time of a trial, for the work done in it; at its end the number of threads is taken that was quicker
        in the middle: on a busy machine, one step of several threads may have been lucky."""
        self.done += 1
        if not trying:
            return
        self.times[count].append(seconds)
        one, many = self.times[1], self.times[self.most]
        if len(one) >= TRIAL and len(many) >= TRIAL:
            best = self.most if sorted(many)[TRIAL // 2] < SEEMING * sorted(one)[TRIAL // 2] else 1
            self.pause = min(2 * self.pause, LONGEST) if best == self.count else BETWEEN
            self.count, self.next, self.times = best, self.done + self.pause, {1: [], self.most: []}


def _work(result) -> float:
    """What a step did, (state, report), as its time grows by it: products, and as many again for all else."""
    return BESIDES + result[1].iterations


class Untouched:
    """For steps that are taken elsewhere than by threads of this process."""

    most = 1

    def run(self, step):
        """Take one step, a function without arguments."""
        return step()
