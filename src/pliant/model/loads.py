"""Applied forces, pressures and prescribed motions of a model at a time."""

import numpy as np

from pliant.checks import at_time
from pliant.meshes.face_rules import area_loads
from pliant.rotations import rotation_matrix


def node_forces(model, x: np.ndarray, time: float) -> np.ndarray:
    """Applied forces (n, 3) [N]: loads spread over nodes, and pressures on faces where they are now."""
    force = np.zeros_like(x)
    for nodes, weights, vector in model.node_loads:
        force[nodes] += weights[:, None] * at_time(vector, time)
    return force + pressure_forces(model, x, time)


def pressure_forces(model, x: np.ndarray, time: float) -> np.ndarray:
    """Forces (n, 3) [N] of the pressures: -p n dA times the nodes' shape functions (C eq. 3.18, inward)."""
    force = np.zeros_like(x)
    for faces, pressure in model.pressures:
        np.add.at(force, faces, -float(at_time(pressure, time)) * area_loads(x, faces))
    return force


def body_loads(model, rotation, time) -> tuple[np.ndarray, np.ndarray]:
    """External forces [N] and torques [N m] on the centres of bodies with orientations (b, 4)."""
    force, torque = np.zeros((model.body_count, 3)), np.zeros((model.body_count, 3))
    for body, vector, point in model.body_forces:
        value = at_time(vector, time)
        force[body] += value
        if point is not None:
            torque[body] += np.cross(rotation_matrix(rotation[body]) @ point, value)
    for body, vector in model.body_torques:
        torque[body] += at_time(vector, time)
    return force, torque


def prescribe(model, x: np.ndarray, end: float, h: float, u: np.ndarray) -> None:
    """Put the prescribed velocities of pinned nodes into u (n, 3); end: the time at the end of the step [s]."""
    u[model.free == 0] = 0.0
    for pin in model.pins:
        place = np.ix_(pin.nodes, pin.axes)
        if pin.velocity is not None:
            u[place] = at_time(pin.velocity, end)[pin.axes]
        elif pin.displacement is not None:
            goal = pin.start + at_time(pin.displacement, end)
            u[place] = (goal[:, pin.axes] - x[place]) / h
