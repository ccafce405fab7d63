"""What drives the coordinates of joints: motors, and dry friction and springs within the joint."""

from dataclasses import dataclass, replace

import numpy as np

from pliant.checks import at_time
from pliant.rows.table import Rows

# The rows of a driven coordinate.
MOTOR_ROW, FRICTION_ROW, SPRING_ROW = 0, 1, 2


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

    @property
    def relentless(self) -> np.ndarray:
        """Which (m,) have a motor that keeps a velocity whatever it takes; only a limit of its coordinate stops it."""
        return np.isinf(self.bound) & np.array([v is not None for v in self.velocity], dtype=bool)

    def fill(self, blocks, rows: Rows, error: np.ndarray, h: float, time: float) -> None:
        """The rows of driven coordinates, in which errors are the coordinates themselves."""
        if not len(self):
            return
        s, lane = blocks.slice[self.block], blocks.lane[self.block]
        q = error[s, self.row, lane]
        compliance, target = self._motors(q, h, time)
        stops = blocks.stops
        target = np.where(self.relentless, np.clip(target, (stops[:, 0] - q) / h, (stops[:, 1] - q) / h), target)
        rows.compliance[s, MOTOR_ROW, lane], rows.target[s, MOTOR_ROW, lane] = compliance, target
        rows.low[s, MOTOR_ROW, lane], rows.high[s, MOTOR_ROW, lane] = -h * self.bound, h * self.bound
        rows.compliance[s, FRICTION_ROW, lane], rows.target[s, FRICTION_ROW, lane] = 0.0, 0.0
        rows.low[s, FRICTION_ROW, lane], rows.high[s, FRICTION_ROW, lane] = -h * self.friction, h * self.friction
        gain = h * self.spring + self.spring_damping
        there = gain > 0
        safe = np.where(there, gain, 1.0)
        rows.compliance[s, SPRING_ROW, lane] = np.where(there, 1 / (h * safe), 0.0)
        rows.target[s, SPRING_ROW, lane] = np.where(there, -self.spring / safe * (q - self.spring_rest), 0.0)

    def _motors(self, q: np.ndarray, h: float, time: float) -> tuple[np.ndarray, np.ndarray]:
        """Compliance and target of motors: a velocity, or a spring to a position that moves."""
        compliance, target = np.zeros(len(self)), np.zeros(len(self))
        for k, (velocity, position) in enumerate(zip(self.velocity, self.position)):
            if position is not None:
                gain = h * self.stiffness[k] + self.damping[k]
                compliance[k] = 1 / (h * gain)
                target[k] = -self.stiffness[k] / gain * (q[k] - float(at_time(position, time)))
            elif velocity is not None:
                target[k] = float(at_time(velocity, time))
        return compliance, target

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
