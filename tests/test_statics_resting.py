"""What comes to rest on other things: nothing passes through on the way, and what begins at rest stays."""

import numpy as np
import pytest

import pliant as pl


def _hammock(gap: float):
    """A soft cube above a sheet held along two edges, above a ground."""
    scene = pl.Scene()
    scene.add_rigid(pl.Plane(), static=True)
    cotton = pl.Material.stvk(2e6, 0.3, 400)
    sheet = scene.add_cloth(pl.meshes.grid((1, 1), (12, 12)), cotton, thickness=1e-3, position=(-0.5, -0.5, 0.5))
    sheet.pin("x < -0.499")
    sheet.pin("x > 0.499")
    rubber = pl.Material.corotated(1e5, 0.4, 600)
    return scene, scene.add_soft(pl.meshes.box((0.2, 0.2, 0.2), 3), rubber, position=(-0.1, -0.1, 0.5 + gap))


@pytest.mark.parametrize("gap", [0.05, 0.2])
@pytest.mark.parametrize("solver", [None, pl.Mixed(tolerance=1e-6)], ids=["newton", "mixed"])
def test_what_lies_on_a_sheet_does_not_fall_through_it_on_the_way(gap, solver):
    # The balance does not depend on how far above the sheet the cube begins, but for where friction holds it.
    scene, cube = _hammock(0.005)
    near = scene.equilibrium(solver=solver).positions(cube)[:, 2].min()
    scene, cube = _hammock(gap)
    rest = scene.equilibrium(solver=solver)
    assert rest.info.converged
    assert rest.positions(cube)[:, 2].min() == pytest.approx(near, abs=1e-4)
    assert 0.33 < near < 0.36  # the sheet sags by some 15 cm, half a metre above the ground


@pytest.mark.parametrize("gap", [0.0, 0.005, 0.2])
@pytest.mark.parametrize("ground", [pl.Plane(), pl.Box((1, 1, 0.02))], ids=["plane", "box"])
@pytest.mark.parametrize("shape", [pl.Sphere(0.1), pl.Cylinder(0.1, 0.2), pl.Box((0.2, 0.2, 0.2))])
def test_rigid_bodies_rest_on_what_is_flat_wherever_they_begin(shape, ground, gap):
    scene = pl.Scene()
    ground = scene.add_rigid(ground, static=True, position=(0, 0, 0 if isinstance(ground, pl.Plane) else -0.01))
    body = scene.add_rigid(shape, mass=3.0, position=(0, 0, 0.1 + gap))
    rest = scene.equilibrium()
    place = rest.pose(body)[0]
    assert np.abs(place - (0, 0, 0.1)).max() < 1e-7
    # the ground carries its weight
    assert rest.contact_force(body, ground)[2] == pytest.approx(3.0 * 9.81, rel=1e-6)
