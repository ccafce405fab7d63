"""Newton's method for time steps of what lies on a GPU: the host says what step to take, and steps in only where the
graph of a usual step does not get to its end."""

import weakref
from time import perf_counter

import numpy as np

from pliant.elements.potential import ElementPotential
from pliant.elements.tangles import MOST_INVERTED
from pliant.errors import DeviceError
from pliant.model.resident import ResidentState
from pliant.model.state import State
from pliant.solve.info import Info
from pliant.solve.options import Newton
from pliant.solve.resident import data

# The coarse level is renewed after so many steps; when the passes that iterations took beyond those that they took when
# it was new have added up to about what a renewal costs; when the length of the step is another. (The first linear
# system of a step, solved roughly, hardly tells: an old level costs passes where systems are solved to three digits.)
MOST_STEPS, EXCESS_PASSES, OTHER_LENGTH = 25, 40, 1.01
# Within a step it is renewed when a system took so many times the passes of an iteration then, and some more.
FAR_MORE, SLACK = 2.0, 20
# The name of the coarse level in the memory of a state.
LEVEL = "cuda"


class ResidentNewton:
    """Newton's method on a device, converged as on the CPU; positions and velocities stay there."""

    name, equations, linear_rows = "newton", "implicit", False

    def __init__(self, options: Newton, model, state: State):
        self.options, kernels = options, model.device.resident
        self.codes = kernels.codes
        self.program = data.make_program(kernels, kernels.program.Program, model)
        self.model, self.plastic = model, model.elements.plastic
        self.constant, self.moving = data.is_constant(model), bool(data.moving_pins(model))
        data.vectors_at(model, state.time, self.program.host_vectors)
        # which states lie in the arrays of a step's end and of its start
        self.end = self.start = lambda: None
        self.renewed = None  # length of the step [s], and passes of an iteration (0: not known yet), when it was new
        self.age, self.excess = 0, 0.0  # steps since, and passes beyond those

    # ---- a step

    def advance(self, model, state: State, h: float) -> tuple[State, Info]:
        """The state after h [s], and the report."""
        clock = perf_counter()
        fresh = state is self.end()
        if not fresh:
            self._take(model, state)
        elif (old := self.start()) is not None:
            old.settle()
        self._refuse_tangled(model, state, fresh)
        self._set_parameters(model, state, h, fresh)
        self.start, self.end = (weakref.ref(state) if fresh else (lambda: None)), lambda: None
        asked = perf_counter()
        self._run(from_rest=not fresh or self.moving, renew=self._renews(h), h=h)
        waited = perf_counter()
        known = {} if fresh else {"previous_velocity": state.v}
        known |= {} if self.plastic else {"plastic_strain": state.plastic_strain}
        new = ResidentState.lying(state, self._fetch, time=state.time + h, step=state.step + 1, span=h, **known)
        self.end = weakref.ref(new)
        info = self._info()
        info.timings = {"host": perf_counter() - clock - (waited - asked), "solve": waited - asked}
        return new, info

    def _set_parameters(self, model, state: State, h: float, fresh: bool) -> None:
        codes, numbers = self.codes, self.program.host_parameters
        numbers[codes.STEP], numbers[codes.TOLERANCE] = h, self.options.tolerance
        numbers[codes.MOST_ITERATIONS] = self.options.max_iterations
        numbers[codes.GRAVITY : codes.GRAVITY + 3] = model.gravity
        numbers[codes.FRESH], numbers[codes.KNOWN] = fresh, fresh and not self.moving
        numbers[codes.EXTRAPOLATED] = not fresh and "before" in state.memory
        if not self.constant:
            data.vectors_at(model, state.time + h, self.program.host_vectors)

    def _run(self, from_rest: bool, renew: bool, h: float) -> None:
        """Launches graphs until the step is through."""
        codes, program = self.codes, self.program
        further = {codes.START: "restart", codes.TRYING: "trial", codes.ESTIMATE: "balance", codes.BALANCE: "balance"}
        status = program.run("step from rest" if from_rest else "renewing step" if renew else "step")
        waiting = renew and from_rest  # the first matrix of such a step comes with the next graph
        renewed = renew and not waiting
        while status != codes.DONE:
            if status != codes.ITERATE:
                status = program.run(further[status])
                continue
            now = waiting or (not renewed and self._stale())
            renewed, waiting = renewed or now, False
            status = program.run("renewing iterate" if now else "iterate")
        self._note(renewed, renew, h)

    def _stale(self) -> bool:
        """Whether the coarse level serves this step so badly that it is renewed at once."""
        numbers, codes = self.program.host_numbers, self.codes
        if self.renewed is None or self.renewed[1] == 0.0 or numbers[codes.PRODUCTS] == 0.0:
            return False
        return float(numbers[codes.PASSES]) > FAR_MORE * self.renewed[1] + SLACK

    def _note(self, renewed: bool, at_first: bool, h: float) -> None:
        """Keeps how old the coarse level is; renewed: in this step, at_first: for its first linear system."""
        numbers = self.program.host_numbers
        passes, iterations = float(numbers[self.codes.PRODUCTS]), max(float(numbers[self.codes.ITERATIONS]), 1.0)
        self.age += 1
        if renewed:
            self.renewed, self.age, self.excess = (h, passes / iterations if at_first else 0.0), 0, 0.0
        elif self.renewed[1] == 0.0:
            self.renewed = (self.renewed[0], passes / iterations)
        else:
            self.excess += max(passes - self.renewed[1] * iterations, 0.0)

    def _renews(self, h: float) -> bool:
        """Whether the coarse level is to be renewed in the next step."""
        if self.renewed is None or self.age >= MOST_STEPS or self.excess >= EXCESS_PASSES:
            return True
        return max(h / self.renewed[0], self.renewed[0] / h) > OTHER_LENGTH

    def _info(self) -> Info:
        codes, numbers = self.codes, self.program.host_numbers
        return Info(
            "newton",
            iterations=int(numbers[codes.PRODUCTS]),
            newton_iterations=int(numbers[codes.ITERATIONS]),
            residual=float(numbers[codes.RESIDUAL]),
            imbalance=float(numbers[codes.IMBALANCE]),
            converged=bool(numbers[codes.CONVERGED]),
            shortest_step=float(numbers[codes.SHORTEST]),
            linear="pcg",
        )

    # ---- states

    def _take(self, model, state: State) -> None:
        """Uploads a state that does not lie where the last step ended."""
        for other in (self.start(), self.end()):
            if other is not None:
                other.settle()
        change = state.memory.get(self.name, {}).get("change")
        change = np.zeros_like(state.v) if change is None else change
        before = state.memory.get("before")
        start = {} if before is None else {"v": before["velocity"]}
        self.program.upload(xt=state.x, u=state.v, warm=change, **start)
        self._take_level(state.memory)
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
        """The coarse level as memory: with it, a run that is resumed goes on bit by bit."""
        if self.renewed is None:
            return {}
        inverse, arms = self.program.download_level()
        return {LEVEL: {"inverse": inverse, "arms": arms, "age": np.array([*self.renewed, self.age, self.excess])}}

    def _take_level(self, memory: dict) -> None:
        """Takes up a coarse level from memory, if it is of such a GPU and mesh."""
        level = memory.get(LEVEL)
        if level and len(level["age"]) == 4 and self.program.upload_level(level["inverse"], level["arms"]):
            h, passes, age, self.excess = (float(value) for value in level["age"])
            self.renewed, self.age = (h, passes), int(age)

    def view(self, state: State):
        """Positions and velocities of a state on the device, for other libraries."""
        if state is self.start():
            return self.program.view("x", "v")
        if state is not self.end():
            self._take(self.model, state)
            self.start, self.end = (lambda: None), (lambda: None)
        return self.program.view("xt", "u")

    def _refuse_tangled(self, model, state: State, fresh: bool) -> None:
        """Bodies turned inside out are not pulled back here."""
        if fresh and self.program.host_numbers[self.codes.INVERTED] == 0.0 and not state.tangled.any():
            return
        inverted = ElementPotential.of(model.elements, state).inverted(state.x)
        cells = np.array([len(own) for own in model.elements.cells])
        bad = np.flatnonzero((inverted > MOST_INVERTED * cells) | (state.tangled > 0))
        if len(bad):
            raise DeviceError(
                f"step {state.step + 1}: soft body {model.soft_names[bad[0]]!r} is turned inside out, and device "
                f"'cuda' does not pull such bodies back to shape yet; use a shorter time step or device='cpu'"
            )
