"""Broad phase: pairs of rigid bodies whose bounding spheres may touch."""

from pliant.jit import kernel


@kernel
def sweep_pairs(order, low, radius, position, travel, static, keys_out):
    """Writes a key first * bodies + second for every pair of bodies whose bounding spheres may touch (sweep along x),
    as far as there is room; how many there are. order: bodies by their lowest x, low (those,)."""
    count = 0
    for p in range(len(order)):
        i = order[p]
        high = position[i, 0] + radius[i] + travel[i]
        for q in range(p + 1, len(order)):
            if low[q] > high:
                break
            j = order[q]
            if static[i] and static[j]:
                continue
            reach = radius[i] + radius[j] + travel[i] + travel[j]
            distance = 0.0
            for c in range(3):
                distance += (position[i, c] - position[j, c]) ** 2
            if distance > reach * reach:
                continue
            if count < len(keys_out):
                keys_out[count] = min(i, j) * len(static) + max(i, j)
            count += 1
    return count
