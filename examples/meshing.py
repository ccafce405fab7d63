"""Closed surfaces filled with tets, cut open: a bumpy ball evenly and graded, a turned box without and with its sharp
edges."""

import sys
from pathlib import Path

import numpy as np

import pliant as pl
from pliant.benchmarks.mesh import bumpy
from pliant.meshes.repair import signed_volume
from pliant.output.drawing.camera import Camera
from pliant.output.drawing.picture import Ground, Surface
from pliant.output.drawing.raster import render
from pliant.output.film import save_png

CUT_COLOR, SKIN_COLOR = "#e9ad4b", "#3f9aa3"


def cut_open(mesh: pl.meshes.TetMesh, place: tuple[float, float, float]) -> list[Surface]:
    """What is seen of the tets behind the plane y = 0: those of the boundary, and those inside."""
    behind = mesh.points[mesh.tets].mean(axis=1)[:, 1] > 0
    rest = pl.meshes.TetMesh(mesh.points, mesh.tets[behind], repair=True)
    outer = {tuple(point) for point in mesh.points[np.unique(mesh.boundary_faces)]}
    on_skin = np.array([tuple(point) in outer for point in rest.points])[rest.boundary_faces].all(axis=1)
    points = rest.points + np.array(place)
    parts = ((rest.boundary_faces[on_skin], SKIN_COLOR), (rest.boundary_faces[~on_skin], CUT_COLOR))
    return [Surface(points, faces, color=color, edges=True) for faces, color in parts]


def main(folder: str = "out") -> float:
    """The smallest dihedral angle of the four meshes [degrees]."""
    ball = bumpy(16)
    box = pl.meshes.box((1.3, 1.3, 1.3), cells=1).transformed(
        rotation=(0.9, 0.1, 0.3, 0.2), translation=(-0.9, -0.4, -0.4)
    )
    cube = pl.meshes.TriMesh(box.points, box.boundary_faces, repair=True)
    made = {
        "evenly": (ball, pl.meshes.tetrahedralize(ball, size=0.12)),
        "graded": (ball, pl.meshes.tetrahedralize(ball, size=0.12, grading=8)),
        "blunt": (cube, pl.meshes.tetrahedralize(cube, size=0.13, max_volume_error=0.03)),
        "sharp": (cube, pl.meshes.tetrahedralize(cube, size=0.13, sharp=30.0)),
    }
    surfaces, worst = [], 180.0
    for k, (name, (surface, mesh)) in enumerate(made.items()):
        quality = mesh.quality()
        points, triangles = surface if isinstance(surface, tuple) else (surface.points, surface.triangles)
        error = mesh.volume / signed_volume(points, triangles) - 1
        angles = f"{quality.min_dihedral:.1f} to {quality.max_dihedral:.1f} degrees"
        print(f"{name}: {len(mesh.tets)} tets, angles {angles}, volume {100 * error:+.2f} %")
        assert quality.min_dihedral >= 10 and quality.min_volume > 0 and abs(error) < 0.03
        surfaces += cut_open(mesh, (2.5 * k, 0.0, 0.0))
        worst = min(worst, quality.min_dihedral)
    camera = Camera((3.75, -11.2, 3.4), (3.75, 0.0, -0.3))
    image = render(surfaces, camera, (960, 540), ground=Ground(-1.45, 1.0), caption="evenly, graded, blunt, sharp")
    save_png(Path(folder) / "meshing.png", image)
    return worst


if __name__ == "__main__":
    main(*sys.argv[1:])
