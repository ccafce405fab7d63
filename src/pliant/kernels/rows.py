"""Rows as compiled loops of any device see them, where they need more than the table."""

from typing import NamedTuple

import numpy as np


class LinearRows(NamedTuple):
    """Rows around a velocity, linear in what is added to it: target, low, high, compliance (slices, 3, LANES), friction
    (slices, LANES); tangents (slices, 3, LANES) bool: rows across distances, which have a curvature alone; impulse
    (slices, 3, LANES) and curvature (slices, 6, LANES) at the velocity."""

    target: np.ndarray
    low: np.ndarray
    high: np.ndarray
    compliance: np.ndarray
    friction: np.ndarray
    tangents: np.ndarray
    impulse: np.ndarray
    curvature: np.ndarray
