"""MAT-01 to MAT-05 of the published cases: stresses of homogeneous states, through the compiled laws.

The tables are rounded to seven digits, so they can be met to 1e-6 relative, the tolerance the cases ask for.
"""

import math

import numpy as np
import pytest
import yaml
from scipy.optimize import brentq

from law_states import LAM, MU, YOUNG, compiled, formulas, rotation_of
from pliant.kernels.laws import LAWS
from verification import data

CLOSE = 1e-6


def expected(case: str) -> dict:
    """The numbers of a published case."""
    cases = yaml.load(data("cases.yaml").read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    return next(entry["expected"] for entry in cases["cases"] if entry["id"] == case)


def uniaxial(name: str, stretch: float) -> tuple[float, float]:
    """Lateral stretch at which the lateral stress is zero, and the nominal stress [Pa]."""
    stress = formulas(name)[1]
    lateral = brentq(lambda s: stress((stretch, s, s))[1], 0.2, 1.6, xtol=1e-14)
    return lateral, stress((stretch, lateral, lateral))[0]


def equibiaxial(name: str, stretch: float) -> tuple[float, float]:
    """Stretch of the thickness at which its stress is zero, and the nominal stress [Pa]."""
    stress = formulas(name)[1]
    thickness = brentq(lambda s: stress((stretch, stretch, s))[2], 0.3, 1.6, xtol=1e-14)
    return thickness, stress((stretch, stretch, thickness))[0]


def test_uniaxial_stress_with_free_sides():
    """MAT-01: P22 = P33 = 0 gives the lateral stretch, and with it P11."""
    for name, states in expected("MAT-01").items():
        for stretch, numbers in states.items():
            lateral, stress = uniaxial(name, float(stretch))
            assert lateral == pytest.approx(numbers["lateral"], rel=CLOSE), (name, stretch)
            assert stress == pytest.approx(numbers["P11"], rel=CLOSE), (name, stretch)
            _, p = compiled(name, np.diag([float(stretch), lateral, lateral]))
            assert p[0, 0] == pytest.approx(stress, rel=1e-9) and abs(p[1, 1]) <= 1e-9 * abs(stress)


def test_equibiaxial_stress_with_free_thickness():
    """MAT-02: P33 = 0 gives the thickness. St. Venant-Kirchhoff has none at 1.5."""
    for name, states in expected("MAT-02").items():
        for stretch, numbers in states.items():
            if numbers is None:
                # s3^2 = 1 - 2 lam/(lam + 2 mu) (s^2 - 1) is negative: no thickness is free of stress
                assert 1 - 2 * LAM / (LAM + 2 * MU) * (float(stretch) ** 2 - 1) < 0
                continue
            thickness, stress = equibiaxial(name, float(stretch))
            assert thickness == pytest.approx(numbers["thickness"], rel=CLOSE), (name, stretch)
            assert stress == pytest.approx(numbers["P11"], rel=CLOSE), (name, stretch)
            _, p = compiled(name, np.diag([float(stretch), float(stretch), thickness]))
            assert p[0, 0] == pytest.approx(stress, rel=1e-9) and abs(p[2, 2]) <= 1e-9 * abs(stress)


def test_simple_shear():
    """MAT-03: F = I + gamma e1 e2^T; P, the Cauchy stress P F^T / J and psi. Zeros to 1e-9 of the shear stress."""
    for name, states in expected("MAT-03").items():
        for gamma, numbers in states.items():
            f = np.eye(3)
            f[0, 1] = float(gamma)
            psi, p = compiled(name, f)
            # the linear law knows no difference between P and sigma
            cauchy = p if name == "linear" else p @ f.T / np.linalg.det(f)
            found = {"psi": psi, "cauchy12": cauchy[0, 1]}
            found |= {f"P{i + 1}{j + 1}": p[i, j] for i in range(3) for j in range(3)}
            for key, number in numbers.items():
                assert found[key] == pytest.approx(number, rel=CLOSE, abs=1e-9 * abs(p[0, 1])), (name, gamma, key)


def rotated_state() -> tuple[np.ndarray, np.ndarray]:
    """R (1.1 rad about (1, 2, 3)) and S of MAT-04."""
    x, y, z = np.array([1, 2, 3]) / math.sqrt(14)
    k = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    turn = np.eye(3) + math.sin(1.1) * k + (1 - math.cos(1.1)) * k @ k
    return turn, np.array([[1.2, 0.1, -0.05], [0.1, 0.9, 0.2], [-0.05, 0.2, 1.1]])


def test_rotated_state():
    """MAT-04: F = R S; P to 1e-6 of its largest entry (seven digits), psi to 1e-6."""
    numbers = expected("MAT-04")
    turn, s = rotated_state()
    assert np.abs(turn @ s - numbers["F"]).max() <= 1e-6
    assert np.abs(rotation_of(turn @ s) - turn).max() <= 1e-14
    for name, stress in numbers["P"].items():
        psi, p = compiled(name, turn @ s)
        assert psi == pytest.approx(numbers["psi"][name], rel=CLOSE), name
        assert np.abs(p - stress).max() <= CLOSE * np.abs(stress).max(), name


@pytest.mark.parametrize("name", [name for name, law in LAWS.items() if law.volume])
def test_only_the_linear_law_feels_a_rotation(name):
    """MAT-04, objectivity: psi(R S) = psi(S) and P(R S) = R P(S) to 1e-12 (rounding); not so for the linear law."""
    turn, s = rotated_state()
    (psi, p), (plain_psi, plain_p) = compiled(name, turn @ s), compiled(name, s)
    if name == "linear":
        assert psi > 2 * plain_psi
    else:
        assert psi == pytest.approx(plain_psi, rel=1e-12)
        assert np.abs(p - turn @ plain_p).max() <= 1e-12 * np.abs(p).max()


def test_confined_compression():
    """MAT-05: P11 at F = diag(s, 1, 1)."""
    for name, states in expected("MAT-05")["confined_P11_table"].items():
        for stretch, number in states.items():
            _, p = compiled(name, np.diag([float(stretch), 1, 1]))
            assert p[0, 0] == pytest.approx(number, rel=CLOSE), (name, stretch)


def test_stvk_is_weakest_at_its_critical_stretch():
    """MAT-05: P = (lam + 2 mu) (s^3 - s)/2 confined and E (s^3 - s)/2 with free sides; both least at s = 1/sqrt(3)."""
    numbers = expected("MAT-05")
    critical = 1 / math.sqrt(3)
    assert critical == pytest.approx(numbers["stretch_c"], rel=1e-7)
    confined = lambda s: formulas("stvk")[1]((s, 1, 1))[0]  # noqa: E731
    free = lambda s: uniaxial("stvk", s)[1]  # noqa: E731
    for stress, modulus, least in (
        (confined, LAM + 2 * MU, numbers["P_confined_Pa"]),
        (free, YOUNG, numbers["P_lateral_free_Pa"]),
    ):
        for s in (0.4, critical, 0.8, 1.2):
            assert stress(s) == pytest.approx(modulus * (s**3 - s) / 2, rel=1e-10)
        assert stress(critical) == pytest.approx(least, rel=CLOSE)
        assert stress(critical) < stress(critical - 1e-3) and stress(critical) < stress(critical + 1e-3)
