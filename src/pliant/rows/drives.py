"""What drives the coordinates of joints: motors, and dry friction and springs within the joint."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from pliant.checks import at_time
from pliant.kernels.joints import NO_MOTOR, TO_POSITION, TO_VELOCITY, DriveArrays
from pliant.rows.table import Rows


@dataclass
class Drives:
    """Numbers of m driven coordinates, in N and m or N m and rad.

    block (m,): its block; row (m,): a row of it that is used. velocity, position: of motors, lists of numbers,
    functions of time or None; without either there is no motor. stiffness, damping (m,): with which a motor goes to a
    position. bound (m,): the most it gives.
    friction (m,): force that holds until it is exceeded. spring, spring_damping, spring_rest (m,): a spring within the
    joint.
    """

    block: np.ndarray
    row: np.ndarray
    velocity: list
    position: list
    stiffness: np.ndarray
    damping: np.ndarray
    bound: np.ndarray
    friction: np.ndarray
    spring: np.ndarray
    spring_damping: np.ndarray
    spring_rest: np.ndarray

    def __len__(self) -> int:
        return len(self.block)

    @cached_property
    def relentless(self) -> np.ndarray:
        """Which (m,) have a motor that keeps a velocity whatever it takes; only a limit of its coordinate stops it."""
        return np.isinf(self.bound) & np.array([v is not None for v in self.velocity], dtype=bool)

    @cached_property
    def arrays(self) -> DriveArrays:
        """What compiled loops see."""
        given = zip(self.velocity, self.position)
        kind = [TO_POSITION if p is not None else NO_MOTOR if v is None else TO_VELOCITY for v, p in given]
        motors = (self.stiffness, self.damping, self.bound, self.friction)
        springs = (self.spring, self.spring_damping, self.spring_rest)
        return DriveArrays(self.block, self.row, np.array(kind, np.int64), self.relentless, *motors, *springs)

    @cached_property
    def _goals(self) -> tuple[np.ndarray, list]:
        """Goals (m,) of motors where they are numbers; and (motor, function of time) of the others."""
        given = [v if p is None else p for v, p in zip(self.velocity, self.position)]
        moving = [(k, goal) for k, goal in enumerate(given) if callable(goal)]
        return np.array([0.0 if g is None or callable(g) else float(g) for g in given]), moving

    def goals(self, time: float) -> np.ndarray:
        """Where motors (m,) want to be [m or rad], or how fast [1/s], at a time [s]; 0 without one."""
        fixed, moving = self._goals
        if not moving:
            return fixed
        goals = fixed.copy()
        for k, function in moving:
            goals[k] = function(time)
        return goals

    def fill(self, blocks, rows: Rows, error: np.ndarray, h: float, time: float) -> None:
        """The rows of driven coordinates, in which errors are the coordinates themselves."""
        if len(self):
            start = (self.arrays, self.goals(time), blocks.stops, blocks.arrays.rows, h, error)
            blocks.device.targets.fill_drives(*start, rows.compliance, rows.target, rows.low, rows.high)

    def with_motor(self, number: int, motor) -> "Drives":
        """The same with another motor (pliant.Motor) in place of one."""
        velocity, position = list(self.velocity), list(self.position)
        velocity[number], position[number] = motor.velocity, motor.position
        numbers = {"stiffness": motor.stiffness or 0.0, "damping": motor.damping, "bound": motor.max_torque}
        columns = {name: getattr(self, name).copy() for name in numbers}
        for name, value in numbers.items():
            columns[name][number] = value
        return replace(self, velocity=velocity, position=position, **columns)

    def frozen(self, time: float) -> "Drives":
        """Without damping and friction; velocities zero, positions as they are at a time [s]."""
        nothing = np.zeros(len(self))
        velocity = [None if v is None else 0.0 for v in self.velocity]
        position = [None if p is None else float(at_time(p, time)) for p in self.position]
        still = {"damping": nothing, "friction": nothing, "spring_damping": nothing}
        return replace(self, velocity=velocity, position=position, **still)
