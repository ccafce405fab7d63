"""Joints where a step leads: their rate is (C(q(u)) - C(q)) / h, their Jacobian that at q(u) (theory section 2)."""

import numpy as np

from pliant.rows.joints import JointBlocks
from pliant.rows.table import Rows

# Components of turns [rad] up to which torques at the end of a step follow from those seen from its start.
UNIQUE = 2.0


class JointsAhead:
    """The joints of a step of length h where velocities lead; their rows lie first in the table."""

    def __init__(self, blocks: JointBlocks, table: Rows, error: np.ndarray, state, h: float):
        """error (slices, 3, LANES): the joints' errors at the start of the step."""
        self.blocks, self.state, self.h, self.before = blocks, state, h, error
        self.device = blocks.device
        self.slices = len(blocks.start) - 1
        self.write_into(table)
        self.error, self.rate = np.zeros(error.shape), np.zeros(error.shape)
        # what bodies turn by [rad], and the pose, where joints were evaluated last
        self.turn, self.pose = np.zeros(state.body_position.shape), state.pose
        if self.slices:
            self.pose = tuple(part.copy() for part in self.pose)
        self.at = None  # the velocities that they were last followed to

    @property
    def rotation(self) -> np.ndarray:
        """Orientations (b, 4) where joints were evaluated last."""
        return self.pose[3]

    def write_into(self, table: Rows) -> None:
        """Let the first rows of a table be theirs."""
        entries = int(self.blocks.start[-1])
        self.triples, self.jacobian, self.at = table.triples[:entries], table.jacobian[:entries], None

    def follow(self, u: np.ndarray) -> None:
        """Errors, rates and Jacobians at the positions to which velocities u (triples, 3) lead; once for an array that
        is asked for again, which nobody writes into."""
        if u is self.at:
            return
        self.at = u
        blocks, state, device, h = self.blocks, self.state, self.device, self.h
        places = (self.triples, self.jacobian, self.error)
        if len(blocks.watched):
            device.ahead.lead_joints(blocks.free.arrays, blocks.watched, state.pose, h, u, self.turn, self.pose)
        else:
            device.ahead.lead_bodies(state.pose, h, u, self.turn, self.pose)
        blocks.loop(blocks.arrays, *self.pose, True, *places)
        device.ahead.follow_joints(blocks.start, self.before, h, len(state.x), self.turn, *places, self.rate)

    def late_torque(self, impulse: np.ndarray, taken: np.ndarray) -> np.ndarray:
        """What the joints' torques (b, 3) [N m s] are more at the end of the step than seen from its start. taken
        (b, 3): those seen from there by what bodies turned. (What stiff springs are out of balance by is much beside
        a light body, which they hold nevertheless.)"""
        if np.abs(self.turn).max(initial=0.0) < UNIQUE:
            torque = taken.copy()
            self.device.joints.late_torques(self.turn, torque)
            return torque
        n, seen = len(self.state.x), np.zeros((len(self.state.x) + 2 * len(self.rotation), 3))
        self.device.rows.add_row_impulses(self.blocks.start, self.triples, self.jacobian, impulse, seen)
        torque = seen[n + 1 :: 2]
        late, jacobian, error = np.zeros_like(seen), np.zeros_like(self.jacobian), np.zeros_like(self.error)
        self.blocks.loop(self.blocks.arrays, *self.pose, False, self.triples, jacobian, error)
        self.device.rows.add_row_impulses(self.blocks.start, self.triples, jacobian, impulse, late)
        return late[n + 1 :: 2] - torque
