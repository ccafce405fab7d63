"""Fields on the surfaces of rods, for pictures and the studio; the largest of them, for files."""

import numpy as np

from pliant.output.rod_view import Tube
from pliant.readers.rod_stress import surface_stress

OF_RODS = ("displacement", "speed", "strain", "stress")
"""Fields of COLOR_FIELDS that rods have; the others are of soft bodies and sheets."""

# Sides of a round section around which files look for the largest stress.
SIDES = 48
# Displacements below this part of the coordinates are what rounding makes of a rod that stays in its place.
ROUNDING = 1e-15


def of_rods(sim, tubes: list[Tube], field: str) -> list[np.ndarray]:
    """The field at the points of each rod's surface, as `Tube.points` has them; nothing for one that rods do not have.
    A ball has the largest of the segments that meet there."""
    return [_of_tube(sim, tube, field).astype(np.float32) for tube in tubes] if field in OF_RODS else []


def _of_tube(sim, tube: Tube, field: str) -> np.ndarray:
    rings = (_measured if field in ("strain", "stress") else _moved)(sim, tube, field)
    largest = np.zeros(len(tube.rod))
    np.maximum.at(largest, tube.rod.edges, rings.max(axis=2))
    return np.concatenate([rings.ravel(), largest[tube.balls]])


def _moved(sim, tube: Tube, field: str) -> np.ndarray:
    """How far points are from where the scene puts them [m], or their speeds [m/s], around both ends of all segments
    (m, 2, k)."""
    state, rod = sim.rod(tube.rod), tube.rod
    if field == "speed":
        sizes = np.linalg.norm(state.velocities, axis=1)
    else:
        sizes = np.linalg.norm(state.points - rod.places, axis=1)
        sizes[sizes < ROUNDING * np.abs(rod.places).max()] = 0.0
    ends = sizes[rod.edges]
    return np.repeat(ends[:, :, None], len(tube.outline), axis=2)


def _measured(sim, tube: Tube, field: str) -> np.ndarray:
    """Size of the strain, or von Mises stress [Pa], around both ends of all segments (m, 2, k)."""
    stress, material = surface_stress(tube.rod, sim.rod(tube.rod), tube.outline), tube.rod.material
    return stress.von_mises if field == "stress" else stress.strain(material.young, material.poisson)


def largest_on_surface(rod, state) -> dict[str, np.ndarray]:
    """The largest strain, and von Mises stress [Pa], on the surface of every segment (m,)."""
    stress, material = surface_stress(rod, state, rod.section.outline(SIDES)), rod.material
    found = {"surface_strain": stress.strain(material.young, material.poisson), "von_mises": stress.von_mises}
    return {name: values.max(axis=(1, 2)) for name, values in found.items()}
