"""All rows of a step: elements, joints and contacts together, as every solver sees them."""

from dataclasses import dataclass

import numpy as np

from pliant.collide.detect import Contacts
from pliant.elements import rows as element_rows
from pliant.elements.rows import ElementRows
from pliant.rows import contacts as contact_rows
from pliant.rows import joints as joint_rows
from pliant.rows.table import Rows, concatenate


@dataclass
class StepRows:
    """What one step has to satisfy: elements, joints, contacts (`touching`); `table` is joints and contacts together.

    contact_index (contacts,): flat index of each contact's normal row in the table; its tangents follow at +LANES, +2
    LANES.
    """

    elements: ElementRows
    joints: Rows
    touching: Rows
    table: Rows
    joint_slices: int
    contacts: Contacts
    contact_index: np.ndarray


def fill_rows(model, state, contacts: Contacts, h: float) -> StepRows:
    """Rows of elements, joints and contacts at the state's positions."""
    joints = Rows.empty(model.joints.start)
    joint_rows.fill(model.joints, joints, state.x, state.body_position, state.body_rotation, h)
    touching, index = contact_rows.fill(model, state, contacts, state.velocity_triples(), h)
    table = concatenate([joints, touching])
    offset = joints.friction.size * 3
    return StepRows(
        element_rows.fill(model, state, h), joints, touching, table, joints.slices, contacts, index + offset
    )
