"""Scene files by grammar and by mutation: a scene that can be built, or a PliantError that names the file."""

from dataclasses import asdict

import pytest

pytest.importorskip("hypothesis")

import numpy as np
from hypothesis import strategies as st

import bases
import pliant as pl
import scene_files
from limits import STEP_SECONDS, limited, trials
from pliant import scene_file
from pliant.scene.materials import CUSTOM
from pliant.scene_file import build as scene_build

pytestmark = pytest.mark.hostile
COMPILED = 8
"""Of so many scenes with laws of one's own, which are compiled for them, one takes a step."""

COUNT = {"cases": 0, "read": 0, "built": 0, "stepped": 0}


def one_file(draw, note, path) -> None:
    """Read one file, and make all that comes before the first step of it."""
    content = draw(st.one_of(scene_files.by_mutation(), scene_files.by_grammar()))
    note(repr(content))
    path.write_bytes(content)
    made = []
    with limited():
        try:
            file = scene_file.read(path)
            COUNT["read"] += 1
            with file.addressed():
                made.append(file.scene.simulate(dt=file.run.dt, solver=file.run.solver, **file.run.place))
            COUNT["built"] += 1
        except pl.PliantError as error:
            assert str(path) in str(error)
            assert len(str(error)) < 100_000
            raise
    for sim in made:
        own = any(body.material.law == CUSTOM for body in sim.scene.soft_bodies)
        if own and draw(st.integers(1, COMPILED)) != COMPILED:
            continue
        with limited(seconds=STEP_SECONDS):
            sim.step()
            COUNT["stepped"] += 1
            sim.save(path.with_suffix(".vtu"))
            sim.checkpoint(path.with_suffix(".npz"))
            pl.resume(path.with_suffix(".npz"))
            assert np.isfinite(list(asdict(sim.energy()).values())).all()


def test_scene_files_are_read_or_refused_by_name(tmp_path, monkeypatch):
    monkeypatch.setattr(scene_build, "MAX_TETS", 3000)
    bases.put_files(tmp_path)
    trials(lambda draw, note: one_file(draw, note, tmp_path / "case.toml"), COUNT)
