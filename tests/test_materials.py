"""Every law of the table LAWS against finite differences and NumPy: derivatives, stresses, stiffness, forces, SVD."""

import numpy as np
import pytest

from law_states import (
    BARRIERS,
    CORNER,
    DIRECT,
    LAM,
    MU,
    Elements,
    compiled,
    formulas,
    rotated,
    slope,
    spectral,
)
from pliant.formulas.hyperelastic import CLOSE, moduli, stress_differential
from pliant.formulas.matrix3 import positive_definite
from pliant.formulas.svd import nearest_rotation, positive_part, signed_svd
from pliant.kernels.laws import LAWS
from pliant.scene.materials import LAWS as NAMED_LAWS

# springs are a law of edges, not of volumes
NAMES = tuple(name for name, law in LAWS.items() if law.volume)
ROTATED = tuple(name for name in NAMES if name != "linear")  # laws of the signed principal stretches
PAIRS = ((0, 0), (1, 1), (2, 2), (1, 2), (0, 2), (0, 1))
MODULUS = LAM + 2 * MU
# stretches in descending order, as signed_svd gives them
UPRIGHT = np.sort(np.random.default_rng(1).uniform(0.4, 1.9, (12, 3)))[:, ::-1]
FLATTENED = np.array([[1.3, 0.8, 0.05], [1.1, 1.0, 1e-2], [0.9, 0.6, 1e-3], [1.7, 0.04, 0.02]])
INVERTED = np.array([[1.3, 0.8, -0.05], [1.1, 1.0, -1e-2], [1.6, 0.9, -0.7], [1.2, 1.1, -0.9], [0.5, 0.3, -0.2]])


def test_every_named_law_is_in_the_table():
    assert {*NAMES, "springs"} == set(NAMED_LAWS)


def states(name: str) -> list[np.ndarray]:
    """Stretches: upright and nearly inverted ones, and inverted ones where the law is finite."""
    return [*UPRIGHT, *FLATTENED, *(() if name in BARRIERS else INVERTED)]


# The three formulas


@pytest.mark.parametrize("name", NAMES)
def test_stress_and_its_derivative_are_derivatives_of_the_energy(name):
    """p_i = dpsi/ds_i and A_ij = d2psi/ds_i ds_j, with relative steps of 1 %: order 6 then leaves 1e-12 f^(7) s^7/140,
    5e-12 for a logarithm; rounding of psi (up to 1e3 p) over the step leaves 1e-11. Asked is 1e-6 of the largest."""
    for s in states(name):
        psi, stress, dstress = formulas(name)
        p, a = stress(s), dstress(s)
        steps = 1e-2 * np.abs(s)
        numeric = np.array([slope(psi, s, i, steps[i]) for i in range(3)])
        assert np.abs(p - numeric).max() <= 1e-6 * max(np.abs(p).max(), MU)
        curvature = np.array([slope(stress, s, i, steps[i]) for i in range(3)])
        numeric = np.array([curvature[i, j] for i, j in PAIRS])
        assert np.abs(a - numeric).max() <= 1e-6 * max(np.abs(a).max(), MU)
        assert np.abs(curvature - curvature.T).max() <= 1e-6 * max(np.abs(a).max(), MU)


@pytest.mark.parametrize("name", NAMES)
def test_rest_is_free_of_stress_with_lames_moduli(name):
    """At s = 1: psi = 0, p = 0, A_ii = lam + 2 mu, A_ij = lam; arap has lam = 0. To rounding."""
    psi, stress, dstress = formulas(name)
    lam = 0.0 if name == "arap" else LAM
    s = np.ones(3)
    assert abs(psi(s)) <= 1e-15 * MODULUS and np.abs(stress(s)).max() <= 1e-15 * MODULUS
    assert np.abs(dstress(s) - ([lam + 2 * MU] * 3 + [lam] * 3)).max() <= 1e-15 * MODULUS


@pytest.mark.parametrize("name", BARRIERS)
def test_barrier_is_infinite_for_inverted_elements(name):
    psi = formulas(name)[0]
    assert psi((1, 1, 0)) == np.inf and psi((1, 1, -0.3)) == np.inf
    assert np.isfinite(psi((1, 1, 1e-9)))


# Stresses at a deformation gradient


def gradients(name: str, random) -> list[np.ndarray]:
    """Rotated deformation gradients: upright, flattened, and inverted where the law is finite."""
    return [rotated(s, random) for s in states(name)]


@pytest.mark.parametrize("name", ROTATED)
def test_principal_stress_is_the_stress_of_the_law(name):
    """P = U diag(p) V^T against P(F) in NumPy (theory section 4). Rounding of F moves P by 1e-16 dP/dF; dP/dF is up to
    1e6 P/F at s_2 = 1e-3 for a barrier: 1e-9 of the largest."""
    random = np.random.default_rng(2)
    for f in gradients(name, random):
        expected = DIRECT[name](f)[1]
        assert np.abs(spectral(name, f) - expected).max() <= 1e-9 * max(np.abs(expected).max(), MU)


@pytest.mark.parametrize("name", NAMES)
def test_kernel_has_energy_and_stress_of_the_law(name):
    """psi and P of the compiled kernel, the linear law included; tolerance as above."""
    random = np.random.default_rng(3)
    for f in gradients(name, random):
        psi, p = compiled(name, f)
        energy, expected = DIRECT[name](f)
        assert abs(psi - energy) <= 1e-9 * max(abs(energy), MU)
        assert np.abs(p - expected).max() <= 1e-9 * max(np.abs(expected).max(), MU)


def exact_differential(name: str, f, df):
    """dP (3, 3) from stress_differential with the moduli as they are."""
    u, s, v = signed_svd(tuple(f.ravel()))
    _, stress, dstress = formulas(name)
    return np.array(
        stress_differential(tuple(df.ravel()), u, v, *moduli(s, tuple(stress(s)), tuple(dstress(s))))
    ).reshape(3, 3)


@pytest.mark.parametrize("name", ROTATED)
def test_stress_differential_is_the_derivative_of_the_stress(name):
    """dP against central differences of P(F) in NumPy, of order 6 with steps of 1 % of the least stretch or of the
    least sum of two (the distance to where the rotation of an inverted element jumps): 1e-6 of the largest modulus."""
    random = np.random.default_rng(4)
    for s in states(name):
        f, df = rotated(s, random), random.normal(size=(3, 3))
        df /= np.linalg.norm(df)
        reach = min(abs(s[2]), s[1] + s[2]) if name in ("neohookean", "corotated", "arap", "fixed_corotated") else 1.0
        numeric = slope(lambda t, f=f, df=df: DIRECT[name](f + t[0] * df)[1], [0.0], 0, 1e-2 * reach)
        found = exact_differential(name, f, df)
        assert np.abs(found - numeric).max() <= 1e-6 * max(np.abs(numeric).max(), MU)


@pytest.mark.parametrize("name", ROTATED)
@pytest.mark.parametrize("gap", [0.0, 1e-9, 0.5 * CLOSE, 2 * CLOSE, 1e-3])
def test_stress_differential_where_stretches_meet(name, gap):
    """s_i = s_j: (p_i - p_j) / (s_i - s_j) has a limit, its error is O(gap^2) = 1e-10; or the rounding of p over the
    gap, 1e-16 / 1e-5."""
    random = np.random.default_rng(5)
    for s in ((1.2 + gap, 1.2, 0.7), (1.3, 0.8 + gap, 0.8), (1.1 + gap, 1.1 + gap / 2, 1.1)):
        f, df = rotated(s, random), random.normal(size=(3, 3))
        numeric = slope(lambda t, f=f, df=df: DIRECT[name](f + t[0] * df)[1], [0.0], 0, 2e-3)
        assert np.abs(exact_differential(name, f, df) - numeric).max() <= 1e-7 * MODULUS * np.linalg.norm(df)


# Elements


def tetrahedra(random, count: int = 16) -> np.ndarray:
    """Rest shapes (count, 4, 3) of size about 1 and positive volume."""
    return 0.5 * (CORNER + 0.2 * random.uniform(-1, 1, (count, 4, 3)))


def deformed(rest: np.ndarray, f: np.ndarray) -> np.ndarray:
    """Positions x = F X, shifted."""
    return np.einsum("mij,mkj->mki", f, rest) + np.array([0.3, -0.2, 0.1])


def numeric_stiffness(elements: Elements, x: np.ndarray, step: float) -> np.ndarray:
    """(m, 12, 12): central differences of the nodal gradients; all elements at once, for they share no nodes."""
    columns = []
    for k in range(12):
        move = np.zeros((4, 3))
        move.flat[k] = 1.0
        columns.append(slope(lambda t, move=move: elements.evaluate(x + t[0] * move)[1], [0.0], 0, step))
    return np.stack(columns, axis=-1).reshape(len(x), 12, 12)


def clamped(stiffness: np.ndarray, inverse: np.ndarray, volume: float) -> np.ndarray:
    """Of a stiffness (12, 12) the one whose d2psi/dF2 (9, 9) has its negative eigenvalues replaced by zero.

    With dF = sum_k dx_k g_k^T = T dx for nodes 0..2, their part of the stiffness is W T^T (d2psi/dF2) T.
    """
    t = np.einsum("ij,kc->icjk", np.eye(3), inverse).transpose(0, 1, 3, 2).reshape(9, 9)  # (i c), (k j)
    back = np.linalg.inv(t)
    values, vectors = np.linalg.eigh(back.T @ stiffness[:9, :9] @ back / volume)
    whole = np.hstack([t, -t.reshape(9, 3, 3).sum(axis=1)])  # node 3 moves against the others
    return volume * whole.T @ (vectors * np.maximum(values, 0)) @ vectors.T @ whole


def some_states(name: str, random) -> list[np.ndarray]:
    """Sixteen deformation gradients each: mild ones, and wild ones (some inverted, where the law is finite)."""
    mild = np.array([rotated(s, random) for s in 1 + random.uniform(-0.05, 0.05, (16, 3))])
    wild = np.array([rotated(np.sort(s)[::-1], random) for s in random.uniform(0.5, 1.6, (16, 3))])
    sign = 1 if name in BARRIERS else -1
    flat = random.uniform((1.2, 0.8, 0.2), (1.6, 1.1, 0.6), (8, 3))
    wild[8:] = [rotated((a, b, sign * c), random) for a, b, c in flat]
    return [mild, wild]


@pytest.mark.parametrize("name", NAMES)
def test_element_stiffness_is_the_positive_part_of_the_hessian(name):
    """K against central differences of the nodal gradients, with eigenvalues of d2psi/dF2 clamped in NumPy: 1e-6 of
    the largest entry (steps of 1e-3 leave 1e-10). Where the Hessian is positive, K is the Hessian itself."""
    random = np.random.default_rng(6)
    positive = 0
    for f in some_states(name, random):
        rest = tetrahedra(random)
        elements = Elements(name, rest)
        x = deformed(rest, f)
        numeric, found = numeric_stiffness(elements, x, 5e-4), elements.stiffness(x)
        for k in range(16):
            scale = np.abs(numeric[k]).max()
            assert np.abs(numeric[k] - numeric[k].T).max() <= 1e-6 * scale
            expected = clamped(numeric[k], elements.inverse[k], elements.volume[k])
            assert np.abs(found[k] - expected).max() <= 1e-6 * scale
            if np.linalg.eigvalsh(numeric[k])[0] >= -1e-9 * scale:
                positive += 1
                assert np.abs(found[k] - numeric[k]).max() <= 1e-6 * scale
    assert positive >= 3  # states at which nothing is clamped


@pytest.mark.parametrize("name", NAMES)
def test_element_stiffness_is_never_negative(name):
    """Random node positions, flat and collapsed elements (upright ones for a barrier): eigenvalues at least minus the
    rounding of the largest."""
    random = np.random.default_rng(7)
    rest = tetrahedra(random, 64)
    x = random.uniform(-1, 1, rest.shape)
    x[1, 3] = x[1, :3].mean(axis=0)  # flat
    x[2, 2:] = x[2, 1]  # a needle
    x[3] = x[3, 0]  # a point
    x[4] = -rest[4]  # turned inside out
    if name in BARRIERS:
        upright = np.linalg.det(x[:, :3] - x[:, 3:]) > 1e-9
        rest, x = rest[upright], x[upright]
        assert len(rest) > 20
    stiffness = Elements(name, rest).stiffness(x)
    assert np.all(np.isfinite(stiffness))
    values = np.linalg.eigvalsh(stiffness)
    assert np.all(values[:, 0] >= -1e-13 * values[:, -1])


@pytest.mark.parametrize("name", NAMES)
def test_finite_volume_forces_are_the_variational_ones(name):
    """f_i = P b_i with b_i = -1/3 sum of the area-weighted outward material normals of the faces at node i (L 1.2)
    equals -dE/dx_i: the same numbers to rounding, 1e-12."""
    random = np.random.default_rng(8)
    rest = tetrahedra(random)
    f = np.array([rotated(s, random) for s in UPRIGHT[np.arange(16) % len(UPRIGHT)]])
    _, gradient = Elements(name, rest).evaluate(deformed(rest, f))
    for k in range(16):
        p = compiled(name, f[k])[1]
        b = np.zeros((4, 3))
        for opposite in range(4):
            corners = [i for i in range(4) if i != opposite]
            c0, c1, c2 = rest[k, corners]
            normal = np.cross(c1 - c0, c2 - c0) / 2
            normal *= -np.sign(normal @ (rest[k, opposite] - c0))
            b[corners] -= normal / 3
        scale = np.abs(p).max() * np.abs(b).max()
        assert np.abs(b @ p.T + gradient[k]).max() <= 1e-12 * scale


# Singular values


def svd_cases() -> list[np.ndarray]:
    """Random, scaled, flat, needle-like, inverted, symmetric, zero, and with equal stretches."""
    random = np.random.default_rng(9)
    cases = [scale * random.normal(size=(3, 3)) for scale in (1e-6, 1e-2, 1, 1e3, 1e8) for _ in range(40)]
    for s in ((1, 1, 1), (1, 1, -1), (2, 1, 1), (2, 2, 1), (2, 2, -2), (1, 0.5, 0), (1, 1, 0), (1, 0, 0), (3, 1e-9, 0)):
        cases += [np.diag(np.array(s, float)), *(rotated(s, random) for _ in range(10))]
    for s in ((1, 1e-3, 1e-6), (1, 1e-7, -1e-9), (1, 1 - 1e-9, 1 - 2e-9), (1e3, 1, 1e-3), (1, 1e-14, 1e-15)):
        cases += [rotated(s, random) for _ in range(10)]
    cases += [np.zeros((3, 3)), np.outer((1, 2, 3), (3, 2, 1)), -np.eye(3), np.diag([-1.0, 2.0, 3.0])]
    return cases


def test_signed_svd():
    """F = U diag(s) V^T, U and V rotations, s0 >= s1 >= |s2| with the sign of det F, the stretches those of NumPy.

    Directions of stretches below 1e-12 of the largest are arbitrary, so the product is right to 3e-12 of it. Rounding
    of F^T F turns the directions of two small stretches (a needle) into each other by eps s0^2 / s1^2, which leaves
    eps s0^2 / s1 in the product, at most sqrt(eps) s0.
    """
    for f in svd_cases():
        u, s, v = (np.array(part) for part in signed_svd(tuple(f.ravel())))
        u, v = u.reshape(3, 3), v.reshape(3, 3)
        exact, size = np.linalg.svd(f, compute_uv=False), np.linalg.norm(f)
        error = (3e-12 + min(1e-15 * size / max(exact[1], 1e-300), 1.5e-8)) * size
        for q in (u, v):
            assert np.abs(q.T @ q - np.eye(3)).max() <= 1e-13 and abs(np.linalg.det(q) - 1) <= 1e-13
        assert np.abs(u * s @ v.T - f).max() <= error
        assert s[0] >= s[1] - error and s[1] >= abs(s[2]) - error
        assert np.abs(np.abs(s) - exact).max() <= error
        if exact[2] > 1e-9 * size:
            assert np.sign(s[2]) == np.sign(np.linalg.det(f))


def test_nearest_rotation_maximises_the_trace():
    """tr(R^T F) = s0 + s1 + s2 of the signed stretches, the largest over rotations; R of a rotation is itself."""
    random = np.random.default_rng(10)
    for f in svd_cases()[80:120]:
        r = np.array(nearest_rotation(tuple(f.ravel()))).reshape(3, 3)
        best = np.trace(r.T @ f)
        assert abs(best - sum(signed_svd(tuple(f.ravel()))[1])) <= 1e-13 * np.linalg.norm(f)
        assert all(np.trace(rotated((1, 1, 1), random).T @ f) <= best + 1e-13 for _ in range(20))
    q = rotated((1, 1, 1), random)
    assert np.abs(np.array(nearest_rotation(tuple(q.ravel()))).reshape(3, 3) - q).max() <= 1e-14


def test_leading_minors_tell_positive_matrices():
    """By their eigenvalues, of sizes from 1e-8 to 1e8 of the largest; those within rounding of zero may be either."""
    random, found = np.random.default_rng(4), []
    for _ in range(300):
        turn = np.linalg.qr(random.normal(size=(3, 3)))[0]
        values = 10 ** random.uniform(-8, 0, 3) * random.choice([-1.0, 1.0, 1.0, 1.0], 3) * 10 ** random.uniform(-8, 8)
        a = turn @ np.diag(values) @ turn.T
        if np.abs(values).min() > 1e-6 * np.abs(values).max():
            found.append(positive_definite((a[0, 0], a[1, 1], a[2, 2], a[1, 2], a[0, 2], a[0, 1])))
            assert found[-1] == (values.min() > 0)
    assert 20 < sum(found) < len(found) - 20


def test_positive_part_clamps_eigenvalues():
    """The nearest positive semi-definite matrix, against NumPy's eigenvectors: rounding, 1e-13 of the norm."""
    random = np.random.default_rng(11)
    q = rotated((1, 1, 1), random)
    cases = [random.normal(size=(3, 3)) * scale for scale in (1e-5, 1.0, 1e9) for _ in range(20)]
    cases += [q @ np.diag(d) @ q.T for d in ((1, 2, 3), (-1, -2, -3), (1, 1, -1), (1, 1 + 1e-9, -1e-9), (0, 0, -1))]
    cases += [np.zeros((3, 3)), np.diag([1.0, -1.0, 0.0]), np.ones((3, 3)), -np.ones((3, 3))]
    for a in cases:
        a = (a + a.T) / 2
        values, vectors = np.linalg.eigh(a)
        expected = (vectors * np.maximum(values, 0)) @ vectors.T
        found = np.array(positive_part((a[0, 0], a[1, 1], a[2, 2], a[1, 2], a[0, 2], a[0, 1])))
        assert np.abs(found - expected[[0, 1, 2, 1, 0, 0], [0, 1, 2, 2, 2, 1]]).max() <= 1e-13 * np.linalg.norm(a)
