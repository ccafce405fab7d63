"""The constant matrix of linear elasticity: exact discrete answers, three factors, two masses, joints and contacts."""

import numpy as np
import pytest
from scipy.linalg import eigh

import pliant as pl
from pliant.solve.linear import ElementMatrices

FACTORS = ("cholesky", "lu", "cg")
BAR = pl.meshes.box((0.6, 0.2, 0.2), cells=(3, 1, 1))


def clamped_beam(**options):
    scene = pl.Scene()
    beam = scene.add_soft(BAR, pl.Material.linear(young=1e5, poisson=0.3, density=1000, **options))
    beam.pin(beam.nodes.x < 1e-9, velocity=(0, 0.05, 0))
    return scene, beam


def modes(sim, mass: str):
    """Squares of the frequencies and shapes (3n, modes) of the free components, from the elements' matrices."""
    (own,) = sim.model.elements.sets
    elements = ElementMatrices(own, sim.model)
    blocks = {"stiffness": elements.stiffness, "mass": getattr(elements, mass) * np.eye(3)}
    full = {name: np.zeros((3 * sim.model.node_count,) * 2) for name in blocks}
    for name, values in blocks.items():
        for tet, block in zip(own.connectivity, values):
            dofs = (3 * tet[:, None] + np.arange(3)).ravel()
            full[name][np.ix_(dofs, dofs)] += block.transpose(0, 2, 1, 3).reshape(12, 12)
    free = sim.model.free.ravel() > 0
    squares, vectors = eigh(full["stiffness"][np.ix_(free, free)], full["mass"][np.ix_(free, free)])
    shapes = np.zeros((len(free), len(squares)))
    shapes[free] = vectors
    return squares, shapes


@pytest.mark.parametrize("mass", ["lumped", "consistent"])
@pytest.mark.parametrize(
    "alpha, beta, x_end, v_end", [(0, 0, 0.8211598, 0.0425607), (0.5, 0.002, 0.6147258, 0.1276054)]
)
def test_one_oscillator_moves_as_implicit_euler_says(alpha, beta, x_end, v_end, mass):
    """DYN-04: v' = (v - h w^2 x) / (1 + h a + h b w^2 + h^2 w^2), w = 2 pi, h = 0.01, 100 steps from x = 1, v = 0.

    One mode of a clamped bar whose modulus is such that w = 2 pi. Relative 1e-10: a linear problem.
    """
    scene = pl.Scene(gravity=(0, 0, 0))
    soft = scene.add_soft(BAR, pl.Material.linear(young=1.0, poisson=0.3, density=1000))
    soft.pin(soft.nodes.x < 1e-9)
    young = (2 * np.pi) ** 2 / modes(scene.simulate(0.01, solver=pl.Linear(mass=mass)), mass)[0][0]
    scene = pl.Scene(gravity=(0, 0, 0))
    body = scene.add_soft(BAR, pl.Material.linear(young, 0.3, 1000, damping=beta, mass_damping=alpha))
    body.pin(body.nodes.x < 1e-9)
    for factor in FACTORS:
        sim = scene.simulate(0.01, solver=pl.Linear(factor, mass, tolerance=1e-14))
        shape = modes(sim, mass)[1][:, 0].reshape(-1, 3)
        sim.set_positions(body, body.nodes.positions + shape)
        x, v, square = 1.0, 0.0, (2 * np.pi) ** 2
        for _ in range(100):
            v = (v - 0.01 * square * x) / (1 + 0.01 * alpha + 0.01 * beta * square + 1e-4 * square)
            x += 0.01 * v
        assert (x, v) == pytest.approx((x_end, v_end), abs=1e-7)
        sim.step(100)
        assert np.abs(sim.positions(body) - body.nodes.positions - x * shape).max() <= 1e-10 * np.abs(shape).max()
        assert np.abs(sim.velocities(body) - v * shape).max() <= 1e-9 * np.abs(shape).max()


@pytest.mark.parametrize("mass", ["lumped", "consistent"])
def test_the_three_factors_agree(mass):
    """One matrix, three ways to solve with it: 1e-8 of the size after 30 steps, prescribed motion and damping.

    (16 nodes fill a slice of the matrix for conjugate gradients to the last lane.)
    """
    ends = []
    for factor in FACTORS:
        scene, beam = clamped_beam(damping=0.003, mass_damping=0.2)
        ends.append(scene.simulate(0.01, solver=pl.Linear(factor, mass)).step(30).positions(beam))
    assert max(np.abs(end - ends[0]).max() for end in ends) <= 1e-8 * 0.6


def test_agrees_with_newton_on_the_linear_law():
    """A quadratic potential: Newton's first step is the answer, up to the rounding of its linear solver."""
    scene, beam = clamped_beam(damping=0.003, mass_damping=0.2)
    mine = scene.simulate(0.01, solver=pl.Linear()).step(30).positions(beam)
    scene, beam = clamped_beam(damping=0.003, mass_damping=0.2)
    newton = scene.simulate(0.01, solver=pl.Newton(tolerance=1e-8)).step(30).positions(beam)
    assert np.abs(mine - newton).max() <= 1e-10


def bar_frequency(mass: str) -> float:
    """Frequency [Hz] of a fixed-free bar (L 1, E 1e6, rho 1000, nu 0), from the crossings of its first mode."""
    scene = pl.Scene(gravity=(0, 0, 0))
    bar = scene.add_soft(pl.meshes.box((1, 0.1, 0.1), cells=(10, 1, 1)), pl.Material.linear(1e6, 0.0, 1000))
    bar.pin(bar.nodes.x < 1e-9)
    bar.pin(bar.nodes.x > -1, axes="yz")
    h = 1e-4
    sim = scene.simulate(h, solver=pl.Linear(mass=mass))
    shape = np.sin(np.pi / 2 * bar.nodes.x)
    sim.set_positions(bar, bar.nodes.positions + 1e-3 * shape[:, None] * [1, 0, 0])
    values = []
    for _ in range(1000):
        sim.step()
        values.append(sim.model.node_mass * shape @ (sim.positions(bar)[:, 0] - bar.nodes.x))
    values = np.array(values)
    before = np.flatnonzero(values[:-1] * values[1:] < 0)
    crossings = (before + 1 + values[before] / (values[before] - values[before + 1])) * h
    return 1 / (2 * (crossings[1] - crossings[0]))


def test_lumped_and_consistent_mass_bracket_the_frequency_of_a_bar():
    """DYN-02: f1 = sqrt(E/rho) / (4 L) = 7.905694 Hz within 1%; lumped mass is below, consistent mass above."""
    lumped, consistent = bar_frequency("lumped"), bar_frequency("consistent")
    assert lumped < 7.905694 < consistent
    assert (lumped, consistent) == pytest.approx((7.905694, 7.905694), rel=0.01)


@pytest.mark.parametrize("mass", ["lumped", "consistent"])
def test_free_fall_is_exact(mass):
    """DYN-05: drop = g h^2 n (n + 1) / 2 with any mass matrix: loads and inertia use the same one."""
    scene = pl.Scene()
    body = scene.add_soft(BAR, pl.Material.linear(1e5, 0.3, 1000))
    sim = scene.simulate(0.01, solver=pl.Linear(mass=mass)).step(100)
    assert np.abs(sim.positions(body) - body.nodes.positions + [0, 0, 4.95405]).max() <= 1e-11


def test_joints_and_contacts_agree_with_newton():
    """A ball joined to a beam, and a block dropped on a plane. Contacts agree to 1e-4 of the size; joints, which are
    linear rows here and met at the end of the step there, as two methods of first order do: half the step, half the
    difference."""

    def scene_of():
        scene = pl.Scene()
        scene.add_rigid(pl.Plane(), static=True, friction=0.4, position=(0, 0, -0.3))
        soft = pl.Material.linear(young=1e5, poisson=0.3, density=1000, damping=0.01)
        beam = scene.add_soft(BAR, soft, collide=False)
        beam.pin(beam.nodes.x < 1e-9)
        ball = scene.add_rigid(pl.Sphere(0.05), mass=1, position=(0.7, 0.1, 0.1), collide=False)
        scene.join(pl.Ball(ball, beam, at=(0.62, 0.1, 0.1)))
        cube = pl.meshes.box((0.2, 0.2, 0.2), cells=2)
        block = scene.add_soft(cube, soft, position=(0, 1, -0.28), velocity=(0.5, 0, 0))
        return scene, beam, block, ball

    def difference(h):
        ends = []
        for solver in (pl.Linear(), pl.Newton(tolerance=1e-5)):
            scene, beam, block, ball = scene_of()
            sim = scene.simulate(h, solver=solver).step(round(0.3 / h))
            ends.append((sim.positions(block), np.concatenate([sim.positions(beam), [sim.pose(ball)[0]]])))
            assert len(sim.contacts.impulses) > 0
        return [np.abs(one - two).max() for one, two in zip(*ends)]

    block, joined = difference(0.0025)
    assert block <= 1e-4 and joined <= 2.5e-3
    assert difference(0.00125)[1] == pytest.approx(joined / 2, rel=0.15)


def test_what_it_cannot_do_is_refused_before_the_first_step():
    scene = pl.Scene()
    scene.add_soft(BAR, pl.Material.corotated(1e5, 0.3, 1000), name="jelly")
    with pytest.raises(pl.SceneError, match="Linear knows the laws linear, but body 'jelly' is corotated"):
        scene.simulate(0.01, solver=pl.Linear())
    scene = pl.Scene()
    scene.add_soft(BAR, pl.Material.linear(1e5, 0.3, 1000), name="bar")
    floor = scene.add_rigid(pl.Plane(), static=True, name="floor")
    with pytest.raises(pl.SceneError, match=r"'bar' may touch 'floor'.*use factor='cholesky'"):
        scene.simulate(0.01, solver=pl.Linear("cg"))
    floor.collide = False
    ball = scene.add_rigid(pl.Sphere(0.1), mass=1, collide=False)
    scene.simulate(0.01, solver=pl.Linear("lu")).step()
    scene.join(pl.Ball(ball, pl.world, at=(0, 0, 0), name="hook"))
    with pytest.raises(pl.SceneError, match="joints, such as 'hook'; use factor='cholesky'"):
        scene.simulate(0.01, solver=pl.Linear("lu"))
    with pytest.raises(pl.SceneError, match="Linear factor must be one of 'cholesky', 'lu', 'cg', got 'qr'"):
        pl.Linear("qr")
    rigid = pl.Scene()
    rigid.add_rigid(pl.Sphere(0.1), mass=1)
    with pytest.raises(pl.SceneError, match="needs a soft body"):
        rigid.simulate(0.01, solver=pl.Linear())
