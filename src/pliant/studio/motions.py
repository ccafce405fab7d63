"""Fields that rigid bodies and rods have too: how far they have come, and how fast they are."""

import numpy as np

from pliant.output.rod_view import Tube

ALL_BODIES = ("displacement", "speed")
"""Fields of COLOR_FIELDS that all bodies have; others are those of soft bodies and sheets."""


def of_others(sim, tubes: list[Tube], field: str) -> list[np.ndarray]:
    """The field of the points of each rod's surface, then of all rigid bodies at their positions [m or m/s]."""
    found = []
    for tube in tubes:
        state = sim.rod(tube.rod)
        vectors = state.velocities if field == "speed" else state.points - tube.rod.points
        ends = np.linalg.norm(vectors, axis=1)[tube.rod.edges].ravel()
        found.append(np.repeat(ends, len(tube.outline)).astype(np.float32))
    return [*found, np.array([_of_rigid(sim, body, field) for body in sim.scene.rigid_bodies], np.float32)]


def _of_rigid(sim, body, field: str) -> float:
    vector = sim.twist(body)[0] if field == "speed" else sim.pose(body)[0] - np.asarray(body.position)
    return float(np.linalg.norm(vector))
