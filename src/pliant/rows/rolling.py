"""Torques of contacts: what resists turning about the normal and rolling about the tangents.

A contact with such a resistance has a second block of three rows, on the angular velocities of its bodies alone. Each
torque is at most a length [m] times the normal force; the bounds follow the normal impulse of the contact, so that the
last word is that of both together. Only contacts of two rigid bodies have one.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np

from pliant.collide.contacts import Contacts
from pliant.kernels.lanes import LANES
from pliant.rows.table import Rows, layout


@dataclass(frozen=True)
class Rolling:
    """Blocks of torques: index (r,): flat index of each block's first row in the table, the others at +LANES, +2 LANES;
    normal (r,): that of its contact's normal row; contact (r,): number of its contact; reach (r, 3) [m]: bounds of the
    torques over the normal force; first_slice: where these blocks begin."""

    index: np.ndarray
    normal: np.ndarray
    contact: np.ndarray
    reach: np.ndarray
    first_slice: int

    def __len__(self) -> int:
        return len(self.index)

    def shifted(self, joints: Rows) -> "Rolling":
        """The same behind the rows of joints."""
        by = joints.friction.size * 3
        return Rolling(self.index + by, self.normal + by, self.contact, self.reach, self.first_slice + joints.slices)

    def places(self) -> np.ndarray:
        """Flat indices (r, 3) of all rows."""
        return self.index[:, None] + LANES * np.arange(3)


@cache
def no_rolling(first_slice: int) -> Rolling:
    """None."""
    none = np.zeros(0, np.int64)
    return Rolling(none, none, none, np.zeros((0, 3)), first_slice)


def fill(model, contacts: Contacts, moving: np.ndarray, index: np.ndarray, u: np.ndarray, slices: int):
    """The blocks of contacts that resist rolling or turning, and where they are; moving (k, 2): which sides are bodies
    that move; index (k,): of the contacts' normal rows; u (triples, 3): velocities that say where things roll to;
    slices: of the contacts' rows, behind which these lie."""
    things = model.colliders.things
    if np.isnan(things.rolling).all() and np.isnan(things.torsional).all():
        return None, no_rolling(slices)
    rolling, torsion = things.torques(contacts.thing)
    rigid = (contacts.body >= 0).all(axis=1)  # nodes have nothing on which a torque could act back
    there = np.flatnonzero(((rolling > 0) | (torsion > 0)) & moving.any(axis=1) & rigid)
    if not len(there):
        return None, no_rolling(slices)
    bodies, moving = contacts.body[there], moving[there]
    start, slice_, lane = layout(moving.sum(axis=1))
    rows, frames = Rows.empty(start), _frames(model, contacts.normal[there], bodies, moving, u)
    entry = rows.start[slice_]
    for side, sign in ((0, 1.0), (1, -1.0)):
        own = np.flatnonzero(moving[:, side])
        rows.triples[entry[own], lane[own]] = model.node_count + 2 * bodies[own, side] + 1
        rows.jacobian[entry[own], :, lane[own]] = sign * frames[own].reshape(-1, 9)
        entry[own] += 1
    rows.low[:], rows.high[:] = 0.0, 0.0
    reach = np.stack([torsion[there], rolling[there], rolling[there]], axis=1)
    first = 3 * LANES * slices + slice_ * 3 * LANES + lane
    return rows, Rolling(first, index[there], there, reach, slices)


def _frames(model, normal: np.ndarray, bodies: np.ndarray, moving: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Normals and tangents (r, 3, 3); the first tangent is the axis about which things roll, so that bounds of both
    tangents make one of its size."""
    spin = np.zeros_like(normal)
    for side, sign in ((0, 1.0), (1, -1.0)):
        own = moving[:, side]
        spin[own] += sign * u[model.node_count + 2 * bodies[own, side] + 1]
    along = spin - np.einsum("ri,ri->r", spin, normal)[:, None] * normal
    size = np.linalg.norm(along, axis=1)
    other = np.cross(normal, np.eye(3)[np.argmin(np.abs(normal), axis=1)])
    along = np.where((size > 1e-12 * (1 + np.linalg.norm(spin, axis=1)))[:, None], along, other)
    first = along / np.linalg.norm(along, axis=1, keepdims=True)
    return np.stack([normal, first, np.cross(normal, first)], axis=1)
