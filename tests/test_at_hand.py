"""Compiled code that is loaded before things touch: every kernel that is named there is one."""

import pytest

from pliant.compiler import Kernel
from pliant.kernels.device import HOST
from pliant.solve.newton import at_hand


@pytest.mark.parametrize("name", at_hand.ROWS + at_hand.MIXED + at_hand.SURFACES + at_hand.SOLIDS)
def test_what_is_loaded_beforehand_is_a_kernel(name):
    found = HOST
    for part in name.split("."):
        found = getattr(found, part)
    assert isinstance(found, Kernel)
