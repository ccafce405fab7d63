"""Triangles of sheets: the stretch of their plane under a law of volumes (formulas.cloth).

A sheet of thickness h has the energy h psi per area. Its points are in the middle of its triangles, one each.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from pliant.elements.kinds import TRI3
from pliant.elements.laws import CompiledLaw, compile_law
from pliant.elements.sets import Space, VolumeSet
from pliant.kernels.elements import TriangleProducts
from pliant.kernels.lanes import LANES
from pliant.kernels.sheets import TRIANGLE_DATA


class TriangleTerms(NamedTuple):
    """Data for products (terms, groups, 20, LANES): of the law and, where damped, of damping."""

    data: np.ndarray


@dataclass
class TriangleSet(VolumeSet):
    """Triangles of three nodes: differences to node 2 and the gradients of nodes 0 and 1 (6 numbers)."""

    kind = TRI3
    basis: np.ndarray  # (groups, 6, LANES): two orthonormal directions of the rest triangle
    free: np.ndarray  # (groups, LANES): 1 where the thickness follows the stretch, 0 where it stays

    @property
    def kernels(self):
        """Loops over triangles."""
        return self.device.cloth

    @cached_property
    def own_law(self) -> CompiledLaw:
        return compile_law(self.device, self.law, self.energy, self.lam, self.mu, self.groups, "cloth")

    def laws(self, tangled: np.ndarray | None = None) -> list[CompiledLaw]:
        """One law: a triangle in space cannot be inverted."""
        return [self.own_law]

    @cached_property
    def plane_lam(self) -> np.ndarray:
        """First Lame parameter (groups, LANES) [Pa] within the plane: that of plane stress where the thickness
        follows."""
        return np.where(self.free > 0, 2 * self.lam * self.mu / (self.lam + 2 * self.mu), self.lam)

    @property
    def element_gradients(self) -> np.ndarray:
        two = super().element_gradients
        return np.concatenate([two, -two.sum(axis=2, keepdims=True)], axis=2)

    def lumped_mass(self, rest: np.ndarray) -> np.ndarray:
        """rho V / 3 (count, 3) [kg] at the nodes."""
        return np.repeat(self.element_density[:, None] * self.element_volumes / 3, 3, axis=1)

    def consistent_mass(self, rest: np.ndarray) -> np.ndarray:
        """rho V / 12 (1 + delta_ij) (count, 3, 3) [kg]."""
        return self.element_density[:, None, None] * self.element_volumes[:, :, None] / 12 * (1 + np.eye(3))

    def space(self) -> Space:
        """Room for frames, data for products, energies."""
        nothing, data = np.zeros((0, 9, LANES)), np.empty((1 + self.damped, self.groups, TRIANGLE_DATA, LANES))
        of_groups = (np.zeros(self.groups), np.zeros(self.groups))
        return Space(np.empty((self.groups, 21, LANES)), data, *of_groups, nothing, nothing)

    def evaluate(self, laws: list[CompiledLaw], x: np.ndarray, gradients, space: Space, slots: np.ndarray) -> None:
        """Frames and energies into the space, the energy's gradient into the slots."""
        geometry = (x, self.nodes, gradients, self.basis, self.volume, self.free)
        for law in laws:
            law.evaluate(law.law, law.first, law.last, *geometry, space.frames, space.energy, self.own_slots(slots))

    def damp(self, v: np.ndarray, frames: np.ndarray, space: Space, slots: np.ndarray) -> None:
        """Adds viscous forces at velocities v to the slots; powers into the space."""
        material = (self.plane_lam, self.mu, self.damping * self.volume)
        arguments = (v, self.nodes, self.gradients, self.basis, frames, *material, space.viscous)
        self.kernels.damp_triangles(*arguments, self.own_slots(slots))

    def deform(self, x: np.ndarray, rotation_out: np.ndarray, strain_out: np.ndarray) -> None:
        """Rotation (groups, 9, LANES) and strain in the plane (groups, 6, LANES) at positions x."""
        self.kernels.deform_triangles(x, self.nodes, self.gradients, self.basis, rotation_out, strain_out)

    def stresses(self, laws: list[CompiledLaw], x: np.ndarray, gradients: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """F and first Piola stress P (groups, 9, LANES) [Pa]."""
        space, deformation = self.space(), np.empty((self.groups, 9, LANES))
        self.evaluate(laws, x, gradients, space, np.empty(self.first_slot + self.slot_count))
        stress = np.empty_like(deformation)
        for law in laws:
            law.stresses(law.law, law.first, law.last, space.frames, deformation, stress)
        return deformation, stress

    def inverted(self, x: np.ndarray, gradients: np.ndarray) -> np.ndarray:
        """None: in space a triangle has no inside."""
        return np.zeros(self.groups, np.int64)

    def terms(self, laws, space: Space, gradients, weight: float, frames, damping: float, project: bool):
        """The stiffness times weight, and the plane one times damping beta, in the frames last evaluated."""
        for law in laws:
            geometry = (space.frames, gradients, weight * self.volume, self.free)
            law.moduli(law.law, law.first, law.last, *geometry, project, space.moduli[0])
        if not self.damped:
            return TriangleTerms(space.moduli)
        if damping == 0.0 or frames is None:
            return TriangleTerms(space.moduli[:1])
        material = (self.plane_lam, self.mu, damping * self.damping * self.volume)
        self.kernels.pack_triangle_damping(frames, self.gradients, self.basis, *material, space.moduli[1])
        return TriangleTerms(space.moduli)

    def blocks(self, terms: TriangleTerms, out: np.ndarray) -> None:
        """Stiffness blocks into its part of out (k, 9)."""
        self.kernels.triangle_stiffness(terms.data, self.own_blocks(out))

    def products(self, places: np.ndarray, dtype) -> TriangleProducts:
        """Room for products without a matrix; places (n,): flat offset of each node."""
        data = np.zeros((1 + self.damped, self.groups, TRIANGLE_DATA, LANES), dtype)
        return TriangleProducts(data, places[self.nodes], self.first_slot)

    def pack(self, terms: TriangleTerms, products: TriangleProducts) -> None:
        """The data for products."""
        products.data[: len(terms.data)] = terms.data

    def add_diagonals(self, *arguments) -> None:
        """Adds the diagonal blocks of its products; arguments as of the kernel."""
        self.kernels.add_triangle_diagonals(*arguments)
