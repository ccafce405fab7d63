"""A tablecloth falls on a ball and drapes around it: contact of a thin sheet with a solid and with itself.

The ball carries its weight, density times area times thickness times g, less what has not yet come to rest. Where the
cloth folds over, its other side is seen in another colour.
"""

import sys
from pathlib import Path

import numpy as np

import pliant as pl
from pliant.collide.intersections import intersections

RADIUS = 0.3  # m
CAMERA = {"eye": (1.05, -1.85, 0.8), "target": (0, 0, 0.02)}


def drape_scene(cells: int) -> tuple[pl.Scene, pl.bodies.Soft]:
    """A square sheet of so many cells above a ball."""
    scene = pl.Scene()
    material = pl.Material.stvk(young=1e5, poisson=0.3, density=300, damping=0.01, mass_damping=2)
    mesh, place = pl.meshes.grid((1, 1), cells), (-0.5, -0.5, RADIUS + 0.01)
    cloth = scene.add_cloth(mesh, material, thickness=1e-3, bend_stiffness=2e-4, position=place, friction=0.4)
    scene.add_rigid(pl.Sphere(RADIUS), static=True, friction=0.4, name="ball")
    return scene, cloth


def main(folder: str = "out", cells: int = 40, seconds: float = 1.4) -> float:
    """Relative error of the force that the ball carries."""
    scene, cloth = drape_scene(int(cells))
    sim = scene.simulate(dt=1 / 60, threads=1, solver=pl.Newton(tolerance=2e-3))
    with pl.Recorder(sim, folder, ["drape.webp"], color="none", camera=CAMERA) as recorder:
        for _ in sim.run(float(seconds), progress=False):
            recorder.frame()
    before = sim.momentum().linear[2]
    carried = sim.step().contact_force(cloth, scene.find("ball"))[2]
    # what it carries is the weight, less what still falls, and what drags it
    moving, drag = (sim.momentum().linear[2] - before) / sim.dt, cloth.material.mass_damping * sim.momentum().linear[2]
    error = abs(carried / (9.81 * cloth.mass + moving + drag) - 1)
    depth = RADIUS + cloth.thickness / 2 - np.linalg.norm(sim.positions(cloth), axis=1).min()
    crossing = len(intersections(sim.model.colliders.meshed.surfaces, sim.state.x)[0])
    assert error < 0.01 and depth < 0.1 * cloth.thickness and not crossing, (error, depth, crossing)
    sim.save(Path(folder) / "drape.png", color="none", camera=CAMERA, caption="a cloth draped on a ball")
    deep = 1e6 * max(depth, 0)
    print(f"the ball carries {carried:.4f} N of {9.81 * cloth.mass:.4f} N; no crossings, {deep:.1f} um too deep")
    return error


if __name__ == "__main__":
    main(*sys.argv[1:])
