"""What rows feel of what they move: inverse masses, less what elements around it hold it by."""

import numpy as np

from pliant.collide.detect import SLACK
from pliant.model.model import Model

# How many times more mobile a node may be with its whole body than by itself: by so much contacts may harden again.
MOST_EASED = 1e3


def mobilities(model: Model, h: float, inverse_mass: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Inverse masses (triples, 6) that rows feel in a step of h [s], and the same as if nothing were pinned, or nothing
    where there are no nodes."""
    n = model.node_count
    if not n:
        return _with_rods(model, h, inverse_mass.copy()) if model.elements.sets else inverse_mass, inverse_mass[:0]
    held, loose = _of_nodes(model, h, inverse_mass[:n])
    if model.inertia(h) is not None:  # bodies have none
        return held, loose
    held, loose = (np.concatenate([own[:n], inverse_mass[n:]]) for own in (held, loose))
    return _with_rods(model, h, held), _with_rods(model, h, loose)


def _of_nodes(model: Model, h: float, inverse_mass: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Those (triples, 6) of nodes, none of bodies; the same in all steps of a length, but in wind, which drags them."""
    known = model.__dict__.get("_mobility")
    if model.winds or known is None or known[0] != h:
        loose, out = np.zeros_like(inverse_mass), np.zeros((2, model.triple_count, 6))
        loose[:, :3] = (1 / (model.node_mass * (1 + h * model.node_mass_damping)))[:, None]
        out[:, : len(loose)] = _held(model, h, inverse_mass), _held(model, h, loose)
        known = model.__dict__["_mobility"] = (h, *out)
    return known[1:]


def _held(model: Model, h: float, inverse_mass: np.ndarray) -> np.ndarray:
    """Inverse masses (n, 6) of nodes with the stiffness of the elements around them."""
    mobility, stiffness = inverse_mass.copy(), h * (h * model.node_stiffness + model.node_damping)
    mobility[:, :3] /= (1 + stiffness / model.node_mass)[:, None]
    if not model.elements.only_sheets:  # whose nodes give way one by one
        eased = np.minimum(_of_whole_bodies(model, h), MOST_EASED * mobility[:, :3])
        np.maximum(mobility[:, :3], eased, out=mobility[:, :3])
    return mobility


def _with_rods(model: Model, h: float, mobility: np.ndarray) -> np.ndarray:
    """Inverse masses (triples, 6) with the stiffness of the elements around points of rods."""
    if model.elements.on_bodies:
        n, stiffness = model.node_count, h * (h * model.body_stiffness + model.body_damping)
        largest = np.maximum(np.maximum(mobility[n:, 0], mobility[n:, 1]), mobility[n:, 2])  # quicker than max
        mobility[n:] /= (1 + stiffness * largest)[:, None]
    return mobility


def _of_whole_bodies(model: Model, h: float) -> np.ndarray:
    """Inverse masses (n, 1) [1/kg] of the soft bodies of nodes; less in steps so long that a contact which gives way by
    them as the body falls would do so by more than its size: in the very long ones of a static balance, next to
    nothing."""
    fall = h * h * model.acceleration_bound
    softs = len(model.soft_names)
    share = np.minimum(1.0, model.colliders.slack[:softs] / (SLACK * max(fall, 1e-300)))
    return model.whole_mobility * np.repeat(share, np.diff(model.node_start))[:, None]
