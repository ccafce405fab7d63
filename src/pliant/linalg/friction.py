"""Coulomb friction as bounds on tangent impulses that follow the normal impulse (theory section 2).

For a frozen normal impulse n the tangent rows are bounded. "box": |t1|, |t2| <= mu n (BV). "cone": |(t1, t2)| <= mu n; when
sliding, each bound is mu n times the component of the sliding direction, so that the box solution is Coulomb's.
"""

import math
from typing import NamedTuple

import numpy as np

from pliant.jit import kernel


class Friction(NamedTuple):
    """Contacts with friction: indices of the normal and the two tangent rows in the impulse vector, mu, and the law.

    diagonal (contacts,): the larger diagonal entry of A in the two tangent rows, unscaled.
    """

    normal: np.ndarray
    first: np.ndarray
    second: np.ndarray
    coefficient: np.ndarray
    diagonal: np.ndarray
    cone: bool


def no_friction(dtype=np.float64) -> Friction:
    """No frictional contact at all."""
    index = np.zeros(0, np.int64)
    return Friction(index, index, index, np.zeros(0, dtype), np.zeros(0, dtype), True)


@kernel
def refresh_friction_bounds(friction, scale, x, g, low, high):
    """Set the bounds of the tangent rows from the current impulses x (scaled) and gradients g (scaled)."""
    for k in range(friction.coefficient.shape[0]):
        n, a, b = friction.normal[k], friction.first[k], friction.second[k]
        limit = friction.coefficient[k] * max(scale[n] * x[n], x.dtype.type(0))
        first, second = limit, limit
        if friction.cone:
            w1 = scale[a] * x[a] - g[a] / scale[a] / friction.diagonal[k]
            w2 = scale[b] * x[b] - g[b] / scale[b] / friction.diagonal[k]
            length = math.sqrt(w1 * w1 + w2 * w2)
            if length > limit:
                first, second = limit * abs(w1) / length, limit * abs(w2) / length
        low[a], high[a] = -first / scale[a], first / scale[a]
        low[b], high[b] = -second / scale[b], second / scale[b]
