"""Steps of Newton's method that are bent so that thin rods keep their lengths."""

import numpy as np

from pliant.solve.newton.increment import Increment

# Armijo's constant, and the slope at the end of a step, relative to that at its start, that counts as overshooting.
SUFFICIENT, OVERSHOOT = 1e-4, 0.3
# Further steps with the same matrix that bring a step back to where joints fit, or rods have their lengths.
MOST_CORRECTIONS = 4
# Halvings of a step that is bent in this way, and how exactly corrections are solved for.
MOST_BENDS, FORCING = 3, 0.1


def back_to_length(
    potential: Increment, system, point, new, found, factor: float, allowance: float
) -> tuple[tuple | None, float]:
    """A part of Newton's step, from that at `new` down, that is brought back to where rods have their lengths by solves
    with the same matrix: velocities, potential and gradient there, and that part; None where none lowers the potential.

    point, new: where the step begins, and its part `factor` along the direction that was found. A straight step that
    turns a thin rod stretches it by its square, and stretching is by far its stiffest motion: the same cure as for
    joints (a second-order correction; Nocedal and Wright, ch. 18.3).
    """
    u, value, gradient = new.u, new.value, new.gradient
    for bend in range(MOST_BENDS):
        start, most = point.u + factor * found.direction, point.value + SUFFICIENT * factor * found.slope + allowance
        if bend:
            u, (value, gradient) = start, potential.evaluate(start)
        for _ in range(MOST_CORRECTIONS):
            end = float(system.dot(system.free * gradient, found.direction))
            if value <= most and end <= OVERSHOOT * abs(found.slope):
                return (u, value, gradient), factor
            correction, products = system.solve(-system.free * _beyond(potential, system, factor), FORCING)
            found.products += products
            if not np.isfinite(value) or potential.longest(u + correction - start) < 1.0:
                break
            u = u + correction
            value, gradient = potential.evaluate(u)
        if value <= most:
            return (u, value, gradient), factor
        factor *= 0.5
    return None, factor


def _beyond(potential: Increment, system, factor: float) -> np.ndarray:
    """Impulses (triples, 3), with the sign of a gradient, of tensions and joints beyond those foreseen."""
    pull, rows = potential.h * potential.elements.restoring(factor), potential.row_potential
    return pull - rows.restoring_impulses(system.jacobian) if rows.joints.slices else pull
