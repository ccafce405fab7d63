"""How many threads a simulation uses: as asked, or what measuring shows to be quicker.

Results do not depend on the number of threads, so it may change from step to step. On a machine whose other cores are
busy, threads that wait for each other are slower than one. All threads are taken at first, and what they gain is seen
without trying one: they use more processor time than time passes, unless they wait for a core. Trials, in which steps
of both choices take turns, are for when that changes, and else are rare.
"""

from statistics import median
from time import perf_counter, process_time

from pliant.checks import whole
from pliant.jit import thread_count, use_threads

# Processor time over time that passes of steps of many threads: of how many steps the middle one is looked at, what it
# is on an idle machine with two cores, and the part of what it was in the last trial below which there is another.
RECENT, IDLE, FALLEN = 3, 1.5, 0.8
# Pairs of steps, one of each choice: so many decide if they agree, or else the middle of so many.
FEW, MOST = 2, 5
# How many times longer than the present choice the other takes where one pair is enough to stay.
CLEARLY = 1.3
# How much longer several threads may seem to take than one before one is taken: steps differ by more than threads gain,
# and what another process takes away is more.
SEEMING = 1.05
# Steps between two trials of many threads and of one, at first and at most where trials go on choosing the same.
BETWEEN = {"many": (40, 320), "one": (10, 80)}
# The first trial of more than two threads, which may be too many for a scene.
FIRST = 5
# What a step costs besides its iterations, in iterations.
BESIDES = 30.0


class Threads:
    """Chooses between one thread and many for every step."""

    def __init__(self, asked: int | None, groups: int):
        """asked: a number of threads, or None. groups: of elements and rows; few of them are always for one thread."""
        self.most = thread_count(None if asked is None else whole(asked, "threads", 1), groups)
        self.count = self.most
        self.measures = asked is None and self.most > 1
        self.done, self.pause = 0, BETWEEN["many"][0]
        self.next = self.pause if self.most == 2 else FIRST  # the step with which the next trial begins
        self.trial: dict[int, list[float]] | None = None  # times of the steps of a trial, for their work, by threads
        self.overlaps, self.usual = [], IDLE  # processor time over time: of the last steps, and in the last trial

    def run(self, step):
        """Take one step, a function without arguments, with the threads that it is the turn of."""
        if not self.measures:
            with use_threads(self.most):
                return step()
        if self.trial is None and self.done >= self.next:
            self.trial = {1: [], self.most: []}
        count, start, used = self._turn(), perf_counter(), process_time()
        with use_threads(count):
            result = step()
        seconds = perf_counter() - start
        self._note(count, seconds / _work(result), (process_time() - used) / max(seconds, 1e-9))
        return result

    def _turn(self) -> int:
        """The threads of the next step; a trial begins with the other choice."""
        if self.trial is None:
            return self.count
        other = 1 if self.count > 1 else self.most
        return other if len(self.trial[other]) <= len(self.trial[self.count]) else self.count

    def _note(self, count: int, seconds: float, overlap: float) -> None:
        """Keep the time of a step, for the work done in it, and how much of it threads overlapped."""
        self.done += 1
        if count > 1:
            self.overlaps = [*self.overlaps[1 - RECENT :], overlap]
        if self.trial is None:
            if self.count > 1 and len(self.overlaps) == RECENT and median(self.overlaps) < FALLEN * self.usual:
                self.next = self.done
            return
        self.trial[count].append(seconds)
        best = self._better()
        if best is not None:
            first, longest = BETWEEN["many" if best > 1 else "one"]
            self.pause = min(2 * self.pause, longest) if best == self.count else first
            self.count, self.next, self.trial = best, self.done + self.pause, None
            self.usual = median(self.overlaps)

    def _better(self) -> int | None:
        """The quicker choice of a trial, for the middle of its steps: on a busy machine, one step of several threads
        may have been lucky. None while that is not clear."""
        one, many = self.trial[1], self.trial[self.most]
        now, other = (one, many) if self.count == 1 else (many, one)
        pairs = len(now)
        if len(other) > pairs or not pairs:
            return None
        if pairs == 1:
            return self.count if other[0] > CLEARLY * now[0] else None
        won = [b < SEEMING * a for a, b in zip(one, many)]
        if pairs >= FEW and (all(won) or not any(won)):
            return self.most if won[0] else 1
        if pairs < MOST:
            return None
        return self.most if median(many) < SEEMING * median(one) else 1


def _work(result) -> float:
    """What a step did, (state, report), as its time grows by it: products, and as many again for all else."""
    return BESIDES + result[1].iterations


class Untouched:
    """For steps that are taken elsewhere than by threads of this process."""

    most = 1

    def run(self, step):
        """Take one step, a function without arguments."""
        return step()
