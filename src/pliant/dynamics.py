"""Prediction and integration: what happens before and after the solve (theory section 1)."""

from dataclasses import dataclass

import numpy as np

from pliant.bodies import rotation_matrix
from pliant.checks import at_time
from pliant.kernels.cpu.rigid import integrate_bodies, predict_bodies
from pliant.rows.joints import tensions


@dataclass
class Prediction:
    """u* (triples, 3), inverse mass blocks (triples, 6: xx, yy, zz, yz, xz, xy), and the bodies' spin data (b, 3)."""

    u: np.ndarray
    inverse_mass: np.ndarray
    angular_momentum: np.ndarray
    mid_angular_velocity: np.ndarray


def predict(model, state, h: float) -> Prediction:
    """Velocities after external forces alone, u* = u_old + h M^-1 f, with prescribed velocities in place."""
    n, b = model.node_count, model.body_count
    end = state.time + h
    u, inverse_mass = np.zeros((n + 2 * b, 3)), np.zeros((n + 2 * b, 6))
    _predict_nodes(model, state, h, end, u[:n], inverse_mass[:n])
    linear, angular = u[n::2], u[n + 1 :: 2]
    force, torque = _body_loads(model, state, end)
    moving = ~model.static
    linear[:] = state.body_velocity
    linear[moving] += h * (model.gravity + force[moving] / model.body_mass[moving, None])
    inverse_mass[n::2, :3][moving] = 1 / model.body_mass[moving, None]
    spin = state.body_angular_velocity.copy()
    for i, velocity, angular_velocity in model.driven:
        linear[i], spin[i] = at_time(velocity, end), at_time(angular_velocity, end)
    momentum, mid, inverse_inertia = np.zeros((b, 3)), np.zeros((b, 3)), np.zeros((b, 6))
    predict_bodies(
        model.body_mass,
        model.body_inertia,
        model.static,
        state.body_rotation,
        spin,
        h * torque,
        tensions(model.joints, state.warm.joints, state.body_rotation, h),
        h,
        momentum,
        mid,
        inverse_inertia,
    )
    angular[:] = mid
    inverse_mass[n + 1 :: 2] = inverse_inertia
    return Prediction(u, inverse_mass, momentum, mid)


def _predict_nodes(model, state, h, end, u, inverse_mass) -> None:
    force = np.zeros_like(state.x)
    for nodes, vector in model.node_forces:
        force[nodes] += at_time(vector, end) / len(nodes)
    drag = (1 + h * model.node_mass_damping)[:, None]
    u[:] = (state.v + h * (model.gravity + force / model.node_mass[:, None])) / drag
    inverse_mass[:, :3] = model.free / (model.node_mass[:, None] * drag)
    u[model.free == 0] = 0.0
    for nodes, axes, velocity in model.pins:
        if velocity is not None:
            u[np.ix_(nodes, axes)] = at_time(velocity, end)[axes]


def _body_loads(model, state, time) -> tuple[np.ndarray, np.ndarray]:
    """External forces [N] and torques [N m] on the bodies' centres."""
    force, torque = np.zeros((model.body_count, 3)), np.zeros((model.body_count, 3))
    for body, vector, point in model.body_forces:
        value = at_time(vector, time)
        force[body] += value
        if point is not None:
            torque[body] += np.cross(rotation_matrix(state.body_rotation[body]) @ point, value)
    for body, vector in model.body_torques:
        torque[body] += at_time(vector, time)
    return force, torque


def integrate(model, state, prediction: Prediction, u: np.ndarray, h: float) -> None:
    """Advance positions by the solved velocities: x += h u, orientations by the exponential map of h w."""
    n = model.node_count
    state.v = u[:n].copy()
    state.x = state.x + h * state.v
    state.body_velocity = u[n::2].copy()
    state.body_position = state.body_position + h * state.body_velocity
    turn = np.ascontiguousarray(u[n + 1 :: 2])
    state.body_rotation, state.body_angular_velocity = state.body_rotation.copy(), turn.copy()
    integrate_bodies(
        model.body_inertia,
        model.static,
        prediction.angular_momentum,
        prediction.mid_angular_velocity,
        turn,
        h,
        state.body_rotation,
        state.body_angular_velocity,
    )
    state.time += h
    state.step += 1
