"""Applied forces, pressures and prescribed motions of a model at a time."""

import numpy as np

from pliant.checks import at_time
from pliant.meshes.face_rules import area_loads
from pliant.meshes.tri_mesh import area_vectors
from pliant.rotations import rotation_matrix


def node_forces(model, x: np.ndarray, time: float) -> np.ndarray:
    """Applied forces (n, 3) [N]: loads spread over nodes, and pressures on faces where they are now."""
    force = np.zeros(x.shape)
    for nodes, weights, vector in model.node_loads:
        force[nodes] += weights[:, None] * at_time(vector, time)
    return force + pressure_forces(model, x, time) if model.pressures else force


def wind_forces(model, x: np.ndarray, v: np.ndarray, time: float) -> tuple[np.ndarray, np.ndarray]:
    """Forces (n, 3) [N] of winds on sheets at positions x and velocities v (n, 3), and by how much (n,) [N s/m] they
    grow at most when a node's velocity changes: rho A |w| (drag + lift), a third of it at each node.

    With w the velocity of the air relative to the middle of a triangle of area A, and its normal n on the lee side, the
    force is rho/2 A |w| (n.w) (drag d + lift (n - (n.d) d)), d = w / |w|.
    """
    force, resistance = np.zeros_like(x), np.zeros(len(x))
    for triangles, wind in model.winds:
        relative = at_time(wind.velocity, time) - v[triangles].mean(axis=1)
        area = area_vectors(x, triangles)
        speed = np.linalg.norm(relative, axis=1, keepdims=True)
        direction = relative / np.maximum(speed, 1e-300)
        through = np.einsum("ki,ki->k", area, direction)[:, None]
        size = np.maximum(np.linalg.norm(area, axis=1, keepdims=True), 1e-300)
        normal = np.where(through < 0.0, -area, area) / size
        across = normal - np.abs(through) / size * direction
        load = 0.5 * wind.density * speed**2 * np.abs(through) * (wind.drag * direction + wind.lift * across)
        np.add.at(force, triangles, load[:, None] / 3)
        growth = wind.density * speed * size * (wind.drag + wind.lift) / 3
        np.add.at(resistance, triangles, np.broadcast_to(growth, triangles.shape))
    return force, resistance


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
    u.reshape(-1)[model.prescribed] = 0.0
    for pin in model.pins:
        if pin.velocity is None and pin.displacement is None:
            continue
        place = np.ix_(pin.nodes, pin.axes)
        if pin.velocity is not None:
            u[place] = at_time(pin.velocity, end)[pin.axes]
        else:
            goal = pin.start + at_time(pin.displacement, end)
            u[place] = (goal[:, pin.axes] - x[place]) / h
