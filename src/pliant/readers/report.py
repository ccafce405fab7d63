"""Readers of a state: energy, momentum."""

from dataclasses import dataclass

import numpy as np

from pliant.elements.potential import ElementPotential
from pliant.elements.springs import NO_JOINT
from pliant.kernels.joints import BROKEN, ONE_SIDED
from pliant.rotations import rotation_matrix
from pliant.rows import joints as joint_rows
from pliant.rows.table import Rows


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
    elastic = elastic_energy(model, state)
    return Energy(float(kinetic), elastic, float(height), joint_energy(model, state))


def joint_energy(model, state) -> float:
    """Energy [J] of the compliant joints, 1/2 |C|^2 / compliance, and of the springs within joints."""
    blocks = model.during(state, state.time).joints
    rows = Rows.empty(blocks.start)
    error = joint_rows.fill(blocks, rows, state.pose, 1.0)
    soft = (blocks.compliance > 0) & (blocks.joint != NO_JOINT) & (blocks.family != BROKEN)
    gap = error[blocks.slice[soft], :, blocks.lane[soft]]
    one_sided = np.isin(blocks.family[soft], ONE_SIDED)[:, None]
    gap = np.where(one_sided, np.minimum(gap, 0.0), gap)
    drives = blocks.drives
    stretch = error[blocks.slice[drives.block], drives.row, blocks.lane[drives.block]] - drives.spring_rest
    whole = blocks.family[drives.block] != BROKEN
    springs = 0.5 * np.sum(whole * drives.spring * stretch**2)
    return float(0.5 * np.sum(np.sum(gap**2, axis=1) / blocks.compliance[soft]) + springs)


def elastic_energy(model, state) -> float:
    """Elastic energy [J] of all elements, by the laws they followed in the last step."""
    return ElementPotential.of(model.elements, state).evaluate(state.x)[0]


def momentum(model, state) -> Momentum:
    """Momentum of everything that is not static, angular about the origin."""
    moving = ~model.static
    node, body = model.node_mass[:, None] * state.v, model.body_mass[moving, None] * state.body_velocity[moving]
    angular = np.cross(state.x, node).sum(axis=0) + np.cross(state.body_position[moving], body).sum(axis=0)
    return Momentum(node.sum(axis=0) + body.sum(axis=0), angular + _body_angular_momentum(model, state).sum(axis=0))
