"""Soft fingers curl as tendons along their upper sides are reeled in, each by another length.

A tendon along one side of a beam of height h bends it and compresses it. Both together turn the tip of a finger by
d / (h / 2 + h / 6) when d is reeled in: h / 2 is the lever of the tendon, h / 6 comes from the compression.
"""

import sys
from itertools import pairwise

import numpy as np

import pliant as pl
from pliant.output.drawing.camera import Camera
from pliant.output.scene_view import SceneView, _rod
from pliant.rotations import rotation_matrix

LENGTH, WIDTH, HEIGHT = 0.2, 0.025, 0.02  # m
GUIDES = 10
REELED = (0.0, 0.01, 0.02, 0.035)  # m


class TendonView(SceneView):
    """Draws the tendons as well, through the nodes that guide them."""

    def __init__(self, sim, guides):
        super().__init__(sim, "stress")
        self.guides = [np.searchsorted(skin.nodes, own) for skin, own in zip(self.soft, guides)]

    def _arm_surfaces(self, shot, radius):
        paths = [points[own] for points, own in zip(shot.points, self.guides)]
        return [_rod(*ends, 1.4 * radius) for path in paths for ends in pairwise(path)]


def main(folder: str = "out") -> float:
    """Largest relative error of the turn of a tip."""
    scene = pl.Scene(gravity=(0, 0, 0))
    rubber = pl.Material.corotated(young=1e6, poisson=0.3, density=1000, damping=0.02)
    mesh = pl.meshes.box((LENGTH, WIDTH, HEIGHT), cells=(GUIDES, 1, 1)).quadratic()
    hand = scene.add_rigid(pl.Box((0.05, 0.27, 0.04)), static=True, collide=False, position=(-0.025, 0.105, 0.01))
    tips, guides = [], []
    for k, reeled in enumerate(REELED):
        y = 0.06 * k
        finger = scene.add_soft(mesh, rubber, position=(0, y, 0), collide=False)
        shape, place = pl.Box((0.015, 0.028, 0.024)), (LENGTH + 0.0075, y + WIDTH / 2, HEIGHT / 2)
        tip = scene.add_rigid(shape, density=1000, position=place, collide=False)
        scene.join(pl.Attach(hand, finger))
        scene.join(pl.Attach(tip, finger))
        points = [(x, y + WIDTH / 2, HEIGHT) for x in np.linspace(0, LENGTH, GUIDES + 1)]
        path = [(hand, points[0]), *((finger, point) for point in points[1:-1]), (tip, points[-1])]
        scene.join(pl.Tendon(path, pl.Keyframes((0.0, 1.0), (LENGTH, LENGTH - reeled))))
        tips.append(tip)
        guides.append([np.linalg.norm(finger.nodes.positions - point, axis=1).argmin() for point in points])
    sim = scene.simulate(dt=1 / 50, threads=1)
    camera = Camera((0.36, -0.42, 0.3), (0.085, 0.08, 0.035))
    names = ["tendon_finger.webp", "tendon_finger.png"]
    with pl.Recorder(sim, folder, names, 25, color="stress", camera=camera) as recorder:
        recorder.view = TendonView(sim, guides)
        for _ in sim.run(1.4):
            recorder.frame()
    directions = [rotation_matrix(sim.pose(tip)[1])[:, 0] for tip in tips]
    turns = np.array([np.arctan2(along[2], along[0]) for along in directions])
    theory = np.array(REELED) / (HEIGHT / 2 + HEIGHT / 6)
    error = float(np.abs(turns[1:] / theory[1:] - 1).max())
    print(f"the tips turn by {np.degrees(turns).round(1)} degrees; theory {np.degrees(theory).round(1)}")
    assert error < 0.05
    return error


if __name__ == "__main__":
    main(*sys.argv[1:])
