"""The impulses of a step, kept for the warm start of the next and for readers."""

import numpy as np

from pliant.kernels.cpu.rows import add_row_impulses
from pliant.kernels.lanes import LANES
from pliant.rows.assemble import StepRows


def keep_impulses(state, rows: StepRows, impulse: np.ndarray, element_size: int) -> None:
    """Store the impulses of elements (the first element_size), joints and contacts, contacts sorted by key."""
    warm, joint_size = state.warm, rows.joint_slices * 3 * LANES
    if element_size:
        warm.elements = impulse[:element_size].reshape(warm.elements.shape)
    warm.joints = impulse[element_size : element_size + joint_size].reshape(warm.joints.shape).copy()
    order = np.argsort(rows.contacts.key)
    index = element_size + rows.contact_index[order]
    warm.contact_key = rows.contacts.key[order]
    warm.contacts = np.stack([impulse[index + c * LANES] for c in range(3)], axis=1)


def warm_impulses(state, rows: StepRows, element_size: int) -> np.ndarray:
    """Impulses of the step before as one line of numbers, matched by element, joint and contact key."""
    warm, joint_size = state.warm, rows.joint_slices * 3 * LANES
    impulse = np.zeros(element_size + rows.table.target.size)
    if element_size:
        impulse[:element_size] = warm.elements.ravel()
    impulse[element_size : element_size + joint_size] = warm.joints.ravel()
    if len(rows.contacts) and len(warm.contact_key):
        place = np.searchsorted(warm.contact_key, rows.contacts.key).clip(max=len(warm.contact_key) - 1)
        known = warm.contact_key[place] == rows.contacts.key
        for c in range(3):
            impulse[element_size + rows.contact_index[known] + c * LANES] = warm.contacts[place[known], c]
    return impulse


def scale_impulses(state, factor: float) -> None:
    """The kept impulses as those of a step `factor` times as long with the same forces."""
    warm = state.warm
    warm.elements, warm.joints, warm.contacts = factor * warm.elements, factor * warm.joints, factor * warm.contacts
    state.row_impulse = factor * state.row_impulse


def count_as_whole(state, factor: float) -> None:
    """After a step that was a part of a whole one `factor` times as long: impulses and the change of the velocity as
    if its forces had acted all the time, so that readers need not know."""
    scale_impulses(state, factor)
    state.previous_velocity = state.v - factor * (state.v - state.previous_velocity)


def node_impulses(model, state, rows: StepRows) -> np.ndarray:
    """Impulses (n, 3) [N s] of the joints and contacts just solved on the nodes; zero in a model without pins, which
    has no use for them."""
    impulse, table = np.zeros((model.triple_count, 3)), rows.table
    if model.pins and table.slices:
        kept = warm_impulses(state, rows, 0).reshape(table.target.shape)
        add_row_impulses(table.start, table.triples, table.jacobian, kept, impulse)
    return impulse[: model.node_count].copy()
