"""What is new is tried on the day it is there: public functions, classes and options, keys of scene files, commands."""

import dataclasses

import pytest

pytest.importorskip("hypothesis")

import bases
import calls
import fitting
import pliant as pl
import scene_files
from pliant import scene_file
from test_commands import commands


def test_a_new_public_function_is_called(monkeypatch):
    """With its own parameters, without a word about it anywhere."""

    def melt(body, temperature: float = 300.0) -> None: ...

    monkeypatch.setattr(pl, "melt", melt, raising=False)
    monkeypatch.setattr(pl, "__all__", [*pl.__all__, "melt"])
    monkeypatch.setattr(pl.Scene, "freeze", lambda self, depth: None, raising=False)
    found = calls.callables(calls.world())
    assert list(calls.parameters("melt", found["melt"])) == ["body", "temperature"]
    assert list(calls.parameters("scene.freeze", found["scene.freeze"])) == ["depth"]


def test_everything_public_is_called():
    """All classes and functions; of calls that take any options, those that there are; fields, which are assigned."""
    w = calls.world().dressed()
    w.simulated()
    found = calls.callables(w)
    errors = {name for name in pl.__all__ if isinstance(getattr(pl, name), type) and "Error" in name}
    assert not [name for name in pl.__all__ if callable(getattr(pl, name)) and name not in {*found, *errors}]
    assert {"meshes.tetrahedralize", "Section.tube", "Mixed", "scene.add_cloth", "rod.clamp", "sim.rod"} <= set(found)
    assert {"hinge.limits = ", "ball.rolling_friction = ", "scene.gravity = "} <= set(found)
    for name, option in (("add_soft", "drawing"), ("add_rigid", "rolling_friction"), ("add_rod", "curvature")):
        assert option in calls.parameters(f"scene.{name}", found[f"scene.{name}"])
    assert len(found) > 300


REFUSED = {"bodies", "forces", "pins", "pressures", "torques", "tractions", "winds", "sims"}
"""Lists that bodies and scenes keep themselves, which nobody assigns or makes."""


def test_every_parameter_has_a_value_that_fits():
    """Otherwise a call would be refused for it whatever the others are."""
    w = calls.world().dressed()
    w.simulated()
    w.ringing()
    known = {*fitting.samples(w), *REFUSED}
    found = calls.callables(w)
    unknown = {key: name for name in found for key in calls.parameters(name, found[name]) if key not in known}
    assert not {key: name for key, name in unknown.items() if not name.startswith("meshes.Quality")}


def test_every_argument_of_a_request_to_the_studio_has_a_value_that_fits():
    pytest.importorskip("starlette", reason="the studio needs the extra: pip install 'pliant[studio]'")
    import studio_pages

    own = {"return", "revision", "command", "table"}
    kinds = [request.__annotations__ for request in studio_pages.REQUESTS.values()]
    named = {name for own_kinds in kinds for name, kind in own_kinds.items() if kind is not bool}
    assert not named - own - set(studio_pages.FITS)


def test_every_key_of_scene_files_has_a_good_value():
    assert not set(scene_files.known_keys()) - set(scene_files.seen())


@pytest.mark.parametrize("name", bases.BASES)
@pytest.mark.filterwarnings("ignore:rod")
@pytest.mark.filterwarnings("ignore:rolling_friction")
def test_what_mutations_begin_with_is_good(name, tmp_path):
    bases.put_files(tmp_path)
    (tmp_path / "case.toml").write_bytes(bases.BASES[name])
    file = scene_file.read(tmp_path / "case.toml")
    with file.addressed():
        sim = file.scene.simulate(dt=file.run.dt, solver=file.run.solver, **file.run.place)
    assert len(sim.scene.bodies) > 3 and dataclasses.asdict(sim.energy())


def test_every_command_is_given_words():
    assert {("run",), ("check",), ("render",), ("mesh", "convert"), ("mesh", "tetrahedralize")} <= set(commands())
