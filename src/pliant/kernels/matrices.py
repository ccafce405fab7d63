"""Matrices, factors and preconditioners as named tuples of arrays; a device compiles its loops for each kind."""

from typing import NamedTuple

import numpy as np


class SlicedMatrix(NamedTuple):
    """start (slices + 1,); column (entries, LANES): flat offset of the column's first component in a vector; values
    (entries, 9, LANES). The first entry of every row is its diagonal block."""

    start: np.ndarray
    column: np.ndarray
    values: np.ndarray


class Gathering(NamedTuple):
    """How a matrix is summed from blocks: couples of triples that share any, of which each is summed once.

    couple_start (couples + 1,), turned (couples,), source: the blocks of every couple, from `turned` on those to be
    transposed. entry (entries, LANES): couple of each entry, 2 * couple + (1 if transposed), or -1. triple (slices,
    LANES): which triple each row is, or -1. zero, one: flat places of values that prescribed components make 0 and 1.
    """

    couple_start: np.ndarray
    turned: np.ndarray
    source: np.ndarray
    entry: np.ndarray
    triple: np.ndarray
    zero: np.ndarray
    one: np.ndarray


class BlockFactor(NamedTuple):
    """order (n,): node at each place; start (n + 1,), row (k,), lower (k, 3, 3): columns of L below the diagonal
    blocks; pivot (n, 6): of each diagonal block the numbers 10, 20, 21 of its unit triangle, then 1 / D."""

    order: np.ndarray
    start: np.ndarray
    row: np.ndarray
    lower: np.ndarray
    pivot: np.ndarray


class ElementMatrix(NamedTuple):
    """A sliced matrix (mass alone) plus elements that are not assembled: products, one named tuple for each of their
    sets; slots: work space; slot_start, adjacency: slots of each node; node_places (n,): its flat offset."""

    start: np.ndarray
    column: np.ndarray
    values: np.ndarray
    products: tuple
    slots: np.ndarray
    slot_start: np.ndarray
    adjacency: np.ndarray
    node_places: np.ndarray


class RowTerms(NamedTuple):
    """Row blocks as part of the operator: start (slices + 1,); offset (entries, LANES): flat place of each triple in a
    vector; jacobian (entries, 9, LANES); weight (slices, 6, LANES): G, symmetric in Voigt order."""

    start: np.ndarray
    offset: np.ndarray
    jacobian: np.ndarray
    weight: np.ndarray


class BlockJacobi(NamedTuple):
    """Inverse diagonal blocks (slices, 9, LANES)."""

    inverse: np.ndarray


class FactorPreconditioner(NamedTuple):
    """Factors of the matrix or of most of it; offset (n,): flat place of each triple; work (n, 3)."""

    factor: BlockFactor
    offset: np.ndarray
    work: np.ndarray


class TwoLevel(NamedTuple):
    """inverse (slices, 9, LANES): inverse diagonal blocks. piece (slices, LANES): piece of each triple, -1: none.
    turns (slices, LANES): 1 for the angular triple of a rigid body. arm (slices, 3, LANES) [m] from the piece's centre.
    free (slices, 3, LANES). coarse (6 pieces, 6 pieces): L of P^T A P = L L^T below, L^T above,
    the inverse of its diagonal on it. work (6 pieces,)."""

    inverse: np.ndarray
    piece: np.ndarray
    turns: np.ndarray
    arm: np.ndarray
    free: np.ndarray
    coarse: np.ndarray
    work: np.ndarray


class Coarsening(NamedTuple):
    """Which entries of a matrix couple which pieces. start (pieces + 1,), row: rows (slice LANES + lane) of each piece;
    same (entries, LANES): 1 where an entry couples a piece with itself; cross_start (pieces + 1,), cross, cross_row:
    all others (entry LANES + lane) by the pieces of their rows, and these rows. own (slices, 36, LANES): work space."""

    start: np.ndarray
    row: np.ndarray
    same: np.ndarray
    cross_start: np.ndarray
    cross: np.ndarray
    cross_row: np.ndarray
    own: np.ndarray


class Augmented(NamedTuple):
    """base: P0. start, offset, jacobian: J as in RowTerms; which (m, 3): slice, row in its block and lane of each of m
    rows; free: flat. answers (m, slices, 3, LANES): P0^-1 J^T, a vector for each row. factors (m, m): of G^-1 + J
    P0^-1 J^T, as `factorise_dense` makes them. work (m,)."""

    base: TwoLevel
    start: np.ndarray
    offset: np.ndarray
    jacobian: np.ndarray
    which: np.ndarray
    free: np.ndarray
    answers: np.ndarray
    factors: np.ndarray
    work: np.ndarray
