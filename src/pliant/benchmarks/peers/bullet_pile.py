"""PyBullet: rigid spheres and boxes in a bin, with its default solver (50 sweeps of sequential impulses)."""

import math

import pybullet

from pliant.benchmarks.peers._timing import pile_case, timed_pile


def measure(bodies: list, walls: list, friction: float, density: float, steps: int, step: float) -> dict:
    """Steps from rest; bodies: shape, size [m], position [m] of each; walls: sizes and positions."""
    client = pybullet.connect(pybullet.DIRECT)
    pybullet.setGravity(0, 0, -9.81)
    pybullet.setTimeStep(step)
    _add(pybullet.createCollisionShape(pybullet.GEOM_PLANE), 0.0, (0, 0, 0), friction)
    for size, place in walls:
        _add(_box(size), 0.0, place, friction)
    for shape, size, place in bodies:
        if shape == "sphere":
            volume = 4 / 3 * math.pi * size[0] ** 3
            collision = pybullet.createCollisionShape(pybullet.GEOM_SPHERE, radius=size[0])
        else:
            volume, collision = math.prod(size), _box(size)
        _add(collision, density * volume, place, friction)
    touching = []

    def look() -> float:
        touching[:] = [contact[8] for contact in pybullet.getContactPoints()]
        return min(touching, default=0.0)

    times, deepest = timed_pile(pybullet.stepSimulation, look, steps)
    pybullet.disconnect(client)
    return pile_case(times, deepest, len(touching), version=str(pybullet.getAPIVersion()))


def _box(size) -> int:
    return pybullet.createCollisionShape(pybullet.GEOM_BOX, halfExtents=[0.5 * value for value in size])


def _add(collision: int, mass: float, place, friction: float) -> None:
    body = pybullet.createMultiBody(baseMass=mass, baseCollisionShapeIndex=collision, basePosition=list(place))
    pybullet.changeDynamics(body, -1, lateralFriction=friction, linearDamping=0, angularDamping=0)
