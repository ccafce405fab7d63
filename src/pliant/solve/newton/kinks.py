"""Newton's direction where rows have kinks: limits that are met or left on the way, motors and friction at their
bounds, contacts.

A direction from the curvatures at a point knows nothing of rows that change on its way, and a line search on stiff rows
then creeps from kink to kink. With joints taken as linear around the point, the potential is convex and piecewise
quadratic (but for cones): its minimum is found by semismooth Newton steps with exact line searches, by factorisations
alone, without evaluating joints again.
"""

import numpy as np

from pliant.kernels.rows import LinearRows

# Most changes of which rows push.
MOST_CHANGES = 20
# What is left to gain relative to the first slope.
LITTLE = 1e-3


class _Model:
    """The potential around the point where it was evaluated last, as a function of a direction (triples, 3)."""

    def __init__(self, potential, system, gradient: np.ndarray):
        """gradient (triples, 3): at that point."""
        rows = potential.row_potential
        self.table, self.joints, self.kernels = rows.rows, rows.joints, potential.device
        self.gradient, self.free, self.product, self.dot = gradient, system.free, system.bare_product, system.dot
        tangents = np.zeros(rows.impulse.shape, bool)
        tangents[: self.joints.slices] = self.joints.blocks.tangents
        bounds = (rows.target, self.table.low, self.table.high, rows.compliance, self.table.friction)
        self.rows = LinearRows(*bounds, tangents, rows.impulse.copy(), rows.curvature.copy())
        self.base = self.rates(potential.at)
        self.base[: self.joints.slices] = self.joints.rate
        self.impulse, self.curvature = np.empty_like(rows.impulse), np.empty_like(rows.curvature)

    def rates(self, direction: np.ndarray) -> np.ndarray:
        """J d (slices, 3, LANES)."""
        out = np.empty(self.table.target.shape)
        geometry = (self.table.start, self.table.triples, self.table.jacobian)
        self.kernels.rows.row_rates(*geometry, direction, out)
        return out

    def slope(self, direction: np.ndarray, rate: np.ndarray) -> np.ndarray:
        """Its gradient (triples, 3) at a direction, with the rates of rows there; impulses and curvatures are kept."""
        out = np.empty_like(direction)
        geometry = (self.table.start, self.table.triples, self.table.jacobian)
        given = (self.gradient, self.product(direction), self.free, rate, self.base)
        self.kernels.kinks.model_gradient(*geometry, self.rows, *given, self.impulse, self.curvature, out)
        return out

    def lowest(self, at: np.ndarray, rate: np.ndarray, step: np.ndarray, change: np.ndarray) -> float:
        """The share of a step from `at` at which it is lowest; rate, change: rates of rows there, and of the step."""
        pull = self.product(step)
        constant = float(self.dot(self.gradient, step) + self.dot(at, pull) + np.vdot(self.rows.impulse, change))
        numbers = (constant, float(self.dot(step, pull)))
        return self.kernels.kinks.lowest_along(self.rows, rate, change, self.base, *numbers)


def past_kinks(potential, system, gradient: np.ndarray, direction: np.ndarray) -> tuple[np.ndarray, int]:
    """The direction (triples, 3) to the minimum of the model, from that of the curvatures at the point; and solves. The
    system is left with the curvatures there, and the rows with the impulses foreseen."""
    model, rows, products = _Model(potential, system, gradient), potential.row_potential, 0
    change = model.rates(direction)
    left = model.slope(direction, model.base + change)
    same = np.array_equal(model.curvature, model.rows.curvature)  # a motor may go from one bound to the other
    if same and system.local_norm(left) <= LITTLE * system.local_norm(gradient):
        rows.take_estimate(model.impulse)
        return direction, products
    first, at, rate, step = abs(float(system.dot(gradient, direction))), np.zeros_like(direction), model.base, direction
    for _ in range(MOST_CHANGES):
        share = model.lowest(at, rate, step, change)
        at, rate = at + share * step, rate + share * change
        left = model.slope(at, rate)
        system.assemble(potential.assembled, rows.rows, model.curvature)
        step, used = system.solve(-left, LITTLE)
        products += used
        if -float(system.dot(left, step)) <= LITTLE * first:
            break
        change = model.rates(step)
    rows.take_estimate(model.impulse)
    return at, products
