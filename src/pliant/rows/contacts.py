"""Rows of contacts: one normal and two tangent rows between soft nodes, points of soft faces and rigid bodies."""

import numpy as np

from pliant.collide.contacts import Contacts
from pliant.kernels.lanes import LANES
from pliant.rows import bounces, rolling
from pliant.rows.table import Rows, concatenate, layout

# Part of a penetration that is pushed out in one step, and the largest speed [m/s] with which that is done.
RECOVERY, MAX_RECOVERY = 0.2, 1.0
# What scenes without rods know of them.
NOWHERE, NO_SHARES, NO_ENDS, NOTHING = np.zeros(0, np.int64), np.zeros((0, 2)), np.zeros((0, 2), np.int64), np.zeros(0)


def allowed_gaps(contacts: Contacts, h: float) -> np.ndarray:
    """The gaps (k,) [m] with which a step of h [s] may end that starts with these contacts: 0, or what is left of a
    penetration when a part of it is pushed out."""
    return np.minimum(contacts.gap + np.minimum(-RECOVERY * contacts.gap, h * MAX_RECOVERY), 0.0)


def fill(
    model, contacts: Contacts, allowed: np.ndarray, pose: tuple, u_before, u_at, h: float
) -> tuple[Rows, np.ndarray, rolling.Rolling]:
    """The contact rows, for each contact the flat index of its normal row (tangents follow at +LANES, +2 LANES), and
    the torques of contacts behind them.

    contacts: at a pose of the bodies, positions (b, 3) and rotations (b, 4), to which velocities u_at (triples, 3)
    lead; u_before: those before the step; allowed: gaps with which it may end.
    """
    if not len(contacts):
        return Rows.empty(np.zeros(1, np.int64)), np.zeros(0, np.int64), rolling.no_rolling(0)
    moving = (contacts.body >= 0) & ~model.immobile[contacts.body] if model.body_count else contacts.body >= 0
    ends, *moving_parts = _ends(model, contacts, pose)
    there = contacts.weight != 0  # columns one by one, which is quicker than a sum over rows
    width = there[:, 0] + 0 + there[:, 1] + there[:, 2] + there[:, 3]
    for column in (ends >= 0).reshape(len(contacts), -1).T:
        width = width + 2 * column
    start, slice_, lane = layout(width)
    rows = Rows.empty(start)
    friction, restitution = model.colliders.things.coefficients(contacts.thing)
    if model.bounce is not None:
        restitution = restitution * model.bounce[contacts.thing].min(axis=1)
    threshold = 2 * h * model.acceleration_bound
    sides = (contacts.node, contacts.weight, ends, *moving_parts)
    geometry = (contacts.point, contacts.normal, contacts.gap, allowed)
    passed = np.full(len(contacts), np.nan)
    if (restitution > 0.0).any():
        passed = bounces.passed_on(model, contacts, allowed, restitution, threshold, pose, u_before, u_at, h)
    numbers = (friction, restitution, threshold, passed, u_before, u_at, model.node_count, h)
    table = (rows.start, slice_, lane, rows.triples, rows.jacobian, rows.target, rows.low, rows.high, rows.friction)
    model.device.contacts.fill_contacts(*sides, *geometry, *numbers, *table)
    index = slice_ * 3 * LANES + lane
    torques, where = rolling.fill(model, contacts, moving, index, u_at if np.any(u_at) else u_before, rows.slices)
    return (rows if torques is None else concatenate([rows, torques])), index, where


def _ends(model, contacts: Contacts, pose: tuple) -> tuple[np.ndarray, ...]:
    """The rigid bodies (k, 2, m) of both sides that can move, -1 for none, their parts in how the point that is touched
    moves, those across a direction (k, 2, 3), that, and the place (k, 2, 3) [m] about which they turn it: of rods,
    m = 3, also the points beside one (`find_ends`)."""
    arms, count, position = model.colliders.arms, len(contacts), pose[0]
    shape = (count, 2, 1 if arms is None else 3)
    out = np.full(shape, -1, np.int64), np.zeros(shape), np.zeros(shape), np.zeros((count, 2, 3))
    known = (NOWHERE, NO_SHARES, NO_ENDS) if arms is None else (arms.place, arms.share, arms.far)
    pieces = (position, NOTHING) if arms is None else model.colliders.pieces(*pose)
    centre = np.empty((count, 2, 3))
    numbers = (contacts.body, contacts.point, *known, model.immobile, position, *pieces)
    model.device.contacts.find_ends(*numbers, *out, centre)
    return *out, centre


def deepest_between(started: Contacts, contacts: Contacts) -> np.ndarray:
    """The least gap (k,) [m] that the two things of each contact had at the start, at most 0."""
    count = 1 + int(max(started.thing.max(initial=0), contacts.thing.max(initial=0)))
    keys = [np.sort(one.thing, axis=1) @ (count, 1) for one in (started, contacts)]
    both, place = np.unique(np.concatenate(keys), return_inverse=True)
    least = np.zeros(len(both))
    np.minimum.at(least, place[: len(started)], started.gap)
    return least[place[len(started) :]]
