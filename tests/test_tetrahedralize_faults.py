"""Surfaces that bound no solid are refused with places, or repaired; options that make no sense are refused."""

import warnings

import numpy as np
import pytest
from click.testing import CliRunner

import pliant as pl
from closed_surfaces import ball, box, inward, organic, ring, together
from pliant.cli import main
from pliant.meshes.repair import signed_volume
from pliant.meshes.surface_faults import surface_faults
from pliant.meshes.surface_repair import repair_surface


def refused(surface, match: str) -> None:
    with pytest.raises(pl.MeshError, match=match):
        pl.meshes.tetrahedralize(surface)


def repaired(surface, match: str, goal: float, **options) -> None:
    """Repair says what it did, and the mesh has about the volume `goal`."""
    with pytest.warns(UserWarning, match=match):
        mesh = pl.meshes.tetrahedralize(surface, repair=True, **options)
    assert mesh.quality().min_dihedral >= 10
    assert mesh.volume == pytest.approx(goal, rel=0.02)


def without(surface, *triangles: int) -> tuple[np.ndarray, np.ndarray]:
    return surface[0], np.delete(surface[1], triangles, axis=0)


def test_holes():
    whole = ball()
    open_ball = without(whole, 0, 1, 2, 3, 200)
    refused(open_ball, r"does not bound a solid; repair=True .*\n  \d+ open edges: edge \d+ \d+ at \(.*more")
    repaired(open_ball, "2 holes closed by", signed_volume(*whole))


def test_flipped_triangles():
    points, triangles = ball()
    flipped = triangles.copy()
    flipped[[3, 40, 41, 200]] = flipped[[3, 40, 41, 200], ::-1]
    refused((points, flipped), r"edges whose triangles disagree about the outside: edge .* at \(")
    repaired((points, flipped), "4 triangles turned", signed_volume(points, triangles))


def test_a_surface_that_points_inward():
    points, triangles = inward(ball())
    refused((points, triangles), "points inward")
    repaired((points, triangles), "triangles turned", signed_volume(*ball()))


def test_repeated_and_flat_triangles_and_loose_points():
    points, triangles = ball()
    more = np.concatenate([triangles, triangles[5:7], [[0, 1, 1]]])
    refused((points, more), r"1 triangles without area: triangle 3074 at .*\n  2 repeated triangles: triangle 3072 at")
    repaired((points, more), "1 triangles without area dropped; 2 repeated triangles dropped", signed_volume(*ball()))
    soup = points[triangles].reshape(-1, 3), np.arange(3 * len(triangles)).reshape(-1, 3)
    refused(soup, "9216 open edges")
    repaired(soup, "points merged", signed_volume(*ball()))
    loose = np.concatenate([points, [[9.0, 9.0, 9.0]]])
    assert pl.meshes.tetrahedralize((loose, triangles)).points.max() < 1.1


def test_edges_of_more_than_two_triangles():
    # two cubes that share an edge, and a fin on a ball
    first, second = box(), box(translation=(1, 1, 0))
    points, triangles = together(first, second)
    used, where = np.unique(points.round(9), axis=0, return_inverse=True)
    joined = used, where.reshape(-1)[triangles]
    refused(joined, r"1 edges of more than two triangles: edge \d+ \d+ at \(1, 1, 0.5\)")
    repaired(joined, "1 edges of more than two triangles kept", 2.0, sharp=30.0)
    points, triangles = ball()
    fin = np.concatenate([points, [[0.0, 0.0, 2.0]]]), np.concatenate([triangles, [[*triangles[0, :2], len(points)]]])
    refused(fin, "open edges")


def test_surfaces_that_pass_through_themselves_are_one_body():
    overlapping = together(ball(), ball(at=(1.0, 0.1, 0.05)))
    refused(overlapping, r"triangles that others pass through: triangle \d+ at")
    faults = surface_faults(*overlapping)
    assert len(faults) == 1 and faults[0].count > 10 and faults[0].places.shape == (faults[0].count, 3)
    # the union: both balls less the lens, two caps of height h = R - d / 2
    d, volume = np.linalg.norm([1.0, 0.1, 0.05]), signed_volume(*ball(cells=8))
    cap = np.pi * (1 - d / 2) ** 2 * (2 + d / 2) / 3
    with pytest.warns(UserWarning, match="others pass through kept"):
        mesh = pl.meshes.tetrahedralize(overlapping, repair=True, size=0.1)
    assert mesh.volume == pytest.approx(2 * volume - 2 * cap, rel=0.01)


def test_one_sided_and_flat_surfaces_cannot_be_repaired():
    square = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]), np.array([[0, 1, 2], [0, 2, 3]])
    with pytest.raises(pl.MeshError, match="no volume"):
        pl.meshes.tetrahedralize(square, repair=True)


def test_a_flat_closed_surface_encloses_nothing():
    """It is closed, and its triangles agree, but there is nothing inside: neither turned nor to be repaired."""
    points = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0.3, 0.3, 0]])
    flat = points, np.array([[0, 1, 3], [1, 2, 3], [2, 0, 3], [0, 2, 1]])
    refused(flat, r"nothing inside that could be filled:\n  1 surface that encloses no volume: triangle 0 at")
    with pytest.raises(pl.MeshError, match=r"cannot be repaired: it encloses no volume$"):
        pl.meshes.tetrahedralize(flat, repair=True)


def test_small_pieces_are_not_lost_in_silence():
    surface = together(ball(), ball(0.01, cells=2, at=(2.0, 0, 0)))
    with pytest.raises(pl.MeshError, match=r"piece of the surface with triangle 3072 near .* too small or thin"):
        pl.meshes.tetrahedralize(surface, size=0.15)


def test_a_body_that_falls_apart_is_refused():
    # two balls joined by a rod that the lattice does not see, as one piece of surface
    points, triangles = ball(cells=8)
    x = points[:, 0]
    waist = np.where(np.abs(x) < 0.5, 0.01, 1.0)
    dumbbell = np.column_stack([3 * x, points[:, 1] * waist, points[:, 2] * waist]), triangles
    with pytest.raises(pl.MeshError, match=r"falls into 2 parts, of which one is near .* use a smaller size"):
        pl.meshes.tetrahedralize(dumbbell, size=0.2, max_volume_error=0.5)


@pytest.mark.parametrize("seed", range(12))
def test_random_damage_is_refused_or_repaired(seed):
    generator = np.random.default_rng(seed)
    points, triangles = [ball(cells=6), organic(seed, 6), ring()][seed % 3]
    goal = signed_volume(points, triangles)
    points, triangles = points.copy(), triangles.copy()
    kind = seed % 4
    some = generator.choice(len(triangles), 8, replace=False)
    if kind == 0:
        triangles = np.delete(triangles, some, axis=0)
    elif kind == 1:
        triangles[some] = triangles[some, ::-1]
    elif kind == 2:
        triangles = np.concatenate([triangles, triangles[some], triangles[some[:3]][:, [0, 0, 1]]])
    else:
        triangles[some] = triangles[some][:, [1, 2, 0]]
        triangles = np.delete(triangles, some[:2], axis=0)
        points = np.concatenate([points, points[triangles[5]]])
        triangles[5] = len(points) - 3 + np.arange(3)
    refused((points, triangles), "does not bound a solid")
    done = repair_surface(points, triangles)
    assert done.notes and not [f for f in surface_faults(done.points, done.triangles) if "others pass" not in f.what]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mesh = pl.meshes.tetrahedralize((points, triangles), repair=True, max_volume_error=0.02)
    assert mesh.quality().min_dihedral >= 10 and mesh.volume == pytest.approx(goal, rel=0.03)


@pytest.mark.parametrize("seed", range(4))
def test_random_triangles_never_make_a_bad_mesh(seed):
    generator = np.random.default_rng(seed)
    soup = generator.normal(size=(30, 3)), generator.integers(0, 30, (60, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            mesh = pl.meshes.tetrahedralize(soup, repair=True, max_volume_error=5.0)
        except pl.MeshError:
            return
    assert mesh.quality().min_dihedral >= 10 and mesh.quality().min_volume > 0


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"size": 0.0}, "size must be a finite number above 0"),
        ({"size": float("nan")}, "size must be a finite number above 0"),
        ({"size": "big"}, "size must be"),
        ({"size": 1e-5}, r"lattice of .* cells, .* are allowed"),
        ({"grading": 3}, "grading must be one of 1, 2, 4, 8, 16, not 3"),
        ({"min_dihedral": 60.0}, "min_dihedral must be .* at most 30"),
        ({"sharp": -1.0}, "sharp must be"),
        ({"method": "magic"}, "method must be one of lattice, tetwild, tetgen, not 'magic'"),
        ({"method": "tetgen", "grading": 2}, "grading is for method='lattice'"),
        ({"method": "tetwild", "sharp": 30.0}, "sharp is for method='lattice'"),
        ({"cells": 4}, "tetrahedralize has no option cells; allowed are size, grading"),
        ({"size": 5.0}, "differs by 100 % from that of the surface"),
    ],
)
def test_bad_options(options, match):
    with pytest.raises(pl.MeshError, match=match):
        pl.meshes.tetrahedralize(ball(), **options)


def test_what_is_no_surface():
    refused(3, "a surface is a TriMesh")
    refused("nowhere.stl", "nowhere.stl: there is no such mesh file")
    refused(([[0, 0, 0]], [[0, 1, 2]]), "must index points")


@pytest.mark.parametrize(("method", "package", "extra"), [("tetwild", "pytetwild", "mesh"), ("tetgen",) * 3])
def test_other_meshers_are_used_or_named_with_their_extra(method, package, extra, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, package, None)  # as if it were not installed
    with pytest.raises(pl.MeshError, match=rf"needs the package {package} \(licence .*pliant\[{extra}\]"):
        pl.meshes.tetrahedralize(ball(), method=method)
    monkeypatch.undo()
    pytest.importorskip(package)
    mesh = pl.meshes.tetrahedralize(ball(), size=0.2, method=method)
    assert mesh.volume == pytest.approx(signed_volume(*ball()), rel=0.01) and mesh.quality().min_volume > 0


def test_command_line(tmp_path):
    surface, target = tmp_path / "ball.obj", tmp_path / "ball.node"
    pl.meshes.write(surface, pl.meshes.TriMesh(*ball()))
    call = ["mesh", "tetrahedralize", str(surface), "-o", str(target), "--size", "0.19", "--grading", "2"]
    done = CliRunner().invoke(main, call)
    assert done.exit_code == 0, done.output
    assert "dihedral angles [degrees]" in done.output and "radius to edge" in done.output and "wrote" in done.output
    found = pl.meshes.read(target)
    assert found.volume == pytest.approx(signed_volume(*ball()), rel=0.01)
    pl.meshes.write(surface, pl.meshes.TriMesh(*without(ball(), 7)))
    failed = CliRunner().invoke(main, call)
    assert failed.exit_code == 1 and "ball.obj does not bound a solid" in failed.output
    again = CliRunner().invoke(main, [*call, "--repair"])
    assert again.exit_code == 0 and "the surface was repaired: 1 holes closed by 1 triangles" in again.output
    shown = CliRunner().invoke(main, ["mesh", "info", str(target), "--histogram"])
    assert shown.exit_code == 0 and "dihedral angles [degrees]" in shown.output
