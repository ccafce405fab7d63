"""How far a shape is from another that was moved rigidly."""

import math

from pliant.formulas.svd import nearest_rotation
from pliant.jit import kernel


@kernel
def largest_misfit(first, points, nodes):
    """The largest distance [m] between points[nodes] (k, 3) and the points first (k, 3), moved rigidly to about where
    these are; infinite where anything is not finite."""
    count = nodes.shape[0]
    a0, a1, a2, b0, b1, b2 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(count):
        a0, a1, a2 = a0 + first[k, 0], a1 + first[k, 1], a2 + first[k, 2]
        n = nodes[k]
        b0, b1, b2 = b0 + points[n, 0], b1 + points[n, 1], b2 + points[n, 2]
    a0, a1, a2, b0, b1, b2 = a0 / count, a1 / count, a2 / count, b0 / count, b1 / count, b2 / count
    c = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    for k in range(count):
        n = nodes[k]
        p, q, r = first[k, 0] - a0, first[k, 1] - a1, first[k, 2] - a2
        x, y, z = points[n, 0] - b0, points[n, 1] - b1, points[n, 2] - b2
        c = (
            c[0] + x * p, c[1] + x * q, c[2] + x * r,
            c[3] + y * p, c[4] + y * q, c[5] + y * r,
            c[6] + z * p, c[7] + z * q, c[8] + z * r,
        )  # fmt: skip
    size = abs(c[0]) + abs(c[1]) + abs(c[2]) + abs(c[3]) + abs(c[4]) + abs(c[5]) + abs(c[6]) + abs(c[7]) + abs(c[8])
    if not size < LARGEST:
        return math.inf
    if size == 0.0:
        size = 1.0
    s = 1.0 / size
    t = nearest_rotation((s * c[0], s * c[1], s * c[2], s * c[3], s * c[4], s * c[5], s * c[6], s * c[7], s * c[8]))
    worst = 0.0
    for k in range(count):
        n = nodes[k]
        p, q, r = first[k, 0] - a0, first[k, 1] - a1, first[k, 2] - a2
        x = points[n, 0] - b0 - (t[0] * p + t[1] * q + t[2] * r)
        y = points[n, 1] - b1 - (t[3] * p + t[4] * q + t[5] * r)
        z = points[n, 2] - b2 - (t[6] * p + t[7] * q + t[8] * r)
        worst = max(worst, x * x + y * y + z * z)
    return math.sqrt(worst)


# Sums of squares [m2] beyond which nothing is said of what runs away.
LARGEST = 1e120
