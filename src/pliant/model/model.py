"""The model (constant arrays) and the state (changing arrays), built once from a scene.

Nodes of all soft bodies lie in one array, rigid bodies in another; the velocity triples are the nodes followed by a
linear and an angular triple per rigid body (theory section 1). Element arrays are in lanes, (groups, components,
LANES).
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pliant.model.spins import Spins
from pliant.rows.joints import JointBlocks


@dataclass
class SoftSurface:
    """The surface nodes of one soft body: nodes (k,) global indices; against: rigid bodies it may touch; size: mean
    edge [m]."""

    nodes: np.ndarray
    against: np.ndarray
    size: float


@dataclass
class LawRange:
    """Groups first..last follow the law `name`; energy: the user's, for a custom one."""

    name: str
    first: int
    last: int
    energy: object = None


@dataclass
class Pinned:
    """Nodes (k,) whose motion along the axes (3,) bool is prescribed: a velocity [m/s], or a displacement [m] from
    `start` (k, 3), or a function of time for one of them; held still when both are None."""

    nodes: np.ndarray
    axes: np.ndarray
    velocity: object
    displacement: object
    start: np.ndarray


@dataclass
class Model:
    """Everything about a scene that does not change; n nodes, m elements in g groups, b rigid bodies."""

    # bodies: name of each, and the range of nodes and elements of each soft body (soft + 1,)
    soft_names: list[str]
    rigid_names: list[str]
    node_start: np.ndarray
    element_start: np.ndarray
    group_start: np.ndarray  # (soft + 1,) groups of lanes of each soft body
    # scene
    gravity: np.ndarray  # (3,) [m/s2]
    acceleration_bound: float  # |gravity|, sets contact thresholds [m/s2]
    # nodes
    rest: np.ndarray  # (n, 3) rest positions [m]
    node_mass: np.ndarray  # (n,) lumped [kg]
    node_stiffness: np.ndarray  # (n,) mean diagonal entry of the stiffness at rest [N/m]
    node_damping: np.ndarray  # (n,) the same of the stiffness-proportional damping [N s/m]
    node_mass_damping: np.ndarray  # (n,) alpha [1/s]
    free: np.ndarray  # (n, 3) 1 where the velocity is unknown, 0 where it is prescribed
    pins: list  # Pinned: nodes whose motion is prescribed
    node_loads: list  # (nodes (k,), weights (k,), vector or function of time): force [N] = weight * vector
    pressures: list  # (triangles (k, 3) of nodes, pressure [Pa] or function of time), pushing inward
    node_friction: np.ndarray  # (n,) NaN: as the other body says
    node_restitution: np.ndarray  # (n,)
    # elements
    tets: np.ndarray  # (m, 4) global node indices
    element_nodes: np.ndarray  # (g, 4, LANES)
    gradients: np.ndarray  # (g, 9, LANES) rows of Dm^-1 [1/m], zero in empty lanes
    volume: np.ndarray  # (g, LANES) [m3], zero in empty lanes
    density: np.ndarray  # (g, LANES) [kg/m3]
    laws: list  # LawRange: which groups follow which law
    corotate: np.ndarray  # (g, LANES) 0: linear, 1: any other law
    lam: np.ndarray  # (g, LANES) [Pa], at rest
    mu: np.ndarray  # (g, LANES) [Pa], at rest
    young: np.ndarray  # (g, LANES) [Pa]
    poisson: np.ndarray  # (g, LANES)
    damping: np.ndarray  # (g, LANES) beta [s]
    yield_strain: np.ndarray  # (g, LANES) infinite when elastic
    creep: np.ndarray  # (g, LANES) [1/s]
    max_strain: np.ndarray  # (g, LANES)
    plastic: bool  # whether any element is plastic
    adjacency_start: np.ndarray  # (triples + 1,) slots of elements by triple
    adjacency: np.ndarray
    soft_surfaces: list[SoftSurface]
    # rigid bodies
    body_mass: np.ndarray  # (b,) [kg], infinite when static
    body_inertia: np.ndarray  # (b, 3) principal moments [kg m2]
    principal_rotation: np.ndarray  # (b, 4) from the principal frame to the shape's frame
    centre: np.ndarray  # (b, 3) centre of mass in the shape's frame [m]
    static: np.ndarray  # (b,) bool
    immobile: np.ndarray  # (b,) bool: static and never moving
    driven: list  # (body, velocity, angular velocity) of static bodies that move as they are told
    body_forces: list  # (body, force or function, point in the principal frame or None)
    body_torques: list  # (body, torque or function)
    body_friction: np.ndarray  # (b,)
    body_restitution: np.ndarray  # (b,)
    body_radius: np.ndarray  # (b,) bounding radius about the centre of mass [m]
    shape_code: np.ndarray  # (b,)
    shape_parameter: np.ndarray  # (b, 3)
    sample_start: np.ndarray  # (b + 1,)
    sample_points: np.ndarray  # (s, 3) in principal frames [m]
    sample_radius: np.ndarray  # (b,) [m]
    collidable: np.ndarray  # rigid bodies that collide
    excluded_pairs: np.ndarray  # sorted keys i * b + j, i < j
    # joints
    joints: JointBlocks
    joint_names: list[str]

    @cached_property
    def spins(self) -> Spins:
        """Which joints hold directions, and how the angular velocities that fit them are found."""
        return Spins(self)

    @property
    def node_count(self) -> int:
        return len(self.rest)

    @property
    def body_count(self) -> int:
        return len(self.body_mass)

    @property
    def triple_count(self) -> int:
        return len(self.rest) + 2 * len(self.body_mass)

    @property
    def element_count(self) -> int:
        return len(self.tets)
