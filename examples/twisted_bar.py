"""A bar is twisted by half a turn and squeezed; the torque of a small twist is Saint-Venant's.

T = 0.1406 mu a^4 theta / L for a square section (linear tets on a coarse mesh are a little stiffer).
"""

import math
import sys
from pathlib import Path

import numpy as np

import pliant as pl

SIDE, LENGTH = 0.2, 0.8  # m
YOUNG, POISSON = 1e6, 0.3


def twisted(angle: float, shortening: float, load_steps: int) -> tuple[pl.Simulation, pl.bodies.Soft]:
    """The bar with its far end turned by `angle` [rad] and pushed in by `shortening` [m], in equilibrium."""
    scene = pl.Scene(gravity=(0, 0, 0))
    mesh = pl.meshes.box((LENGTH, SIDE, SIDE), cells=(16, 4, 4))
    bar = scene.add_soft(mesh, pl.Material.neohookean(YOUNG, POISSON, 1000))
    bar.pin(bar.nodes.x < 1e-9)
    end = bar.nodes.x > LENGTH - 1e-9
    arm = bar.nodes.positions[end] - np.array([LENGTH, SIDE / 2, SIDE / 2])
    c, s = math.cos(angle), math.sin(angle)
    turned = arm @ np.array([[1, 0, 0], [0, c, -s], [0, s, c]]).T
    bar.pin(end, displacement=turned - arm - np.array([shortening, 0, 0]))
    return scene.equilibrium(load_steps=load_steps, threads=1), bar


def torque(sim: pl.Simulation, bar, angle: float) -> float:
    """Torque from the elastic energy W of a small twist: W = T angle / 2 [N m]."""
    return 2 * sim.energy().elastic / angle


def main(folder: str = "out") -> float:
    """Torque of a small twist over Saint-Venant's."""
    small = 0.02
    sim, bar = twisted(small, 0, 1)
    theory = 0.140577 * YOUNG / (2 * (1 + POISSON)) * SIDE**4 * small / LENGTH
    ratio = torque(sim, bar, small) / theory
    sim, _ = twisted(math.pi, 0.15, 8)
    sim.save(Path(folder) / "twisted_bar.png", color="stress")
    print(f"torque of a small twist over Saint-Venant's: {ratio:.3f}")
    assert 1 < ratio < 1.2
    return ratio


if __name__ == "__main__":
    main(*sys.argv[1:])
