"""A hollow ball is blown up; for a small pressure its radius grows as Lame's thick sphere says.

u(a) = p a / (E (b^3 - a^3)) ((1 - 2 nu) a^3 + (1 + nu) b^3 / 2) at the inner radius a of a sphere with outer radius b.
"""

import sys
from pathlib import Path

import numpy as np

import pliant as pl

INNER, OUTER = 0.7, 1.0  # m
YOUNG, POISSON = 1e6, 0.3


def shell(cells: int, layers: int) -> pl.meshes.TetMesh:
    """An eighth of a hollow ball: three boxes, mapped so that their far faces lie on spheres, are joined."""
    parts = []
    for axis in range(3):
        box = pl.meshes.box((1, 1, 1), cells=(cells, cells, layers))
        u, v, w = np.tan(box.points[:, 0] * np.pi / 4), np.tan(box.points[:, 1] * np.pi / 4), box.points[:, 2]
        direction = np.stack([u, v, np.ones_like(u)], axis=1)
        points = direction / np.linalg.norm(direction, axis=1, keepdims=True) * (INNER + (OUTER - INNER) * w)[:, None]
        parts.append((np.roll(points, axis, axis=1), box.tets))
    points = np.concatenate([part[0] for part in parts])
    tets = np.concatenate([part[1] + i * len(part[0]) for i, part in enumerate(parts)])
    _, first, index = np.unique(np.round(points, 9), axis=0, return_index=True, return_inverse=True)
    return pl.meshes.TetMesh(points[first], index.ravel()[tets])


def blown(pressure: float, cells: int, layers: int):
    """The eighth in equilibrium, and how far its inner face has moved out [m]."""
    scene = pl.Scene(gravity=(0, 0, 0))
    ball = scene.add_soft(shell(cells, layers), pl.Material.neohookean(YOUNG, POISSON, 1000))
    for axis, values in zip("xyz", ball.nodes.positions.T):
        ball.pin(np.abs(values) < 1e-6, axis)
    ball.pressure(np.linalg.norm(ball.faces.centres, axis=1) < 1.02 * INNER, pressure)
    sim = scene.equilibrium(load_steps=3, threads=1)
    inner = np.linalg.norm(ball.nodes.positions, axis=1) < INNER + 1e-6
    return sim, float(np.linalg.norm(sim.positions(ball)[inner], axis=1).mean() - INNER)


def main(folder: str = "out") -> float:
    """Growth of the inner radius under a small pressure over Lame's, extrapolated from two meshes."""
    small = 100.0
    _, coarse = blown(small, 4, 2)
    _, fine = blown(small, 8, 4)
    a3, b3 = INNER**3, OUTER**3
    theory = small * INNER / (YOUNG * (b3 - a3)) * ((1 - 2 * POISSON) * a3 + (1 + POISSON) * b3 / 2)
    ratio = (4 * fine - coarse) / 3 / theory
    sim, growth = blown(1.2e5, 6, 3)
    sim.save(Path(folder) / "pressurised_ball.png", color="stress")
    print(f"growth over Lame's {ratio:.4f}; under 120 kPa the inner radius grows by {100 * growth / INNER:.0f} %")
    assert abs(ratio - 1) < 0.01
    return ratio


if __name__ == "__main__":
    main(*sys.argv[1:])
