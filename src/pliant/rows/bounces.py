"""Impacts among rigid bodies that touch, and what they pass on (kernels.cpu.bounces)."""

import numpy as np

from pliant.collide.contacts import Contacts
from pliant.kernels.joints import BODY
from pliant.rotations import rotation_matrix


def passed_on(
    model,
    contacts: Contacts,
    allowed: np.ndarray,
    restitution: np.ndarray,
    threshold: float,
    pose,
    before,
    at,
    h: float,
) -> np.ndarray:
    """Normal speeds (k,) [m/s] with which contacts end impacts that bodies pass on to each other, minus infinity for
    those that take no part; no number where Newton's law of the contact alone counts: with soft bodies, and with bodies
    that joints hold, whose masses are not their own.

    allowed (k,) [m]: gaps with which the step may end; pose: positions (b, 3) and rotations (b, 4) of the bodies, to
    which velocities `at` (triples, 3) lead; before: velocities at the start.
    """
    speed = np.full(len(contacts), np.nan)
    free = _loose(model)
    own = np.flatnonzero((contacts.body >= 0).all(axis=1))
    body = contacts.body[own]
    own = own[(free | model.static)[body].all(axis=1) & free[body].any(axis=1)]
    if len(own) < 2 or not (restitution[own] > 0.0).any():
        return speed
    body, normal, n = contacts.body[own], contacts.normal[own], model.node_count
    inverse_inertia = _inverse_inertias(model, pose[1], free)
    inverse_mass = np.where(free, 1 / np.where(model.body_mass > 0, model.body_mass, 1.0), 0.0)
    arm = np.cross(contacts.point[own][:, None] - pose[0][body], normal[:, None])
    sign = np.array([1.0, -1.0])[None, :, None]
    jacobian = sign * np.concatenate([np.broadcast_to(normal[:, None], arm.shape), arm], axis=2)
    turned = np.einsum("ksij,ksj->ksi", inverse_inertia[body], jacobian[:, :, 3:])
    answer = np.concatenate([inverse_mass[body][:, :, None] * jacobian[:, :, :3], turned], axis=2)
    velocity, there = (np.hstack([u[n::2], u[n + 1 :: 2]]) for u in (before, at))
    # gaps at the start of the step, to first order, beyond those allowed
    gap = contacts.gap[own] - allowed[own] - h * np.einsum("ksc,ksc->k", jacobian, there[body])
    found = np.empty(len(own))
    numbers = (np.ascontiguousarray(body), free, gap, restitution[own], float(threshold), float(h))
    model.device.bounces.pass_on(jacobian, answer, *numbers, velocity, found)
    speed[own] = found
    return speed


def _loose(model) -> np.ndarray:
    """Which bodies (b,) nothing but contacts and outer forces move."""
    free = ~model.static
    for side in (model.joints.a, model.joints.b):
        free[side.index[side.kind == BODY, 0]] = False
    return free & (model.body_stiffness[::2] == 0.0) if model.elements.on_bodies else free


def _inverse_inertias(model, rotation: np.ndarray, free: np.ndarray) -> np.ndarray:
    """Inverse inertias (b, 3, 3) in world axes, zero for bodies that are not free."""
    frame = np.moveaxis(rotation_matrix(rotation.T), 2, 0)
    inverse = np.where(free[:, None], 1 / np.where(model.body_inertia > 0, model.body_inertia, 1.0), 0.0)
    return np.einsum("bij,bj,bkj->bik", frame, inverse, frame)
