"""Three jelly cubes fall on each other and come to rest; each contact carries the weight of what stands on it."""

import sys
from pathlib import Path

import numpy as np

import pliant as pl

SIDE, DENSITY = 0.1, 1000.0  # m, kg/m3
SECONDS = 2.5


def main(folder: str = "out") -> float:
    """The largest relative error of the mean forces from below over a second, beside the weights above."""
    scene = pl.Scene()
    ground = scene.add_rigid(pl.Plane(), static=True, friction=0.8)
    jelly = pl.Material.stable_neohookean(young=8e4, poisson=0.4, density=DENSITY, damping=0.02)
    cubes, mesh = [], pl.meshes.box((SIDE, SIDE, SIDE), cells=4)
    for k, turn in enumerate((0.0, 0.35, -0.25)):
        rotation = (np.cos(turn / 2), 0, 0, np.sin(turn / 2))
        corner = (-SIDE / 2 * (np.cos(turn) - np.sin(turn)), -SIDE / 2 * (np.cos(turn) + np.sin(turn)))
        cubes.append(scene.add_soft(mesh, jelly, position=(*corner, 0.3 * SIDE + 1.4 * SIDE * k), rotation=rotation))
    sim = scene.simulate(dt=1 / 60, solver=pl.Newton(tolerance=1e-3), threads=1)
    pairs, impulses = list(zip((ground, *cubes), cubes)), np.zeros(3)
    with pl.Recorder(sim, folder, ["jelly_stack.webp"], 15, color="none") as recorder:
        for _ in sim.run(SECONDS):
            recorder.frame()
            if sim.time > SECONDS - 1:
                impulses += [sim.dt * sim.contact_force(upper, lower)[2] for lower, upper in pairs]
    sim.save(Path(folder) / "jelly_stack.png", color="strain")
    weights = SIDE**3 * DENSITY * 9.81 * np.array([3, 2, 1])
    error = float(np.abs(impulses / weights - 1).max())
    print(f"mean forces from below {impulses.round(2)} N, weights above {weights.round(2)} N")
    assert error < 0.005
    return error


if __name__ == "__main__":
    main(*sys.argv[1:])
