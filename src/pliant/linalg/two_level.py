"""A two-level preconditioner: block Jacobi plus the rigid motions of pieces of the bodies, solved exactly.

z = D^-1 r + P (P^T A P)^-1 P^T r. A column of P moves or turns one piece (an aggregate of nodes, or a rigid body) as a
whole; those are the slow modes of conjugate gradients on stiff bodies.
"""

from dataclasses import dataclass

import numpy as np

from pliant.kernels.cpu.linalg.two_level import TwoLevel, add_coarse_matrix, add_coarse_rows, factorise_dense
from pliant.linalg.sliced import SlicedPattern

# Nodes in a piece, and the most pieces of a body.
PIECE_NODES, MOST_PIECES = 150, 48
# What is added to the diagonal of the coarse matrix, relative, against motions that only rounding tells apart.
SAFETY = 1e-7


@dataclass
class Pieces:
    """The pieces of a model: index (n,) of each triple's piece, whether it is an angular triple, and their number."""

    index: np.ndarray
    turns: np.ndarray
    count: int

    def placed(self, pattern: SlicedPattern) -> "PlacedPieces":
        """The pieces in the order of a matrix."""
        piece = pattern.in_lanes(self.index, -1)
        order = np.argsort(piece.ravel(), kind="stable")
        order = order[piece.ravel()[order] >= 0]
        start = np.searchsorted(piece.ravel()[order], np.arange(self.count + 1))
        return PlacedPieces(self, piece, pattern.in_lanes(self.turns, 0), start, order)

    @classmethod
    def of(cls, model) -> "Pieces":
        """Soft bodies cut into boxes of about equally many nodes at rest; every rigid body is a piece."""
        index = np.full(model.triple_count, -1, np.int64)
        count = 0
        for first, last in zip(model.node_start[:-1], model.node_start[1:]):
            wanted = int(np.clip(round((last - first) / PIECE_NODES), 4, MOST_PIECES))
            for piece in _cut(model.rest, np.arange(first, last), wanted):
                index[piece] = count
                count += 1
        for body in np.flatnonzero(~model.static):
            index[model.node_count + 2 * body : model.node_count + 2 * body + 2] = count
            count += 1
        turns = np.zeros(model.triple_count, np.int64)
        turns[model.node_count + 1 :: 2] = 1
        return cls(index, turns, count)

    def arms(self, x: np.ndarray) -> np.ndarray:
        """Arms (triples, 3) of the nodes at x (n, 3) from the centres of their pieces; zero for rigid bodies."""
        arms, n = np.zeros((len(self.index), 3)), len(x)
        nodes = self.index[:n]
        size = np.maximum(np.bincount(nodes, minlength=self.count), 1)
        for c in range(3):
            centre = np.bincount(nodes, weights=x[:, c], minlength=self.count) / size
            arms[:n, c] = x[:, c] - centre[nodes]
        return arms


@dataclass
class PlacedPieces:
    """Pieces in the order of a matrix: piece and turns (slices, LANES); start (pieces + 1,), row: the rows of each."""

    pieces: Pieces
    piece: np.ndarray
    turns: np.ndarray
    start: np.ndarray
    row: np.ndarray


def _cut(points: np.ndarray, nodes: np.ndarray, pieces: int) -> list[np.ndarray]:
    """Nodes cut across their longest extent into that many parts."""
    if pieces == 1:
        return [nodes]
    axis = int(np.argmax(np.ptp(points[nodes], axis=0)))
    ordered = nodes[np.argsort(points[nodes, axis], kind="stable")]
    half = pieces // 2
    at = len(nodes) * half // pieces
    return _cut(points, ordered[:at], half) + _cut(points, ordered[at:], pieces - half)


def two_level(placed: PlacedPieces, pattern: SlicedPattern, matrix, rows, free, inverse, x: np.ndarray) -> TwoLevel:
    """The preconditioner of a sliced matrix plus rows; x (n, 3): where the nodes are."""
    dtype, piece, turns = matrix.values.dtype, placed.piece, placed.turns
    arm = pattern.pack(placed.pieces.arms(x), dtype)
    size = 6 * placed.pieces.count
    coarse = np.zeros((size, size))
    of_pieces = (placed.start, placed.row, piece, turns, arm, free)
    add_coarse_matrix(matrix.start, matrix.column, matrix.values, *of_pieces, coarse)
    add_coarse_rows(rows, piece, turns, arm, free, coarse)
    coarse[np.arange(size), np.arange(size)] *= 1 + SAFETY
    factorise_dense(coarse)
    work = np.empty(size, dtype)
    return TwoLevel(inverse, piece, turns, arm, free, coarse.astype(dtype), work)
