"""Boundaries of tet meshes do not meet themselves, above all with `sharp`, and bodies made of them fall freely."""

import numpy as np
import pytest

import pliant as pl
from closed_surfaces import box, of_mesh, together
from pliant.collide.intersections import intersections
from pliant.collide.surface_contacts import Surfaces
from pliant.kernels.device import HOST
from pliant.meshes.tangles import Boundary
from test_tetrahedralize import kept

COSINE, SINE = np.cos(0.3), np.sin(0.3)
ABOUT_Z = np.array([[0.8, -0.6, 0], [0.6, 0.8, 0], [0, 0, 1]])
TURN = np.array([[1, 0, 0], [0, COSINE, -SINE], [0, SINE, COSINE]]) @ ABOUT_Z


def prism(radii, height: float, turn: np.ndarray = TURN) -> tuple[np.ndarray, np.ndarray]:
    """A turned prism whose corners have these distances [m] from its axis, at even angles."""
    count = len(radii)
    angle = 2 * np.pi * np.arange(count) / count
    ring = np.column_stack([np.cos(angle), np.sin(angle)]) * np.array(radii)[:, None]
    low, high = (np.column_stack([np.vstack([ring, [[0.0, 0.0]]]), np.full(count + 1, z)]) for z in (0.0, height))
    faces = []
    for i in range(count):
        j, up = (i + 1) % count, count + 1
        faces += [(i, j, j + up), (i, j + up, i + up), (count, j, i), (count + up, i + up, j + up)]
    return np.concatenate([low, high]) @ turn.T, np.array(faces)


def star(points: int, outer: float, inner: float, height: float) -> tuple[np.ndarray, np.ndarray]:
    """A turned star with so many points."""
    return prism(np.tile([inner, outer], points), height)


def overlapping_boxes() -> tuple[np.ndarray, np.ndarray]:
    """Two boxes of which one reaches out of the other; they end in one plane."""
    points, triangles = of_mesh(pl.meshes.box((0.1, 0.08, 0.1), cells=(3, 3, 3)))
    low = of_mesh(pl.meshes.box((0.2, 0.12, 0.1), cells=(6, 4, 3)))
    return together(low, (points + np.array([0.05, 0.02, 0.05]), triangles))


GEAR = prism(np.tile([0.08, 0.08, 0.1, 0.1], 12), 0.05)
# Surfaces and sizes, and the least share of the length of sharp edges that is kept. The gear of 0.02 m has teeth of one
# size; of the boxes a sixth of the length lies inside and cannot be kept.
SHAPES = {
    "star of 10, coarse": (star(10, 0.1, 0.05, 0.06), 0.014, 0.4),
    "star of 10": (star(10, 0.1, 0.05, 0.06), 0.01, 0.5),
    "star of 5": (star(5, 0.12, 0.045, 0.05), 0.01, 0.7),
    "gear, coarse": (GEAR, 0.02, 0.4),
    "gear": (GEAR, 0.01, 0.7),
    "boxes": (overlapping_boxes(), 0.015, 0.5),
    "turned box": (box((0.2, 0.1, 0.1), rotation=(0.9, 0.1, 0.3, 0.2)), 0.013, 0.85),
}


def meshed(name: str) -> pl.meshes.TetMesh:
    """The mesh of one of these shapes, with its sharp edges."""
    surface, size, _ = SHAPES[name]
    return pl.meshes.tetrahedralize(surface, size=size, sharp=30.0, max_volume_error=0.08, repair=name == "boxes")


def meeting_itself(mesh: pl.meshes.TetMesh) -> int:
    """How many edges and faces of the boundary without a common node have points in common, by exact arithmetic."""
    body = np.zeros(len(mesh.points), np.int64)
    surfaces = Surfaces(HOST, mesh.boundary_faces, body, mesh.points, np.ones((1, 1), bool))
    return len(intersections(surfaces, mesh.points, exact=True)[0])


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.filterwarnings("ignore:the surface was repaired")
def test_boundaries_do_not_meet_themselves_and_keep_sharp_edges(name):
    surface, size, share = SHAPES[name]
    mesh = meshed(name)
    assert meeting_itself(mesh) == 0
    assert Boundary(mesh.boundary_faces, len(mesh.points)).outer_angles(mesh.points).min() >= 5.0
    assert mesh.quality().min_dihedral >= 10.0
    assert kept(surface, mesh, size) >= share


@pytest.mark.parametrize("name", ["gear, coarse", "boxes"])
@pytest.mark.filterwarnings("ignore:the surface was repaired")
def test_free_fall_converges_and_strains_nothing(name):
    """From rest all nodes fall alike: implicit Euler has v = g t exactly, and no elastic energy but of rounding."""
    scene = pl.Scene()
    scene.add_soft(meshed(name), pl.Material.corotated(1e6, 0.3, 1000))
    sim = scene.simulate(dt=1 / 60)
    for _ in range(10):
        sim.step()
        assert sim.info.converged and sim.info.parts == 1
    assert sim.energy().elastic < 1e-20 * sim.energy().kinetic
    assert np.abs(sim.state.v[:, 2] + 9.81 * sim.time).max() < 1e-9


def test_what_meets_itself_is_refused_with_its_places(monkeypatch):
    monkeypatch.setattr(Boundary, "tangled", lambda self, *_: np.zeros(0, np.int64))  # as if nobody had looked
    with pytest.raises(pl.MeshError, match=r"(?s)boundary of the mesh meets itself; use .*touch: triangle \d+ at \("):
        meshed("gear, coarse")
    with pytest.raises(pl.MeshError, match=r"edges at which the boundary is folded: edge \d+ \d+ at \("):
        meshed("star of 10")


@pytest.mark.parametrize("rise", [0.0, 1e-3, 0.3, -0.3])
def test_outer_angles_between_neighbouring_faces(rise):
    """Face 0 1 2 looks up, face 1 0 3 down; where the latter rises, what is outside lies between the two."""
    points = np.array([[0, 0, 0], [1, 0, 0], [0.5, 1, 0], [0.5, 1, rise]], float)
    found = Boundary(np.array([[0, 1, 2], [1, 0, 3]]), 4)
    expected = np.degrees(np.arctan(rise)) % 360
    assert found.outer_angles(points) == pytest.approx([expected], abs=1e-9)
    assert len(found.joined) == 1 and found.edges[found.joined[0]].tolist() == [0, 1]


def test_edges_of_a_box_are_right_angles_from_inside():
    points, faces = box()
    angles = Boundary(faces, len(points)).outer_angles(points)
    assert sorted(set(np.round(angles, 9))) == [180.0, 270.0] and (angles > 200).sum() == 12


def test_only_what_has_moved_is_looked_at():
    """Two tets of which one has an edge through a face of the other."""
    tet = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], float)
    faces = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
    points = np.concatenate([tet, tet + 0.2])
    boundary, least = Boundary(np.concatenate([faces, faces + 4]), 8), np.zeros(12)
    moved = np.zeros(8, bool)
    assert not len(boundary.tangled(points, moved, least))
    moved[4] = True
    assert set(boundary.tangled(points, moved, least)) >= {1, 2, 3, 4}
