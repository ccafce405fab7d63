"""Laws of one's own as texts, from Python and in scene files: a material, or a PliantError that says what is wrong."""

import json

import pytest

pytest.importorskip("hypothesis")

from hypothesis import strategies as st

import formulas
import pliant as pl
from limits import limited, trials
from mutations import VALUES
from pliant import scene_file

pytestmark = pytest.mark.hostile
COUNT = {"cases": 0, "materials": 0, "stepped": 0}
STEPPED = 12
"""Of so many laws one is compiled and takes a step."""

FILE = """format = 1
[[soft]]
mesh = {{ box = [1, 1, 1], cells = 1 }}
material = {{ energy = {energy}, density = 1000, parameters = {{ mu = 1e5, k = 1e6 }} }}
"""


def one_law(draw, note, folder) -> None:
    """A text as the law of a material; the same text in a scene file."""
    energy = draw(formulas.energies())
    parameters = dict(formulas.PARAMETERS)
    if draw(st.integers(0, 5)) == 5:
        parameters[draw(st.sampled_from(("mu", "k", "x", "J", "")))] = VALUES[draw(st.integers(0, len(VALUES) - 1))]
    note(f"{energy!r} with {parameters!r:.300}")
    made = []
    with limited():
        made.append(pl.Material.custom(energy, 1000, parameters))
        COUNT["materials"] += 1
    with limited():
        path = folder / "law.toml"
        path.write_text(FILE.format(energy=json.dumps(energy)), encoding="utf-8", errors="replace")
        try:
            scene_file.read(path)
        except pl.PliantError as error:
            assert str(path) in str(error) and ("soft[0].material" in str(error) or "TOML" in str(error)), str(error)
            raise
    for material in made if draw(st.integers(1, STEPPED)) == STEPPED else ():
        with limited(seconds=20):  # longer formulas are compiled for longer
            scene = pl.Scene()
            scene.add_soft(pl.meshes.box((1, 1, 1), 1), material).pin("z < 0.1")
            scene.simulate(0.01).step(2)
            COUNT["stepped"] += 1


def test_formulas_are_laws_or_refused(tmp_path):
    trials(lambda draw, note: one_law(draw, note, tmp_path), COUNT)
