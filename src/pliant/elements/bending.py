"""Triangles that fold with their neighbours: the bending of sheets.

The turns 2 tan(angle / 2) at the three edges of a triangle, which have no bound where it is folded on its neighbour,
make its curvature (model.curvature). At a clamped edge the whole turn from the clamp counts; at a free one nothing
does. The surface strain e = h / 2 curvature has the energy of plane stress, 1/2 e C e with C = V/3 E / (1 - nu^2) [[1,
nu, 0], [nu, 1, 0], [0, 0, (1 - nu)/2]], which is that of a plate of stiffness E h^3 / (12 (1 - nu^2)). Plastic folds
are a plastic surface strain.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from pliant.elements.kinds import BENDING
from pliant.elements.sets import Space, VolumeSet
from pliant.kernels.elements import BendingProducts
from pliant.kernels.lanes import LANES
from pliant.kernels.sheets import BENDING_DATA
from pliant.linalg.connectivity import lower_pairs

# Entries of a symmetric 3x3 matrix as kernels keep them: 00, 11, 22, 12, 02, 01.
SIX = ([0, 1, 2, 1, 0, 0], [0, 1, 2, 2, 2, 1])
# Where the surface strain xx, yy, xy of a triangle lies among six components, in the axes of its edge from node 0 to 1.
PLANE = [0, 1, 5]


# How many turns there are in frames, where their gradients begin; their parts in the plane of triangles that count as
# flat.
TURNS, SLOPES, NEARLY_FLAT = 3, 6, 1e-6


class BendingTerms(NamedTuple):
    """Data for products (terms, groups, 42, LANES); exact: whether the blocks have what torques do as angles turn,
    times weight, in frames (groups, 42, LANES) at positions x (n, 3)."""

    data: np.ndarray
    exact: bool
    x: np.ndarray
    frames: np.ndarray
    weight: float


@dataclass
class BendingSet(VolumeSet):
    """Triangles of six nodes: their own, and those of their neighbours. gradients: plastic surface strain, for a set
    that has not flowed zero."""

    kind = BENDING
    present: np.ndarray  # (groups, 3, LANES): 1 where there is a neighbour across an edge
    offset: np.ndarray  # (groups, 9, LANES) [m]: else, where the point lies that stands for it, from the middle
    rest_turn: np.ndarray  # (groups, 3, LANES): 2 tan(angle / 2)
    strains: np.ndarray  # (groups, 9, LANES): surface strains xx, yy, xy (doubled) per angle, row by row
    moduli: np.ndarray  # (groups, 3, LANES) [J]: C00 = C11, C01, C22

    @property
    def kernels(self):
        """Loops over such triangles."""
        return self.device.bending

    @cached_property
    def _matrices(self) -> tuple[np.ndarray, np.ndarray]:
        """C (groups, LANES, 3, 3) and the strains B (groups, LANES, 3, 3)."""
        c, none = self.moduli.transpose(1, 0, 2), np.zeros((self.groups, LANES))
        rows = [np.stack(row, axis=-1) for row in ((c[0], c[1], none), (c[1], c[0], none), (none, none, c[2]))]
        return np.stack(rows, axis=-2), self.strains.transpose(0, 2, 1).reshape(self.groups, LANES, 3, 3)

    @cached_property
    def stiffness(self) -> np.ndarray:
        """K = B^T C B (groups, 6, LANES) [N m] of the angles."""
        c, b = self._matrices
        full = np.einsum("glka,glkm,glmb->glab", b, c, b)
        return np.ascontiguousarray(full[:, :, SIX[0], SIX[1]].transpose(0, 2, 1))

    @cached_property
    def flowing(self) -> np.ndarray:
        """S = B^T C (groups, 9, LANES) [N m]: torques of the angles per plastic strain."""
        c, b = self._matrices
        full = np.einsum("glka,glkm->glam", b, c)
        return np.ascontiguousarray(full.reshape(self.groups, LANES, 9).transpose(0, 2, 1))

    def flat_stiffness(self, rest: np.ndarray) -> np.ndarray | None:
        """Numbers (groups, 21, LANES) [N/m] of the pairs (i, j), j <= i, of nodes: the stiffness J^T K J at rest (n, 3)
        across the plane of the triangles; None for those that are not flat with their neighbours."""
        frames = self.frames_at(rest, np.zeros((0, 9, LANES)))
        corner = rest[self.nodes[:, :3]].transpose(1, 0, 2, 3)  # (3, groups, LANES, 3)
        normal = np.cross(corner[1] - corner[0], corner[2] - corner[0])
        normal /= np.maximum(np.linalg.norm(normal, axis=2, keepdims=True), 1e-300)
        slopes = np.zeros((self.groups, LANES, 3, 6))  # of turn a at node i, along the normal
        for a in range(3):
            for k in range(4):
                first = SLOPES + 12 * a + 3 * k
                own = frames[:, first : first + 3].transpose(0, 2, 1)
                along = (own * normal).sum(axis=2)
                if np.abs(own - along[:, :, None] * normal).max() > NEARLY_FLAT * np.abs(own).max():
                    return None
                slopes[:, :, a, (a + k) % 3 if k < 3 else 3 + a] = along
        c, b = self._matrices
        bent = np.einsum("glka,glai->glki", b, slopes)  # (BLAS would wake threads, whose spinning slows ours)
        full = np.einsum("glki,glkj->glij", bent, np.einsum("glkm,glmj->glkj", c, bent))
        nodes = self.nodes.transpose(0, 2, 1)
        for i, j in ((4, 3), (5, 3), (5, 4)):  # neighbours that have the same far node: its pair with itself holds all
            twins = nodes[:, :, i] == nodes[:, :, j]
            full[:, :, i, i] += np.where(twins, 2 * full[:, :, i, j], 0.0)
            full[:, :, i, j] = np.where(twins, 0.0, full[:, :, i, j])
        pairs = np.array(lower_pairs(6))
        return (
            np.ascontiguousarray(full[:, :, pairs[:, 0], pairs[:, 1]].transpose(0, 2, 1)) * (self.volume > 0)[:, None]
        )

    def laws(self, tangled: np.ndarray | None = None) -> list:
        """Bending has one law."""
        return []

    def elastic_gradients(self, plastic: np.ndarray) -> np.ndarray:
        """The plastic surface strain (groups, 6, LANES)."""
        return plastic[self.points]

    def node_stiffness(self) -> np.ndarray:
        """Mean diagonal entry (count, 6) [N/m] of the stiffness at rest."""
        lengths = self.point_values(self.offset)[:, 0].reshape(self.count, 3, 3)
        far = np.maximum(np.linalg.norm(lengths, axis=2), 1e-300)
        stiff = self.point_values(self.stiffness)[:, 0, :3] / (3 * far**2)
        return np.concatenate([stiff, stiff], axis=1)

    def lumped_mass(self, rest: np.ndarray) -> np.ndarray:
        """None: the mass is that of the triangles."""
        return np.zeros((self.count, 6))

    def consistent_mass(self, rest: np.ndarray) -> np.ndarray:
        """None."""
        return np.zeros((self.count, 6, 6))

    def space(self) -> Space:
        """Room for frames, data for products, energies."""
        nothing, data = np.zeros((0, 9, LANES)), np.empty((1 + self.damped, self.groups, BENDING_DATA, LANES))
        of_groups = (np.zeros(self.groups), np.zeros(self.groups))
        return Space(np.empty((self.groups, BENDING_DATA, LANES)), data, *of_groups, np.zeros((0, 3)), nothing)

    def keep_less(self, space: Space) -> None:
        """Room for the turns alone."""
        if space.frames.shape[1] > TURNS:
            space.frames = np.empty((self.groups, TURNS, LANES))

    @property
    def geometry(self) -> tuple[np.ndarray, ...]:
        """What angles are measured with."""
        return self.nodes, self.present, self.offset, self.rest_turn

    def evaluate(self, laws: list, x: np.ndarray, gradients, space: Space, slots: np.ndarray) -> None:
        """Frames and energies into the space, the energy's gradient into the slots."""
        space.deformation = x
        plastic = gradients[:0] if gradients is self.gradients else gradients
        numbers = (self.flowing, self.moduli, plastic, self.stiffness)
        self.kernels.evaluate_bending(x, *self.geometry, *numbers, space.frames, space.energy, self.own_slots(slots))

    def frames_at(self, x: np.ndarray, rotation: np.ndarray) -> np.ndarray:
        """Gradients of the angles, in which damping acts."""
        frames = np.empty((self.groups, BENDING_DATA, LANES))
        self.kernels.fold_frames(x, *self.geometry, frames)
        return frames

    def damp(self, v: np.ndarray, frames: np.ndarray, space: Space, slots: np.ndarray) -> None:
        """Adds viscous forces at velocities v to the slots; powers into the space."""
        arguments = (v, self.nodes, frames, self.stiffness, self.damping, space.viscous)
        self.kernels.damp_bending(*arguments, self.own_slots(slots))

    def deform(self, x: np.ndarray, rotation_out: np.ndarray, strain_out: np.ndarray) -> None:
        """Surface strain (groups, 6, LANES) beyond that at rest, in the axes of the triangles; they have no
        rotation."""
        self.rotate(x, rotation_out)
        strain_out[:] = 0.0
        turn = self.frames_at(x, rotation_out)[:, :3]
        strain_out[:, PLANE] = np.einsum("gkal,gal->gkl", self.strains.reshape(-1, 3, 3, LANES), turn)

    def rotate(self, x: np.ndarray, rotation_out: np.ndarray) -> None:
        """The unit matrix: frames are those of the sheet."""
        rotation_out[:] = np.eye(3).reshape(9, 1)

    def stresses(self, laws: list, x: np.ndarray, gradients: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The unit matrix, and the stress [Pa] of bending at the surface to which the normals point, (groups, 9, LANES)
        each, in the axes of the triangles."""
        rotation, strain = (np.empty((self.groups, size, LANES)) for size in (9, 6))
        self.deform(x, rotation, strain)
        elastic, c = (
            (strain - gradients)[:, PLANE],
            3 * self.moduli / np.where(self.volume > 0, self.volume, 1)[:, None],
        )
        xx, yy = c[:, 0] * elastic[:, 0] + c[:, 1] * elastic[:, 1], c[:, 1] * elastic[:, 0] + c[:, 0] * elastic[:, 1]
        stress = np.zeros_like(rotation)
        stress[:, 0], stress[:, 4], stress[:, 1] = xx, yy, c[:, 2] * elastic[:, 2]
        stress[:, 3] = stress[:, 1]
        return rotation, stress

    def inverted(self, x: np.ndarray, gradients: np.ndarray) -> np.ndarray:
        """None."""
        return np.zeros(self.groups, np.int64)

    def terms(self, laws, space: Space, gradients, weight: float, frames, damping: float, project: bool):
        """The stiffness times weight, and that of damping times damping beta, in the frames last evaluated. Projected
        it is J^T K J with the gradients J of the angles, which is never negative."""
        numbers = (self.rest_turn, self.stiffness)
        self.kernels.pack_bending(space.frames, *numbers, np.full_like(self.volume, weight), project, space.moduli[0])
        count = 1
        if self.damped and damping > 0.0 and frames is not None:
            self.kernels.pack_bending(frames, *numbers, damping * self.damping, project, space.moduli[1])
            count = 2
        return BendingTerms(space.moduli[:count], not project, space.deformation, space.frames, weight)

    def blocks(self, terms: BendingTerms, out: np.ndarray) -> None:
        """Stiffness blocks into its part of out (k, 9)."""
        geometry = (terms.x, *self.geometry, terms.frames, terms.weight)
        self.kernels.bending_stiffness(terms.data, terms.exact, *geometry, self.own_blocks(out))

    def products(self, places: np.ndarray, dtype) -> BendingProducts:
        """Room for products without a matrix, J^T K J; places (n,): flat offset of each node."""
        data = np.zeros((1 + self.damped, self.groups, BENDING_DATA, LANES), dtype)
        return BendingProducts(data, places[self.nodes], self.first_slot)

    def pack(self, terms: BendingTerms, products: BendingProducts) -> None:
        """The data for products."""
        products.data[: len(terms.data)] = terms.data

    def add_diagonals(self, *arguments) -> None:
        """Adds the diagonal blocks of its products; arguments as of the kernel."""
        self.kernels.add_bending_diagonals(*arguments)
