"""A flag in the wind: it streams, flutters, and pulls at its pole.

Air that moves with w relative to a triangle of area A with the normal n on its lee side pushes it by rho/2 A |w| (n.w)
(drag d + lift (n - (n.d) d)), d = w / |w|. What the pole carries is, on average, what the wind and the weight are.
"""

import sys
from pathlib import Path

import numpy as np

import pliant as pl
from pliant.model.loads import wind_forces

WIDTH, HEIGHT = 1.2, 0.8  # m
WIND = (8.0, 1.5, 0.0)  # m/s
UPRIGHT = (np.sqrt(0.5), np.sqrt(0.5), 0.0, 0.0)


def flag_scene() -> tuple[pl.Scene, pl.bodies.Soft, object]:
    """The flag, hoisted at its edge x = 0; also its pin."""
    scene = pl.Scene()
    material = pl.Material.stvk(young=3e6, poisson=0.3, density=500, damping=2e-3)
    mesh = pl.meshes.grid((WIDTH, HEIGHT), (24, 16))
    flag = scene.add_cloth(mesh, material, thickness=3e-4, rotation=UPRIGHT, collide=False, name="flag")
    hoist = flag.pin("x < 0.001")
    flag.wind(WIND, drag=0.8, lift=1.2)
    scene.add_rigid(pl.Cylinder(0.015, 1.6), static=True, position=(-0.02, 0, HEIGHT - 0.8), collide=False, name="pole")
    return scene, flag, hoist


def main(folder: str = "out") -> float:
    """Relative error of the mean pull at the pole."""
    scene, flag, hoist = flag_scene()
    sim = scene.simulate(dt=1 / 100, threads=1)
    sim.step(60)
    pulls, loads, before = [], [], sim.momentum().linear
    for _ in range(120):
        loads.append(wind_forces(sim.model, sim.state.x, sim.state.v, sim.time)[0].sum(axis=0))
        pulls.append(sim.step().reaction(hoist))
    change = (sim.momentum().linear - before) / (120 * sim.dt)
    carried = np.mean(loads, axis=0) + flag.mass * np.array(scene.gravity) - change
    error = np.linalg.norm(np.mean(pulls, axis=0) + carried) / np.linalg.norm(carried)
    assert error < 0.05, error
    assert sim.positions(flag)[:, 0].max() > 0.8 * WIDTH  # it streams
    Path(folder).mkdir(parents=True, exist_ok=True)
    sim.save(Path(folder) / "flag.png", color="none", caption="a flag in a wind of 8 m/s")
    print(f"mean pull at the pole {np.linalg.norm(carried):.3f} N, balance within {100 * error:.2f} %")
    return error


if __name__ == "__main__":
    main(*sys.argv[1:])
