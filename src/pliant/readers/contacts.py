"""Readers of contacts: which bodies touch, where, and with what forces."""

from dataclasses import dataclass

import numpy as np

# A contact whose tangential force is below this part of what friction allows is said to stick.
STICKS = 1 - 1e-6


@dataclass(frozen=True)
class ContactReport:
    """Contacts that carried load in the last step, k of them.

    bodies: pairs (first, second), a soft body before a rigid one, else in the order of the scene. points (k, 3) [m].
    normals (k, 3): unit vectors from the second body to the first. gaps (k,) [m], negative when penetrating. forces
    (k, 3) [N]: on the first body, world axes. sticking (k,) bool: whether friction holds. impulses (k, 3) [N s]: along
    the normal and two tangents.
    """

    bodies: list
    points: np.ndarray
    normals: np.ndarray
    gaps: np.ndarray
    forces: np.ndarray
    sticking: np.ndarray
    impulses: np.ndarray

    @property
    def count(self) -> int:
        return len(self.bodies)

    def __len__(self) -> int:
        return len(self.bodies)


def contacts(model, state, bodies: list, h: float) -> ContactReport:
    """Contacts that carried load in the last step of h [s]; bodies: soft ones, then rigid ones."""
    kept = state.impulses
    carry = kept.contacts[:, 0] > 0.0
    impulse, thing = kept.contacts[carry], kept.contact_thing[carry]
    normal, forces = kept.contact_normal[carry], np.empty_like(impulse)
    model.device.contacts.contact_forces(normal, impulse, forces)
    # soft bodies first, then rigid ones, in the order of the scene
    turned = np.where(thing[:, 0] > thing[:, 1], -1.0, 1.0)[:, None]
    thing, normal, forces = np.sort(thing, axis=1), turned * normal, turned * forces
    friction, _ = model.colliders.things.coefficients(thing)
    tangential = np.linalg.norm(impulse[:, 1:], axis=1)
    sticking = tangential < STICKS * friction * impulse[:, 0]
    pairs = [(bodies[a], bodies[b]) for a, b in thing.tolist()]
    where = (kept.contact_point[carry], normal, kept.contact_gap[carry])
    return ContactReport(pairs, *where, forces / h, sticking, impulse)


def contact_force(model, state, first: list[int], second: list[int], h: float) -> np.ndarray:
    """Force (3,) [N] of things `second` on things `first` in the last step of h [s]."""
    kept = state.impulses
    forces = np.empty_like(kept.contacts)
    model.device.contacts.contact_forces(kept.contact_normal, kept.contacts, forces)
    one, two = np.isin(kept.contact_thing, first), np.isin(kept.contact_thing, second)
    same, other = one[:, 0] & two[:, 1], two[:, 0] & one[:, 1]
    return (forces[same].sum(axis=0) - forces[other].sum(axis=0)) / h
