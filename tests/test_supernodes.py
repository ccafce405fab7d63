"""Factors by supernodes and by trees: those of the column by column ones, with any number of threads."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from scipy.sparse import bsr_matrix, csr_matrix, diags
from scipy.sparse.linalg import splu

from pliant.jit import use_threads
from pliant.kernels.device import HOST
from pliant.linalg import block_ldl
from pliant.linalg.block_ldl import BlockPattern, factor, factor_forest
from pliant.linalg.supernodes import Supernodes


def _grid(rows: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of neighbours, along both sides and one diagonal of all squares."""
    place = np.arange(rows * columns).reshape(rows, columns)
    pairs = [(place[1:], place[:-1]), (place[:, 1:], place[:, :-1]), (place[1:, 1:], place[:-1, :-1])]
    return tuple(np.concatenate([pair[side].ravel() for pair in pairs]) for side in (0, 1))


def _stiff(pattern: BlockPattern, first: np.ndarray, second: np.ndarray, held: float) -> tuple[np.ndarray, csr_matrix]:
    """Upper blocks of springs of random directions between pairs, every node held a little; and the same matrix."""
    count, generator = len(pattern.order), np.random.default_rng(3)
    directions = generator.normal(size=(len(first), 3))
    springs = np.einsum("ki,kj->kij", directions, directions) + 0.1 * np.eye(3)
    rows, columns = np.r_[first, second, first, second], np.r_[first, second, second, first]
    data = np.concatenate([springs, springs, -springs, -springs])
    values = np.zeros((len(pattern.row), 3, 3))
    index, transposed = pattern.find(rows, columns)
    keep = ~transposed
    np.add.at(values, index[keep], data[keep])
    values[pattern.find(np.arange(count), np.arange(count))[0]] += held * np.eye(3)
    order = np.lexsort([columns, rows])
    start = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=count))])
    matrix = bsr_matrix((data[order], columns[order], start), shape=(3 * count, 3 * count)).tocsr()
    return values, matrix + diags(np.full(3 * count, held))


@pytest.mark.parametrize("shape, held", [((3, 3), 1.0), ((31, 40), 1e-3), ((31, 40), 1e-9), ((1, 60), 1e-3)])
def test_supernodes_solve_as_libraries_do(shape, held):
    """Sheets and a chain, conditions up to 1e12: residuals of rounding, the same bits with one thread and two."""
    first, second = _grid(*shape)
    pattern = BlockPattern.of_pairs(HOST, shape[0] * shape[1], first, second).in_postorder()
    values, matrix = _stiff(pattern, first, second, held)
    exact = np.random.default_rng(0).normal(size=(len(pattern.order), 3))
    right, panels, answers = (matrix @ exact.ravel()).reshape(-1, 3), Supernodes.of(pattern), []
    for threads in (1, 2):
        with use_threads(threads):
            x, found = right.copy(), panels.factorise(values)
            HOST.linalg.supernodes.solve_supernodes(found, x)
            answers.append(x)
    reference = splu(matrix.tocsc()).solve(right.ravel()).reshape(-1, 3)
    assert np.array_equal(*answers)
    assert np.abs(matrix @ x.ravel() - right.ravel()).max() < 1e-13 * np.abs(matrix).max() * np.abs(exact).max()
    assert np.abs(x - exact).max() < 10 * np.abs(reference - exact).max() + 1e-13
    columns = factor(pattern, values)
    assert np.allclose(found.pivot[1].reshape(-1, 3), columns.pivot[:, 3:], rtol=1e-6)


def test_supernodes_keep_signs_and_nothing():
    """A negative matrix has a negative inverse; where the matrix has nothing at all, nothing comes of it."""
    pattern = BlockPattern.of_pairs(HOST, 2, np.array([1]), np.array([0])).in_postorder()
    values = np.zeros((len(pattern.row), 3, 3))
    for block, node in zip(pattern.find(np.arange(2), np.arange(2))[0], range(2)):
        values[block] = -np.diag([2.0, 4.0, 8.0]) if node else 0.0
    x = np.ones((2, 3))
    HOST.linalg.supernodes.solve_supernodes(Supernodes.of(pattern).factorise(values), x)
    assert np.allclose(x, [[0, 0, 0], [-0.5, -0.25, -0.125]])


def test_trees_of_chains_are_the_whole():
    """Forty chains of different lengths, by runs: what one pass over all columns finds, the same bits with one thread
    and two."""
    lengths = np.arange(5, 45)
    ends = np.cumsum(lengths)
    first = np.setdiff1d(np.arange(1, ends[-1]), ends)
    pattern = BlockPattern.of_pairs(HOST, int(ends[-1]), first, first - 1).in_postorder()
    runs = pattern.forest(16)
    values, _ = _stiff(pattern, first, first - 1, 1e-3)
    assert len(runs) > 12 and runs[0] == 0 and runs[-1] == ends[-1] and np.all(pattern.parent[runs[1:] - 1] < 0)
    whole, factors = factor(pattern, values), []
    for threads in (1, 2):
        with use_threads(threads):
            found = factor_forest(pattern, runs, values, None)
            factors.append(found)
            x = np.ones((ends[-1], 3))
            HOST.linalg.forest.solve_forest(found, x)
            assert np.abs(1e-3 * x - 1).max() < 1e-9  # a rigid motion, against what holds the nodes
    _same_factors(whole, *factors)


def _same_factors(whole, one, other):
    """Factors found with one thread and with two are the same bits, and those of another loop but for rounding."""
    for parts in zip(whole, one, other):
        assert np.array_equal(parts[1], parts[2])
        assert np.allclose(parts[0], parts[1], rtol=1e-9, atol=1e-12)


def test_subtrees_in_runs_and_what_they_share(monkeypatch):
    """A net with a chain at every node: runs of subtrees first, then what they share; the same fill as without runs."""
    monkeypatch.setattr(block_ldl, "SHARED_WORK", 0)
    first, second = _grid(8, 8)
    links = np.arange(64, 64 * 5)
    first, second = np.r_[first, links], np.r_[second, links - 64]
    plain = BlockPattern.of_pairs(HOST, 64 * 5, first, second)
    pattern = plain.in_runs()
    values, matrix = _stiff(pattern, first, second, 1e-3)
    whole = factor(replace(pattern, runs=None), values)
    assert pattern.start[-1] == plain.start[-1] and pattern.runs[0] == 0 and 200 < pattern.runs[-1] < 64 * 5
    for begin, end in pairwise(pattern.runs):
        parents = pattern.parent[begin:end]
        assert np.all((parents < end) | (parents >= pattern.runs[-1]))
    right = np.random.default_rng(1).normal(size=(64 * 5, 3))
    factors, x = [], right.copy()
    for threads in (1, 2):
        with use_threads(threads):
            factors.append(factor(pattern, values))
    _same_factors(whole, *factors)
    HOST.linalg.block_ldl.solve_factored(factors[0], x)
    assert np.abs(matrix @ x.ravel() - right.ravel()).max() < 1e-10 * np.abs(matrix).max()
