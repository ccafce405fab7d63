"""A chain of rings, each a rigid mesh with a hole, hangs and swings from the first: the second pulls with their weight.

The rings are linked, so they touch in the holes of each other, where only their triangles can.
"""

import sys
from pathlib import Path

import numpy as np

import pliant as pl

LINKS, MASS = 5, 0.3  # rings that hang, kg each
RADIUS, TUBE = 0.08, 0.018  # m: of a ring's centre line, of its round section
STRETCH = 0.05  # m: half the straight part of a link
SECONDS = 3.0


def link(around: int = 20, across: int = 8) -> pl.Mesh:
    """A link of a chain, long along z and flat across y."""
    turn, angle = np.meshgrid(*(2 * np.pi * np.arange(n) / n for n in (around, across)), indexing="ij")
    out = RADIUS + TUBE * np.cos(angle)
    x, y, z = out * np.cos(turn), TUBE * np.sin(angle), out * np.sin(turn)
    points = np.stack([x, y, z + STRETCH * np.sign(np.round(np.sin(turn), 9))], axis=-1).reshape(-1, 3)
    i, j = np.meshgrid(np.arange(around), np.arange(across), indexing="ij")
    corner = [((i + a) % around * across + (j + b) % across).ravel() for a, b in ((0, 0), (1, 0), (1, 1), (0, 1))]
    triangles = np.concatenate([np.stack([corner[0], corner[k + 1], corner[k]], axis=1) for k in (1, 2)])
    return pl.Mesh(points=points, triangles=triangles)


def main(folder: str = "out") -> float:
    """Relative error of the impulse of the held ring beside weight times time and the change of momentum."""
    scene, shape = pl.Scene(), link()
    pitch = 2 * (RADIUS + STRETCH - TUBE) - 0.004
    hook = scene.add_rigid(shape, static=True, position=(0, 0, 1.5), friction=0.3)
    rings, across = [hook], np.sqrt(0.5)
    for k in range(1, LINKS + 1):
        rotation = (across, 0, 0, across) if k % 2 else (1, 0, 0, 0)
        ring = scene.add_rigid(shape, mass=MASS, position=(0, 0, 1.5 - pitch * k), rotation=rotation, friction=0.3)
        rings.append(ring)
    rings[-1].velocity = (1.5, 0.4, 0)
    scene.add_rigid(pl.Plane(), static=True)
    sim = scene.simulate(dt=1 / 120, solver=pl.Newton(tolerance=1e-3), threads=1)
    before, impulse = sim.momentum().linear, np.zeros(3)
    with pl.Recorder(sim, folder, ["chain_links.webp"], 15) as recorder:
        for _ in sim.run(SECONDS):
            impulse += sim.dt * sim.contact_force(rings[1], hook)
            recorder.frame()
    sim.save(Path(folder) / "chain_links.png")
    expected = sim.momentum().linear - before - LINKS * MASS * np.array(scene.gravity) * sim.time
    error = float(np.linalg.norm(impulse - expected) / np.linalg.norm(expected))
    print(f"impulse of the held ring {impulse.round(3)} N s, momentum theorem {expected.round(3)} N s")
    assert error < 3e-3
    return error


if __name__ == "__main__":
    main(*sys.argv[1:])
