"""A clamped beam bends under a load at its tip; its deflection is that of beam theory.

Timoshenko's beam: w = P L^3 / (3 E I) + P L / (k G A), with k = 5/6 for a rectangular section. Linear tets are too
stiff in bending, by an error that shrinks with the square of the mesh size: two meshes tell what a very fine one would
say.
"""

import sys
from pathlib import Path

import pliant as pl

LENGTH, HEIGHT = 0.5, 0.1  # m
YOUNG, POISSON = 2e6, 0.2  # Pa
LOAD = 20.0  # N


def bend(cells: int) -> tuple[pl.Simulation, float]:
    """The beam at rest with so many cells over its height, and how far its tip has sunk [m]."""
    scene = pl.Scene(gravity=(0, 0, 0))
    mesh = pl.meshes.box((LENGTH, HEIGHT, HEIGHT), cells=(3 * cells, cells, cells))
    material = pl.Material.linear(young=YOUNG, poisson=POISSON, density=1000, mass_damping=36)
    beam = scene.add_soft(mesh, material)
    beam.pin(beam.nodes.x < 1e-9)
    tip = beam.nodes.x > LENGTH - 1e-9
    beam.force(tip, (0, 0, -LOAD))
    sim = scene.simulate(dt=1 / 30, threads=1)
    sim.step(15)
    return sim, float((beam.nodes.positions - sim.positions(beam))[tip, 2].mean())


def main(folder: str = "out") -> float:
    """Relative error of the deflection at the tip."""
    _, coarse = bend(4)
    sim, fine = bend(8)
    deflection = (4 * fine - coarse) / 3
    inertia, area = HEIGHT**4 / 12, HEIGHT**2
    shear = YOUNG / (2 * (1 + POISSON))
    theory = LOAD * LENGTH**3 / (3 * YOUNG * inertia) + LOAD * LENGTH / (5 / 6 * shear * area)
    error = deflection / theory - 1
    sim.save(Path(folder) / "cantilever.png", color="stress")
    print(f"deflection {1e3 * coarse:.2f} mm, refined {1e3 * fine:.2f} mm, extrapolated {1e3 * deflection:.2f} mm")
    print(f"beam theory {1e3 * theory:.2f} mm ({100 * error:+.1f} %)")
    assert abs(error) < 0.05
    return error


if __name__ == "__main__":
    main(*sys.argv[1:])
