"""Elements as rows against dense algebra: rows = implicit corotational step, derivatives, rotations, plasticity."""

import numpy as np
import pytest
from scipy.linalg import polar

import pliant as pl
from pliant.formulas.elements import corotated_strain, element_impulses, plastic_update, strain_rate
from pliant.formulas.svd import nearest_rotation
from pliant.kernels.lanes import from_lanes
from pliant.model.build import build
from pliant.stepping.dynamics import predict


def nearest_proper_rotation(f):
    """Reference: SVD with the sign on the smallest singular value."""
    u, _, vt = np.linalg.svd(f)
    return u @ np.diag([1, 1, np.sign(np.linalg.det(u @ vt))]) @ vt


def isotropic(young, poisson):
    """D in Voigt order with engineering shear."""
    mu = young / (2 * (1 + poisson))
    lam = 2 * mu * poisson / (1 - 2 * poisson)
    return np.diag([2 * mu] * 3 + [mu] * 3) + lam * np.pad(np.ones((3, 3)), (0, 3))


def strain_matrix(gradients):
    """B6 (6, 12) from the four shape gradients (4, 3)."""
    b = np.zeros((6, 12))
    for i, (gx, gy, gz) in enumerate(gradients):
        b[:, 3 * i : 3 * i + 3] = [[gx, 0, 0], [0, gy, 0], [0, 0, gz], [0, gz, gy], [gz, 0, gx], [gy, gx, 0]]
    return b


def reference_step(points, tets, x, v, masses, material, gravity, h):
    """(M + h (h + beta) K_R) u = M u_old + h f - h f_el, dense (theory section 3)."""
    n = len(points)
    matrix, right = np.diag(np.repeat(masses, 3)), (masses[:, None] * (v + h * np.array(gravity))).ravel()
    d = isotropic(material.young, material.poisson)
    for tet in tets:
        dm = (points[tet[:3]] - points[tet[3]]).T
        g = np.linalg.inv(dm)
        gradients = np.vstack([g, -g.sum(axis=0)])
        volume = np.linalg.det(dm) / 6
        rotation = nearest_proper_rotation((x[tet[:3]] - x[tet[3]]).T @ g)
        b6 = strain_matrix(gradients)
        j = b6 @ np.kron(np.eye(4), rotation.T)
        e = b6 @ ((x[tet] @ rotation) - points[tet]).ravel()
        dofs = (3 * tet[:, None] + np.arange(3)).ravel()
        matrix[np.ix_(dofs, dofs)] += h * (h + material.damping) * volume * j.T @ d @ j
        right[dofs] -= h * volume * j.T @ d @ e
    return np.linalg.solve(matrix, right).reshape(n, 3)


@pytest.mark.parametrize("damping", [0.0, 0.02])
@pytest.mark.parametrize("diagonal", [False, True])
@pytest.mark.parametrize("eliminate", [False, True])
def test_rows_are_the_implicit_corotational_step(damping, diagonal, eliminate):
    """Theory section 3: with no bounds the rows solve (M + h^2 K_R) u = M u_old + h f - h f_el; here to 1e-9
    relative."""
    rng = np.random.default_rng(1)
    mesh = pl.meshes.box((1, 0.5, 0.5), cells=(2, 1, 1))
    material = pl.Material.corotated(young=1e4, poisson=0.35, density=500, damping=damping)
    scene = pl.Scene(gravity=(0.5, 0, -9.81))
    body = scene.add_soft(mesh, material, rotation=(0.8, 0.2, -0.5, 0.3))
    solver = pl.Dual(tolerance=1e-13, max_iterations=5000, diagonal=diagonal, eliminate=eliminate)
    sim = scene.simulate(dt=0.01, solver=solver)
    x = body.nodes.positions + 0.05 * rng.normal(size=mesh.points.shape)
    v = rng.normal(size=mesh.points.shape)
    sim.set_positions(body, x)
    sim.set_velocities(body, v)
    sim.step()
    expected = reference_step(mesh.points, mesh.tets, x, v, sim.model.node_mass, material, scene.gravity, 0.01)
    error = np.abs(sim.velocities(body) - expected).max() / np.abs(expected).max()
    assert error < 1e-9


def test_nearest_rotation_of_all_kinds_of_gradients():
    """The rotation maximises tr(R^T F) also for inverted, flat, needle-like and zero F; det R = +1 always."""
    rng = np.random.default_rng(2)
    for _ in range(300):
        f = rng.normal(size=(3, 3))
        r = np.array(nearest_rotation(tuple(f.ravel()))).reshape(3, 3)
        assert np.allclose(r @ r.T, np.eye(3), atol=1e-12)
        assert np.linalg.det(r) == pytest.approx(1, abs=1e-12)
        assert np.trace(r.T @ f) == pytest.approx(np.trace(nearest_proper_rotation(f).T @ f), rel=1e-9, abs=1e-9)
        if np.linalg.det(f) > 0.05:
            assert np.allclose(r, polar(f)[0], atol=1e-7)
    for singular in ([1, 1, 0], [1, 0, 0], [0, 0, 0], [1, 1e-9, 0], [2, 1, -1e-3], [1, 1, 1], [1, 1, -0.5]):
        u, v = nearest_proper_rotation(rng.normal(size=(3, 3))), nearest_proper_rotation(rng.normal(size=(3, 3)))
        f = u @ np.diag(singular) @ v.T
        r = np.array(nearest_rotation(tuple(f.ravel()))).reshape(3, 3)
        assert np.allclose(r @ r.T, np.eye(3), atol=1e-12)
        assert np.linalg.det(r) == pytest.approx(1, abs=1e-12)
        assert np.trace(r.T @ f) == pytest.approx(sum(singular), abs=1e-8)


def test_rotation_of_small_strains_is_exact():
    """For F = R (I + small) the polar factor is found to rounding."""
    rng = np.random.default_rng(3)
    for size in (0.0, 1e-12, 1e-8, 1e-4, 0.1):
        r = nearest_proper_rotation(rng.normal(size=(3, 3)))
        s = np.eye(3) + size * (lambda a: a + a.T)(rng.normal(size=(3, 3)))
        found = np.array(nearest_rotation(tuple((r @ s).ravel()))).reshape(3, 3)
        assert np.allclose(found, r, atol=5e-15)


def test_strain_of_a_rotated_body_is_zero_and_of_a_stretched_one_known():
    """Rotation gives no strain; F = R diag(1.1, 1, 1) gives e = (0.1, 0, 0, 0, 0, 0)."""
    scene = pl.Scene()
    body = scene.add_soft(
        pl.meshes.box((1, 1, 1), cells=2), pl.Material.corotated(young=1e5, poisson=0.3, density=1000)
    )
    model, _state = build(scene)
    rotation = nearest_proper_rotation(np.random.default_rng(4).normal(size=(3, 3)))
    _, strain = model.elements.deform(body.mesh.points @ rotation.T)
    assert np.abs(strain[:, :, 0]).max() < 1e-14
    _, strain = model.elements.deform((body.mesh.points * [1.1, 1, 1]) @ rotation.T)
    expected = np.tile([0.1, 0, 0, 0, 0, 0], (model.element_count, 1))
    assert np.allclose(from_lanes(strain, model.element_count), expected, atol=1e-14)


def test_strain_rate_rows_are_the_derivative_of_the_strain():
    """J u = de/dt at fixed rotation: finite differences of B6 R^T x along a random velocity."""
    rng = np.random.default_rng(5)
    mesh = pl.meshes.box((1, 1, 1), cells=1)
    x = mesh.points + 0.1 * rng.normal(size=mesh.points.shape)
    v = rng.normal(size=mesh.points.shape)
    for tet in mesh.tets:
        g = np.linalg.inv((mesh.points[tet[:3]] - mesh.points[tet[3]]).T)
        f = (x[tet[:3]] - x[tet[3]]).T @ g
        r = nearest_rotation(tuple(f.ravel()))
        identity = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
        gradient = (v[tet[:3]] - v[tet[3]]).T @ g
        rate = np.array(strain_rate(tuple(gradient.ravel()), r, identity))
        step_size = 1e-6
        plus = np.array(corotated_strain(tuple((f + step_size * gradient).ravel()), r, identity))
        minus = np.array(corotated_strain(tuple((f - step_size * gradient).ravel()), r, identity))
        assert np.allclose(rate, (plus - minus) / (2 * step_size), rtol=1e-8, atol=1e-8)
        impulse = rng.normal(size=6)
        nodal = np.array(element_impulses(tuple(impulse), r, tuple(g.ravel()), identity)).reshape(3, 3)
        nodal = np.vstack([nodal, -nodal.sum(axis=0)])
        assert np.sum(nodal * v[tet]) == pytest.approx(impulse @ rate, rel=1e-12)


def test_creep_follows_the_exact_recursion():
    """MAT-06: e_el(n) = 0.2 (1 - c dt)^n until it falls below the yield strain (Mueller and Gross 2004, section 6)."""
    strain, plastic = (0.2, 0.0, 0.0, 0.0, 0.0, 0.0), (0.0,) * 6
    elastic = []
    for _ in range(130):
        plastic = plastic_update(strain, plastic, 0.02, min(0.01 * 2.0, 1.0), 1e9)
        elastic.append(strain[0] - plastic[0])
    assert elastic[49] == pytest.approx(0.07283394, abs=1e-8)
    assert elastic[49] == pytest.approx(0.2 * 0.98**50, abs=1e-12)
    steps_to_yield = next(i + 1 for i, e in enumerate(elastic) if e <= 0.02)
    assert steps_to_yield == 114
    assert elastic[-1] == pytest.approx(0.01998953, abs=1e-8)
    assert plastic[0] == pytest.approx(0.1800105, abs=1e-7)


def test_plastic_strain_is_limited():
    """Algorithm 1, lines 5-7: the plastic strain is rescaled to its largest allowed norm."""
    plastic = plastic_update((0.5, -0.2, 0.1, 0.3, 0.0, 0.2), (0.0,) * 6, 0.01, 1.0, 0.25)
    assert np.linalg.norm(plastic) == pytest.approx(0.25, rel=1e-12)


def test_a_held_stretched_block_relaxes_like_the_recursion():
    """MAT-06 through the engine: all nodes held at 20% stretch, the elastic strain decays by (1 - c dt) per step."""
    plasticity = pl.Plasticity(yield_strain=0.02, creep=2.0, max_strain=10.0)
    material = pl.Material.corotated(young=1e4, poisson=0.0, density=1000, plasticity=plasticity)
    scene = pl.Scene(gravity=(0, 0, 0))
    body = scene.add_soft(pl.meshes.box((1, 1, 1), cells=1), material)
    body.pin(body.nodes.x > -1)
    sim = scene.simulate(dt=0.01, solver=pl.Dual())
    sim.set_positions(body, body.nodes.positions * [1.2, 1, 1])
    sim.step(50)
    elastic = sim.strain(body) - sim.plastic_strain(body)
    assert np.allclose(elastic[:, 0], 0.2 * 0.98**50, rtol=1e-9)
    sim.step(80)
    assert np.allclose(sim.plastic_strain(body)[:, 0], 0.1800105, atol=1e-7)


def test_prescribed_velocities_are_eliminated():
    """Pinned components have zero inverse mass and the velocity that was asked for; others are free."""
    scene = pl.Scene()
    body = scene.add_soft(
        pl.meshes.box((1, 1, 1), cells=1), pl.Material.corotated(young=1e5, poisson=0.3, density=1000)
    )
    body.pin(body.nodes.z < 0.5, axes="z", velocity=lambda t: (0, 0, 0.1 * t))
    model, state = build(scene)
    prediction = predict(model, state, 0.5)
    low = body.nodes.z < 0.5
    assert np.all(prediction.inverse_mass[: len(low)][low, 2] == 0)
    assert np.all(prediction.inverse_mass[: len(low)][low, :2] > 0)
    assert np.allclose(prediction.u[: len(low)][low, 2], 0.05)


def test_empty_lanes_ask_for_nothing():
    """Six elements in sixteen lanes: tolerances are relative to the rows that are there; 1e-4 of the motion."""
    ends = []
    for tolerance in (1e-4, 1e-12):
        scene = pl.Scene()
        body = scene.add_soft(pl.meshes.box((0.2, 0.2, 0.2), cells=1), pl.Material.corotated(1e5, 0.3, 1000))
        body.pin(body.nodes.z > 0.2 - 1e-9)
        sim = scene.simulate(0.01, solver=pl.Dual(tolerance=tolerance))
        (own,) = sim.model.elements.sets
        strain = sim.model.elements.deform(sim.state.x)[1]
        assert np.all(strain[np.repeat(own.volume[:, None] == 0, 6, axis=1)] == 0)
        ends.append(sim.step(20).positions(body) - body.nodes.positions)
    assert np.abs(ends[0] - ends[1]).max() <= 1e-3 * np.abs(ends[1]).max()
