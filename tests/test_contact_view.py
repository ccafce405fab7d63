"""Forces of contacts in pictures: arrows from the points of contact, in front of everything, to one scale."""

import numpy as np
import pytest
from PIL import Image

import pliant as pl
from pliant import scene_file
from pliant.output.contact_view import (
    CUT,
    LONGEST,
    NEAR,
    ContactForces,
    arrow_surfaces,
    contact_forces,
    reference_force,
)
from pliant.output.scene_view import SceneView
from pliant.scene_file.run import RunSettings

SMALL = (480, 270)


@pytest.fixture
def sim():
    """A box that rests on the ground and a ball beside it in the air."""
    scene = pl.Scene()
    scene.add_rigid(pl.Plane(), static=True)
    scene.add_rigid(pl.Box((0.2, 0.2, 0.2)), mass=2, position=(0, 0, 0.1), name="box")
    scene.add_rigid(pl.Sphere(0.1), mass=1, position=(0.5, 0, 1))
    return scene.simulate(dt=1 / 60, threads=1).step(5)


def purple(image) -> int:
    """How many pixels are as purple as arrows: nothing else of the scene has more blue than green and much red."""
    red, green, blue = np.moveaxis(np.asarray(image, float) / 255, 2, 0)
    return int(((red > 0.5) & (blue > green + 0.1)).sum())


def test_forces_are_those_on_what_moves(sim):
    found = contact_forces(sim)
    np.testing.assert_allclose(found.forces.sum(axis=0), [0, 0, 2 * 9.81], atol=1e-2 * 2 * 9.81)
    assert np.all(found.forces[:, 2] > 0)
    np.testing.assert_allclose(found.points[:, 2], 0, atol=1e-3)


def test_arrows_are_as_long_as_forces_are_large():
    # seen from the eye, an arrow lies on the rays through its points: shrunk towards the eye by NEAR
    eye, start = np.array([3.0, 1.0, 2.0]), np.array([0.1, 0.2, 0.3])
    for force in ((0, 0, 5.0), (0, -10.0, 0), (400.0, 0, 0)):
        found = ContactForces(start[None], np.array([force]))
        (surface,) = arrow_surfaces(found, 10.0, 2.0, 0.004, eye)
        points = eye + (surface.points - eye) / NEAR
        way, strength = np.array(force) / np.linalg.norm(force), np.linalg.norm(force)
        along = (points - start) @ way
        np.testing.assert_allclose([along.min(), along.max()], [0, LONGEST * 2 * min(strength / 10, CUT)], atol=1e-12)
    assert arrow_surfaces(None, 1.0, 1.0, 0.01, eye) == [] == arrow_surfaces(found, 0.0, 1.0, 0.01, eye)


def test_one_scale_for_a_film():
    moments = [ContactForces(np.zeros((1, 3)), np.array([[0.0, 0, size]])) for size in (1.0, 900.0, 2.0)]
    empty = ContactForces(np.zeros((0, 3)), np.zeros((0, 3)))
    assert reference_force([*moments, empty, None]) == 2.0 and reference_force([empty]) == 0.0


def test_pictures_show_them_when_asked(sim, tmp_path):
    sim.save(tmp_path / "plain.png", size=SMALL)
    sim.save(tmp_path / "arrows.png", size=SMALL, contacts=True)
    assert purple(Image.open(tmp_path / "plain.png")) == 0
    assert purple(Image.open(tmp_path / "arrows.png")) > 10
    assert SceneView(sim).shot().contacts is None


def test_films_show_them(sim, tmp_path):
    with pl.Recorder(sim, tmp_path, ["drop.webp", "drop.png"], size=SMALL, contacts=True) as recorder:
        for _ in sim.run(0.1):
            recorder.frame()
    assert purple(Image.open(tmp_path / "drop.png")) > 10
    assert purple(Image.open(tmp_path / "drop.webp").convert("RGB")) > 10


def test_scene_files_say_so(tmp_path):
    scene = pl.Scene()
    scene.add_rigid(pl.Sphere(0.1), mass=1)
    scene_file.save(scene, tmp_path / "s.toml", RunSettings(contacts=True))
    assert scene_file.read(tmp_path / "s.toml").run.contacts
