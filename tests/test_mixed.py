"""The mixed solver: the answer of Newton's method by another way, for stiff and soft, with joints and contacts."""

import numpy as np
import pytest

import pliant as pl
from pliant.elements.mixed import MixedPotential

LAWS = ("corotated", "neohookean", "arap", "stable_neohookean", "fixed_corotated", "stvk")


def beam(law, young, quadratic=False, **options):
    scene = pl.Scene()
    mesh = pl.meshes.box((1.0, 0.2, 0.2), cells=(8, 2, 2) if not quadratic else (4, 1, 1))
    material = getattr(pl.Material, law)(young=young, poisson=0.4, density=1000, **options)
    body = scene.add_soft(mesh.quadratic() if quadratic else mesh, material)
    body.pin(body.nodes.x < 1e-6)
    return scene, body


def ends(scene, body, solver, steps, dt=1 / 60):
    sim = scene.simulate(dt=dt, solver=solver)
    for _ in range(steps):
        sim.step()
        assert sim.info.converged
    return sim.positions(body).copy()


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("young", [1e4, 1e6, 1e9])
def test_converges_to_newtons_answer(law, young):
    scene, body = beam(law, young)
    found = ends(scene, body, pl.Mixed(tolerance=1e-6), 8)
    expected = ends(scene, body, pl.Newton(tolerance=1e-6), 8)
    assert np.abs(found - expected).max() < 1e-6 * np.abs(expected - body.nodes.positions).max() + 1e-12


def test_ten_node_tets_and_damping():
    for quadratic, options in ((True, {}), (False, {"damping": 0.02})):
        scene, body = beam("neohookean", 1e5, quadratic, **options)
        found = ends(scene, body, pl.Mixed(tolerance=1e-7), 6)
        expected = ends(scene, body, pl.Newton(tolerance=1e-7), 6)
        assert np.abs(found - expected).max() < 1e-6


@pytest.mark.parametrize("quadratic", [False, True])
def test_the_quadratic_has_the_derivatives_it_says(quadratic):
    scene, _ = beam("stable_neohookean", 1e5, quadratic)
    sim = scene.simulate(dt=1 / 60)
    model, random = sim.model, np.random.default_rng(3)
    potential = MixedPotential(model.elements, model.node_count)
    x = sim.state.x + 0.01 * random.normal(size=sim.state.x.shape)
    potential.take(None, sim.state.x + 0.01 * random.normal(size=x.shape))
    potential.expand()
    potential.turn(x + 0.01 * random.normal(size=x.shape), None, False)
    value, _, force = potential.evaluate(x)
    force = force.copy()
    direction, small = random.normal(size=x.shape), 1e-5
    more, _, after = potential.evaluate(x + small * direction)
    after = after.copy()
    less, _, before = potential.evaluate(x - small * direction)
    assert (more - less) / (2 * small) == pytest.approx(np.vdot(force, direction), rel=1e-7)
    # it is quadratic: the third derivative is nothing, and forces are linear
    assert more + less - 2 * value == pytest.approx(
        small**2 * np.vdot(direction, (after - before) / (2 * small)), rel=1e-4
    )
    own = model.elements.sets[0]
    terms = potential.terms(1.0)
    blocks = np.zeros((own.groups * 16 * own.kind.pairs, 9))
    potential.blocks(terms, blocks)
    stiff = np.zeros_like(x)
    pairs = [(i, j) for i in range(own.kind.nodes) for j in range(i + 1)]
    per_element = blocks.reshape(-1, own.kind.pairs, 3, 3)[own.lanes]
    for nodes, k in zip(own.connectivity, per_element):
        for (i, j), block in zip(pairs, k):
            stiff[nodes[i]] += block @ direction[nodes[j]]
            if i != j:
                stiff[nodes[j]] += block.T @ direction[nodes[i]]
    np.testing.assert_allclose(stiff, (after - before) / (2 * small), atol=1e-5 * np.abs(stiff).max())


def test_at_the_stretches_of_the_positions_it_is_the_law():
    scene, _ = beam("neohookean", 1e5)
    sim = scene.simulate(dt=1 / 60, solver=pl.Newton()).step(5)
    potential = MixedPotential(sim.model.elements, sim.model.node_count)
    potential.take(None, sim.state.x)
    potential.expand()
    potential.turn(sim.state.x, None, False)
    value, _, force = potential.evaluate(sim.state.x)
    assert value == pytest.approx(sim.energy().elastic, rel=1e-9)
    _, _, expected = type(potential).__mro__[1](sim.model.elements, sim.model.node_count).evaluate(sim.state.x)
    np.testing.assert_allclose(force, expected, atol=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize("young", [1e6, 1e9])
def test_one_outer_iteration_is_stable_for_stiff_bodies_that_fly_and_land(young):
    scene = pl.Scene()
    scene.add_rigid(pl.Plane(), static=True, friction=0.5)
    material = pl.Material.neohookean(young=young, poisson=0.45, density=1000)
    mesh = pl.meshes.box((0.3, 0.3, 0.3), cells=3)
    body = scene.add_soft(mesh, material, position=(0, 0, 0.4), rotation=(0.9, 0.2, 0.3, 0.1))
    sim = scene.simulate(dt=1 / 60, solver=pl.Mixed(outer=1, inner=5))
    last = sim.energy().total
    for _ in range(60):
        sim.step()
        assert sim.energy().total <= last + 1e-3 * abs(last)
        last = sim.energy().total
        assert sim.info.misfit < 0.05
    assert sim.positions(body)[:, 2].min() > -1e-3
    stretched = np.ptp(sim.positions(body), axis=0).max()
    assert stretched < 0.3 * np.sqrt(3)


def test_a_scene_with_joints_contacts_and_rigid_bodies_goes_as_newtons():
    ends = []
    for solver in (pl.Newton(tolerance=1e-4), pl.Mixed(tolerance=1e-4)):
        scene = pl.Scene()
        scene.add_rigid(pl.Plane(), static=True, friction=0.5)
        soft = scene.add_soft(
            pl.meshes.box((0.3, 0.3, 0.3), cells=3),
            pl.Material.corotated(young=1e5, poisson=0.4, density=1000),
            position=(-0.15, -0.15, 0.05),
        )
        ball = scene.add_rigid(pl.Sphere(0.08), density=2000, position=(0.0, 0.0, 0.5))
        bob = scene.add_rigid(pl.Box((0.1, 0.1, 0.1)), density=500, position=(0.8, 0, 0.6))
        scene.join(pl.Distance(bob, pl.world, at=((0.8, 0, 0.6), (1.1, 0, 0.9))))
        sim = scene.simulate(dt=1 / 120, solver=solver).step(40)
        # where the ball rolls on top of a crease is decided by rounding
        ends.append((sim.positions(soft).copy(), sim.pose(ball)[0][2:].copy(), sim.pose(bob)[0].copy()))
    for found, expected in zip(*ends):
        assert np.abs(found - expected).max() < 2e-4


def test_equilibrium_is_newtons():
    scene, body = beam("neohookean", 1e5)
    found = scene.equilibrium(solver=pl.Mixed(tolerance=1e-8, outer=200))
    expected = scene.equilibrium(solver=pl.Newton(tolerance=1e-8, max_iterations=200))
    assert np.abs(found.positions(body) - expected.positions(body)).max() < 1e-6


def test_the_rule_of_the_paper_comes_near():
    scene, body = beam("corotated", 1e6)
    sim = scene.simulate(dt=1 / 60, solver=pl.Mixed(tolerance=1e-7, rotation="procrustes")).step(8)
    expected = ends(scene, body, pl.Newton(tolerance=1e-7), 8)
    assert np.abs(sim.positions(body) - expected).max() < 1e-3


def test_resuming_is_exact(tmp_path):
    scene, _ = beam("neohookean", 1e5)
    sim = scene.simulate(dt=1 / 60, solver=pl.Mixed(outer=1, inner=2)).step(4)
    sim.checkpoint(tmp_path / "a.npz")
    again = pl.resume(tmp_path / "a.npz")
    np.testing.assert_array_equal(sim.step(4).state.x, again.step(4).state.x)


def test_what_it_cannot_do_is_refused():
    scene, _ = beam("linear", 1e5)
    with pytest.raises(pl.SceneError, match=r"rotations.*linear"):
        scene.simulate(dt=1 / 60, solver=pl.Mixed())
    for wrong in ({"outer": 0}, {"inner": 0}, {"tolerance": -1.0}, {"rotation": "other"}):
        with pytest.raises(pl.SceneError, match="Mixed " + next(iter(wrong))):
            pl.Mixed(**wrong)


def test_stiffness_of_what_hardly_moves_is_kept_and_steps_that_resume_are_exact(tmp_path):
    # a stiff block that has fallen on a plane: its matrix, and with it the last bits of its steps, is that of a step
    # before, also where a run resumes or a step is taken again
    scene = pl.Scene()
    mesh, material = (
        pl.meshes.box((0.4, 0.2, 0.2), cells=(6, 3, 3)),
        pl.Material.corotated(young=1e8, poisson=0.4, density=1e3),
    )
    scene.add_soft(mesh, material, position=(0, 0, 0.01), self_contact=False)
    scene.add_rigid(pl.Plane(), static=True, friction=0.3)
    sim = scene.simulate(dt=1 / 60, solver=pl.Mixed(outer=1, inner=15, linear="pcg"))
    taken, system = [], sim.working_solver.system
    take = system.take
    system.take = lambda terms: (taken.append(sim.state.step), take(terms))
    sim.step(12)
    assert len(taken) < 8 and sim.info.converged
    sim.checkpoint(tmp_path / "a.npz")
    state, again = sim.state, pl.resume(tmp_path / "a.npz")
    for _ in range(4):
        sim.step()
        again.step()
        assert np.array_equal(sim.state.x, again.state.x) and np.array_equal(sim.state.v, again.state.v)
    ends, sim.state = sim.state.x, state
    sim.step(4)
    assert np.array_equal(sim.state.x, ends)


def test_impacts_end_in_balance_with_contacts():
    # T's method, one outer iteration: what comes to rest within one step has converged if contacts balance it
    scene = pl.Scene()
    mesh, material = (
        pl.meshes.box((0.5, 0.3, 0.3), cells=(8, 5, 5)),
        pl.Material.corotated(young=1e9, poisson=0.45, density=1e3),
    )
    scene.add_soft(mesh, material, position=(0, 0, 0.02), self_contact=False)
    scene.add_rigid(pl.Plane(), static=True, friction=0.3)
    sim = scene.simulate(dt=1 / 60, solver=pl.Mixed(outer=1, inner=15, linear="pcg"))
    for _ in range(12):
        sim.step()
        assert sim.info.converged and sim.info.imbalance < 0.1
