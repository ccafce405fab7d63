"""Surfaces that begin exactly on each other, as one stacks bodies: they rest, slide and fall as those a hair apart."""

import numpy as np
import pytest

import pliant as pl

RUBBER = pl.Material.corotated(1e5, 0.3, 1000, damping=0.01)
FABRIC = pl.Material.corotated(1e5, 0.3, 500)
EDGE = 0.1


def cube() -> pl.Mesh:
    box = pl.meshes.box((EDGE,) * 3, cells=1)
    return pl.Mesh(points=box.points, triangles=box.boundary_triangles)


LOWER = {
    "soft": lambda scene: scene.add_soft(pl.meshes.box((EDGE,) * 3, cells=2), RUBBER),
    "mesh": lambda scene: scene.add_rigid(cube(), density=500),
    "static mesh": lambda scene: scene.add_rigid(cube(), static=True),
    "ground": lambda scene: scene.add_rigid(
        pl.Heightfield(np.zeros((5, 5)), (1, 1)), static=True, position=(0, 0, EDGE)
    ),
}
UPPER = {
    "sheet": lambda scene, at: scene.add_cloth(
        pl.meshes.grid((0.2, 0.2), cells=6), FABRIC, thickness=1e-3, position=(at - 0.05, at - 0.05, EDGE)
    ),
    "soft": lambda scene, at: scene.add_soft(pl.meshes.box((EDGE,) * 3, cells=2), RUBBER, position=(at, at, EDGE)),
    "mesh": lambda scene, at: scene.add_rigid(cube(), density=500, position=(at, at, EDGE)),
}


@pytest.mark.parametrize("upper", UPPER)
@pytest.mark.parametrize("lower", LOWER)
@pytest.mark.parametrize("at", [0.0, 0.0137])
def test_what_is_laid_exactly_on_something_rests_there(lower, upper, at):
    scene = pl.Scene()
    scene.add_rigid(pl.Plane(), static=True, position=(0, 0, -0.002))
    LOWER[lower](scene)
    body = UPPER[upper](scene, at)
    sim = scene.simulate(1 / 60)
    height = (lambda: sim.pose(body)[0][2]) if upper == "mesh" else (lambda: sim.positions(body)[:, 2].max())
    first = height()
    assert abs(first - (EDGE + EDGE * (upper == "soft"))) < 1e-8 or upper == "mesh"
    for _ in range(20):
        sim.step()
        assert sim.info.converged and not sim.info.held
    assert abs(height() - first) < 0.1 * EDGE  # contacts act at a distance; neither through what it lies on nor off it


def test_a_stack_that_begins_without_gaps_falls_freely():
    """Twelve steps of implicit Euler fall by g h^2 n (n + 1) / 2, on the mean: boxes that begin nearer than their
    contacts act are pushed apart."""
    scene, step, count = pl.Scene(), 1 / 60, 12
    boxes = [
        scene.add_soft(pl.meshes.box((EDGE,) * 3, cells=2), RUBBER, position=(0.01 * i, 0, i * EDGE)) for i in range(4)
    ]
    sim = scene.simulate(step)
    start = [sim.positions(box)[:, 2].mean() for box in boxes]
    for _ in range(count):
        sim.step()
        assert sim.info.converged and not sim.info.held
    fall = -9.81 * step**2 * count * (count + 1) / 2
    moved = [sim.positions(box)[:, 2].mean() - before for box, before in zip(boxes, start)]
    assert np.mean(moved) == pytest.approx(fall, rel=1e-3)
    assert np.all(np.diff(moved) > 0)


def test_what_is_static_stays_where_it_was_put():
    scene = pl.Scene()
    lower, upper = scene.add_rigid(cube(), static=True), scene.add_rigid(cube(), density=500, position=(0, 0, EDGE))
    apart = scene.add_rigid(cube(), density=500, position=(1, 0, 0))
    sim = scene.simulate(1 / 60)
    np.testing.assert_array_equal(sim.pose(lower)[0], (0, 0, 0))
    np.testing.assert_allclose(sim.pose(apart)[0], (1, 0, 0), atol=1e-15)
    raised = sim.pose(upper)[0] - (0, 0, EDGE)
    assert 1e-12 < raised[2] < 1e-8 and np.abs(raised[:2]).max() < 1e-8
