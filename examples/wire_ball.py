"""A ball of wire, made of the edges of a surface mesh, falls on the ground and sags under its own weight.

Where wires meet they turn as one. At rest the ground carries the weight of the whole ball, by the contacts of its
wires.
"""

import sys
from pathlib import Path

import numpy as np

import pliant as pl

RADIUS, WIRE = 0.2, 0.003  # m


def main(folder: str = "out") -> float:
    """The load on the ground over the weight of the ball."""
    scene = pl.Scene()
    scene.add_rigid(pl.Plane((0, 0, 1)), static=True, name="ground")
    surface = pl.meshes.sphere(RADIUS, 2).surface()
    wire = pl.Material.linear(4e6, 0.3, density=1000, damping=1e-2)
    ball = scene.add_rod(surface, wire, radius=WIRE, segments=2, position=(0, 0, RADIUS + 0.02), name="ball")
    sim = scene.simulate(dt=1 / 60)
    sim.step(90)
    load = sum(sim.contact_force(point, scene.find("ground"))[2] for point in ball)
    weight = 9.81 * ball.linear_density * ball.lengths.sum()
    sim.save(Path(folder) / "wire_ball.png", color="none")
    points = sim.rod(ball).points
    wide, _, high = np.ptp(points, axis=0)
    print(f"{len(ball)} points, {len(ball.edges)} segments: {high:.3f} m high, {wide:.3f} m wide")
    print(f"the ground carries {load:.2f} N of a weight of {weight:.2f} N")
    assert abs(load / weight - 1) < 0.05
    return load / weight


if __name__ == "__main__":
    main(*sys.argv[1:])
