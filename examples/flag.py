"""A flag in the wind: it streams, flutters, and pulls at its pole.

Air that moves with w relative to a triangle of area A with the normal n on its lee side pushes it by rho/2 A |w| (n.w)
(drag d + lift (n - (n.d) d)), d = w / |w|. What the pole carries is, on average, what the wind and the weight are. It
may touch itself and the pole; steps of 5 ms leave it the energy to flutter.
"""

import sys
from pathlib import Path

import numpy as np

import pliant as pl
from pliant.model.loads import wind_forces

WIDTH, HEIGHT = 1.2, 0.8  # m
WIND = (8.0, 1.5, 0.0)  # m/s
UPRIGHT = (np.sqrt(0.5), np.sqrt(0.5), 0.0, 0.0)
POLE, GAP = 0.015, 0.001  # m: radius, and from the flag
CAMERA = {"eye": (1.1, -3.1, 0.9), "target": (0.55, 0, 0.17)}
START, STEPS = 120, 280  # steps before the mean is taken, and for it


def flag_scene(cells: int) -> tuple[pl.Scene, pl.bodies.Soft, object]:
    """The flag of so many cells along its width, hoisted at its edge x = 0; also its pin."""
    scene = pl.Scene()
    material = pl.Material.stvk(young=3e6, poisson=0.3, density=500, damping=5e-4)
    mesh = pl.meshes.grid((WIDTH, HEIGHT), (cells, 2 * cells // 3))
    flag = scene.add_cloth(mesh, material, thickness=3e-4, bend_stiffness=6e-5, rotation=UPRIGHT, name="flag")
    hoist = flag.pin("x < 0.001")
    flag.wind(WIND, drag=0.8, lift=1.2)
    scene.add_rigid(pl.Cylinder(POLE, 1.6), static=True, position=(-POLE - GAP, 0, HEIGHT - 0.8), name="pole")
    return scene, flag, hoist


def main(folder: str = "out", cells: int = 30) -> float:
    """Relative error of the mean pull at the pole."""
    scene, flag, hoist = flag_scene(int(cells))
    sim = scene.simulate(dt=1 / 200, threads=1)
    pulls, loads, before = [], [], None
    with pl.Recorder(sim, folder, ["flag.webp"], color="none", camera=CAMERA) as recorder:
        for k in range(START + STEPS):
            before = sim.momentum().linear if k == START else before
            loads.append(wind_forces(sim.model, sim.state.x, sim.state.v, sim.time)[0].sum(axis=0))
            pulls.append(sim.step().reaction(hoist))
            recorder.frame()
    pulls, loads = np.mean(pulls[START:], axis=0), np.mean(loads[START:], axis=0)
    change = (sim.momentum().linear - before) / (STEPS * sim.dt)
    carried = loads + flag.mass * np.array(scene.gravity) - change
    error = np.linalg.norm(pulls + carried) / np.linalg.norm(carried)
    assert error < 0.01, error
    assert sim.positions(flag)[:, 0].max() > 0.8 * WIDTH  # it streams
    sim.save(Path(folder) / "flag.png", color="none", camera=CAMERA, caption="a flag in a wind of 8 m/s")
    print(f"mean pull at the pole {np.linalg.norm(carried):.3f} N, balance within {100 * error:.2f} %")
    return error


if __name__ == "__main__":
    main(*sys.argv[1:])
