"""Hyperelastic laws as functions of the signed principal stretches s = (s0, s1, s2) (S chapter 3, theory section 4).

A law is three formulas: `psi_NAME` the energy density [J/m3], `stress_NAME` its three derivatives (principal first
Piola stresses [Pa]), `dstress_NAME` its second derivatives in the order 00, 11, 22, 12, 02, 01. lam, mu are Lame's
parameters [Pa]. The linear law uses the corotated formulas in an unrotated frame (see formulas.hyperelastic).
"""

import math

from pliant.jit import formula

# Least J of which a logarithm is taken; nothing is asked of elements with less.
TINY = 1e-100


@formula
def others(s):
    """dJ/ds: products of the two other stretches."""
    return (s[1] * s[2], s[0] * s[2], s[0] * s[1])


@formula
def volumetric_curvature(s, j, first, second):
    """Second derivatives of a function of J with derivatives `first`, `second`; j = others(s)."""
    return (
        second * j[0] * j[0],
        second * j[1] * j[1],
        second * j[2] * j[2],
        second * j[1] * j[2] + first * s[0],
        second * j[0] * j[2] + first * s[1],
        second * j[0] * j[1] + first * s[2],
    )


@formula
def psi_corotated(s, lam, mu):
    """mu |F - R|^2 + lam/2 tr^2(R^T F - I)"""
    a, b, c = s[0] - 1.0, s[1] - 1.0, s[2] - 1.0
    return mu * (a * a + b * b + c * c) + 0.5 * lam * (a + b + c) * (a + b + c)


@formula
def stress_corotated(s, lam, mu):
    trace = lam * (s[0] + s[1] + s[2] - 3.0)
    return (2.0 * mu * (s[0] - 1.0) + trace, 2.0 * mu * (s[1] - 1.0) + trace, 2.0 * mu * (s[2] - 1.0) + trace)


@formula
def dstress_corotated(s, lam, mu):
    both = lam + 2.0 * mu
    return (both, both, both, lam, lam, lam)


@formula
def psi_arap(s, lam, mu):
    """mu |F - R|^2; Poisson's ratio only sets mu."""
    return psi_corotated(s, 0.0, mu)


@formula
def stress_arap(s, lam, mu):
    return stress_corotated(s, 0.0, mu)


@formula
def dstress_arap(s, lam, mu):
    return dstress_corotated(s, 0.0, mu)


@formula
def psi_stvk(s, lam, mu):
    """mu E:E + lam/2 tr^2 E, E = (F^T F - I)/2"""
    a, b, c = 0.5 * (s[0] * s[0] - 1.0), 0.5 * (s[1] * s[1] - 1.0), 0.5 * (s[2] * s[2] - 1.0)
    return mu * (a * a + b * b + c * c) + 0.5 * lam * (a + b + c) * (a + b + c)


@formula
def stress_stvk(s, lam, mu):
    a, b, c = s[0] * s[0] - 1.0, s[1] * s[1] - 1.0, s[2] * s[2] - 1.0
    trace = 0.5 * lam * (a + b + c)
    return (s[0] * (mu * a + trace), s[1] * (mu * b + trace), s[2] * (mu * c + trace))


@formula
def dstress_stvk(s, lam, mu):
    a, b, c = s[0] * s[0], s[1] * s[1], s[2] * s[2]
    trace, both = 0.5 * lam * (a + b + c - 3.0) - mu, lam + 3.0 * mu
    return (
        both * a + trace,
        both * b + trace,
        both * c + trace,
        lam * s[1] * s[2],
        lam * s[0] * s[2],
        lam * s[0] * s[1],
    )


@formula
def psi_fixed_corotated(s, lam, mu):
    """mu |F - R|^2 + lam/2 (J - 1)^2"""
    j = s[0] * s[1] * s[2] - 1.0
    return psi_corotated(s, 0.0, mu) + 0.5 * lam * j * j


@formula
def stress_fixed_corotated(s, lam, mu):
    p, j = stress_corotated(s, 0.0, mu), others(s)
    volume = lam * (s[0] * j[0] - 1.0)
    return (p[0] + volume * j[0], p[1] + volume * j[1], p[2] + volume * j[2])


@formula
def dstress_fixed_corotated(s, lam, mu):
    j = others(s)
    v = volumetric_curvature(s, j, lam * (s[0] * j[0] - 1.0), lam)
    return (v[0] + 2.0 * mu, v[1] + 2.0 * mu, v[2] + 2.0 * mu, v[3], v[4], v[5])


@formula
def psi_stable_neohookean(s, lam, mu):
    """Smith, de Goes and Kim 2018, eq. 14, with its moduli expressed by Lame's: m = 4/3 mu, l = lam + 5/6 mu.

    m/2 (I1 - 3) - m/2 ln((I1 + 1)/4) - 3/4 m (J - 1) + l/2 (J - 1)^2; finite for inverted elements.
    """
    m, l = 4.0 * mu / 3.0, lam + 5.0 * mu / 6.0
    i, j = s[0] * s[0] + s[1] * s[1] + s[2] * s[2], s[0] * s[1] * s[2] - 1.0
    return 0.5 * m * (i - 3.0) - 0.5 * m * math.log(0.25 * (i + 1.0)) - 0.75 * m * j + 0.5 * l * j * j


@formula
def stress_stable_neohookean(s, lam, mu):
    m, l, j = 4.0 * mu / 3.0, lam + 5.0 * mu / 6.0, others(s)
    i = s[0] * s[0] + s[1] * s[1] + s[2] * s[2]
    shear, volume = m * (1.0 - 1.0 / (i + 1.0)), l * (s[0] * j[0] - 1.0) - 0.75 * m
    return (shear * s[0] + volume * j[0], shear * s[1] + volume * j[1], shear * s[2] + volume * j[2])


@formula
def dstress_stable_neohookean(s, lam, mu):
    m, l, j = 4.0 * mu / 3.0, lam + 5.0 * mu / 6.0, others(s)
    i = s[0] * s[0] + s[1] * s[1] + s[2] * s[2] + 1.0
    shear, bend = m * (1.0 - 1.0 / i), 2.0 * m / (i * i)
    v = volumetric_curvature(s, j, l * (s[0] * j[0] - 1.0) - 0.75 * m, l)
    return (
        v[0] + shear + bend * s[0] * s[0],
        v[1] + shear + bend * s[1] * s[1],
        v[2] + shear + bend * s[2] * s[2],
        v[3] + bend * s[1] * s[2],
        v[4] + bend * s[0] * s[2],
        v[5] + bend * s[0] * s[1],
    )


@formula
def psi_neohookean(s, lam, mu):
    """mu/2 (I1 - 3) - mu ln J + lam/2 ln^2 J, infinite for J <= 0."""
    j = s[0] * s[1] * s[2]
    log = math.log(max(j, TINY))
    shear = 0.5 * mu * (s[0] * s[0] + s[1] * s[1] + s[2] * s[2] - 3.0)
    return math.inf if j <= 0.0 else shear - mu * log + 0.5 * lam * log * log


@formula
def stress_neohookean(s, lam, mu):
    j = others(s)
    safe = max(s[0] * j[0], TINY)
    volume = (lam * math.log(safe) - mu) / safe
    return (mu * s[0] + volume * j[0], mu * s[1] + volume * j[1], mu * s[2] + volume * j[2])


@formula
def dstress_neohookean(s, lam, mu):
    j = others(s)
    safe = max(s[0] * j[0], TINY)
    pressure = lam * math.log(safe) - mu
    v = volumetric_curvature(s, j, pressure / safe, (lam - pressure) / (safe * safe))
    return (v[0] + mu, v[1] + mu, v[2] + mu, v[3], v[4], v[5])
