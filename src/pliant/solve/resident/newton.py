"""Newton's method for time steps of what lies on a GPU: the host says what step to take, and steps in only where the
graph of a usual step does not get to its end."""

from functools import cached_property

import numpy as np

from pliant.elements.potential import ElementPotential
from pliant.elements.tangles import renew_tangles
from pliant.model.state import State
from pliant.solve.info import Info
from pliant.solve.resident.driven import DrivenNewton
from pliant.solve.resident.states import Resident

# The coarse level is renewed after so many steps; when the passes that iterations took beyond those that they took when
# it was new have added up to about what a renewal costs; when the length of the step is another. (The first linear
# system of a step, solved roughly, hardly tells: an old level costs passes where systems are solved to three digits.)
MOST_STEPS, EXCESS_PASSES, OTHER_LENGTH = 25, 40, 1.01
# Within a step it is renewed when a system took so many times the passes of an iteration then, and some more.
FAR_MORE, SLACK = 2.0, 20
# Most solves of a linear step, each of which gains about three digits.
MOST_REFINEMENTS = 40
# The name of the coarse level in the memory of a state.
LEVEL = "cuda"


class ResidentNewton(Resident):
    """Newton's method on a device, converged as on the CPU; positions and velocities stay there."""

    name, equations, linear_rows = "newton", "implicit", False
    label, linear, program_kind = "newton", "pcg", "program.Program"

    def __init__(self, options, model, state: State):
        super().__init__(options, model, state, self.program_kind)
        self.renewed = None  # length of the step [s], and passes of an iteration (0: not known yet), when it was new
        self.age, self.excess = 0, 0.0  # steps since, and passes beyond those
        self.renewing = self.from_rest = False  # of the step that is under way
        self.balanced = False  # whether the last step took a correction for the sake of the balance
        self.numbers = []  # what the last step has left (`codes`)

    @property
    def most_iterations(self) -> int:
        return self.options.max_iterations

    # ---- a step

    def _launch(self, h: float, fresh: bool) -> None:
        self.renewing, self.from_rest = self._renews(h), not fresh or self.moving
        usual = "renewing step" if self.renewing else ("step" if self.balanced else "short step")
        self.program.launch("step from rest" if self.from_rest else usual)

    def _finish(self, h: float) -> None:
        """Launches graphs until the step is through."""
        codes, program, renew = self.codes, self.program, self.renewing
        further = {codes.START: "restart", codes.TRYING: "trial", codes.ESTIMATE: "balance", codes.BALANCE: "balance"}
        status = program.wait()
        waiting = renew and self.from_rest  # the first matrix of such a step comes with the next graph
        renewed = renew and not waiting
        while status != codes.DONE:
            if status != codes.ITERATE:
                status = program.run(further[status])
                continue
            now = waiting or (not renewed and self._stale())
            renewed, waiting = renewed or now, False
            status = program.run("renewing iterate" if now else "iterate")
        self.numbers = program.host_numbers.tolist()
        self._note(renewed, renew, h)

    def _stale(self) -> bool:
        """Whether the coarse level serves this step so badly that it is renewed at once."""
        numbers, codes = self.program.host_numbers, self.codes
        if self.renewed is None or self.renewed[1] == 0.0 or numbers[codes.PRODUCTS] == 0.0:
            return False
        return float(numbers[codes.PASSES]) > FAR_MORE * self.renewed[1] + SLACK

    def _note(self, renewed: bool, at_first: bool, h: float) -> None:
        """Keeps how old the coarse level is; renewed: in this step, at_first: for its first linear system."""
        numbers = self.numbers
        passes, iterations = numbers[self.codes.PRODUCTS], max(numbers[self.codes.ITERATIONS], 1.0)
        self.age, self.balanced = self.age + 1, bool(numbers[self.codes.BALANCINGS])
        if renewed:
            self.renewed, self.age, self.excess = (h, passes / iterations if at_first else 0.0), 0, 0.0
        elif self.renewed is None:  # the step failed before its first matrix
            return
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
        codes, numbers = self.codes, self.numbers
        return Info(
            self.label,
            iterations=int(numbers[codes.PRODUCTS]),
            newton_iterations=int(numbers[codes.ITERATIONS]),
            residual=numbers[codes.RESIDUAL],
            imbalance=numbers[codes.IMBALANCE],
            converged=bool(numbers[codes.CONVERGED]),
            shortest_step=numbers[codes.SHORTEST],
            linear=self.linear,
        )

    # ---- states

    def _take(self, model, state: State) -> None:
        super()._take(model, state)
        self._take_level(state.memory)

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

    # ---- bodies turned inside out

    def _takes(self, model, state: State, h: float, fresh: bool) -> bool:
        """Whether all bodies follow their laws in the next step."""
        if fresh and self.numbers[self.codes.INVERTED] == 0.0:  # it comes from such a step
            return True
        return (
            not state.tangled.any()
            and not renew_tangles(model, ElementPotential.of(model.elements, state), state, h).any()
        )

    def _lost(self) -> bool:
        """Whether no start of the step has a finite energy, as where pins have turned elements inside out."""
        return self.numbers[self.codes.FAILED] != 0.0

    @cached_property
    def stand_in(self) -> DrivenNewton:
        """Who takes such steps: the host, with elements and linear systems on the device."""
        return DrivenNewton(self.options, self.model, None)


class ResidentLinear(ResidentNewton):
    """Linear elasticity with one matrix for all steps of a length: each is a linear system, solved by conjugate
    gradients in float32 that are begun again with residuals in float64 until what is left is small enough."""

    name, equations, linear_rows = "linear", "warped", True
    label, linear, program_kind = "linear cg", "cg", "program.Constant"

    @property
    def most_iterations(self) -> int:
        return MOST_REFINEMENTS

    def _renews(self, h: float) -> bool:
        return self.renewed is None or h != self.renewed[0]

    def _stale(self) -> bool:
        return False

    def _level(self) -> dict:
        return {}

    def _take_level(self, memory: dict) -> None:
        """It comes with the matrix, which no memory has."""

    def _takes(self, model, state: State, h: float, fresh: bool) -> bool:
        """The equations are the same inside out."""
        return True

    def _lost(self) -> bool:
        """Energies are finite where numbers are."""
        return False
