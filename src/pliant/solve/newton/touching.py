"""Contacts where a step leads: found again at the end of a step, in place of those foreseen at its start."""

import numpy as np

from pliant.collide.contacts import Contacts, among, joined, no_contacts, of_solids
from pliant.collide.detect import detect
from pliant.kernels.device import Device
from pliant.model.state import State
from pliant.records import changed
from pliant.rows import contacts as contact_rows
from pliant.rows.tilting import Tilting, no_tilting
from pliant.rows.tilting import fill as fill_tilts
from pliant.solve.problem import Problem

# Penetration, relative to the size of what touches, that a converged step may leave (a corner between two faces may be
# the root of two times deeper than in each: a thousandth), and the part of that by which it may leave more than is
# allowed of one that there was.
PENETRATION, LEEWAY = 7e-4, 0.2
# How far things may move, relative to the size of what touches, without being looked for where they come to lie.
RESTING = 1e-5
# The least part of the way that contacts follow the iterates.
LEAST_SHARE = 0.2


def contacts_ahead(
    problem: Problem, started: Contacts, u: np.ndarray, last: np.ndarray, share: float, held: np.ndarray
) -> tuple[Problem, np.ndarray, bool, Tilting]:
    """The problem with the contacts at the positions to which velocities u (triples, 3) lead, or where things meet on
    their way there; these velocities; and whether nothing meets.

    started: contacts at the start of the step, which say what penetrations there were. last (triples, 3): velocities at
    whose end the contacts so far were found. Those between things that touch no more are kept, and those `held` (k,)
    that are not found again: without them, the next iterate might bring them back, and so on. share: how far to go from
    there: halfway ends oscillations between two iterates, each of which is the answer to the contacts of the other.
    """
    model, h = problem.model, problem.h
    ends = problem.state.x + h * u[: model.node_count]
    if not len(problem.rows.contacts) and model.colliders.clear(problem.state.x, ends):
        return problem, u, True, no_tilting()
    there = moved(problem, u)
    shares = _shares(problem, u, there)
    clear = bool(shares.min(initial=1.0) >= 1.0)
    if not clear or share != 1.0:
        u = last + share * ((u if clear else shares[:, None] * u) - last)
        there = moved(problem, u)
    problem = with_contacts_found(problem, started, detect(model, there, h), there, u, last, held)
    return problem, u, clear, fill_tilts(model, problem.rows.contacts, problem.rows.contact_index, there, u, h)


def with_contacts_found(
    problem: Problem, started: Contacts, found: Contacts, there: State, u: np.ndarray, last: np.ndarray, held
) -> Problem:
    """The problem with contacts found `there`, where velocities u (triples, 3) lead, and those so far that are kept:
    started, last and held as above."""
    contacts = joined([found, _vanished(problem, found, u - last, held)])
    allowed = allowed_ahead(contacts, started, problem.h)
    numbers = (allowed, there.pose[2:], problem.before, u, problem.h)
    rows, index, rolling = contact_rows.fill(problem.model, contacts, *numbers)
    return problem.with_rows(problem.rows.with_contacts(contacts, rows, index, rolling))


def followed_share(device: Device, mass: np.ndarray, change: np.ndarray, before: np.ndarray, share: float) -> float:
    """What part of the way to where an iterate leads contacts follow, so that oscillations end (Aitken's relaxation;
    Kuettler and Wall 2008, eq. 44). change, before (triples, 3): what is left to go, and was before `share` of that was
    gone."""
    difference, triples = change - before, device.linalg.triples
    weighted = triples.multiply_diagonal(mass, difference)
    size = float(triples.dot(difference, weighted))
    best = -share * float(triples.dot(before, weighted)) / size if size > 0.0 else 1.0
    return min(max(best, LEAST_SHARE), 1.0)


def rests(problem: Problem, u: np.ndarray, last: np.ndarray) -> bool:
    """Whether velocities u (triples, 3) lead so little further than those at whose end contacts were found, `last`,
    that they are there as they were: of nodes, and of nothing else that moves."""
    model, contacts = problem.model, problem.rows.contacts
    if not len(contacts) or len(model.joints.family) or model.elements.on_bodies or not model.static.all():
        return False
    way = problem.h * float(np.abs(u - last).max())
    return way <= RESTING * float(model.colliders.size_of(contacts).min())


def of_solids_ahead(problem: Problem, u: np.ndarray) -> Contacts:
    """Contacts with solids, whose insides are known, where velocities u (triples, 3) lead."""
    return problem.model.colliders.contacts_of_solids(moved(problem, u), 0.0)


def pushed_out(problem: Problem, u: np.ndarray) -> np.ndarray:
    """What velocities u (triples, 3) lack with which nodes would end inside solids, by the contacts at hand."""
    out, rows, contacts = np.zeros_like(u), problem.rows, problem.rows.contacts
    table, rate, device = rows.table, np.empty(rows.table.target.shape), problem.model.device
    device.rows.row_rates(table.start, table.triples, table.jacobian, u, rate)
    which = np.flatnonzero(of_solids(contacts.key) & (contacts.node[:, 0] >= 0))
    sides = (which, contacts.node, contacts.weight, contacts.normal, rows.contact_index)
    device.contacts.push_out(*sides, table.target, rate, out)
    return out


def too_deep(contacts: Contacts, started: Contacts, h: float, most: np.ndarray) -> np.ndarray:
    """Which contacts (k,) of a step of h [s] are deeper than it may leave them, `most` (k,) [m], with a leeway.

    started: those at its start, which say what penetrations there were; what sinks by as much as is allowed in one step
    must not sink further in the next."""
    return contacts.gap < -np.maximum(most, LEEWAY * most - allowed_ahead(contacts, started, h))


def may_lack(contacts: Contacts, started: Contacts, h: float, most: np.ndarray) -> np.ndarray:
    """How far (k,) [m] contacts may end short of where they should before they are too deep, as above."""
    return np.maximum(most + allowed_ahead(contacts, started, h), LEEWAY * most)


def _vanished(problem: Problem, found: Contacts, change: np.ndarray, held: np.ndarray) -> Contacts:
    """The problem's contacts between things of which none was found now, and those held (k,) that were not; their gaps
    as velocities that differ by `change` (triples, 3) from those at which they were found make them."""
    rows, contacts, count = problem.rows, problem.rows.contacts, len(problem.model.colliders.things)
    if not len(contacts) or np.array_equal(contacts.key, found.key):
        return no_contacts()
    gone = ~among(pair_keys(contacts.thing, count), pair_keys(found.thing, count))
    held = np.flatnonzero(held)
    gone[held] |= ~among(contacts.key[held], found.key)
    if not gone.any():
        return no_contacts()
    table, rate = rows.table, np.empty(rows.table.target.shape)
    problem.model.device.rows.row_rates(table.start, table.triples, table.jacobian, change, rate)
    kept = contacts.these(gone)
    return changed(kept, gap=kept.gap + problem.h * rate.ravel()[rows.contact_index[gone]])


def pair_keys(things: np.ndarray, count: int) -> np.ndarray:
    """A number (k,) for each pair (k, 2) of so many things, whichever stands first."""
    first, second = things[:, 0], things[:, 1]
    return np.minimum(first, second) * count + np.maximum(first, second)


def shares_before_meeting(problem: Problem, u: np.ndarray) -> np.ndarray:
    """The parts (triples,) of velocities u (triples, 3) with which things go no further than to where they meet."""
    return _shares(problem, u, moved(problem, u))


def _shares(problem: Problem, u: np.ndarray, there: State) -> np.ndarray:
    """As `shares_before_meeting`; there: where u leads."""
    h, n = problem.h, problem.model.node_count
    nodes, bodies = problem.model.colliders.times(problem.state, there, h * u[n::2], h * u[n + 1 :: 2])
    return np.concatenate([nodes, np.repeat(bodies, 2)])


def moved(problem: Problem, u: np.ndarray) -> State:
    """The state with everything where velocities u (triples, 3) lead, and moving with them, bodies as the step leaves
    them: to the last bit where joints do not turn them, so that contacts found there are those of the next start."""
    model, state, h, n = problem.model, problem.state, problem.h, problem.model.node_count
    turn, rotation = np.ascontiguousarray(u[n + 1 :: 2]), state.body_rotation.copy()
    spin, late = turn.copy(), np.zeros_like(turn)
    momenta = (problem.prediction.angular_momentum, problem.prediction.mid_angular_velocity)
    model.device.rigid.integrate_bodies(model.body_inertia, model.static, *momenta, turn, late, h, rotation, spin)
    return state.changed(
        x=state.x + h * u[:n],
        v=u[:n],
        body_position=state.body_position + h * u[n::2],
        body_rotation=rotation,
        body_velocity=u[n::2],
        body_angular_velocity=spin,
    )


def approach(problem: Problem, contacts: Contacts, u: np.ndarray) -> np.ndarray:
    """How far (k,) [m] the sides of contacts, found where velocities u lead, come together in the step, about."""
    if not len(contacts):
        return np.zeros(0)
    still, there = np.zeros(len(contacts)), moved(problem, u)
    rows, index, _ = contact_rows.fill(problem.model, contacts, still, there.pose[2:], problem.before, u, problem.h)
    rate = np.empty(rows.target.shape)
    problem.model.device.rows.row_rates(rows.start, rows.triples, rows.jacobian, u, rate)
    return -problem.h * rate.ravel()[index]


def allowed_ahead(contacts: Contacts, started: Contacts, h: float) -> np.ndarray:
    """Gaps (k,) [m] with which the step may end: of contacts that were there at its start what they allowed, of others
    that of the deepest penetration between the same two things."""
    allowed = np.zeros(len(contacts))
    then = contact_rows.allowed_gaps(started, h)
    if np.array_equal(contacts.key, started.key):
        return then
    deep = np.flatnonzero(then < 0.0)
    if not len(deep) or not len(contacts):
        return allowed
    count = int(max(started.thing.max(), contacts.thing.max())) + 1
    pairs, place = np.unique(started.thing[deep] @ (count, 1), return_inverse=True)
    depth = np.zeros(len(pairs))
    np.minimum.at(depth, place, then[deep])
    allowed = looked_up(pairs, depth, contacts.thing @ (count, 1), allowed)
    order = np.argsort(started.key, kind="stable")
    return looked_up(started.key[order], then[order], contacts.key, allowed)


def looked_up(keys: np.ndarray, values: np.ndarray, wanted: np.ndarray, otherwise: np.ndarray) -> np.ndarray:
    """The values of keys, which are sorted, at those wanted; where there are none, the others."""
    place = np.searchsorted(keys, wanted).clip(max=len(keys) - 1)
    return np.where(keys[place] == wanted, values[place], otherwise)
