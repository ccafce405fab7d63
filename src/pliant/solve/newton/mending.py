"""Contacts that steps of bounded cost did not foresee: of a few bodies, met where these lead."""

from dataclasses import dataclass

import numpy as np

from pliant.collide.contacts import Contacts, among, joined
from pliant.kernels.lanes import LANES
from pliant.model.state import RowImpulses
from pliant.records import changed
from pliant.rows import contacts as contact_rows
from pliant.rows.contacts import MAX_RECOVERY, RECOVERY
from pliant.rows.table import concatenate
from pliant.solve.newton.looking import Look
from pliant.solve.newton.touching import allowed_ahead, looked_up, moved, pair_keys
from pliant.solve.problem import Problem, StepRows, kept_impulses, warm_impulses

# What sweeps may leave, in parts of the size of what touches in a step, before the upper of two bodies gives way; the
# same of what pushes apart; and the depth up to which nothing is.
SLOW, SLOW_PUSH, SPARE = 2e-3, 2e-4, 1e-3
# Most sweeps that push bodies that do not turn out of others.
PUSHES = 60


def swept(
    problem: Problem, rows: StepRows, u_inout: np.ndarray, impulse_inout: np.ndarray, most: int, enough: float
) -> tuple[int, float]:
    """Sweeps over contacts, from velocities (triples, 3) without their impulses (slices, 3, LANES) [N s], at most so
    many or until one changes no more than `enough` [J]: how many, and what the last one changed."""
    table = rows.table
    geometry = (table.start, table.triples, table.jacobian, table.target, table.compliance, table.friction)
    any_speed, mobility = np.full(table.friction.shape, np.inf), np.empty(table.friction.shape)
    numbers = (any_speed, problem.prediction.inverse_mass, impulse_inout, u_inout, mobility, 1, most, enough)
    sweeps, left, _ = problem.model.device.sweeps.sweep_contacts(*geometry, *numbers)
    return sweeps, left


@dataclass
class Part:
    """Contacts, velocities (triples, 3) at whose end they were found, what they carry (k, 3) [N s], and which of them
    still count (k,) bool."""

    contacts: Contacts
    way: np.ndarray
    carried: np.ndarray
    counts: np.ndarray

    @staticmethod
    def of(contacts: Contacts, way: np.ndarray, carried: np.ndarray | None = None) -> "Part":
        """Contacts that all count, and carry nothing unless said otherwise."""
        carried = np.zeros((len(contacts), 3)) if carried is None else carried
        return Part(contacts, way, carried, np.ones(len(contacts), bool))

    def these(self, which: np.ndarray) -> "Part":
        """Some of them, by indices."""
        return Part.of(self.contacts.these(which), self.way, self.carried[which])


class Mending:
    """A step whose velocities u (triples, 3) lead some bodies into others: the contacts that these have there are
    added, and what touches these bodies is swept again."""

    def __init__(self, problem: Problem, u: np.ndarray, impulse: np.ndarray):
        self.problem, self.u, self.sweeps = problem, u, 0
        self.parts = [Part.of(problem.rows.contacts, np.zeros_like(u), _carried(problem.rows, impulse))]

    def mend(self, look: Look, part: float, most: int) -> None:
        """After a look at where velocities lead: with at most so many sweeps, what is deeper than a part of what it may
        be is pushed out."""
        problem, way = self.problem, look.way
        if look.met.any():
            part_of_way = np.repeat(look.share, 2)[:, None]
            look = look.again(part_of_way * look.u, part_of_way * look.push)
            way = look.way
        bodies, new = _unforeseen(problem, look, part)
        near = [np.flatnonzero(each.counts & each.contacts.with_some(bodies)) for each in self.parts]
        before = [each.these(which) for each, which in zip(self.parts, near)]
        rows, self.u = _rows_of(problem, before), self.u.copy()
        impulse = _impulses(rows, before)
        _take_back(problem, rows, impulse, self.u)
        gone = [among(each.contacts.key, new.key) for each in before]
        for each, which, lost in zip(self.parts, near, gone):
            each.counts[which[lost]] = False
        kept = [which[~lost] for which, lost in zip(near, gone)]
        self.parts.append(Part.of(new, way))
        kept.append(np.arange(len(new)))
        self._sweep(kept, kept_impulses(rows, impulse), bodies, most)

    def _sweep(self, which: list[np.ndarray], kept: RowImpulses, bodies: np.ndarray, most: int) -> None:
        """Sweep some contacts of every part, by indices, that began with what is kept of them."""
        problem, own = self.problem, [each.these(some) for each, some in zip(self.parts, which)]
        rows = _rows_of(problem, own)
        impulse = warm_impulses(problem.model.device, kept, rows, turned=True)
        self.sweeps += swept(problem, rows, self.u, impulse, most, 0.0)[0]
        stop_shocks(problem, rows, impulse, self.u, bodies)
        ends = np.cumsum([len(some) for some in which])[:-1]
        for each, some, carried in zip(self.parts, which, np.split(_carried(rows, impulse), ends)):
            each.carried[some] = carried

    def done(self, look: Look) -> tuple[Problem, np.ndarray]:
        """The problem with these contacts, of those found on the way with the gaps that they have after a last look at
        where velocities lead, and impulses (slices, 3, LANES)."""
        parts = [each.these(np.flatnonzero(each.counts)) for each in self.parts]
        rows, bodies = _rows_of(self.problem, parts), np.zeros(self.problem.model.body_count, bool)
        new = np.concatenate([np.full(len(each.contacts), each.way.any()) for each in parts])
        bodies[rows.contacts.body[new]] = True
        found, gap = look.found(bodies), rows.contacts.gap.copy()
        order = np.argsort(found.key, kind="stable")
        if len(found):
            keys, apart = rows.contacts.key[new], np.maximum(gap[new], 0.0)
            gap[new] = looked_up(found.key[order], found.gap[order], keys, apart)
        deep, most = look.deep(1.0)  # which are held back
        order = np.argsort(deep.key, kind="stable")
        if len(deep):
            gap = looked_up(deep.key[order], -most[order], rows.contacts.key, gap)
        contacts = changed(rows.contacts, gap=gap)
        return self.problem.with_rows(changed(rows, contacts=contacts)), _impulses(rows, parts)


def _carried(rows: StepRows, impulse: np.ndarray) -> np.ndarray:
    """Impulses (k, 3) of contacts, of those of rows (slices, 3, LANES)."""
    return impulse.ravel()[rows.contact_index[:, None] + LANES * np.arange(3)]


def _impulses(rows: StepRows, parts: list[Part]) -> np.ndarray:
    """Impulses (slices, 3, LANES) of rows, of what contacts carry."""
    out = np.zeros(rows.table.target.shape)
    carried = np.concatenate([each.carried for each in parts])
    out.reshape(-1)[rows.contact_index[:, None] + LANES * np.arange(3)] = carried
    return out


def _unforeseen(problem: Problem, look: Look, part: float) -> tuple[np.ndarray, Contacts]:
    """Bodies (b,) bool that move, and meet something on their way or end too deep in something, and what contacts they
    have there with each other or with what does not move."""
    model, deep = problem.model, look.deep(part)[0]
    bodies, count = look.met.copy(), len(model.colliders.things)
    found = look.found(bodies)
    pairs = np.concatenate([pair_keys(found.thing, count), pair_keys(deep.thing, count)])
    bodies[deep.body] = True
    found = look.found(bodies)
    return bodies & ~model.static, found.these(among(pair_keys(found.thing, count), pairs))


def _rows_of(problem: Problem, parts: list[Part]) -> StepRows:
    """Rows of contacts found at the start of a step and where velocities lead."""
    tables, indices, count, rolling = [], [], 0, None
    for each in parts:
        state, allowed = problem.state, np.minimum(each.contacts.gap, 0.0)  # what overlaps is pushed apart otherwise
        if each.way.any():
            state, allowed = moved(problem, each.way), allowed_ahead(each.contacts, problem.started, problem.h)
        where = (state.pose[2:], problem.before, each.way, problem.h)
        table, index, rolling = contact_rows.fill(problem.model, each.contacts, allowed, *where)
        tables.append(table)
        indices.append(index + 3 * count)
        count += table.friction.size
    contacts = joined([each.contacts for each in parts])
    return problem.rows.with_contacts(contacts, concatenate(tables), np.concatenate(indices), rolling)


def _take_back(problem: Problem, rows: StepRows, impulse: np.ndarray, u_inout: np.ndarray) -> None:
    """Take what impulses (slices, 3, LANES) of rows did from velocities (triples, 3)."""
    table, p, m = rows.table, np.zeros_like(u_inout), problem.prediction.inverse_mass
    problem.model.device.rows.add_row_impulses(table.start, table.triples, table.jacobian, impulse, p)
    u_inout[:, 0] -= m[:, 0] * p[:, 0] + m[:, 5] * p[:, 1] + m[:, 4] * p[:, 2]
    u_inout[:, 1] -= m[:, 5] * p[:, 0] + m[:, 1] * p[:, 1] + m[:, 3] * p[:, 2]
    u_inout[:, 2] -= m[:, 4] * p[:, 0] + m[:, 3] * p[:, 1] + m[:, 2] * p[:, 2]


def without_turning(problem: Problem, u: np.ndarray, look: Look, still: np.ndarray) -> np.ndarray:
    """Velocities u (triples, 3) with which some bodies, still (b,) bool, do not turn, and of which contacts push these
    alone out of others: what is convex and does not turn stays on its side of a contact."""
    model, started, count = problem.model, problem.started, len(problem.model.colliders.things)
    old, found = started.these(started.with_some(still)), look.found(still)
    new = found.these(~among(pair_keys(found.thing, count), pair_keys(old.thing, count)))
    rows = _rows_of(problem, [Part.of(old, np.zeros_like(u)), Part.of(new, look.way)])
    u, inverse_mass = u.copy(), problem.prediction.inverse_mass * np.repeat(still, 2)[:, None]
    u[1::2][still], inverse_mass[1::2] = 0.0, 0.0
    table = rows.table
    table = changed(table, target=np.minimum(table.target, 0.0), friction=np.zeros_like(table.friction))
    if len(rows.contacts):
        prediction = changed(problem.prediction, inverse_mass=inverse_mass)
        other = changed(problem, prediction=prediction)
        swept(other, changed(rows, table=table), u, np.zeros(table.target.shape), PUSHES, 0.0)
    return np.where(model.free_triples == 0, look.u, u)


def stop_shocks(problem: Problem, rows: StepRows, impulse_inout: np.ndarray, u_inout: np.ndarray, moving) -> None:
    """Stop what sweeps over rows have not stopped from going deeper into something: of two bodies the upper one gives
    way, if it is one of those moving (b,) bool. Velocities (triples, 3) and impulses (slices, 3, LANES) change."""
    if len(rows.contacts):
        least = np.minimum(rows.table.target[:, 0], 0.0)
        _give_way(problem, rows, least, SLOW, moving, impulse_inout, u_inout)


def pushed_apart(problem: Problem, rows: StepRows, u: np.ndarray) -> np.ndarray:
    """By what velocities (triples, 3) bodies that overlap at the start of a step, and those on them, are pushed apart
    in it beside velocities u (triples, 3): the upper of two gives way."""
    table, contacts, h, out = rows.table, rows.contacts, problem.h, np.zeros_like(u)
    depth = -contacts.gap - SPARE * problem.model.colliders.size_of(contacts) if len(contacts) else np.zeros(0)
    if not np.any(depth > 0.0):
        return out
    rate = np.empty(table.target.shape)
    problem.model.device.rows.row_rates(table.start, table.triples, table.jacobian, u, rate)
    room = contacts.gap / h + rate.ravel()[rows.contact_index]
    speed = np.where(depth > 0.0, np.minimum(RECOVERY * depth / h, MAX_RECOVERY), np.minimum(-room, 0.0))
    least = np.full(table.friction.shape, -np.inf)
    least.reshape(-1)[places_of(rows.contact_index)] = speed
    impulse = np.zeros(table.target.shape)
    _give_way(problem, rows, least, SLOW_PUSH, ~problem.model.static, impulse, out)
    return out


def _give_way(problem: Problem, rows: StepRows, least: np.ndarray, slow: float, moving, impulse_inout, u_inout) -> None:
    """Let upper bodies give way where normal rates are below the least (slices, LANES) [m/s] by more than a part of the
    size of what touches in a step."""
    model, table, contacts = problem.model, rows.table, rows.contacts
    lack = np.full(table.friction.shape, np.inf)
    lack.reshape(-1)[places_of(rows.contact_index)] = slow * model.colliders.size_of(contacts) / problem.h
    height = problem.state.body_position @ -model.gravity
    rank, some = np.full(len(height), -1), np.flatnonzero(moving)
    rank[some[np.argsort(height[some], kind="stable")]] = np.arange(len(some))
    geometry = (table.start, table.triples, table.jacobian, least, lack, problem.prediction.inverse_mass)
    model.device.shocks.stop_shocks(*geometry, rank, impulse_inout, u_inout)


def places_of(index: np.ndarray) -> np.ndarray:
    """Flat places (k,) in an array (slices, LANES) of contacts whose normal rows are at these in (slices, 3, LANES)."""
    return index // (3 * LANES) * LANES + index % LANES
