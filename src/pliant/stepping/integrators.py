"""Second order in time: BDF2 as an implicit Euler step from an extrapolated state.

x1 = (4 x0 - x-1)/3 + 2/3 h v1 and M (v1 - (4 v0 - v-1)/3) = 2/3 h f(x1): an Euler step of length 2 h / 3 from the state
in brackets. Rotations are extrapolated along their geodesic, rigid bodies by their angular momenta. Joints are met at
the end of the step (solve.relinearise); rows that are linear at the extrapolated state would gain energy. After a
contact the next step is Euler's, an extrapolated impact would bounce; and so is one whose extrapolation would turn
elements inside out, or whose joints do not settle.
"""

from dataclasses import fields, replace

import numpy as np

from pliant.elements.rows import elastic_gradients
from pliant.elements.tangles import inverted_elements
from pliant.kernels.cpu.rigid import turn_bodies
from pliant.rotations import rotation_matrix
from pliant.solve.warm import count_as_whole, scale_impulses
from pliant.stepping.step import step

# Length of the Euler step within one of BDF2.
PART = 2 / 3
FIELDS = ("x", "v", "body_position", "body_rotation", "body_velocity", "body_angular_velocity")


def bdf2_step(model, state, solver, h: float):
    """Advance the state by h [s]; returns the solver's info."""
    now = {name: getattr(state, name) for name in FIELDS}
    kept, impulse = replace(state.warm), state.row_impulse
    time, before = state.time, _unpack(state.before, now)
    whole = state.copy() if len(model.joints.family) else None
    touching = len(state.warm.contacts) and np.any(state.warm.contacts[:, 0] > 0)
    try:
        upright = not (before is None or touching) and _extrapolate_upright(model, state, before)
        if not upright:
            info = step(model, state, solver, h)
        else:
            state.time = time + h / 3
            scale_impulses(state, PART)
            info = step(model, state, solver, PART * h)
            count_as_whole(state, 1 / PART)
            state.time = time + h
        if not info.settled and upright:
            _restore(state, whole.copy())
            upright, info = False, step(model, state, solver, h)
        if not info.settled:
            _restore(state, whole)
            info = _plain_step(model, state, solver, h)
    except Exception:
        state.time, state.warm, state.row_impulse = time, kept, impulse
        for name, value in now.items():
            setattr(state, name, value)
        raise
    state.before = np.concatenate([now[name].ravel() for name in FIELDS])
    info.integrator = "bdf2" if upright else "euler"
    return info


def _restore(state, kept) -> None:
    for name in (f.name for f in fields(state)):
        setattr(state, name, getattr(kept, name))


def _plain_step(model, state, solver, h: float):
    """A step of implicit Euler with joints met to first order, where meeting them at the end did not settle."""
    solver.meets_joints = False
    try:
        return step(model, state, solver, h)
    finally:
        solver.meets_joints = True


def before_size(state) -> int:
    """How many numbers `State.before` holds once there is a step before."""
    return sum(getattr(state, name).size for name in FIELDS)


def _unpack(flat: np.ndarray, like: dict) -> dict | None:
    """The state before the last step, or None at the start."""
    if not len(flat):
        return None
    parts = np.split(flat, np.cumsum([value.size for value in like.values()])[:-1])
    return {name: part.reshape(value.shape) for (name, value), part in zip(like.items(), parts)}


def _extrapolate_upright(model, state, before: dict) -> bool:
    """Extrapolate the state, if that inverts no element; whether it does not."""
    x = (4 * state.x - before["x"]) / 3
    gradients = elastic_gradients(model, state.plastic_strain)
    if state.tangled.any() or np.any(inverted_elements(model, x, gradients)):
        return False
    _extrapolate(model, state, before)
    return True


def _extrapolate(model, state, before: dict) -> None:
    """The state (4 now - before)/3."""
    momentum, old = _angular_momentum(model, state), dict(before)
    old_momentum = _angular_momentum_of(model, old["body_rotation"], old["body_angular_velocity"])
    for name in ("x", "v", "body_position", "body_velocity"):
        setattr(state, name, (4 * getattr(state, name) - before[name]) / 3)
    turn = _turns(before["body_rotation"], state.body_rotation) / 3
    state.body_rotation = state.body_rotation.copy()
    turn_bodies(turn, state.body_rotation)
    spin = state.body_angular_velocity.copy()
    for i in np.flatnonzero(~model.static):
        frame = rotation_matrix(state.body_rotation[i])
        wanted = (4 * momentum[i] - old_momentum[i]) / 3
        spin[i] = frame @ ((frame.T @ wanted) / model.body_inertia[i])
    state.body_angular_velocity = spin


def _angular_momentum(model, state) -> np.ndarray:
    return _angular_momentum_of(model, state.body_rotation, state.body_angular_velocity)


def _angular_momentum_of(model, rotation, spin) -> np.ndarray:
    """Angular momentum (b, 3) about the centres; zero for static bodies."""
    result = np.zeros_like(spin)
    for i in np.flatnonzero(~model.static):
        frame = rotation_matrix(rotation[i])
        result[i] = frame @ (model.body_inertia[i] * (frame.T @ spin[i]))
    return result


def _turns(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Rotation vectors (b, 3) in world axes from quaternions `first` to `second` (b, 4)."""
    w, v = first[:, 0], -first[:, 1:]
    a, b = second[:, 0], second[:, 1:]
    scalar = a * w - np.sum(b * v, axis=1)
    vector = a[:, None] * v + w[:, None] * b + np.cross(b, v)
    sign = np.where(scalar < 0, -1.0, 1.0)
    length = np.linalg.norm(vector, axis=1)
    angle = 2 * np.arctan2(length, sign * scalar)
    return (sign * np.where(length > 1e-12, angle / np.maximum(length, 1e-12), 2.0))[:, None] * vector
