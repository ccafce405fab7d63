"""The model (constant arrays) and the state (changing arrays), built once from a scene.

Nodes of all soft bodies lie in one array, rigid bodies in another; the velocity triples are the nodes followed by a
linear and an angular triple per rigid body (theory section 1).
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from pliant.collide.detect import Colliders
from pliant.elements.elements import Elements
from pliant.kernels.device import Device
from pliant.model.inertia import Inertia
from pliant.model.rods import RodTable
from pliant.model.spins import Spins
from pliant.rows.joints import JointBlocks


@dataclass
class Pinned:
    """Nodes (k,) whose motion along the axes (3,) bool is prescribed: a velocity [m/s], or a displacement [m] from
    `start` (k, 3), or a function of time for one of them; held still when both are None."""

    nodes: np.ndarray
    axes: np.ndarray
    velocity: object
    displacement: object
    start: np.ndarray
    clamped: bool = False


@dataclass
class Model:
    """Everything about a scene that does not change; n nodes, b rigid bodies."""

    # where it computes: its kernels come from there
    device: Device
    # bodies: name of each, and the range of nodes of each soft body (soft + 1,)
    soft_names: list[str]
    rigid_names: list[str]
    node_start: np.ndarray
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
    winds: list  # (triangles (k, 3) of nodes, scene.cloth.Wind) on sheets
    pressures: list  # (faces (k, 3 or 6) of nodes, pressure [Pa] or function of time), pushing inward
    # elements: one set for each kind and law
    elements: Elements
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
    body_radius: np.ndarray  # (b,) bounding radius about the centre of mass [m]
    body_stiffness: np.ndarray  # (2 b,) mean diagonal entry of what rods resist displacements and turns with [N/m, N m]
    body_damping: np.ndarray  # (2 b,) the same of its damping [N s/m, N m s]
    rods: RodTable  # which bodies are points of rods
    # contacts
    colliders: Colliders  # everything that may touch
    # joints
    joints: JointBlocks
    joint_names: list[str]
    fragile: dict  # joint -> force [N] and torque [N m] at which it breaks, and whether node by node
    bounce: np.ndarray | None = None  # (t,) part of their restitution that things have in this step; None: all

    def during(self, state, time: float) -> "Model":
        """This model as it is at a state and a time [s]: with joints whose lengths move or that broke, and without
        contact of what crosses."""
        joints = self.joints.at(time, state.broken)
        model = self if joints is self.joints else self._with_joints(joints)
        return model.parting(state.crossing) if len(state.crossing) else model

    def parting(self, crossing: np.ndarray) -> "Model":
        """This model without contact between pairs (k, 2) of things that cross."""
        model = replace(self, colliders=self.colliders.without(crossing))
        model.__dict__["spins"] = self.spins
        return model

    def with_drives(self, drives) -> "Model":
        """This model with other numbers for what drives its joints."""
        return self._with_joints(replace(self.joints, drives=drives, without={}))

    def _with_joints(self, joints: JointBlocks) -> "Model":
        model = replace(self, joints=joints)
        model.__dict__["spins"] = self.spins  # which depends on their pattern alone
        return model

    def inertia(self, h: float) -> Inertia | None:
        """What resists changes of velocity in steps of h [s]; None where that is not the same in all of them."""
        if self.winds or not self.static.all():
            return None
        known = self.__dict__.get("_inertia")
        if known is None or known.h != h:
            known = self.__dict__["_inertia"] = Inertia(self, h)
        return known

    @cached_property
    def prescribed(self) -> np.ndarray:
        """Flat indices of the components of the velocities (n, 3) that are prescribed."""
        return np.flatnonzero(self.free.ravel() == 0)

    @property
    def may_touch(self) -> bool:
        """Whether anything may touch anything."""
        return self.colliders.any

    @cached_property
    def whole_mobility(self) -> np.ndarray:
        """Inverse masses (n, 1) [1/kg] of the whole soft bodies of nodes, 0 where something pins them: what moves a
        stiff body as a whole, a node of it resists no more than all of it does. None of sheets, whose nodes give way
        one by one."""
        out = np.zeros((self.node_count, 1))
        if self.elements.only_sheets:
            return out
        for first, last in zip(self.node_start[:-1], self.node_start[1:]):
            if last > first and np.all(self.free[first:last] == 1):
                out[first:last] = 1.0 / self.node_mass[first:last].sum()
        return out

    @cached_property
    def spins(self) -> Spins:
        """Which joints hold directions, and how the angular velocities that fit them are found."""
        return Spins(self)

    @cached_property
    def free_triples(self) -> np.ndarray:
        """(triples, 3): 1 where a velocity is unknown, 0 where it is prescribed."""
        return np.concatenate([self.free, np.repeat(~self.static, 2)[:, None] * np.ones(3)]).astype(float)

    @cached_property
    def moving_triples(self) -> np.ndarray:
        """(triples,) bool: those of which a component is unknown."""
        return (self.free_triples != 0).any(axis=1)

    @cached_property
    def inverse_body_mass(self) -> np.ndarray:
        """(b,) [1/kg], 0 where a body does not move freely."""
        return np.where(self.static, 0.0, 1 / self.body_mass)

    @cached_property
    def least_inertia(self) -> np.ndarray:
        """(2 b,) [kg, kg m2]: mass and least moment of inertia of every body in turn."""
        return np.stack([self.body_mass, self.body_inertia.min(axis=1, initial=np.inf)], axis=1).ravel()

    @cached_property
    def body_fall(self) -> np.ndarray:
        """(b, 3) [m/s2]: gravity of bodies that move freely."""
        return np.where(self.static[:, None], 0.0, self.gravity)

    @cached_property
    def longest_ways(self) -> np.ndarray:
        """(triples, 1) [m, rad]: the size of what a velocity moves, of rods none, and a turn by one radian."""
        out = np.ones((self.triple_count, 1))
        for first, last in zip(self.node_start[:-1], self.node_start[1:]):
            out[first:last] = np.ptp(self.rest[first:last], axis=0).max(initial=0.0)
        out[self.node_count :: 2, 0] = self.body_radius
        if self.elements.on_bodies:
            out[self.node_count :][self.body_stiffness > 0.0] = np.inf
        return out

    @cached_property
    def shortest_way(self) -> float:
        """The least of these."""
        return float(self.longest_ways.min(initial=np.inf))

    def place_of(self, triple: int) -> str:
        """A triple in words: its body, and the node and an element of it."""
        if triple < self.node_count:
            body = int(np.searchsorted(self.node_start, triple, side="right") - 1)
            element = self.elements.cell_at(body, triple)
            return f"soft body {self.soft_names[body]!r}, node {triple - self.node_start[body]}, element {element}"
        return f"rigid body {self.rigid_names[(triple - self.node_count) // 2]!r}"

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
        """Tets and triangles of all soft bodies."""
        return self.elements.cell_count
