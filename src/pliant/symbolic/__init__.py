"""A user's energy density, written as a plain Python function, with exact derivatives.

The function is called once with symbols in place of numbers; what it does to them is the formula. `trace` checks it and
gives the text of a module with its value and derivatives, `load` imports that module.
"""

import hashlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from pliant.checks import number as checked_number
from pliant.checks import refusal, shown
from pliant.errors import SceneError
from pliant.symbolic.emit import PAIRS, STRETCHES, derivatives, emit_module, load
from pliant.symbolic.expression import Expression, Node, differentiate, is_number, ordered, symbol
from pliant.symbolic.formula import formula

__all__ = ["Expression", "TracedEnergy", "differentiate", "emit_module", "load", "symbol", "trace"]

STRETCH_NAMES = ("s1", "s2", "s3")
INVARIANT_NAMES = ("I1", "I2", "J")
ARGUMENT_RULE = (
    "an energy takes the stretches s1, s2, s3, or some of the invariants I1 = s1² + s2² + s3², "
    "I2 = s1² s2² + s2² s3² + s3² s1², J = s1 s2 s3, and its parameters by name"
)
# Largest difference of the energies of permuted stretches, relative to the energy.
SYMMETRY = 1e-9
# Largest stress at rest, and largest difference of moduli that must be equal there, relative to the largest modulus.
REST = 1e-8
# Stretches are permuted at random points up to that far from rest (those where the energy is not finite are left out).
RADII = (0.2, 0.02)


@dataclass(frozen=True)
class TracedEnergy:
    """A checked energy density: its parameters, and the module that computes it.

    `source` does not depend on the values of the parameters; `key` is a hash of it.
    """

    names: tuple[str, ...]  # parameters in the order of p
    values: tuple[float, ...]
    source: str  # module with psi(s, p), stress(s, p), dstress(s, p)
    key: str
    lame: tuple[float, float]  # lam, mu of small strains [Pa]
    text: str | None = None  # the formula, where it was given as one


def trace(function: Callable | str, parameters: Mapping[str, float]) -> TracedEnergy:
    """Energy density [J/m3] of principal stretches or invariants, as a user's function gives it.

    The function takes s1, s2, s3, or some of I1, I2, J, and its parameters, all by name; parameters with a default may
    be left out. It may use arithmetic, NumPy's elementary functions, and np.where for branches. In place of the
    function there may be a formula as text, such as "mu / 2 * (I1 - 3)".
    """
    text = function if isinstance(function, str) else None
    function = function if text is None else formula(text)
    name = getattr(function, "__name__", None) or shown(function)
    if not isinstance(parameters, Mapping) or not all(isinstance(key, str) for key in parameters):
        raise refusal(f"parameters of energy {name}", "a dict of names and numbers", parameters)
    arguments = _arguments(function, name)
    _check_kinematics(name, [key for key in arguments if key in STRETCH_NAMES + INVARIANT_NAMES])
    values = _values(name, arguments, parameters)
    symbols = [symbol(f"p{i}") for i in range(len(values))]
    energy = _call(function, name, arguments, _kinematics() | dict(zip(values, symbols)))
    lame = _check(name, energy, dict(zip(symbols, values.values())))
    source = emit_module(energy, symbols)
    key = hashlib.sha256(source.encode()).hexdigest()[:16]
    return TracedEnergy(tuple(values), tuple(values.values()), source, key, lame, text)


def _kinematics() -> dict[str, Expression]:
    """Stretches and invariants as expressions in the stretches."""
    s1, s2, s3 = STRETCHES
    a, b, c = s1 * s1, s2 * s2, s3 * s3
    return {"s1": s1, "s2": s2, "s3": s3, "I1": a + b + c, "I2": a * b + b * c + c * a, "J": s1 * s2 * s3}


def _arguments(function: Callable, name: str) -> Mapping[str, inspect.Parameter]:
    """The function's arguments; each must have a name of its own."""
    try:
        arguments = inspect.signature(function).parameters
    except (TypeError, ValueError):
        raise SceneError(f"{name} is no function with named arguments; {ARGUMENT_RULE}") from None
    for argument in arguments.values():
        if argument.kind in (argument.VAR_POSITIONAL, argument.VAR_KEYWORD):
            raise SceneError(f"energy {name}: argument {argument} has no name to fill it by; {ARGUMENT_RULE}")
    return arguments


def _check_kinematics(name: str, used: Sequence[str]) -> None:
    """All stretches and no invariant, or some invariants and no stretch."""
    if set(used) != set(STRETCH_NAMES) and (not used or not set(used) <= set(INVARIANT_NAMES)):
        raise SceneError(f"energy {name} has arguments {', '.join(used) or 'of no deformation'}; {ARGUMENT_RULE}")


def _values(name: str, arguments: Mapping[str, inspect.Parameter], parameters: Mapping[str, float]) -> dict[str, float]:
    """Parameters in the order of the arguments, with defaults filled in."""
    expected = [key for key in arguments if key not in STRETCH_NAMES + INVARIANT_NAMES]
    for key in parameters:
        if key not in expected:
            raise SceneError(f"energy {name} has no parameter {key!r}; it has {', '.join(expected) or 'none'}")
    values = {}
    for key in expected:
        value = parameters.get(key, arguments[key].default)
        if value is inspect.Parameter.empty:
            given = ", ".join(parameters) or "none"
            raise SceneError(f"energy {name}: argument {key!r} is not among its parameters ({given}); {ARGUMENT_RULE}")
        values[key] = checked_number(value, f"parameter {key} of energy {name}")
    return values


def _call(
    function: Callable, name: str, arguments: Mapping[str, inspect.Parameter], values: Mapping[str, Expression]
) -> Expression:
    """What the function makes of expressions."""
    by_name = {key: values[key] for key, argument in arguments.items() if argument.kind is argument.KEYWORD_ONLY}
    by_place = [values[key] for key in arguments if key not in by_name]
    try:
        energy = function(*by_place, **by_name)
    except SceneError as error:
        raise SceneError(f"energy {name}: {error}") from error
    except Exception as error:
        raise SceneError(f"energy {name} cannot be traced: {type(error).__name__}: {error}") from error
    if not isinstance(energy, Expression):
        raise SceneError(f"energy {name} must return a formula in its arguments, got {energy!r}")
    return energy


def _check(name: str, energy: Expression, parameters: Mapping[Expression, float]) -> tuple[float, float]:
    """Refuse an energy that is no isotropic solid's, stress-free and stable at rest; return its Lame parameters."""
    first, second = derivatives(energy)
    rest = {**dict.fromkeys(STRETCHES, 1.0), **parameters}
    value, *stress = (float(result) for result in _evaluate([energy, *first], rest))
    moduli = np.array(_evaluate(second, rest), dtype=float)
    if not np.all(np.isfinite([value, *stress, *moduli])):
        raise SceneError(
            f"energy {name} is not finite at rest (s1 = s2 = s3 = 1): value {value:g}, "
            f"derivatives {_listed(stress)}, second derivatives {_listed(moduli)}"
        )
    largest = np.abs(moduli).max()
    _check_symmetry(name, energy, parameters, largest)
    if np.abs(stress).max() > REST * largest:
        raise SceneError(f"energy {name} has a stress at rest (s1 = s2 = s3 = 1): dpsi/ds = {_listed(stress)}")
    _check_moduli(name, moduli, largest)
    return float(moduli[5]), float(moduli[0] - moduli[5]) / 2


def _check_symmetry(name: str, energy: Expression, parameters: Mapping[Expression, float], modulus: float) -> None:
    """The energy must not depend on the order of the stretches."""
    random = np.random.default_rng(1)
    points = np.concatenate([1 + radius * random.uniform(-1, 1, (4, 3)) for radius in RADII])
    orders = np.array([points[:, order] for order in permutations(range(3))])  # (6, points, 3)
    (values,) = _evaluate([energy], {**dict(zip(STRETCHES, np.moveaxis(orders, 2, 0))), **parameters})
    values = np.broadcast_to(values, orders.shape[:2])
    scale = np.abs(values).max(axis=0) + modulus * ((points - 1) ** 2).sum(axis=1)
    with np.errstate(invalid="ignore"):
        wrong = np.ptp(values, axis=0) > SYMMETRY * scale  # false where a value is not finite
    if wrong.any():
        a, b, c = points[wrong][0]
        energies = _listed(values[:, wrong][:, 0])
        raise SceneError(
            f"energy {name} is not symmetric in s1, s2, s3, so its material is not isotropic: "
            f"the stretches {a:.4f}, {b:.4f}, {c:.4f} in all orders have energies {energies}"
        )


def _check_moduli(name: str, moduli: np.ndarray, largest: float) -> None:
    """Second derivatives at rest: lam + 2 mu on the diagonal, lam beside it, both moduli positive."""
    diagonal, beside = moduli[0], moduli[5]
    shear, bulk = (diagonal - beside) / 2, (diagonal + 2 * beside) / 3
    expected = np.array([diagonal if i == j else beside for i, j in PAIRS])
    if not (shear > 0 and bulk > 0) or np.abs(moduli - expected).max() > REST * largest:
        raise SceneError(
            f"energy {name} is no stable isotropic solid at rest: shear modulus {shear:g} and bulk modulus {bulk:g} "
            f"must be positive (second derivatives 11, 22, 33, 23, 13, 12: {_listed(moduli)})"
        )


def _evaluate(expressions: Sequence[Expression], values: Mapping[Expression, float | np.ndarray]) -> list[np.ndarray]:
    """Values of expressions, given those of the symbols; not a number where NumPy says so, without warnings."""
    results: dict[Node, np.ndarray] = {symbol: np.asarray(value, dtype=float) for symbol, value in values.items()}
    with np.errstate(all="ignore"):
        for node in ordered(expressions):
            if is_number(node):
                results[node] = np.float64(node.label)
            elif node.operands:
                results[node] = getattr(np, node.operation)(*(results[operand] for operand in node.operands))
    return [results[expression] for expression in expressions]


def _listed(values: Sequence[float]) -> str:
    return ", ".join(f"{value:.10g}" for value in values)
