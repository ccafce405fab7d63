"""Piles in a bin: rigid spheres and boxes, and soft cubes."""

import os

import numpy as np

import pliant as pl
from pliant.benchmarks._watched import watched


def bin_scene(width: float, height: float, friction: float = 0.5) -> pl.Scene:
    """A floor and four walls [m]."""
    scene, thick = pl.Scene(), 0.1
    scene.add_rigid(pl.Plane(), static=True, friction=friction)
    for axis in range(2):
        for side in (-1, 1):
            size, place = [width + 2 * thick, width + 2 * thick, height], [0.0, 0.0, height / 2]
            size[axis], place[axis] = thick, side * (width + thick) / 2
            scene.add_rigid(pl.Box(size), static=True, position=place, friction=friction)
    return scene


def rigid_pile(count: int) -> pl.Scene:
    """Spheres and boxes of 0.1 m in turn, dropped in layers."""
    across = max(2, round((count / 4) ** (1 / 3)))
    scene, random = bin_scene(0.16 * across, 0.2 * across * 4), np.random.default_rng(1)
    for i in range(count):
        layer, place = divmod(i, across * across)
        x, y = (np.array(divmod(place, across)) - 0.5 * (across - 1)) * 0.14
        shape = pl.Sphere(0.05) if i % 2 else pl.Box((0.09, 0.09, 0.09))
        offset = random.uniform(-0.01, 0.01, 2)
        scene.add_rigid(shape, density=1000, position=(x + offset[0], y + offset[1], 0.1 + 0.14 * layer), friction=0.5)
    return scene


def soft_pile(across: int = 3, cells: int = 4) -> pl.Scene:
    """Soft cubes of 0.2 m, across^3 of them, dropped in layers."""
    scene, random = bin_scene(0.26 * across, 0.3 * across), np.random.default_rng(2)
    material = pl.Material.corotated(young=5e4, poisson=0.4, density=1000, damping=0.01)
    mesh = pl.meshes.box((0.2, 0.2, 0.2), cells=cells)
    for place in np.ndindex(across, across, across):
        x, y = (np.array(place[:2]) - 0.5 * across) * 0.25 + random.uniform(0, 0.04, 2)
        scene.add_soft(mesh, material, position=(x, y, 0.02 + 0.24 * place[2]), friction=0.5)
    return scene


def run(quick: bool = False) -> dict:
    """All cases; quick: few bodies, short."""
    counts, seconds = ((16, 32), 0.5) if quick else ((32, 64, 128, 250), 2.0)
    cases = [watched(f"{count} rigid spheres and boxes", rigid_pile(count), seconds) for count in counts]
    cases.append(watched("27 soft cubes" if not quick else "8 soft cubes", soft_pile(2 if quick else 3), seconds))
    return {"name": "pile", "cores": os.cpu_count(), "cases": cases}
