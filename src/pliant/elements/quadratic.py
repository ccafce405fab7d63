"""Tets of ten nodes, with laws evaluated at the four points of meshes.quadratic.GAUSS_POINTS."""

from dataclasses import dataclass

import numpy as np

from pliant.elements.kinds import TET10
from pliant.elements.laws import CompiledLaw
from pliant.elements.sets import Space, VolumeSet
from pliant.kernels.elements import FIRST_MODULUS, QUADRATIC_DATA, ElementTerms, QuadraticProducts
from pliant.kernels.lanes import LANES
from pliant.meshes.quadratic import curved_volumes, overlaps

# Moduli of the warped stiffness: (lam + 2 mu) x 3, lam x 3, 2 mu x 3, 0 x 3.
MODULI = np.array([[1.0, 2.0]] * 3 + [[1.0, 0.0]] * 3 + [[0.0, 2.0]] * 3 + [[0.0, 0.0]] * 3)


@dataclass
class Tet10Set(VolumeSet):
    """Tets of ten nodes, straight or curved: all ten gradients at every point."""

    kind = TET10

    @property
    def kernels(self):
        """Loops over such tets."""
        return self.device.quadratic

    def lumped_mass(self, rest: np.ndarray) -> np.ndarray:
        """Masses (count, 10) [kg] at the nodes: the diagonal of the consistent mass, scaled to the element's mass
        (Hinton, Rock and Zienkiewicz 1976). Sums of rows would be negative at corners: -1/20 instead of 1/36."""
        diagonal = np.einsum("maa->ma", overlaps(rest, self.connectivity))
        mass = self.element_density * curved_volumes(rest, self.connectivity)
        return mass[:, None] * diagonal / diagonal.sum(axis=1, keepdims=True)

    def consistent_mass(self, rest: np.ndarray) -> np.ndarray:
        """Integrals (count, 10, 10) [kg] of products of the shape functions times density."""
        return self.element_density[:, None, None] * overlaps(rest, self.connectivity)

    def evaluate(self, laws: list[CompiledLaw], x: np.ndarray, gradients, space: Space, slots: np.ndarray) -> None:
        """Frames and energies into the space, the energy's gradient into the slots."""
        self.kernels.point_gradients(x, self.nodes, gradients, space.deformation)
        self._evaluate_points(laws, space.deformation, self.volume, space.frames, space.energy, space.stress)
        self.kernels.scatter_points(space.stress, gradients, False, self.own_slots(slots))

    def _evaluate_points(self, laws: list[CompiledLaw], *arrays: np.ndarray) -> None:
        for law in laws:
            groups = (law.first * self.kind.points, law.last * self.kind.points)
            law.evaluate_points(law.law, *groups, *arrays)

    def damp(self, v: np.ndarray, frames: np.ndarray, space: Space, slots: np.ndarray) -> None:
        """Adds viscous forces at velocities v to the slots; powers into the space."""
        self.kernels.point_gradients(v, self.nodes, self.gradients, space.deformation)
        weight = self.damping * self.volume
        self.kernels.damp_points(space.deformation, frames, self.lam, self.mu, weight, space.viscous, space.stress)
        self.kernels.scatter_points(space.stress, self.gradients, True, self.own_slots(slots))

    def subtract_rates(self, v: np.ndarray, rotation: np.ndarray, target: np.ndarray) -> None:
        """target (point groups, 6, LANES) -= J v in frames `rotation`, for velocities v (n, 3).

        Velocities are seen from a node of each body, so that one that moves as a whole has no rate at all, not a
        rounded one.
        """
        seen = v.copy()
        for part in self.parts:
            nodes = np.unique(self.nodes[part.first : part.last])
            seen[nodes] -= v[self.nodes[part.first, 0, 0]]
        gradient = self._deformation(seen, self.gradients).reshape(-1, 3, 3, LANES)
        turned = np.einsum("gkal,gkbl->gabl", rotation.reshape(-1, 3, 3, LANES), gradient)
        doubled = (turned + turned.transpose(0, 2, 1, 3)).reshape(-1, 9, LANES)
        target -= doubled[:, [0, 4, 8, 5, 2, 1]] * np.array([0.5, 0.5, 0.5, 1, 1, 1])[:, None]

    def warp(self, strain: np.ndarray, rotation: np.ndarray, slots: np.ndarray) -> None:
        """Slots of V J^T D e for strains (point groups, 6, LANES) in frames `rotation`."""
        stress = np.empty(rotation.shape)
        self.kernels.warped_points(strain, rotation, self.lam, self.mu, self.volume, stress)
        self.kernels.scatter_points(stress, self.gradients, False, self.own_slots(slots))

    def deform(self, x: np.ndarray, rotation_out: np.ndarray, strain_out: np.ndarray) -> None:
        """Rotation (point groups, 9, LANES) and total strain (point groups, 6, LANES) at positions x."""
        self.kernels.deform_points(self._deformation(x, self.gradients), self.facts.rotates, rotation_out, strain_out)

    def _deformation(self, x: np.ndarray, gradients: np.ndarray) -> np.ndarray:
        deformation = np.empty((len(self.volume), 9, LANES))
        self.kernels.point_gradients(x, self.nodes, gradients, deformation)
        return deformation

    def stresses(self, laws: list[CompiledLaw], x: np.ndarray, gradients: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """F and first Piola stress P (point groups, 9, LANES) [Pa]."""
        deformation, space = self._deformation(x, gradients), self.space()
        ones = np.ones_like(self.volume)
        self._evaluate_points(laws, deformation, ones, space.frames, space.energy, space.stress)
        return deformation, space.stress

    def inverted(self, x: np.ndarray, gradients: np.ndarray) -> np.ndarray:
        """How many elements of each group (groups,) have J <= 0 at one of their points."""
        count = np.zeros(self.groups, np.int64)
        self.kernels.inverted_points(self._deformation(x, gradients), self.volume, count)
        return count

    def blocks(self, terms: ElementTerms, out: np.ndarray) -> None:
        """Stiffness blocks into its part of out (k, 9)."""
        self.kernels.point_stiffness(*terms, self.own_blocks(out))

    def products(self, places: np.ndarray, dtype) -> QuadraticProducts:
        """Room for products without a matrix; places (n,): flat offset of each node."""
        data = np.zeros((1 + self.damped, len(self.volume), QUADRATIC_DATA, LANES), dtype)
        return QuadraticProducts(data, places[self.nodes], self.first_slot)

    def pack(self, terms: ElementTerms, products: QuadraticProducts) -> None:
        """The data for products."""
        self.kernels.pack_points(terms.frames, terms.gradients, terms.moduli, products.data[0])
        if terms.damped:
            data, first = products.data[1], FIRST_MODULUS
            data[:, :9], data[:, 9:first] = terms.rotation, terms.rest_gradients
            material = terms.damping_weight * np.stack([terms.lam, terms.mu])
            data[:, first:] = np.einsum("mk,kgl->gml", MODULI, material)

    def add_diagonals(self, *arguments) -> None:
        """Adds the diagonal blocks of its products; arguments as of the kernel."""
        self.kernels.add_point_diagonals(*arguments)
