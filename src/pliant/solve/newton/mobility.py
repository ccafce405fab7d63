"""What rows feel of what they move: inverse masses, less what elements around it hold it by."""

import numpy as np

from pliant.model.model import Model

# How many times more mobile a node may be with its whole body than by itself: by so much contacts may harden again.
MOST_EASED = 1e3


def mobilities(model: Model, h: float, inverse_mass: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Inverse masses (triples, 6) that rows feel in a step of h [s], and the same as if nothing were pinned, or nothing
    where there are no nodes."""
    if not model.node_count:
        return _held(model, h, inverse_mass) if model.elements.sets else inverse_mass, inverse_mass[:0]
    loose = inverse_mass.copy()
    loose[: model.node_count, :3] = (1 / (model.node_mass * (1 + h * model.node_mass_damping)))[:, None]
    return _held(model, h, inverse_mass), _held(model, h, loose)


def _held(model: Model, h: float, inverse_mass: np.ndarray) -> np.ndarray:
    """Inverse masses with the stiffness of the elements around nodes, and around points of rods."""
    mobility, n = inverse_mass.copy(), model.node_count
    stiffness = h * (h * model.node_stiffness + model.node_damping)
    mobility[:n] /= (1 + stiffness / model.node_mass)[:, None]
    np.maximum(mobility[:n, :3], np.minimum(model.whole_mobility, MOST_EASED * mobility[:n, :3]), out=mobility[:n, :3])
    if model.elements.on_bodies:
        stiffness = h * (h * model.body_stiffness + model.body_damping)
        largest = np.maximum(np.maximum(mobility[n:, 0], mobility[n:, 1]), mobility[n:, 2])  # quicker than max
        mobility[n:] /= (1 + stiffness * largest)[:, None]
    return mobility
