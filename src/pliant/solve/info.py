"""What a solver reports of a step."""

from dataclasses import dataclass, field
from math import nan

import numpy as np


@dataclass
class Info:
    """The last step: iterations (products with the matrix, or sweeps), the residual by which the solver stops, whether
    it met the tolerance, rows.

    imbalance: how far the step is from its equations, by one measure for all solvers (solve.residual); a step with
    more than a half has not converged. It is no number where it is not measured, as in statics.

    newton_iterations: linear systems solved by Newton's method, and `linear` how; shortest_step: its smallest
    line-search factor. tangled: soft bodies that were turned inside out and are being pulled back to shape, not by
    their own law.
    integrator: what a step of BDF2 was in fact, "bdf2" or "euler" (at the start, after contacts, where extrapolation
    inverts elements, or where joints stray). active: rows at a bound. timings: seconds per stage of the step.

    misfit: the largest entry of R S - F that a mixed step leaves (its stretches beside its positions). energy: what
    elements store [J] where the step ended, as its solver has evaluated it there (Newton, Bounded and Mixed on the CPU,
    and in statics). It is no number of others, without elements, and where bodies were held back and nobody asked.

    parts: how many shorter steps it was taken in: substeps, or halves of one in which joints strayed; straying: how far
    joints strayed, in parts of what makes a step be halved; unsettled: its contacts were not found in time, and shorter
    steps may find theirs; gaining: things to which impacts that bounce would give energy (stepping.bouncing). held:
    bodies that a step which did not converge would have led into or through others, and that went only a share of
    their way (stepping.held). Work is the sum over all parts and over attempts that were given
    up (but for one of BDF2 that became Euler's), and the step is as good as the worst of its parts.
    """

    solver: str = ""
    iterations: int = 0
    residual: float = 0.0
    converged: bool = True
    imbalance: float = nan
    rows: int = 0
    active: int = 0
    contacts: int = 0
    refreshes: int = 0
    drift_iterations: int = 0
    newton_iterations: int = 0
    linear: str = ""
    shortest_step: float = 1.0
    integrator: str = ""
    parts: int = 1
    straying: float = 0.0
    unsettled: bool = False
    gaining: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64), repr=False)
    misfit: float = nan
    energy: float = nan
    tangled: list[str] = field(default_factory=list)
    held: list[str] = field(default_factory=list)
    timings: dict[str, float] = field(default_factory=dict)
