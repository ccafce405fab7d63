"""Directions that foresee contacts.

Newton's direction takes contacts as they are where it starts: one that is about to close does not hold it up, and a
line search then stops at the first few of hundreds that close. Here elements and joints are a quadratic, but contacts
open, close, stick and slide as they do; what lowers this model is a direction downhill, for the model is convex.
"""

import numpy as np

from pliant.solve.newton.increment import Increment

# Most corrections of a direction, part of the residual to which each is solved for, and to which all of them bring it.
MOST_CORRECTIONS, FORCING, ENOUGH = 6, 0.1, 0.1
# Most halvings of a correction that does not lower the model.
MOST_HALVINGS = 12


def foreseeable(potential: Increment) -> bool:
    """Whether there are elements to which contacts are cheap beside, and contacts."""
    return bool(len(potential.problem.rows.contacts)) and bool(potential.elements.elements.sets)


def foresee_contacts(
    potential: Increment, system, u: np.ndarray, gradient: np.ndarray, direction: np.ndarray, size: float
) -> tuple[np.ndarray, int]:
    """A direction (triples, 3) from velocities u, where the potential was last evaluated, with its gradient, that
    meets contacts where it leads, from one that does not; and the products it took. size: local norm of the gradient.

    The system is left with the curvatures of contacts where the direction leads.
    """
    rows, joints = potential.row_potential, potential.row_potential.joints.slices
    smooth = gradient.copy()
    rows.add_impulses(smooth, first=joints)
    smooth *= system.free
    level = rows.respond(u)
    there, pushed = np.zeros_like(direction), np.zeros_like(direction)  # so far, and the quadratic's product with it
    lowest, products, plain = 0.0, 0, direction
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
        left = smooth + pushed
        rows.add_impulses(left, -1.0, joints)
        left *= system.free
        system.renew_contacts(rows.curvature)
        if system.local_norm(left) <= ENOUGH * size:
            break
        direction, more = system.solve(-left, FORCING)
        products += more
        if system.indefinite:
            break
    rows.respond(u)
    return (there if lowest < 0.0 else plain), products
