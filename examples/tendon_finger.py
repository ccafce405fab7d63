"""Soft fingers curl as tendons along their undersides are reeled in, each by another length.

A pull along the underside of a beam of height h bends it and shortens it. With both, reeling in by d turns the tip by
d / (h / 2 + h / 6): h / 2 is the lever of the tendon, h / 6 what the beam is compressed by under it.
"""

import sys
from itertools import pairwise

import numpy as np

import pliant as pl
from pliant.output.drawing.camera import Camera
from pliant.output.scene_view import SceneView, _rod

LENGTH, WIDTH, HEIGHT = 0.2, 0.03, 0.02  # m
GUIDES = 9
REELED = (0.0, 0.01, 0.02, 0.03)  # m


class TendonView(SceneView):
    """Draws the tendons as well, through the nodes that guide them."""

    def __init__(self, sim, color, guides):
        super().__init__(sim, color)
        self.guides = [[np.flatnonzero(nodes == g)[0] for g in own] for (nodes, _), own in zip(self.soft, guides)]

    def _rod_surfaces(self, shot, radius):
        paths = [points[own] - (0, 0, radius) for points, own in zip(shot.points, self.guides)]
        return [_rod(*ends, 0.7 * radius) for path in paths for ends in pairwise(path)]


def main(folder: str = "out") -> float:
    """Largest relative error of the turn of a tip."""
    scene = pl.Scene(gravity=(0, 0, 0))
    rubber = pl.Material.corotated(young=1e6, poisson=0.3, density=1000, damping=0.02)
    mesh = pl.meshes.box((LENGTH, WIDTH, HEIGHT), cells=(20, 2, 2))
    wrist = scene.add_rigid(pl.Box((0.05, 0.26, 0.04)), static=True, collide=False, position=(-0.015, 0.09, 0.01))
    fingers, guides = [], []
    for k, reeled in enumerate(REELED):
        at = (0, 0.06 * k, 0)
        finger = scene.add_soft(mesh, rubber, position=at, collide=False)
        scene.join(pl.Attach(wrist, finger))
        points = [(x, at[1] + WIDTH / 2, 0) for x in np.linspace(0.02, LENGTH, GUIDES + 1)]
        path = [(finger, point) for point in points]
        length = pl.Keyframes((0.1, 1.0), (LENGTH - 0.02, LENGTH - 0.02 - max(reeled, 1e-6)))
        scene.join(pl.Tendon(path, length))
        fingers.append(finger)
        guides.append([np.argmin(np.linalg.norm(finger.nodes.positions - point, axis=1)) for point in points])
    sim = scene.simulate(dt=1 / 100, threads=1)
    camera = Camera((0.35, -0.45, 0.25), (0.06, 0.09, -0.03))
    names = ["tendon_finger.webp", "tendon_finger.png"]
    with pl.Recorder(sim, folder, names, 20, color="stress", camera=camera) as recorder:
        recorder.view = TendonView(sim, "stress", guides)
        recorder.shots.clear()
        for _ in sim.run(1.5):
            recorder.frame()
    turns = []
    for finger in fingers:
        end = sim.positions(finger)[finger.nodes.x > LENGTH - 1e-9]
        start = finger.nodes.positions[finger.nodes.x > LENGTH - 1e-9]
        up = end[start[:, 2] > HEIGHT - 1e-9].mean(0) - end[start[:, 2] < 1e-9].mean(0)
        turns.append(np.arctan2(up[0], up[2]))
    turns = np.unwrap(turns)
    theory = np.array(REELED) / (HEIGHT / 2 + HEIGHT / 6)
    print(f"reeled in by {REELED} m: the tips turn by {np.degrees(turns).round(1)} degrees; theory {np.degrees(theory).round(1)}")
    return float(np.abs(turns[1:] / theory[1:] - 1).max())


if __name__ == "__main__":
    main(*sys.argv[1:])
