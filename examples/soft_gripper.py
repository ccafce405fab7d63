"""A gripper with soft pads lifts a soft cube and holds it by friction alone: motors, sliders, soft on soft.

Each jaw is pushed by a motor of limited force, so the grip is known; the cube would slip where the friction of two pads
is less than its weight, 2 x 0.8 x 12 N beside 4.9 N.
"""

import sys
from pathlib import Path

import numpy as np

import pliant as pl
from pliant.output.drawing.camera import Camera

SIDE, DENSITY, FRICTION = 0.1, 500.0, 0.8  # m, kg/m3
GRIP, LIFT = 12.0, 0.15  # N, m
START, END = 0.6, 1.4  # s: when the palm rises


def gripper(scene: pl.Scene) -> list:
    """A palm on a vertical slider, two jaws on horizontal ones, a soft pad on each jaw; returns the pads."""
    palm = scene.add_rigid(pl.Box((0.36, 0.06, 0.03)), mass=1, position=(0, 0, 0.235), collide=False)
    rise = pl.Keyframes((START, END), (0.0, LIFT))
    lift = pl.Motor(position=rise, stiffness=2e4, damping=4e2, max_force=400)
    scene.join(pl.Slider(pl.world, palm, at=(0, 0, 0.235), axis=(0, 0, 1), motor=lift))
    rubber = pl.Material.stable_neohookean(young=6e4, poisson=0.4, density=900, damping=0.01)
    pads = []
    for side in (-1, 1):
        jaw = scene.add_rigid(pl.Box((0.02, 0.08, 0.2)), mass=0.3, position=(side * 0.13, 0, 0.12), collide=False)
        close = pl.Motor(velocity=0.15, max_force=GRIP)
        scene.join(pl.Slider(palm, jaw, at=(side * 0.13, 0, 0.22), axis=(-side, 0, 0), limits=(0, 0.1), motor=close))
        corner = (side * 0.1 - 0.02, -0.035, 0.025)
        mesh = pl.meshes.box((0.04, 0.07, 0.08), cells=(2, 3, 4))
        pad = scene.add_soft(mesh, rubber, position=corner, friction=FRICTION, name=f"pad {side}")
        scene.join(pl.Attach(jaw, pad))
        pads.append(pad)
    return pads


def main(folder: str = "out", hold: float = 1.0) -> float:
    """Relative error of the forces of the pads beside the weight of the cube, in the last half second of `hold` [s]."""
    scene = pl.Scene()
    ground = scene.add_rigid(pl.Plane(), static=True, friction=FRICTION)
    jelly = pl.Material.stable_neohookean(young=4e4, poisson=0.4, density=DENSITY, damping=0.01)
    mesh = pl.meshes.box((SIDE, SIDE, SIDE), cells=4)
    cube = scene.add_soft(mesh, jelly, position=(-SIDE / 2, -SIDE / 2, 0.001), friction=FRICTION, name="cube")
    pads = gripper(scene)
    sim = scene.simulate(dt=1 / 60, threads=1)
    camera = Camera((0.3, -0.8, 0.42), (0, 0, 0.2))
    forces = []
    with pl.Recorder(sim, folder, ["soft_gripper.webp"], 15, color="stress", camera=camera) as recorder:
        for _ in sim.run(END + hold):
            recorder.frame()
            forces.append([sim.contact_force(cube, pad) for pad in pads])
    sim.save(Path(folder) / "soft_gripper.png", color="stress", camera=camera)
    left, right = np.mean(forces[-30:], axis=0)
    weight = 9.81 * DENSITY * SIDE**3
    lifted = sim.positions(cube)[:, 2].mean() - SIDE / 2
    print(f"the cube is {lifted:.3f} m up; pads press with {left[0]:.2f} and {right[0]:.2f} N", end=" ")
    print(f"and carry {left[2] + right[2]:.3f} N, its weight is {weight:.3f} N")
    error = abs((left[2] + right[2]) / weight - 1)
    assert lifted > 0.95 * LIFT and error < 0.01 and not np.any(sim.contact_force(cube, ground))
    return error


if __name__ == "__main__":
    main(*(sys.argv[1:] or ["out"]), hold=10.0)
