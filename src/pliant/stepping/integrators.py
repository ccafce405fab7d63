"""Second order in time: BDF2 as an implicit Euler step from an extrapolated state.

x1 = (4 x0 - x-1)/3 + 2/3 h v1 and M (v1 - (4 v0 - v-1)/3) = 2/3 h f(x1): an Euler step of length 2 h / 3 from the state
in brackets. Rotations are extrapolated along their geodesic: if R0 = exp(t) R-1, then R1 = exp(2/3 h w1 + O(h^3))
exp(t/3) R0. Rigid bodies are extrapolated by their angular momenta, and errors of joints by themselves, so that dampers
and motors see the rate (3 C1 - 4 C0 + C-1) / (2 h). Newton meets joints at the end of the step; rows that are linear at
the extrapolated state would gain energy. A step in which a contact or a limit carries load, and the one after it, is
Euler's: an extrapolated impact would bounce. So is one whose extrapolation would turn elements inside out, and one in
which joints stray or bodies run away.
"""

from dataclasses import replace

import numpy as np

from pliant.elements.potential import ElementPotential
from pliant.errors import SolverError
from pliant.model.model import Model
from pliant.model.state import State
from pliant.rotations import rotation_matrix
from pliant.rows.joints import errors_at
from pliant.rows.table import Rows
from pliant.solve.info import Info
from pliant.stepping.attempts import Attempts
from pliant.stepping.parts import ASTRAY, as_whole, scaled
from pliant.stepping.step import advance, step

# Length of the Euler step within one of BDF2.
PART = 2 / 3
FIELDS = ("x", "v", "body_position", "body_rotation", "body_velocity", "body_angular_velocity")


def bdf2_step(model: Model, state: State, solver, h: float) -> tuple[State, Info]:
    """The state after h [s], and the solver's report."""
    new, info = _second_order(model, state, solver, h)
    if new is None:
        new, info = step(model, state, solver, h)
        info.integrator = "euler"
    return new.remembering("bdf2", **{name: getattr(state, name) for name in FIELDS}), info


def _second_order(model: Model, state: State, solver, h: float) -> tuple[State | None, Info | None]:
    """A step of BDF2; None where implicit Euler has to take its place."""
    before = state.memory.get("bdf2")
    if before is None or _touches(model, state):
        return None, None
    start = _extrapolated(model, state, before)
    if start is None:
        return None, None
    start = start.remembering("before", **_from_before(model.during(state, state.time + h), state, before))
    attempts = Attempts(advance)
    try:
        new, info = attempts.take(model, scaled(replace(start, time=state.time + h / 3), PART), solver, PART * h)
    except SolverError:  # ran away
        return None, None
    if _touches(model, new) or info.straying > ASTRAY:
        return None, None
    info = attempts.told(info)
    info.integrator = "bdf2"
    return replace(as_whole(new.remembering("before"), 1 / PART), time=state.time + h), info


def _touches(model: Model, state: State) -> bool:
    """Whether a contact or the limit of a joint carried load in the last step."""
    blocks, kept = model.joints, state.impulses
    limits = blocks.limits
    stops = kept.joints[blocks.slice[limits], :, blocks.lane[limits]]
    return bool(np.any(kept.contacts[:, 0] > 0) or np.any(stops > 0))


def _extrapolated(model: Model, state: State, before: dict) -> State | None:
    """The state (4 now - before)/3; None if that would turn elements inside out."""
    x = (4 * state.x - before["x"]) / 3
    if state.tangled.any() or np.any(ElementPotential.of(model.elements, state).inverted(x)):
        return None
    plain = {name: (4 * getattr(state, name) - before[name]) / 3 for name in ("v", "body_position", "body_velocity")}
    rotation = state.body_rotation.copy()
    model.device.rigid.turn_bodies(_turns(before["body_rotation"], state.body_rotation) / 3, rotation)
    momentum = _angular_momentum_of(model, state.body_rotation, state.body_angular_velocity)
    old_momentum = _angular_momentum_of(model, before["body_rotation"], before["body_angular_velocity"])
    spin = state.body_angular_velocity.copy()
    for i in np.flatnonzero(~model.static):
        frame = rotation_matrix(rotation[i])
        wanted = (4 * momentum[i] - old_momentum[i]) / 3
        spin[i] = frame @ ((frame.T @ wanted) / model.body_inertia[i])
    return replace(state, x=x, body_rotation=rotation, body_angular_velocity=spin, **plain)


def _from_before(model: Model, state: State, before: dict) -> dict[str, np.ndarray]:
    """What the step takes from the states themselves, for from the extrapolated one it would be of first order:
    velocities (triples, 3); errors of joints (4 now - before)/3, from which on their rates count; nodes (n, 3) and
    orientations (b, 4) at the end, good enough for where forces act and in which frames elements damp."""
    blocks, rows = model.joints, Rows.empty(model.joints.start)
    pose = (state.angles, before["x"], before["body_position"], before["body_rotation"])
    error = (4 * errors_at(blocks, rows, state.pose) - errors_at(blocks, rows, pose)) / 3
    rotation = state.body_rotation.copy()
    model.device.rigid.turn_bodies(_turns(before["body_rotation"], state.body_rotation), rotation)
    x, position = (2 * getattr(state, name) - before[name] for name in ("x", "body_position"))
    return {"velocity": state.velocity_triples(), "error": error, "x": x, "position": position, "rotation": rotation}


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
