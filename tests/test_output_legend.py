"""Cameras that pliant chooses keep the scene clear of the legend."""

import numpy as np
import pytest
from PIL import Image

import pliant as pl
from pliant.output.drawing.camera import Camera
from pliant.output.drawing.draw import draw_legend, legend_size
from pliant.output.drawing.picture import Legend
from pliant.output.scene_view import MARGIN, SceneView, as_camera

WIDE, SQUARE, TALL, THUMBNAIL = (960, 540), (400, 400), (300, 800), (160, 90)


def two_boxes() -> pl.Simulation:
    """A soft box at the left, a rigid one at the right, on the ground."""
    scene = pl.Scene()
    scene.add_rigid(pl.Plane(), static=True, friction=0.5)
    rubber = pl.Material.corotated(young=1e5, poisson=0.4, density=1000, damping=0.01)
    scene.add_soft(pl.meshes.box((0.4, 0.4, 0.4), cells=2), rubber, position=(-0.8, -0.2, 0.05))
    scene.add_rigid(pl.Box((0.4, 0.4, 0.4)), density=500, position=(0.9, 0, 0.25))
    return scene.simulate(dt=1 / 60, threads=1)


def pixels(view: SceneView, shots, camera: Camera, size) -> np.ndarray:
    """Where the corners of what the camera is to see lie in a picture (k, 2) [pixels], from its upper left corner."""
    boxes = np.array([view.bounds(shot) for shot in shots])
    low, high = boxes[:, 0].min(axis=0), boxes[:, 1].max(axis=0)
    corners = np.array(np.meshgrid(*np.stack([low, high], axis=1))).reshape(3, -1).T
    across, upward, depth = camera.axes @ (corners - np.array(camera.eye)).T
    assert depth.min() > 0
    focal = camera.focal_length(size[1])
    return np.stack([size[0] / 2 + focal * across / depth, size[1] / 2 - focal * upward / depth], axis=1)


@pytest.mark.parametrize("size", [WIDE, SQUARE, TALL, THUMBNAIL])
def test_the_scene_lies_beside_the_legend_or_below_it(size):
    view = SceneView(two_boxes(), "stress")
    view.sim.step(6)
    shots = [view.shot()]
    limits = view.limits(shots)
    seen = pixels(view, shots, view.camera(shots, size=size), size)
    wide, high = legend_size(view._legend(limits), limits, size[1])
    clear = size[0] - wide - seen[:, 0].max() if size != TALL else seen[:, 1].min() - high
    assert clear > -1e-6 * size[0]
    left, right, bottom = seen[:, 0].min(), size[0] - seen[:, 0].max(), size[1] - seen[:, 1].max()
    assert min(left, right) > 0.5 * MARGIN * size[0] * (1 - 1e-6) and bottom > 0.5 * MARGIN * size[1]
    # as near as that allows: it fills the width from the margin to the legend, or to the other margin
    assert left == pytest.approx(0.5 * MARGIN * size[0], rel=1e-6)
    assert (right if size == TALL else clear + 0.5 * MARGIN * size[0]) == pytest.approx(left, rel=1e-6)


def test_a_legend_takes_the_corner_that_is_kept_free():
    image = np.zeros((540, 960, 3), np.uint8)
    legend, limits = Legend("von Mises stress [Pa]", 0, 2e6), (0.0, 2e6)
    rows, columns = np.nonzero(draw_legend(image, legend, limits).any(axis=2))
    wide, high = legend_size(legend, limits, 540)
    margin = 959 - columns.max()
    assert margin == pytest.approx(rows.min(), abs=1) and margin > 10
    assert columns.min() - margin == pytest.approx(960 - wide, abs=2)
    assert rows.max() + margin == pytest.approx(high, abs=2)


@pytest.mark.parametrize(
    "given", [{"eye": (3, -4, 2)}, {"target": (0, 0, 0.2)}, {"eye": (3, -4, 2), "target": (0, 0, 0)}]
)
def test_cameras_that_are_given_keep_no_room(given):
    plain, colored = (SceneView(two_boxes(), color) for color in ("none", "stress"))
    cameras = [as_camera(view, [view.shot()], given, WIDE) for view in (plain, colored)]
    assert cameras[0] == cameras[1]


def test_pictures_without_a_legend_are_filled():
    view = SceneView(two_boxes(), "none")
    shots = [view.shot()]
    seen = pixels(view, shots, view.camera(shots), WIDE)
    assert seen[:, 0].min() == pytest.approx(960 - seen[:, 0].max()) == pytest.approx(0.5 * MARGIN * 960)


def test_a_film_has_one_camera_beside_the_legend_of_all_frames(tmp_path):
    sim = two_boxes()
    with pl.Recorder(sim, tmp_path, ["film.gif"], 15, color="stress", size=(320, 180)) as recorder:
        for _ in sim.run(0.2):
            recorder.frame()
    view, shots = recorder.view, recorder.shots
    camera, limits = as_camera(view, shots, None, (320, 180)), view.limits(shots)
    seen = pixels(view, shots, camera, (320, 180))
    assert len(shots) > 2
    assert seen[:, 0].max() == pytest.approx(320 - legend_size(view._legend(limits), limits, 180)[0])
    with Image.open(tmp_path / "film.gif") as film:
        film.seek(len(shots) - 1)
        last = np.asarray(film.convert("RGB")).astype(int)
    drawn = view.draw(shots[-1], camera, limits, (320, 180)).astype(int)
    assert np.abs(last - drawn).mean() < 4  # of 255; a GIF has 256 colours
