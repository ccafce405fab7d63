"""Readers of a simulation: deformation, strains, stresses, energies, reactions of pins."""

import numpy as np
import pytest

import pliant as pl
from pliant.readers.strain import node_average
from pliant.rotations import rotation_matrix

G = 9.81
SIX = ([0, 1, 2, 1, 0, 0], [0, 1, 2, 2, 2, 1])
SHEAR = np.array([1, 1, 1, 2, 2, 2])
EXACT = pl.Newton(tolerance=1e-9)
SOLVERS = {"newton": EXACT, "eliminated": pl.Dual(eliminate=True)}


def rubber(**options):
    return pl.Material.corotated(young=2e5, poisson=0.3, density=1000, **options)


def stretched(gradient, material, rotation=(1, 0, 0, 0)):
    """A block that was placed with a rotation and then deformed by x -> gradient x; no gravity."""
    scene = pl.Scene(gravity=(0, 0, 0))
    block = scene.add_soft(pl.meshes.box((0.2, 0.1, 0.1), 2), material, rotation=rotation)
    sim = scene.simulate(dt=0.01)
    sim.set_positions(block, block.nodes.positions @ np.array(gradient).T)
    return sim, block


def six(tensor):
    return np.asarray(tensor)[SIX] * SHEAR


def test_deformation_and_strains_of_a_homogeneous_stretch():
    # x = A Q X: F = A Q; Green (F^T F - I)/2; small sym(A) - I; rotated sqrt(F^T F) - I
    a = np.array([[1.2, 0.1, 0.0], [0.05, 0.9, 0.2], [0.0, -0.1, 1.1]])
    turn = np.array([0.9, 0.3, -0.2, 0.1]) / np.linalg.norm([0.9, 0.3, -0.2, 0.1])
    sim, block = stretched(a, rubber(), turn)
    f = a @ rotation_matrix(turn)
    values, vectors = np.linalg.eigh(f.T @ f)
    right = (vectors * np.sqrt(values)) @ vectors.T
    assert sim.deformation_gradient(block) == pytest.approx(np.tile(f, (len(block.mesh.tets), 1, 1)), abs=1e-12)
    expected = {
        "green": six(0.5 * (f.T @ f - np.eye(3))),
        "small": six(0.5 * (a + a.T) - np.eye(3)),
        "rotated": six(right - np.eye(3)),
    }
    for measure, value in expected.items():
        for at in ("elements", "nodes"):
            got = sim.strain(block, at=at, measure=measure)
            assert got.shape == (len(block.mesh.tets if at == "elements" else block.nodes), 6)
            assert got == pytest.approx(np.tile(value, (len(got), 1)), abs=1e-9), (measure, at)
    np.testing.assert_array_equal(sim.strain(block), sim.strain(block, at="elements", measure="rotated"))


def test_stress_and_von_mises_of_uniaxial_tension():
    # sigma_xx = E e with lateral strain -nu e; von Mises is |sigma_xx|
    e, material = 1e-3, pl.Material.linear(young=2e5, poisson=0.3, density=1000)
    sim, block = stretched(np.diag([1 + e, 1 - 0.3 * e, 1 - 0.3 * e]), material)
    for at, count in (("elements", len(block.mesh.tets)), ("nodes", len(block.nodes))):
        assert sim.stress(block, at=at) == pytest.approx(np.tile([200.0, 0, 0, 0, 0, 0], (count, 1)), abs=1e-8)
        assert sim.von_mises(block, at=at) == pytest.approx(np.full(count, 200.0), rel=1e-10)


def test_node_averages_are_weighted_by_volume():
    mesh = pl.meshes.sphere(1.0, 2)
    values = np.random.default_rng(1).standard_normal((len(mesh.tets), 2))
    average = node_average(mesh, values)
    for node in (0, 17, len(mesh.points) - 1):
        around = (mesh.tets == node).any(axis=1)
        assert average[node] == pytest.approx(np.average(values[around], axis=0, weights=mesh.volumes[around]))
    assert node_average(mesh, values[:, 0]) == pytest.approx(average[:, 0])


def test_readers_name_what_is_allowed():
    sim, block = stretched(np.eye(3), rubber())
    with pytest.raises(pl.SceneError, match="at must be one of 'elements', 'nodes', got 'corners'"):
        sim.stress(block, at="corners")
    with pytest.raises(pl.SceneError, match="measure must be one of 'rotated', 'green', 'small', got 'log'"):
        sim.strain(block, measure="log")
    with pytest.raises(pl.SceneError, match="not of a soft body of this simulation"):
        sim.reaction(stretched(np.eye(3), rubber())[1].pin("all"))
    with pytest.raises(pl.SceneError, match="was added after the simulation was made"):
        sim.reaction(block.pin("all"))


def test_energy_of_compliant_joints():
    # a weight m on a spring hangs C = m g c below, with 1/2 C^2 / c; two springs of a distance joint and a ball
    scene = pl.Scene()
    bodies = [scene.add_rigid(pl.Sphere(0.1), mass=2, position=(x, 0, 0)) for x in (0, 1)]
    scene.join(pl.Ball(bodies[0], pl.world, at=(0, 0, 0), compliance=1e-3, damping=60))
    scene.join(pl.Distance(bodies[1], pl.world, at=((1, 0, 0), (1, 0, 1)), compliance=2e-3, damping=40))
    sim = scene.simulate(dt=0.01, solver=EXACT)
    assert sim.energy().joints == 0
    sim.step(500)
    energy = sim.energy()
    assert energy.joints == pytest.approx(0.5 * (2 * G) ** 2 * (1e-3 + 2e-3), rel=1e-6)
    assert energy.gravitational == pytest.approx(-((2 * G) ** 2) * 3e-3, rel=1e-6)
    assert energy.total == energy.kinetic + energy.elastic + energy.gravitational + energy.joints


def test_energy_of_a_bent_weld():
    # the weld's torsion spring: 1/2 theta^2 / c [rad/(N m)]
    scene = pl.Scene(gravity=(0, 0, 0))
    body = scene.add_rigid(pl.Sphere(0.1), mass=2)
    scene.join(pl.Fixed(body, pl.world, at=(0, 0, 0), compliance=1e-3))
    sim = scene.simulate(dt=0.01)
    sim.set_pose(body, (0, 0, 0), (np.cos(0.1), 0, np.sin(0.1), 0))
    assert sim.energy().joints == pytest.approx(0.5 * 0.2**2 / 1e-3)


def cantilever(**options):
    """A cantilever of 6 kg, and its pin."""
    scene = pl.Scene()
    beam = scene.add_soft(pl.meshes.box((0.6, 0.1, 0.1), (12, 2, 2)), rubber(**options))
    return scene, beam, beam.pin(beam.nodes.x < 1e-9)


@pytest.mark.parametrize("solver", SOLVERS.values(), ids=SOLVERS.keys())
def test_reaction_at_rest_is_the_weight_and_the_loads(solver):
    scene, beam, pin = cantilever(damping=0.05, mass_damping=2.0)
    beam.traction(beam.faces.centres[:, 0] > 0.6 - 1e-6, (100.0, 200.0, 300.0))  # on 0.01 m2
    tip = scene.add_rigid(pl.Sphere(0.01), mass=0.5, position=(0.6, 0.05, 0))
    scene.join(pl.Ball(tip, beam, at=(0.6, 0.05, 0), compliance=1e-4, damping=20))
    sim = scene.simulate(dt=0.05, solver=solver).step(400)
    assert sim.reaction(pin) == pytest.approx([-1, -2, 6.5 * G - 3], rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("solver", SOLVERS.values(), ids=SOLVERS.keys())
def test_forces_are_the_rate_of_momentum_during_a_swing(solver):
    # reaction + weight = d(momentum)/dt in every step, with damping in the material, while the beam falls
    scene, _, pin = cantilever(damping=0.02)
    sim = scene.simulate(dt=0.01, solver=solver)
    for _ in range(20):
        before = sim.momentum().linear
        sim.step()
        rate = (sim.momentum().linear - before) / sim.dt
        assert sim.reaction(pin) == pytest.approx(rate + np.array([0, 0, 6 * G]), abs=1e-6)


def test_reactions_of_pins_on_few_axes_and_with_given_motion():
    # a beam on a moving clamp: along x the clamp pulls with m a (all of the beam moves alike: x of every node)
    scene = pl.Scene()
    block = scene.add_soft(pl.meshes.box((0.2, 0.1, 0.1), 2), rubber())
    pull = block.pin("all", axes="x", velocity=lambda t: (3.0 * t, 0, 0))
    hold = block.pin("all", axes="yz")
    sim = scene.simulate(dt=0.01, solver=EXACT).step(10)
    assert sim.reaction(pull) == pytest.approx([2 * 3.0, 0, 0], abs=1e-9)
    assert sim.reaction(hold) == pytest.approx([0, 0, 2 * G], abs=1e-9)


def test_contacts_and_joints_of_pinned_nodes_count():
    scene = pl.Scene()
    block = scene.add_soft(pl.meshes.box((0.2, 0.2, 0.1), (4, 4, 2)), rubber(damping=0.02))  # 4 kg
    top, bottom = block.pin(block.nodes.z > 0.1 - 1e-9, axes="z"), block.pin(block.nodes.z < 1e-9)
    scene.add_rigid(pl.Box((0.3, 0.3, 0.02)), mass=1, position=(0.1, 0.1, 0.11))
    ball = scene.add_rigid(pl.Sphere(0.02), mass=2, position=(0.1, 0.1, -0.3))
    scene.join(pl.Fixed(block, ball, at=(0.1, 0.1, 0), nodes=block.nodes.z < 1e-9, compliance=1e-5, damping=20))
    sim = scene.simulate(dt=0.01, solver=pl.Newton(tolerance=1e-3)).step(300)
    assert sim.contacts.count
    assert sim.reaction(top)[:2] == pytest.approx([0, 0], abs=0)
    # friction still settles
    assert sim.reaction(top) + sim.reaction(bottom) == pytest.approx([0, 0, 7 * G], abs=1e-3)


def test_reactions_survive_a_checkpoint(tmp_path):
    scene, _, pin = cantilever()
    sim = scene.simulate(dt=0.01).step(3)
    sim.checkpoint(tmp_path / "state.npz")
    again = pl.resume(tmp_path / "state.npz")
    np.testing.assert_array_equal(again.reaction(again.scene.soft_bodies[0].pins[0]), sim.reaction(pin))
