"""Which triples elements couple: all that sparse patterns need to know of them."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Connectivity:
    """Elements of one width w: nodes (m, w), and the place (m,) of the first block of each among all elements' blocks.

    An element has w (w + 1) / 2 blocks, for the pairs (i, j), j <= i, of its nodes in turn: `lower_pairs`.
    """

    nodes: np.ndarray
    first: np.ndarray


def lower_pairs(width: int) -> list[tuple[int, int]]:
    """Pairs of nodes (i, j), j <= i, in the order of their blocks."""
    return [(i, j) for i in range(width) for j in range(i + 1)]


def block_pairs(connectivities: list[Connectivity]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Row, column and place (k,) of every block of the elements."""
    rows, columns, places = ([np.zeros(0, np.int64)] for _ in range(3))
    for elements in connectivities:
        for k, (i, j) in enumerate(lower_pairs(elements.nodes.shape[1])):
            rows.append(elements.nodes[:, i]), columns.append(elements.nodes[:, j])
            places.append(elements.first + k)
    return tuple(np.concatenate(parts).astype(np.int64) for parts in (rows, columns, places))
