"""Damaged mesh files in every format: a mesh, or a PliantError that names the file."""

import pytest

pytest.importorskip("hypothesis")
pytest.importorskip("meshio")

from hypothesis import strategies as st

import mesh_files
import pliant as pl
from limits import limited, trials
from mutations import bytes_mutated

pytestmark = pytest.mark.hostile
COUNT = {"cases": 0, "read": 0}


def one_file(draw, note, folder) -> None:
    """Read one damaged file."""
    good = mesh_files.contents()
    suffix = draw(st.sampled_from(sorted(good)), label="suffix")
    content, repair = draw(bytes_mutated(good[suffix])), draw(st.booleans(), label="repair")
    note(f"{suffix} {content!r}")
    path = mesh_files.put(folder, suffix, content)
    with limited():
        try:
            pl.meshes.read(path, repair=repair)
            COUNT["read"] += 1
        except pl.PliantError as error:
            assert str(path) in str(error)
            raise


def test_mesh_files_are_read_or_refused_by_name(tmp_path):
    trials(lambda draw, note: one_file(draw, note, tmp_path), COUNT)
