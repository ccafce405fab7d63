"""Pieces of surfaces that overlap or touch, whatever they are aligned with, and volumes of slender ones."""

import itertools

import numpy as np
import pytest

import pliant as pl
from closed_surfaces import ball, box, inward, of_mesh, ring, together
from pliant.meshes import enclosed
from pliant.meshes.enclosed import enclosed_volume
from pliant.meshes.repair import signed_volume
from pliant.meshes.surface_faults import crossing_faults
from pliant.meshes.surface_repair import repair_surface

CUBE = of_mesh(pl.meshes.box((1, 1, 1), 4))
SMALL = of_mesh(pl.meshes.box((0.5, 0.5, 0.5), 2))
STEPS = (-0.75, -0.5, -0.25, 0.0, 0.25, 0.5, 0.75, 1.0)


def moved(surface, shift) -> tuple[np.ndarray, np.ndarray]:
    return surface[0] + np.array(shift, float), surface[1]


def turned(surface, seed: int, about=(0.0, 0.0, 0.0)) -> tuple[np.ndarray, np.ndarray]:
    """The surface turned at random."""
    turn, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))
    return (surface[0] - about) @ (turn * np.linalg.det(turn)).T + about, surface[1]


def expected(shift) -> tuple[str, float]:
    """How the small box, moved from a corner of the cube, lies to it, and the volume [m^3] of the repaired surface."""
    low, high = np.array(shift), np.array(shift) + 0.5
    overlap = np.clip(np.minimum(high, 1) - np.maximum(low, 0), 0, None).prod()
    if (low > 0).all() and (high < 1).all():
        return "cavity", 1 - 0.125
    inside = (low >= 0).all() and (high <= 1).all()
    return ("beside" if overlap == 0 else "inside" if inside else "across"), 1.125 - overlap


@pytest.mark.parametrize("turn", [None, 1])
def test_boxes_at_every_step_of_a_grid_cross_when_they_do(turn):
    """Edges cross edges, corners lie on edges and faces, faces lie in one plane: in 98 of 512 places they cross."""
    count = 0
    for shift in itertools.product(STEPS, repeat=3):
        surface = together(CUBE, moved(SMALL, shift))
        surface = surface if turn is None else turned(surface, turn, about=(3.0, 1.0, 2.0))
        assert bool(crossing_faults(*surface)) == (expected(shift)[0] == "across"), shift
        count += expected(shift)[0] == "across"
    assert count == 98


@pytest.mark.parametrize("seed", range(30))
def test_what_crosses_when_aligned_crosses_when_turned_and_a_little_aside(seed):
    """Balls, cylinders, boxes and rings at quarters of a metre, which share planes, edges and corners."""
    generator = np.random.default_rng(seed)
    shapes = [ball(cells=4), of_mesh(pl.meshes.cylinder(0.5, 1.0, 4)), CUBE, SMALL, ring()]
    first, second = (shapes[i] for i in generator.integers(0, 5, 2))
    shift = generator.integers(-6, 7, 3) / 4
    aligned = together(first, moved(second, shift))
    crossing = bool(crossing_faults(*aligned))
    assert bool(crossing_faults(*turned(aligned, seed, about=(5.0, 3.0, 1.0)))) == crossing
    if crossing:
        aside = shift + 1e-6 * generator.normal(size=3)
        assert crossing_faults(*together(first, moved(second, aside)))


SHIFTS = [(0.25, 0.25, 0.25), (0.5, 0.25, 0.25), (0, 0, 0), (0.75, 0.25, 0.25), (0.75, 0.75, 0.75), (0.75, 0.5, 0)]
SHIFTS += [(1, 0.25, 0.25), (1, 0.75, 0.5), (1, 1, 0.25), (1, 1, 1), (-0.25, 0.25, 0), (0.6, 0.7, 0.8)]
SHIFTS += [(0.25, 0.25, 0.75), (0, 0.25, 0.25), (0.3, 0.2, 0.5), (0.25, 0.3, 0.2)]


@pytest.mark.parametrize("shift", SHIFTS)
@pytest.mark.parametrize("turn", [None, 2])
@pytest.mark.parametrize("drawn", ["outward", "inward", "as single triangles"])
def test_repair_makes_unions_of_what_overlaps_or_touches_and_cavities_of_what_is_inside(shift, turn, drawn):
    small = moved(SMALL, shift)
    points, triangles = together(CUBE, inward(small) if drawn == "inward" else small)
    if drawn == "as single triangles":
        points, triangles = points[triangles].reshape(-1, 3), np.arange(3 * len(triangles)).reshape(-1, 3)
    ready = repair_surface(*((points, triangles) if turn is None else turned((points, triangles), turn)))
    assert any("pass through" in note for note in ready.notes) == ready.crossed
    volume, doubt = enclosed_volume(ready.points, ready.triangles, ready.crossed)
    assert volume == pytest.approx(expected(shift)[1], rel=enclosed.DOUBT) and doubt <= enclosed.DOUBT


@pytest.mark.parametrize("shift", [0, 1e-6, 1e-3])
@pytest.mark.filterwarnings("ignore:the surface was repaired")
def test_the_same_union_whatever_the_alignment(shift):
    """Half a ball stands out of a box: 1 + V / 2 for the polyhedron's volume V, whose equator has corners."""
    globe = ball(0.5, 5)
    surface = together(CUBE, moved(globe, np.array([0.5, 0.5, 1.0]) + shift * np.array([1, 0.4, 0])))
    with pytest.raises(pl.MeshError, match="triangles that others pass through"):
        pl.meshes.tetrahedralize(surface, size=0.05)
    mesh = pl.meshes.tetrahedralize(surface, size=0.05, repair=True)
    assert mesh.volume == pytest.approx(1 + signed_volume(*globe) / 2, rel=5e-3)


@pytest.mark.parametrize("shift", [(0.7, 0, 0), (0.7, 0.1, 0.05), (0, 0.7, 0), (0.5, 0.5, 0), (0.4, 0.4, 0.4)])
@pytest.mark.filterwarnings("ignore:the surface was repaired")
def test_two_balls(shift):
    """Both balls less the lens: two caps of height h = 1 - d / 2, pi h^2 (3 - h) / 3 each."""
    surface = together(ball(cells=8), moved(ball(cells=8), shift))
    with pytest.raises(pl.MeshError, match="triangles that others pass through"):
        pl.meshes.tetrahedralize(surface, size=0.1)
    height = 1 - np.linalg.norm(shift) / 2
    goal = 8 * np.pi / 3 - 2 * np.pi * height**2 * (3 - height) / 3
    assert pl.meshes.tetrahedralize(surface, size=0.1, repair=True).volume == pytest.approx(goal, rel=0.015)


@pytest.mark.parametrize("aside", [0, 1e-6, 1e-3])
def test_a_ball_whose_top_hangs_out_of_its_bottom(aside):
    points, triangles = ball(cells=6)
    points = points.copy()
    points[points[:, 2].argmax()] = (aside, aside / 2, -1.6)
    with pytest.raises(pl.MeshError, match="triangles that others pass through"):
        pl.meshes.tetrahedralize((points, triangles))


@pytest.mark.parametrize("shift", [(1, 0, 0), (1, 0.5, 0), (1, 0.3, 0.1), (1, 1, 0), (1, 1, 0.5), (1, 1, 1)])
@pytest.mark.parametrize("turn", [None, 5])
def test_bodies_that_stand_on_each_other_are_no_fault(shift, turn):
    surface = together(CUBE, moved(CUBE, shift))
    surface = surface if turn is None else turned(surface, turn)
    mesh = pl.meshes.tetrahedralize(surface, size=0.08, sharp=30.0)
    assert mesh.volume == pytest.approx(2.0, rel=0.01)


def test_meshes_of_a_surface_turn_overlapping_pieces_outward_too():
    both = together(CUBE, inward(moved(SMALL, (0.8, 0.3, 0.3))))
    mesh = pl.meshes.TriMesh(*both, repair=True)
    assert signed_volume(mesh.points, mesh.triangles) == pytest.approx(1.125)
    hollow = pl.meshes.TriMesh(*together(CUBE, moved(SMALL, (0.25, 0.25, 0.25))), repair=True)
    assert signed_volume(hollow.points, hollow.triangles) == pytest.approx(0.875)


def test_repair_says_which_way_it_turned_triangles():
    hollow = repair_surface(*together(CUBE, moved(SMALL, (0.25, 0.25, 0.25))))
    assert hollow.notes == ["48 triangles around cavities, wholly inside other pieces, turned to point inward"]
    assert repair_surface(*together(CUBE, inward(moved(SMALL, (2, 0, 0))))).notes == [
        "48 triangles turned to point outward"
    ]


@pytest.mark.parametrize(("drawn", "goal"), [(inward, 27 - 0.1875), (lambda surface: surface, 27.0)])
def test_voids_that_overlap_stay_as_they_are_drawn(drawn, goal):
    outer = of_mesh(pl.meshes.box((3, 3, 3), 2))
    voids = [drawn(moved(SMALL, shift)) for shift in ((1, 1, 1), (1.25, 1, 1))]
    ready = repair_surface(*together(outer, *voids))
    assert enclosed_volume(ready.points, ready.triangles, ready.crossed)[0] == pytest.approx(goal, rel=1e-3)


@pytest.mark.parametrize("aspect", [1.0, 1e-2, 1e-4, 1e-6])
@pytest.mark.parametrize("turn", [None, 3])
def test_volumes_of_slender_surfaces_are_exact_to_rounding(aspect, turn):
    scaled = CUBE[0] * [1, aspect, aspect], CUBE[1]
    surface = scaled if turn is None else turned(scaled, turn)
    # rounded coordinates of 1 m move the sides by 1e-16 m
    assert enclosed_volume(*surface, False) == (pytest.approx(aspect**2, rel=1e-15 / aspect + 1e-13), 0.0)
    apart = together(surface, moved(surface, (3, 0, 0)))
    assert enclosed_volume(*apart, False)[0] == pytest.approx(2 * aspect**2, rel=1e-14 / aspect + 1e-13)


@pytest.mark.parametrize("aspect", [1.0, 1e-2, 1e-4])
@pytest.mark.parametrize("turn", [None, 3, 4])
@pytest.mark.parametrize(
    ("shift", "union"), [((0.5, 0, 0), 1.5), ((0.3, 0.2, 0.1), 2 - 0.7 * 0.8 * 0.9), ((1, 0, 0), 2)]
)
def test_volumes_of_overlapping_slender_surfaces(aspect, turn, shift, union):
    first, second = ((points * [1, aspect, aspect], triangles) for points, triangles in (CUBE, moved(CUBE, shift)))
    surface = together(first, second)
    volume, doubt = enclosed_volume(*(surface if turn is None else turned(surface, turn)))
    assert volume == pytest.approx(union * aspect**2, rel=enclosed.DOUBT) and doubt <= enclosed.DOUBT


def test_a_volume_that_cannot_be_told_is_refused(monkeypatch):
    monkeypatch.setattr(enclosed, "LINES", (3,))
    surface = together(ball(), moved(ball(), (0.7, 0.1, 0.05)))
    with pytest.warns(UserWarning, match="pass through"), pytest.raises(pl.MeshError, match="cannot be told to"):
        pl.meshes.tetrahedralize(surface, repair=True, max_volume_error=1e-4)


@pytest.mark.parametrize("aspect", [1e-3, 1e-7])
def test_slender_surfaces_that_point_inward_are_not_flat(aspect):
    points, triangles = inward(CUBE)
    with pytest.raises(pl.MeshError, match="surface that points inward"):
        pl.meshes.tetrahedralize((points * [1, aspect, aspect], triangles))


def test_slender_surfaces_are_meshed_or_refused_at_once():
    thin = box((1, 1e-3, 1e-3))
    mesh = pl.meshes.tetrahedralize(thin, size=5e-4, sharp=30.0)
    assert mesh.volume == pytest.approx(1e-6, rel=0.01)
    with pytest.raises(
        pl.MeshError, match=r"200004 cells along the longest side .* 1 m, 32768 are allowed; use 3.1e-05 m"
    ):
        pl.meshes.tetrahedralize(box((1, 1e-5, 1e-5)), size=5e-6)
    with pytest.raises(pl.MeshError, match="differs by 100 % from that of the surface"):
        pl.meshes.tetrahedralize(box((1, 1e-5, 1e-5)))
