"""What the constructors refuse, what they repair, and the exact mass properties of surfaces."""

import subprocess
import sys

import numpy as np
import pytest

from pliant.errors import MeshError
from pliant.meshes import TetMesh, TriMesh, box, sphere

CORNER = np.array([[1.0, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0]])
TET = np.array([[0, 1, 2, 3]])
TRIANGLES = np.array([[0, 1, 2], [0, 3, 1], [1, 3, 2], [0, 2, 3]])
FIFTH = np.vstack([CORNER, [1.0, 1, 1]])
SIXTH = np.vstack([CORNER, [1.0, 1, 1], [2.0, 2, 2]])


def test_arrays_are_typed_copied_and_constant():
    points = CORNER.copy()
    mesh = TetMesh(points, TET, {"top": [2], "base": np.array([True, True, False, True])})
    points[0] = 7
    assert mesh.points[0, 0] == 1
    assert (mesh.points.dtype, mesh.tets.dtype) == (np.float64, np.int32)
    assert np.array_equal(mesh.sets["base"], [0, 1, 3])
    for array in (mesh.points, mesh.tets, mesh.sets["top"], mesh.volumes, mesh.edges):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
    with pytest.raises(AttributeError):
        mesh.points = points
    assert repr(mesh) == "TetMesh(4 points, 1 tets, sets ['base', 'top'])"
    assert mesh.edges.tolist() == [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]


@pytest.mark.parametrize(
    ("points", "tets", "message"),
    [
        (CORNER[:, :2], TET, r"points must have shape \(n, 3\), not \(4, 2\)"),
        (np.zeros((0, 3)), TET, "the mesh has no points"),
        ([["a", "b", "c"]], TET, "array of numbers"),
        (CORNER * [1, np.nan, 1], TET, "must be finite.*: 0, 1, 2, 3"),
        (CORNER * [1, 1, 1e200], TET, "below 1e.100 m.*: 2"),
        (CORNER, TET[:, :3], r"tets must have shape \(m, 4\) or \(m, 10\), not \(1, 3\)"),
        (CORNER, np.zeros((0, 4), int), "the mesh has no tets"),
        (CORNER, TET.astype(float), "tets must be integers.*not float64"),
        (CORNER, [[0, 1, 2, 4]], r"must index points 0 to 3.*elsewhere: 0, the first with nodes \(0, 1, 2, 4\)"),
        (CORNER, [[0, 1, 2, -1]], "must index points 0 to 3"),
        (CORNER, [[0, 1, 2, 2]], "distinct nodes, but these repeat one: 0; pass repair=True"),
        (CORNER * [1, 1, 0], TET, "degenerate.*: 0,.*pass repair=True"),
        (CORNER, [[1, 0, 2, 3]], r"all 1 tets are inverted.*VTK and Gmsh.*tets\[:, \[1, 0, 2, 3\]\]"),
        (FIFTH, [[0, 1, 2, 3], [0, 1, 2, 4]], "these tets are inverted.*: 1,.*pass repair=True"),
        (CORNER, [[0, 1, 2, 3], [1, 2, 0, 3]], "repeat an earlier one: 1; pass repair=True"),
        (SIXTH, [[0, 1, 2, 3], [1, 0, 2, 4], [1, 0, 2, 5]], r"not a manifold.*nodes \(0, 1, 2\) belongs to 3"),
        (np.vstack([CORNER, [[-1.0, -1, -1]]]), [[0, 1, 2, 3], [0, 1, 2, 4]], "overlap.*same side of a face: 0, 1"),
        (FIFTH, TET, "these points belong to no tet: 4; pass repair=True"),
    ],
)
def test_tet_mesh_refuses(points, tets, message):
    with pytest.raises(MeshError, match=message):
        TetMesh(points, tets)


@pytest.mark.parametrize(
    ("sets", "message"),
    [
        ({"a": [0, 9]}, "set 'a' must index points 0 to 3, but holds 9"),
        ({"a": [True, False]}, r"set 'a' as a mask must have shape \(4,\)"),
        ({"a": [0.5]}, "set 'a' must be a list of node indices"),
        ({"a": [[0, 1]]}, "set 'a' must be a list of node indices"),
    ],
)
def test_sets_are_checked(sets, message):
    with pytest.raises(MeshError, match=message):
        TetMesh(CORNER, TET, sets)


def test_errors_name_the_first_few_only():
    mesh = box((1, 1, 1), 2)
    tets = mesh.tets.copy()
    tets[10:20] = tets[10:20][:, [1, 0, 2, 3]]
    with pytest.raises(MeshError, match=r"10, 11, 12, 13, 14 \(and 5 more\)"):
        TetMesh(mesh.points, tets)


def test_repair_restores_a_damaged_box():
    mesh = box((1, 1, 1), 3)
    tets = mesh.tets.astype(np.int64)
    tets[::3] = tets[::3][:, [1, 0, 2, 3]]
    # tear the first tet off by giving it points of its own, add a duplicate, a flat tet and a lonely point
    count = len(mesh.points)
    points = np.concatenate([mesh.points, mesh.points[tets[0]] + 1e-12, [[9.0, 9, 9]]])
    damaged = np.concatenate([[np.arange(count, count + 4)], tets[1:], tets[5:6], [[0, 1, 2, 3]], [[0, 1, 2, 2]]])
    side = np.flatnonzero(mesh.points[:, 0] == 0)
    repaired = TetMesh(points, damaged, {"side": side, "lonely": [count + 4]}, repair=True)
    assert np.array_equal(repaired.points, mesh.points)
    assert repaired.volume == pytest.approx(1, rel=1e-12)
    assert np.array_equal(np.sort(np.sort(repaired.tets, 1), 0), np.sort(np.sort(mesh.tets, 1), 0))
    assert np.array_equal(repaired.sets["side"], side)
    assert len(repaired.sets["lonely"]) == 0
    repaired.surface().check_closed()


def test_repair_cannot_mend_everything():
    with pytest.raises(MeshError, match="not a manifold"):
        TetMesh(SIXTH, [[0, 1, 2, 3], [1, 0, 2, 4], [1, 0, 2, 5]], repair=True)
    with pytest.raises(MeshError, match="repair leaves no tets: every one of the 1 is degenerate"):
        TetMesh(CORNER * [1, 1, 0], TET, repair=True)
    with pytest.raises(MeshError, match="must be finite"):
        TetMesh(np.full((4, 3), np.inf), TET, repair=True)


@pytest.mark.parametrize(
    ("points", "triangles", "message"),
    [
        (CORNER, TET, r"triangles must have shape \(m, 3\)"),
        (CORNER, [[0, 1, 1]], "triangles must have distinct nodes"),
        ([[0, 0, 0], [1, 0, 0], [2, 0, 0]], [[0, 1, 2]], "triangles are degenerate.*: 0; pass repair=True"),
        (CORNER, [[0, 1, 2], [2, 0, 1]], "triangles repeat an earlier one: 1"),
    ],
)
def test_tri_mesh_refuses(points, triangles, message):
    with pytest.raises(MeshError, match=message):
        TriMesh(points, triangles)


@pytest.mark.parametrize(
    ("points", "triangles", "message"),
    [
        (CORNER, TRIANGLES[:3], r"is open.*: \(0, 2\), \(0, 3\), \(2, 3\); the first of them near \(.*close the holes"),
        (FIFTH, [*TRIANGLES, [0, 1, 4], [1, 0, 4]][:5], "is open"),
        (CORNER, [*TRIANGLES[:3], TRIANGLES[3][::-1]], r"inconsistently oriented.*\(0, 2\).*repair=True"),
        (
            SIXTH,
            [*TRIANGLES, [0, 1, 4], [1, 0, 5], [0, 4, 5], [1, 5, 4]],
            r"not a manifold.*more than two triangles: \(0, 1\)",
        ),
    ],
)
def test_check_closed_names_the_edges(points, triangles, message):
    surface = TriMesh(points, triangles)
    assert not surface.is_closed
    with pytest.raises(MeshError, match=message):
        surface.check_closed()
    with pytest.raises(MeshError, match=message):
        surface.mass_properties()


def test_inward_surface_has_no_mass():
    surface = TriMesh(CORNER, TRIANGLES[:, ::-1])
    assert surface.is_closed
    with pytest.raises(MeshError, match="points inward"):
        surface.mass_properties()
    assert TriMesh(CORNER, TRIANGLES[:, ::-1], repair=True).mass_properties()[0] == pytest.approx(1 / 6, rel=1e-15)


def test_surface_repair_orients_merges_and_respects_cavities():
    outer = box((3, 3, 3), 2).surface()
    inner = box((1, 1, 1), 1).surface().transformed(translation=(1, 1, 1))
    soup = np.concatenate([outer.points[outer.triangles], inner.points[inner.triangles]]).reshape(-1, 3)
    triangles = np.arange(len(soup)).reshape(-1, 3)
    random = np.random.default_rng(0).random(len(triangles)) < 0.5
    triangles[random] = triangles[random, ::-1]
    hollow = TriMesh(soup, triangles, repair=True)
    assert len(hollow.points) == 26 + 8
    assert hollow.is_closed
    assert hollow.mass_properties()[0] == pytest.approx(26, rel=1e-13)


def test_repair_of_open_and_one_sided_surfaces():
    sheet = TriMesh(
        [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [2, 0, 0]], [[0, 1, 2], [0, 3, 2], [1, 4, 2]], repair=True
    )
    assert np.array_equal(sheet.normals, [[0, 0, 1]] * 3)
    angle = np.arange(6) * np.pi / 3
    ring = np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1)
    twist = 0.3 * np.stack([np.cos(angle) * np.cos(angle / 2), np.sin(angle) * np.cos(angle / 2), np.sin(angle / 2)], 1)
    strip = [[i, i + 6, (i + 1) % 6 + (6 if i == 5 else 0)] for i in range(6)]
    strip += [[i + 6, (i + 1) % 6 + (0 if i == 5 else 6), (i + 1) % 6 + (6 if i == 5 else 0)] for i in range(6)]
    with pytest.raises(MeshError, match="one side only"):
        TriMesh(np.concatenate([ring - twist, ring + twist]), strip, repair=True)


def test_mass_properties_of_a_box():
    # solid box a x b x c: m = abc, I_xx = m (b^2 + c^2) / 12
    size = np.array([1.0, 2.0, 3.0])
    volume, centroid, inertia = box(size, (2, 1, 3)).surface().transformed(translation=(10, 0, 0)).mass_properties()
    assert volume == pytest.approx(6, rel=1e-13)
    assert centroid == pytest.approx([10.5, 1, 1.5], rel=1e-13)
    expected = 6 / 12 * np.diag((size**2).sum() - size**2)
    assert np.abs(inertia - expected).max() < 1e-12


def test_mass_properties_of_a_tet():
    # corner of the unit cube: V = 1/6, centroid 1/4, int x^2 = 1/60, int xy = 1/120 about the corner
    volume, centroid, inertia = TriMesh(CORNER, TRIANGLES).mass_properties()
    second = np.full((3, 3), 1 / 120) + np.eye(3) / 120 - volume / 16
    assert volume == pytest.approx(1 / 6, rel=1e-14)
    assert centroid == pytest.approx([0.25] * 3, rel=1e-14)
    assert np.abs(inertia - (np.trace(second) * np.eye(3) - second)).max() < 1e-15


def test_mass_properties_of_a_rotated_body_follow_the_rotation():
    half = np.sqrt(0.5)
    surface = box((1, 2, 3), 1).surface()
    inertia = surface.mass_properties()[2]
    turned = surface.transformed(rotation=(half, 0, 0, half)).mass_properties()[2]
    assert np.diag(turned) == pytest.approx(np.diag(inertia)[[1, 0, 2]], rel=1e-13)


def test_mass_properties_of_a_ball_converge_at_second_order():
    # I = 2/5 m r^2, m = 4/3 pi r^3
    errors = []
    for cells in (4, 8, 12):
        _, centroid, inertia = sphere(1.0, cells).surface().mass_properties()
        assert np.abs(centroid).max() < 1e-15
        errors.append(np.abs(inertia - np.eye(3) * 8 / 15 * np.pi).max())
    assert np.log(np.divide(errors[:-1], errors[1:])) / np.log([2, 1.5]) == pytest.approx([2, 2], abs=0.05)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"scale": 0}, "scale must be one positive number or three"),
        ({"scale": (1, 2)}, "scale must be one positive number or three"),
        ({"rotation": (0, 0, 0, 0)}, r"rotation must be a quaternion \(w, x, y, z\) that is not zero"),
        ({"rotation": (1, 0, 0)}, "rotation must be a quaternion"),
        ({"translation": (1, 2)}, "translation must be three finite numbers"),
    ],
)
def test_transformations_are_checked(arguments, message):
    with pytest.raises(MeshError, match=message):
        box((1, 1, 1), 1).transformed(**arguments)


def test_keys_survive_large_point_counts():
    from pliant.meshes.topology import row_keys

    rows = np.array([[1, 2, 3, 4], [1, 2, 3, 5], [1, 2, 3, 4], [2**20, 1, 3, 4]])
    keys = row_keys(rows, 2**31 - 1)
    assert keys[0] == keys[2]
    assert len(set(keys.tolist())) == 3


def test_import_is_light():
    code = "import sys, pliant.meshes; print([m for m in ('numba', 'scipy', 'meshio') if m in sys.modules])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_complex_points_are_refused():
    """Their imaginary parts would be lost."""
    surface, tets = sphere(1, 1).surface(), box((1, 1, 1), 1)
    for make in (
        lambda: TriMesh(surface.points + 1j, surface.triangles),
        lambda: TriMesh((surface.points + 0j).tolist(), surface.triangles),
        lambda: TetMesh(tets.points + 1j, tets.tets),
    ):
        with pytest.raises(MeshError, match=r"points must be an \(n, 3\) array of numbers: they are complex"):
            make()
