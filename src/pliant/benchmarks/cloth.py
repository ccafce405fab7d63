"""Cloth: a sheet that hangs by two corners, and one that drapes on a ball, with contact and self-contact."""

import os

import pliant as pl
from pliant.benchmarks._watched import watched
from pliant.collide.intersections import intersections

# Products of bounded steps: those of the default, and twice as many.
PRODUCTS = (12, 24)
FABRIC = {"young": 1e5, "poisson": 0.3, "density": 300, "damping": 0.01}


def hanging(cells: int) -> pl.Scene:
    """A square sheet of 1 m, pinned at two corners, that swings down."""
    scene = pl.Scene()
    cloth = scene.add_cloth(pl.meshes.grid((1, 1), cells), pl.Material.stvk(**FABRIC), 1e-3, self_contact=False)
    cloth.pin((cloth.nodes.x < 1e-9) & ((cloth.nodes.y < 1e-9) | (cloth.nodes.y > 1 - 1e-9)))
    return scene


def draped(cells: int) -> pl.Scene:
    """A square sheet of 1 m that falls on a ball of radius 0.3 m."""
    scene = pl.Scene()
    mesh, material = pl.meshes.grid((1, 1), cells), pl.Material.stvk(**FABRIC)
    scene.add_cloth(mesh, material, 1e-3, position=(-0.5, -0.5, 0.31), friction=0.4)
    scene.add_rigid(pl.Sphere(0.3), static=True, friction=0.4)
    return scene


def _crossings(sim) -> int:
    meshed = sim.model.colliders.meshed
    return len(intersections(meshed.surfaces, meshed.places(sim.state))[0])


def _bounded(cells: int, seconds: float, solver: pl.Bounded) -> dict:
    """Steps of bounded cost."""
    label = f"draped, {2 * cells * cells} triangles, Bounded, {solver.products} products"
    return watched(label, draped(cells), seconds, solver=solver, crossings=_crossings)


def run(quick: bool = False) -> dict:
    """All cases; quick: few triangles, short."""
    cells, seconds = ((8,), 0.1) if quick else ((24, 40, 76), 1.0)
    cases = [watched(f"hanging, {2 * n * n} triangles", hanging(n), seconds) for n in cells]
    cases += [watched(f"draped, {2 * n * n} triangles", draped(n), seconds, crossings=_crossings) for n in cells]
    cases += [_bounded(n, seconds, pl.Bounded(products=count)) for n in cells for count in PRODUCTS]
    return {"name": "cloth", "cores": os.cpu_count(), "cases": cases}
