"""Where the published verification data lies: beside the repository, or in the folder PLIANT_VERIFICATION names."""

import os
from pathlib import Path

import pytest

FOLDER = Path(os.environ.get("PLIANT_VERIFICATION") or Path(__file__).parents[2] / "shared" / "verification")


def data(name: str) -> Path:
    """The path of a data file; the test is skipped where the data is not there."""
    path = FOLDER / name
    if not path.exists():
        pytest.skip(f"verification data {path} is not here; set PLIANT_VERIFICATION to its folder")
    return path
