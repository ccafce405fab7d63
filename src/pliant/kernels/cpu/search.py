"""Where a number stands among sorted ones."""

from pliant.jit import formula


@formula
def first_not_below(keys, low, high, key):
    """The first place from `low` on, before `high`, of sorted keys that is not below a key, or `high`."""
    while low < high:
        middle = (low + high) // 2
        if keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low
