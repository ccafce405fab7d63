"""Eighteen soft and rigid bodies of every shape fall into a bin; its floor and walls then carry them."""

import sys
from pathlib import Path

import numpy as np

import pliant as pl
from pliant.output.drawing.camera import Camera
from pliant.rotations import rotation_matrix

SIDE, HEIGHT, WALL = 0.64, 0.16, 0.03  # m: of the bin, inside; how thick it is
DENSITY, SECONDS = 500.0, 2.0  # kg/m3, s


def add_bin(scene: pl.Scene) -> list:
    """A floor and four walls of boxes."""
    parts = [(pl.Box((SIDE + 2 * WALL, SIDE + 2 * WALL, WALL)), (0, 0, -WALL / 2))]
    for side in (-1, 1):
        middle = side * (SIDE + WALL) / 2
        parts.append((pl.Box((WALL, SIDE + 2 * WALL, HEIGHT)), (middle, 0, HEIGHT / 2)))
        parts.append((pl.Box((SIDE, WALL, HEIGHT)), (0, middle, HEIGHT / 2)))
    return [scene.add_rigid(shape, static=True, position=position, friction=0.5) for shape, position in parts]


def bent(size: float) -> pl.Mesh:
    """A rigid mesh with a dent: three cubes in an L."""
    outline = size * np.array([(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)])
    points = np.concatenate([np.column_stack([outline, np.full(6, z)]) for z in (0, size)])
    cap = np.array([(0, 1, 2), (0, 2, 3), (0, 3, 4), (0, 4, 5)])
    sides = [t for i in range(6) for j in [(i + 1) % 6] for t in ((i, j, j + 6), (i, j + 6, i + 6))]
    return pl.Mesh(points=points, triangles=np.concatenate([cap[:, ::-1], cap + 6, sides]))


def bin_force(sim, walls: list) -> np.ndarray:
    """Force (3,) [N] of the bin on all that is in it."""
    on_first = np.array([float(second in walls) - float(first in walls) for first, second in sim.contacts.bodies])
    return on_first @ sim.contacts.forces


def main(folder: str = "out") -> float:
    """Relative error of the mean force of the bin over the last half second, beside the weight of all."""
    scene, random = pl.Scene(), np.random.default_rng(4)
    walls = add_bin(scene)
    rock = pl.Hull(0.1 * random.normal(size=(16, 3)) / 1.8)
    solids = [pl.Sphere(0.07), pl.Box((0.14, 0.1, 0.1)), pl.Capsule(0.045, 0.1), pl.Cylinder(0.06, 0.12)]
    solids += [pl.Cone(0.08, 0.16), rock, bent(0.07)]
    softs = [pl.meshes.box((0.14, 0.14, 0.14), cells=2), pl.meshes.sphere(0.08, cells=2)]
    softs += [pl.meshes.cylinder(0.06, 0.14, cells=(2, 3))]
    jelly = pl.Material.stable_neohookean(young=6e4, poisson=0.4, density=DENSITY, damping=0.02)
    places = [(x, y, z) for z in (0.12, 0.3) for x in (-0.2, 0, 0.2) for y in (-0.2, 0, 0.2)]
    shapes = [*softs, *solids] * 2
    mass = 0.0
    for place, number in zip(places, random.permutation(len(shapes))):
        turn, shape = random.normal(size=4), shapes[number]
        turn /= np.linalg.norm(turn)
        if isinstance(shape, pl.meshes.TetMesh):
            corner = place - rotation_matrix(turn) @ shape.points.mean(axis=0)
            scene.add_soft(shape, jelly, position=corner, rotation=turn, friction=0.5)
            mass += DENSITY * shape.volume
        else:
            body = scene.add_rigid(shape, density=DENSITY, position=place, rotation=turn, friction=0.5)
            mass += body.mass_properties()[0]
    sim = scene.simulate(dt=1 / 120, threads=1)
    camera = Camera((0.75, -1.3, 1.3), (0, 0, 0.06))
    force = np.zeros(3)
    with pl.Recorder(sim, folder, ["pile.webp"], 15, color="none", camera=camera) as recorder:
        for _ in sim.run(SECONDS):
            recorder.frame()
            if sim.time > SECONDS - 0.5:
                force += 2 * sim.dt * bin_force(sim, walls)
    sim.save(Path(folder) / "pile.png", color="none", camera=camera)
    print(f"the bin carries {force[2]:.2f} N, the weight is {9.81 * mass:.2f} N")
    error = abs(force[2] / (9.81 * mass) - 1)
    assert error < 0.02
    return error


if __name__ == "__main__":
    main(*sys.argv[1:])
