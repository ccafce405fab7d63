"""Laws as named tuples of parameters in lanes, with one compiled call for each of a law's three formulas.

Kernels over elements are written once and compiled for the law they are given; only laws in use are compiled.
"""

from typing import NamedTuple

import numpy as np
from numba.extending import overload

from pliant.formulas import materials as m
from pliant.formulas.hyperelastic import moduli, principal_stress
from pliant.formulas.svd import signed_svd
from pliant.jit import FASTMATH, formula

IDENTITY = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
INLINE = {"forceinline": True, "fastmath": FASTMATH, "error_model": "numpy"}


class Linear(NamedTuple):
    """Lame parameters (groups, LANES) [Pa]; the corotated formulas in an unrotated frame."""

    lam: np.ndarray
    mu: np.ndarray


class Corotated(NamedTuple):
    """Lame parameters (groups, LANES) [Pa]."""

    lam: np.ndarray
    mu: np.ndarray


class Arap(NamedTuple):
    """Lame parameters (groups, LANES) [Pa]."""

    lam: np.ndarray
    mu: np.ndarray


class Stvk(NamedTuple):
    """Lame parameters (groups, LANES) [Pa]."""

    lam: np.ndarray
    mu: np.ndarray


class FixedCorotated(NamedTuple):
    """Lame parameters (groups, LANES) [Pa]."""

    lam: np.ndarray
    mu: np.ndarray


class StableNeohookean(NamedTuple):
    """Lame parameters (groups, LANES) [Pa]."""

    lam: np.ndarray
    mu: np.ndarray


class Neohookean(NamedTuple):
    """Lame parameters (groups, LANES) [Pa]; an energy that is infinite for inverted elements."""

    lam: np.ndarray
    mu: np.ndarray


class PulledBack(NamedTuple):
    """A law of a set of which some bodies are turned inside out: where `pulled` (groups, LANES) is 1, elements follow
    mu |F - R|^2 with mu (groups, LANES) [Pa], elsewhere their own law."""

    own: tuple
    mu: np.ndarray
    pulled: np.ndarray


class Law(NamedTuple):
    """One law: the tuple of its parameters, its three formulas of the principal stretches, and what solvers must know.

    rotates: whether its strain is measured in the rotated frame of an element. row_form: whether it is linear in such a
    strain, and so can be written as rows. may_tangle: whether it can rest with elements turned inside out. volume:
    whether it is a density over volumes; if not, it is of the edges of a mesh.
    """

    parameters: type | None = None
    psi: object = None
    stress: object = None
    dstress: object = None
    rotates: bool = True
    row_form: bool = False
    may_tangle: bool = True
    volume: bool = True


COROTATED = (m.psi_corotated, m.stress_corotated, m.dstress_corotated)
FIXED_COROTATED = (m.psi_fixed_corotated, m.stress_fixed_corotated, m.dstress_fixed_corotated)
STABLE_NEOHOOKEAN = (m.psi_stable_neohookean, m.stress_stable_neohookean, m.dstress_stable_neohookean)
LAWS = {
    # one equilibrium only, whatever is inverted on the way
    "linear": Law(Linear, *COROTATED, rotates=False, row_form=True, may_tangle=False),
    "corotated": Law(Corotated, *COROTATED, row_form=True),
    "arap": Law(Arap, m.psi_arap, m.stress_arap, m.dstress_arap),
    "stvk": Law(Stvk, m.psi_stvk, m.stress_stvk, m.dstress_stvk),
    "fixed_corotated": Law(FixedCorotated, *FIXED_COROTATED),
    "neohookean": Law(Neohookean, m.psi_neohookean, m.stress_neohookean, m.dstress_neohookean),
    "stable_neohookean": Law(StableNeohookean, *STABLE_NEOHOOKEAN),
    "springs": Law(row_form=True, may_tangle=False, volume=False),
}
# Of the surface strain of sheets that bend, and of their yarns; no material is named so.
SHEET_LAWS = {"bending": Law(may_tangle=False), "fibres": Law(may_tangle=False, volume=False)}
# Of a user's energy; its parameters and formulas are made with it.
CUSTOM = Law()
FORMULAS = {law.parameters: (law.psi, law.stress, law.dstress) for law in LAWS.values() if law.parameters}
# How the names of users' laws begin: tuples of numbers, the parameters of their formulas.
USER_LAW = "UserLaw"


def law_facts(name: str) -> Law:
    """What solvers must know of a law; of a name that is not in the table, that of a user's energy."""
    return (LAWS | SHEET_LAWS).get(name, CUSTOM)


def deform(law, f, group, lane):
    """Of the element in (group, lane) with deformation gradient f: U, s, V, P [Pa], psi [J/m3]. (Compiled only.)"""
    raise TypeError(f"no law {type(law).__name__}")


def stiffness_moduli(law, s, group, lane):
    """A (6), symmetric (3), skew (3) moduli [Pa] at stretches s, not projected. (Compiled only.)"""
    raise TypeError(f"no law {type(law).__name__}")


def law_formula(law, number: int):
    """The law's formula with its parameters filled in: (law, s, group, lane) -> value; None for no law of ours."""
    kind = getattr(law, "instance_class", None)
    if kind is PulledBack:
        own, pull = law_formula(law.types[0], number), FORMULAS[Arap][number]

        def either(law, s, group, lane):
            if law.pulled[group, lane] > 0.0:
                return pull(s, 0.0, law.mu[group, lane])
            return own(law.own, s, group, lane)

        return formula(either)
    if kind not in FORMULAS:
        return None
    function = FORMULAS[kind][number]
    if kind.__name__.startswith(USER_LAW):
        return formula(lambda law, s, group, lane: function(s, law))
    return formula(lambda law, s, group, lane: function(s, law.lam[group, lane], law.mu[group, lane]))


@overload(deform, jit_options=INLINE)
def _deform(law, f, group, lane):
    psi, stress = law_formula(law, 0), law_formula(law, 1)
    if psi is None:
        return None
    if law.instance_class is Linear:
        return _deform_linear

    def implementation(law, f, group, lane):
        u, s, v = signed_svd(f)
        return u, s, v, principal_stress(u, stress(law, s, group, lane), v), psi(law, s, group, lane)

    return implementation


def _deform_linear(law, f, group, lane):
    """e = (F + F^T)/2 - I: the corotated formulas on the diagonal, shear beside it."""
    s, lam, mu = (f[0], f[4], f[8]), law.lam[group, lane], law.mu[group, lane]
    t = m.stress_corotated(s, lam, mu)
    a, b, c = f[5] + f[7], f[2] + f[6], f[1] + f[3]
    p = (t[0], mu * c, mu * b, mu * c, t[1], mu * a, mu * b, mu * a, t[2])
    return IDENTITY, s, IDENTITY, p, m.psi_corotated(s, lam, mu) + 0.5 * mu * (a * a + b * b + c * c)


@overload(stiffness_moduli, jit_options=INLINE)
def _stiffness_moduli(law, s, group, lane):
    stress, dstress = law_formula(law, 1), law_formula(law, 2)
    if stress is None:
        return None
    if law.instance_class is Linear:

        def linear(law, s, group, lane):
            double = 2.0 * law.mu[group, lane]
            return dstress(law, s, group, lane), (double, double, double), (0.0, 0.0, 0.0)

        return linear

    def implementation(law, s, group, lane):
        return moduli(s, stress(law, s, group, lane), dstress(law, s, group, lane))

    return implementation
