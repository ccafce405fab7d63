"""Clamped beams of all materials sag side by side; each hangs a little differently under the same weight.

For small loads all laws are linear elasticity: with a hundredth of gravity the corotated, neo-Hookean and St.
Venant-Kirchhoff beams agree with the linear one. ARAP has no lambda and is softer.
"""

import sys
from pathlib import Path

import numpy as np

import pliant as pl

LAWS = ("linear", "corotated", "stvk", "neohookean", "stable_neohookean", "fixed_corotated", "arap")


def sag(gravity: float) -> tuple[pl.Simulation, list[float]]:
    """The beams in equilibrium, and how far the tip of each has sunk [m]."""
    scene = pl.Scene(gravity=(0, 0, -gravity))
    beams = []
    for i, law in enumerate(LAWS):
        material = getattr(pl.Material, law)(young=5e5, poisson=0.3, density=1000)
        mesh = pl.meshes.box((1, 0.15, 0.15), cells=(12, 2, 2))
        beam = scene.add_soft(mesh, material, position=(0, 0.3 * i, 0), name=law, collide=False)
        beam.pin(beam.nodes.x < 1e-9)
        beams.append(beam)
    sim = scene.equilibrium(threads=1)
    tips = [float((b.nodes.z - sim.positions(b)[:, 2])[b.nodes.x > 1 - 1e-9].mean()) for b in beams]
    return sim, tips


def main(folder: str = "out") -> float:
    """Largest difference from the linear beam at a small load, relative, of the laws that share its moduli."""
    _, small = sag(0.01)
    sim, tips = sag(9.81)
    sim.save(Path(folder) / "materials.png", color="stress")
    for law, tip in zip(LAWS, tips):
        print(f"{law:18s} {100 * tip:6.2f} cm")
    difference = float(np.abs(np.array(small[1:6]) / small[0] - 1).max())
    print(f"at a thousandth of the load the laws differ by {difference:.1e}")
    assert difference < 2e-3
    return difference


if __name__ == "__main__":
    main(*sys.argv[1:])
