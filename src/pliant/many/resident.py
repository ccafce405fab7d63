"""Many simulations whose states lie on a device from step to step."""

from collections.abc import Callable, Iterator

import numpy as np

from pliant.errors import SceneError
from pliant.kernels.device import device
from pliant.many.advance import Outcome, advance
from pliant.many.batches import for_each, joint_of, soft_of
from pliant.many.motors import Motors
from pliant.many.simulations import Simulations
from pliant.model.state import State
from pliant.readers import joints as joint_readers
from pliant.readers.report import Energy
from pliant.scene.bodies import Soft
from pliant.simulation import Simulation
from pliant.solve.info import Info
from pliant.solve.many import data
from pliant.solve.many.layout import lay_out
from pliant.solve.many.refusals import refuse_beyond_many

# How many scenes are looked at for changes before a step.
CHECKED = 64
# What of a state lies on the GPU.
STATES = ("x", "v", "before", "change", "impulse", "angle")


class ResidentSimulations(Simulations):
    """Simulations of scenes of one structure, stepped by a GPU in the same launches.

    `many[i]` is a Simulation of the CPU with the state that the GPU has come to when it is asked for; what is set there
    is sent back before the next step. A step that does not converge on the GPU is taken by that Simulation, with all
    that the CPU does for hard steps; `taken_on_cpu` (count,) says how often.
    """

    def __init__(self, sims: list[Simulation], scenes: list[int], parameters: list):
        super().__init__(sims, scenes, parameters, workers=1)
        self._models = [sim.model for sim in sims]  # with motors as the GPU knows them
        self._options, count = sims[0].solver, len(sims)
        refuse_beyond_many(self._options, self._models)
        place = device("cuda")
        place.check()
        self._arrays = place.resident.many_arrays
        self._layout = lay_out(self._models[0])
        self._start = data.stacked_states(self._arrays, self._layout, self._models, [sim.state for sim in sims])
        made = data.program_of(place.resident, self._layout, self._models, self._start, self.dt)
        self._program, self._start_rows = made
        self._rows, self._motors = self._start_rows.copy(), Motors(self._models)
        self.taken_on_cpu = np.zeros(count, np.int64)
        """How many steps of each the GPU left to the CPU."""
        self._times, self._steps = np.array([sim.time for sim in sims]), np.array([sim.state.step for sim in sims])
        self._reports = self._start["report"].copy()
        self._seen = [sim.state for sim in sims]  # states that lie on the GPU as well
        self._ahead = np.zeros(count, bool)  # which are further on the GPU than here
        self._tangled = np.array([bool(sim.state.tangled.any()) for sim in sims])
        self._checked, self._lent = 0, set()

    # ---- states here and there

    def __getitem__(self, number: int) -> Simulation:
        sim = super().__getitem__(number)
        self._lend([range(len(self))[number]])
        return sim

    def _to_check(self) -> list[int]:
        """Some scenes at a time, in turn: looking at thousands takes longer than a step."""
        all_, first = super()._to_check(), self._checked
        self._checked = (first + CHECKED) % len(all_)
        return (all_ + all_)[first : first + min(CHECKED, len(all_))]

    def __iter__(self) -> Iterator[Simulation]:
        self._lend(range(len(self)))
        return iter(self._sims)

    def _lend(self, numbers) -> None:
        """Bring simulations to where the GPU has come, and look from now on whether somebody has set something."""
        self._lent.update(numbers)
        self._fetch(numbers)

    def _fetch(self, numbers) -> None:
        """Bring the simulations of these numbers to where the GPU has come, with their motors."""
        for i in numbers:
            if self._motors.late[i].any():
                self._motors.set_on(self._sims[i], i)
                self._models[i] = self._sims[i].model
        late = [i for i in numbers if self._ahead[i]]
        if not late:
            return
        arrays = {name: self._program.read(name) for name in STATES}
        for i in late:
            own = {name: arrays[name][i].copy() for name in STATES}
            sim, place = self._sims[i], (float(self._times[i]), int(self._steps[i]), self.dt)
            sim.state = self._seen[i] = data.state_from(self._layout, sim.model, sim.state, own, *place)
            sim.info = self._info(i)
            self._ahead[i] = False

    def _send(self) -> None:
        """Send what was set here to the GPU: states and motors."""
        lent = [(i, self._sims[i]) for i in sorted(self._lent)]
        states = [i for i, sim in lent if sim.state is not self._seen[i]]
        for i in states:
            if self._ahead[i]:
                raise SceneError(
                    f"simulation {i} was set where it was before the last steps; ask for many[{i}] after them"
                )
        if states:
            each = [
                data.state_arrays(self._arrays, self._layout, self._sims[i].model, self._sims[i].state) for i in states
            ]
            self._program.write(states, {name: np.stack([one[name] for one in each]) for name in each[0]})
            for i, arrays in zip(states, each):
                self._reports[i] = arrays["report"]
                state = self._seen[i] = self._sims[i].state
                self._times[i], self._steps[i] = state.time, state.step
                self._tangled[i] = state.tangled.any()
        motors = [i for i, sim in lent if sim.model is not self._models[i]]
        if motors:
            refuse_beyond_many(self._options, [self._sims[i].model for i in motors], motors)
            for i in motors:
                self._models[i] = self._sims[i].model
                self._rows[i] = data.given_rows(self._arrays, self._models[i], self.dt)
                self._motors.take(i, self._models[i])
            self._program.write_rows(motors, self._rows[motors])

    # ---- stepping

    def _advance(self, numbers: list[int], n: int) -> dict[int, Outcome]:
        """Take steps on the GPU, and here of what it leaves; outcomes of these, and of those that fail."""
        self._send()
        todo, outcomes = np.zeros(len(self), np.int64), {}
        todo[numbers] = n
        while todo.any():
            stuck = self._leap(todo)
            for i in stuck:
                outcome = self._step_here(i)
                todo[i] = 0 if outcome.reason else todo[i] - 1
                if outcome.reason or outcome.warnings:
                    outcomes[i] = outcome
        return outcomes

    def _leap(self, todo: np.ndarray) -> list[int]:
        """Take steps on the GPU, as many as it can; the simulations that have steps left: it gave up on them, or they
        are tangled, which it knows nothing of."""
        a, options = self._arrays, self._options
        there = np.where(self._tangled, 0, todo)
        before = self._reports[:, a.TAKEN].copy()
        report = self._program.step(there, self.dt, options.tolerance, int(options.max_iterations))
        taken = (report[:, a.TAKEN] - before).astype(np.int64)
        moved = taken > 0
        self._reports[moved | (there > 0)] = report[moved | (there > 0)]
        for k in range(taken.max(initial=0)):  # as one step after the other adds them up
            self._times[taken > k] += self.dt
        self._steps += taken
        self._ahead |= moved
        todo -= taken
        return [int(i) for i in np.flatnonzero(todo)]

    def _step_here(self, i: int) -> Outcome:
        """One step by the CPU, from where the GPU has come to."""
        self._fetch([i])
        sim = self._sims[i]
        outcome = advance(sim, 1)
        self.taken_on_cpu[i] += outcome.steps
        arrays = data.state_arrays(self._arrays, self._layout, sim.model, sim.state)
        self._reports[i] = arrays["report"]
        self._program.write([i], {name: value[None] for name, value in arrays.items()})
        self._seen[i], self._tangled[i] = sim.state, sim.state.tangled.any()
        self._times[i], self._steps[i] = sim.state.time, sim.state.step
        return outcome

    def reset(self, only=None) -> None:
        """As Simulations.reset."""
        numbers = self._numbers(only)
        super().reset(only)
        self._program.write(numbers, {name: values[numbers] for name, values in self._start.items()})
        self._rows[numbers] = self._start_rows[numbers]
        self._program.write_rows(numbers, self._rows[numbers])
        self._reports[numbers], self._ahead[numbers] = self._start["report"][numbers], False
        self._tangled[numbers] = False
        for i in numbers:
            sim = self._sims[i]
            self._seen[i], self._models[i], self._times[i], self._steps[i] = sim.state, sim.model, sim.time, 0
        self._motors.reset(numbers)

    # ---- reports

    @property
    def time(self) -> np.ndarray:
        return np.where(self._ahead, self._times, [sim.time for sim in self._sims])

    @property
    def infos(self) -> list[Info | None]:
        return [self._info(i) if self._ahead[i] else self._sims[i].info for i in range(len(self))]

    @property
    def converged(self) -> np.ndarray:
        """As Simulations.converged; a step that the GPU has kept has converged."""
        here = [bool(ahead or (sim.info and sim.info.converged)) for sim, ahead in zip(self._sims, self._ahead)]
        return np.array(here) & self.running

    @property
    def states(self) -> list[State]:
        return [sim.state for sim in self]

    def _info(self, i: int) -> Info:
        a, report = self._arrays, self._reports[i]
        return Info(
            "newton",
            iterations=int(report[a.SOLVES]),
            newton_iterations=int(report[a.ITERATIONS]),
            residual=float(report[a.RESIDUAL]),
            imbalance=float(report[a.IMBALANCE]),
            shortest_step=float(report[a.SHORTEST]),
            linear="cholesky",
        )

    # ---- quick readers and setters of all at once

    def positions(self, body: Soft | str | None = None) -> np.ndarray:
        return self._nodes("x", body)

    def velocities(self, body: Soft | str | None = None) -> np.ndarray:
        return self._nodes("v", body)

    def _nodes(self, name: str, body) -> np.ndarray:
        own = self._sims[0]
        nodes = own._nodes(soft_of(own, body))
        self._send()
        return self._program.read(name)[:, self._layout.place[nodes]]

    def joint_position(self, joint=None, coordinate: str | None = None) -> np.ndarray:
        own = self._sims[0]
        number = joint_readers.coordinate_number(own.model, own._joint(joint_of(own, joint)), coordinate)
        self._send()
        return self._program.read("angle")[:, number]

    def motor_effort(self, joint=None, coordinate: str | None = None) -> np.ndarray:
        drive = self._drive(joint, coordinate)[0]
        self._send()
        return self._program.read("impulse")[:, self._sims[0].model.joints.drives.block[drive], 0] / self.dt

    def _drive(self, joint, coordinate: str | None) -> tuple[int, int, str]:
        """The number of a motor's drive, of its joint, and the name of its coordinate."""
        own = self._sims[0]
        place = own._joint(joint_of(own, joint))
        number = joint_readers.coordinate_number(own.model, place, coordinate)
        drive = joint_readers.drive_number(own.model, place, number)
        return drive, place, own.model.joints.free.name[number]

    def set_motor(self, joint=None, coordinate: str | None = None, only=None, **changes) -> None:
        """As Simulations.set_motor, with numbers alone."""
        numbers = self._numbers(only)
        self._send()
        drive, place, name = self._drive(joint, coordinate)
        each = {key: for_each(value, (), len(numbers), f"motor {key}") for key, value in changes.items()}
        motor = self._motors.change(drive, (place, name), numbers, each)
        rows = self._rows[numbers]
        block = int(self._sims[0].model.joints.drives.block[drive])
        data.set_motor_rows(self._arrays, rows, block, motor, self.dt)
        self._rows[numbers] = rows
        self._program.write_rows(numbers, rows)

    def _read(self, what: str, find: Callable, thing, reader: Callable) -> np.ndarray:
        self._fetch(range(len(self)))
        return super()._read(what, find, thing, reader)

    def energy(self) -> Energy:
        self._fetch(range(len(self)))
        return super().energy()

    def set_states(self, states: list[State], only=None) -> None:
        """As Simulations.set_states."""
        self._lend(self._numbers(only))
        super().set_states(states, only)

    def _of_each(self, numbers, find: Callable, thing, use: Callable) -> list:
        self._lend(numbers)
        return super()._of_each(numbers, find, thing, use)
