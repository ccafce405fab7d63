"""One figure three ways, as a volume, as a sheet and as wires, with one solver: the mixed one.

All three hang by the tips of their ears. The volume is of neo-Hookean tets, the sheet is the surface of the figure
under the same law, the wires are the edges of its surface. At rest the ears carry the weight of each.
"""

import sys
from pathlib import Path

import numpy as np

import pliant as pl

APART = 0.55  # m
# Half axes of the figure [m], and its bumps: direction, height and width of each.
RADII = (0.13,) * 3
BUMPS = (((0.9, 0, 0.55), 0.10, 0.25), ((-1, 0, -0.2), 0.05, 0.03), ((0.6, 0.7, -0.6), 0.06, 0.08))
BUMPS += (((0.6, -0.7, -0.6), 0.06, 0.08), ((0.45, 0.4, 1), 0.22, 0.02), ((0.45, -0.4, 1), 0.22, 0.02))


def figures_scene() -> tuple[pl.Scene, list, list]:
    """The scene, its three bodies, and what holds the first two."""
    scene, fine, coarse = pl.Scene(), pl.meshes.figure(RADII, BUMPS, 10), pl.meshes.figure(RADII, BUMPS, 5)
    flesh = pl.Material.neohookean(young=1e5, poisson=0.45, density=1000, mass_damping=2.5)
    skin = pl.Material.neohookean(young=2e6, poisson=0.4, density=1000, mass_damping=2.5)
    wire = pl.Material.linear(young=1e6, poisson=0.45, density=1000, damping=0.03)
    volume = scene.add_soft(
        pl.meshes.tetrahedralize(fine, size=0.05, max_volume_error=0.1), flesh, position=(-APART, 0, 0), drawing=fine
    )
    sheet = scene.add_cloth(fine, skin, thickness=1e-3, self_contact=False)
    wires = scene.add_rod(coarse, wire, radius=0.003, position=(APART, 0, 0), collide=False)
    top = np.max(fine.points[:, 2])
    pins = [volume.pin(f"z > {top - 0.06}"), sheet.pin(f"z > {top - 0.03}")]
    points = coarse.points
    for i in np.flatnonzero(points[:, 2] > points[:, 2].max() - 0.03):
        wires.clamp(int(i))
    return scene, [volume, sheet, wires], pins


def main(folder: str = "out", seconds: float = 1.5) -> float:
    """How much of its weight the sheet's ears carry."""
    scene, (volume, sheet, wires), pins = figures_scene()
    sim = scene.simulate(dt=1 / 60, solver=pl.Mixed())
    before = sim.rod(wires).points[:, 2].min()
    with pl.Recorder(sim, folder, ["three_ways.webp"], color="none") as recorder:
        for _ in sim.run(float(seconds), progress=False):
            recorder.frame()
    masses = (volume.material.density * volume.mesh.volume, sheet.mass)
    carried = [float(sim.reaction(pin)[2]) / (9.81 * mass) for pin, mass in zip(pins, masses)]
    sim.save(Path(folder) / "three_ways.png", color="none", caption="a volume, a sheet, wires")
    sag = before - sim.rod(wires).points[:, 2].min()
    print(f"ears carry {carried[0]:.3f} and {carried[1]:.3f} of the weights; the wires sag by {1e3 * sag:.1f} mm")
    assert all(abs(share - 1) < 0.05 for share in carried), carried
    assert sag > 0.02, sag
    return carried[1]


if __name__ == "__main__":
    main(*sys.argv[1:])
