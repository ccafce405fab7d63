"""Where iterations are, and where they go."""

from dataclasses import dataclass

import numpy as np


@dataclass
class Point:
    """Where the iterations are: velocities (triples, 3), the potential [J] and its gradient there."""

    u: np.ndarray
    value: float
    gradient: np.ndarray


@dataclass
class Direction:
    """Newton's direction (triples, 3), the slope along it, the gradient's size, the products it took, the joints'
    impulses (slices, 3, LANES) [N s] where it starts, and whether it is by factors of all of the Hessian as it is."""

    direction: np.ndarray
    slope: float
    size: float
    products: int
    impulse: np.ndarray
    whole: bool = False
