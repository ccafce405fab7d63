"""Meshes from closed surfaces of 70,000 triangles: time and quality of the lattice, and of other meshers beside it."""

import os
import time
from importlib.util import find_spec

import numpy as np

import pliant as pl
from pliant.meshes.repair import signed_volume
from pliant.meshes.shaping import closest, element_tree


def ball(cells: int) -> tuple[np.ndarray, np.ndarray]:
    """A sphere of radius 1 m."""
    surface = pl.meshes.sphere(1.0, cells).surface()
    used, triangles = np.unique(surface.triangles, return_inverse=True)
    return surface.points[used], triangles.reshape(-1, 3)


def bumpy(cells: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """A ball with bumps and dents."""
    points, triangles = ball(cells)
    generator = np.random.default_rng(seed)
    waves, phase = generator.normal(size=(16, 3)) * 4, generator.uniform(0, 6, 16)
    return points * (1 + 0.8 * np.sin(points @ waves.T + phase).mean(axis=1))[:, None], triangles


def torus(around: int, through: int) -> tuple[np.ndarray, np.ndarray]:
    """A ring of radius 1 m, 0.35 m thick."""
    i, j = np.meshgrid(np.arange(around), np.arange(through), indexing="ij")
    a, b = 2 * np.pi * i.ravel() / around, 2 * np.pi * j.ravel() / through
    arm = 1 + 0.35 * np.cos(b)
    points = np.column_stack([arm * np.cos(a), arm * np.sin(a), 0.35 * np.sin(b)])
    corner = i.ravel() * through + j.ravel()
    right, up = (i.ravel() + 1) % around * through + j.ravel(), i.ravel() * through + (j.ravel() + 1) % through
    both = (i.ravel() + 1) % around * through + (j.ravel() + 1) % through
    return points, np.concatenate([np.column_stack([corner, right, both]), np.column_stack([corner, both, up])])


def measure(label: str, surface: tuple, times: int, **options) -> dict:
    """Mesh a surface so often and take the least time; quality of the mesh, and how far the surface is from it."""
    points, triangles = surface
    seconds = np.inf
    for _ in range(times):
        start = time.perf_counter()
        mesh = pl.meshes.tetrahedralize(surface, **options)
        seconds = min(seconds, time.perf_counter() - start)
    quality = mesh.quality()
    nearest = closest(np.ascontiguousarray(points), element_tree(mesh.points[mesh.boundary_faces]))[0]
    diagonal = np.linalg.norm(np.ptp(points, axis=0))
    return {
        "label": label,
        "method": options.get("method", "lattice"),
        "triangles": len(triangles),
        "seconds": float(seconds),
        "tets": len(mesh.tets),
        "min_dihedral": quality.min_dihedral,
        "max_dihedral": quality.max_dihedral,
        "max_radius_edge": quality.max_radius_edge,
        "min_volume": quality.min_volume,
        "volume_error": abs(mesh.volume / signed_volume(points, triangles) - 1),
        "distance": float(np.linalg.norm(nearest - points, axis=1).max() / diagonal),
    }


def run(quick: bool = False, peers: bool | None = None) -> dict:
    """Sphere, bumpy ball and torus; peers: pytetwild and tetgen too where they are installed, on unless quick."""
    fine = 12 if quick else 38
    surfaces = {"sphere": ball(fine), "bumpy": bumpy(fine), "torus": torus(9 * fine, 3 * fine)}
    peers = not quick if peers is None else peers
    pl.meshes.tetrahedralize(ball(4), size=0.25, max_volume_error=0.1)  # compiles, or loads
    cases = []
    for name, surface in surfaces.items():
        size = float(np.linalg.norm(np.ptp(surface[0], axis=0)) / 32)
        cases.append(measure(name, surface, 3, size=size))
        if not quick:
            cases.append(measure(f"{name}, fine", surface, 3, size=size / 3, grading=8))
        for method, package in (("tetwild", "pytetwild"), ("tetgen", "tetgen")) if peers else ():
            if find_spec(package) is not None:
                cases.append(measure(f"{name}, {method}", surface, 1, size=size, method=method))
    return {"name": "mesh", "cores": os.cpu_count(), "cases": cases}
