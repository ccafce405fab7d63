"""Prints a hash of every bit of the states of some scenes: python hashing.py THREADS RESUMED_AT STEPS."""

import hashlib
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np

import pliant as pl


def scenes() -> dict:
    """Scenes with something of everything, and their solvers."""
    found = {}
    for name, solver in {"newton": pl.Newton(), "bdf2": pl.Newton(integrator="bdf2"), "dual": pl.Dual()}.items():
        scene = pl.Scene()
        rubber = pl.Material.corotated(5e4, 0.3, 1000, damping=0.005)
        beam = scene.add_soft(pl.meshes.box((1, 0.2, 0.2), (16, 4, 4)), rubber, position=(0, 0, 0.5))
        beam.pin("x < 0.01")
        scene.add_soft(pl.meshes.sphere(0.1, 3), rubber, position=(0.6, 0.1, 0.9))
        ball = scene.add_rigid(pl.Sphere(0.08), density=800, position=(1.0, 0.1, 0.3))
        scene.join(pl.Ball(ball, beam, (1.0, 0.1, 0.5)))
        box = scene.add_rigid(pl.Box((0.2, 0.2, 0.2)), density=500, position=(2, 0, 0.4))
        motor = pl.Motor(velocity=pl.Keyframes((0, 1), (0, 3)), max_torque=50)
        scene.join(pl.Hinge(pl.world, box, (2, 0, 0.6), (0, 1, 0), motor=motor))
        scene.add_rigid(pl.Plane(), static=True)
        found[name] = (scene, solver)
    return found


def state_hash(sim: pl.Simulation) -> str:
    """A hash of all arrays of the state."""
    whole = hashlib.sha256()
    for name, values in sorted(sim.state.arrays().items()):
        whole.update(name.encode() + np.ascontiguousarray(values).tobytes())
    return whole.hexdigest()[:16]


def main(threads: int, resumed_at: int, steps: int) -> None:
    warnings.simplefilter("ignore")
    for name, (scene, solver) in scenes().items():
        sim = scene.simulate(1 / 120, solver=solver, threads=threads)
        if resumed_at:
            with tempfile.TemporaryDirectory() as folder:
                sim.step(resumed_at).checkpoint(Path(folder) / "a.npz")
                sim = pl.resume(Path(folder) / "a.npz")
        print(name, state_hash(sim.step(steps - resumed_at)), flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
