"""A tablecloth falls on a ball and drapes around it: contact of a thin sheet with a solid and with itself.

The ball carries its weight, density times area times thickness times g, less what has not yet come to rest.
"""

import sys
from pathlib import Path

import numpy as np

import pliant as pl
from pliant.collide.intersections import intersections

RADIUS = 0.3  # m


def drape_scene(cells: int) -> tuple[pl.Scene, pl.bodies.Soft]:
    """A square sheet of so many cells above a ball."""
    scene = pl.Scene()
    material = pl.Material.stvk(young=1e5, poisson=0.3, density=300, damping=0.01, mass_damping=2)
    mesh = pl.meshes.grid((1, 1), cells)
    cloth = scene.add_cloth(mesh, material, thickness=1e-3, position=(-0.5, -0.5, RADIUS + 0.01), friction=0.4)
    scene.add_rigid(pl.Sphere(RADIUS), static=True, friction=0.4, name="ball")
    return scene, cloth


def main(folder: str = "out", cells: int = 14, seconds: float = 1.0) -> float:
    """Relative error of the force that the ball carries."""
    scene, cloth = drape_scene(int(cells))
    sim = scene.simulate(dt=1 / 60, threads=1, solver=pl.Newton(tolerance=2e-3))
    for _ in sim.run(float(seconds), progress=False):
        pass
    before = sim.momentum().linear[2]
    carried = sim.step().contact_force(cloth, scene.find("ball"))[2]
    # what it carries is the weight, less what still falls, and what drags it
    moving, drag = (sim.momentum().linear[2] - before) / sim.dt, cloth.material.mass_damping * sim.momentum().linear[2]
    error = abs(carried / (9.81 * cloth.mass + moving + drag) - 1)
    depth = RADIUS + cloth.thickness / 2 - np.linalg.norm(sim.positions(cloth), axis=1).min()
    crossing = len(intersections(sim.model.colliders.meshed.surfaces, sim.state.x)[0])
    assert error < 0.01 and depth < 0.1 * cloth.thickness and not crossing, (error, depth, crossing)
    Path(folder).mkdir(parents=True, exist_ok=True)
    sim.save(Path(folder) / "drape.png", color="strain", caption="a cloth draped on a ball")
    print(f"the ball carries {carried:.4f} N of {9.81 * cloth.mass:.4f} N; no crossings, {1e6 * depth:.1f} um too deep")
    return error


if __name__ == "__main__":
    main(*sys.argv[1:])
