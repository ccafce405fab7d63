"""How many threads a simulation takes on machines that are idle, busy, or one after the other, by clocks of a model."""

from types import SimpleNamespace

import pytest

from pliant import threads
from pliant.threads import Threads


class Machine:
    """Two cores, one of them kept busy by another process or not, and steps of some milliseconds on one thread.

    On idle cores two threads take `gain` times less, and a fifth more of processor time; on a busy one they wait for
    each other, twice as long, and overlap nothing.
    """

    def __init__(self, monkeypatch, gain=1.4, most=2):
        self.wall = self.used = 0.0
        self.busy, self.gain, self.count, self.counts = False, gain, 1, []
        monkeypatch.setattr(threads, "perf_counter", lambda: self.wall)
        monkeypatch.setattr(threads, "process_time", lambda: self.used)
        monkeypatch.setattr(threads, "use_threads", self.use)
        monkeypatch.setattr(threads, "thread_count", lambda asked, groups: asked or most)
        self.choice = Threads(None, 1000)

    def use(self, count):
        self.count = count
        return self

    def __enter__(self):
        self.counts.append(self.count)

    def __exit__(self, *_):
        pass

    def step(self, iterations=30, loading=0.0):
        """A step of (30 + iterations) / 60 units of work, and of code that is loaded on one thread."""
        work = (30 + iterations) / 60
        wall = work if self.count == 1 else work * 2.0 if self.busy else work / self.gain
        used = work if self.count == 1 else wall if self.busy else 1.2 * work
        self.wall, self.used = self.wall + wall + loading, self.used + used + loading
        return None, SimpleNamespace(iterations=iterations)

    def run(self, steps, iterations=lambda k: 30, loading=lambda k: 0.0):
        """So many steps; the number of them on one thread, and how long they took over what the better choice takes."""
        start, before = self.wall, len(self.counts)
        for k in range(steps):
            self.choice.run(lambda k=k: self.step(iterations(k), loading(k)))
        work = sum((30 + iterations(k)) / 60 for k in range(steps))
        least = work if self.busy else min(work, work / self.gain)
        spent = self.wall - start - sum(map(loading, range(steps)))
        return self.counts[before:].count(1), spent / least


def test_idle_cores_are_used_from_the_first_step_on(monkeypatch):
    ones, longer = Machine(monkeypatch).run(30)
    assert ones == 0 and longer == pytest.approx(1.0)


@pytest.mark.parametrize("gain", [1.1, 1.4, 1.9])
def test_trials_on_idle_cores_cost_little(monkeypatch, gain):
    ones, longer = Machine(monkeypatch, gain).run(600)
    assert ones <= 10 and longer < 1.02


def test_steps_of_any_length_and_code_that_is_loaded_mislead_nobody(monkeypatch):
    # falling, impact with ten times the iterations, rest; two steps in a row that load code for long
    iterations, loading = lambda k: (3, 470, 31)[k % 3], lambda k: 5.0 * (k in (0, 1, 8, 9))
    ones, longer = Machine(monkeypatch).run(120, iterations, loading)
    assert ones <= 4 and longer < 1.05


def test_a_busy_core_is_left_alone_soon(monkeypatch):
    machine = Machine(monkeypatch)
    machine.busy = True
    _, longer = machine.run(60)
    assert longer < 1.2
    assert machine.run(200)[1] < 1.05


def test_changes_are_followed(monkeypatch):
    machine = Machine(monkeypatch)
    machine.run(400)
    machine.busy = True
    assert machine.run(60)[1] < 1.2
    machine.busy = False
    machine.run(100)
    ones, longer = machine.run(50)
    assert ones <= 4 and longer < 1.05


def test_too_many_threads_for_a_scene_are_soon_given_up(monkeypatch):
    ones, longer = Machine(monkeypatch, gain=0.5, most=16).run(60)
    assert ones > 40 and longer < 1.25


def test_what_is_asked_for_is_taken(monkeypatch):
    machine = Machine(monkeypatch)
    machine.busy, machine.choice = True, Threads(2, 1000)
    assert machine.run(40)[0] == 0
