"""Energies as users write them: exact derivatives, the emitted module, and what is refused."""

import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from pliant.errors import SceneError
from pliant.symbolic import emit_module, load, trace
from pliant.symbolic.emit import STRETCHES
from pliant.symbolic.expression import differentiate, is_number, number, symbol

PAIRS = ((0, 0), (1, 1), (2, 2), (1, 2), (0, 2), (0, 1))
POINT = (1.13, 0.87, 1.21)

# what can be written, applied to x = 0.9 at POINT and y = 1.4
WRITTEN = {
    "add": lambda x, y: 3 + x + y + 0.5,
    "subtract": lambda x, y: 2 - x - (y - 1),
    "multiply": lambda x, y: 2 * x * y * x * -3,
    "divide": lambda x, y: x / y / 3 + 2 / x,
    "negative": lambda x, y: -(-x * -y) + (-x),
    "positive": lambda x, y: +x * y,
    "absolute": lambda x, y: abs(x - 3) * y + np.abs(x * y) * np.absolute(y),
    "power": lambda x, y: x**3 + y**5 + x**7 * y**-1 + x**-3 + x**1 + x**0 + y**2,
    "power by fractions": lambda x, y: x ** (-2 / 3) * y + x ** (-5 / 3) + x**0.5 + y**2.5 + x ** (1 / 3),
    "power by expressions": lambda x, y: x**y + 2**x + np.power(y, x) + np.power(x, 2.2) + y**40 * 1e-6,
    "square": lambda x, y: np.square(x) * y,
    "log": lambda x, y: np.log(x) * np.log(y * x) ** 2,
    "log1p": lambda x, y: np.log1p(x) * y,
    "exp": lambda x, y: np.exp(x * y),
    "expm1": lambda x, y: np.expm1(x) * y,
    "sqrt": lambda x, y: np.sqrt(x + y),
    "sin": lambda x, y: np.sin(x * y),
    "cos": lambda x, y: np.cos(x * y),
    "tan": lambda x, y: np.tan(x) * y,
    "sinh": lambda x, y: np.sinh(x * y),
    "cosh": lambda x, y: np.cosh(x * y),
    "tanh": lambda x, y: np.tanh(x * y),
    "arctan": lambda x, y: np.arctan(x) * y,
    "maximum": lambda x, y: np.maximum(x, y) ** 2 + np.maximum(x**2, 0.1) + np.maximum(1, x),
    "minimum": lambda x, y: np.minimum(x, y) ** 2 + np.minimum(x**2, 0.1) + np.minimum(1, x),
    "where": lambda x, y: np.where(x < y, x**3, y) + np.where(x >= y, x, y**2 * x) + np.where(True, x, y),
    "where all ways": lambda x, y: sum(np.where(c, x**2, y**3) for c in (x <= y, x > y, x < 1, y >= 2, y <= 3)),
    "comparisons of NumPy": lambda x, y: sum(
        np.where(compare(np.float64(1.1), x), x**2, y**3)
        for compare in (np.less, np.less_equal, np.greater, np.greater_equal)
    ),
    "numbers of NumPy": lambda x, y: np.float64(2) * x + np.array(3.0) / y - np.int64(2) ** x + np.add(x, y),
}


def inner(s1, s2, s3):
    """Two smooth arguments that mix all stretches."""
    return s1 * s2 - 0.07 * s3, 0.8 * s3 + 0.5 * s1 * s2 * s3 - 0.16


def slope(function, point, axis):
    """Derivative by central differences of order 6 with h = 1e-3: the error is h^6/140 times the seventh derivative."""
    total = 0.0
    for offset, weight in ((1, 3 / 4), (2, -3 / 20), (3, 1 / 60)):
        ahead, behind = list(point), list(point)
        ahead[axis] += 1e-3 * offset
        behind[axis] -= 1e-3 * offset
        total = total + weight * (np.array(function(ahead)) - np.array(function(behind))) / 1e-3
    return total


@pytest.fixture
def formulas(tmp_path):
    """Emit and load a source; give psi, stress, dstress as plain Python functions of (s, p)."""

    def make(source, key):
        module = load(source, key, tmp_path)
        return module.psi.py_func, module.stress.py_func, module.dstress.py_func

    return make


@pytest.mark.parametrize("name", WRITTEN)
def test_derivatives_of_everything_that_can_be_written(name, formulas):
    def energy(s1, s2, s3):
        return WRITTEN[name](*inner(s1, s2, s3))

    psi, stress, dstress = formulas(emit_module(energy(*STRETCHES)), f"written_{name.replace(' ', '_')}")
    assert psi(POINT, ()) == pytest.approx(float(energy(*POINT)), rel=1e-14)
    first, second = stress(POINT, ()), dstress(POINT, ())
    assert all(isinstance(value, float) for value in (*first, *second))
    for i in range(3):
        assert first[i] == pytest.approx(slope(lambda s: psi(s, ()), POINT, i), rel=1e-8, abs=1e-8)
    for value, (i, j) in zip(second, PAIRS):
        assert value == pytest.approx(slope(lambda s: stress(s, ()), POINT, j)[i], rel=1e-8, abs=1e-8)


def neohookean(I1, J, mu, lam):
    return mu / 2 * (I1 - 3) - mu * np.log(J) + lam / 2 * np.log(J) ** 2


def ogden(s1, s2, s3, mu, alpha=3.5, *, bulk):
    energy = sum(mu / alpha * (s**alpha - 1) - mu * np.log(s) for s in (s1, s2, s3))
    return energy + bulk / 2 * (s1 * s2 * s3 - 1) ** 2


def test_neohookean_from_invariants_is_the_one_in_books(formulas):
    """psi_i = mu s_i + (lam ln J - mu) / s_i, psi_ij = lam / (s_i s_j), psi_ii = mu + (lam + mu - lam ln J) / s_i^2"""
    mu, lam, s = 3.0, 7.0, np.array(POINT)
    traced = trace(neohookean, {"lam": lam, "mu": mu})
    assert (traced.names, traced.values) == (("mu", "lam"), (mu, lam))
    assert traced.lame == pytest.approx((lam, mu), rel=1e-14)
    psi, stress, dstress = formulas(traced.source, traced.key)
    log = math.log(s.prod())
    hessian = lam / np.outer(s, s) + np.diag(mu + (mu - lam * log) / s**2)
    expected = mu / 2 * (s @ s - 3) - mu * log + lam / 2 * log**2
    np.testing.assert_allclose(psi(POINT, traced.values), expected, rtol=1e-12)
    np.testing.assert_allclose(stress(POINT, traced.values), mu * s + (lam * log - mu) / s, rtol=1e-12)
    np.testing.assert_allclose(dstress(POINT, traced.values), [hessian[pair] for pair in PAIRS], rtol=1e-12)


def test_ogden_from_stretches_is_the_one_in_books(formulas):
    """psi_i = mu (s_i^(a-1) - 1/s_i) + K (J - 1) J / s_i; a default and a keyword among the parameters."""
    mu, alpha, bulk, s = 2.0, 3.5, 11.0, np.array(POINT)
    traced = trace(ogden, {"bulk": bulk, "mu": mu})
    assert (traced.names, traced.values) == (("mu", "alpha", "bulk"), (mu, alpha, bulk))
    assert traced.lame == pytest.approx((bulk, mu * alpha / 2), rel=1e-14)
    psi, stress, dstress = formulas(traced.source, traced.key)
    j = s.prod()
    expected = mu / alpha * (s**alpha - 1).sum() - mu * math.log(j) + bulk / 2 * (j - 1) ** 2
    gradient = mu * (s ** (alpha - 1) - 1 / s) + bulk * (j - 1) * j / s
    hessian = bulk * (2 * j - 1) * j / np.outer(s, s)
    np.fill_diagonal(hessian, mu * ((alpha - 1) * s ** (alpha - 2) + s**-2) + bulk * (j / s) ** 2)
    np.testing.assert_allclose(psi(POINT, traced.values), expected, rtol=1e-12)
    np.testing.assert_allclose(stress(POINT, traced.values), gradient, rtol=1e-12)
    np.testing.assert_allclose(dstress(POINT, traced.values), [hessian[pair] for pair in PAIRS], rtol=1e-12)


def test_compiled_module_agrees_with_plain_python(tmp_path):
    """Also where the branch not taken is not a number."""

    def energy(J, I2, I1, c, k):
        isochoric = c * (J ** (-2 / 3) * I1 - 3) + 0.3 * c * (J ** (-4 / 3) * I2 - 3)
        return isochoric + k * np.where(J > 0.6, (J**2 - 1) / 4 - np.log(J) / 2, (J - 0.6) ** 2 + 0.1)

    traced = trace(energy, {"c": 1.5, "k": 20.0})
    module = load(traced.source, traced.key, tmp_path / "made" / "when missing")
    for function in (module.psi, module.stress, module.dstress):
        np.testing.assert_allclose(function(POINT, traced.values), function.py_func(POINT, traced.values), rtol=1e-13)
    assert load(traced.source, traced.key, tmp_path) is module is sys.modules[f"pliant_law_{traced.key}"]
    guarded = emit_module(np.where(STRETCHES[0] > 0, np.log(STRETCHES[0]), STRETCHES[1]))
    assert load(guarded, "guarded", tmp_path).psi((-1.0, 2.0, 3.0), (0.0,)) == 2.0
    assert [path.name for path in tmp_path.iterdir() if path.suffix != ".py" and path.is_file()] == []


def test_source_is_the_same_in_every_process():
    """... whatever was traced before, and however strings are hashed there; values of parameters are not in it."""
    traced = trace(neohookean, {"mu": 1.0, "lam": 2.0})
    assert traced.source == trace(neohookean, {"mu": 5.0, "lam": 9.0}).source
    assert traced.key == trace(lambda J, I1, a, b: neohookean(I1, J, a, b), {"a": 1.0, "b": 1.0}).key
    assert traced.key != trace(ogden, {"mu": 1.0, "bulk": 2.0}).key
    script = (
        "from test_symbolic import *\n"
        "kept = [STRETCHES[2] * STRETCHES[0], np.log(STRETCHES[1]), symbol('p1') / 2]\n"
        "other = trace(ogden, {'mu': 1.0, 'bulk': 2.0})\n"
        "print(trace(neohookean, {'mu': 1.0, 'lam': 2.0}).key, other.key)\n"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "123"}
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=Path(__file__).parent,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == [traced.key, trace(ogden, {"mu": 1.0, "bulk": 2.0}).key]


def test_equal_expressions_are_one_object_and_simple():
    x, y = symbol("x"), symbol("y")
    assert np.log(x * y + 1) is np.log(1 + y * x)
    for simple in (x + 0, 0 + x, x - 0, x * 1, 1 * x, x / 1, x**1, 0 - (-x)):
        assert simple is x
    assert x**2 is x * x and x**0.5 is np.sqrt(x)
    for zero in (x * 0, 0 * x, 0 / x, x - x, differentiate(y, x)):
        assert is_number(zero, 0.0)
    assert is_number(x**0, 1.0) and is_number(number(2) * 3 + np.exp(number(0)), 7.0)
    assert x - (-y) is x + y and x + x is 2 * x and 2 * (3 * x) is 6 * x


def test_long_sums_are_traced():
    """No recursion: a sum of many terms is a deep graph, and each line of the source stays short enough to parse."""

    def energy(I1, J, mu):
        return neohookean(I1, J, mu, mu) + sum(mu * (J - 1) ** 2 / k**3 for k in range(1, 1500))

    bulk = sum(2 / k**3 for k in range(1, 1500))
    assert trace(energy, {"mu": 1}).lame == pytest.approx((1 + bulk, 1))


KINEMATICS = "takes the stretches s1, s2, s3, or some of the invariants I1"
SIMPLE = {"mu": 1.0, "lam": 1.0}


def energy_of(expression):
    """A neo-Hookean law with something added."""
    return lambda s1, s2, s3, mu=1.0: neohookean(s1**2 + s2**2 + s3**2, s1 * s2 * s3, mu, mu) + expression(s1, s2, s3)


def with_math(J, mu):
    return mu * math.log(J)


def with_if(J, mu):
    return mu * J if J > 1 else mu


def with_nothing(J, mu):
    pass


def with_any(J, *others):
    return J


def with_positional_only(I1, J, /, mu, *, lam):
    return neohookean(I1, J, mu, lam)


REFUSED = {
    "argument 'nu' is not among its parameters (mu)": (lambda I1, mu, nu: I1, {"mu": 1.0}),
    "argument 'mu' is not among its parameters (none)": (neohookean, {}),
    "energy neohookean has no parameter 'nu'; it has mu, lam": (neohookean, {**SIMPLE, "nu": 1.0}),
    "energy neohookean has no parameter 'J'; it has mu, lam": (neohookean, {**SIMPLE, "J": 1.0}),
    "has arguments s1, s2; an energy " + KINEMATICS: (lambda s1, s2: s1 * s2, {}),
    "has arguments s1, s2, s3, J; an energy " + KINEMATICS: (lambda s1, s2, s3, J: J, {}),
    "has arguments of no deformation; an energy " + KINEMATICS: (lambda mu: mu, {"mu": 1.0}),
    "argument *others has no name to fill it by": (with_any, {}),
    "3 is no function with named arguments": (3, {}),
    "parameter mu of energy neohookean must be a finite number": (neohookean, {"mu": math.inf, "lam": 1.0}),
    "parameter mu of energy neohookean must be a number": (neohookean, {"mu": "soft", "lam": 1.0}),
    "energy with_nothing must return a formula in its arguments, got None": (with_nothing, {"mu": 1.0}),
    "must return a formula in its arguments, got 3.0": (lambda J: 3.0, {}),
    "must return a formula in its arguments, got <less>": (lambda J: J > 1, {}),
    "energy with_if: an `if` on a stretch or a parameter cannot be traced": (with_if, {"mu": 1.0}),
    "use np.where(condition, a, b), np.maximum or np.minimum": (lambda s1, s2, s3: max(s1, s2), {}),
    "energy with_math: a stretch or a parameter has no value while": (with_math, {"mu": 1.0}),
    "use NumPy's functions (np.log, np.exp, np.sqrt, ...) in place of math's": (lambda J: math.exp(J), {}),
    "a comparison of stretches can only be used in np.where": (lambda J: (J > 1) * J, {}),
    "== and != cannot be traced": (lambda J: np.where(J == 1, J, 1), {}),
    "np.where needs a comparison": (lambda J: np.where(J, J, 1), {}),
    "np.arcsin cannot be traced (or not with these arguments); known are absolute, arctan": (
        lambda J: np.arcsin(J),
        {},
    ),
    "np.sum cannot be traced": (lambda J: np.sum(J), {}),
    "np.add cannot be traced": (lambda J: np.add(J, 1, where=True), {}),
    "made of single numbers (write sums out), got ndarray": (lambda J: J * np.ones(3), {}),
    "made of single numbers (write sums out), got str": (lambda J: J * "a", {}),
    "cannot be traced: ZeroDivisionError: division by zero": (lambda J: J * (1 / 0), {}),
    "cannot be traced: TypeError": (lambda J: J // 2, {}),
    "is not symmetric in s1, s2, s3, so its material is not isotropic": (
        energy_of(lambda a, b, c: 1e-6 * (a - b) ** 4),
        {},
    ),
    "is not finite at rest": (energy_of(lambda a, b, c: np.sqrt((a - 1) ** 2 + (b - 1) ** 2 + (c - 1) ** 2)), {}),
    "is not finite at rest (s1 = s2 = s3 = 1): value inf": (lambda J: 1 / (J - 1), {}),
    "has a stress at rest (s1 = s2 = s3 = 1): dpsi/ds = 1e-06, 1e-06, 1e-06": (
        energy_of(lambda a, b, c: 1e-6 * (a + b + c)),
        {},
    ),
    "no stable isotropic solid at rest: shear modulus 0 and bulk": (lambda J: (J - 1) ** 2, {}),
    "no stable isotropic solid at rest: shear modulus -1 and bulk": (neohookean, {"mu": -1.0, "lam": 5.0}),
    "shear modulus 1 and bulk modulus -0.333333 must be positive": (neohookean, {"mu": 1.0, "lam": -1.0}),
    "no stable isotropic solid at rest: shear modulus 0 and bulk modulus 0": (lambda J: 0 * J, {}),
}


@pytest.mark.parametrize("message", REFUSED)
def test_what_makes_no_sense_is_refused(message):
    with pytest.raises(SceneError) as caught:
        trace(*REFUSED[message])
    assert message in str(caught.value)
    assert "energy " in str(caught.value)


def test_kinks_at_rest_make_no_isotropic_moduli():
    """Symmetric in the stretches, but with a ridge at rest, where the second derivative depends on their order."""
    ridge = energy_of(lambda a, b, c: (np.maximum(np.maximum(a, b), c) - 1) ** 2)
    with pytest.raises(SceneError, match="no stable isotropic solid at rest"):
        trace(ridge, {})


def test_arguments_may_be_positional_only_or_by_keyword_only():
    assert trace(with_positional_only, SIMPLE).key == trace(neohookean, SIMPLE).key
