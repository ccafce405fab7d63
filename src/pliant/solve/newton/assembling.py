"""The Hessian of a potential, as a system takes it: when the elements' stiffness and the rows are renewed in it."""

import numpy as np

from pliant.rows.table import Rows
from pliant.solve.newton.increment import Increment

# Residuals, relative to the tolerance, and in all, from which on the elements' stiffness is kept from the iteration
# before, and how often in a row: it is accurate enough for the few that are left.
FRESH, MOST_FRESH, MOST_KEPT = 30.0, 0.3, 3


def take_stiffness(potential: Increment, system, project: bool = True) -> bool:
    """Let a system take the stiffness of the elements at what was last evaluated, unless that of a step before lasts;
    whether it did. project: without the directions in which it is negative."""
    if potential.elements.lasting:
        potential.elements.lasting = False  # for one matrix
        return False
    system.take(potential.element_terms(project))
    return True


def assemble(potential: Increment, system, exact: bool, first: bool = False, held: np.ndarray | None = None) -> bool:
    """The Hessian at what was last evaluated; whether the elements' stiffness is new, and not that of a step before.

    exact: near the answer the Hessian is taken as it is, which converges faster. first: of a step. held (slices, 3,
    LANES): rows of joints that count as if they pushed.
    """
    rows = potential.row_potential
    new = take_stiffness(potential, system, not exact)
    potential.assembled = potential.blocks()
    curvature = rows.curvature if held is None else rows.curvature_holding(held)
    system.assemble(potential.assembled, rows.rows, curvature, potential.x if first else None)
    return new


def fresh(system, residual: float, tolerance: float, kept: int) -> bool:
    """Whether the elements' stiffness, kept so often, is good enough for another iteration."""
    return system.iterates and kept < MOST_KEPT and residual <= min(FRESH * tolerance, MOST_FRESH)


def renew_rows(potential: Increment, system) -> None:
    """The rows' part of the Hessian at what was last evaluated; where systems are factorised, the whole."""
    rows = potential.row_potential
    if system.iterates:
        system.renew_rows(rows.rows, rows.curvature)
    else:
        assemble(potential, system, False)


def act_alike(system, rows: Rows) -> bool:
    """Whether the rows that a system has act on the same triples as these."""
    same = np.array_equal(system.rows.start, rows.start)
    return same and np.array_equal(system.rows.offset, system.offsets[rows.triples])
