"""A chain of capsules swings from a hook; the impulse of the hook is weight times time and the change of momentum."""

import sys
from pathlib import Path

import numpy as np

import pliant as pl

LINKS = 8


def main(folder: str = "out") -> float:
    """Relative error of the impulse."""
    scene = pl.Scene()
    capsule = pl.Capsule(radius=0.03, length=0.14)
    above, hook = pl.world, None
    for number in range(LINKS):
        link = scene.add_rigid(
            capsule, mass=0.5, position=(0.1 + 0.2 * number, 0, 1.8), rotation=(1, 0, 1, 0), angular_velocity=(0, 0, 0)
        )
        joint = scene.join(pl.Ball(above, link, at=(0.2 * number, 0, 1.8)))
        above, hook = link, hook or joint
    sim = scene.simulate(dt=1 / 120, solver=pl.Dual(tolerance=1e-6), threads=1)
    before, impulse = sim.momentum().linear, np.zeros(3)
    for _ in sim.run(seconds=1):
        impulse += sim.dt * sim.reaction(hook)
    weight = 0.5 * LINKS * np.array(scene.gravity)
    expected = sim.momentum().linear - before - weight * sim.time
    error = float(np.linalg.norm(impulse - expected) / np.linalg.norm(expected))
    sim.save(Path(folder) / "rigid_chain.png")
    print(f"impulse of the hook {impulse.round(3)} N s, momentum theorem {expected.round(3)} N s")
    assert error < 1e-3
    return error


if __name__ == "__main__":
    main(*sys.argv[1:])
