"""Broad phase: pairs of rigid bodies whose bounding spheres may touch."""

import numpy as np

from pliant.jit import kernel


@kernel
def candidate_pairs(bodies, radius, position, travel, static, excluded, body_count):
    """Pairs of bodies whose bounding spheres may touch (sweep along x).

    excluded holds sorted keys i * body_count + j, i < j.
    """
    low = np.empty(len(bodies))
    for k in range(len(bodies)):
        low[k] = position[bodies[k], 0] - radius[bodies[k]] - travel[bodies[k]]
    order = np.argsort(low)
    pairs = []
    for p in range(len(bodies)):
        i = bodies[order[p]]
        high = position[i, 0] + radius[i] + travel[i]
        for q in range(p + 1, len(bodies)):
            if low[order[q]] > high:
                break
            j = bodies[order[q]]
            if static[i] and static[j]:
                continue
            reach = radius[i] + radius[j] + travel[i] + travel[j]
            distance = 0.0
            for c in range(3):
                distance += (position[i, c] - position[j, c]) ** 2
            if distance > reach * reach:
                continue
            first, second = min(i, j), max(i, j)
            key = first * body_count + second
            found = np.searchsorted(excluded, key)
            if found < len(excluded) and excluded[found] == key:
                continue
            pairs.append((first, second))
    pairs.sort()
    return pairs
