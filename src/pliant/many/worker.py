"""A process that takes steps: tasks come in on its input, outcomes go out on its output. Run by `many.workers`."""

import os
import pickle
import signal
import sys

from pliant.many.advance import advance, set_motors
from pliant.simulation import Simulation


def main() -> None:
    """Answer tasks until the input ends."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what users' functions print is no answer
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that asks decides what becomes of the others
    scenes, fresh, states = {}, {}, {}
    while True:
        try:
            tasks = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        for task in tasks:
            if task.scene not in scenes:
                arguments, options = pickle.loads(task.described)
                scenes[task.scene] = Simulation(*arguments, **options)
                fresh[task.scene] = scenes[task.scene].model
            sim = scenes[task.scene]
            sim.state, sim.info = (states[task.number] if task.state is None else task.state), None
            if sim.motors != task.motors:
                sim.model, sim.motors = fresh[task.scene], {}
                set_motors(sim, task.motors)
            outcome = advance(sim, task.steps)
            states[task.number] = outcome.state
            pickle.dump(outcome, answers, pickle.HIGHEST_PROTOCOL)
            answers.flush()
