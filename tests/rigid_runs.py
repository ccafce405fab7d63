"""Rigid bodies for tests: point masses, records of runs."""

import numpy as np

import pliant as pl

G = 9.81


def point_mass(scene, position, mass=1.0, velocity=(0, 0, 0)):
    """A body whose rotation carries nothing."""
    return scene.add_rigid(
        pl.Sphere(0.05), mass=mass, inertia=1e-6, position=position, velocity=velocity, collide=False
    )


def record(sim, bodies, steps):
    """Positions (steps + 1, bodies, 3) and velocities of the bodies after every step."""
    x, v = np.zeros((steps + 1, len(bodies), 3)), np.zeros((steps + 1, len(bodies), 3))
    for i in range(steps + 1):
        x[i], v[i] = [sim.pose(b)[0] for b in bodies], [sim.twist(b)[0] for b in bodies]
        if i < steps:
            sim.step()
    return x, v


def turning_points(angle, h):
    """Times at which an angle, sampled every h, turns round: zeros of its differences, between two samples."""
    rate = np.diff(angle)
    at = np.flatnonzero((rate[:-1] != 0) & (rate[:-1] * rate[1:] <= 0))
    return (at + 1 + (rate[at] + rate[at + 1]) / (2 * (rate[at] - rate[at + 1]))) * h
