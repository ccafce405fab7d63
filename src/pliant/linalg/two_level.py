"""A two-level preconditioner: block Jacobi plus the rigid motions of pieces of the bodies, solved exactly.

z = D^-1 r + P (P^T A P)^-1 P^T r. A column of P moves or turns one piece (an aggregate of nodes, or a rigid body) as a
whole; those are the slow modes of conjugate gradients on stiff bodies.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pliant.kernels.lanes import LANES
from pliant.kernels.matrices import Coarsening, TwoLevel
from pliant.linalg.sliced import SlicedPattern

# Nodes in a piece, the most pieces of a body, and the least while those of all small bodies are no more than so many.
PIECE_NODES, MOST_PIECES = 100, 48
LEAST_PIECES, FEW_PIECES = 4, 64
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
        order, start = self._sorted(piece.ravel())
        entry_row = np.repeat(np.arange(pattern.slices), np.diff(pattern.start))[:, None] * LANES + np.arange(LANES)
        column = pattern.column // (3 * LANES) * LANES + pattern.column % LANES
        there = (pattern.entry >= 0) | (column == entry_row)
        mine, other = piece.ravel()[entry_row], piece.ravel()[column]
        same = (there & (mine == other)).astype(np.float32)
        cross = np.flatnonzero(there & (mine > other) & (other >= 0))
        cross = cross[np.lexsort((other.ravel()[cross], entry_row.ravel()[cross], mine.ravel()[cross]))]
        cross_start = np.searchsorted(mine.ravel()[cross], np.arange(self.count + 1))
        first, own = np.arange(self.count), np.empty((pattern.slices, 36, LANES))
        np.minimum.at(first, mine.ravel()[cross], other.ravel()[cross])
        crossing = (cross_start, cross, entry_row.ravel()[cross], first)
        turns, triple = pattern.in_lanes(self.turns, 0), pattern.in_lanes(np.arange(len(self.index)), -1)
        return PlacedPieces(self, piece, turns, triple, Coarsening(start, order, same, *crossing, own))

    def _sorted(self, piece: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Rows by their pieces, and where those of each begin."""
        order = np.argsort(piece, kind="stable")
        order = order[piece[order] >= 0]
        return order, np.searchsorted(piece[order], np.arange(self.count + 1))

    @classmethod
    def of(cls, model, nodes: int = PIECE_NODES, most: int = MOST_PIECES) -> "Pieces":
        """Soft bodies cut into boxes of about so many nodes at rest, at most so many, one behind the other along the
        longest extent, so that those that have to do with each other are near in order; every rigid body is a piece."""
        index = np.full(model.triple_count, -1, np.int64)
        count, bodies = 0, max(len(model.node_start) - 1, 1)
        least = min(max(FEW_PIECES // bodies, 1), LEAST_PIECES)
        for first, last in zip(model.node_start[:-1], model.node_start[1:]):
            wanted = int(np.clip(round((last - first) / nodes), least, most))
            parts = [part for part in _cut(model.rest, np.arange(first, last), wanted) if len(part)]
            centres = np.array([model.rest[part].mean(axis=0) for part in parts])
            order = np.argsort(centres[:, int(np.argmax(np.ptp(centres, axis=0)))], kind="stable")
            for k in order:
                index[parts[k]] = count
                count += 1
        for body in np.flatnonzero(~model.static):
            index[model.node_count + 2 * body : model.node_count + 2 * body + 2] = count
            count += 1
        turns = np.zeros(model.triple_count, np.int64)
        turns[model.node_count + 1 :: 2] = 1
        return cls(index, turns, count)


@dataclass
class PlacedPieces:
    """Pieces in the order of a matrix: piece, turns and triple (slices, LANES) of each row, and what they make of its
    entries."""

    pieces: Pieces
    piece: np.ndarray
    turns: np.ndarray
    triple: np.ndarray
    coarsening: Coarsening


def _cut(points: np.ndarray, nodes: np.ndarray, pieces: int) -> list[np.ndarray]:
    """Nodes cut across their longest extent into that many parts."""
    if pieces == 1:
        return [nodes]
    axis = int(np.argmax(np.ptp(points[nodes], axis=0)))
    ordered = nodes[np.argsort(points[nodes, axis], kind="stable")]
    half = pieces // 2
    at = len(nodes) * half // pieces
    return _cut(points, ordered[:at], half) + _cut(points, ordered[at:], pieces - half)


class CoarseLevel(NamedTuple):
    """Arms (slices, 3, LANES) of nodes from the centres of their pieces, and with these P^T A P of a matrix without
    rows, in an envelope: where the rows of each piece begin (pieces + 1,), and the first piece that each is coupled
    with (pieces,)."""

    arm: np.ndarray
    start: np.ndarray
    first: np.ndarray
    numbers: np.ndarray


def coarse_level(placed: PlacedPieces, pattern: SlicedPattern, matrix, free, x: np.ndarray) -> CoarseLevel:
    """That of a sliced matrix; x (n, 3): where the nodes are."""
    kernels, coarsening = pattern.device.linalg.two_level, placed.coarsening
    arm = np.zeros((pattern.slices, 3, LANES), matrix.values.dtype)
    kernels.place_arms(coarsening.start, coarsening.row, placed.triple, x, arm)
    start = _rows_of(pattern, coarsening.first)
    numbers, envelope = np.zeros(start[-1]), (start, coarsening.first)
    entries = (matrix.start, matrix.column, matrix.values)
    kernels.add_coarse_matrix(coarsening, *entries, placed.piece, placed.turns, arm, free, envelope, numbers)
    return CoarseLevel(arm, *envelope, numbers)


def _rows_of(pattern: SlicedPattern, first: np.ndarray) -> np.ndarray:
    """Where the rows of each piece begin in an envelope (pieces + 1,)."""
    start = np.empty(len(first) + 1, np.int64)
    pattern.device.linalg.envelope.place_rows(first, start)
    return start


def two_level(placed: PlacedPieces, pattern: SlicedPattern, level: CoarseLevel, rows, free, inverse) -> TwoLevel:
    """The preconditioner of the matrix of a level plus rows; inverse (slices, 9, LANES): of diagonal blocks."""
    dtype, piece, turns = level.arm.dtype, placed.piece, placed.turns
    kernels, envelopes, first = pattern.device.linalg.two_level, pattern.device.linalg.envelope, level.first.copy()
    kernels.widen_envelope(rows, piece, first)
    start = _rows_of(pattern, first)
    coarse, given = np.zeros(start[-1]), (piece, turns, level.arm, free)
    envelopes.copy_rows(level.start, level.first, level.numbers, start, first, coarse)
    if len(rows.start) > 1:
        kernels.add_coarse_rows(rows, *given, (start, first), coarse)
    envelopes.factorise_envelope(start, first, 1 + SAFETY, coarse)
    return TwoLevel(inverse, *given, coarse.astype(dtype), start, first, np.empty(6 * len(first), dtype))
