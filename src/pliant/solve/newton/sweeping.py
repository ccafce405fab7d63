"""Many rigid bodies in contact: sweeps over contacts where Newton's method gets stuck.

Between many contacts that may open, stick or slide, the potential of a step is a polytope of kinks, and line searches
creep from one to the next. Gauss-Seidel sweeps that meet each contact exactly, by Coulomb's law, do not see them; what
they cannot do is large ratios of masses, high precision and joints. Their answer is judged as that of any iterate.
"""

import numpy as np

from pliant.solve.newton.increment import Increment

# Fewest contacts, and the largest ratio of what these can move, for which there are sweeps.
FEWEST, LARGEST_RATIO = 16, 30.0
# Most sweeps at a time.
MOST_SWEEPS = 200


def may_sweep(potential: Increment) -> bool:
    """Whether sweeps are for this problem: rigid bodies of similar mass that touch and are held by nothing else."""
    rows, few = potential.row_potential, len(potential.problem.rows.contacts) < FEWEST
    if few or potential.model.elements.sets or rows.joints.slices or len(rows.rolling):
        return False
    mobility = rows.mobility.ravel()[potential.problem.rows.contact_index]
    return bool(mobility.max() <= LARGEST_RATIO * mobility.min())


def sweep(potential: Increment, tolerance: float) -> tuple[np.ndarray, int]:
    """Velocities (triples, 3) after sweeps from the impulses last evaluated, until one changes less than tolerance [J],
    and how many it took; the rows' shifts are what was found."""
    rows, problem = potential.row_potential, potential.problem
    table, impulse, u = rows.rows, rows.impulse.copy(), potential.predicted.copy()
    geometry = (table.start, table.triples, table.jacobian, table.target, table.compliance, table.friction)
    any_speed, mobility = np.full(table.friction.shape, np.inf), np.empty(table.friction.shape)
    numbers = (any_speed, problem.prediction.inverse_mass, impulse, u, mobility, 1, MOST_SWEEPS, tolerance)
    sweeps, *_ = potential.device.sweeps.sweep_contacts(*geometry, *numbers)
    rows.impulse[:] = impulse
    rows.renew()
    rows.follow_slip(u)
    return u, sweeps
