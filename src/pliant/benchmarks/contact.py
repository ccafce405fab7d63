"""Impacts and stacks: a soft beam dropped on a plane, ten boxes, a pyramid, a heavy box on light ones."""

import os

import numpy as np

import pliant as pl
from pliant.benchmarks._watched import watched

EDGE = 0.2


def beam_scene() -> pl.Scene:
    """The beam of 1,920 tets of the cantilever, 0.3 m above a plane."""
    scene = pl.Scene()
    scene.add_rigid(pl.Plane(), static=True, friction=0.5)
    material = pl.Material.corotated(young=1e6, poisson=0.4, density=1000)
    scene.add_soft(pl.meshes.box((1, 0.2, 0.2), cells=(20, 4, 4)), material, position=(0, 0, 0.3))
    return scene


def stack_scene(places: np.ndarray, densities: np.ndarray) -> pl.Scene:
    """Boxes at places (k, 3), in edges, on a plane."""
    scene = pl.Scene()
    scene.add_rigid(pl.Plane(), static=True, friction=0.6)
    for place, density in zip(places, densities):
        scene.add_rigid(pl.Box((EDGE,) * 3), density=density, position=EDGE * np.asarray(place), friction=0.6)
    return scene


def tower(count: int) -> np.ndarray:
    """Places of boxes one on another."""
    return np.array([(0, 0, i + 0.5) for i in range(count)])


def pyramid(rows: int) -> np.ndarray:
    """Places of boxes in rows, one less in each."""
    return np.array([(1.02 * (i - 0.5 * (rows - row)), 0, row + 0.5) for row in range(rows) for i in range(rows - row)])


def moved(scene: pl.Scene):
    """A reader: the largest distance [mm] of a rigid body from where the scene puts it."""
    bodies = [body for body in scene.rigid_bodies if not body.static]
    return lambda sim: 1e3 * max(float(np.linalg.norm(sim.pose(b)[0] - np.array(b.position))) for b in bodies)


def run(quick: bool = False) -> dict:
    """All cases; quick: shorter."""
    seconds = 1.0 if quick else 10.0
    cases = [watched("soft beam dropped on a plane", beam_scene(), 1.0 if quick else 2.5)]
    ratio = np.array([1.0, 10.0, 100.0, 1000.0])
    stacks = {
        "stack of 10 boxes": (tower(10), np.full(10, 1000.0)),
        "pyramid of 55 boxes": (pyramid(10), np.full(55, 1000.0)),
        "each of 4 boxes ten times heavier than the one below": (tower(4), ratio),
    }
    for label, (places, densities) in stacks.items():
        scene = stack_scene(places, densities)
        cases.append(watched(label, scene, seconds, moved_mm=moved(scene)))
    return {"name": "contact", "cores": os.cpu_count(), "cases": cases}
