"""Pulling on a body with the mouse: a damped spring from a point of the body to where the mouse is.

The spring is explicit: before every step its impulse h f changes the velocities of what it holds, a rigid body or a
patch of nodes. With stiffness m w^2 and damping 2 m w, an explicit step on a held mass m_h is stable for
h w m / m_h <= 1/2 at w h <= 1/2; m is therefore at most half of m_h / (w h), and w at most 0.1 / h.
"""

from math import pi

import numpy as np

from pliant.errors import SceneError
from pliant.rotations import rotation_matrix
from pliant.scene.bodies import Rigid, Soft

FREQUENCY = 2.0
"""How fast a free body swings on the spring [1/s]."""

SHARE, FEWEST = 0.1, 12
"""The part of the nodes of a soft body that the spring holds, those nearest to the point, and how many at least."""


class Pull:
    """A spring from a point of a body (where it is now) [m] to a target."""

    def __init__(self, sim, name: str, point, target):
        self.sim, self.body = sim, sim.scene.find(name)
        if not isinstance(self.body, Soft | Rigid) or getattr(self.body, "static", False):
            raise SceneError(f"{name!r} cannot be pulled: soft bodies, sheets and rigid bodies that move can")
        self.target = np.array(target, float)
        self.rate = min(2 * pi * FREQUENCY, 0.1 / sim.dt)
        if isinstance(self.body, Soft):
            self._hold_nodes(np.array(point, float))
        else:
            position, rotation = sim.pose(self.body)
            self.local = rotation_matrix(rotation).T @ (np.array(point, float) - position)
            self.mass, self.centre, self.inertia = self.body.mass_properties()

    def _hold_nodes(self, point: np.ndarray) -> None:
        near = np.linalg.norm(self.sim.positions(self.body) - point, axis=1)
        self.nodes = np.argsort(near, kind="stable")[: max(FEWEST, int(SHARE * len(near)))]
        start = self.sim.model.node_start[self.sim.scene.soft_bodies.index(self.body)]
        masses = self.sim.model.node_mass[start : start + len(near)]
        self.held = float(masses[self.nodes].sum())
        self.mass = min(float(masses.sum()), 0.5 * self.held / (self.rate * self.sim.dt))

    def apply(self) -> None:
        """Give the body the impulse of one step."""
        if isinstance(self.body, Rigid):
            self._pull_rigid()
        else:
            self._pull_soft()

    def _impulse(self, point: np.ndarray, velocity: np.ndarray) -> np.ndarray:
        """Stiffness m w^2 and critical damping 2 m w, over one step [N s]."""
        stretch = self.target - point
        return self.sim.dt * self.mass * (self.rate**2 * stretch - 2 * self.rate * velocity)

    def _pull_soft(self) -> None:
        velocities = np.array(self.sim.velocities(self.body))
        held = velocities[self.nodes]
        impulse = self._impulse(self.sim.positions(self.body)[self.nodes].mean(axis=0), held.mean(axis=0))
        velocities[self.nodes] = held + impulse / self.held
        self.sim.set_velocities(self.body, velocities)

    def _pull_rigid(self) -> None:
        position, rotation = self.sim.pose(self.body)
        turn = rotation_matrix(rotation)
        velocity, spin = self.sim.twist(self.body)
        arm = turn @ (self.local - self.centre)
        impulse = self._impulse(position + turn @ self.local, velocity + np.cross(spin, arm))
        inertia = turn @ self.inertia @ turn.T
        self.sim.set_twist(
            self.body, velocity + impulse / self.mass, spin + np.linalg.solve(inertia, np.cross(arm, impulse))
        )
