"""What the corrections of Newton's method so far tell of those to come."""

from dataclasses import dataclass

import numpy as np

from pliant.solve.newton.point import Direction

# Ratios of the sizes of two corrections: from where on they are said to converge slowly, and from where on the first
# was not what had to be corrected.
CREEPING, SURPRISING = 0.5, 2.0


@dataclass
class Trend:
    """What the corrections so far tell of those to come: last, its energy [J]; condition: what energy a gradient of
    local norm one had when a correction was far larger than the one before, as those of loosely solved systems are.
    Factors of the Hessian hide nothing, however soft a motion is: they tell what is left, and end that doubt."""

    last: float = np.inf
    whole: bool = False
    renewed: bool = False
    slow: float = 0.0
    condition: float = 0.0

    def follow(self, found: Direction, factor: float) -> float:
        """Take up a correction, and its energy [J]."""
        energy = abs(found.slope)
        ratio = np.sqrt(energy / self.last) if self.last > 0.0 else 0.0
        if ratio > SURPRISING and self.whole and not self.renewed:
            self.condition = max(self.condition, energy / max(found.size**2, 1e-300))
        if found.whole:
            self.condition = 0.0
        # a geometric series
        self.slow = (
            energy * (ratio / (1.0 - ratio)) ** 2 if CREEPING < ratio < 1.0 and self.whole and not self.renewed else 0.0
        )
        self.last, self.whole, self.renewed = energy, factor == 1.0, False
        return energy

    def least(self, system, gradient: np.ndarray) -> float:
        """What is left [J] at a gradient, by the corrections so far."""
        rough = self.condition * system.local_norm(system.free * gradient) ** 2 if self.condition else 0.0
        return max(self.slow, rough)
