"""A bar is twisted by two turns while its ends approach: it coils up and meets itself. The torque of a small twist is
Saint-Venant's.

T = 0.1406 mu a^4 theta / L for a square section. The clamped ends may not warp and are stiffer: the energies of two
bars with the same twist per length, of which one is longer, differ by that of the middle alone. Linear tets are too
stiff by an error that falls with the square of the mesh size, so two meshes are extrapolated.
"""

import math
import sys
from functools import partial
from pathlib import Path

import numpy as np

import pliant as pl
from pliant.output.drawing.camera import Camera

SIDE, THIN = 0.2, 0.06  # m
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


def coil() -> tuple[pl.Simulation, pl.scene.bodies.Soft]:
    """A thin bar whose ends turn by two turns and then approach by half of its length."""
    scene = pl.Scene(gravity=(0, -0.5, 0))  # a little, to say which way it buckles
    mesh = pl.meshes.box((1.2, THIN, THIN), cells=(40, 2, 2))
    rubber = pl.Material.stable_neohookean(1e5, 0.4, 1000, damping=0.01, mass_damping=2.0)
    bar = scene.add_soft(mesh, rubber, friction=0.1)
    for side, end in ((1, bar.nodes.x < 1e-9), (-1, bar.nodes.x > 1.2 - 1e-9)):
        arms = bar.nodes.positions[end] * (0, 1, 1) - np.array([0, THIN / 2, THIN / 2])
        bar.pin(end, displacement=partial(wound, arms, side))
    return scene.simulate(dt=1 / 60, threads=1), bar


def wound(arms: np.ndarray, side: int, t: float) -> np.ndarray:
    """One end at a time: it turns in the first second and moves in the second and third."""
    way = 0.15 * np.clip(t - 1, 0, 2)
    return turned(arms, -side * 2 * math.pi * min(t, 1)) + np.array([side * way, 0, 0])


def main(folder: str = "out") -> float:
    """Torque of a small twist over Saint-Venant's."""
    rate = 0.02
    theory = 0.140577 * YOUNG / (2 * (1 + POISSON)) * SIDE**4 * rate
    coarse, fine = torque(3, rate), torque(6, rate)
    ratio = (4 * fine - coarse) / 3 / theory
    sim, bar = coil()
    sim.step(210)
    sim.save(Path(folder) / "twisted_bar.png", color="stress", camera=Camera((0.85, -0.85, 0.85), (0.68, -0.1, 0.03)))
    touching = sum(first is second is bar for first, second in sim.contacts.bodies)
    print(f"torque over Saint-Venant's: {coarse / theory:.3f}, refined {fine / theory:.3f}, extrapolated {ratio:.4f}")
    print(f"the coiled bar touches itself at {touching} places")
    assert abs(ratio - 1) < 0.02 and touching
    return ratio


if __name__ == "__main__":
    main(*sys.argv[1:])
