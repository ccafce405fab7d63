"""Prediction and integration: what happens before and after the solve (theory section 1)."""

from dataclasses import dataclass

import numpy as np

from pliant.kernels.cpu.rigid import integrate_bodies, predict_bodies
from pliant.rotations import rotation_matrix
from pliant.rows.joints import tensions
from pliant.scene.checks import at_time


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
    force = node_forces(model, state.x, end)
    drag = (1 + h * model.node_mass_damping)[:, None]
    u[:] = (state.v + h * (model.gravity + force / model.node_mass[:, None])) / drag
    inverse_mass[:, :3] = model.free / (model.node_mass[:, None] * drag)
    prescribe(model, state.x, end, h, u)


def node_forces(model, x: np.ndarray, time: float) -> np.ndarray:
    """Applied forces (n, 3) [N]: loads spread over nodes, and pressures on faces where they are now."""
    force = np.zeros_like(x)
    for nodes, weights, vector in model.node_loads:
        force[nodes] += weights[:, None] * at_time(vector, time)
    return force + pressure_forces(model, x, time)


def pressure_forces(model, x: np.ndarray, time: float) -> np.ndarray:
    """Forces (n, 3) [N] of the pressures: a third of -p n dA on every corner of a face (C eq. 3.18, inward)."""
    force = np.zeros_like(x)
    for triangles, pressure in model.pressures:
        p0, p1, p2 = (x[triangles[:, k]] for k in range(3))
        share = -float(at_time(pressure, time)) / 6 * np.cross(p1 - p0, p2 - p0)
        for k in range(3):
            np.add.at(force, triangles[:, k], share)
    return force


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


def mass_blocks(model, prediction, h: float) -> np.ndarray:
    """Mass of every triple (triples, 3, 3), with the drag of mass damping; prescribed ones are left out later."""
    n = model.node_count
    blocks = np.zeros((model.triple_count, 3, 3))
    diagonal = np.arange(3)
    blocks[:n, diagonal, diagonal] = (model.node_mass * (1 + h * model.node_mass_damping))[:, None]
    blocks[n::2, diagonal, diagonal] = np.where(model.static, 0.0, model.body_mass)[:, None]
    s = prediction.inverse_mass[n + 1 :: 2][~model.static]
    inverse = s[:, [0, 5, 4, 5, 1, 3, 4, 3, 2]].reshape(-1, 3, 3)
    blocks[n + 1 :: 2][~model.static] = np.linalg.inv(inverse)
    return blocks


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


def integrate(model, state, prediction: Prediction, u: np.ndarray, h: float, travel: np.ndarray | None = None) -> None:
    """Advance positions by the solved velocities: x += h u, orientations by the exponential map of h w.

    travel (n, 3): mean velocity of the nodes over the step, where it is not the one at its end.
    """
    n = model.node_count
    state.previous_velocity, state.v, state.span = state.v, u[:n].copy(), np.array(h)
    state.x = state.x + h * (state.v if travel is None else travel)
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
