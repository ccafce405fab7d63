"""A ball falls into a soft sheet that is pinned at its rim; the rim then carries the weight of both."""

import sys
from pathlib import Path

import numpy as np

import pliant as pl
from pliant.output.drawing.camera import Camera

SIDE, THICK, DENSITY = 1.0, 0.015, 1000.0  # m, m, kg/m3
RADIUS, MASS = 0.13, 8.0  # m, kg
SECONDS = 3.0


def main(folder: str = "out") -> float:
    """Relative error of the mean force of the rim over the last second, beside the weight."""
    scene = pl.Scene()
    rubber = pl.Material.stable_neohookean(young=1e5, poisson=0.4, density=DENSITY, damping=0.02)
    mesh = pl.meshes.box((SIDE, SIDE, THICK), cells=(16, 16, 1))
    sheet = scene.add_soft(mesh, rubber, position=(-SIDE / 2, -SIDE / 2, 0.5), friction=0.4)
    rim = sheet.pin(np.maximum(abs(sheet.nodes.x), abs(sheet.nodes.y)) > SIDE / 2 - 1e-9)
    ball = scene.add_rigid(pl.Sphere(RADIUS), mass=MASS, position=(0.08, 0.05, 1.2))
    scene.add_rigid(pl.Plane(), static=True)
    sim = scene.simulate(dt=1 / 60, threads=1)
    camera = Camera((1.1, -2.2, 1.5), (0, 0, 0.42))
    impulse, lowest = 0.0, np.inf
    with pl.Recorder(sim, folder, ["net.webp"], 15, color="stress", camera=camera) as recorder:
        for _ in sim.run(SECONDS):
            recorder.frame()
            lowest = min(lowest, sim.pose(ball)[0][2])
            if sim.time > SECONDS - 1:
                impulse += sim.dt * sim.reaction(rim)[2]
    sim.save(Path(folder) / "net.png", color="stress", camera=camera)
    weight = 9.81 * (MASS + DENSITY * SIDE**2 * THICK)
    print(f"the ball went down to {lowest:.3f} m; the rim carries {impulse:.2f} N, the weight is {weight:.2f} N")
    error = abs(impulse / weight - 1)
    assert error < 0.02
    return error


if __name__ == "__main__":
    main(*sys.argv[1:])
