"""When an iteration of Newton's method is the last: for a time step, and for a static balance."""

import numpy as np

from pliant.rotations import lengths
from pliant.solve.info import Info
from pliant.solve.residual import UNBALANCED, residual

# Rounding of energies relative to their parts.
ROUNDING = 1e-13
# Gaps of rigid joints, relative to their reach, and limits overrun, relative to their range: what a converged step may
# leave, in proportion to its tolerance, and the least that is asked for. (Where joints fit in one position only, and
# turning is against them to second order, no finite force closes them.) Iterations aim at less, for it is cheap where
# it is possible at all.
GAP, CLOSED, SHUT = 1e-4, 5e-7, 1e-10
# Imbalance (solve.residual) that a converged step with joints may leave, at first and where iterations are many.
IMBALANCE, LARGEST_IMBALANCE = 0.01, 0.1
# Forces out of balance, relative to the largest, at which no static solve has converged.
BALANCED = 1e-3
# Ways in a step, relative to the size of what goes them (of turns to 1), that are none in statics: of what lies on
# something at the start there is no other motion beside which they are small.
STILL = 1e-10


class StepCriterion:
    """A correction small beside the motion of the step, in the energy norm, and joints that fit.

    closed: gaps of rigid joints, relative to their reach, that count for nothing where they close slowly. estimates:
    whether iterations end once the next correction is estimated to be small, or only after it.
    """

    closed, estimates = CLOSED, True
    held = False  # whether contacts hold things that would go further than their size
    found = np.inf  # the imbalance where it was last asked whether all fits
    scaled: tuple[np.ndarray, float] | None = None  # velocities whose scale was last asked for, and that

    @property
    def touches(self) -> bool:
        """Whether contacts are looked for where the step leads."""
        return self.potential.model.may_touch

    def __init__(self, potential, system, before: np.ndarray, change: np.ndarray):
        """before, change (triples, 3): velocities before the step, and what external forces alone change them by."""
        self.potential, self.system, self.before = potential, system, before
        # twice the kinetic energy that external forces alone would give
        self.square = potential.device.linalg.triples.quadratic_diagonal
        self.kick = self.square(potential.mass, system.free * self._held(change))
        self.rounding = potential.rounding()

    def _held(self, change: np.ndarray) -> np.ndarray:
        """A change of velocities, cut where things may touch to what moves nothing by more than its size in the step:
        of small things in long steps, contacts hold all but a little of it, and that little is what matters."""
        if not self.touches:
            return change
        model, h = self.potential.model, self.potential.h
        if 2.0 * float(np.abs(change).max(initial=0.0)) <= model.shortest_way / h:
            return change
        most = model.longest_ways / h
        speed = lengths(change)[:, None]
        self.held = not np.all(speed <= most)
        return change * np.minimum(1.0, most / np.maximum(speed, 1e-300)) if self.held else change

    def scale(self, u: np.ndarray) -> float:
        """Twice the energy [J] of the motion in this step: the measure of corrections."""
        mass, free = self.potential.mass, self.system.free
        # a turn deforms nothing, which stiffness, a first order, does not see
        shape = free * self.potential.deforming(u)
        self.motion = self.system.quadratic(shape) - self.square(self.potential.assembled, shape)
        scale = self.kick + max(self.motion, 0.0)
        scale += self.square(mass, free * (u - self.before)) + ROUNDING * self.square(mass, u)
        self.scaled = u, scale
        return scale

    def last_scale(self, u: np.ndarray) -> float:
        """The same, of the same velocities as last time by the matrix of then."""
        return self.scaled[1] if self.scaled is not None and self.scaled[0] is u else self.scale(u)

    def residual(self, gradient: np.ndarray, correction: float, scale: float) -> float:
        """The size of a correction [J] relative to the motion."""
        if correction <= self.rounding:
            return 0.0
        # from a standstill, the first correction is all of the motion
        return float(np.sqrt(correction / scale)) if scale > 0 else 1.0

    def fits(self, u: np.ndarray, info: Info, tolerance: float, patient: bool) -> bool:
        """Whether all rigid joints do at u, where the potential was evaluated last, and things that weigh too little to
        count in the energy are in balance with them as well. patient: after many iterations."""
        potential, joints = self.potential, self.potential.row_potential.joints.slices
        if not joints and not self.estimates:
            return True
        self.found = np.inf
        if potential.row_potential.largest_gap() > max(GAP * tolerance, CLOSED):
            return False
        self.found = found = self.imbalance(u, info)
        most = LARGEST_IMBALANCE if patient or not joints else IMBALANCE
        if not joints and patient:
            return True  # it is measured in the end
        info.imbalance = found if found <= most else np.nan
        return found <= most

    def balances(self, u: np.ndarray, info: Info) -> bool:
        """Whether what is measured at the end of a step would let it pass at u, where the potential was evaluated
        last: stiff bodies may be far out of balance though there is little to correct."""
        if np.isnan(info.imbalance):
            info.imbalance = self.imbalance(u, info)
        return info.imbalance <= UNBALANCED

    def imbalance(self, u: np.ndarray, info: Info) -> float:
        """How far a step is from its equations at u (solve.residual), without the forces of tilts."""
        solution = self.potential.balance(u, info)
        if len(self.potential.row_potential.tilting):
            solution.internal = solution.internal - self.potential.tilt_forces(len(solution.internal))
        return residual(self.potential.problem, solution, "implicit")


class StaticCriterion(StepCriterion):
    """As for a step, measured by the motion so far; and forces must balance: what is small beside a motion that ran
    away is not small."""

    closed, estimates, touches = 0.2 * CLOSED, False, False

    def __init__(self, potential, system, before: np.ndarray, motion: float):
        """motion: twice the energy [J] of the largest motion so far."""
        super().__init__(potential, system, before, np.zeros_like(before))
        self.kick = motion
        ways = potential.model.longest_ways
        still = system.free * np.where(np.isfinite(ways), STILL / potential.h * ways, 0.0)
        self.rounding = max(self.rounding, self.square(potential.mass, still))

    def residual(self, gradient: np.ndarray, correction: float, scale: float) -> float:
        """As for a step, or the imbalance of forces where that is large."""
        found = super().residual(gradient, correction, scale)
        imbalance = self.potential.imbalance(gradient) if found > 0.0 else 0.0
        return max(found, imbalance) if imbalance > BALANCED else found
