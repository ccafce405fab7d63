"""A tower crane slews its jib, runs its trolley out and reels a swinging load in: hinge, slider and tendon, all driven.

The rope runs from the mast along the jib, over the trolley and down to the load. Whatever the load does, the impulse of
the rope is weight times time and the change of its momentum.
"""

import sys
from itertools import pairwise

import numpy as np

import pliant as pl
from pliant.output.drawing.camera import Camera
from pliant.output.scene_view import SceneView, _rod
from pliant.rotations import axis_quaternion, rotation_matrix

HEIGHT, LOAD = 6.0, 200.0  # m, kg
START, END = 2.0, 4.2  # m from the mast: where the trolley is
SECONDS = 5.0


class RopeView(SceneView):
    """Draws the rope as well."""

    def _arm_surfaces(self, shot, radius):
        poses = {id(body): pose for body, pose in zip(self.sim.scene.rigid_bodies, shot.poses)}
        path = []
        for body, point in self.sim.scene.joints[-1].path:
            position, rotation = poses[id(body)]
            path.append(rotation_matrix(rotation) @ np.subtract(point, body.position) + position)
        return [_rod(*ends, 0.8 * radius) for ends in pairwise(path)]


def main(folder: str = "out") -> float:
    """Relative error of the impulse of the rope."""
    scene = pl.Scene()
    scene.add_rigid(pl.Plane(), static=True, friction=0.5)
    still = {"static": True, "collide": False}
    scene.add_rigid(pl.Box((1.6, 1.6, 0.3)), position=(0, 0, 0.15), **still)
    scene.add_rigid(pl.Box((0.35, 0.35, HEIGHT)), position=(0, 0, HEIGHT / 2), **still)
    jib = scene.add_rigid(pl.Box((6.8, 0.3, 0.3)), mass=800, position=(1.6, 0, HEIGHT + 0.15), collide=False)
    weight = scene.add_rigid(pl.Box((0.9, 0.8, 0.7)), mass=1500, position=(-1.4, 0, HEIGHT - 0.3), collide=False)
    trolley = scene.add_rigid(pl.Box((0.5, 0.5, 0.15)), mass=60, position=(START, 0, HEIGHT - 0.1), collide=False)
    load = scene.add_rigid(pl.Box((0.9, 0.6, 0.6)), mass=LOAD, position=(START, 0, 1.3), collide=False)
    slew = pl.Motor(position=pl.Keyframes((0, 4), (0, 0.7)), stiffness=1e6, damping=2e5, max_torque=5e4)
    scene.join(pl.Hinge(pl.world, jib, at=(0, 0, HEIGHT), axis=(0, 0, 1), motor=slew))
    scene.join(pl.Fixed(jib, weight, at=(-1.4, 0, HEIGHT)))
    top = np.array([0, 0, HEIGHT + 1.5])
    for foot in ((0, 0, HEIGHT), (4, 0, HEIGHT + 0.3), (-1.4, 0, HEIGHT + 0.3)):
        way = np.subtract(foot, top)
        shape = pl.Capsule(0.12 if foot[0] == 0 else 0.04, float(np.linalg.norm(way)))
        middle = top + way / 2
        stay = scene.add_rigid(shape, mass=30, position=middle, rotation=axis_quaternion(way), collide=False)
        scene.join(pl.Fixed(jib, stay, at=foot))
    run = pl.Motor(position=pl.Keyframes((0.5, 3.5), (0, END - START)), stiffness=1e5, damping=2e4, max_force=3e3)
    slider = pl.Slider(jib, trolley, at=(START, 0, HEIGHT), axis=(1, 0, 0), limits=(-1.0, 2.6), motor=run)
    runway = scene.join(slider)
    path = [(jib, (0.2, 0, HEIGHT)), (trolley, (START, 0, HEIGHT - 0.1)), (load, (START, 0, 1.6))]
    length = START - 0.2 + HEIGHT - 1.7
    rope = scene.join(pl.Tendon(path, pl.Keyframes((0.5, 4.0), (length, length + END - START - 1.6))))
    sim = scene.simulate(dt=1 / 120, solver=pl.Newton(tolerance=1e-8), threads=1)
    camera = Camera((5.5, -15.5, 5.5), (1.4, 0, 3.7))
    impulse = np.zeros(3)
    with pl.Recorder(sim, folder, ["crane.webp", "crane.png"], 8, camera=camera) as recorder:
        recorder.view = RopeView(sim)
        for _ in sim.run(SECONDS):
            impulse += sim.dt * sim.reaction(rope)
            recorder.frame()
    expected = LOAD * (sim.twist(load)[0] - np.array(scene.gravity) * sim.time)
    error = float(np.linalg.norm(impulse - expected) / np.linalg.norm(expected))
    print(f"trolley at {START + sim.joint_position(runway):.2f} m, load at {sim.pose(load)[0][2]:.2f} m;", end=" ")
    print(f"impulse of the rope {impulse.round(1)} N s, momentum theorem {expected.round(1)} N s")
    assert error < 1e-3
    return error


if __name__ == "__main__":
    main(*sys.argv[1:])
