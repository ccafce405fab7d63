"""Every example runs, asserts its number and leaves its picture; every scene file of the examples is good."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest
from PIL import Image

from pliant import scene_file
from pliant.demo import demo_scene, demo_settings

EXAMPLES = Path(__file__).parent.parent / "examples"
# Those that take longest run with `make test-slow`.
LONG = ("all_kinds", "chain_links", "cow_drop", "net", "pile", "suspension", "three_ways", "untangling", "wire_figure")
# Smaller meshes or shorter runs than their own, as their arguments after the folder.
QUICK = {"drape": (16, 1.0), "flag": (12,)}


def _examples() -> list:
    paths = sorted(EXAMPLES.glob("*.py"))
    return [pytest.param(path, marks=pytest.mark.slow if path.stem in LONG else ()) for path in paths]


@pytest.mark.filterwarnings("error:bodies overlap")
@pytest.mark.parametrize("path", _examples(), ids=lambda path: path.stem)
def test_example(path, tmp_path, capsys):
    spec = spec_from_file_location(path.stem, path)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    module.main(str(tmp_path), *QUICK.get(path.stem, ()))
    assert capsys.readouterr().out
    assert Image.open(tmp_path / f"{path.stem}.png").size == (960, 540)


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("scenes/*.toml")), ids=lambda path: path.stem)
def test_scene_file(path):
    file = scene_file.read(path)
    assert file.run.output
    file.scene.simulate(dt=file.run.dt, solver=file.run.solver, precision=file.run.precision, threads=1)


def test_demo_scene_file_is_the_demo():
    file = scene_file.read(EXAMPLES / "scenes" / "demo.toml")
    assert scene_file.same(file.scene, demo_scene()) and file.run == demo_settings()
