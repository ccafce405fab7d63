"""Stress at a corner of the elliptic plates of NAFEMS.

Stress is constant in a linear tet: a plane is fitted through the values of the elements in the two cells next to the
corner along each direction, and its values at the corner are extrapolated over meshes (`studies.limit`).
"""

import numpy as np
import pytest

import pliant as pl
from studies import EDGE, limit, mapped_box


def elliptic_plate(cells, thickness: float):
    """A scene with a quarter of the plate between the ellipses (2, 1) and (3.25, 2.75) m, symmetric about x = 0 and
    y = 0; and the mask of the nodes on the outer ellipse."""

    def shape(r, s, t):
        angle = np.pi / 2 * s
        return (2 + 1.25 * r) * np.cos(angle), (1 + 1.75 * r) * np.sin(angle), thickness * t

    scene = pl.Scene(gravity=(0, 0, 0))
    plate = scene.add_soft(mapped_box(cells, shape), pl.Material.linear(210e9, 0.3, 7800))
    plate.pin(plate.nodes.x < EDGE, axes="x")
    plate.pin(plate.nodes.y < EDGE, axes="y")
    return scene, plate, (plate.nodes.x / 3.25) ** 2 + (plate.nodes.y / 2.75) ** 2 > 1 - EDGE


def corner_stress(sim, plate, cells, layers: float) -> float:
    """sigma_yy [Pa] at (2, 0) on the upper face, from the elements in the two cells next to it along x and y, and in
    the uppermost `layers`."""
    grid = pl.meshes.box((1, 1, 1), cells=cells)
    r, s, t = grid.points[grid.tets].mean(axis=1).T
    near = (r < 2 / cells[0]) & (s < 2 / cells[1]) & (t > 1 - layers / cells[2])
    columns = [np.ones(near.sum()), r[near], s[near]] + ([1 - t[near]] if layers > 1 else [])
    return float(np.linalg.lstsq(np.stack(columns, axis=1), sim.stress(plate)[near, 1])[0][0])


SMALL = 1e-3  # the pressures are scaled: they follow the faces, and the published values are those of small motions


@pytest.mark.slow
def test_elliptic_membrane():
    """SOL-08 (NAFEMS LE1): plane stress, 10 MPa outward on the outer edge: sigma_yy = 92.7 MPa at (2, 0); 3%.

    Half the thickness of 0.1 m, one cell, symmetric about z = 0.
    """

    def stress(n):
        cells = (n, 2 * n, 1)
        scene, plate, outer = elliptic_plate(cells, 0.05)
        plate.pin(plate.nodes.z < EDGE, axes="z")
        plate.pressure(outer[plate.faces.triangles].all(axis=1), -SMALL * 10e6)
        return corner_stress(scene.equilibrium(), plate, cells, layers=1) / SMALL

    cells = (16, 32)
    assert limit([stress(n) for n in cells], cells) == pytest.approx(92.7e6, rel=0.03)


@pytest.mark.slow
def test_thick_elliptic_plate():
    """SOL-07 (NAFEMS LE10): 0.6 m thick, 1 MPa on the upper face, u_x = u_y = 0 on the outer face and u_z = 0 on its
    middle line: sigma_yy = -5.38 MPa at (2, 0, 0.6); 5%."""

    def stress(n):
        cells = (5 * n // 2, 5 * n, n)
        scene, plate, outer = elliptic_plate(cells, 0.6)
        plate.pin(outer, axes="xy")
        plate.pin(outer & (np.abs(plate.nodes.z - 0.3) < EDGE), axes="z")
        plate.pressure(plate.faces.z > 0.6 - EDGE, SMALL * 1e6)
        return corner_stress(scene.equilibrium(), plate, cells, layers=2) / SMALL

    cells = (4, 8, 12)
    assert limit([stress(n) for n in cells], cells) == pytest.approx(-5.38e6, rel=0.05)
