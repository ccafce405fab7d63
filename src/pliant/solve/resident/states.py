"""Steps of what lies on a device: which states lie in its arrays, what of them is uploaded and read."""

import weakref
from time import perf_counter

import numpy as np

from pliant.model.resident import ResidentState
from pliant.model.state import State
from pliant.solve.info import Info
from pliant.solve.resident import data


class Resident:
    """A solver whose positions and velocities stay on a device. What a kind of them does: `_launch` queues a step,
    `_finish` waits for its end, `_info` reports it."""

    name, threaded = "", False

    def __init__(self, options, model, state: State, kind: str, **layout):
        """kind: module and class of the device's program; layout: options of its layout."""
        self.options, kernels = options, model.device.resident
        module, program = kind.split(".")
        self.codes = kernels.codes
        self.program = data.make_program(kernels, getattr(getattr(kernels, module), program), model, **layout)
        self.model, self.plastic = model, model.elements.plastic
        self.constant, self.moving = data.is_constant(model), bool(data.moving_pins(model))
        data.vectors_at(model, state.time, self.program.host_vectors)
        # which states lie in the arrays of a step's end and of its start
        self.end = self.start = lambda: None
        self.said = None  # the parameters of the last step

    def advance(self, model, state: State, h: float) -> tuple[State, Info] | None:
        """The state after h [s], and the report; None where the step is one for the stand-in."""
        clock = perf_counter()
        fresh = state is self.end()
        if not self._takes(model, state, h, fresh):
            return None
        if not fresh:
            self._take(model, state)
        elif (old := self.start()) is not None:
            old.settle()
        self._set_parameters(model, state, h, fresh)
        self.start, self.end = (weakref.ref(state) if fresh else (lambda: None)), lambda: None
        asked = perf_counter()
        self._launch(h, fresh)
        # while the device is at work
        known = {} if fresh else {"previous_velocity": state.v}
        if not self.plastic:
            known["plastic_strain"] = state.plastic_strain
        new = ResidentState.lying(state, self._fetch, time=state.time + h, step=state.step + 1, span=h, **known)
        self._finish(h)
        waited = perf_counter()
        if self._lost():
            return None
        self.end = weakref.ref(new)
        info = self._info()
        info.timings = {"host": perf_counter() - clock - (waited - asked), "solve": waited - asked}
        return new, info

    def _takes(self, model, state: State, h: float, fresh: bool) -> bool:
        """Whether the next step is not one for the stand-in; refuses or warns of what only a state tells."""
        return True

    def _lost(self) -> bool:
        """Whether the step just taken turned out to be one for the stand-in."""
        return False

    def _set_parameters(self, model, state: State, h: float, fresh: bool) -> None:
        codes, numbers = self.codes, self.program.host_parameters
        said = (h, fresh, not fresh and "before" in state.memory)
        if said != self.said:
            self.said = said
            numbers[codes.STEP], numbers[codes.TOLERANCE] = h, self.options.tolerance
            numbers[codes.MOST_ITERATIONS] = self.most_iterations
            numbers[codes.GRAVITY : codes.GRAVITY + 3] = model.gravity
            numbers[codes.FRESH], numbers[codes.KNOWN] = fresh, fresh and not self.moving
            numbers[codes.EXTRAPOLATED] = said[2]
        elif self.constant:
            return
        if not self.constant:
            data.vectors_at(model, state.time + h, self.program.host_vectors)
        self.program.say()

    @property
    def most_iterations(self) -> int:
        """Iterations after which a step ends."""
        return 1

    def _take(self, model, state: State) -> None:
        """Uploads a state that does not lie where the last step ended."""
        for other in (self.start(), self.end()):
            if other is not None:
                other.settle()
        change = state.memory.get(self.name, {}).get("change")
        change = np.zeros_like(state.v) if change is None else change
        before = state.memory.get("before")
        start = {} if before is None else {"v": before["velocity"]}
        if before is not None and self.program.damped_elements:
            start["frames"] = before["x"]
        self.program.upload(xt=state.x, u=state.v, warm=change, **start)
        if self.plastic:
            self.program.upload_plastic(*data.plastic_data(model, state.plastic_strain))

    def _fetch(self, state: ResidentState, name: str):
        """What a state that lies here has under a name."""
        program = self.program
        if state is self.end():
            places = {"x": "xt", "v": "u", "previous_velocity": "v"}
        else:
            places = {"x": "x", "v": "v", "previous_velocity": "previous"}
        if name == "plastic_strain":
            by_set = program.download_plastic("plastic" if state is self.end() else "plastic_before")
            return data.plastic_strain(self.model, by_set)
        if name != "memory":
            return program.download(places[name])
        if state is not self.end():
            return {self.name: {"change": program.download("warm")}}
        return {self.name: {"change": state.v - program.download("target")}} | self._level()

    def _level(self) -> dict:
        """What else is kept in the memory of a state."""
        return {}

    def view(self, state: State):
        """Positions and velocities of a state on the device, for other libraries."""
        if state is self.start():
            return self.program.view("x", "v")
        if state is not self.end():
            self._take(self.model, state)
            self.start, self.end = (lambda: None), (lambda: None)
        return self.program.view("xt", "u")
