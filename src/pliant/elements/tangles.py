"""Bodies turned inside out, which their laws would not bring back.

Every law has equilibria with inverted elements, nearly incompressible ones above all, and some laws say nothing of such
elements, or infinity. A soft body is tangled when more than a few of its elements are inverted, or any at which its
energy is not finite. From then on all of it follows mu |F - R|^2, which pulls every element to its shape by itself,
until none has been inverted for the time a shear wave takes through the body. `info.tangled` names such bodies, and a
warning says when it begins.
"""

import warnings

import numpy as np

from pliant.elements.laws import CompiledLaw, arap_law
from pliant.kernels.cpu.hyperelastic import count_inverted
from pliant.kernels.lanes import LANES

# Share of inverted elements above which a body is tangled.
MOST_INVERTED = 0.05
# Laws that need no help: springs have no elements to speak of, and a linear law has one equilibrium only.
EXEMPT = ("linear", "springs")


def inverted_elements(model, x: np.ndarray, gradients: np.ndarray) -> np.ndarray:
    """How many elements of every soft body (soft,) are inverted at positions x (n, 3)."""
    inverted = np.zeros(len(model.volume), np.int64)
    count_inverted(x, model.element_nodes, gradients, model.volume, inverted)
    for law_range in model.laws:
        if law_range.name in EXEMPT:
            inverted[law_range.first : law_range.last] = 0
    total = np.concatenate([[0], np.cumsum(inverted)])
    return np.diff(total[model.group_start])


def renew_tangles(model, laws: list[CompiledLaw], space, gradients: np.ndarray, state, h: float) -> np.ndarray:
    """The times (soft,) [s] for which bodies will go on being pulled back; 0: a body follows its law in this step."""
    left, inverted = state.tangled, inverted_elements(model, state.x, gradients)
    if not inverted.any() and not left.any():
        return left
    elements = np.diff(model.element_start)
    tangled = (inverted > MOST_INVERTED * elements) | ((inverted > 0) & (left > 0))
    for body in np.flatnonzero((inverted > 0) & ~tangled):
        tangled[body] = not _has_energy(model, laws, space, gradients, state.x, body)
    return np.where(tangled, [crossing_time(model, i) for i in range(len(elements))], np.maximum(left - h, 0.0))


def _has_energy(model, laws, space, gradients, x: np.ndarray, body: int) -> bool:
    """Whether the energy of a soft body is finite at positions x."""
    first, last = model.group_start[body], model.group_start[body + 1]
    slots = space.slots[:-1].reshape(-1, 12, LANES)
    for law in laws:
        if law.first <= first < law.last:
            geometry = (x, model.element_nodes, gradients, model.volume)
            law.evaluate(law.law, first, last, *geometry, space.frames, space.energy, slots)
    return bool(np.all(np.isfinite(space.energy[first:last])))


def crossing_time(model, body: int) -> float:
    """The time [s] a shear wave takes along the diagonal of a soft body at rest."""
    nodes = slice(model.node_start[body], model.node_start[body + 1])
    groups = slice(model.group_start[body], model.group_start[body + 1])
    there = model.volume[groups] > 0
    speed = np.sqrt(model.mu[groups][there] / model.density[groups][there]).min()
    return float(np.linalg.norm(np.ptp(model.rest[nodes], axis=0)) / speed)


def laws_of_tangled(model, laws: list[CompiledLaw], tangled: np.ndarray) -> list[CompiledLaw]:
    """The laws of a step in which bodies with a time left in `tangled` (soft,) are pulled back."""
    if not tangled.any():
        return laws
    changed = []
    for law in laws:
        for body, left in enumerate(tangled):
            first, last = max(model.group_start[body], law.first), min(model.group_start[body + 1], law.last)
            if first < last:
                kernels = (law.evaluate, law.moduli, law.stresses)
                own = CompiledLaw(law.law, first, last, *kernels)
                changed.append(arap_law(model, first, last) if left > 0 else own)
    return changed


def warn_of_tangles(model, state, tangled: np.ndarray) -> None:
    """Say which bodies become tangled in the step from this state; tangled (soft,): the times that are left then."""
    for body in np.flatnonzero((tangled > 0) & (state.tangled == 0)):
        warnings.warn(
            f"step {state.step + 1}: soft body {model.soft_names[body]!r} is turned inside out; until it is upright "
            f"again it is pulled back to shape, not by its own law (sim.info.tangled)",
            stacklevel=2,
        )
