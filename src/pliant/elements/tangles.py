"""Bodies turned inside out, which their laws would not bring back.

Every law has equilibria with inverted elements, nearly incompressible ones above all, and some laws say nothing of such
elements, or infinity. A soft body is tangled when more than a few of its elements are inverted, or any at which its
energy is not finite. From then on all of it follows mu |F - R|^2, which pulls every element to its shape by itself,
until none has been inverted for the time a shear wave takes through the body. `info.tangled` names such bodies, and a
warning says when it begins.
"""

import warnings

import numpy as np

from pliant.elements.potential import ElementPotential

# Share of inverted elements above which a body is tangled.
MOST_INVERTED = 0.05


def renew_tangles(model, potential: ElementPotential, state, h: float) -> np.ndarray:
    """The times (soft,) [s] for which bodies will go on being pulled back; 0: a body follows its law in this step."""
    left, inverted = state.tangled, potential.inverted(state.x)
    if not inverted.any() and not left.any():
        return left
    cells = np.array([len(of_body) for of_body in model.elements.cells])
    tangled = (inverted > MOST_INVERTED * cells) | ((inverted > 0) & (left > 0))
    some = (inverted > 0) & ~tangled
    if some.any():  # of these, the ones whose energy is not finite
        potential.take_laws(None)
        potential.evaluate(state.x)
        tangled |= some & ~np.isfinite(potential.body_energies())
    return np.where(tangled, [crossing_time(model, i) for i in range(len(cells))], np.maximum(left - h, 0.0))


def crossing_time(model, body: int) -> float:
    """The time [s] a shear wave takes along the diagonal of a soft body at rest."""
    nodes = slice(model.node_start[body], model.node_start[body + 1])
    return float(np.linalg.norm(np.ptp(model.rest[nodes], axis=0)) / model.elements.shear_speed[body])


def warn_of_tangles(model, state, tangled: np.ndarray) -> None:
    """Say which bodies become tangled in the step from this state; tangled (soft,): the times that are left then."""
    for body in np.flatnonzero((tangled > 0) & (state.tangled == 0)):
        warnings.warn(
            f"step {state.step + 1}: soft body {model.soft_names[body]!r} is turned inside out; until it is upright "
            f"again it is pulled back to shape, not by its own law (sim.info.tangled)",
            stacklevel=2,
        )
