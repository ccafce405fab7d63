"""A soft arm with two rigid fingers lowers and lifts a ball: soft and rigid bodies, joints and friction in one scene.

The fingers are welded to soft cushions that press the ball; when the arm is at rest, the friction of the fingers
carries the weight of the ball.
"""

import sys
from pathlib import Path

import numpy as np

import pliant as pl

LIFT = 0.3  # m


def main(folder: str = "out") -> float:
    """Height by which the ball is lifted over the height by which the arm is."""
    scene = pl.Scene()
    scene.add_rigid(pl.Plane(), static=True, friction=0.8)
    rubber = pl.Material.stable_neohookean(young=3e5, poisson=0.4, density=900, damping=0.01)
    ball = scene.add_rigid(pl.Sphere(0.1), density=300, position=(0, 0, 0.1), friction=0.9, name="ball")
    rise = pl.Keyframes((0.0, 0.6, 1.4, 10.0), ((0, 0, 0), (0, 0, 0), (0, 0, LIFT), (0, 0, LIFT)))
    for side in (-1, 1):
        close = pl.Keyframes((0.0, 0.5, 10.0), ((0, 0, 0), (-side * 0.035, 0, 0), (-side * 0.035, 0, 0)))
        arm = scene.add_soft(
            pl.meshes.box((0.06, 0.1, 0.4), cells=(2, 3, 9)), rubber, position=(side * 0.15 - 0.03, -0.05, 0.06)
        )
        arm.pin(arm.nodes.z > 0.46 - 1e-9, displacement=lambda t, close=close: np.add(close(t), rise(t)))
        finger = scene.add_rigid(
            pl.Capsule(0.03, 0.1),
            density=500,
            position=(side * 0.085, 0, 0.1),
            rotation=(0.7071, 0.7071, 0, 0),
            friction=0.9,
            name=f"finger {side}",
        )
        for y in (-0.03, 0.03):
            scene.join(pl.Fixed(finger, arm, at=(side * 0.12, y, 0.1)))
    sim = scene.simulate(dt=1 / 60, threads=1)
    with pl.Recorder(sim, folder, ["soft_gripper.webp"], color="stress") as recorder:
        for _ in sim.run(seconds=2.0, every=2):
            recorder.frame()
    sim.save(Path(folder) / "soft_gripper.png", color="stress")
    lifted = float(sim.pose(ball)[0][2] - 0.1)
    print(f"the arm rose by {LIFT:.2f} m, the ball by {lifted:.3f} m")
    assert lifted > 0.8 * LIFT
    return lifted / LIFT


if __name__ == "__main__":
    main(*sys.argv[1:])
