"""Rows of contacts: one normal and two tangent rows, for a soft node or rigid body against a rigid body."""

import numpy as np

from pliant.collide.detect import Contacts
from pliant.kernels.lanes import LANES
from pliant.rows.table import Rows, layout

# What a contact does when neither body says.
DEFAULT_FRICTION, DEFAULT_RESTITUTION = 0.5, 0.0


def combined_friction(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Geometric mean of two coefficients; NaN means "as the other says"."""
    a, b = np.where(np.isnan(a), b, a), np.where(np.isnan(b), a, b)
    return np.where(np.isnan(a), DEFAULT_FRICTION, np.sqrt(a * b))


def combined_restitution(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The larger of two coefficients; NaN means "as the other says"."""
    return np.where(np.isnan(a) & np.isnan(b), DEFAULT_RESTITUTION, np.fmax(a, b))


def fill(model, state, contacts: Contacts, u_before: np.ndarray, h: float) -> tuple[Rows, np.ndarray]:
    """The contact rows, and for each contact the flat index of its normal row (tangents follow at +LANES, +2 LANES)."""
    if not len(contacts):
        return Rows.empty(np.zeros(1, np.int64)), np.zeros(0, np.int64)
    moving_b = ~model.immobile[contacts.b]
    width = np.where(contacts.node >= 0, 1, 2) + 2 * moving_b
    start, slice_, lane = layout(width)
    rows = Rows.empty(start)
    friction_a = _of_side_a(contacts, model.node_friction, model.body_friction)
    restitution_a = _of_side_a(contacts, model.node_restitution, model.body_restitution)
    friction = combined_friction(friction_a, model.body_friction[contacts.b])
    restitution = combined_restitution(restitution_a, model.body_restitution[contacts.b])
    threshold = 2 * h * model.acceleration_bound
    model.device.contacts.fill_contacts(
        contacts.node,
        contacts.a,
        contacts.b,
        moving_b,
        contacts.point,
        contacts.normal,
        contacts.gap,
        friction,
        restitution,
        threshold,
        state.body_position,
        u_before,
        len(state.x),
        h,
        rows.start,
        slice_,
        lane,
        rows.triples,
        rows.jacobian,
        rows.target,
        rows.low,
        rows.high,
        rows.friction,
    )
    return rows, slice_ * 3 * LANES + lane


def _of_side_a(contacts: Contacts, of_nodes: np.ndarray, of_bodies: np.ndarray) -> np.ndarray:
    """The value of each contact's node, or of its rigid body on side a."""
    is_node, values = contacts.node >= 0, np.empty(len(contacts))
    values[is_node], values[~is_node] = of_nodes[contacts.node[is_node]], of_bodies[contacts.a[~is_node]]
    return values
