"""A block of clay drops on the floor, stays dented, and comes to rest: then the floor carries its weight."""

import sys
from pathlib import Path

import pliant as pl


def main(folder: str = "out") -> float:
    """Force of the floor over the weight of the block."""
    scene = pl.Scene()
    scene.add_rigid(pl.Plane(), static=True, friction=0.6)
    plasticity = pl.Plasticity(yield_strain=0.03, creep=60, max_strain=0.5)
    clay = pl.Material.corotated(young=1e5, poisson=0.3, density=500, damping=0.01, plasticity=plasticity)
    mesh = pl.meshes.box((0.3, 0.3, 0.3), cells=4)
    block = scene.add_soft(mesh, clay, position=(0, 0, 0.6), rotation=(0.94, 0.28, 0.2, 0))
    sim = scene.simulate(dt=1 / 60, threads=1)
    sim.step(180)
    weight = 500 * mesh.volume * 9.81
    force = sim.contacts.impulses[:, 0].sum() / sim.dt
    dent = float(abs(sim.plastic_strain(block)).max())
    sim.save(Path(folder) / "plastic_drop.png", color="plastic_strain")
    print(f"force of the floor {force:.2f} N, weight {weight:.2f} N; largest plastic strain {dent:.2f}")
    assert abs(force / weight - 1) < 0.05 and dent > 0.1
    return force / weight


if __name__ == "__main__":
    main(*sys.argv[1:])
