"""Position-based dynamics: convergence to implicit Euler, chains, contacts, substeps, plain PBD."""

from itertools import pairwise

import numpy as np
import pytest

import pliant as pl

CUBE = pl.meshes.box((0.2, 0.2, 0.2), cells=2)


def hanging_block(solver, steps=20):
    scene = pl.Scene()
    body = scene.add_soft(CUBE, pl.Material.corotated(young=2e5, poisson=0.3, density=1000))
    body.pin(body.nodes.x < 1e-9)
    return scene.simulate(0.01, solver=solver).step(steps).positions(body)


def test_converges_to_implicit_euler_as_the_sweeps_grow():
    """The sweeps' fixed point is Newton's converged step: 1e-8 of the size after 160 sweeps in each of 20 steps."""
    goal = hanging_block(pl.Newton(tolerance=1e-7))
    errors = [np.abs(hanging_block(pl.Xpbd(iterations=n)) - goal).max() for n in (5, 10, 20, 40, 160)]
    assert all(b < 0.7 * a for a, b in pairwise(errors[:4]))
    assert errors[-1] <= 1e-8


def chain(solver, steps, h=0.01, upright=False):
    """Five links of 0.1 m from a hook at the origin, level or hanging; the simulation, links and joints."""
    scene = pl.Scene()
    links, anchor = [], pl.world
    along = np.array([0, 0, -1.0]) if upright else np.array([1.0, 0, 0])
    for k in range(5):
        turn = (1, 0, 0, 0) if upright else (1, 0, 1, 0)
        options = {"mass": 0.1, "position": (0.05 + 0.1 * k) * along, "rotation": turn, "collide": False}
        link = scene.add_rigid(pl.Capsule(0.01, 0.08), **options)
        joint = scene.join(pl.Ball(link, anchor, at=0.1 * k * along))
        links.append((link, joint))
        anchor = link
    return scene.simulate(h, solver=solver).step(steps), links


def test_a_falling_chain_agrees_with_the_dual_solver():
    """Five links let go level. The dual solver has linear joints, the sweeps follow them: both are of first order, and
    come together as the step shrinks, within 1% of the length; the joints stay shut."""
    differences = []
    for h in (0.005, 0.0025, 0.00125):
        ends = []
        for solver in (pl.Dual(tolerance=1e-10), pl.Xpbd(iterations=60)):
            sim, links = chain(solver, round(0.3 / h), h)
            ends.append(np.array([sim.pose(link)[0] for link, _ in links]))
            assert np.all(np.linalg.norm(np.diff(ends[-1], axis=0), axis=1) <= 0.1 + 1e-4)
        differences.append(np.abs(ends[0] - ends[1]).max())
    assert all(b < 0.75 * a for a, b in pairwise(differences))
    assert differences[-1] <= 0.01 * 0.5


def test_a_hanging_chain_carries_its_weight():
    """At rest below its hook: the tension of every joint is the weight of the links below."""
    sim, links = chain(pl.Xpbd(iterations=30), 1, upright=True)
    sim.step(20)
    forces = [np.linalg.norm(sim.reaction(joint)) for _, joint in links]
    assert forces == pytest.approx([0.1 * 9.81 * k for k in (5, 4, 3, 2, 1)], rel=0.01)


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
    with pytest.raises(pl.SceneError, match="Xpbd knows the laws linear, corotated, springs, but body 'jelly'"):
        scene.simulate(0.01, solver=pl.Xpbd())
    for options in ({"iterations": 0}, {"substeps": 0}, {"compliance": "some"}):
        with pytest.raises(pl.SceneError, match=f"Xpbd {next(iter(options))}"):
            pl.Xpbd(**options)


def test_converged_is_what_all_solvers_mean_by_it():
    """A stiff block with few sweeps is far from the equations of the step and says so; with many it is close."""
    said = {}
    for sweeps in (5, 400):
        scene = pl.Scene()
        body = scene.add_soft(CUBE, pl.Material.corotated(young=2e6, poisson=0.3, density=1000))
        body.pin(body.nodes.x < 1e-9)
        sim = scene.simulate(1 / 60, solver=pl.Xpbd(iterations=sweeps)).step(5)
        said[sweeps] = (sim.info.converged, sim.info.imbalance)
    assert not said[5][0] and said[5][1] > 0.5
    assert said[400][0] and said[400][1] < 0.1


def test_a_stack_that_sinks_has_not_converged():
    """Ten boxes: ten sweeps let the top one sink by centimetres, two hundred hold it to a hundredth of a box."""
    for sweeps, holds in ((10, False), (200, True)):
        scene = pl.Scene()
        scene.add_rigid(pl.Plane(), static=True)
        for place in range(10):
            top = scene.add_rigid(pl.Box((0.1, 0.1, 0.1)), density=1000, position=(0, 0, 0.05 + 0.1 * place))
        sim, said = scene.simulate(1 / 60, solver=pl.Xpbd(iterations=sweeps)), []
        for _ in range(10):
            said.append(sim.step().info.converged)
        assert (sim.pose(top)[0][2] > 0.95 - 1e-3) == holds
        assert all(said) if holds else not any(said)
