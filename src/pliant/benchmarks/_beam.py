"""The cantilever as every engine of the benchmark gets it: sizes, material, mesh, masses, the tip, a VTK file."""

from pathlib import Path

import numpy as np

from pliant.meshes import TetMesh, box

SIZE = (1.0, 0.2, 0.2)
YOUNG, POISSON, DENSITY, GRAVITY = 1e6, 0.4, 1000.0, 9.81
STEP = 0.01
CLAMP = 1e-9


def beam_mesh(cells) -> TetMesh:
    """The box with its corner at the origin, six tets to a cell."""
    return box(SIZE, cells=tuple(cells), pattern="six")  # the mesh of published timings and tips


def clamped(points: np.ndarray) -> np.ndarray:
    """Mask of the nodes at x = 0."""
    return points[:, 0] < CLAMP


def tip(points: np.ndarray, now: np.ndarray) -> float:
    """Mean deflection [m] of the free end, from its rest positions and its present ones."""
    end = points[:, 0] > SIZE[0] - CLAMP
    return float((now[end, 2] - points[end, 2]).mean())


def node_masses(mesh: TetMesh) -> np.ndarray:
    """A quarter of every tet's mass [kg] on each of its nodes."""
    corners = mesh.points[mesh.tets]
    volume = np.abs(np.linalg.det(corners[:, 1:] - corners[:, :1])) / 6
    masses = np.zeros(len(mesh.points))
    np.add.at(masses, mesh.tets, np.repeat(DENSITY * volume[:, None] / 4, 4, axis=1))
    return masses


def lame() -> tuple[float, float]:
    """Lame's parameters (lam, mu) [Pa]."""
    mu = YOUNG / (2 * (1 + POISSON))
    return YOUNG * POISSON / ((1 + POISSON) * (1 - 2 * POISSON)), mu


def write_vtk(path: Path, mesh: TetMesh) -> None:
    """The mesh as a legacy VTK file, with tets of positive volume in VTK's sense."""
    corners = mesh.points[mesh.tets]
    tets = mesh.tets.copy()
    inverted = np.linalg.det(corners[:, 1:] - corners[:, :1]) < 0
    tets[inverted] = tets[inverted][:, [0, 2, 1, 3]]
    with path.open("w") as file:
        file.write("# vtk DataFile Version 3.0\nbeam\nASCII\nDATASET UNSTRUCTURED_GRID\n")
        file.write(f"POINTS {len(mesh.points)} double\n")
        np.savetxt(file, mesh.points, "%.17g")
        file.write(f"CELLS {len(tets)} {5 * len(tets)}\n")
        np.savetxt(file, np.column_stack((np.full(len(tets), 4), tets)), "%d")
        file.write(f"CELL_TYPES {len(tets)}\n")
        np.savetxt(file, np.full(len(tets), 10), "%d")
