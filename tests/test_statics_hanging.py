"""Equilibrium of what hangs by pins that leave it free to turn, and of what nothing holds."""

import warnings

import numpy as np
import pytest

import pliant as pl

UPRIGHT = (np.sqrt(0.5), np.sqrt(0.5), 0, 0)


def sheet(young: float = 1e5, cells: int = 6, poisson: float = 0.0, **placed):
    """A scene with a sheet of 1 m and 200 kg/m3, 1 mm thick; its edge "far" is at y = 1 m of its mesh."""
    scene = pl.Scene()
    cloth = scene.add_cloth(pl.meshes.grid((1, 1), cells), pl.Material.stvk(young, poisson, 200), 1e-3, **placed)
    return scene, cloth


def at_corners(cloth, height) -> None:
    """Pin two corners of a sheet; height: the coordinate along which they lie farthest."""
    cloth.pin((height > 0.999) & (cloth.nodes.x < 0.01))
    cloth.pin((height > 0.999) & (cloth.nodes.x > 0.99))


def test_a_sheet_pinned_along_its_upper_edge_is_stretched_by_its_weight():
    """u = rho g L^2 / (2 E) for nu = 0, a part in a thousand; St. Venant-Kirchhoff differs by that part."""
    scene, cloth = sheet(1e6, cells=20, rotation=UPRIGHT)
    cloth.pin(cloth.nodes.z > 0.999)
    longer = -scene.equilibrium().positions(cloth)[cloth.nodes.z < 0.001, 2].mean()
    assert longer == pytest.approx(200 * 9.81 / (2 * 1e6), rel=2e-3)


def test_a_sheet_that_begins_level_swings_down_to_the_same_place():
    upright, first = sheet(rotation=UPRIGHT, position=(0, 1, 0))
    first.pin(first.nodes.z > 0.999)
    level, second = sheet(position=(0, 0, 1))
    second.pin(second.nodes.y > 0.999)
    below, swung = upright.equilibrium().positions(first), level.equilibrium().positions(second)
    assert swung == pytest.approx(below, abs=1e-6)


def test_a_sheet_hung_at_two_corners_is_where_its_motion_ends():
    """Implicit steps lose energy; after 40 s 0.4 mm/s are left of it."""
    scene, cloth = sheet(poisson=0.3)
    at_corners(cloth, cloth.nodes.y)
    rest, moving = scene.equilibrium(), scene.simulate(1 / 30, solver=pl.Newton(tolerance=1e-4))
    moving.step(1200)
    assert moving.positions(cloth) == pytest.approx(rest.positions(cloth), abs=1e-3)
    before = rest.positions(cloth).copy()
    rest.step(60)
    assert rest.positions(cloth) == pytest.approx(before, abs=1e-6)


def test_an_upright_sheet_hung_at_two_corners_is_known_to_leave_its_plane():
    """What is pressed between its corners wrinkles; the flat shape, which nothing disturbs, is in balance all the same,
    and has more energy than the one beside it."""
    scene, cloth = sheet(cells=12, rotation=UPRIGHT)
    at_corners(cloth, cloth.nodes.z)
    with pytest.warns(UserWarning, match="not stably"):
        flat = scene.equilibrium()
    assert np.abs(flat.positions(cloth)[:, 1]).max() < 1e-9
    cloth.force("z < 0.001", (0, 1e-4, 0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        wrinkled = scene.equilibrium()
    assert np.abs(wrinkled.positions(cloth)[:, 1]).max() > 1e-3
    assert wrinkled.energy().total < flat.energy().total


@pytest.mark.parametrize("solver", [None, pl.Newton(), pl.Mixed()], ids=["none", "newton", "mixed"])
def test_a_beam_hung_by_an_edge_hangs_with_its_centre_below_it(solver):
    """Its weight has no moment about the pins, however far it bends."""
    scene = pl.Scene()
    beam = scene.add_soft(pl.meshes.box((1, 0.1, 0.1), (8, 1, 1)), pl.Material.corotated(1e6, 0.3, 1000))
    beam.pin("x < 0.001 and z < 0.001")
    sim = scene.equilibrium(solver=solver)
    mean = sim.model.node_mass @ sim.positions(beam) / sim.model.node_mass.sum()
    assert mean[0] == pytest.approx(0, abs=1e-6)
    assert mean[2] < -np.hypot(0.5, 0.05)  # and stretched


def test_a_sheet_that_nothing_loads_stays():
    scene, cloth = sheet()
    scene.gravity = (0, 0, 0)
    cloth.pin(cloth.nodes.y > 0.999)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert scene.equilibrium().positions(cloth) == pytest.approx(cloth.nodes.positions, abs=1e-12)


def test_what_its_load_turns_for_ever_is_refused_by_name():
    scene, cloth = sheet(cells=2)
    scene.gravity = (0, 0, 0)
    cloth.pin(cloth.nodes.y > 0.999)
    cloth.pressure("all", 5.0)
    with pytest.raises(
        pl.SceneError, match=r"'cloth0' goes round and round.*clamp more of it, or join it to the world"
    ):
        scene.equilibrium()


def test_what_its_pins_let_go_is_refused_with_what_would_hold_it():
    scene, cloth = sheet()
    cloth.pin(cloth.nodes.y > 0.999, "xy")
    with pytest.raises(pl.SceneError, match=r"'cloth0' can move.*clamp them.*join it to the world"):
        scene.equilibrium()
