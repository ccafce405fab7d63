"""What pliant's own LLVM code computes: the same as Python, in every case that it writes otherwise than Numba."""

import numba
import numpy as np
import pytest

from pliant.jit import cache_folder, kernel_in


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
