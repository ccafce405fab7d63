"""A helical spring of wire with a weight: how far it sinks is what the theory of close-coiled springs says.

A wire of diameter d in N turns of mean diameter D is twisted by an axial load: k = G d^4 / (8 D^3 N). The spring is a
rod with 20 segments a turn; the weight slides on a line, as in a pair of scales.
"""

import sys
from pathlib import Path

import numpy as np

import pliant as pl

WIRE, COIL, TURNS, PITCH = 4e-3, 0.08, 6, 0.012  # m; diameters of wire and coil
YOUNG, POISSON = 8e9, 0.3  # Pa
MASS = 0.15  # kg


def main(folder: str = "out") -> float:
    """Relative difference between the spring's stiffness and that of theory."""
    scene = pl.Scene()
    angle = np.linspace(0, 2 * np.pi * TURNS, 20 * TURNS + 1)
    helix = np.stack([COIL / 2 * np.cos(angle), COIL / 2 * np.sin(angle), -PITCH * angle / (2 * np.pi)], axis=1)
    material = pl.Material.linear(YOUNG, POISSON, density=1200, damping=2e-3)
    spring = scene.add_rod(helix, material, radius=WIRE / 2, name="spring")
    spring.clamp(0)
    low = helix[-1, 2]
    weight = scene.add_rigid(pl.Cylinder(0.03, 0.03), mass=MASS, position=(0, 0, low - 0.03), name="weight")
    scene.join(pl.Fixed(spring[-1], weight, at=tuple(helix[-1])))
    scene.join(pl.Slider(weight, pl.world, at=(0, 0, low), axis=(0, 0, 1)))
    sim = scene.equilibrium()
    sunk = low - 0.03 - sim.pose(weight)[0][2]
    shear = YOUNG / (2 * (1 + POISSON))
    theory = shear * WIRE**4 / (8 * COIL**3 * TURNS)
    # half of the wire's own weight hangs on it
    own = spring.linear_density * spring.lengths.sum()
    found = (MASS + own / 2) * 9.81 / sunk
    sim.save(Path(folder) / "coil_spring.png", color="none")
    state = sim.rod(spring)
    print(f"the spring sinks by {1e3 * sunk:.1f} mm: {found:.2f} N/m, close-coiled theory {theory:.2f} N/m")
    print(
        f"torque in the wire {np.abs(state.torque).mean():.4f} N m, load times radius {MASS * 9.81 * COIL / 2:.4f} N m"
    )
    error = found / theory - 1
    assert abs(error) < 0.05
    return error


if __name__ == "__main__":
    main(*sys.argv[1:])
