"""Readers of a state: energy, momentum, strain and stress, contacts, reactions."""

from dataclasses import dataclass

import numpy as np

from pliant.bodies import rotation_matrix
from pliant.kernels.lanes import LANES
from pliant.rows import joints as joint_rows
from pliant.rows.elements import deform
from pliant.rows.joints import ANGULAR, DISTANCE
from pliant.rows.table import Rows


@dataclass(frozen=True)
class Energy:
    """Energies [J]; gravitational is zero at height zero."""

    kinetic: float
    elastic: float
    gravitational: float

    @property
    def total(self) -> float:
        return self.kinetic + self.elastic + self.gravitational


@dataclass(frozen=True)
class Momentum:
    """Linear (3,) [kg m/s] and angular (3,) [kg m2/s] momentum."""

    linear: np.ndarray
    angular: np.ndarray


@dataclass(frozen=True)
class ContactReport:
    """Contacts of the last step: number, and impulses (n, 3) [N s] along the normal and the two tangents."""

    count: int
    impulses: np.ndarray


def _body_angular_momentum(model, state) -> np.ndarray:
    """Angular momentum (b, 3) of every body about its own centre; zero for static ones."""
    result = np.zeros((model.body_count, 3))
    for i in np.flatnonzero(~model.static):
        turn = rotation_matrix(state.body_rotation[i])
        result[i] = turn @ (model.body_inertia[i] * (turn.T @ state.body_angular_velocity[i]))
    return result


def energy(model, state) -> Energy:
    """Kinetic, elastic and gravitational energy; static bodies count nothing."""
    moving = ~model.static
    mass, position = model.body_mass[moving], state.body_position[moving]
    kinetic = 0.5 * np.sum(model.node_mass[:, None] * state.v**2) + 0.5 * np.sum(
        mass[:, None] * state.body_velocity[moving] ** 2
    )
    kinetic += 0.5 * np.sum(_body_angular_momentum(model, state) * state.body_angular_velocity)
    height = -(model.node_mass @ (state.x @ model.gravity)) - mass @ (position @ model.gravity)
    _, strain = deform(model, state.x)
    elastic = strain - state.plastic_strain
    lam, mu = model.lame
    trace = elastic[:, :3].sum(axis=1)
    square = np.sum(elastic[:, :3] ** 2, axis=1) + 0.5 * np.sum(elastic[:, 3:] ** 2, axis=1)
    return Energy(float(kinetic), float(np.sum(model.volume * (mu * square + 0.5 * lam * trace**2))), float(height))


def momentum(model, state) -> Momentum:
    """Momentum of everything that is not static, angular about the origin."""
    moving = ~model.static
    node, body = model.node_mass[:, None] * state.v, model.body_mass[moving, None] * state.body_velocity[moving]
    angular = np.cross(state.x, node).sum(axis=0) + np.cross(state.body_position[moving], body).sum(axis=0)
    return Momentum(node.sum(axis=0) + body.sum(axis=0), angular + _body_angular_momentum(model, state).sum(axis=0))


def element_fields(model, state) -> tuple[np.ndarray, np.ndarray]:
    """Strain in the rotated frames and Cauchy stress in world axes (g, 6, LANES): sigma = R (D e) R^T."""
    rotation, strain = deform(model, state.x)
    e = strain - state.plastic_strain
    lam, mu = (value[:, None] for value in model.lame)
    local = np.concatenate([lam * e[:, :3].sum(axis=1, keepdims=True) + 2 * mu * e[:, :3], mu * e[:, 3:]], axis=1)
    tensor = local[:, [0, 5, 4, 5, 1, 3, 4, 3, 2]].reshape(-1, 3, 3, LANES)
    r = rotation.reshape(-1, 3, 3, LANES)
    world = np.einsum("gabl,gbcl,gdcl->gadl", r, tensor, r).reshape(-1, 9, LANES)
    return strain, world[:, [0, 4, 8, 5, 2, 1]]


def contacts(model, state) -> ContactReport:
    """Contacts of the last step."""
    return ContactReport(len(state.warm.contact_key), state.warm.contacts.copy())


def reaction(model, state, joint: int, h: float) -> np.ndarray:
    """Force [N] of a joint on its side b, from the impulses of the last step."""
    blocks, force = model.joints, np.zeros(3)
    rows = Rows.empty(blocks.start)
    joint_rows.fill(blocks, rows, state.x, state.body_position, state.body_rotation, h)
    for k in np.flatnonzero((blocks.joint == joint) & (blocks.family != ANGULAR)):
        impulse = state.warm.joints[blocks.slice[k], :, blocks.lane[k]]
        if blocks.family[k] == DISTANCE:
            last = rows.start[blocks.slice[k]]
            side = rows.jacobian[last, :3, blocks.lane[k]]
            length = np.linalg.norm(side)
            force += -impulse[0] * side / length if blocks.a.kind[k] else impulse[0] * side / length
        else:
            force += impulse
    return force / h
