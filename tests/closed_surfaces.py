"""Closed surfaces to be filled with tets, as (points (n, 3) [m], triangles (m, 3))."""

import numpy as np

import pliant as pl
from pliant.benchmarks.mesh import bumpy, torus


def of_mesh(mesh: pl.meshes.TetMesh, **motion) -> tuple[np.ndarray, np.ndarray]:
    """The boundary of a tet mesh, moved."""
    boundary = mesh.transformed(**motion).boundary_faces if motion else mesh.boundary_faces
    points = mesh.transformed(**motion).points if motion else mesh.points
    used, triangles = np.unique(boundary, return_inverse=True)
    return points[used], triangles.reshape(-1, 3)


def ball(radius: float = 1.0, cells: int = 8, at=(0.0, 0.0, 0.0)) -> tuple[np.ndarray, np.ndarray]:
    """A sphere of 48 * cells^2 triangles."""
    return of_mesh(pl.meshes.sphere(radius, cells), translation=at)


def box(size=(1.0, 1.0, 1.0), **motion) -> tuple[np.ndarray, np.ndarray]:
    """A box of twelve triangles or so."""
    return of_mesh(pl.meshes.box(size, cells=1), **motion)


def together(*surfaces) -> tuple[np.ndarray, np.ndarray]:
    """Several surfaces as one."""
    offsets = np.cumsum([0] + [len(points) for points, _ in surfaces])
    triangles = [part + offset for (_, part), offset in zip(surfaces, offsets)]
    return np.concatenate([points for points, _ in surfaces]), np.concatenate(triangles)


def inward(surface) -> tuple[np.ndarray, np.ndarray]:
    """The surface with its inside out: that of a cavity."""
    return surface[0], surface[1][:, ::-1]


def organic(seed: int, cells: int = 12) -> tuple[np.ndarray, np.ndarray]:
    """A ball with bumps and dents."""
    return bumpy(cells, seed)


def ring() -> tuple[np.ndarray, np.ndarray]:
    """A torus."""
    return torus(48, 20)


def unit_cube() -> pl.Mesh:
    """A cube of 1 m as a mesh."""
    surface = pl.meshes.box((1, 1, 1), cells=1).surface()
    return pl.Mesh(points=surface.points, triangles=surface.triangles)
