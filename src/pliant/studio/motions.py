"""Fields that rigid bodies have too: how far they have come, how fast they are."""

import numpy as np

ALL_BODIES = ("displacement", "speed")
"""Fields of COLOR_FIELDS that all bodies have."""


def of_rigid(sim, field: str) -> np.ndarray:
    """The field of all rigid bodies at their positions [m or m/s]."""
    return np.array([_of_rigid(sim, body, field) for body in sim.scene.rigid_bodies], np.float32)


def _of_rigid(sim, body, field: str) -> float:
    vector = sim.twist(body)[0] if field == "speed" else sim.pose(body)[0] - np.asarray(body.position)
    return float(np.linalg.norm(vector))
