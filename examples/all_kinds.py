"""One scene of everything, by both solvers: a jelly figure under a cloth, a wire arm with a hinged hammer that falls on
them. By Newton's method and by the mixed solver jelly, wire and hammer end in the same place; which way the cloth folds
where it is squeezed is a matter of its last digits.
"""

import sys
from pathlib import Path

import numpy as np

import pliant as pl
from pliant.output.drawing.camera import Camera

RADII = (0.16, 0.13, 0.12)  # m
BUMPS = tuple(((x, y, -1), 0.08, 0.04) for x in (0.8, -0.8) for y in (0.6, -0.6))
POST, ARM = 0.62, 0.62  # height of the post and length of the wire arm [m]
CAMERA = Camera((0.75, -1.55, 0.85), (-0.1, 0, 0.27))


def all_scene() -> tuple[pl.Scene, list]:
    """The scene; its jelly, cloth, wire and hammer."""
    scene, surface = pl.Scene(), pl.meshes.figure(RADII, BUMPS, 8)
    scene.add_rigid(pl.Plane(), static=True, friction=0.5)
    flesh = pl.Material.neohookean(young=8e4, poisson=0.4, density=1000, damping=3e-3)
    jelly = scene.add_soft(
        pl.meshes.tetrahedralize(surface, size=0.06, max_volume_error=0.1),
        flesh,
        position=(0, 0, 4e-3 - surface.points[:, 2].min()),
        self_contact=False,
        friction=0.5,
    )
    wool = pl.Material.corotated(young=1e5, poisson=0.3, density=400, damping=2e-3)
    cloth = scene.add_cloth(
        pl.meshes.grid((0.5, 0.4), (15, 12)), wool, 3e-3, position=(-0.25, -0.2, 0.31), self_contact=False, friction=0.5
    )
    scene.add_rigid(pl.Capsule(0.015, POST), static=True, position=(-0.6, 0, POST / 2), collide=False)
    steel = pl.Material.linear(young=2e9, poisson=0.3, density=4000, damping=1e-3)
    along = np.linspace(0, ARM, 21)[:, None] * [1.0, 0, 0]
    wire = scene.add_rod(along, steel, radius=5e-3, position=(-0.6, 0, POST), collide=False)
    wire.clamp(0)
    end = ARM - 0.6
    hammer = scene.add_rigid(pl.Box((0.09, 0.05, 0.05)), density=1500, position=(end + 0.05, 0, POST), friction=0.5)
    scene.join(pl.Hinge(wire[20], hammer, at=(end, 0, POST), axis=(0, 1, 0)))
    return scene, [jelly, cloth, wire, hammer]


def end_places(sim: pl.Simulation, bodies: list) -> list[np.ndarray]:
    """Where jelly, wire and hammer are."""
    jelly, _, wire, hammer = bodies
    return [sim.positions(jelly).copy(), sim.rod(wire).points, sim.pose(hammer)[0]]


def main(folder: str = "out", seconds: float = 0.4) -> float:
    """How far jelly, wire and hammer end apart by the two solvers [m]."""
    ends, touched = [], 0
    for solver in (pl.Newton(tolerance=1e-3), pl.Mixed(tolerance=1e-3)):
        scene, bodies = all_scene()
        sim = scene.simulate(dt=1 / 60, solver=solver)
        with pl.Recorder(sim, folder, ["all_kinds.webp"], color="none", camera=CAMERA) as recorder:
            for _ in sim.run(float(seconds), progress=False):
                recorder.frame()
        ends.append(end_places(sim, bodies))
        touched = len(sim.contacts)
    sim.save(Path(folder) / "all_kinds.png", color="none", camera=CAMERA, caption="a volume, a sheet, a rod, a hinge")
    apart = max(float(np.abs(a - b).max()) for a, b in zip(*ends))
    print(f"{touched} contacts; after {float(seconds):g} s Newton and Mixed are {apart:.1e} m apart")
    assert touched > 20
    assert apart < 1e-3, apart
    return apart


if __name__ == "__main__":
    main(*sys.argv[1:])
