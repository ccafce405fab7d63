"""Garbage is collected before a simulation runs: in the midst of its steps a collection takes as long as many of them.

Python looks through all objects when those that are new to it have become a quarter of the others, and does not count
those that loaded code brought (some hundred thousand) among the others until it has looked through them once.
"""

import gc
import sys

# Growth of the memory's blocks since the last collection with which there is another.
GROWTH = 1.2

_blocks = 0


def collect_beforehand() -> None:
    """Collect now what Python would collect soon, unless the process has hardly grown since the last time."""
    global _blocks
    if not gc.isenabled() or sys.getallocatedblocks() < GROWTH * _blocks:
        return
    gc.collect()
    _blocks = sys.getallocatedblocks()
