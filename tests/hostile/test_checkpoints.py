"""Damaged checkpoints: a simulation that steps or fails as simulations do, or a PliantError that names the file."""

import pytest

pytest.importorskip("hypothesis")

from hypothesis import strategies as st

import checkpoints
import pliant as pl
from limits import STEP_SECONDS, limited, trials
from mutations import bytes_mutated

pytestmark = pytest.mark.hostile
COUNT = {"cases": 0, "resumed": 0, "stepped": 0}


def one_file(draw, note, folder) -> None:
    """Resume from one damaged file, and take a step."""
    good = checkpoints.good(folder)
    content = draw(st.one_of(checkpoints.with_other_arrays(good), bytes_mutated(good)))
    note(f"{len(content)} bytes")
    path = folder / "case.npz"
    path.write_bytes(content)
    made = []
    with limited():
        try:
            made.append(pl.resume(path))
            COUNT["resumed"] += 1
        except pl.PliantError as error:
            assert str(path) in str(error)
            raise
    for sim in made:
        with limited(seconds=STEP_SECONDS):
            sim.step()
            COUNT["stepped"] += 1


def test_checkpoints_are_resumed_or_refused_by_name(tmp_path):
    trials(lambda draw, note: one_file(draw, note, tmp_path), COUNT)
