"""Fields that rods and rigid bodies have too: how far they have come, how fast they are; strain and stress of rods."""

import numpy as np

from pliant.output.rod_view import Tube

ALL_BODIES = ("displacement", "speed")
"""Fields of COLOR_FIELDS that all bodies have."""

OF_RODS = (*ALL_BODIES, "strain", "stress")
"""Those that rods have; the others are of soft bodies and sheets."""


def of_rods(sim, tubes: list[Tube], field: str) -> list[np.ndarray]:
    """The field at the points of each rod's surface."""
    return [(_moved if field in ALL_BODIES else _strained)(sim, tube, field).astype(np.float32) for tube in tubes]


def of_rigid(sim, field: str) -> np.ndarray:
    """The field of all rigid bodies at their positions [m or m/s]."""
    return np.array([_of_rigid(sim, body, field) for body in sim.scene.rigid_bodies], np.float32)


def _moved(sim, tube: Tube, field: str) -> np.ndarray:
    state = sim.rod(tube.rod)
    vectors = state.velocities if field == "speed" else state.points - tube.rod.points
    ends = np.linalg.norm(vectors, axis=1)[tube.rod.edges].ravel()
    return np.repeat(ends, len(tube.outline))


def _strained(sim, tube: Tube, field: str) -> np.ndarray:
    """Size of the strain, or von Mises stress [Pa], on the surface of every segment by the theory of beams: stretch and
    curvature along the rod, shear and twist across it, and the rod is free to thin."""
    state, material = sim.rod(tube.rod), tube.rod.material
    x, y = tube.outline.T
    along = (state.stretch - 1)[:, None] + state.curvature[:, :1] * y - state.curvature[:, 1:] * x
    across = np.hypot(state.shear[:, :1] - state.twist[:, None] * y, state.shear[:, 1:] + state.twist[:, None] * x)
    if field == "strain":
        found = np.hypot(np.sqrt(1 + 2 * material.poisson**2) * along, across)
    else:
        shear_modulus = material.young / (2 * (1 + material.poisson))
        found = np.hypot(material.young * along, np.sqrt(3) * shear_modulus * across)
    return np.repeat(found[:, None], 2, axis=1).ravel()  # both rings of a segment


def _of_rigid(sim, body, field: str) -> float:
    vector = sim.twist(body)[0] if field == "speed" else sim.pose(body)[0] - np.asarray(body.position)
    return float(np.linalg.norm(vector))
