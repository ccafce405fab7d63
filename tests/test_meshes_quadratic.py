"""Tets of ten nodes: where the midpoints are, volumes, faces, sets, what is refused and what is repaired."""

from math import factorial

import numpy as np
import pytest

from pliant.errors import MeshError
from pliant.meshes import TetMesh, box, cylinder, quadratic, quality, sphere, topology

CORNER = np.array([[1.0, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0]])
EDGES = [(0, 1), (1, 2), (0, 2), (0, 3), (1, 3), (2, 3)]
TEN = np.concatenate([CORNER, [(CORNER[a] + CORNER[b]) / 2 for a, b in EDGES]])
TET = np.arange(10)[None]

BODIES = {
    "tet": lambda: TetMesh(CORNER, [[0, 1, 2, 3]]),
    "box": lambda: box((1.0, 0.7, 1.3), (3, 2, 4)),
    "twelve": lambda: box((1.0, 0.7, 1.3), (2, 2, 1), "twelve"),
    "sphere": lambda: sphere(0.5, 2),
    "cylinder": lambda: cylinder(0.3, 2.0, (2, 3)),
}


@pytest.fixture(params=BODIES, name="linear")
def make_linear(request):
    return BODIES[request.param]()


def bulged(mesh):
    """The mesh with its midpoints, and then all points, where a cubic map of space puts them: curved inside too."""
    straight = mesh.quadratic()
    x, y, z = straight.points.T
    points = straight.points + 0.1 * np.stack([y * y - x * z, z * x + 0.5 * x * x, x * y - y * z * z], axis=1)
    return TetMesh(points, straight.tets, straight.sets)


def test_node_order_is_that_of_vtk_with_our_corners():
    assert topology.TET10_EDGES.tolist() == [list(edge) for edge in EDGES]
    turned = topology.inside_out(TET)[0]
    for node, (a, b) in enumerate(EDGES, start=4):
        middle = (TEN[turned[a]] + TEN[turned[b]]) / 2
        assert np.array_equal(TEN[turned[node]], middle)
    assert np.array_equal(topology.inside_out(topology.inside_out(TET)), TET)
    for face, corners in zip(topology.TET10_FACES, topology.TET_FACES):
        assert np.array_equal(face[:3], corners)
        ends = TEN[face[[0, 1, 2]]] + TEN[face[[1, 2, 0]]]
        assert np.array_equal(TEN[face[3:]], ends / 2)


def test_midpoints_are_in_the_middle_and_shared(linear):
    mesh = linear.quadratic()
    assert (linear.order, mesh.order) == (1, 2)
    assert mesh.tets.shape == (len(linear.tets), 10) and mesh.tets.dtype == np.int32
    assert np.array_equal(mesh.corners, linear.tets)
    assert np.array_equal(mesh.points[: len(linear.points)], linear.points)
    assert np.array_equal(mesh.edges, linear.edges)
    assert len(mesh.points) == len(linear.points) + len(linear.edges)
    assert np.array_equal(mesh.midpoints, len(linear.points) + np.arange(len(linear.edges)))
    assert np.array_equal(mesh.points[mesh.midpoints], mesh.points[mesh.edges].mean(axis=1))
    ends = mesh.points[mesh.tets[:, EDGES]]
    assert np.array_equal(mesh.points[mesh.tets[:, 4:]], ends.mean(axis=2))
    assert mesh.quadratic() is mesh
    checked = TetMesh(mesh.points, mesh.tets)
    assert np.array_equal(checked.tets, mesh.tets)
    assert np.array_equal(TetMesh(mesh.points, mesh.tets, repair=True).tets, mesh.tets)


def test_a_mesh_of_order_one_is_as_before(linear):
    assert linear.corners is linear.tets
    assert linear.boundary_elements is linear.boundary_triangles is linear.boundary_faces
    assert linear.boundary_triangle_tets is linear.boundary_tets
    with pytest.raises(MeshError, match=r"four nodes has no midpoints; mesh.quadratic\(\) has"):
        _ = linear.midpoints


def test_straight_tets_keep_volume_and_quality(linear):
    mesh = linear.quadratic()
    assert mesh.volumes == pytest.approx(linear.volumes, rel=1e-13)
    ours, theirs = quality(mesh), quality(linear)
    assert np.array_equal(ours.dihedral_min, theirs.dihedral_min)
    assert np.array_equal(ours.radius_ratio, theirs.radius_ratio)
    assert ours.jacobian_ratio == pytest.approx(np.ones(len(mesh.tets)), abs=1e-12)
    assert (theirs.jacobian_ratio == 1).all()
    assert "Jacobian" not in ours.report()


def test_boundary_faces_of_six_nodes(linear):
    mesh = linear.quadratic()
    faces, corners = mesh.boundary_elements, mesh.boundary_faces
    assert np.array_equal(corners, linear.boundary_faces) and np.array_equal(mesh.boundary_tets, linear.boundary_tets)
    assert faces.shape == (len(corners), 6) and faces.dtype == np.int32
    assert np.array_equal(faces[:, :3], corners)
    middles = (mesh.points[corners] + mesh.points[np.roll(corners, -1, axis=1)]) / 2
    assert np.array_equal(mesh.points[faces[:, 3:]], middles)
    assert all(set(face) <= set(mesh.tets[tet]) for face, tet in zip(faces.tolist(), mesh.boundary_tets))


def test_boundary_triangles_cut_every_face_into_four(linear):
    mesh = linear.quadratic()
    triangles = mesh.boundary_triangles
    assert triangles.shape == (4 * len(mesh.boundary_faces), 3)
    assert np.array_equal(mesh.boundary_triangle_tets, np.repeat(mesh.boundary_tets, 4))
    assert np.array_equal(np.unique(triangles), np.unique(mesh.boundary_elements))
    surface, coarse = mesh.surface(), linear.surface()
    assert np.array_equal(surface.triangles, triangles)
    assert surface.areas.reshape(-1, 4) == pytest.approx(np.repeat(coarse.areas[:, None] / 4, 4, axis=1), rel=1e-12)
    assert surface.normals == pytest.approx(np.repeat(coarse.normals, 4, axis=0), abs=1e-12)
    assert surface.mass_properties()[0] == pytest.approx(linear.volume, rel=1e-12)


def polynomial(x, y, z):
    return 1 + 2 * x - y + 3 * z + x * y - 2 * y * z + z * z


def test_shape_functions_are_one_at_their_node_and_reproduce_quadratics():
    places = np.concatenate([np.eye(4), [(np.eye(4)[a] + np.eye(4)[b]) / 2 for a, b in EDGES]])
    assert quadratic.shape_functions(places) == pytest.approx(np.eye(10), abs=1e-15)
    random = np.random.default_rng(3).dirichlet(np.ones(4), 7)
    x, y, z = (random @ CORNER).T
    values = quadratic.shape_functions(random) @ polynomial(*TEN.T)
    assert values == pytest.approx(polynomial(x, y, z), rel=1e-13)
    gradient = np.einsum("qak,a->qk", quadratic.shape_gradients(random), polynomial(*TEN.T))
    # barycentric coordinates l0, l1, l2 of this tet are x, y, z
    assert gradient == pytest.approx(np.stack([2 + y, -1 + x - 2 * z, 3 - 2 * y + 2 * z], axis=1), rel=1e-12)


def test_rules_are_exact_to_their_degree():
    # the mean of l0^a l1^b l2^c over a tet is 6 a! b! c! / (a + b + c + 3)!
    rules = [(quadratic.GAUSS_POINTS, np.full(4, 0.25), 2), (quadratic.CUBIC_POINTS, quadratic.CUBIC_WEIGHTS, 3)]
    for points, weights, degree in rules:
        assert points.sum(axis=1) == pytest.approx(np.ones(len(points)), abs=1e-15)
        for powers in np.ndindex(degree + 1, degree + 1, degree + 1):
            if sum(powers) <= degree:
                exact = 6 * np.prod([factorial(power) for power in powers]) / factorial(sum(powers) + 3)
                assert weights @ np.prod(points[:, :3] ** powers, axis=1) == pytest.approx(exact, rel=1e-14)


def test_curved_volumes_are_exact():
    # the midpoint of 01 moved by d (1, 1, 0): det(J) = 1 + 4 d (x + y), whose integral is 1/6 + 4 d (1/24 + 1/24)
    mesh = TetMesh(bent(4, [0.06, 0.06, 0]), TET)
    assert mesh.volume == pytest.approx(1 / 6 + 0.06 / 3, rel=1e-14)
    # and against a fine rule, of Gauss points in a cube that is folded into the tet
    nodes, weights = np.polynomial.legendre.leggauss(8)
    u, w = (nodes + 1) / 2, weights / 2
    a, b, c = (grid.ravel() for grid in np.meshgrid(u, u, u, indexing="ij"))
    products = np.einsum("i,j,k->ijk", w, w, w).ravel() * (1 - a) ** 2 * (1 - b)
    places = np.stack([a, (1 - a) * b, (1 - a) * (1 - b) * c], axis=1)
    places = np.concatenate([places, 1 - places.sum(axis=1, keepdims=True)], axis=1)
    for body in (mesh, bulged(box((1, 1, 1), 2)), bulged(sphere(0.5, 2))):
        fine = quadratic.determinants(body.points, body.tets, places) @ products
        assert body.volumes == pytest.approx(fine, rel=1e-12)
    assert mesh.quality().jacobian_ratio[0] < 0.9
    assert "Jacobian ratio 0." in mesh.quality().report()


def test_curved_neighbours_share_their_faces():
    # inner faces are curved, but what one tet loses its neighbour gains: only the boundary matters
    mesh = box((1, 1, 1), 3).quadratic()
    points = mesh.points.copy()
    inner = np.setdiff1d(np.arange(len(points)), np.unique(mesh.boundary_elements))
    points[inner] += 0.03 * np.random.default_rng(5).uniform(-1, 1, (len(inner), 3))
    moved = TetMesh(points, mesh.tets)
    assert np.abs(moved.volumes / mesh.volumes - 1).max() > 0.05
    assert moved.volume == pytest.approx(1, rel=1e-13)


def test_projected_midpoints_make_round_bodies_rounder():
    def onto_sphere(points):
        return 0.5 * points / np.linalg.norm(points, axis=1, keepdims=True)

    exact = np.pi / 6
    straight, errors = sphere(0.5, 2).quadratic(), []
    for cells in (2, 4):
        ball = sphere(0.5, cells).quadratic(project=onto_sphere)
        outer = np.unique(ball.boundary_elements)
        assert np.linalg.norm(ball.points[outer], axis=1) == pytest.approx(0.5, abs=1e-15)
        assert ball.source is None
        errors.append(abs(ball.volume / exact - 1))
    assert errors[0] < 0.05 * abs(straight.volume / exact - 1)
    # edges that follow the curve: fourth order instead of second
    assert errors[0] / errors[1] > 12
    with pytest.raises(MeshError, match=r"what project returns must be points \(288, 3\), got .* shape \(3,\)"):
        sphere(0.5, 2).quadratic(project=lambda points: points[0])


def test_sets_gain_the_midpoints_between_their_members():
    base = box((1, 1, 1), 2)
    left = np.flatnonzero(base.points[:, 0] == 0)
    mesh = TetMesh(base.points, base.tets, {"left": left, "corner": [0], "none": []}).quadratic()
    assert np.array_equal(mesh.sets["left"], np.flatnonzero(mesh.points[:, 0] == 0))
    assert mesh.sets["corner"].tolist() == [0] and len(mesh.sets["none"]) == 0
    assert repr(mesh) == "TetMesh(125 points, 48 tets of 10 nodes, sets ['corner', 'left', 'none'])"


def test_recipes_remember_the_order():
    assert box((1, 2, 3), 1).quadratic().source == {
        "box": [1.0, 2.0, 3.0],
        "cells": [1, 1, 1],
        "pattern": "mirrored",
        "order": 2,
    }
    assert sphere(1, 2).quadratic().source == {"sphere": 1.0, "cells": 2, "order": 2}
    assert box((1, 2, 3), 1).source == {"box": [1.0, 2.0, 3.0], "cells": [1, 1, 1], "pattern": "mirrored"}
    assert TetMesh(CORNER, [[0, 1, 2, 3]]).quadratic().source is None


def test_transformed_meshes_stay_quadratic():
    mesh = bulged(box((1, 1, 1), 2))
    moved = mesh.transformed(scale=2.0, rotation=(0.9, 0.1, 0.3, 0.2), translation=(1, 2, 3))
    assert moved.order == 2
    assert moved.volumes == pytest.approx(8 * mesh.volumes, rel=1e-12)


def bent(node, offset):
    points = TEN.copy()
    points[node] += offset
    return points


ELEVEN = np.concatenate([TEN, TEN[4:5]])
# a second tet behind the face 012 of the first, with points 10 and the midpoints 11, 12, 13 towards it
TWO_POINTS = np.concatenate([TEN, [[1.0, 1, 1]], [(CORNER[i] + 1) / 2 for i in range(3)]])
SECOND = [1, 0, 2, 10, 4, 6, 5, 12, 11, 13]


@pytest.mark.parametrize(
    ("points", "tets", "message"),
    [
        (TEN, TET[:, :9], r"tets must have shape \(m, 4\) or \(m, 10\), not \(1, 9\)"),
        (TEN[:9], TET, "tets must index points 0 to 8"),
        (ELEVEN, TET, "these points belong to no tet: 10; pass repair=True"),
        (TEN, [[0, 1, 2, 3, 4, 5, 6, 7, 8, 8]], "distinct nodes, but these repeat one: 0"),
        (TEN, topology.inside_out(TET), r"all 1 tets are inverted.*pass tets\[:, \[1, 0, 2, 3, 4, 6, 5, 8, 7, 9\]\]"),
        (bent(4, [-0.45, -0.45, 0]), TET, r"bent too far: 0, the first with det\(Jacobian\) -.*Gauss point"),
        (TEN, [[0, 1, 2, 3, 5, 4, 6, 7, 8, 9]], "bent too far: 0,.*edges 01, 12, 02, 03, 13, 23, in this order"),
        (TEN * [1, 1, 0], TET, "degenerate.*: 0,"),
        (TWO_POINTS, [TET[0], [*SECOND[:3], 10, 4, 5, 6, *SECOND[7:]]], r"the edge \(0, 2\) has 2: 5, 6; pass repair"),
        (TWO_POINTS, [TET[0], [*SECOND[:7], 7, 11, 13]], r"point 7 is that of the edges \(0, 3\), \(1, 10\)"),
        (TWO_POINTS, [TET[0], [*SECOND[:7], 3, 11, 13]], "corners of some tets and midpoints of others: 3"),
    ],
)
def test_bad_quadratic_meshes_are_refused(points, tets, message):
    with pytest.raises(MeshError, match=message):
        TetMesh(points, tets)


def test_two_tets_of_ten_nodes_fit():
    mesh = TetMesh(TWO_POINTS, [TET[0], SECOND])
    assert len(mesh.boundary_faces) == 6
    assert mesh.volume == pytest.approx(1 / 6 + 1 / 3, rel=1e-14)


def test_repair_merges_flips_and_drops():
    mesh = bulged(box((1, 1, 1), 2))
    count = len(mesh.points)
    tets = mesh.tets.astype(np.int64)
    tets[::3] = topology.inside_out(tets[::3])
    # the first tet gets points of its own; a duplicate, a lonely point
    points = np.concatenate([mesh.points, mesh.points[tets[0]] + 1e-12, [[9.0, 9, 9]]])
    damaged = np.concatenate([[np.arange(count, count + 10)], tets[1:], tets[5:6]])
    repaired = TetMesh(points, damaged, {"side": [0, 1], "lonely": [count + 10]}, repair=True)
    assert repaired.order == 2
    assert np.array_equal(repaired.points, mesh.points)
    assert np.array_equal(repaired.tets, mesh.tets)
    assert repaired.sets["side"].tolist() == [0, 1] and len(repaired.sets["lonely"]) == 0


def test_bent_tets_are_beyond_repair_but_can_be_straightened():
    points = bent(4, [-0.45, -0.45, 0])
    with pytest.raises(MeshError, match=r"TetMesh\(points, tets\[:, :4\], repair=True\)\.quadratic\(\)"):
        TetMesh(points, TET, repair=True)
    assert TetMesh(points, TET[:, :4], repair=True).quadratic().volume == pytest.approx(1 / 6, rel=1e-14)
