"""What a process is asked to do with one of many simulations, and what it answers."""

import warnings
from dataclasses import asdict, dataclass, field
from time import perf_counter

from pliant.model.state import State
from pliant.scene.coordinates import Motor
from pliant.simulation import Simulation
from pliant.solve.info import Info


@dataclass(frozen=True)
class Task:
    """Steps of one simulation for a worker.

    number: of the simulation; scene: of its scene, which `described` holds as pickled arguments of a Simulation where
    the worker does not know it yet. state: None where the worker has it from the last time. motors: as
    Simulation.motors.
    """

    number: int
    scene: int
    steps: int
    state: State | None
    motors: dict[tuple[int, str], Motor]
    described: bytes | None


@dataclass
class Outcome:
    """Where a simulation got to: its last state and report, how many steps it took, and, if it stopped on the way, why;
    warnings: category and text of those that were given."""

    state: State
    info: Info | None
    steps: int = 0
    reason: str = ""
    warnings: list[tuple[type, str]] = field(default_factory=list)


def advance(sim: Simulation, steps: int, until: float = float("inf")) -> Outcome:
    """Take steps until a time of the clock (perf_counter); the state before a step that fails is kept."""
    outcome = Outcome(sim.state, sim.info)
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        try:
            while outcome.steps < steps and perf_counter() < until:
                sim.step()
                outcome.steps += 1
        except Exception as error:  # also one of a user's function: the others are to go on
            outcome.reason = f"{type(error).__name__}: {error}"
    outcome.state, outcome.info = sim.state, sim.info
    outcome.warnings = [(warning.category, str(warning.message)) for warning in given]
    return outcome


def set_motors(sim: Simulation, motors: dict[tuple[int, str], Motor]) -> None:
    """Let a simulation have these motors, as `Simulation.motors` of another one says."""
    for (place, name), motor in motors.items():
        if sim.motors.get((place, name)) != motor:
            numbers = {key: value for key, value in asdict(motor).items() if key != "max_force"}
            sim.set_motor(sim.scene.joints[place], name, **numbers)
