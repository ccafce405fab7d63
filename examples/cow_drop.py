"""A soft (1 MPa) and a stiff (1 GPa) animal fall on the ground, with steps of 1/60 s and one outer iteration of the
mixed solver: one squashes and bounces, the other stays nearly rigid. Energy never grows.

What is drawn is the rounded boundary of the tets, which is also what touches the ground: a finer drawing would hang
below the tets and sink into it. One outer iteration is little where they land: how many steps it leaves unconverged is
said.
"""

import sys
from pathlib import Path

import numpy as np

import pliant as pl

# Half axes of the figure [m], and its bumps: direction, height and width of each.
RADII = (0.17 / 0.6, 0.17 / 1.1, 0.17 / 1.05)
BUMPS = (
    ((1, 0, 0.35), 0.22, 0.05),
    ((-1, 0, 0.25), 0.05, 0.02),
    ((1, 0.25, 0.7), 0.06, 0.01),
    ((1, -0.25, 0.7), 0.06, 0.01),
)
BUMPS += tuple(((x, y, -1), 0.16, 0.025) for x in (0.75, -0.75) for y in (0.42, -0.42))


def main(folder: str = "out", size: float = 0.035, seconds: float = 1.0) -> float:
    """The largest strain of the stiff one."""
    figure, scene = pl.meshes.figure(RADII, BUMPS, 16), pl.Scene()
    mesh = pl.meshes.tetrahedralize(figure, size=float(size), max_volume_error=0.1)
    drawing = mesh.surface()
    scene.add_rigid(pl.Plane(), static=True, friction=0.4)
    bodies = []
    for x, young in ((-0.5, 1e6), (0.5, 1e9)):
        law = pl.Material.neohookean(young=young, poisson=0.45, density=1000)
        place = {"position": (x, 0, 0.75), "rotation": (0.99, 0.06, 0.1, 0.05)}
        bodies.append(scene.add_soft(mesh, law, drawing=drawing, self_contact=False, friction=0.4, **place))
    sim = scene.simulate(dt=1 / 60, solver=pl.Mixed(outer=1, inner=15))
    energy, strains, loose, lowest = [sim.energy().total], np.zeros(2), 0, np.inf
    with pl.Recorder(sim, folder, ["cow_drop.webp"], color="none") as recorder:
        for _ in sim.run(float(seconds), progress=False):
            recorder.frame()
            energy.append(sim.energy().total)
            loose += not sim.info.converged
            lowest = min(lowest, *(sim.positions(body)[:, 2].min() for body in bodies))
            strains = np.maximum(strains, [np.abs(sim.strain(body)).max() for body in bodies])
    sim.save(Path(folder) / "cow_drop.png", color="none", caption="1 MPa and 1 GPa")
    grown = np.diff(energy).max() / abs(energy[0])
    print(f"largest strain {strains[0]:.3f} at 1 MPa and {strains[1]:.2e} at 1 GPa; energy grew by {grown:.1e}")
    print(
        f"{loose} of {len(energy) - 1} steps did not converge; feet sink {-1e3 * min(lowest, 0):.2f} mm into the ground"
    )
    assert lowest > -1e-3, lowest
    assert strains[0] > 20 * strains[1] and strains[1] < 0.02, strains
    assert grown < 1e-3, grown
    return float(strains[1])


if __name__ == "__main__":
    main(*sys.argv[1:])
