"""Springs: elements of two nodes with the energy k/2 (L - L0)^2, damped along their axes, and their rows.

Van Gelder (1998) gives an edge of a tet mesh the stiffness k = E sum(V) / L^2 over the tets around it. With edges in
all directions alike the energy of a strain e is then E V (2 e:e + tr^2 e) / 5, the isotropic law with the modulus E and
Poisson's ratio 1/4, the only one that a net of springs can have (Cauchy's relations).
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pliant.elements.kinds import SPRING
from pliant.elements.sets import ElementSet, Space
from pliant.kernels.elements import SpringProducts
from pliant.kernels.joints import DISTANCE, NODE
from pliant.kernels.lanes import LANES, from_lanes
from pliant.rows.joints import Anchors

# The number that stands for a joint's in the rows of springs, which are no joint of the scene.
NO_JOINT = -1


class SpringTerms(NamedTuple):
    """Blocks (groups, 6, LANES) of both ends of every spring, times their weight."""

    data: np.ndarray


@dataclass
class SpringSet(ElementSet):
    """Springs of mass-spring bodies; their mass is lumped at their ends."""

    kind = SPRING
    stiffness: np.ndarray  # (groups, LANES) k [N/m], zero in empty lanes
    rest: np.ndarray  # (groups, LANES) L0 [m]
    mass: np.ndarray  # (groups, LANES) [kg]

    @property
    def kernels(self):
        """Loops over springs."""
        return self.device.springs

    @property
    def element_damping(self) -> np.ndarray:
        """beta (count,) [s]."""
        return self.of_springs(self.damping)

    def node_stiffness(self) -> np.ndarray:
        """Mean diagonal entry (count, 2) [N/m] of the stiffness at rest of each end: that of k n n^T."""
        return np.repeat(self.of_springs(self.stiffness)[:, None] / 3, 2, axis=1)

    def lumped_mass(self, rest: np.ndarray) -> np.ndarray:
        """Half of its mass (count, 2) [kg] at either end."""
        return np.repeat(self.of_springs(self.mass)[:, None] / 2, 2, axis=1)

    def consistent_mass(self, rest: np.ndarray) -> np.ndarray:
        """That of a bar: m / 6 (1 + delta_ij) (count, 2, 2) [kg]."""
        return self.of_springs(self.mass)[:, None, None] / 6 * (1 + np.eye(2))

    def laws(self, tangled: np.ndarray | None = None) -> list:
        """Springs have one law, which needs no help."""
        return []

    def space(self) -> Space:
        """Room for axes and lengths, blocks, energies."""
        nothing, of_groups = np.zeros((0, 0, LANES)), (np.zeros(self.groups), np.zeros(self.groups))
        return Space(np.empty((self.groups, 4, LANES)), np.empty((self.groups, 6, LANES)), *of_groups, nothing, nothing)

    def elastic_gradients(self, plastic: np.ndarray) -> None:
        """Springs do not flow."""

    def frames_at(self, x: np.ndarray, rotation: np.ndarray) -> np.ndarray:
        """The axes (groups, 4, LANES) along which damping acts."""
        frames = np.empty((self.groups, 4, LANES))
        self.kernels.spring_frames(x, self.nodes, frames)
        return frames

    def evaluate(self, laws: list, x: np.ndarray, gradients, space: Space, slots: np.ndarray) -> None:
        """Axes and energies into the space, the energy's gradient into the slots."""
        self.kernels.spring_frames(x, self.nodes, space.frames)
        self.kernels.evaluate_springs(space.frames, self.stiffness, self.rest, space.energy, self.own_slots(slots))

    def damp(self, v: np.ndarray, frames: np.ndarray, space: Space, slots: np.ndarray) -> None:
        """Adds viscous forces at velocities v to the slots; powers into the space."""
        weight = self.damping * self.stiffness
        self.kernels.damp_springs(v, self.nodes, frames, weight, space.viscous, self.own_slots(slots))

    def terms(self, laws, space: Space, gradients, weight: float, frames, damping: float, project: bool):
        """The stiffness times weight, and the axial one times damping beta, at the axes last evaluated."""
        damped = self.damped and damping > 0.0 and frames is not None
        viscous = damping * self.damping * self.stiffness
        frames = frames if damped else space.frames
        arguments = (space.frames, self.stiffness, self.rest, weight, project, damped, frames, viscous)
        self.kernels.spring_blocks(*arguments, space.moduli)
        return SpringTerms(space.moduli)

    def blocks(self, terms: SpringTerms, out: np.ndarray) -> None:
        """Stiffness blocks into its part of out (k, 9)."""
        self.kernels.spread_blocks(terms.data, self.own_blocks(out))

    def products(self, places: np.ndarray, dtype) -> SpringProducts:
        """Room for products without a matrix; places (n,): flat offset of each node."""
        return SpringProducts(np.zeros((self.groups, 6, LANES), dtype), places[self.nodes], self.first_slot)

    def pack(self, terms: SpringTerms, products: SpringProducts) -> None:
        """The data for products."""
        products.data[:] = terms.data

    def add_diagonals(self, *arguments) -> None:
        """Adds the diagonal blocks of its products; arguments as of the kernel."""
        self.kernels.add_spring_diagonals(*arguments)

    def of_springs(self, values: np.ndarray) -> np.ndarray:
        """Values (groups, LANES) as (count,)."""
        return from_lanes(values[:, None], self.groups * LANES)[self.lanes, 0]

    def row_form(self) -> dict:
        """The springs as distances between nodes, compliant rows for solvers whose method these are: the columns of
        their blocks, named as in JointBlocks."""
        nodes, stiffness = self.connectivity, self.of_springs(self.stiffness)
        length, count = self.of_springs(self.rest), self.count
        return {
            "joint": np.full(count, NO_JOINT),
            "family": np.full(count, DISTANCE),
            "a": _node_anchors(nodes[:, 0]),
            "b": _node_anchors(nodes[:, 1]),
            "factor": np.tile([1.0, 0.0, 0.0], (count, 1)),
            "rest": np.stack([-length, np.zeros(count), np.zeros(count)], axis=1),
            "compliance": 1 / stiffness,
            "damping": self.of_springs(self.damping) * stiffness,
            "reach": length,
        }


def _node_anchors(nodes: np.ndarray) -> Anchors:
    count = len(nodes)
    index = np.zeros((count, 3), np.int64)
    index[:, 0] = nodes
    frame = np.tile([1.0, 0, 0, 0], (count, 1))
    return Anchors(np.full(count, NODE), index, np.zeros((count, 3)), np.zeros(count), frame)
