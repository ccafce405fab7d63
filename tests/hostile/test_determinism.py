"""The same scenes cold and warm, with 1, 2 and 4 threads, resumed at any step, in another process: one hash."""

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

import hashing
from limits import SEED

pytestmark = pytest.mark.hostile
STEPS = 30


def hashes(threads: int, resumed_at: int = 0, **environment) -> str:
    """What a process of its own computes."""
    words = [sys.executable, Path(__file__).with_name("hashing.py"), threads, resumed_at, STEPS]
    options = {"capture_output": True, "text": True, "check": True, "timeout": 1800}
    environment = os.environ | {"NUMBA_NUM_THREADS": "4"} | environment
    return subprocess.run(list(map(str, words)), env=environment, **options).stdout


def test_one_hash(tmp_path):
    resumed = random.Random(SEED).randint(1, STEPS - 1)
    expected = hashes(1)
    assert [line.split()[0] for line in expected.splitlines()] == list(hashing.SCENES)
    found = {
        "again": hashes(1),
        "2 threads": hashes(2),
        "4 threads": hashes(4),
        f"resumed at step {resumed}": hashes(2, resumed),
        "cold": hashes(2, PLIANT_CACHE=str(tmp_path)),
        "warm": hashes(4, PLIANT_CACHE=str(tmp_path)),
    }
    print(f"\n{expected}" + "".join(f"{name}: {text == expected}\n" for name, text in found.items()))
    assert all(text == expected for text in found.values())
