"""What loops over elements with stretches of their own share on any device."""

from typing import NamedTuple

import numpy as np

# By how much entries of rotations, and skew moduli relative to masses, may differ from those of a matrix in use.
LARGEST_TURN, LARGEST_STIFFENING = 0.1, 0.5


class Assembled(NamedTuple):
    """Of points when a matrix was assembled: rotations (points, 9, LANES) and skew moduli (points, 3, LANES) times
    volume [J]; speed (points, LANES) [1/J]: what makes the latter relative to the masses of nodes in a step."""

    rotation: np.ndarray
    skew: np.ndarray
    speed: np.ndarray
