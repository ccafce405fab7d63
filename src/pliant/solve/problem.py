"""What a step asks of a solver, and what a solver answers."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from pliant.collide.contacts import FEATURE_BITS, Contacts, named_by_feature, of_solids
from pliant.collide.successors import predecessors
from pliant.elements import rows as element_rows
from pliant.elements.rows import ElementRows
from pliant.kernels.device import Device
from pliant.kernels.lanes import LANES
from pliant.model.inertia import Inertia
from pliant.model.model import Model
from pliant.model.state import RowImpulses, State
from pliant.records import changed
from pliant.rows import contacts as contact_rows
from pliant.rows import joints as joint_rows
from pliant.rows.rolling import Rolling, no_rolling
from pliant.rows.table import Rows, concatenate
from pliant.solve.info import Info


@dataclass
class Prediction:
    """u* (triples, 3), inverse mass blocks (triples, 6: xx, yy, zz, yz, xz, xy), the bodies' spin data (b, 3), and
    the factors (n,) by which nodes resist change more for mass damping and wind; known: what of it is the same in every
    step, where all of it is."""

    u: np.ndarray
    inverse_mass: np.ndarray
    angular_momentum: np.ndarray
    mid_angular_velocity: np.ndarray
    drag: np.ndarray
    known: Inertia | None = None


@dataclass
class StepRows:
    """What one step has to satisfy: elements, and one table of rows: first equalities, then limits and motors, then
    contacts.

    equality_slices, joint_slices: where the equalities and where all joints end in the table. error (joint slices, 3,
    LANES): the joints' errors [m or rad] at the start, from where their rates count. contact_index (contacts,): flat
    index of each contact's normal row in the table; its tangents follow at +LANES, +2 LANES. rolling: the torques of
    contacts, behind these.
    """

    elements: ElementRows
    table: Rows
    equality_slices: int
    joint_slices: int
    error: np.ndarray
    contacts: Contacts
    contact_index: np.ndarray
    rolling: Rolling

    def with_contacts(self, contacts: Contacts, rows: Rows, index: np.ndarray, rolling: Rolling) -> "StepRows":
        """Other contacts, their rows, and the place of each in these, and their torques."""
        joints = self.table.between(0, self.joint_slices)
        table, index = concatenate([joints, rows]), index + joints.friction.size * 3
        return changed(self, table=table, contacts=contacts, contact_index=index, rolling=rolling.shifted(joints))

    @property
    def equalities(self) -> Rows:
        """The rows that are met whatever it takes."""
        return self.table.between(0, self.equality_slices)

    @property
    def bounded(self) -> Rows:
        """Limits, motors and contacts."""
        return self.table.between(self.equality_slices, self.table.slices)

    def with_joints(self, elements: ElementRows, joints: Rows, compliance: np.ndarray) -> "StepRows":
        """Elements and equalities elsewhere, these with another compliance (slices, 3, LANES), and no other rows."""
        return changed(self, elements=elements, table=changed(joints, compliance=compliance))


@dataclass(frozen=True)
class Problem:
    """One implicit step of length h [s] from a state: what would be without rows and elements, and these rows."""

    model: Model
    state: State
    prediction: Prediction
    rows: StepRows
    h: float

    def with_rows(self, rows: StepRows) -> "Problem":
        """The same step with other rows."""
        known = {name: self.__dict__[name] for name in ("before", "mass") if name in self.__dict__}
        return changed(self, rows=rows, started=self.started, **known)

    @cached_property
    def started(self) -> Contacts:
        """The contacts at the start of the step, whatever others there are where it leads."""
        return self.rows.contacts

    @cached_property
    def before(self) -> np.ndarray:
        """Velocities (triples, 3) before the step: at its start, or before they were extrapolated there."""
        kept = self.state.memory.get("before")
        return self.state.velocity_triples() if kept is None else kept["velocity"]

    @cached_property
    def mass(self) -> np.ndarray:
        """Mass of every triple (triples, 3, 3), with the drag of mass damping."""
        return mass_blocks(self.model, self.prediction, self.h)


@dataclass
class Solution:
    """What a solver found: the velocities u (triples, 3) at the end of the step, the impulses (slices, 3, LANES) [N s]
    of the row table, and its report.

    memory: arrays the solver wants to see again in the next step. travel (n, 3): mean velocity [m/s] of the nodes over
    the step, where it is not the one at its end. tangled (soft,): times [s] for which bodies go on being pulled back.
    late_torque (b, 3) [N m s]: what joints, whose torques act at the end of the step, change angular momenta by beyond
    what the velocities say. internal (n, 3) [N]: forces of elements and following pressures at u, with the sign of a
    gradient, where the solver has just evaluated them; stored: what the elements' energy has grown by [J], where it is
    known and there is nothing but their laws. joint_rate (joint slices, 3, LANES): rates of joints that are
    not linear in u; table: then the rows where the step leads. rows: those with which it was solved, where they are not
    the problem's. predicted (triples, 3): velocities without elements and rows from which it was solved, likewise.
    apart: whether nothing passes through anything on its way. look: what a solver of bounded steps has found where u
    leads (solve.newton.looking), None where it has not looked. push (triples, 3) [m/s]: by what rigid bodies move
    beside u, which pushes apart what overlapped and is no velocity afterwards. left (n,): the parts of u with which
    nodes go on after the step, where that has cost more energy than there is.
    """

    u: np.ndarray
    impulses: np.ndarray
    info: Info
    memory: dict[str, np.ndarray] = field(default_factory=dict)
    travel: np.ndarray | None = None
    tangled: np.ndarray | None = None
    late_torque: np.ndarray | None = None
    internal: np.ndarray | None = None
    stored: float | None = None
    joint_rate: np.ndarray | None = None
    table: Rows | None = None
    rows: StepRows | None = None
    predicted: np.ndarray | None = None
    apart: bool = False
    look: Any = None
    push: np.ndarray | None = None
    left: np.ndarray | None = None


def fill_rows(model: Model, state: State, contacts: Contacts, h: float) -> StepRows:
    """Rows of elements, joints and contacts at the state's positions."""
    blocks, joints = model.joints, Rows.empty(model.joints.start)
    before, start = state.velocity_triples(), state.memory.get("before", {}).get("error")
    error = joint_rows.fill(blocks, joints, state.pose, h, state.time + h, before, start)
    if not len(contacts):
        elements, rolling = element_rows.fill(model.elements, state, h), no_rolling(joints.slices)
        sizes = (blocks.equality_slices, joints.slices)
        return StepRows(elements, joints, *sizes, error, contacts, rolling.index, rolling)
    allowed = contact_rows.allowed_gaps(contacts, h)
    still = np.zeros_like(before)
    touching, index, rolling = contact_rows.fill(model, contacts, allowed, state.pose[2:], before, still, h)
    sizes = (blocks.equality_slices, joints.slices)
    elements, index = element_rows.fill(model.elements, state, h), index + joints.friction.size * 3
    found = (contacts, index, rolling.shifted(joints))
    return StepRows(elements, concatenate([joints, touching]), *sizes, error, *found)


def kept_impulses(rows: StepRows, impulse: np.ndarray) -> RowImpulses:
    """Impulses (slices, 3, LANES) of the row table by joint and contact, contacts sorted by key."""
    if not len(rows.contacts):
        return RowImpulses(impulse[: rows.joint_slices].copy())
    order = np.argsort(rows.contacts.key)
    index, flat = rows.contact_index[order], impulse.ravel()
    contacts = np.stack([flat[index + c * LANES] for c in range(3)], axis=1)
    found = rows.contacts
    # `take` reads rows in a fraction of the time of an index
    what = tuple(column.take(order, axis=0) for column in (found.thing, found.point, found.normal, found.gap))
    torques = np.zeros((len(order), 3))
    torques[rows.rolling.contact] = flat[rows.rolling.places()]
    torques = torques.take(order, axis=0)
    return RowImpulses(impulse[: rows.joint_slices].copy(), found.key[order], contacts, *what, torques)


def warm_impulses(device: Device, kept: RowImpulses, rows: StepRows, turned: bool = False) -> np.ndarray:
    """Impulses (slices, 3, LANES) as they were kept, matched by joint and contact key, and of contacts whose features
    have changed by their pair. turned: those of friction point where they did, which sweeps begin with; else they keep
    their components along tangents, which may jump."""
    impulse = np.zeros(rows.table.target.shape)
    impulse[: rows.joint_slices] = kept.joints
    if len(rows.contacts) and len(kept.contact_key):
        place = np.searchsorted(kept.contact_key, rows.contacts.key).clip(max=len(kept.contact_key) - 1)
        known = kept.contact_key[place] == rows.contacts.key
        if not known.all():
            known = _matched_by_pair(device, kept, rows.contacts, known, place)
            known = _matched_by_place(kept, rows.contacts, known, place)
        if turned:
            then, now = (kept.contact_normal[place], kept.contacts[place]), (rows.contacts.normal, rows.contact_index)
            device.contacts.turn_impulses(known, *then, *now, impulse.reshape(-1))
        else:
            index, before = rows.contact_index[known], kept.contacts.take(place[known], axis=0)
            for c in range(3):
                impulse.reshape(-1)[index + c * LANES] = before[:, c]
        own = known[rows.rolling.contact]
        impulse.reshape(-1)[rows.rolling.places()[own]] = kept.contact_torque[place[rows.rolling.contact[own]]]
    return impulse


def _matched_by_pair(
    device: Device, kept: RowImpulses, contacts: Contacts, known: np.ndarray, place_inout: np.ndarray
) -> np.ndarray:
    """Which contacts are known by their keys or else among those of their pairs, as points on rims and in corners are
    that move on, and all of a pair whose faces take turns in clipping each other; those are matched by where they are,
    and placed."""
    gone = np.ones(len(kept.contact_key), bool)
    gone[place_inout[known]] = False
    lost, new = np.flatnonzero(gone), np.flatnonzero(~known)
    lost, new = lost[named_by_feature(kept.contact_key[lost])], new[named_by_feature(contacts.key[new])]
    if not len(lost) or not len(new):
        return known
    new = new[np.argsort(contacts.key[new], kind="stable")]
    before = (kept.contact_key[lost] >> FEATURE_BITS, kept.contact_point[lost])
    found = np.empty(len(new), np.int64)
    device.contacts.match_points(*before, contacts.key[new] >> FEATURE_BITS, contacts.point[new], found)
    there = found >= 0
    place_inout[new[there]] = lost[found[there]]
    known = known.copy()
    known[new[there]] = True
    return known


def _matched_by_place(kept: RowImpulses, contacts: Contacts, known: np.ndarray, place_inout: np.ndarray) -> np.ndarray:
    """Which contacts are known already or go on for others, between surfaces, that carried load; those are placed."""
    carried = kept.contacts[:, 0] > 0.0
    carried[place_inout[known]] = False
    lost = np.flatnonzero(carried & ~of_solids(kept.contact_key))
    new = np.flatnonzero(~known & ~of_solids(contacts.key))
    if not len(lost) or not len(new):
        return known
    before = (kept.contact_key[lost], kept.contact_thing[lost], kept.contact_point[lost])
    found = predecessors(before, (contacts.key[new], contacts.thing[new], contacts.point[new]))
    there = found >= 0
    place_inout[new[there]] = lost[found[there]]
    known = known.copy()
    known[new[there]] = True
    return known


def mass_blocks(model, prediction, h: float) -> np.ndarray:
    """Mass of every triple (triples, 3, 3), with the drag of mass damping; prescribed ones are left out later."""
    if prediction.known is not None:
        return prediction.known.mass
    n = model.node_count
    blocks = np.zeros((model.triple_count, 3, 3))
    bodies = (model.body_mass, model.static, prediction.inverse_mass[n:])
    model.device.balance.mass_blocks(model.node_mass * prediction.drag, *bodies, blocks)
    return blocks
