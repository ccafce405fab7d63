"""A motor turns the crank of Hoekens' linkage, a closed loop of four hinges: its coupler draws a straight line.

With a crank of 1, a base of 2, and coupler and rocker of 2.5, the coupler's end at 5 stays within a few thousandths of
a line for half of each turn. Whatever the crank does, the rocker follows the equation that closes the loop.
"""

import sys
from itertools import pairwise

import numpy as np

import pliant as pl
from pliant.output.drawing.camera import Camera
from pliant.output.scene_view import SceneView, _rod
from pliant.rotations import axis_quaternion

UNIT = 0.1  # m
SPEED = 2 * np.pi / 2.5  # rad/s


class TraceView(SceneView):
    """Draws where the end of the coupler has been as well."""

    def __init__(self, sim, pen):
        super().__init__(sim)
        self.pen, self.trace = sim.scene.rigid_bodies.index(pen), []

    def shot(self):
        found = super().shot()
        self.trace.append((found.time, found.poses[self.pen][0]))
        return found

    def _arm_surfaces(self, shot, radius):
        been = [point for time, point in self.trace if time <= shot.time]
        return [_rod(a, b, radius) for a, b in pairwise(been) if np.linalg.norm(b - a) > 1e-6]


def link(scene, start, end, y: float):
    """A rod between two points (x, z), in the layer y."""
    ends = np.array([(x, y, z) for x, z in (start, end)])
    way = ends[1] - ends[0]
    shape = pl.Capsule(0.012, float(np.linalg.norm(way)))
    return scene.add_rigid(shape, density=2700, position=ends.mean(0), rotation=axis_quaternion(way), collide=False)


def rocker_angle(crank: float) -> float:
    """The rocker's direction [rad] that closes the loop, from the triangles of the diagonal crank end - rocker foot."""
    end = np.array([np.cos(crank), np.sin(crank)])
    diagonal = end - (2, 0)
    length = np.linalg.norm(diagonal)
    return np.arctan2(diagonal[1], diagonal[0]) - np.arccos(length / 2 / 2.5)


def main(folder: str = "out") -> float:
    """Largest error of the rocker's angle [rad] over a turn."""
    scene = pl.Scene()
    foot, pivot = np.zeros(2), np.array([2.0, 0]) * UNIT
    crank_end = np.array([1.0, 0]) * UNIT
    start = rocker_angle(0.0)
    elbow = pivot + 2.5 * UNIT * np.array([np.cos(start), np.sin(start)])
    tip = crank_end + 2 * (elbow - crank_end)
    base = scene.add_rigid(pl.Box((0.3, 0.03, 0.06)), static=True, position=(0.1, 0.06, 0), collide=False)
    crank, rocker = link(scene, foot, crank_end, 0.03), link(scene, pivot, elbow, 0.03)
    coupler = link(scene, crank_end, tip, 0.0)
    pen = scene.add_rigid(pl.Sphere(0.02), density=500, position=(tip[0], 0, tip[1]), collide=False)
    scene.join(pl.Fixed(coupler, pen, at=(tip[0], 0, tip[1])))

    def hinge(a, b, at, **options):
        return scene.join(pl.Hinge(a, b, at=(at[0], 0.03, at[1]), axis=(0, -1, 0), **options))

    drive = hinge(base, crank, foot, motor=pl.Motor(velocity=SPEED))
    hinge(crank, coupler, crank_end)
    swing = hinge(base, rocker, pivot)
    hinge(rocker, coupler, elbow)
    sim = scene.simulate(dt=1 / 240, threads=1)
    camera = Camera((0.45, -1.2, 0.42), (0.19, 0, 0.2))
    errors, heights = [], []
    with pl.Recorder(sim, folder, ["four_bar.webp", "four_bar.png"], 20, camera=camera) as recorder:
        recorder.view = TraceView(sim, pen)
        for _ in sim.run(2.8):
            angle = sim.joint_position(drive)
            errors.append(abs(np.angle(np.exp(1j * (start + sim.joint_position(swing) - rocker_angle(angle))))))
            if np.cos(angle) < 0:
                heights.append(sim.pose(pen)[0][2])
            recorder.frame()
    print(f"{sim.joint_position(drive) / 2 / np.pi:.2f} turns; the rocker is right to {max(errors):.1e} rad;", end=" ")
    print(f"for half of each turn the pen is straight to {1000 * np.ptp(heights):.1f} mm")
    assert max(errors) < 1e-5 and np.ptp(heights) < 0.02 * UNIT
    return max(errors)


if __name__ == "__main__":
    main(*sys.argv[1:])
