"""Blocks of six laws with every node at a random place find their shape again; the picture shows one of them in time.

About half of all elements are inside out at first. A nearly incompressible neo-Hookean block has no finite energy
there; `info.tangled` names it until it follows its own law again.
"""

import sys
import warnings
from pathlib import Path

import numpy as np

import pliant as pl
from pliant.output.drawing.camera import Camera

LAWS = ("corotated", "arap", "stvk", "fixed_corotated", "stable_neohookean", "neohookean")
SIDE, SHOWN = 0.3, (0, 3, 8, 20, 30, 240)  # m, steps of the picture
MESH = pl.meshes.box((SIDE, SIDE, SIDE), cells=4, pattern="six")


def tangled_scene(laws) -> tuple[pl.Scene, list]:
    """Blocks side by side, E = 100 kPa, nu = 0.49."""
    scene = pl.Scene(gravity=(0, 0, 0))
    blocks = []
    for k, law in enumerate(laws):
        material = getattr(pl.Material, law)(1e5, 0.49, 1000, mass_damping=20.0)
        blocks.append(scene.add_soft(MESH, material, position=(0.36 * k, 0, 0), name=f"{law} {k}"))
    return scene, blocks


def volumes(points: np.ndarray) -> np.ndarray:
    """J (m,) of every element of a block with nodes at points (n, 3)."""
    now, rest = (np.linalg.det(p[MESH.tets[:, :3]] - p[MESH.tets[:, 3:]]) for p in (points, MESH.points))
    return now / rest


def main(folder: str = "out") -> float:
    """The largest change of volume that any element of any block is left with."""
    scene, blocks = tangled_scene(LAWS)
    warnings.filterwarnings("ignore", ".*turned inside out")  # that they are is the point
    sim, random = scene.simulate(dt=1 / 240, threads=1), np.random.default_rng(1)
    for block in blocks:
        low, high = block.nodes.positions.min(axis=0), block.nodes.positions.max(axis=0)
        sim.set_positions(block, random.uniform(low, high, (len(block.nodes), 3)))
    inverted = np.mean([np.mean(volumes(sim.positions(block)) <= 0) for block in blocks])
    album, copies = tangled_scene(["neohookean"] * len(SHOWN))
    pages = album.simulate(dt=1 / 240, threads=1)
    for step in range(max(SHOWN) + 1):
        if step in SHOWN:
            page = copies[SHOWN.index(step)]
            centred = sim.positions(blocks[-1]) - sim.positions(blocks[-1]).mean(axis=0)
            pages.set_positions(page, centred + page.nodes.positions.mean(axis=0))
        sim.step()
    times = ", ".join(f"{step / 240:.3g}" for step in SHOWN)
    eye, target = (1.0, -3.4, 1.0), (1.0, SIDE / 2, SIDE / 2)
    camera = Camera(eye, target, field_of_view_degrees=22)
    pages.save(Path(folder) / "untangling.png", color="none", camera=camera, caption=f"t = {times} s")
    left = max(np.abs(volumes(sim.positions(block)) - 1).max() for block in blocks)
    print(f"{100 * inverted:.0f} % of the elements inside out; after a second volumes are right to {left:.1e}")
    assert left < 1e-3 and sim.info.tangled == []
    return left


if __name__ == "__main__":
    main(*sys.argv[1:])
