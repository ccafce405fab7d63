"""Fibres within the triangles of sheets: warp and weft that stiffen them along directions, Y/2 (|F a| - 1)^2."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pliant.elements.kinds import FIBRE
from pliant.elements.sets import ElementSet, Space
from pliant.kernels.elements import FibreProducts
from pliant.kernels.lanes import LANES, from_lanes


class FibreTerms(NamedTuple):
    """Data for products (groups, 9, LANES)."""

    data: np.ndarray


@dataclass
class FibreSet(ElementSet):
    """One family of fibres of one or more sheets; their mass is that of the triangles."""

    kind = FIBRE
    weights: np.ndarray  # (groups, 3, LANES) [1/m]: derivatives of the shape functions along the fibres
    stiffness: np.ndarray  # (groups, LANES) [J]: modulus times volume

    @property
    def kernels(self):
        """Loops over fibres."""
        return self.device.fibres

    @property
    def element_damping(self) -> np.ndarray:
        """beta (count,) [s]."""
        return self._of_fibres(self.damping[:, None])[:, 0]

    def _of_fibres(self, values: np.ndarray) -> np.ndarray:
        """Values (groups, c, LANES) as (count, c)."""
        return from_lanes(values, self.groups * LANES)[self.lanes]

    def node_stiffness(self) -> np.ndarray:
        """Mean diagonal entry (count, 3) [N/m] of the stiffness at rest."""
        return self._of_fibres(self.stiffness[:, None]) * self._of_fibres(self.weights) ** 2 / 3

    def lumped_mass(self, rest: np.ndarray) -> np.ndarray:
        """None (count, 3)."""
        return np.zeros((self.count, 3))

    def consistent_mass(self, rest: np.ndarray) -> np.ndarray:
        """None (count, 3, 3)."""
        return np.zeros((self.count, 3, 3))

    def laws(self, tangled: np.ndarray | None = None) -> list:
        """Fibres have one law."""
        return []

    def space(self) -> Space:
        """Room for directions, data for products, energies."""
        nothing, of_groups = np.zeros((0, 0, LANES)), (np.zeros(self.groups), np.zeros(self.groups))
        return Space(np.empty((self.groups, 4, LANES)), np.empty((self.groups, 9, LANES)), *of_groups, nothing, nothing)

    def elastic_gradients(self, plastic: np.ndarray) -> None:
        """Fibres do not flow."""

    def frames_at(self, x: np.ndarray, rotation: np.ndarray) -> np.ndarray:
        """Directions (groups, 4, LANES) along which damping acts."""
        frames = np.empty((self.groups, 4, LANES))
        self.kernels.fibre_frames(x, self.nodes, self.weights, frames)
        return frames

    def evaluate(self, laws: list, x: np.ndarray, gradients, space: Space, slots: np.ndarray) -> None:
        """Directions and energies into the space, the energy's gradient into the slots."""
        self.kernels.fibre_frames(x, self.nodes, self.weights, space.frames)
        self.kernels.evaluate_fibres(space.frames, self.weights, self.stiffness, space.energy, self.own_slots(slots))

    def damp(self, v: np.ndarray, frames: np.ndarray, space: Space, slots: np.ndarray) -> None:
        """Adds viscous forces at velocities v to the slots; powers into the space."""
        arguments = (v, self.nodes, self.weights, frames, self.damping * self.stiffness, space.viscous)
        self.kernels.damp_fibres(*arguments, self.own_slots(slots))

    def terms(self, laws, space: Space, gradients, weight: float, frames, damping: float, project: bool):
        """The stiffness times weight, and that of damping times damping beta, in the directions last evaluated."""
        damped = self.damped and damping > 0.0 and frames is not None
        axes, viscous = frames if damped else space.frames, damping * self.damping * self.stiffness
        numbers = (space.frames, self.weights, self.stiffness, weight, project, damped, axes, viscous)
        self.kernels.fibre_blocks(*numbers, space.moduli)
        return FibreTerms(space.moduli)

    def blocks(self, terms: FibreTerms, out: np.ndarray) -> None:
        """Stiffness blocks into its part of out (k, 9)."""
        self.kernels.fibre_stiffness(terms.data, self.own_blocks(out))

    def products(self, places: np.ndarray, dtype) -> FibreProducts:
        """Room for products without a matrix; places (n,): flat offset of each node."""
        return FibreProducts(np.zeros((self.groups, 9, LANES), dtype), places[self.nodes], self.first_slot)

    def pack(self, terms: FibreTerms, products: FibreProducts) -> None:
        """The data for products."""
        products.data[:] = terms.data

    def add_diagonals(self, *arguments) -> None:
        """Adds the diagonal blocks of its products; arguments as of the kernel."""
        self.kernels.add_fibre_diagonals(*arguments)
