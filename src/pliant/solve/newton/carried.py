"""Where what is prescribed carries what hangs on it: the motion without which sheets would be torn beside their pins.

Velocities that are linear in places leave what is straight straight and, as long as they turn nothing inside out, let
nothing pass through anything. So what cannot go its own way, or has none yet, is best off with the linear
velocities that come nearest to those prescribed; pins that move as one, of which some turn, two rows of pins that come
nearer to each other or are sheared have such ones exactly.
"""

import numpy as np

from pliant.solve.coupled import held_together, things_of_nodes, touching
from pliant.solve.problem import Problem

# Extents of what is prescribed, in parts of the largest, along which velocities are not taken to change.
FLAT = 0.02
# The most that differences of ways may be, in parts of those of places: nothing is turned inside out by less than 1.
STEEPEST = 0.5


def carried(problem: Problem) -> np.ndarray:
    """Velocities (triples, 3) [m/s], linear in places, of nodes of things that hang together by touching, as near as
    can be to those that are prescribed of them; none of things of which nothing moves as prescribed. What is prescribed
    goes as it is told."""
    model, n = problem.model, problem.model.node_count
    told, u = model.free[:n] == 0, problem.prediction.u
    out = np.where(model.free_triples == 0, u, 0.0)
    if not out[:n].any():
        return out
    groups = touching(model, problem.rows.contacts, held_together(model))[things_of_nodes(model)]
    for group in np.unique(groups[(out[:n] != 0.0).any(axis=1)]):
        own = np.flatnonzero(groups == group)
        for c in range(3):
            known, free = own[told[own, c]], own[~told[own, c]]
            if out[known, c].any():
                out[free, c] = linear(problem.state.x[known], out[known, c], problem.h, problem.state.x[free])
    return out


def linear(places: np.ndarray, values: np.ndarray, h: float, wanted: np.ndarray) -> np.ndarray:
    """Velocities (k,) at places wanted (k, 3) of the linear function, constant where nothing tells, that is nearest to
    values at places; no steeper in a step of h than turns nothing inside out."""
    centre, mean = places.mean(axis=0), values.mean()
    _, extents, axes = np.linalg.svd(places - centre, full_matrices=False)
    axes = axes[extents > FLAT * extents.max(initial=0.0)]
    along = (places - centre) @ axes.T
    slope = np.linalg.lstsq(along, values - mean, rcond=None)[0] @ axes if len(axes) else np.zeros(3)
    slope *= min(1.0, STEEPEST / max(h * np.linalg.norm(slope), 1e-300))
    return mean + (wanted - centre) @ slope
