"""Readers of a state: energy, momentum, deformation, strain and stress, contacts."""

from dataclasses import dataclass

import numpy as np

from pliant.elements.laws import compile_laws
from pliant.elements.rows import deform, elastic_gradients
from pliant.elements.springs import SPRING, spring_energy
from pliant.elements.tangles import laws_of_tangled
from pliant.kernels.lanes import LANES
from pliant.rotations import rotation_matrix
from pliant.rows import joints as joint_rows
from pliant.rows.table import Rows
from pliant.solve.newton.increment import Workspace


@dataclass(frozen=True)
class Energy:
    """Energies [J].

    kinetic: of nodes and rigid bodies. elastic: of the elements. gravitational: zero at height zero. joints: of the
    joints with a compliance, 1/2 |C|^2 / compliance with the gap C [m] (or angle [rad]). Static bodies count nothing;
    what damping, plastic flow and friction took is not kept, nor the work that loads can still do.
    """

    kinetic: float
    elastic: float
    gravitational: float
    joints: float

    @property
    def total(self) -> float:
        return self.kinetic + self.elastic + self.gravitational + self.joints


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
    """All energies of a state."""
    moving = ~model.static
    mass, position = model.body_mass[moving], state.body_position[moving]
    kinetic = 0.5 * np.sum(model.node_mass[:, None] * state.v**2) + 0.5 * np.sum(
        mass[:, None] * state.body_velocity[moving] ** 2
    )
    kinetic += 0.5 * np.sum(_body_angular_momentum(model, state) * state.body_angular_velocity)
    height = -(model.node_mass @ (state.x @ model.gravity)) - mass @ (position @ model.gravity)
    elastic = float(np.sum(elastic_energies(model, state))) + spring_energy(model, state.x)
    return Energy(float(kinetic), elastic, float(height), joint_energy(model, state))


def joint_energy(model, state) -> float:
    """Energy [J] of the compliant joints: 1/2 |C|^2 / compliance."""
    blocks, rows = model.joints, Rows.empty(model.joints.start)
    error = joint_rows.fill(blocks, rows, state.x, state.body_position, state.body_rotation, 1.0)
    soft = (blocks.compliance > 0) & (blocks.joint != SPRING)
    gap = error[blocks.slice[soft], :, blocks.lane[soft]]
    return float(0.5 * np.sum(np.sum(gap**2, axis=1) / blocks.compliance[soft]))


def elastic_energies(model, state) -> np.ndarray:
    """Elastic energy (g,) [J] of every group of elements, by the law it followed in the last step."""
    space = Workspace.of(len(model.volume))
    geometry = (state.x, model.element_nodes, elastic_gradients(model, state.plastic_strain), model.volume)
    for law in laws_of_tangled(model, compile_laws(model), state.tangled):
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
    for law in laws_of_tangled(model, compile_laws(model), state.tangled):
        geometry = (state.x, model.element_nodes, elastic_gradients(model, state.plastic_strain))
        law.stresses(law.law, law.first, law.last, *geometry, deformation, stress)
    f, p = deformation.reshape(-1, 3, 3, LANES), stress.reshape(-1, 3, 3, LANES)
    linear = model.corotate[:, None, None] == 0
    f = np.where(linear, np.eye(3)[None, :, :, None], f)
    volume = np.linalg.det(f.transpose(0, 3, 1, 2))[:, None, None]
    world = np.einsum("gabl,gcbl->gacl", p, f) / np.where(np.abs(volume) > 1e-12, volume, 1e-12)
    return strain, world.reshape(-1, 9, LANES)[:, [0, 4, 8, 5, 2, 1]]


def von_mises(stress: np.ndarray) -> np.ndarray:
    """sqrt(3/2 s : s) with the deviator s of stresses (m, 6): xx, yy, zz, yz, xz, xy."""
    normal, shear = stress[:, :3], stress[:, 3:]
    deviator = normal - normal.mean(axis=1, keepdims=True)
    return np.sqrt(1.5 * (np.sum(deviator**2, axis=1) + 2 * np.sum(shear**2, axis=1)))


def node_average(mesh, values: np.ndarray) -> np.ndarray:
    """Values (m,) or (m, c) of the tets of a mesh as averages (n,) or (n, c) at its nodes, weighted by volume."""
    count, corners, weight = len(mesh.points), mesh.tets.ravel(), np.repeat(mesh.volumes, 4)
    columns = np.repeat(values.reshape(len(values), -1), 4, axis=0)
    totals = [np.bincount(corners, weights=weight * column, minlength=count) for column in columns.T]
    average = np.stack(totals, axis=1) / np.bincount(corners, weights=weight, minlength=count)[:, None]
    return average.reshape(count, *values.shape[1:])


def deformation_gradient(mesh, x: np.ndarray) -> np.ndarray:
    """F = dx/dX (m, 3, 3) of the tets of a mesh whose nodes are at x (n, 3) [m]."""
    rest, now = (np.moveaxis(p[mesh.tets[:, :3]] - p[mesh.tets[:, 3:]], 1, 2) for p in (mesh.points, x))
    return now @ np.linalg.inv(rest)


def green_strain(f: np.ndarray) -> np.ndarray:
    """Green's strain (F^T F - I)/2 (m, 6) of deformation gradients (m, 3, 3): xx, yy, zz, yz, xz, xy, shear doubled."""
    return _six(0.5 * (f.transpose(0, 2, 1) @ f - np.eye(3)))


def small_strain(f: np.ndarray, rotation: np.ndarray) -> np.ndarray:
    """Strain of small displacements (m, 6) in world axes, for a body placed with a rotation (3, 3): the symmetric part
    of F R^T - I."""
    gradient = f @ rotation.T
    return _six(0.5 * (gradient + gradient.transpose(0, 2, 1)) - np.eye(3))


def _six(tensor: np.ndarray) -> np.ndarray:
    """Components xx, yy, zz, yz, xz, xy with doubled shear (m, 6) of symmetric tensors (m, 3, 3)."""
    return tensor.reshape(-1, 9)[:, [0, 4, 8, 5, 2, 1]] * np.array([1.0, 1, 1, 2, 2, 2])


def contacts(model, state) -> ContactReport:
    """Contacts of the last step."""
    return ContactReport(len(state.impulses.contact_key), state.impulses.contacts.copy())
