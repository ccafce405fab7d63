"""Explicit steps of what lies on a device."""

from pliant.model.state import State
from pliant.solve.explicit import warn_of_long_steps
from pliant.solve.info import Info
from pliant.solve.resident.states import Resident


class ResidentExplicit(Resident):
    """Symplectic Euler on a device: forces at the start of a step, and nothing that is solved."""

    name, equations, linear_rows = "explicit", "explicit", True

    def __init__(self, options, model, state: State):
        super().__init__(options, model, state, "explicit.Explicit", within_shared=False)
        self.checked = None

    def _takes(self, model, state: State, h: float, fresh: bool) -> bool:
        if self.checked != h:
            self.checked = h
            warn_of_long_steps(self.options.method, model, state, h)
        return True

    def _launch(self, h: float, fresh: bool) -> None:
        self.program.launch("step")

    def _finish(self, h: float) -> None:
        self.program.wait()

    def _info(self) -> Info:
        """Velocities are what their equation says, so nothing is out of balance."""
        return Info("explicit symplectic", converged=self.program.is_finite, imbalance=0.0)
