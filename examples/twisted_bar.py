"""A bar is twisted by half a turn and squeezed; the torque of a small twist is Saint-Venant's.

T = 0.1406 mu a^4 theta / L for a square section. The clamped ends may not warp and are stiffer: the energies of two
bars with the same twist per length, of which one is longer, differ by that of the middle alone. Linear tets are too
stiff by an error that falls with the square of the mesh size, so two meshes are extrapolated.
"""

import math
import sys
from pathlib import Path

import numpy as np

import pliant as pl

SIDE = 0.2  # m
YOUNG, POISSON = 1e6, 0.3


def twisted(length: float, cells: int, angle: float, shortening: float = 0.0, load_steps: int = 1) -> pl.Simulation:
    """The bar with its far end turned by `angle` [rad] and pushed in by `shortening` [m], in equilibrium."""
    scene = pl.Scene(gravity=(0, 0, 0))
    mesh = pl.meshes.box((length, SIDE, SIDE), cells=(round(length / SIDE * cells), cells, cells))
    bar = scene.add_soft(mesh, pl.Material.neohookean(YOUNG, POISSON, 1000))
    bar.pin(bar.nodes.x < 1e-9)
    end = bar.nodes.x > length - 1e-9
    arm = bar.nodes.positions[end] - np.array([length, SIDE / 2, SIDE / 2])
    c, s = math.cos(angle), math.sin(angle)
    turned = arm @ np.array([[1, 0, 0], [0, c, -s], [0, s, c]]).T
    bar.pin(end, displacement=turned - arm - np.array([shortening, 0, 0]))
    return scene.equilibrium(load_steps=load_steps, threads=1)


def torque(cells: int, rate: float) -> float:
    """Torque [N m] of a small twist per length [rad/m], from the energy W = T rate / 2 per length."""
    energies = [twisted(length, cells, rate * length).energy().elastic for length in (0.4, 0.8)]
    return 2 * (energies[1] - energies[0]) / (0.4 * rate)


def main(folder: str = "out") -> float:
    """Torque of a small twist over Saint-Venant's."""
    rate = 0.02
    theory = 0.140577 * YOUNG / (2 * (1 + POISSON)) * SIDE**4 * rate
    coarse, fine = torque(3, rate), torque(6, rate)
    ratio = (4 * fine - coarse) / 3 / theory
    sim = twisted(0.8, 4, math.pi, shortening=0.15, load_steps=8)
    sim.save(Path(folder) / "twisted_bar.png", color="stress")
    print(f"torque over Saint-Venant's: {coarse / theory:.3f}, refined {fine / theory:.3f}, extrapolated {ratio:.4f}")
    assert abs(ratio - 1) < 0.02
    return ratio


if __name__ == "__main__":
    main(*sys.argv[1:])
