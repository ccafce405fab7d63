"""Laws of volumes as seen by a sheet: principal stretches in its plane, and the one across it (formulas.cloth)."""

import math

from numba.extending import overload

from pliant.formulas.cloth import THICKEST, THINNEST, next_thickness
from pliant.jit import formula
from pliant.kernels.laws import INLINE, Arap, Corotated, Linear, Stvk, law_formula

# Steps towards the stretch across the sheet; each converges twice the digits once it is near.
STEPS = 20
# Part of the stretch by which the last step may change it.
CLOSE = 1e-14
# Numbers of the data for products of a triangle: U, two gradients seen in V (2 each), seven moduli.
TRIANGLE_DATA = 20
# ... and of a triangle that folds with its neighbours: stiffness (6) and gradients of three angles (36).
BENDING_DATA = 42


def sheet_stress(law, s1, s2, free, group, lane):
    """Stretch across the sheet, principal stresses (3) [Pa], psi [J/m3] at stretches s1, s2 in its plane; free: whether
    the thickness follows. (Compiled only.)"""
    raise TypeError(f"no law {type(law).__name__}")


def sheet_curvature(law, s, group, lane):
    """Principal stresses (3) and their derivatives (6) [Pa] at stretches s (3). (Compiled only.)"""
    raise TypeError(f"no law {type(law).__name__}")


@formula
def _linear_thickness(s1, s2, lam, mu):
    """The stretch across a sheet of a law that is linear in it: 2 mu (t - 1) + lam (s1 + s2 + t - 3) = 0."""
    return min(max(1.0 - lam * (s1 + s2 - 2.0) / (lam + 2.0 * mu), THINNEST), THICKEST)


@formula
def _stvk_thickness(s1, s2, lam, mu):
    """The same of a law that is linear in Green's strain."""
    e = -lam * 0.5 * (s1 * s1 + s2 * s2 - 2.0) / (lam + 2.0 * mu)
    return min(math.sqrt(max(1.0 + 2.0 * e, THINNEST * THINNEST)), THICKEST)


# Laws whose stretch across a sheet is known in closed form.
KNOWN = {Corotated: _linear_thickness, Stvk: _stvk_thickness}


@overload(sheet_stress, jit_options=INLINE)
def _sheet_stress(law, s1, s2, free, group, lane):
    psi, stress, curvature = (law_formula(law, number) for number in range(3))
    kind = getattr(law, "instance_class", None)
    if psi is None or kind is Linear:
        return None
    if kind is Arap:

        def uncoupled(law, s1, s2, free, group, lane):
            s = (s1, s2, 1.0)
            return 1.0, stress(law, s, group, lane), psi(law, s, group, lane)

        return uncoupled
    thickness = KNOWN.get(kind)
    if thickness:

        def known(law, s1, s2, free, group, lane):
            t = thickness(s1, s2, law.lam[group, lane], law.mu[group, lane]) if free else 1.0
            return t, stress(law, (s1, s2, t), group, lane), psi(law, (s1, s2, t), group, lane)

        return known

    def implementation(law, s1, s2, free, group, lane):
        t = 1.0
        if free:
            for _ in range(STEPS):
                s, before = (s1, s2, t), t
                t = next_thickness(t, stress(law, s, group, lane)[2], curvature(law, s, group, lane)[2])
                if abs(t - before) < CLOSE * t:
                    break
        s = (s1, s2, t)
        return t, stress(law, s, group, lane), psi(law, s, group, lane)

    return implementation


@overload(sheet_curvature, jit_options=INLINE)
def _sheet_curvature(law, s, group, lane):
    stress, curvature = law_formula(law, 1), law_formula(law, 2)
    if stress is None:
        return None
    return lambda law, s, group, lane: (stress(law, s, group, lane), curvature(law, s, group, lane))
