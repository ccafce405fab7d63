"""A clamped beam bends under a weight at its tip; its deflection is that of beam theory.

Timoshenko's beam: w = P L^3 / (3 E I) + P L / (k G A), with k = 5/6 for a rectangular section.
"""

import sys
from pathlib import Path

import pliant as pl

LENGTH, HEIGHT = 0.5, 0.1
YOUNG, POISSON = 2e6, 0.2
LOAD = 20.0  # N


def main(folder: str = "out") -> float:
    """Relative error of the deflection at the tip."""
    scene = pl.Scene(gravity=(0, 0, 0))
    mesh = pl.meshes.box((LENGTH, HEIGHT, HEIGHT), cells=(18, 6, 6))
    material = pl.Material.linear(young=YOUNG, poisson=POISSON, density=1000, mass_damping=36.0)
    beam = scene.add_soft(mesh, material)
    beam.pin(beam.nodes.x < 1e-9)
    tip = beam.nodes.x > LENGTH - 1e-9
    beam.force(tip, (0, 0, -LOAD))
    sim = scene.simulate(dt=1 / 30, solver=pl.Dual(tolerance=1e-5), threads=1)
    sim.step(24)
    deflection = -(sim.positions(beam) - beam.nodes.positions)[tip, 2].mean()
    inertia, area = HEIGHT**4 / 12, HEIGHT**2
    shear = YOUNG / (2 * (1 + POISSON))
    theory = LOAD * LENGTH**3 / (3 * YOUNG * inertia) + LOAD * LENGTH / (5 / 6 * shear * area)
    error = deflection / theory - 1
    sim.save(Path(folder) / "cantilever.png", color="stress")
    print(f"deflection {1e3 * deflection:.2f} mm, beam theory {1e3 * theory:.2f} mm ({100 * error:+.1f} %)")
    # linear tets are too stiff in bending; the error shrinks with the square of the mesh size
    assert abs(error) < 0.12
    return error


if __name__ == "__main__":
    main(*sys.argv[1:])
