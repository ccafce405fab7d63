"""An overhand knot is pulled tight: a rod touches itself, with friction, and bends around itself.

A loose knot in a soft rod is pulled at both clamped ends. The tension rises when the loops close; then the rod's parts
lie one diameter apart and no closer.
"""

import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np

import pliant as pl

RADIUS, POINTS = 0.012, 110
SPEED = 0.35  # m/s, of each end
CAMERA = {"eye": (-0.5, -1.0, 0.75), "target": (0, -0.04, 0)}


def loose_knot(count: int) -> np.ndarray:
    """Points (count, 3) [m], evenly spaced, on a long trefoil that is open: (s^3 - 3 s, s^4 - 4 s^2, s^5/5 - 2 s)."""
    s = np.linspace(-2.1, 2.1, 4001)
    curve = np.stack([0.1 * (s**3 - 3 * s), 0.05 * (s**4 - 4 * s**2), 0.08 * (s**5 / 5 - 2 * s)], axis=1)
    arc = np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(curve, axis=0), axis=1))])
    even = np.linspace(0, arc[-1], count)
    return np.stack([np.interp(even, arc, curve[:, k]) for k in range(3)], axis=1)


def main(folder: str = "out") -> float:
    """The least distance [diameters] between parts of the rod that are not neighbours."""
    scene = pl.Scene(gravity=(0, 0, 0))
    points = loose_knot(POINTS)
    rubber = pl.Material.linear(2e6, 0.4, density=1000, damping=5e-3)
    rod = scene.add_rod(points, rubber, radius=RADIUS, friction=0.1, straight=True, name="cord")
    apart = (points[-1] - points[0]) / np.linalg.norm(points[-1] - points[0])
    rod.clamp(0, velocity=tuple(-SPEED * apart))
    rod.clamp(POINTS - 1, velocity=tuple(SPEED * apart))
    sim = scene.simulate(dt=1 / 60)
    with pl.Recorder(sim, folder, ["knot.webp"], color="none", camera=CAMERA) as recorder:
        for _ in sim.run(1.5, progress=False):
            recorder.frame()
    state = sim.rod(rod)
    far = np.abs(np.subtract.outer(np.arange(POINTS), np.arange(POINTS))) > 8
    middle = 0.5 * (state.points[1:] + state.points[:-1])
    distance = np.linalg.norm(state.points[:, None] - np.concatenate([middle, state.points[-1:]])[None], axis=2)
    nearest = float(distance[far].min() / (2 * RADIUS))
    centre = state.points[np.argmax(np.linalg.norm(state.curvature, axis=1))]
    eye = centre + np.array([-0.2, -0.36, 0.28])
    sim.save(Path(folder) / "knot.png", color="none", camera=SimpleNamespace(eye=tuple(eye), target=tuple(centre)))
    print(f"tension {state.tension.max():.2f} N, stretch {state.stretch.max():.3f}, {len(sim.contacts)} contacts")
    print(f"nearest parts of the cord are {nearest:.3f} diameters apart")
    # the chords between points cut corners by a few percent
    assert 0.9 < nearest < 1.2 and state.tension.max() > 5
    return nearest


if __name__ == "__main__":
    main(*sys.argv[1:])
