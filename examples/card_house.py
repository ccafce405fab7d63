"""A house of cards, three storeys high, stands by friction alone.

Two cards lean on each other without slipping where friction exceeds half the tangent of their angle to the vertical.
"""

import math
import sys
from pathlib import Path

import numpy as np

import pliant as pl
from pliant.output.drawing.camera import Camera

LONG, WIDE, THICK = 0.1, 0.064, 0.002  # m
MASS, FRICTION, LEAN = 0.01, 0.8, math.radians(22)  # kg, -, angle to the vertical
STOREYS, STAND = 3, 5.0  # -, s


def card(scene: pl.Scene, x: float, z: float, angle: float) -> None:
    """A card whose centre is at (x, 0, z), leaning by an angle from the vertical."""
    turn = (math.cos(angle / 2), 0, math.sin(angle / 2), 0)
    shape = pl.Box((THICK, WIDE, LONG))
    scene.add_rigid(shape, mass=MASS, position=(x, 0, z), rotation=turn, friction=FRICTION)


def build(scene: pl.Scene) -> None:
    """Pairs of leaning cards, and flat cards on them, storey by storey; gaps of a hundredth of a card's thickness."""
    gap = 0.01 * THICK
    height = LONG * math.cos(LEAN) + THICK * math.sin(LEAN)  # of a leaning card
    spread = LONG * math.sin(LEAN) + THICK * math.cos(LEAN)  # its width
    pitch = 1.005 * LONG  # flat cards lie end to end, two of them on a ridge
    for storey in range(STOREYS):
        floor = storey * (height + THICK + 2 * gap) + gap
        pairs = STOREYS - storey
        for k in range(pairs):
            middle = (k - (pairs - 1) / 2) * pitch
            for side in (-1, 1):
                card(scene, middle + side * (spread + gap) / 2, floor + height / 2, -side * LEAN)
        for k in range(pairs - 1):
            middle = (k - (pairs - 2) / 2) * pitch
            card(scene, middle, floor + height + gap + THICK / 2, math.pi / 2)


def main(folder: str = "out") -> float:
    """By how much any card moved while the house stood [m]."""
    scene = pl.Scene()
    scene.add_rigid(pl.Plane(), static=True, friction=FRICTION)
    build(scene)
    cards = scene.rigid_bodies[1:]
    sim = scene.simulate(dt=1 / 120, threads=1)
    before = np.array([sim.pose(body)[0] for body in cards])
    camera = Camera((0.2, -0.66, 0.3), (0, 0, 0.13))
    for _ in sim.run(STAND):
        pass
    moved = float(np.linalg.norm(np.array([sim.pose(body)[0] for body in cards]) - before, axis=1).max())
    sim.save(Path(folder) / "card_house.png", camera=camera)
    print(f"{len(cards)} cards stand for {STAND:g} s; none moves by more than {1e3 * moved:.2f} mm")
    assert moved < THICK
    return moved


if __name__ == "__main__":
    main(*sys.argv[1:])
