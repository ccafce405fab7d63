"""What pliant's own LLVM code computes: the same as Python, in every case that it writes otherwise than Numba."""

import sys
from typing import NamedTuple

import numba
import numpy as np
import pytest

from pliant.jit import cache_folder, kernel_in
from pliant.kernels.cpu.search import sort


def _items(values, table, places, out):
    """Indices from both ends, constant and not, of arrays in rows and of strided ones, with casts."""
    out[0] = values[-1] + values[0]
    for index in range(-3, len(places)):
        out[1] += table[places[index], -index] * table[index, 1]
        table[index, places[-1]] += 2
    values[places[0]] = places[1]
    return table[1, -2]


def _ranges(first, last, out):
    """Ranges that are empty, have steps, are left early, or whose limits change while they run."""
    count = 0
    for one in range(last):
        for two in range(one, first):
            if two == 3:
                break
            count += two
        first -= 1
    for one in range(last, first, -2):
        out[one] = count
    chosen = range(first, last)
    for one in chosen:
        count += 7 * one
    return count


def _checked(value):
    if value < 0:
        raise ValueError("negative")
    return value + 1.0


_CHECKED = kernel_in(cache_folder(), _checked, parallel=False)


def _total(values, pair):
    """Arguments that are given again, made anew and used in parallel loops."""
    scaled, factor = pair
    total = 0.0
    for index in numba.prange(len(values)):
        total += factor * values[index] * scaled[index]
    for index in range(len(values)):
        total += _CHECKED(values[index])
    values = values[1:].copy()
    return total, values, scaled


class _Things(NamedTuple):
    table: np.ndarray
    weights: tuple
    unused: np.ndarray


def _given(things, count, factor, truth, single, short, spare):
    """Arguments of all kinds that Python gives, some of them unused; results of several kinds."""
    total = 0.0
    for i in range(things.table.shape[0]):
        total += _CHECKED(things.table[i, 1]) * things.weights[0][i] + things.weights[1]
    room = np.empty(count)
    room[:] = factor if truth else single
    return room.sum() + total, things.table.size + short, truth


def _arguments():
    table = np.arange(20).reshape(4, 5).astype(np.int32)
    return np.arange(4.0), table, np.array([2, 1, 3], np.int64), np.zeros(2)


@pytest.mark.parametrize("strided", (False, True))
def test_items(tmp_path, strided):
    given, wanted = _arguments(), _arguments()
    if strided:
        given, wanted = ([each[0], np.repeat(each[1], 2, 1)[:, ::2], *each[2:]] for each in (given, wanted))
    compiled = kernel_in(tmp_path, _items, parallel=False)
    assert compiled(*given) == _items(*wanted)
    for one, other in zip(given, wanted, strict=True):
        assert np.array_equal(one, other)


@pytest.mark.parametrize("limits", ((5, 4), (0, 6), (6, 0), (-2, -5)))
def test_ranges(tmp_path, limits):
    given, wanted = np.zeros(9), np.zeros(9)
    compiled = kernel_in(tmp_path, _ranges, parallel=False)
    assert compiled(*limits, given) == _ranges(*limits, wanted)
    assert np.array_equal(given, wanted)


def test_arguments_are_held_by_the_caller_and_failures_reach_it(tmp_path):
    compiled = kernel_in(tmp_path, _total)
    values, scaled = np.arange(4.0), np.full(4, 2.0)
    for _ in range(3):
        total, rest, same = compiled(values, (scaled, 0.5))
        assert total == 16.0 and np.array_equal(rest, [1.0, 2.0, 3.0]) and np.shares_memory(same, scaled)
        del rest, same
    assert np.array_equal(values, np.arange(4.0)) and np.array_equal(scaled, np.full(4, 2.0))
    with pytest.raises(ValueError, match="negative"):
        compiled(-values, (scaled, 0.5))


def test_what_python_gives_arrives(tmp_path):
    """Numbers of Python and of NumPy, arrays in tuples of tuples, contiguous and strided; nobody holds them after."""
    compiled = kernel_in(tmp_path, _given, parallel=False)
    table = np.arange(12.0).reshape(3, 4)[:, ::2]
    things = _Things(table, (np.array([1.0, 2.0, 4.0]), 0.25), np.zeros(2))
    held = [sys.getrefcount(each) for each in (table, things.weights[0], things.unused)]
    numbers = (
        (3, 0.5, True, np.float32(0.1), np.int32(-7)),
        (np.int64(2), np.float64(2.0), False, np.float32(0.3), np.int32(5)),
    )
    for given in numbers:
        assert compiled(things, *given, table) == pytest.approx(_given(things, *given, table), rel=1e-7)
    with pytest.raises(ValueError, match="negative"):
        compiled(things._replace(table=-table), *numbers[0], table)
    assert held == [sys.getrefcount(each) for each in (table, things.weights[0], things.unused)]
    with pytest.raises((OverflowError, TypeError)):
        compiled(things, 2**70, *numbers[0][1:], table)


@pytest.mark.parametrize("count", (0, 1, 2, 3, 17, 100))
def test_numbers_are_sorted(count):
    values = np.random.default_rng(count).integers(0, 40, count) / 8.0
    ours = values.copy()
    sort(ours)
    assert np.array_equal(ours, np.sort(values))
