"""Equilibrium near buckling: columns of rods and of sheets against beam theory and the elastica."""

import warnings

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import ellipk

import pliant as pl

# side load at the tip, relative to Euler's load
SIDE = 1e-4
YOUNG = 2e9


def euler(bending: float, length: float) -> float:
    """Euler's load [N] of a column clamped at its foot, free at its top, of bending stiffness EI [N m2]."""
    return np.pi**2 * bending / (4 * length**2)


def rod_tip(share: float, load_steps: int = 1, side: float = SIDE) -> float:
    """Deflection of the tip, relative to the length, of a rod of 1 m under that part of Euler's load."""
    radius, segments = 0.01, 30
    critical = euler(YOUNG * np.pi * radius**4 / 4, 1.0)
    scene = pl.Scene(gravity=(0, 0, 0))
    points = np.linspace((0, 0, 0), (0, 0, 1), segments + 1)
    rod = scene.add_rod(points, pl.Material.linear(YOUNG, 0.3, 1000), radius=radius)
    rod.clamp(0)
    rod[segments].force((side * critical, 0, -share * critical))
    return scene.equilibrium(load_steps=load_steps).rod(rod).points[-1, 0]


def strip_tip(share: float, load_steps: int = 1, side: float = SIDE) -> float:
    """The same of a strip of a sheet, 0.2 m long."""
    length, width, thickness = 0.2, 0.02, 2e-3
    critical = euler(YOUNG * width * thickness**3 / 12, length)
    scene = pl.Scene(gravity=(0, 0, 0))
    mesh = pl.meshes.grid((length, width), (40, 4))
    strip = scene.add_cloth(mesh, pl.Material.corotated(YOUNG, 0, 1000), thickness=thickness)
    strip.clamp("x < 1e-6")
    strip.force("x > 0.19999", (-share * critical, 0, side * critical))
    return scene.equilibrium(load_steps=load_steps).positions(strip)[-1, 2] / length


def bent_column(share: float) -> float:
    """Below Euler's load, to first order: w = q L^3 / (3 EI) 3 (tan a - a) / a^3, a = pi/2 sqrt(P / Pc)."""
    a = np.pi / 2 * np.sqrt(share)
    return SIDE * np.pi**2 / 12 * 3 * (np.tan(a) - a) / a**3


def elastica(share: float) -> float:
    """Above it: K(k) = pi/2 sqrt(P / Pc) and w = 2 k L / K(k)."""
    whole = np.pi / 2 * np.sqrt(share)
    square = brentq(lambda m: ellipk(m) - whole, 0.0, 0.9)
    return 2 * np.sqrt(square) / whole


@pytest.mark.parametrize("tip", [rod_tip, strip_tip])
@pytest.mark.parametrize("share, load_steps", [(0.8, 1), (0.9, 1), (0.9, 20)])
def test_a_column_below_eulers_load_bends_as_theory_says(tip, share, load_steps):
    """Discretisation moves Euler's load by 1e-4 of it, which its distance from the load magnifies ten times."""
    assert tip(share, load_steps) == pytest.approx(bent_column(share), rel=2e-3)


@pytest.mark.parametrize("tip", [rod_tip, strip_tip])
@pytest.mark.parametrize("share, load_steps", [(1.05, 1), (1.1, 1), (1.1, 20)])
def test_a_column_above_eulers_load_is_an_elastica(tip, share, load_steps):
    """The side load adds to it SIDE / 2 (P / Pc - 1) and less."""
    assert tip(share, load_steps) == pytest.approx(elastica(share), rel=3e-3)


@pytest.mark.parametrize("tip", [rod_tip, strip_tip])
def test_load_steps_do_not_change_how_far_a_column_bends(tip):
    """At 0.98 of Euler's load any force that is not of statics would count fifty times; tolerances are 1e-6."""
    assert tip(0.98, 1) == pytest.approx(tip(0.98, 20), rel=1e-5)


def test_just_above_eulers_load_the_buckled_shape_is_found():
    """1.02 is where the stiffness of the straight column has lost its sign by little: many iterations lead nowhere."""
    assert rod_tip(1.02) == pytest.approx(elastica(1.02), rel=1e-2)
    assert strip_tip(1.02, 20) == pytest.approx(elastica(1.02), rel=1e-2)


@pytest.mark.parametrize("tip", [rod_tip, strip_tip])
@pytest.mark.parametrize("share", [1.01, 1.1, 2.0, 5.0])
def test_a_straight_column_above_eulers_load_is_said_to_be_unstable(tip, share):
    with pytest.warns(UserWarning, match="not stably"):
        assert tip(share, side=0.0) == 0.0


@pytest.mark.parametrize("tip", [rod_tip, strip_tip])
@pytest.mark.parametrize("share, side", [(0.9, 0.0), (0.99, 0.0), (0.98, SIDE), (1.02, SIDE), (1.1, SIDE), (2.0, SIDE)])
def test_a_column_that_stays_is_not(tip, share, side):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tip(share, side=side)
