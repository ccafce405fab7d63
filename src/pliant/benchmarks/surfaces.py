"""Contact between surfaces: time of every stage for a bar that meets itself and for two spheres; trees of boxes."""

import os
import time

import numpy as np

import pliant as pl
from pliant.collide.intersections import intersections
from pliant.collide.surface_contacts import Surfaces
from pliant.collide.trees import Tree
from pliant.kernels.device import HOST

BAR_CELLS = (40, 12, 12)
SPHERE_CELLS = 29
TREE_SIZES = (1_000, 10_000, 50_000, 200_000)


def bent_bar() -> tuple[np.ndarray, Surfaces, float]:
    """A bar of 28,800 tets bent to a ring whose ends face each other 0.003 m apart: positions (n, 3),
    surfaces, length of a cell [m]."""
    length = BAR_CELLS[0] / BAR_CELLS[1]
    mesh = pl.meshes.box((length, 1, 1), cells=BAR_CELLS)
    radius = length / (2 * np.pi) + 0.5
    angle = mesh.points[:, 0] / radius
    angle *= (2 * np.pi - 0.003 / (radius - 0.5)) / angle.max()
    arm = radius + 0.5 - mesh.points[:, 1]
    x = np.column_stack([arm * np.sin(angle), arm * np.cos(angle), mesh.points[:, 2]])
    body = np.zeros(len(x), int)
    return x, Surfaces(HOST, mesh.boundary_triangles, body, mesh.points, np.ones((1, 1), bool)), 1 / BAR_CELLS[1]


def two_spheres(own: bool) -> tuple[np.ndarray, Surfaces, float]:
    """Two spheres of 10,092 triangles each, 0.003 m apart; own: each may touch itself."""
    mesh = pl.meshes.box((2, 2, 2), cells=SPHERE_CELLS)
    used, corners = np.unique(mesh.boundary_triangles, return_inverse=True)
    sphere, triangles = mesh.points[used] - 1, corners.reshape(-1, 3)
    sphere = sphere / np.linalg.norm(sphere, axis=1, keepdims=True)
    x = np.concatenate([sphere, sphere + np.array([2.003, 0.001, 0.002])])
    body = np.repeat([0, 1], len(sphere))
    allowed = np.array([[own, True], [True, own]])
    return x, Surfaces(HOST, np.concatenate([triangles, triangles + len(sphere)]), body, x, allowed), 2 / SPHERE_CELLS


def milliseconds(call, times: int) -> float:
    """Least time of a call, after one that compiles."""
    call()
    least = np.inf
    for _ in range(times):
        start = time.perf_counter()
        call()
        least = min(least, time.perf_counter() - start)
    return 1e3 * least


def measure(label: str, x: np.ndarray, surfaces: Surfaces, cell: float, times: int) -> dict:
    """Every stage at positions x, with radii and reaches of a fiftieth of a cell, and a motion of up to a tenth
    of a cell."""
    radius = reach = np.full(len(x), cell / 50)
    moved = x + cell / 10 * np.random.default_rng(1).uniform(-1, 1, x.shape)
    found = surfaces.contacts(x, radius, reach)
    impacts = surfaces.impacts(x, moved, radius / 10)
    surfaces.fit(x, x, radius + reach)
    return {
        "label": label,
        "triangles": len(surfaces.index.triangles),
        "contacts": len(found),
        "impacts": len(impacts.time),
        "vertex_pairs": len(surfaces.pairs("vertices", "triangles")),
        "edge_pairs": len(surfaces.pairs("edges")),
        "fit_ms": milliseconds(lambda: surfaces.fit(x, x, radius + reach), times),
        "vertex_pairs_ms": milliseconds(lambda: surfaces.pairs("vertices", "triangles"), times),
        "edge_pairs_ms": milliseconds(lambda: surfaces.pairs("edges"), times),
        "contacts_ms": milliseconds(lambda: surfaces.contacts(x, radius, reach), times),
        "impacts_ms": milliseconds(lambda: surfaces.impacts(x, moved, radius / 10), times),
        "intersections_ms": milliseconds(lambda: intersections(surfaces, x), times),
    }


def measure_tree(count: int, times: int) -> dict:
    """Boxes at random on a sphere, as large as they are apart: nanoseconds per box."""
    centres = np.random.default_rng(0).normal(size=(count, 3))
    centres /= np.linalg.norm(centres, axis=1, keepdims=True)
    half = 1.5 / np.sqrt(count)
    low, high = centres - half, centres + half
    tree = Tree(HOST, low, high)
    return {
        "label": f"tree of {count}",
        "pairs": len(tree.pairs()),
        "build_ns": 1e6 * milliseconds(lambda: tree.build(low, high), times) / count,
        "fit_ns": 1e6 * milliseconds(lambda: tree.fit(low, high), times) / count,
        "pairs_ns": 1e6 * milliseconds(tree.pairs, times) / count,
    }


def run(quick: bool = False) -> dict:
    """`contacts_ms`, `impacts_ms` and `intersections_ms` are whole calls: boxes, trees, pairs, and what is found."""
    times = 2 if quick else 20
    cases = [
        measure("bar that meets itself", *bent_bar(), times),
        measure("two spheres", *two_spheres(own=False), times),
        measure("two spheres, each also with itself", *two_spheres(own=True), times),
        *(measure_tree(count, times) for count in TREE_SIZES),
    ]
    return {"name": "surfaces", "cores": os.cpu_count(), "cases": cases}
