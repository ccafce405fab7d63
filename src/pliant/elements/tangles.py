"""Bodies turned inside out, which their laws would not bring back.

Every law has equilibria with inverted elements, nearly incompressible ones above all, and some laws say nothing of such
elements, or infinity. A soft body is tangled when more than a few of its elements are inverted, or any at which its
energy is not finite. From then on all of it follows mu |F - R|^2, which pulls every element to its shape by itself.
That ends when no element has been inverted for the time a shear wave takes through the body. What energy it gains by a
change of law is taken from its motion. `info.tangled` names such bodies, and a warning says when it begins.
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


def excess_energies(potential: ElementPotential, state, tangled: np.ndarray) -> np.ndarray:
    """The energy (soft,) [J] that bodies gain in a step in which they begin or cease to be pulled back, tangled (soft,)
    being the times that are left: that of one law beyond that of the other."""
    if tangled is state.tangled:
        return np.zeros(len(tangled))
    begins, ends = (tangled > 0) & (state.tangled == 0), (tangled == 0) & (state.tangled > 0)
    if not (begins | ends).any():
        return np.zeros(len(tangled))
    energies = []
    for laws in (None, (begins | ends).astype(float)):
        potential.take_laws(laws)
        potential.evaluate(state.x)
        energies.append(potential.body_energies())
    own, pulled = energies
    known = (begins | ends) & np.isfinite(own) & np.isfinite(pulled)
    gained = np.where(known, pulled, 0.0) - np.where(known, own, 0.0)
    return np.maximum(np.where(begins, gained, -gained), 0.0)


def slowed(model, u: np.ndarray, excess: np.ndarray) -> np.ndarray:
    """Velocities (triples, 3) of which those of bodies, seen from their mean, carry less kinetic energy by `excess`
    (soft,) [J], as far as there is any: what pulls a body back must not make it faster."""
    u = u.copy()
    for body in np.flatnonzero(excess):
        nodes = slice(model.node_start[body], model.node_start[body + 1])
        mass, free = model.node_mass[nodes, None], model.free[nodes]
        mean = (mass * u[nodes]).sum(axis=0) / mass.sum()
        kinetic = 0.5 * float(np.sum(free * mass * (u[nodes] - mean) ** 2))
        share = np.sqrt(max(1.0 - excess[body] / kinetic, 0.0)) if kinetic > 0 else 1.0
        u[nodes] = np.where(free > 0, mean + share * (u[nodes] - mean), u[nodes])
    return u


def crossing_time(model, body: int) -> float:
    """The time [s] a shear wave takes along the diagonal of a soft body at rest."""
    nodes = slice(model.node_start[body], model.node_start[body + 1])
    return float(np.linalg.norm(np.ptp(model.rest[nodes], axis=0)) / model.elements.shear_speed[body])


def warn_of_tangles(model, state, tangled: np.ndarray) -> None:
    """Say which bodies become tangled in the step from this state; tangled (soft,): the times that are left then."""
    if tangled is state.tangled:
        return
    for body in np.flatnonzero((tangled > 0) & (state.tangled == 0)):
        warnings.warn(
            f"step {state.step + 1}: soft body {model.soft_names[body]!r} is turned inside out; until it is upright "
            f"again it is pulled back to shape, not by its own law (sim.info.tangled). A smaller dt helps, and against "
            f"loads that press elements flat pliant.Material.neohookean, which never lets them be",
            stacklevel=2,
        )
