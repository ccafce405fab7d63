"""The lane layout: arrays are (groups, components, LANES), so that one inner loop of pure arithmetic vectorises."""

import numpy as np

from pliant.jit import formula

LANES = 16
# Groups of a chunk.
CHUNK = 4


def group_count(count: int) -> int:
    """How many groups of lanes hold `count` things."""
    return -(-count // LANES)


def to_lanes(values: np.ndarray, fill=0) -> np.ndarray:
    """(n, c) -> (groups, c, LANES); lanes without a thing hold `fill`."""
    values = np.asarray(values)
    flat = values if values.ndim == 2 else values[:, None]
    groups = group_count(len(flat))
    padded = np.full((groups * LANES, flat.shape[1]), fill, dtype=values.dtype)
    padded[: len(flat)] = flat
    return np.ascontiguousarray(padded.reshape(groups, LANES, flat.shape[1]).transpose(0, 2, 1))


def from_lanes(values: np.ndarray, count: int) -> np.ndarray:
    """(groups, c, LANES) -> (count, c)."""
    return values.transpose(0, 2, 1).reshape(-1, values.shape[1])[:count]


@formula
def chunks(groups):
    """How many chunks so many groups are: what a thread does at a time, with room that it makes once."""
    return (groups + CHUNK - 1) // CHUNK


@formula
def first_of(chunk):
    """The first group of a chunk."""
    return np.int64(chunk) * CHUNK


@formula
def last_of(chunk, groups):
    """One past its last group."""
    return min(np.int64(chunk) * CHUNK + CHUNK, groups)


@formula
def load3(a, group, first, lane):
    """Three components of one lane as a tuple."""
    return (a[group, first, lane], a[group, first + 1, lane], a[group, first + 2, lane])


@formula
def load6_from(a, group, first, lane):
    """Six components of one lane from component `first` on, as a tuple."""
    return (
        a[group, first, lane],
        a[group, first + 1, lane],
        a[group, first + 2, lane],
        a[group, first + 3, lane],
        a[group, first + 4, lane],
        a[group, first + 5, lane],
    )


@formula
def load6(a, group, lane):
    """Six components of one lane as a tuple."""
    return load6_from(a, group, 0, lane)


@formula
def load9_from(a, group, first, lane):
    """Nine components of one lane from component `first` on, as a tuple."""
    return (
        a[group, first, lane],
        a[group, first + 1, lane],
        a[group, first + 2, lane],
        a[group, first + 3, lane],
        a[group, first + 4, lane],
        a[group, first + 5, lane],
        a[group, first + 6, lane],
        a[group, first + 7, lane],
        a[group, first + 8, lane],
    )


@formula
def load9(a, group, lane):
    """Nine components of one lane as a tuple."""
    return load9_from(a, group, 0, lane)


@formula
def tuple9(a):
    """A flat array of nine numbers as a tuple."""
    return (a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8])


@formula
def store3(a, group, first, lane, v):
    """Writes three components. (A loop over a tuple's items may stay a loop, and then the lanes do not vectorise.)"""
    a[group, first, lane], a[group, first + 1, lane], a[group, first + 2, lane] = v[0], v[1], v[2]


@formula
def store_group(values, group, out):
    """Writes all components of a group, from values (1, components, LANES). (Numba's assignment of a slice compiles
    the words of the error that it raises where shapes differ, which takes longer than most loops.)"""
    for component in range(values.shape[1]):
        for lane in range(LANES):
            out[group, component, lane] = values[0, component, lane]


@formula
def copy_components(source, at, first, count, out, group, into):
    """Writes `count` components of one group, from `first` on, to another's, from `into` on."""
    for component in range(count):
        for lane in range(LANES):
            out[group, into + component, lane] = source[at, first + component, lane]


@formula
def store9(a, group, first, lane, v):
    """Writes nine components."""
    store3(a, group, first, lane, (v[0], v[1], v[2]))
    store3(a, group, first + 3, lane, (v[3], v[4], v[5]))
    store3(a, group, first + 6, lane, (v[6], v[7], v[8]))
