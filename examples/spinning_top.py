"""A wheel spins on an axle that is held at one end: it does not fall, it goes round at the rate of the gyroscope.

With the axle level, the rate is exactly m g d / (I w): weight times lever over spin momentum.
"""

import sys
from pathlib import Path

import numpy as np

import pliant as pl

RADIUS, WIDTH, LEVER, MASS, SPIN = 0.2, 0.05, 0.25, 2.0, 80.0  # m, m, m, kg, rad/s


def main(folder: str = "out") -> float:
    """Relative error of the rate of precession."""
    rate = MASS * 9.81 * LEVER / (MASS * RADIUS**2 / 2 * SPIN)
    scene = pl.Scene()
    wheel = scene.add_rigid(
        pl.Cylinder(RADIUS, WIDTH),
        mass=MASS,
        position=(LEVER, 0, 0.5),
        rotation=(np.cos(np.pi / 4), 0, np.sin(np.pi / 4), 0),  # the axle along x
        velocity=(0, rate * LEVER, 0),
        angular_velocity=(SPIN, 0, rate),
    )
    scene.join(pl.Ball(wheel, pl.world, at=(0, 0, 0.5)))
    scene.add_rigid(pl.Plane(), static=True)
    sim = scene.simulate(dt=1 / 600, solver=pl.Dual(tolerance=1e-9), threads=1)
    seconds = 1.0
    sim.step(round(seconds / sim.dt))
    x, y, _ = sim.pose(wheel)[0]
    error = np.arctan2(y, x) / (rate * seconds) - 1
    sim.save(Path(folder) / "spinning_top.png")
    print(f"precession {np.arctan2(y, x):.4f} rad, gyroscope {rate * seconds:.4f} rad ({100 * error:+.2f} %)")
    assert abs(error) < 0.02
    return float(error)


if __name__ == "__main__":
    main(*sys.argv[1:])
