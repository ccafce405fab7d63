"""Position-based dynamics: convergence to implicit Euler, chains, contacts, substeps, plain PBD."""

from itertools import pairwise

import numpy as np
import pytest

import pliant as pl

CUBE = pl.meshes.box((0.2, 0.2, 0.2), cells=2)


def hanging_block(solver, steps=20):
    scene = pl.Scene()
    body = scene.add_soft(CUBE, pl.Material.corotated(young=2e4, poisson=0.3, density=1000, damping=0.002))
    body.pin(body.nodes.x < 1e-9)
    return scene.simulate(0.01, solver=solver).step(steps).positions(body)


def test_converges_to_implicit_euler_as_the_sweeps_grow():
    """More sweeps come nearer to Newton's converged step, and in the end within 1e-5 of the size."""
    goal = hanging_block(pl.Newton(tolerance=1e-7))
    errors = [np.abs(hanging_block(pl.Xpbd(iterations=n)) - goal).max() for n in (5, 20, 80, 320)]
    print(errors)
    assert all(b < 0.7 * a for a, b in pairwise(errors))
    assert errors[-1] <= 1e-4 * 0.2


def chain(solver, steps, h=0.01):
    scene = pl.Scene()
    links, anchor = [], pl.world
    for k in range(5):
        link = scene.add_rigid(
            pl.Capsule(0.01, 0.08), mass=0.1, position=(0.05 + 0.1 * k, 0, 0), rotation=(1, 0, 1, 0), collide=False
        )
        joint = scene.join(pl.Ball(link, anchor, at=(0.1 * k, 0, 0)))
        links.append((link, joint))
        anchor = link
    return scene.simulate(h, solver=solver).step(steps), links


def test_a_hanging_chain_agrees_with_the_dual_solver():
    """Joints hold, and with many sweeps the swing is that of the dual solver."""
    dual, links = chain(pl.Dual(tolerance=1e-10), 30)
    goal = np.array([dual.pose(link)[0] for link, _ in links])
    errors = []
    for n in (10, 40, 160):
        sim, links = chain(pl.Xpbd(iterations=n), 30)
        errors.append(np.abs(np.array([sim.pose(link)[0] for link, _ in links]) - goal).max())
    print(errors)
    assert errors[2] <= 0.01 and errors[2] < errors[0]
    ends = np.array([sim.pose(link)[0] for link, _ in links])
    assert np.linalg.norm(np.diff(ends, axis=0), axis=1) <= pytest.approx(np.full(4, 0.1), abs=2e-3)


@pytest.mark.parametrize("substeps", [1, 4])
def test_a_soft_block_comes_to_rest_on_a_plane(substeps):
    """At rest the plane carries the weight, and the reader of forces knows of substeps."""
    scene = pl.Scene()
    scene.add_rigid(pl.Plane(), static=True, friction=0.5)
    material = pl.Material.corotated(young=5e4, poisson=0.3, density=1000, damping=0.01)
    body = scene.add_soft(CUBE, material, position=(0, 0, 0.02))
    sim = scene.simulate(0.01, solver=pl.Xpbd(iterations=20, substeps=substeps)).step(150)
    assert sim.time == pytest.approx(1.5) and sim.state.step == 150
    assert np.abs(sim.velocities(body)).max() < 1e-2
    surface = np.unique(CUBE.boundary_faces)
    assert sim.positions(body)[surface, 2].min() > -1e-4
    assert sim.contacts.impulses[:, 0].sum() / 0.01 == pytest.approx(8 * 9.81, rel=0.02)


def test_linear_momentum_is_kept_by_any_number_of_sweeps():
    """Impulses come in pairs: 1e-10 over 100 steps of three sweeps."""
    scene = pl.Scene(gravity=(0, 0, 0))
    body = scene.add_soft(CUBE, pl.Material.corotated(1e5, 0.3, 1000))
    sim = scene.simulate(0.01, solver=pl.Xpbd(iterations=3))
    x = body.nodes.positions
    sim.set_velocities(body, np.array([1, 2, 3]) + np.cross((5, 3, 1), x - x.mean(axis=0)))
    before = sim.momentum().linear
    sim.step(100)
    assert np.abs(sim.momentum().linear - before).max() <= 1e-10 * np.linalg.norm(before)


def test_without_compliance_the_sweeps_are_the_stiffness():
    """PBD: the sag does not depend on the modulus, and shrinks with the sweeps; XPBD's does depend on it."""

    def sag(young, compliance, iterations):
        scene = pl.Scene()
        body = scene.add_soft(CUBE, pl.Material.corotated(young, 0.3, 1000))
        body.pin(body.nodes.x < 1e-9)
        sim = scene.simulate(0.01, solver=pl.Xpbd(iterations, compliance=compliance)).step(30)
        return np.abs(sim.positions(body) - body.nodes.positions).max()

    soft, stiff = sag(1e4, "none", 5), sag(1e6, "none", 5)
    assert soft == pytest.approx(stiff, rel=1e-3)
    assert sag(1e4, "none", 40) < 0.5 * soft
    assert sag(1e4, "material", 40) > 3 * sag(1e6, "material", 40)


def test_what_it_cannot_do_is_refused():
    scene = pl.Scene()
    scene.add_soft(CUBE, pl.Material.neohookean(1e5, 0.3, 1000), name="jelly")
    with pytest.raises(pl.SceneError, match="Xpbd knows the laws linear, corotated, springs, but soft body 'jelly'"):
        scene.simulate(0.01, solver=pl.Xpbd())
    for options in ({"iterations": 0}, {"substeps": 0}, {"compliance": "some"}):
        with pytest.raises(pl.SceneError, match=f"Xpbd {next(iter(options))}"):
            pl.Xpbd(**options)
