"""Sheets in pictures and films have two sides that are told apart; fields look alike on both."""

import numpy as np
import pytest
from PIL import Image

import pliant as pl
from pliant.output.drawing.camera import Camera
from pliant.output.drawing.colors import back_color, linear_from_srgb, srgb_color
from pliant.output.drawing.picture import Legend, Surface
from pliant.output.drawing.raster import render
from pliant.output.scene_view import SOFT_COLORS, STATIC_COLOR, SceneView

SIZE = (96, 64)
# A sheet in the plane z = 0, whose front is up, fills the picture from both.
ABOVE, BELOW = {"eye": (0.5, 0.45, 0.8), "target": (0.5, 0.5, 0)}, {"eye": (0.5, 0.45, -0.8), "target": (0.5, 0.5, 0)}
# Colours of the two sides differ by at least so much in some channel, of 255.
APART = 25


def resting_sheet() -> pl.Simulation:
    scene = pl.Scene(gravity=(0, 0, 0))
    material = pl.Material.stvk(young=1e6, poisson=0.3, density=500)
    scene.add_cloth(pl.meshes.grid((1, 1), 4), material, thickness=1e-3, collide=False)
    return scene.simulate(dt=0.01, threads=1)


def mean_color(image: np.ndarray) -> np.ndarray:
    """That of the middle of a picture, away from captions."""
    return image[16:48, 32:64].reshape(-1, 3).mean(axis=0)


@pytest.mark.parametrize("name", [*SOFT_COLORS, STATIC_COLOR])
def test_the_back_is_darker_and_visibly_different(name):
    front, back = srgb_color(name), np.array(back_color(name))
    luminance = [np.dot(linear_from_srgb(color), (0.2126, 0.7152, 0.0722)) for color in (front, back)]
    assert luminance[1] < luminance[0] and np.abs(front - back).max() > APART / 255


def test_each_side_has_its_colour_by_the_facing_of_its_triangles():
    corners, triangles = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]), np.array([[0, 1, 2], [0, 2, 3]])
    surface = Surface(corners, triangles, "#ff0000", back="#0000ff")
    for place, expected in ((ABOVE, (255, 0, 0)), (BELOW, (0, 0, 255))):
        assert mean_color(render([surface], Camera(**place), SIZE, unlit=True)).tolist() == list(expected)
    surface.field = np.zeros(4)
    sides = [
        render([surface], Camera(**place), SIZE, legend=Legend(visible=False), unlit=True) for place in (ABOVE, BELOW)
    ]
    np.testing.assert_array_equal(*map(mean_color, sides))


def test_a_back_that_is_no_colour_is_refused():
    with pytest.raises(ValueError, match="expected '#rrggbb'"):
        Surface(np.zeros((3, 3)), np.array([[0, 1, 2]]), back="blue")


@pytest.mark.parametrize("suffix", ["png", "webp"])
def test_a_sheet_looks_different_from_its_two_sides(tmp_path, suffix):
    colors = []
    for name, camera in (("above", ABOVE), ("below", BELOW)):
        path, sim = tmp_path / f"{name}.{suffix}", resting_sheet()
        with pl.Recorder(sim, tmp_path, [path.name], color="none", camera=camera, size=SIZE) as recorder:
            sim.step()
            recorder.frame()
        with Image.open(path) as image:
            colors.append(mean_color(np.asarray(image.convert("RGB")).astype(float)))
    # the light is brighter above, which changes all channels alike: shares of the channels are those of the colours
    above, below = (color / color.sum() for color in colors)
    assert np.abs(above - below).max() > APART / 255, (above, below)


def test_a_volume_has_one_colour():
    scene = pl.Scene(gravity=(0, 0, 0))
    scene.add_soft(pl.meshes.box((1, 1, 1), 2), pl.Material.linear(young=1e6, poisson=0.3, density=500))
    view = SceneView(scene.simulate(dt=0.01, threads=1), "none")
    assert [surface.back for surface in view._soft_surfaces(view.shot())] == [None]
