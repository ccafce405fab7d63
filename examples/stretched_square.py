"""A square is stretched under three laws by the mixed solver: ARAP keeps its width, corotated and neo-Hookean neck.

ARAP has no term of volume: pulled along one axis it stays as wide as it was, and so its Poisson's ratio is none. The
others narrow in the middle, by different amounts once strains are large.
"""

import sys
from pathlib import Path

import numpy as np

import pliant as pl
from pliant.output.drawing.camera import Camera

LAWS = ("arap", "corotated", "neohookean")
SIDE, APART = 0.5, 1.2  # m
SPEED, SECONDS = 0.25, 1.0  # m/s of each side
CAMERA = Camera((0.2, -4.3, 0.25), (0.2, 0, 0))


def squares_scene(cells: int) -> tuple[pl.Scene, list]:
    """Three sheets, whose left and right sides are drawn apart."""
    scene, sheets = pl.Scene(gravity=(0, 0, 0)), []
    for i, law in enumerate(LAWS):
        material = getattr(pl.Material, law)(young=1e6, poisson=0.45, density=1000, mass_damping=5)
        place = ((i - 1) * APART - SIDE / 2, 0, -SIDE / 2)
        sheet = scene.add_cloth(
            pl.meshes.grid((SIDE, SIDE), (cells, cells)),
            material,
            thickness=2e-3,
            position=place,
            rotation=(np.sqrt(0.5), np.sqrt(0.5), 0, 0),
            self_contact=False,
        )
        x = sheet.nodes.x - place[0]
        sheet.pin(x < 1e-6, velocity=(-SPEED, 0, 0))
        sheet.pin(x > SIDE - 1e-6, velocity=(SPEED, 0, 0))
        sheets.append(sheet)
    return scene, sheets


def main(folder: str = "out", cells: int = 12) -> float:
    """The width in the middle of the neo-Hookean square over that at rest."""
    scene, sheets = squares_scene(int(cells))
    sim = scene.simulate(dt=1 / 60, solver=pl.Mixed())
    with pl.Recorder(sim, folder, ["stretched_square.webp"], color="strain", camera=CAMERA) as recorder:
        for _ in sim.run(SECONDS, progress=False):
            recorder.frame()
    widths = []
    for i, sheet in enumerate(sheets):
        x = sim.positions(sheet)
        middle = np.abs(x[:, 0] - (i - 1) * APART) < SIDE / int(cells)
        widths.append(float(np.ptp(x[middle, 2]) / SIDE))
    caption = "ARAP, corotated, neo-Hookean"
    sim.save(Path(folder) / "stretched_square.png", color="strain", camera=CAMERA, caption=caption)
    print("width in the middle over that at rest: " + ", ".join(f"{law} {w:.3f}" for law, w in zip(LAWS, widths)))
    assert abs(widths[0] - 1) < 0.02 and widths[1] < 0.9 and widths[2] < 0.9, widths
    assert abs(widths[1] - widths[2]) > 0.01, widths
    return widths[2]


if __name__ == "__main__":
    main(*sys.argv[1:])
