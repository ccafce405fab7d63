"""Contacts that go on under another name: a vertex that slides from one triangle to the next, edges that cross others.

A contact of two surfaces is named by its features. Where one ends and another begins at the same vertex or edge, the
second carries what the first did.
"""

import numpy as np

from pliant.kernels.collide import EDGE_EDGE, INDEX_BITS, VERTEX_EDGE, VERTEX_FACE

# Pairs of contacts that are compared at a time.
MOST_AT_ONCE = 1 << 20


def predecessors(lost: tuple, new: tuple) -> np.ndarray:
    """For every new contact (k,) the lost one that it goes on for, or -1: the nearest of those between the same things
    that have a vertex, or one of two edges, in common with it, if it is the nearest to that one as well.

    lost, new: keys (m,), things (m, 2), points (m, 3) [m] of either.
    """
    count, found = len(new[0]), np.full(len(new[0]), -1)
    if not count:
        return found
    nearest, size = np.full(count, np.inf), max(MOST_AT_ONCE // count, 1)
    choices = []
    for first in range(0, len(lost[0]), size):
        distance = _distances([each[first : first + size] for each in lost], new)
        nearest = np.minimum(nearest, distance.min(axis=0))
        own = distance.argmin(axis=1)
        choices.append((own, distance[np.arange(len(own)), own]))
    if choices:
        own, distance = (np.concatenate(column) for column in zip(*choices))
        mutual = np.flatnonzero((distance == nearest[own]) & np.isfinite(distance))[::-1]
        found[own[mutual]] = mutual  # of equally near ones the first
    return found


def _distances(lost, new) -> np.ndarray:
    """Squared distances (lost, new) [m^2] of contacts of which one may go on for the other, infinite elsewhere."""
    mask = (1 << INDEX_BITS) - 1
    kinds = [key >> (2 * INDEX_BITS) for key in (lost[0], new[0])]
    firsts, seconds = ([(key >> shift) & mask for key in (lost[0], new[0])] for shift in (INDEX_BITS, 0))
    vertex = [(kind == VERTEX_FACE) | (kind == VERTEX_EDGE) for kind in kinds]
    edge = [kind == EDGE_EDGE for kind in kinds]
    same = firsts[0][:, None] == firsts[1]
    both = same & vertex[0][:, None] & vertex[1]
    both |= (same | (seconds[0][:, None] == seconds[1])) & edge[0][:, None] & edge[1]
    both &= (lost[1][:, None] == new[1]).all(axis=2)
    return np.where(both, ((lost[2][:, None] - new[2]) ** 2).sum(axis=2), np.inf)
