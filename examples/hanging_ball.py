"""A ball hangs from the tip of a soft beam by a ball joint; in the mean the joint carries the ball's weight."""

import sys
from pathlib import Path

import numpy as np

import pliant as pl


def main(folder: str = "out") -> float:
    """Mean force of the joint over the weight of the ball."""
    scene = pl.Scene()
    rubber = pl.Material.corotated(young=4e5, poisson=0.4, density=1000, damping=0.05, mass_damping=2.0)
    beam = scene.add_soft(pl.meshes.box((0.8, 0.15, 0.15), cells=(10, 2, 2)), rubber, position=(0, 0, 0.7))
    beam.pin(beam.nodes.x < 1e-9)
    ball = scene.add_rigid(pl.Sphere(0.1), density=1200, position=(0.8, 0.075, 0.45))
    joint = scene.join(pl.Ball(ball, beam, at=(0.8, 0.075, 0.7)))
    sim = scene.simulate(dt=1 / 60, threads=1)
    sim.step(180)
    weight = 1200 * 4 / 3 * np.pi * 0.1**3 * 9.81
    force = -float(np.mean([sim.step().reaction(joint)[2] for _ in range(180)]))
    sim.save(Path(folder) / "hanging_ball.png", color="strain")
    print(f"force of the joint {force:.2f} N, weight {weight:.2f} N")
    assert abs(force / weight - 1) < 0.02  # the mean over a few swings
    return force / weight


if __name__ == "__main__":
    main(*sys.argv[1:])
