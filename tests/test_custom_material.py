"""Energies that users write: the same answers as built-in laws, shared compiled code, joints, contacts, refusals."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import pliant as pl
from pliant.scene_file.files import save

LAM, MU = 6e4, 4e4  # [Pa]
YOUNG, POISSON = MU * (3 * LAM + 2 * MU) / (LAM + MU), LAM / (2 * (LAM + MU))
BLOCK = pl.meshes.box((0.2, 0.1, 0.1), cells=2)
TIGHT = pl.Newton(tolerance=1e-9)


def neohookean(I1, J, lam, mu):
    """The built-in law: mu/2 (I1 - 3) - mu ln J + lam/2 ln^2 J."""
    return mu / 2 * (I1 - 3) - mu * np.log(J) + lam / 2 * np.log(J) ** 2


def mooney_rivlin(I1, I2, J, c1, c2, bulk):
    """c1 (I1 J^-2/3 - 3) + c2 (I2 J^-4/3 - 3) + bulk/2 (J - 1)^2; shear modulus 2 (c1 + c2)."""
    return c1 * (I1 * J ** (-2 / 3) - 3) + c2 * (I2 * J ** (-4 / 3) - 3) + bulk / 2 * (J - 1) ** 2


OURS = pl.Material.custom(neohookean, 1000, {"lam": LAM, "mu": MU})
BUILT_IN = pl.Material.neohookean(YOUNG, POISSON, 1000)


def rubber(stiffness: float) -> pl.Material:
    return pl.Material.custom(
        mooney_rivlin, 1000, {"c1": 0.4 * stiffness, "c2": 0.1 * stiffness, "bulk": 10 * stiffness}
    )


def beam(material: pl.Material):
    """A beam held at one end, under gravity."""
    scene = pl.Scene()
    body = scene.add_soft(BLOCK, material)
    body.pin(body.nodes.x < 0.001)
    return scene, body


def busy(material: pl.Material):
    """A block that falls on the floor, rubs along it, and drags a rigid ball welded to its top."""
    scene = pl.Scene()
    scene.add_rigid(pl.Plane(), static=True, friction=0.4)
    body = scene.add_soft(BLOCK, material, position=(0, 0, 0.005), velocity=(0.5, 0, -1))
    ball = scene.add_rigid(pl.Sphere(0.03), density=500, position=(0.1, 0.05, 0.14), velocity=(0.5, 0, -1))
    scene.join(pl.Fixed(body, ball, at=(0.1, 0.05, 0.105)))
    return scene, body


def trajectory(made, steps: int, dt: float = 1 / 60, solver=TIGHT):
    """Positions (steps, n, 3), and the simulation."""
    scene, body = made
    sim = scene.simulate(dt=dt, solver=solver, threads=1)
    path = []
    for _ in range(steps):
        sim.step()
        assert sim.info.converged
        path.append(sim.positions(body).copy())
    return np.array(path), sim


def test_moduli_at_rest_follow_from_the_energy():
    """lam and mu are second derivatives at rest: exact to rounding."""
    assert pytest.approx((LAM, MU), rel=1e-12) == OURS.lame
    stiff = rubber(1e5)  # mu = 2 (c1 + c2), bulk = lam + 2/3 mu
    assert pytest.approx((1e6 - 2 / 3 * 1e5, 1e5), rel=1e-9) == stiff.lame


def test_neohookean_by_hand_moves_as_the_built_in_one():
    """The same potential, minimised to 1e-9 of each step's motion: positions agree to 1e-8 of the length."""
    ours, sim = trajectory(beam(OURS), 20)
    theirs, reference = trajectory(beam(BUILT_IN), 20)
    assert np.ptp(theirs[:, :, 2]) > 0.1  # it moves
    assert np.abs(ours - theirs).max() <= 1e-8 * 0.2
    a, b = sim.energy(), reference.energy()
    assert (a.elastic, a.kinetic) == pytest.approx((b.elastic, b.kinetic), rel=1e-6)  # quadratic in the differences
    stresses = [each.stress(each.scene.soft_bodies[0]) for each in (sim, reference)]
    assert np.abs(stresses[0] - stresses[1]).max() <= 1e-6 * np.abs(stresses[1]).max()


def test_custom_law_with_joint_and_contact():
    """A rigid ball welded to a block that hits the floor: as with the built-in law. Contacts make kinks in the
    potential, at which a solution to 1e-9 may differ by 1e-9 of the motion (0.05 m) in every step."""
    ours, sim = trajectory(busy(OURS), 12)
    theirs, reference = trajectory(busy(BUILT_IN), 12)
    assert sim.contacts.count > 0 and sim.contacts.count == reference.contacts.count
    assert np.abs(ours - theirs).max() <= 1e-7 * 0.2
    joint, other = sim.scene.joints[0], reference.scene.joints[0]
    force = reference.reaction(other)
    assert np.abs(sim.reaction(joint) - force).max() <= 1e-4 * np.linalg.norm(force)


def test_one_function_with_other_parameters_shares_its_code():
    """Two beams of one formula, one five times as stiff: one compiled kernel, deflections about five to one."""
    soft, stiff = rubber(2e5), rubber(1e6)
    assert soft.energy.key == stiff.energy.key and soft.energy.values != stiff.energy.values
    scene = pl.Scene()
    bodies = [scene.add_soft(BLOCK, material, position=(0, 0.5 * k, 0)) for k, material in enumerate((soft, stiff))]
    for body in bodies:
        body.pin(body.nodes.x < 0.001)
    sim = scene.simulate(dt=0.1, threads=1)  # steps longer than the slowest vibration: soon at rest
    laws = [own.own_law for own in sim.model.elements.sets]
    assert len(laws) == 2 and laws[0].evaluate is laws[1].evaluate and type(laws[0].law) is type(laws[1].law)
    sim.step(60)
    assert sim.info.converged
    moved = [sim.positions(body) - body.nodes.positions for body in bodies]
    drops = [-field[:, 2].min() for field in moved]
    # small deflections are as 1 to 1/5; those here are below 5 % of the length, so nonlinear parts below (5 %)^2
    assert 0 < drops[0] < 0.05 * 0.2
    assert drops[0] / drops[1] == pytest.approx(5, rel=0.01)
    # alone, the stiff one gives the same answer: to 1e-3, for Newton's tolerance of 1e-2 leaves about its square
    alone_scene, alone = beam(stiff)
    single = alone_scene.simulate(dt=0.1, threads=1).step(60)
    assert np.abs(single.positions(alone) - alone.nodes.positions - moved[1]).max() < 1e-3 * drops[1]


def test_mooney_rivlin_beam_swings_and_is_read():
    """A soft beam falls and swings: the lowest point is real bending, the energy is lost to implicit Euler only."""
    scene, body = beam(rubber(1e4))
    sim = scene.simulate(dt=1 / 120, threads=1)
    energies = [sim.energy().total]
    for _ in range(60):
        sim.step()
        energies.append(sim.energy().total)
    scale = sim.energy().elastic
    assert scale > 0 and np.all(np.diff(energies) <= 1e-3 * scale)  # what Newton's tolerance of 1e-2, squared, may add
    stress = sim.stress(body)
    assert stress.shape == (len(body.mesh.tets), 6) and np.all(np.isfinite(stress)) and np.abs(stress).max() > 100
    assert sim.positions(body)[:, 2].min() < -0.01


@pytest.mark.parametrize(
    "energy, parameters, message",
    [
        (lambda I1, mu: mu * np.log(I1 - 3), {"mu": 1.0}, "not finite at rest"),
        (lambda s1, s2, s3: (s1 - 1) ** 2 + 2 * (s2 - 1) ** 2 + (s3 - 1) ** 2, {}, "not symmetric"),
        (lambda I1, mu: mu * (I1 - 3), {"mu": 1.0}, "stress at rest"),
        (lambda J, k: k * (J - 1) ** 2, {"k": 1.0}, "no stable isotropic solid"),
        (lambda s1, s2: s1 * s2, {}, "an energy takes the stretches"),
        (lambda I1, mu: mu * I1, {}, "'mu' is not among its parameters"),
        (lambda I1, mu: mu * I1, {"mu": 1.0, "nu": 2.0}, "no parameter 'nu'"),
        (lambda I1, mu: mu * I1, {"mu": float("nan")}, "mu"),
        (lambda I1: 3.0, {}, "must return a formula"),
        (lambda I1: undefined(I1), {}, "cannot be traced"),  # noqa: F821
        (7, {}, "no function with named arguments"),
    ],
)
def test_unusable_energies_are_refused(energy, parameters, message):
    with pytest.raises(pl.SceneError, match=message):
        pl.Material.custom(energy, 1000, parameters)


def test_custom_material_checks_its_other_numbers():
    with pytest.raises(pl.SceneError, match="density"):
        pl.Material.custom(neohookean, -1, {"lam": LAM, "mu": MU})
    with pytest.raises(pl.SceneError, match="mass_damping"):
        pl.Material.custom(neohookean, 1000, {"lam": LAM, "mu": MU}, mass_damping=-1)
    with pytest.raises(pl.SceneError, match="custom"):
        pl.Material("custom", YOUNG, POISSON, 1000)


def test_dual_solver_refuses_a_custom_law():
    with pytest.raises(pl.SceneError, match=r"body .* is custom; use pliant.Newton"):
        beam(OURS)[0].simulate(dt=0.01, solver=pl.Dual())


def test_custom_law_cannot_be_saved_as_text(tmp_path):
    """A file cannot hold a Python function; the message names the body."""
    scene, body = beam(OURS)
    with pytest.raises(pl.SceneError, match=f"{body.name}.*Python functions cannot be saved to a file"):
        save(scene, tmp_path / "scene.toml")
    assert not (tmp_path / "scene.toml").exists()


SECOND_PROCESS = """
import sys
sys.path.insert(0, {tests!r})
from test_custom_material import OURS, beam
sim = beam(OURS)[0].simulate(dt=1 / 60, threads=1).step(1)
sim.stress(sim.scene.soft_bodies[0])
law = sim.model.elements.sets[0].own_law
for kernel in (law.evaluate, law.moduli, law.stresses):
    assert sum(kernel.stats.cache_hits.values()) == 1 and not kernel.stats.cache_misses, kernel.stats
print("found")
"""


def test_second_process_finds_the_compiled_law():
    """The compiled code of a user's law lies on disk under a hash of its formula: another process compiles nothing."""
    sim = beam(OURS)[0].simulate(dt=1 / 60, threads=1).step(1)
    sim.stress(sim.scene.soft_bodies[0])
    tests = Path(__file__).parent
    path = os.pathsep.join([str(Path(pl.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-c", SECOND_PROCESS.format(tests=str(tests))]
    result = subprocess.run(
        command, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, timeout=120, check=False
    )
    assert result.stdout.strip() == "found", result.stderr
