"""A figure of wires, the edges of a surface, falls on its feet and sways: rods, contacts and the mixed solver.

Where wires meet they turn as one. At rest the ground carries the weight of all wires.
"""

import sys
from pathlib import Path

import numpy as np

import pliant as pl

# Half axes of the figure [m], and its bumps, direction, height and width: legs, arms, head, and a tail to stand on.
RADII = (0.11,) * 3
BUMPS = (
    ((0.4, 0.5, -1), 0.22, 0.06),
    ((0.4, -0.5, -1), 0.22, 0.06),
    ((0.1, 1, 0.35), 0.2, 0.05),
    ((0.1, -1, 0.35), 0.2, 0.05),
)
BUMPS += (((0, 0, 1), 0.16, 0.08), ((-0.9, 0, -1), 0.2, 0.05))
WIRE = 0.004  # m


def main(folder: str = "out", cells: int = 4, seconds: float = 1.5) -> float:
    """The load on the ground over the weight of the wires."""
    surface, scene = pl.meshes.figure(RADII, BUMPS, int(cells)), pl.Scene()
    ground = scene.add_rigid(pl.Plane(), static=True, friction=0.8)
    law = pl.Material.linear(young=1e8, poisson=0.3, density=1000, damping=2e-2)
    height = WIRE + 0.02 - surface.points[:, 2].min()
    wires = scene.add_rod(surface, law, radius=WIRE, position=(0, 0, height), friction=0.8, self_contact=False)
    sim = scene.simulate(dt=1 / 60, solver=pl.Mixed())
    with pl.Recorder(sim, folder, ["wire_figure.webp"], color="none") as recorder:
        for _ in sim.run(float(seconds), progress=False):
            recorder.frame()
    load = float(np.mean([sum(sim.contact_force(point, ground)[2] for point in wires) for _ in sim.run(0.3)]))
    weight = 9.81 * wires.linear_density * wires.lengths.sum()
    points = sim.rod(wires).points
    sim.save(Path(folder) / "wire_figure.png", color="none")
    print(f"{len(wires)} points, {len(wires.edges)} wires: the ground carries {load:.3f} N of {weight:.3f} N")
    assert abs(load / weight - 1) < 0.05, load / weight
    assert np.ptp(points[:, 2]) > 0.2
    return float(load / weight)


if __name__ == "__main__":
    main(*sys.argv[1:])
