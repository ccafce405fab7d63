"""Generated meshes: exact volumes, conforming faces, convergence to the round bodies, quality."""

import numpy as np
import pytest

from pliant.errors import MeshError
from pliant.meshes import TetMesh, TriMesh, box, cylinder, figure, quality, sphere

PATTERNS = {"mirrored": 6, "five": 5, "six": 6, "twelve": 12}
BODIES = {
    **{f"box-{pattern}": lambda pattern=pattern: box((1.0, 0.7, 1.3), (3, 2, 4), pattern) for pattern in PATTERNS},
    "box-odd-five": lambda: box(1.0 * np.ones(3), (1, 3, 5), "five"),
    "sphere-1": lambda: sphere(0.5, 1),
    "sphere-3": lambda: sphere(0.5, 3),
    "cylinder": lambda: cylinder(0.3, 2.0, (2, 5)),
}


@pytest.fixture(params=BODIES, name="body")
def make_body(request):
    return BODIES[request.param]()


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("cells", [1, 2, (3, 4, 5)])
def test_box_fills_its_volume(pattern, cells):
    mesh = box((1.0, 2.0, 0.5), cells, pattern)
    counts = np.broadcast_to(cells, 3)
    assert len(mesh.tets) == PATTERNS[pattern] * counts.prod()
    assert len(mesh.points) == (counts + 1).prod() + (counts.prod() if pattern == "twelve" else 0)
    assert mesh.volume == pytest.approx(1.0, rel=1e-14)
    assert np.array_equal(mesh.bounds, [[0, 0, 0], [1.0, 2.0, 0.5]])


def test_box_numbers_nodes_with_x_slowest():
    mesh = box((2.0, 3.0, 4.0), (2, 3, 4))
    i, j, k = 1, 2, 3
    assert np.array_equal(mesh.points[(i * 4 + j) * 5 + k], [1.0, 2.0, 3.0])


def test_box_mirrors_neighbouring_cells_by_default():
    mesh = box((1.0, 2.0, 0.5), (3, 4, 5))
    named = box((1.0, 2.0, 0.5), (3, 4, 5), "mirrored")
    assert np.array_equal(mesh.tets, named.tets)
    assert mesh.source == named.source == {"box": [1.0, 2.0, 0.5], "cells": [3, 4, 5], "pattern": "mirrored"}
    assert len(mesh.tets) == 6 * 60
    # a single cell has no neighbours
    assert np.array_equal(box((1, 1, 1), 1).tets, box((1, 1, 1), 1, "six").tets)


def mirror_image(cells, pattern, axis):
    """The tets of a box and of its image about the middle of an axis, as sets of sets of node indices."""
    tets = box((1, 1, 1), cells, pattern).tets
    counts = np.broadcast_to(cells, 3)
    numbers = np.arange(np.prod(counts + 1)).reshape(counts + 1)
    image = np.flip(numbers, axis).ravel()
    return {frozenset(tet) for tet in tets.tolist()}, {frozenset(tet) for tet in image[tets].tolist()}


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("pattern", ["mirrored", "five"])
@pytest.mark.parametrize("cells", [2, (4, 2, 6), (8, 4, 4)])
def test_boxes_of_even_cells_are_their_own_mirror_images(pattern, cells, axis):
    tets, image = mirror_image(cells, pattern, axis)
    assert tets == image


def test_boxes_are_symmetric_along_every_even_axis_and_only_there():
    cells = (3, 4, 2)
    assert [np.equal(*mirror_image(cells, "mirrored", axis)) for axis in range(3)] == [False, True, True]
    assert not any(np.equal(*mirror_image(cells, "six", axis)) for axis in range(3))


def tip_of_a_hanging_beam(cells, pattern):
    """Mean displacement (3,) of the free end of a linear elastic beam clamped at x = 0 under its weight along -z."""
    from scipy.sparse import coo_array
    from scipy.sparse.linalg import spsolve

    mesh = box((1.0, 0.1, 0.1), cells, pattern)
    corners = mesh.points[mesh.tets]
    inverse = np.linalg.inv(np.moveaxis(corners[:, :3] - corners[:, 3:], 1, 2))
    gradients = np.concatenate([inverse, -inverse.sum(axis=1, keepdims=True)], axis=1)
    first, second = 0.577, 0.385  # Lame's constants of E = 1, nu = 0.3
    blocks = first * np.einsum("mai,mbj->maibj", gradients, gradients)
    blocks += second * np.einsum("maj,mbi->maibj", gradients, gradients)
    blocks += second * np.einsum("mak,mbk,ij->maibj", gradients, gradients, np.eye(3))
    values = (blocks * mesh.volumes[:, None, None, None, None]).reshape(-1)
    freedoms = (3 * mesh.tets[:, :, None] + np.arange(3)).reshape(-1, 12)
    rows, columns = np.repeat(freedoms, 12, axis=1).ravel(), np.tile(freedoms, (1, 12)).ravel()
    count = 3 * len(mesh.points)
    matrix = coo_array((values, (rows, columns)), shape=(count, count)).tocsr()
    load = np.zeros(count)
    np.add.at(load, 3 * mesh.tets + 2, -np.repeat(mesh.volumes[:, None] / 4, 4, axis=1))
    free = np.repeat(mesh.points[:, 0] > 0, 3)
    moved = np.zeros(count)
    moved[free] = spsolve(matrix[free][:, free].tocsc(), load[free])
    return moved.reshape(-1, 3)[mesh.points[:, 0] == 1].mean(axis=0)


@pytest.mark.parametrize(
    ("cells", "pattern", "sideways"),
    [
        ((10, 4, 4), "mirrored", 1e-9),
        ((10, 2, 3), "mirrored", 1e-9),
        ((9, 2, 2), "mirrored", 1e-9),
        ((10, 2, 2), "five", 1e-9),
        # odd numbers of cells across: one row of cells has no partner on the other side
        ((10, 3, 3), "mirrored", 0.02),
        ((10, 5, 5), "mirrored", 0.002),
    ],
)
def test_a_beam_in_its_plane_of_symmetry_stays_there(cells, pattern, sideways):
    _, y, z = tip_of_a_hanging_beam(cells, pattern)
    assert z < 0
    assert abs(y) < sideways * abs(z)


def test_a_beam_of_cells_all_alike_bends_sideways():
    _, y, z = tip_of_a_hanging_beam((10, 4, 4), "six")
    assert abs(y) > 0.02 * abs(z)


def test_every_generated_mesh_passes_the_checks(body):
    checked = TetMesh(body.points, body.tets)
    assert np.array_equal(checked.tets, body.tets)
    assert (body.volumes > 0).all()


def test_faces_conform_and_the_boundary_is_a_sphere(body):
    faces = np.sort(body.tets[:, [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]]].reshape(-1, 3), axis=1)
    unique, counts = np.unique(faces, axis=0, return_counts=True)
    assert set(counts) == {1, 2}
    assert (counts == 1).sum() == len(body.boundary_faces)
    # Euler characteristic: V - E + F = 2 for a sphere, V - E + F - T = 1 for a ball
    surface = body.surface()
    surface.check_closed()
    assert len(np.unique(surface.triangles)) - len(surface.edges) + len(surface.triangles) == 2
    assert len(body.points) - len(body.edges) + len(unique) - len(body.tets) == 1


def test_boundary_points_outward_and_knows_its_tets(body):
    faces, tets = body.boundary_faces, body.boundary_tets
    assert faces.dtype == tets.dtype == np.int32
    centres = body.points[faces].mean(axis=1)
    inside = body.points[body.tets[tets]].mean(axis=1)
    surface = body.surface()
    assert (np.einsum("ij,ij->i", surface.normals, centres - inside) > 0).all()
    assert all(set(face) <= set(body.tets[tet]) for face, tet in zip(faces, tets))
    # divergence theorem: the boundary encloses the volume of the tets, and its area vectors sum to zero
    assert surface.mass_properties()[0] == pytest.approx(body.volume, rel=1e-13)
    assert np.abs((surface.normals * surface.areas[:, None]).sum(axis=0)).max() < 1e-14 * surface.areas.sum() * 10


@pytest.mark.parametrize(
    ("make", "exact"),
    [(lambda n: sphere(2.0, n), 4 / 3 * np.pi * 8), (lambda n: cylinder(2.0, 3.0, (n, 2)), np.pi * 4 * 3)],
    ids=["sphere", "cylinder"],
)
def test_round_bodies_converge_at_second_order(make, exact):
    # the chord of an arc of angle a misses a^2 / 8 of the radius, so the volume error falls with the cells squared
    errors = np.array([1 - make(cells).volume / exact for cells in (4, 8, 12)])
    assert (errors > 0).all()
    orders = np.log(errors[:-1] / errors[1:]) / np.log([2, 1.5])
    assert orders == pytest.approx([2, 2], abs=0.02)


@pytest.mark.parametrize("cells", [1, 2, 8])
def test_round_bodies_keep_good_angles(cells):
    # the worst tets tend to 29.2 and 31.7 degrees under refinement
    assert sphere(1.0, cells).quality().min_dihedral > 29
    assert cylinder(1.0, 1.0, cells).quality().min_dihedral > 31
    assert sphere(1.0, cells).quality().radius_ratio.min() > 0.6


def test_round_bodies_lie_on_their_surface_and_are_symmetric():
    ball = sphere(0.5, 4)
    outer = ball.points[np.unique(ball.boundary_faces)]
    assert np.linalg.norm(outer, axis=1) == pytest.approx(0.5, abs=1e-15)
    mirrored = {tuple(point) for point in np.round(ball.points * [-1, 1, 1], 12) + 0.0}
    assert mirrored == {tuple(point) for point in np.round(ball.points, 12) + 0.0}
    rod = cylinder(0.5, 2.0, (3, 2))
    side = rod.points[np.hypot(rod.points[:, 0], rod.points[:, 1]) > 0.49]
    assert np.hypot(side[:, 0], side[:, 1]) == pytest.approx(0.5, abs=1e-15)
    assert rod.bounds[:, 2] == pytest.approx([0.0, 2.0], abs=0)


def test_quality_of_known_tets():
    # a regular tet: arccos(1/3) everywhere and radius ratio 1; the corner of a cube: 90 and arccos(1/sqrt 3),
    # inradius 1 / (3 + sqrt 3), circumradius sqrt(3) / 2
    regular = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]], dtype=float)
    corner = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0]], dtype=float) + 5
    mesh = TetMesh(np.concatenate([regular, corner]), [[0, 1, 2, 3], [4, 5, 6, 7]])
    measured = quality(mesh)
    assert measured.volumes == pytest.approx([8 / 3, 1 / 6], rel=1e-14)
    assert measured.dihedral_min == pytest.approx(np.degrees(np.arccos([1 / 3, 1 / np.sqrt(3)])), rel=1e-13)
    assert measured.dihedral_max == pytest.approx([np.degrees(np.arccos(1 / 3)), 90], rel=1e-13)
    assert measured.radius_ratio == pytest.approx([1, 3 / (3 + np.sqrt(3)) / (np.sqrt(3) / 2)], rel=1e-13)
    assert (measured.edge_min, measured.edge_max) == pytest.approx((1, np.sqrt(8)))
    assert measured.total_volume == measured.volumes.sum()
    report = measured.report()
    assert "2 tets" in report and "tet 1: radius ratio 0.732" in report


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: box((1, 1), 2), "size must be 3 positive lengths"),
        (lambda: box((1, 1, -1), 2), "size must be 3 positive lengths"),
        (lambda: box((1, 1, np.nan), 2), "size must be 3 positive lengths"),
        (lambda: box((1, 1, 1), 0), "cells must be a positive integer or 3 of them"),
        (lambda: box((1, 1, 1), 2.5), "cells must be a positive integer or 3 of them"),
        (lambda: box((1, 1, 1), (1, 2)), "cells must be a positive integer or 3 of them"),
        (lambda: box((1, 1, 1), 1, "seven"), "unknown box pattern 'seven'; allowed are 'mirrored', 'five', 'six', 'tw"),
        (lambda: sphere(0, 2), "radius must be a positive length"),
        (lambda: sphere(1, (2, 2)), "cells must be a positive integer, got"),
        (lambda: cylinder(1, -2, 1), "height must be a positive length"),
        (lambda: cylinder(1, 1, (1, 2, 3)), "cells must be a positive integer or 2 of them"),
        (lambda: box("wide", 1), "size must be 3 positive lengths"),
        (lambda: figure((1, 1, 0), [], 2), "radii must be 3 positive lengths"),
        (lambda: figure((1, 1, 1), None, 2), "bumps must be a sequence of .direction, height, width., got None"),
        (lambda: figure((1, 1, 1), [((1, 0, 0), 0.1)], 2), "bumps must be a sequence of .* among them"),
        (lambda: figure((1, 1, 1), [((0, 0, 0), 0.1, 0.1)], 2), "direction of bump 0 must not be zero"),
        (lambda: figure((1, 1, 1), [((1, 0, 0), 0.1, -1)], 2), "width of bump 0 must be a positive length"),
    ],
)
def test_bad_arguments_are_named(make, message):
    with pytest.raises(MeshError, match=message):
        make()


def test_figures_are_closed_and_stick_out_where_they_should():
    surface = figure((1, 2, 3), [((0, 0, 2), 0.5, 0.02)], 12)
    assert len(surface.triangles) == 48 * 12**2 and surface.is_closed
    # an ellipsoid of half axes 1, 2, 3, but for a bump of half a metre on its end
    assert surface.bounds == pytest.approx(np.array([[-1, -2, -3], [1, 2, 3.5]]), rel=1e-12)
    assert 0.97 < surface.mass_properties()[0] / (4 / 3 * np.pi * 6) < 1.03


def test_transformed_bodies():
    mesh = box((1, 1, 1), 2)
    half = np.sqrt(0.5)
    moved = mesh.transformed(scale=2.0, rotation=(half, 0, 0, half), translation=(0, 0, 1))
    # a quarter turn about z sends x to y
    assert moved.bounds == pytest.approx(np.array([[-2, 0, 1], [0, 2, 3]]), abs=1e-15)
    assert moved.volume == pytest.approx(8, rel=1e-14)
    stretched = mesh.surface().transformed(scale=(1, 2, 3))
    assert isinstance(stretched, TriMesh)
    assert stretched.mass_properties()[0] == pytest.approx(6, rel=1e-14)
