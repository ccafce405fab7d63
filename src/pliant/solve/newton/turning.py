"""Steps of Newton's method that are bent so that soft bodies turn instead of growing.

A straight step that turns a body stretches it by the square of the angle, and a stiff body then comes back by many
short steps. Here every step turns bodies that nothing pins by the rotation that is nearest to what it does to them as a
whole; to first order it is the same step.
"""

from itertools import pairwise

import numpy as np

from pliant.model.model import Model
from pliant.rotations import nearest_rotation

# Way of a node, relative to the size of its body, and angle [rad], up to which a step is straight: it would grow by the
# square of that.
STRAIGHT = 0.001


class Turning:
    """The soft bodies of a model that nothing pins, by the ranges of their nodes."""

    def __init__(self, model: Model):
        start = model.node_start
        ranges = [slice(first, last) for first, last in pairwise(start)]
        self.ranges = [each for each in ranges if each.stop > each.start and np.all(model.free[each] == 1)]
        self.sizes = [float(np.ptp(model.rest[each], axis=0).max()) for each in self.ranges]
        self.mass = model.node_mass

    def along(self, x: np.ndarray, h: float, u: np.ndarray, direction: np.ndarray) -> np.ndarray:
        """Velocities (triples, 3) a direction further than u, in a step of h [s] from nodes at x (n, 3); those of
        bodies that this turns far are bent."""
        new, longest = u + direction, h * np.sqrt((direction[: len(x)] ** 2).sum(axis=1)) if self.ranges else None
        for own, size in zip(self.ranges, self.sizes):
            if longest[own].max() > STRAIGHT * size:
                bent = _bent(self.mass[own], x[own] + h * u[own], h * direction[own])
                new[own] = new[own] if bent is None else u[own] + bent / h
        return new

    def deforming(self, x: np.ndarray, h: float, u: np.ndarray) -> np.ndarray:
        """Velocities (triples, 3) that do to elements what u does in a step of h [s] from nodes at x (n, 3): of bodies
        that it turns far, without their turn and their translation, seen where the step ends."""
        out = u
        for own, size in zip(self.ranges, self.sizes):
            share = self.mass[own] / self.mass[own].sum()
            way = h * (u[own] - _mean(share, u[own]))
            if np.abs(way).max() > STRAIGHT * size:
                arm = x[own] - _mean(share, x[own])
                out = u.copy() if out is u else out
                out[own] = (arm + way - arm @ nearest_rotation(_moment(share, arm, arm + way))) / h
        return out


def _mean(share: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The mean (3,) of values (k, 3) by their shares (k,); in fixed order, as sums of BLAS are not."""
    return np.einsum("k,kc->c", share, values)


def _moment(share: np.ndarray, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """The mean (3, 3) of outer products of first with second (k, 3), likewise."""
    return np.einsum("k,ki,kj->ij", share, first, second)


def _bent(mass: np.ndarray, x: np.ndarray, way: np.ndarray) -> np.ndarray | None:
    """The ways (n, 3) of the nodes of a body, at x (n, 3) with masses (n,), as a translation, a turn and the rest; None
    where it hardly turns."""
    share = mass / mass.sum()
    arm, along = x - _mean(share, x), _mean(share, way)
    spread, moment = _moment(share, arm, arm), _moment(share, arm, way - along)
    inertia = np.trace(spread) * np.eye(3) - spread
    twist = np.array([moment[1, 2] - moment[2, 1], moment[2, 0] - moment[0, 2], moment[0, 1] - moment[1, 0]])
    turn = np.linalg.lstsq(inertia, twist, rcond=1e-9)[0]
    tangent = float(np.linalg.norm(turn))
    if not tangent > STRAIGHT:
        return None
    cross = np.cross(turn / tangent, np.eye(3))  # a row vector times this is the axis cross the vector
    # the rotation nearest to a linear one by `tangent` turns by the angle of which that is the tangent
    sine, cosine = tangent / np.hypot(1.0, tangent), 1.0 / np.hypot(1.0, tangent)
    rotation = np.eye(3) + sine * cross + (1.0 - cosine) * cross @ cross
    return along + (x + way - along - tangent * arm @ cross - (x - arm)) @ rotation - arm
