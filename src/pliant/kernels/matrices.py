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


class ForestFactor(NamedTuple):
    """As BlockFactor, with runs (r + 1,) of columns that have nothing to do with each other."""

    order: np.ndarray
    start: np.ndarray
    row: np.ndarray
    lower: np.ndarray
    pivot: np.ndarray
    runs: np.ndarray


# Jobs of a factorisation by supernodes: rows of a panel take what others do to them; columns of a panel become those of
# the factor; rows after these take what they do.
TAKE, ELIMINATE, FOLLOW = range(3)
# Numbers of a row that are computed together; behind the last panel there is room for so many.
TOGETHER = 8


class SupernodePlan(NamedTuple):
    """Where the panels of supernodes lie; places are those of the elimination order.

    first (S + 1,): first column; row_start (S + 1,), rows: its rows, own columns first; widest (1,): most of them.
    panel_start (S + 1,): its panel, three rows of L^T for each of its columns. entry_start (n + 1,), entry (k, 2):
    blocks of the matrix by rows: place within a row of the panel, and which; diagonal (n,): those on the diagonal.
    update_start (S + 1,), update (u, 4): what those before do to it: which, first and last of their rows, and where in
    `relative` are the places of their rows, from the first on, in it. child_start (S + 1,), child (c, 2): children, and
    where in `relative` their rows are. task_start (T + 1,), task: supernodes of subtrees, and last all others.
    stage_start (G + 1,): stages of tasks that know nothing of each other; job_start, job (j, 6): jobs of such tasks:
    kind, supernode, part and parts of its rows, first and last of its columns.
    """

    first: np.ndarray
    row_start: np.ndarray
    rows: np.ndarray
    widest: np.ndarray
    panel_start: np.ndarray
    entry_start: np.ndarray
    entry: np.ndarray
    diagonal: np.ndarray
    update_start: np.ndarray
    update: np.ndarray
    relative: np.ndarray
    child_start: np.ndarray
    child: np.ndarray
    task_start: np.ndarray
    task: np.ndarray
    stage_start: np.ndarray
    job_start: np.ndarray
    job: np.ndarray


class SupernodeFactor(NamedTuple):
    """order (n,): node at each place; panel: rows of the unit triangle L^T; pivot (2, 3 n): D and 1 / D; passed: room
    for solves."""

    plan: SupernodePlan
    order: np.ndarray
    panel: np.ndarray
    pivot: np.ndarray
    passed: np.ndarray


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


class FoldedMatrix(NamedTuple):
    """A sliced matrix plus one of numbers, the same along every axis: fold_start (slices + 1,), fold_column (entries,
    LANES): as `start` and `column`; fold_values (entries, LANES)."""

    start: np.ndarray
    column: np.ndarray
    values: np.ndarray
    fold_start: np.ndarray
    fold_column: np.ndarray
    fold_values: np.ndarray


class RowTerms(NamedTuple):
    """Row blocks as part of the operator: start (slices + 1,); offset (entries, LANES): flat place of each triple in a
    vector; jacobian (entries, 9, LANES); weight (slices, 6, LANES): G, symmetric in Voigt order."""

    start: np.ndarray
    offset: np.ndarray
    jacobian: np.ndarray
    weight: np.ndarray


class ContactRows(NamedTuple):
    """The same rows as a solve with contacts sees them: all of them, and none."""

    all: RowTerms
    none: RowTerms


class ContactTables(NamedTuple):
    """What contacts respond by: target, rate [m/s], compliance [1/kg] (slices, 3, LANES), friction (slices, LANES)."""

    target: np.ndarray
    rate: np.ndarray
    compliance: np.ndarray
    friction: np.ndarray


class BlockJacobi(NamedTuple):
    """Inverse diagonal blocks (slices, 9, LANES)."""

    inverse: np.ndarray


class FactorPreconditioner(NamedTuple):
    """Factors of the matrix or of most of it; offset (n,): flat place of each triple; work (n, 3)."""

    factor: BlockFactor | ForestFactor | SupernodeFactor
    offset: np.ndarray
    work: np.ndarray


class TwoLevel(NamedTuple):
    """inverse (slices, 9, LANES): inverse diagonal blocks. piece (slices, LANES): piece of each triple, -1: none.
    turns (slices, LANES): 1 for the angular triple of a rigid body. arm (slices, 3, LANES) [m] from the piece's centre.
    free (slices, 3, LANES). coarse: L of P^T A P = L L^T, the inverse of its diagonal on it, in an envelope: start
    (pieces + 1,) where the rows of each piece lie, first (pieces,) which piece they begin with. work (6 pieces,)."""

    inverse: np.ndarray
    piece: np.ndarray
    turns: np.ndarray
    arm: np.ndarray
    free: np.ndarray
    coarse: np.ndarray
    start: np.ndarray
    first: np.ndarray
    work: np.ndarray


class Coarsening(NamedTuple):
    """Which entries of a matrix couple which pieces. start (pieces + 1,), row: rows (slice LANES + lane) of each piece;
    same (entries, LANES): 1 where an entry couples a piece with itself; cross_start (pieces + 1,), cross, cross_row:
    those that couple it with pieces before it (entry LANES + lane), by the pieces of their rows, and these rows. first
    (pieces,): the first piece that each is coupled with. own (slices, 36, LANES): work space."""

    start: np.ndarray
    row: np.ndarray
    same: np.ndarray
    cross_start: np.ndarray
    cross: np.ndarray
    cross_row: np.ndarray
    first: np.ndarray
    own: np.ndarray


class Augmented(NamedTuple):
    """base: P0. start, offset, jacobian: J as in RowTerms; which (m, 3): slice, row in its block and lane of each of m
    rows; free: flat. answers (m, slices, 3, LANES): P0^-1 J^T, a vector for each row; extent (m, 2): the slices between
    which it is not zero. factors (m, m): of G^-1 + J P0^-1 J^T, as `factorise_dense` makes them. work (m,)."""

    base: TwoLevel
    start: np.ndarray
    offset: np.ndarray
    jacobian: np.ndarray
    which: np.ndarray
    free: np.ndarray
    answers: np.ndarray
    extent: np.ndarray
    factors: np.ndarray
    work: np.ndarray
