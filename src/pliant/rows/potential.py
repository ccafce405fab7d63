"""Rows as a potential of the velocity: the primal form of joints and contacts (theory section 2).

Rigid rows have no compliance, and a potential needs one. They get a small compliance R and a shift: with the target
b + R shift the impulse is clamp(shift + (b - rate) / R), and once the shift is the impulse itself the row is met
exactly (the method of multipliers). Rows that are all but rigid get R beyond their own compliance. Joints are met where
the step leads: their rate is (C(q(u)) - C(q)) / h, their Jacobian that at q(u). Contacts are linear in the velocity.
"""

import numpy as np

from pliant.kernels.lanes import LANES
from pliant.rows.ahead import JointsAhead
from pliant.rows.rolling import Rolling
from pliant.rows.softness import carried_mobility
from pliant.rows.table import Rows
from pliant.rows.tilting import Tilting

# A row can move nothing when its mobility is below this part of what it were without pins; the compliance, relative,
# with which it then gets no impulse to speak of.
NO_MOBILITY, NO_IMPULSE = 1e-12, 1e12

# Part of the energy of a joint's small compliance that counts as what closing its gap will move.
STIFF_PART = 1e-2
# Contacts whose error a renewal leaves more of than this part become harder by this factor, down to this part of what
# they were: where several of them hold the same thing, multipliers alone converge slowly.
STUBBORN, HARDER, HARDEST = 0.5, 0.2, 1e-3
# How many times their change slips are led by, at least and at most.
LEAST_LEAD, MOST_LEAD = 0.5, 20.0
# Rounding of a joint's error relative to the distance of bodies from the origin (or to an angle of one).
EPSILON = 1e-15


class RowPotential:
    """The rows of a step as a potential of the velocity, convex but for the turning of joints.

    Friction is convex only together with a contact that opens by friction times the slip; `slip`, which lags behind,
    takes that back, so that the last word is Coulomb's (de Saxce's correction).
    """

    def __init__(
        self,
        rows: Rows,
        joints: JointsAhead,
        mobility: np.ndarray,
        loose: np.ndarray,
        softness,
        contacts,
        shift,
        rolling: Rolling,
        tilting: Tilting,
    ):
        """mobility (triples, 6): inverse mass of every triple, with what its elements hold it by; loose: the same as if
        nothing were prescribed, without rows where no node is. softness (joint slices, 3, LANES): compliance of rigid
        joints relative to their mobility; contacts: of the normal and tangent rows of contacts, and more
        (rows.softness). shift (slices, 3, LANES): impulses [N s] to start from; rolling: which rows are torques of
        contacts; tilting: which last rows are tilts of triangles."""
        self.rolling, self.tilting = rolling, tilting
        self.first_tilt = rows.slices - tilting.rows.slices
        self.rows, self.joints, self.device = rows, joints, joints.device
        self.energy, self.joint_energy = 0.0, 0.0  # [J] as last evaluated: of all rows, of joints
        # mobilities of rows, which of them are rigid, and their compliances (slices, 3, LANES)
        self.mobility, self.compliance = np.empty(shift.shape), np.empty(shift.shape)
        self.hard = np.empty(shift.shape, bool)
        # what rigid bodies that nothing else holds carry is known by their impulses
        bear = rows.slices and np.isfinite(contacts.lightest) and not joints.slices
        if rows.slices:
            felt = mobility if contacts.shares is None else contacts.shares[:, None] * mobility
            numbers = (rows.start, rows.triples, rows.jacobian, rows.compliance, rows.low, rows.friction)
            numbers = (*numbers, mobility, loose, felt)
            given = contacts._replace(lightest=np.inf) if bear else contacts
            soft = (softness, *given[:4], len(joints.state.x), rolling.first_slice, NO_MOBILITY, NO_IMPULSE)
            self.device.ahead.soften_rows(*numbers, *soft, self.mobility, self.hard, self.compliance)
        # springs (slices, 3, LANES) that are met like rigid joints, where there are any
        self.springs = None
        if joints.slices and np.any(springs := self.hard & (rows.compliance > 0.0)):
            self.springs = springs
        self.impulse, self.new_slip = shift.copy(), np.zeros(rows.friction.shape)
        self.curvature = np.zeros((rows.slices, 6, LANES))
        # the impulses of joints that the next iterate will have: those of this one are useless while gaps are open
        self.estimate = shift[: joints.slices].copy()
        self.contacts = slice(joints.slices, rolling.first_slice)
        if bear:
            self._bear(contacts, mobility, shift)
        self.slip, self.slip_change, self.lead = None, None, 1.0
        self.last_error, self.hardest = None, HARDEST * self.compliance[self.contacts]
        # what belongs to contacts of what stays where it is
        own = slice(joints.slices, None)
        self.own_bounds = (rows.low[own], rows.high[own], rows.friction[own])
        self.own_answers = (self.new_slip[own], self.impulse[own], self.curvature[own])
        self.own_geometry = (rows.start[own], rows.triples, rows.jacobian)
        self.stiffened = False  # whether contacts are harder than at first
        self.renew()

    def _bear(self, contacts, mobility: np.ndarray, impulse: np.ndarray) -> None:
        """Make contacts as hard as what they carry asks for, by impulses (slices, 3, LANES): renewals leave much of an
        error that sees a mobility far below that of the bodies which touch, and errors that stay from step to step are
        the springs on which heavy things bounce and topple. None is harder than for the heaviest of all bodies, and
        those that carry no more than a few times what touches stay as they are."""
        state, own = self.joints.state, self.contacts
        inverse_mass = mobility[len(state.x) :: 2, 0]
        least = inverse_mass[inverse_mass > 0.0].min(initial=np.inf)
        carried = carried_mobility(self.rows, self.device, impulse, state.velocity_triples(), contacts.kick)[own]
        most = contacts.normal * np.maximum(carried, least)
        light = self.hard[own] & (contacts.lightest * most < self.compliance[own])
        self.compliance[own] = np.where(light, most, self.compliance[own])

    def evaluate(self, velocity: np.ndarray, gradient: np.ndarray | None = None) -> float:
        """The potential [J]; impulses, slips and curvatures are kept, and its gradient is added to one (triples, 3)."""
        rows, joints = self.rows, self.joints
        if not rows.slices:
            return 0.0
        if joints.slices:
            joints.follow(velocity)
        table = (rows.start, rows.triples, rows.jacobian, self.target, rows.low, rows.high, rows.friction)
        of_joints = (joints.blocks.arrays.rows, self.estimate, joints.error, joints.h, joints.rate)
        answers = (self.new_slip, self.impulse, self.curvature, np.empty((0, 3)) if gradient is None else gradient)
        found = self.device.ahead.evaluate_rows((*table, self.compliance), velocity, *of_joints, *answers)
        self.joint_energy, self.energy = found[0], found[0] + found[1]
        return self.energy

    def respond(self, velocity: np.ndarray) -> float:
        """The potential [J] of contacts alone at a velocity (triples, 3); their impulses, slips, curvatures are kept,
        while joints stay as they were."""
        first, nothing = self.joints.slices, self.joints.rate[:0]
        bounds = (self.target[first:], *self.own_bounds, self.compliance[first:])
        given = (*self.own_geometry, *bounds, velocity, 0, nothing, *self.own_answers)
        return self.device.rows.row_response(*given)[1]

    def renew(self, first: int = 0) -> None:
        """Shifts and slips of the slices from the first on follow what was last evaluated."""
        if not self.rows.slices:
            self.shift, self.slip, self.target = self.impulse, self.new_slip, self.rows.target
            return
        slip = self._slip_ahead()
        if first == 0:
            self.shift, self.slip = np.where(self.hard, self.impulse, 0.0), slip
        else:
            self.shift[first:] = np.where(self.hard[first:], self.impulse[first:], 0.0)
            self.slip[first:] = slip[first:]
        if len(self.tilting):
            self.compliance[self.first_tilt :] = self.tilting.compliance(self.impulse)
        self.aim()
        if len(self.rolling):
            places, most = self.rolling.places(), self._torque_bounds()
            self.rows.low.reshape(-1)[places], self.rows.high.reshape(-1)[places] = -most, most

    def aim(self) -> None:
        """Targets from shifts and slips."""
        self.target = self.rows.target + (self.compliance - self.rows.compliance) * self.shift
        self.target[:, 0] -= self.rows.friction * self.slip

    def _slip_ahead(self) -> np.ndarray:
        """The slips (slices, LANES) [m/s] last evaluated or, of mechanisms, where their changes lead to. That of a
        contact which slides leaves the part mu^2 w_t / (w_n + mu^2 w_t) to the next renewal, nearly all where
        mobilities w_t along it are large, as of what is tall (Aitken's relaxation; Kuettler and Wall 2008, eq. 44)."""
        if self.slip is None or not self.joints.slices:
            return self.new_slip.copy()
        change, before = self.new_slip - self.slip, self.slip_change
        if before is not None:
            weight = self.rows.friction**2 / self.mobility[:, 0]
            difference = change - before
            size = float(np.sum(weight * difference * difference))
            best = -self.lead * float(np.sum(weight * before * difference)) / size if size > 0.0 else 1.0
            self.lead = min(max(best, LEAST_LEAD), MOST_LEAD)
        self.slip_change = change
        return np.maximum(self.slip + self.lead * change, 0.0)

    def kept(self) -> dict:
        """What renewals change, for `take_back`."""
        names = ("shift", "slip", "target", "compliance", "last_error")
        return {name: None if (own := getattr(self, name)) is None else own.copy() for name in names}

    def take_back(self, kept: dict) -> None:
        """Undo the renewals since `kept`, of rows among which no torques are."""
        for name, own in kept.items():
            setattr(self, name, own)

    def _torque_bounds(self) -> np.ndarray:
        """The largest torques (r, 3) [N m s] at the normal impulses last evaluated."""
        return self.rolling.reach * np.maximum(self.impulse.reshape(-1)[self.rolling.normal], 0.0)[:, None]

    def harden(self) -> None:
        """Make contacts whose errors, as last evaluated, have hardly become smaller since this was last called harder
        from the next renewal on; both tangents alike, for the cone is round."""
        own = self.contacts
        error = np.where(self.hard[own], np.abs(self.compliance[own] * (self.impulse[own] - self.shift[own])), 0.0)
        error[:, 1:] = error[:, 1:].max(axis=1, keepdims=True)
        if self.last_error is not None:
            stubborn = error > STUBBORN * self.last_error
            softer = self.compliance[own]
            self.compliance[own] = np.where(
                stubborn, np.maximum(HARDER * softer, np.minimum(softer, self.hardest)), softer
            )
            self.stiffened |= bool(stubborn.any())
        self.last_error = error

    def foresee(self, direction: np.ndarray) -> None:
        """Estimate the joints' impulses at the end of a step along a direction (triples, 3)."""
        if self.joints.slices:
            rows, rate = self.rows, np.empty(self.estimate.shape)
            start = rows.start[: self.joints.slices + 1]
            self.device.rows.row_rates(start, rows.triples, rows.jacobian, direction, rate)
            first = slice(0, self.joints.slices)
            ahead = self.impulse[first] - self.curvature[first, :3] * rate
            self.estimate = np.clip(ahead, rows.low[first], rows.high[first])

    def take_estimate(self, impulse: np.ndarray) -> None:
        """Impulses (slices, 3, LANES) that the next iterate will have."""
        if self.joints.slices:
            self.estimate = impulse[: self.joints.slices].copy()

    def pushing(self, impulse: np.ndarray) -> np.ndarray:
        """Which rows of joints (slices, 3, LANES) push with these impulses: limits and ropes that are met, and all
        equalities."""
        first = slice(0, self.joints.slices)
        return (impulse > self.rows.low[first]) & (impulse < self.rows.high[first])

    def missed(self, held: np.ndarray) -> np.ndarray:
        """Which rigid limits and ropes (slices, 3, LANES), of those held, were open where rows were last evaluated."""
        return held & self._rigid_limits() & ~self.pushing(self.impulse[: self.joints.slices])

    def surprised(self, held: np.ndarray) -> bool:
        """Whether rigid limits or ropes, other than those held (slices, 3, LANES), pushed where rows were last
        evaluated."""
        return bool(np.any(self._rigid_limits() & ~held & self.pushing(self.impulse[: self.joints.slices])))

    def _rigid_limits(self) -> np.ndarray:
        """Which rows (slices, 3, LANES) are limits and ropes that are met exactly."""
        return self.hard[: self.joints.slices] & (self.joints.blocks.per_range > 0)[:, None]

    def curvature_holding(self, held: np.ndarray) -> np.ndarray:
        """Curvatures (slices, 6, LANES) as last evaluated, but for limits and ropes held that were open."""
        missed, curvature = self.missed(held), self.curvature
        if missed.any():
            curvature, first = curvature.copy(), slice(0, self.joints.slices)
            curvature[first, :3] = np.where(missed, 1.0 / self.compliance[first], curvature[first, :3])
        return curvature

    def restoring_impulses(self, jacobian: np.ndarray, held: np.ndarray | None = None) -> np.ndarray:
        """J^T (lambda - estimate) (triples, 3) of joints, with Jacobians (entries, 9, LANES) that may be older: what
        pulls them back to where they fit, and no more.

        held (slices, 3, LANES): rows that will push, none if not said. Limits and ropes that are open are led to where
        they do; all others that are open stay so, for nothing in a matrix of open ones resists the impulse that they
        lack, which would throw light bodies away."""
        joints, rows = self.joints, self.rows
        out = np.zeros((len(joints.state.x) + 2 * len(joints.rotation), 3))
        first = slice(0, joints.slices)
        gaps = self.hard[first] & (joints.blocks.per_reach + joints.blocks.per_range > 0)[:, None]
        excess = np.where(gaps & self.pushing(self.impulse[first]), self.impulse[first] - self.estimate, 0.0)
        if held is not None and (missed := self.missed(held)).any():
            free = (self.target[first] - joints.rate) / self.compliance[first]
            excess = np.where(missed, free - self.estimate, excess)
        self.device.rows.add_row_impulses(rows.start[: joints.slices + 1], rows.triples, jacobian, excess, out)
        return out

    def follow_slip(self, velocity: np.ndarray) -> None:
        """Let the slips, but not the shifts, follow a velocity: the start of the iterations."""
        if self.rows.slices == self.joints.slices:  # joints have none
            return
        self.evaluate(velocity)
        self.target[:, 0] += self.rows.friction * (self.slip - self.new_slip)
        self.slip = self.new_slip.copy()

    def mismatch(self, closed: float, little: np.ndarray | None = None) -> float:
        """How far the rows are from being met: twice their errors in velocity as kinetic energies [J]; of joints, which
        may hold on to what is far stiffer than that, as a part of the energies of their compliances, and without gaps
        of up to `closed` of their reach. little (slices, 3, LANES): errors [m/s] of contacts that count for nothing."""
        if not self.rows.slices:
            return 0.0
        met = closed > 0.0 and self.largest_gap() <= closed
        numbers = (self.hard, self.compliance, self.impulse, self.shift, self.mobility, self.rows.friction)
        slips, joints = (self.slip, self.new_slip), (self.joints.blocks.per_reach, met, STIFF_PART)
        none = np.empty((0, 3, LANES)) if little is None else little
        return self.device.ahead.row_mismatch(*numbers, *slips, *joints, none) + self._torque_lag() + self._spring_lag()

    def passed_over(self, closed: float) -> tuple[np.ndarray, float] | None:
        """What renewals of the joints would change impulses by at first where gaps of up to `closed` of their reach are
        passed over: J^T of it (triples, 3) [N s], and twice the energy [J] that it stores in their compliances; None
        where none are."""
        joints, rows = self.joints, self.rows
        if not (joints.slices and closed > 0.0 and self.largest_gap() <= closed):
            return None
        own, first = slice(0, joints.slices), rows.start[: joints.slices + 1]
        change = np.where(self.hard[own], self.impulse[own] - self.shift[own], 0.0)
        out = np.zeros((len(joints.state.x) + 2 * len(joints.rotation), 3))
        self.device.rows.add_row_impulses(first, rows.triples, rows.jacobian, change, out)
        return out, float(np.sum(self.compliance[own] * change * change))

    def _spring_lag(self) -> float:
        """Twice the energy [J] that springs which are met like rigid joints store by their errors."""
        if self.springs is None:
            return 0.0
        error = (self.compliance * (self.impulse - self.shift))[self.springs]
        return float(np.sum(error * error / self.rows.compliance[self.springs]))

    def contact_mismatch(self) -> float:
        """As `mismatch`, of contacts alone, at what they last responded to."""
        own, (new_slip, impulse, _) = slice(self.joints.slices, None), self.own_answers
        numbers = (self.hard[own], self.compliance[own], impulse, self.shift[own], self.mobility[own])
        numbers = (*numbers, self.own_bounds[2], self.slip[own], new_slip)
        none = (self.joints.blocks.per_reach[:0], False, STIFF_PART)
        return self.device.ahead.row_mismatch(*numbers, *none, np.empty((0, 3, LANES))) + self._torque_lag()

    def _torque_lag(self) -> float:
        """How far torques at their bounds are from those of the present normal impulses, as an energy [J]."""
        if not len(self.rolling):
            return 0.0
        places, high = self.rolling.places(), self.rows.high.reshape(-1)
        bound = np.abs(self.impulse.reshape(-1)[places]) >= high[places]
        late = np.where(bound, self._torque_bounds() - high[places], 0.0)
        return float(np.sum(self.mobility.reshape(-1)[places] * late**2))

    def best_impulses(self) -> np.ndarray:
        """Impulses (slices, 3, LANES): of rigid joints those foreseen, which gaps of the size of rounding do not
        disturb, of all other rows as last evaluated."""
        if not self.joints.slices:
            return self.impulse[: self.first_tilt].copy()
        impulse, first = self.impulse.copy(), slice(0, self.joints.slices)
        impulse[first] = np.where(self.hard[first], self.estimate, impulse[first])
        return impulse[: self.first_tilt]

    def largest_gap(self) -> float:
        """The largest gap of a rigid joint relative to its reach, or the most that a limit is overrun by relative to
        its range; rows that can move nothing have none to close."""
        if not self.joints.slices:
            return 0.0
        joints, blocks = self.joints, self.joints.blocks
        return float(self.device.ahead.largest_gap(joints.error, self.hard, blocks.per_reach, blocks.per_range))

    def rounding(self) -> float:
        """Twice the energy [J] that the rounding of the joints' errors makes."""
        joints, state = self.joints, self.joints.state
        if not joints.slices:
            return 0.0
        size = max(np.abs(state.x).max(initial=0.0), np.abs(state.body_position).max(initial=0.0), 1.0)
        hard = self.hard[: joints.slices]
        return float(np.sum(hard / self.compliance[: joints.slices])) * (EPSILON * size / joints.h) ** 2

    def add_impulses(self, out: np.ndarray, scale: float = 1.0, first: int = 0) -> None:
        """out (triples, 3) += scale J^T lambda, of the slices from the first on."""
        rows, impulse = self.rows, scale * self.impulse[first:]
        self.device.rows.add_row_impulses(rows.start[first:], rows.triples, rows.jacobian, impulse, out)

    def with_turning(self, mass: np.ndarray) -> np.ndarray:
        """Mass blocks (triples, 3, 3) with h^2 times the stiffness of bodies against turning; those given where there
        is none."""
        joints = self.joints
        if not joints.slices:
            return mass
        blocks, given = mass.copy(), (joints.blocks.arrays, self.estimate, joints.jacobian, joints.rotation, joints.h)
        self.device.ahead.add_turning_blocks(*given, len(joints.state.x), blocks)
        return blocks
