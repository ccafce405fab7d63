"""Steps of Newton's method that are bent so that soft bodies turn instead of growing.

A straight step that turns a body stretches it by the square of the angle, and a stiff body then comes back by many
short steps. Here every step turns bodies that nothing pins by the rotation that is nearest to what it does to them as a
whole; to first order it is the same step.
"""

from itertools import pairwise

import numpy as np

from pliant.model.model import Model

# Way of a node, relative to the size of its body, and angle [rad], up to which a step is straight: it would grow by the
# square of that.
STRAIGHT = 0.001


class Turning:
    """The soft bodies of a model that nothing pins, by the ranges of their nodes."""

    def __init__(self, model: Model):
        self.device, mass = model.device, model.node_mass
        ranges = [each for each in pairwise(model.node_start) if each[1] > each[0]]
        ranges = [each for each in ranges if np.all(model.free[slice(*each)] == 1)]
        sizes = [np.ptp(model.rest[slice(*each)], axis=0).max() for each in ranges]
        share = np.zeros(len(mass))  # of the mass of its body
        for each in ranges:
            share[slice(*each)] = mass[slice(*each)] / mass[slice(*each)].sum()
        self.bodies = (np.array(ranges, np.int64).reshape(-1, 2), share, np.array(sizes, float))

    def along(self, x: np.ndarray, h: float, u: np.ndarray, direction: np.ndarray) -> np.ndarray:
        """Velocities (triples, 3) a direction further than u, in a step of h [s] from nodes at x (n, 3); those of
        bodies that this turns far are bent."""
        new = u + direction
        if len(self.bodies[0]):
            self.device.turning.bend(x, h, u, direction, *self.bodies, STRAIGHT, new)
        return new

    def deforming(self, x: np.ndarray, h: float, u: np.ndarray) -> np.ndarray:
        """Velocities (triples, 3) that do to elements what u does in a step of h [s] from nodes at x (n, 3): of bodies
        that it turns far, without their turn and their translation, seen where the step ends."""
        if not len(self.bodies[0]):
            return u
        out = u.copy()
        self.device.turning.leave_turns_out(x, h, u, *self.bodies, STRAIGHT, out)
        return out
