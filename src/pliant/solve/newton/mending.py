"""Contacts that steps of bounded cost did not foresee: of a few bodies, met where these lead."""

import numpy as np

from pliant.collide.contacts import Contacts, among, joined
from pliant.kernels.lanes import LANES
from pliant.records import changed
from pliant.rows import contacts as contact_rows
from pliant.rows.table import concatenate
from pliant.solve.newton.looking import Look
from pliant.solve.newton.touching import allowed_ahead, moved, pair_keys
from pliant.solve.problem import Problem, StepRows, kept_impulses, warm_impulses

# What sweeps may leave, in parts of the size of what touches in a step, before the upper of two bodies gives way.
SLOW = 0.01
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


def mended(
    problem: Problem, u: np.ndarray, impulse: np.ndarray, look: Look, part: float, most: int
) -> tuple[Problem, np.ndarray, np.ndarray, int]:
    """A step whose velocities u (triples, 3) and impulses lead some bodies into others, or deeper than a part of what
    they may be in each other, after sweeps, at most so many, over the contacts of these alone, with those that they
    have there: the problem with these contacts, velocities, impulses, and how many sweeps it took."""
    way = look.u
    if look.met.any():
        way = np.repeat(look.share, 2)[:, None] * u
        look = look.again(way)
    bodies, new = _unforeseen(problem, look, part)
    rows, contacts = problem.rows, problem.rows.contacts
    near, gone = bodies[contacts.body].any(axis=1), among(contacts.key, new.key)
    none = contacts.these(np.zeros(0, np.int64))
    carried, u = _carried(rows, impulse), u.copy()
    some = _rows(problem, contacts.these(near | gone), none, way)
    before = _impulses(some, carried[near | gone])
    _take_back(problem, some, before, u)
    own = _rows(problem, contacts.these(near & ~gone), new, way)
    found = warm_impulses(problem.model.device, kept_impulses(some, before), own, turned=True)
    sweeps, _ = swept(problem, own, u, found, most, 0.0)
    stop_shocks(problem, own, found, u, bodies)
    left = int((near & ~gone).sum())
    carried[near & ~gone] = _carried(own, found)[:left]
    whole = _rows(problem, contacts.these(~gone), new, way)
    out = _impulses(whole, np.concatenate([carried[~gone], _carried(own, found)[left:]]))
    return problem.with_rows(_ended(problem, whole, u - way, len(new))), u, out, sweeps


def _carried(rows: StepRows, impulse: np.ndarray) -> np.ndarray:
    """Impulses (k, 3) of contacts, of those of rows (slices, 3, LANES)."""
    return impulse.ravel()[rows.contact_index[:, None] + LANES * np.arange(3)]


def _impulses(rows: StepRows, carried: np.ndarray) -> np.ndarray:
    """Impulses (slices, 3, LANES) of rows, of those of contacts (k, 3)."""
    out = np.zeros(rows.table.target.shape)
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


def _rows(problem: Problem, old: Contacts, new: Contacts, way: np.ndarray) -> StepRows:
    """Rows of contacts found at the start of a step and of others found where velocities `way` (triples, 3) lead."""
    model, parts, rest = problem.model, [], np.zeros_like(way)
    for contacts, u, state in ((old, rest, problem.state), (new, way, moved(problem, way))):
        allowed = allowed_ahead(contacts, problem.started, problem.h)
        parts.append(contact_rows.fill(model, contacts, allowed, state.pose[2:], problem.before, u, problem.h))
    (first, before, _), (second, behind, rolling) = parts
    index = np.concatenate([before, behind + 3 * first.friction.size])
    return problem.rows.with_contacts(joined([old, new]), concatenate([first, second]), index, rolling)


def _take_back(problem: Problem, rows: StepRows, impulse: np.ndarray, u_inout: np.ndarray) -> None:
    """Take what impulses (slices, 3, LANES) of rows did from velocities (triples, 3)."""
    table, p, m = rows.table, np.zeros_like(u_inout), problem.prediction.inverse_mass
    problem.model.device.rows.add_row_impulses(table.start, table.triples, table.jacobian, impulse, p)
    u_inout[:, 0] -= m[:, 0] * p[:, 0] + m[:, 5] * p[:, 1] + m[:, 4] * p[:, 2]
    u_inout[:, 1] -= m[:, 5] * p[:, 0] + m[:, 1] * p[:, 1] + m[:, 3] * p[:, 2]
    u_inout[:, 2] -= m[:, 4] * p[:, 0] + m[:, 3] * p[:, 1] + m[:, 2] * p[:, 2]


def _ended(problem: Problem, rows: StepRows, change: np.ndarray, new: int) -> StepRows:
    """Rows with the gaps, to first order, that the last `new` contacts have with velocities that differ by `change`
    (triples, 3) from those where they were found."""
    table, gap = rows.table, rows.contacts.gap.copy()
    rate = np.empty(table.target.shape)
    problem.model.device.rows.row_rates(table.start, table.triples, table.jacobian, change, rate)
    gap[len(gap) - new :] += problem.h * rate.ravel()[rows.contact_index[len(gap) - new :]]
    return changed(rows, contacts=changed(rows.contacts, gap=gap))


def without_turning(problem: Problem, u: np.ndarray, look: Look, still: np.ndarray) -> np.ndarray:
    """Velocities u (triples, 3) with which some bodies, still (b,) bool, do not turn, and of which contacts push these
    alone out of others: what is convex and does not turn stays on its side of a contact."""
    model, started, count = problem.model, problem.started, len(problem.model.colliders.things)
    old, found = started.these(still[started.body].any(axis=1)), look.found(still)
    new = found.these(~among(pair_keys(found.thing, count), pair_keys(old.thing, count)))
    rows = _rows(problem, old, new, look.u)
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
    model, table, h, contacts = problem.model, rows.table, problem.h, rows.contacts
    if not len(contacts):
        return
    slow, places = np.full(table.friction.shape, np.inf), places_of(rows.contact_index)
    slow.reshape(-1)[places] = SLOW * model.colliders.size_of(contacts) / h
    least = np.minimum(table.target[:, 0], 0.0)
    height = problem.state.body_position @ -model.gravity
    rank = np.full(len(height), -1)
    rank[np.argsort(np.where(moving, height, np.inf), kind="stable")[: moving.sum()]] = np.arange(moving.sum())
    geometry = (table.start, table.triples, table.jacobian, least, slow, problem.prediction.inverse_mass)
    model.device.shocks.stop_shocks(*geometry, rank, impulse_inout, u_inout)


def places_of(index: np.ndarray) -> np.ndarray:
    """Flat places (k,) in an array (slices, LANES) of contacts whose normal rows are at these in (slices, 3, LANES)."""
    return index // (3 * LANES) * LANES + index % LANES
