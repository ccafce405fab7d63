"""Readers of a state: energy, momentum, strain and stress, contacts, reactions."""

from dataclasses import dataclass

import numpy as np

from pliant.bodies import rotation_matrix
from pliant.kernels.lanes import LANES
from pliant.rows import joints as joint_rows
from pliant.rows.elements import deform, elastic_gradients
from pliant.rows.joints import ANGULAR, DISTANCE
from pliant.rows.table import Rows
from pliant.solve.increment import Workspace
from pliant.solve.laws import compile_laws


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
    elastic = float(np.sum(elastic_energies(model, state.x, state.plastic_strain)))
    return Energy(float(kinetic), elastic, float(height))


def elastic_energies(model, x: np.ndarray, plastic: np.ndarray) -> np.ndarray:
    """Elastic energy (g,) [J] of every group of elements."""
    space = Workspace.of(len(model.volume))
    geometry = (x, model.element_nodes, elastic_gradients(model, plastic), model.volume)
    for law in compile_laws(model):
        arguments = (space.frames, space.energy, space.slots[:-1].reshape(-1, 12, LANES))
        law.evaluate(law.law, law.first, law.last, *geometry, *arguments)
    return space.energy


def momentum(model, state) -> Momentum:
    """Momentum of everything that is not static, angular about the origin."""
    moving = ~model.static
    node, body = model.node_mass[:, None] * state.v, model.body_mass[moving, None] * state.body_velocity[moving]
    angular = np.cross(state.x, node).sum(axis=0) + np.cross(state.body_position[moving], body).sum(axis=0)
    return Momentum(node.sum(axis=0) + body.sum(axis=0), angular + _body_angular_momentum(model, state).sum(axis=0))


def element_fields(model, state) -> tuple[np.ndarray, np.ndarray]:
    """Strain in the rotated frames and Cauchy stress in world axes (g, 6, LANES): sigma = P F^T / J.

    F is that of the elastic part of the deformation; the linear law knows no difference between P and sigma.
    """
    _, strain = deform(model, state.x)
    shape = (len(model.volume), 9, LANES)
    deformation, stress = np.empty(shape), np.empty(shape)
    for law in compile_laws(model):
        geometry = (state.x, model.element_nodes, elastic_gradients(model, state.plastic_strain))
        law.stresses(law.law, law.first, law.last, *geometry, deformation, stress)
    f, p = deformation.reshape(-1, 3, 3, LANES), stress.reshape(-1, 3, 3, LANES)
    linear = model.corotate[:, None, None] == 0
    f = np.where(linear, np.eye(3)[None, :, :, None], f)
    volume = np.linalg.det(f.transpose(0, 3, 1, 2))[:, None, None]
    world = np.einsum("gabl,gcbl->gacl", p, f) / np.where(np.abs(volume) > 1e-12, volume, 1e-12)
    return strain, world.reshape(-1, 9, LANES)[:, [0, 4, 8, 5, 2, 1]]


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
