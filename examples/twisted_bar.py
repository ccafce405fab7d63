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


def bar_scene(length: float, cells: int, motion) -> pl.Scene:
    """A bar whose far end moves: motion(arms) gives the displacement of its nodes, or a function of time that does."""
    scene = pl.Scene(gravity=(0, 0, 0))
    mesh = pl.meshes.box((length, SIDE, SIDE), cells=(round(length / SIDE * cells), cells, cells))
    bar = scene.add_soft(mesh, pl.Material.neohookean(YOUNG, POISSON, 1000, damping=0.02))
    bar.pin(bar.nodes.x < 1e-9)
    end = bar.nodes.x > length - 1e-9
    bar.pin(end, displacement=motion(bar.nodes.positions[end] - np.array([length, SIDE / 2, SIDE / 2])))
    return scene


def turned(arms: np.ndarray, angle: float) -> np.ndarray:
    """Displacement of points at these arms from the axis when they turn by an angle [rad] about x."""
    c, s = math.cos(angle), math.sin(angle)
    return arms @ np.array([[1, 0, 0], [0, c, -s], [0, s, c]]).T - arms


def torque(cells: int, rate: float) -> float:
    """Torque [N m] of a small twist per length [rad/m], from the energy W = T rate / 2 per length."""
    energies = []
    for length in (0.4, 0.8):
        scene = bar_scene(length, cells, lambda arms, angle=rate * length: turned(arms, angle))
        energies.append(scene.equilibrium(threads=1).energy().elastic)
    return 2 * (energies[1] - energies[0]) / (0.4 * rate)


def half_turn(arms: np.ndarray):
    """Half a turn and a push of 0.15 m, in one second."""
    return lambda t: turned(arms, math.pi * min(t, 1.0)) - np.array([0.15 * min(t, 1.0), 0, 0])


def main(folder: str = "out") -> float:
    """Torque of a small twist over Saint-Venant's."""
    rate = 0.02
    theory = 0.140577 * YOUNG / (2 * (1 + POISSON)) * SIDE**4 * rate
    coarse, fine = torque(3, rate), torque(6, rate)
    ratio = (4 * fine - coarse) / 3 / theory
    sim = bar_scene(0.8, 4, half_turn).simulate(dt=1 / 30, threads=1)
    sim.step(45)
    sim.save(Path(folder) / "twisted_bar.png", color="stress")
    print(f"torque over Saint-Venant's: {coarse / theory:.3f}, refined {fine / theory:.3f}, extrapolated {ratio:.4f}")
    assert abs(ratio - 1) < 0.02
    return ratio


if __name__ == "__main__":
    main(*sys.argv[1:])
