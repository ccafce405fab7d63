"""Motors of many simulations as arrays of numbers."""

import numpy as np

from pliant.checks import shown
from pliant.errors import SceneError
from pliant.simulation import Simulation

NAMES = ("position", "velocity", "stiffness", "damping", "max_torque")
# What each must be, beside a finite number.
RULES = {"stiffness": "above 0", "damping": "at least 0", "max_torque": "above 0"}


class Motors:
    """numbers[name] (count, drives): no number where a motor has none. late (count, drives): those that a Simulation
    has not been told yet."""

    def __init__(self, models: list):
        drives = len(models[0].joints.drives)
        self.numbers = {name: np.full((len(models), drives), np.nan) for name in NAMES}
        self.late = np.zeros((len(models), drives), bool)
        self.places: dict[int, tuple[int, str]] = {}  # joint and coordinate of the drives that were changed
        for i, model in enumerate(models):
            self.take(i, model)
        self.start = {name: values.copy() for name, values in self.numbers.items()}

    def take(self, i: int, model) -> None:
        """Let those of a simulation be what its model says."""
        drives = model.joints.drives
        for name, values in zip(
            NAMES, (drives.position, drives.velocity, drives.stiffness, drives.damping, drives.bound)
        ):
            self.numbers[name][i] = [np.nan if value is None else value for value in values]
        self.late[i] = False

    def reset(self, only: list[int]) -> None:
        """Let those of some simulations be as at the start."""
        for name, values in self.start.items():
            self.numbers[name][only] = values[only]
        self.late[only] = False

    def change(self, drive: int, place: tuple[int, str], only: list[int], changes: dict) -> dict[str, np.ndarray]:
        """Change numbers of a drive in some simulations, as pliant.Motor.changed; all its numbers there (k,)."""
        if wrong := set(changes) - set(NAMES):
            raise SceneError(f"a motor has {', '.join(NAMES)}, but no {', '.join(sorted(wrong))}")
        values = {name: _checked(name, each, only) for name, each in changes.items() if each[0] is not None}
        if "velocity" in values and "position" in values:
            raise SceneError("a motor needs either a velocity or a position")
        motor = {name: own[only, drive] for name, own in self.numbers.items()}
        if "velocity" in values:
            motor |= {"position": np.full(len(only), np.nan), "stiffness": np.zeros(len(only))}
            motor["damping"] = np.zeros(len(only))
        if "position" in values:
            motor["velocity"] = np.full(len(only), np.nan)
        motor |= values
        goes = np.isfinite(motor["position"])
        if np.any(goes & ~(motor["stiffness"] > 0)):
            raise SceneError("a motor with a position needs a stiffness [N m/rad or N/m]")
        if np.any(~goes & ((motor["stiffness"] > 0) | (motor["damping"] > 0))):
            raise SceneError("motor stiffness and damping go with a position; a velocity is met as max_torque allows")
        for name, own in motor.items():
            self.numbers[name][only, drive] = own
        self.late[only, drive] = True
        self.places[drive] = place
        return motor

    def set_on(self, sim: Simulation, i: int) -> None:
        """Tell a simulation what its motors do."""
        for drive in np.flatnonzero(self.late[i]):
            place, name = self.places[int(drive)]
            own = {key: float(values[i, drive]) for key, values in self.numbers.items()}
            goal = "position" if np.isfinite(own["position"]) else "velocity"
            names = (goal, "stiffness", "damping", "max_torque") if goal == "position" else (goal, "max_torque")
            sim.set_motor(sim.scene.joints[place], name, **{key: own[key] for key in names})
        self.late[i] = False


def _checked(name: str, values: list, only: list[int]) -> np.ndarray:
    """Numbers (k,) for simulations of these numbers."""
    if any(callable(value) for value in values):
        raise SceneError(f"motor {name} must be numbers on device 'cuda', for a function of time use device='cpu'")
    try:
        found = np.array(values, float)
    except (TypeError, ValueError):
        found = np.full(len(values), np.nan)
    good = np.isfinite(found) | ((found == np.inf) if name == "max_torque" else False)
    if name in RULES:
        good &= (found >= 0) if name == "damping" else (found > 0)
    if not good.all():
        k = int(np.argmin(good))
        raise SceneError(
            f"simulation {only[k]}: motor {name} must be a number {RULES.get(name, '')}, got {shown(values[k])}"
        )
    return found
