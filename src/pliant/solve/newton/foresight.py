"""Directions that foresee contacts.

Newton's direction takes contacts as they are where it starts: one that is about to close does not hold it up, and a
line search then stops at the first few of hundreds that close. Here elements and joints are a quadratic, but contacts
open, close, stick and slide as they do; what lowers this model is a direction downhill, for the model is convex.
"""

from functools import partial

import numpy as np

from pliant.rows.potential import RowPotential
from pliant.solve.newton.increment import Increment
from pliant.solve.newton.point import Point

# Most corrections of a direction, part of the residual to which each is solved for, and to which all of them bring it.
MOST_CORRECTIONS, FORCING, ENOUGH = 8, 0.1, 0.1
# By what part less where a contact is too deep though all others are met: it is lost in what they leave otherwise.
CLOSELY = 0.3
# Most renewals of what lags behind, and the part of it [J] that one leaves where they are slow.
MOST_RENEWALS, SLOWLY = 5, 0.75
# Most halvings of a correction that does not lower the model.
MOST_HALVINGS = 12


def foreseeable(potential: Increment) -> bool:
    """Whether there are elements to which contacts are cheap beside, and contacts."""
    return bool(len(potential.problem.rows.contacts)) and bool(potential.elements.elements.sets)


def foresee_contacts(
    potential: Increment, system, point: Point, direction: np.ndarray, size: float, enough: float, solve=None
) -> tuple[np.ndarray, int]:
    """A direction (triples, 3) from a point, where the potential was last evaluated, that meets contacts where it
    leads, from one that does not; and the products it took. size: local norm of the gradient.

    What lags behind of contacts is renewed there until it lags by no more than an energy `enough` [J], and with it the
    value and the gradient of the point. The system is left with the curvatures of contacts where the direction leads.
    solve: finds corrections for right-hand sides, or says that there are to be no more.
    """
    part = CLOSELY if potential.short else 1.0
    solve = solve or partial(system.solve, tolerance=part * FORCING)
    rows, joints, u = potential.row_potential, potential.row_potential.joints.slices, point.u
    smooth = point.gradient.copy()
    rows.add_impulses(smooth, first=joints)
    smooth *= system.free
    level = rows.respond(u)
    point.value -= level
    there, pushed = np.zeros_like(direction), np.zeros_like(direction)  # so far, and the quadratic's product with it
    lowest, products, plain, renewals, lag = 0.0, 0, direction, 0, np.inf
    for _ in range(MOST_CORRECTIONS):
        push = system.product_without_contacts(direction)
        for _ in range(MOST_HALVINGS):
            new, new_push = there + direction, pushed + push
            value = rows.respond(u + new) - level + float(system.dot(smooth + 0.5 * new_push, new))
            if value < lowest:
                break
            direction, push = 0.5 * direction, 0.5 * push
        else:
            break
        there, pushed, lowest = new, new_push, value
        left = _left(rows, joints, smooth + pushed, system)
        if system.local_norm(left) <= part * ENOUGH * size:
            lag, before = rows.contact_mismatch(), lag
            if renewals == MOST_RENEWALS or lag <= enough or lag > SLOWLY * before:
                break
            rows.renew(joints)
            renewals, level = renewals + 1, rows.respond(u)
            lowest = rows.respond(u + there) - level + float(system.dot(smooth + 0.5 * pushed, there))
            left = _left(rows, joints, smooth + pushed, system)
        direction, more = solve(-left)
        products += more
        if direction is None or system.indefinite:
            break
    point.value += rows.respond(u)
    if renewals:
        rows.add_impulses(smooth, -1.0, joints)
        point.gradient = smooth * system.free
    return (there if lowest < 0.0 else plain), products


def _left(rows: RowPotential, joints: int, gradient: np.ndarray, system) -> np.ndarray:
    """The model's gradient (triples, 3), from that without contacts, where these responded last; the system takes their
    curvatures there."""
    rows.add_impulses(gradient, -1.0, joints)
    gradient *= system.free
    system.renew_contacts(rows.curvature)
    return gradient
