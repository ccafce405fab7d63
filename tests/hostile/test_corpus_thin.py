"""Sheets and rods: what was wrong once, in the smallest case."""

import numpy as np
import pytest

import pliant as pl
from pliant import scene_file

CLOTH = pl.Material.corotated(1e6, 0.3, 300)
LINE = [(0, 0, 0), (1, 0, 0)]
HEAD = """format = 1
[materials.rubber]
law = "corotated"
young = 1e6
poisson = 0.3
density = 1000
"""
SHEET = '[[cloth]]\nmaterial = "rubber"\nthickness = 0.001\n'
ROD = '[[rod]]\nmaterial = "rubber"\nradius = 0.01\n'


def sheet(**options):
    return pl.Scene().add_cloth(pl.meshes.grid((1, 1), 1), CLOTH, **{"thickness": 0.001, **options})


def rod(points=LINE, material=CLOTH, **options):
    return pl.Scene().add_rod(points, material, **({"radius": 0.01} if "section" not in options else {}) | options)


CALLS = {
    "thins": lambda: sheet(thins="false"),
    "flat": lambda: sheet(flat=0),
    "fibres must": lambda: sheet(fibres=3),
    "one of fibres": lambda: sheet(fibres=["x"]),
    "fibres direction": lambda: pl.Fibres((0, 0, 0), 1e5),
    "thickness": lambda: sheet(thickness="0.1"),
    "contact_distance": lambda: sheet(contact_distance="far"),
    "closed": lambda: rod([(0, 0, 0), (1, 0, 0), (0, 1, 0)], closed="false"),
    "straight": lambda: rod(straight="false"),
    "self_contact": lambda: rod(self_contact="false"),
    "points of a rod": lambda: rod("abc"),
    "ragged": lambda: rod([[1, 2], [3]]),
    "points of a rod must": lambda: rod([(0, 0, 0), (np.nan, 0, 0)]),
    "has no length": lambda: rod([(0, 0, 0), (0, 0, 0)]),
    "segments": lambda: rod(segments=10**9),
    "at most": lambda: rod(np.arange(30.0).reshape(10, 3), segments=10**6),
    "edges": lambda: rod(edges=[(0, "a")]),
    "edges must be": lambda: rod(edges=[(0, 0.5)]),
    "normal": lambda: rod(normal="up"),
    "curvature": lambda: rod(curvature=[1, "a", 2]),
    "rolling_friction": lambda: rod(rolling_friction=0.1),
    "radius": lambda: rod(radius=1e90),
    "lost in rounding": lambda: rod(position=(0, 1e17, 0)),
    "sheet lies": lambda: sheet(position=(0, 1e17, 0)),
    "section radius": lambda: pl.Section.circle(0),
    "section kind": lambda: pl.Section([], (1,)),
    "sizes of a section": lambda: pl.Section("circle", 3),
    "section must": lambda: rod(section="circle"),
    "number of a point": lambda: rod().clamp(7),
    "number of a point must": lambda: rod()["0"],
    "node must": lambda: pl.meshes.grid((1, 1), 1).beside("a"),
    "material of a rod": lambda: rod(material="rubber"),
}


@pytest.mark.parametrize("word", CALLS)
def test_calls(word):
    with pytest.raises(pl.PliantError, match=word.replace("ragged", "points of a rod")):
        CALLS[word]()


def test_a_clamp_that_is_refused_leaves_the_point_free():
    line = rod()
    with pytest.raises(pl.SceneError, match="angular_velocity"):
        line.clamp(0, angular_velocity="fast")
    assert not line[0].static


FILES = {
    "cloth[0].mesh": SHEET + "mesh = { grid = [1, 1], cells = 1000000000 }",
    "asks for 8000000000000 triangles": SHEET + "mesh = { disk = 1, cells = 1000000 }",
    "triangles besides": 2 * (SHEET + "mesh = { grid = [1, 1], cells = [1, 1000] }\n"),
    "cloth[0].thins": SHEET + 'mesh = { grid = [1, 1], cells = 1 }\nthins = "false"',
    "rod[0].segments": ROD + "points = [[0, 0, 0], [1, 0, 0]]\nsegments = 1000000000",
    "makes 2000000 segments": ROD + "points = [[0, 0, 0], [1, 0, 0]]\nsegments = 1000000\nclosed = true",
    "rolling_friction: 0.1 -> unknown key": ROD + "points = [[0, 0, 0], [1, 0, 0]]\nrolling_friction = 0.1",
    "rod[0].clamp[0].point": ROD + "points = [[0, 0, 0], [1, 0, 0]]\nclamp = [{ point = 2 }]",
}


@pytest.mark.parametrize("words", FILES)
def test_scene_files(words, tmp_path, monkeypatch):
    monkeypatch.setattr(scene_file.build, "MAX_TETS", 3000)
    path = tmp_path / "case.toml"
    path.write_text(HEAD + FILES[words])
    with pytest.raises(pl.PliantError) as error:
        scene_file.read(path)
    assert str(path) in str(error.value) and words in str(error.value)


def beam_and_rod(with_rod: bool) -> tuple:
    """A pinned beam, with or without a damped rod beside it."""
    scene = pl.Scene()
    pin = scene.add_soft(pl.meshes.box((1, 0.2, 0.2), (4, 1, 1)), CLOTH).pin("x < 0.01")
    if with_rod:
        soft = pl.Material.linear(1e6, 0.3, 1000, damping=0.01)
        scene.add_rod([(0, 3, 0), (1, 3, 0)], soft, 0.01, segments=3).clamp(0)
    return scene, pin


def test_reactions_and_explicit_steps_of_soft_bodies_beside_rods():
    """A rod that touches nothing changes nothing for the beam."""
    for solver, dt in ((pl.Newton(tolerance=1e-9), 0.01), (pl.Explicit(), 1e-5)):
        found = []
        for with_rod in (False, True):
            scene, pin = beam_and_rod(with_rod)
            found.append(scene.simulate(dt, solver=solver).step(3).reaction(pin))
        np.testing.assert_allclose(*found, rtol=1e-6, atol=1e-6 * np.abs(found[0]).max())
