"""An element set: all elements of one kind with one law, and tets of four nodes as the first of them.

Arrays are in lanes. Those of a set's points are (point groups, components, LANES), point p of the elements in group g
being group g points + p; slots are (groups, 3 nodes, LANES). Every body begins a new group.
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from pliant.elements.kinds import TET4, Kind
from pliant.elements.laws import CompiledLaw, arap_law, compile_law
from pliant.kernels.device import Device
from pliant.kernels.elements import TET_DATA, ElementTerms, TetProducts
from pliant.kernels.lanes import LANES, from_lanes
from pliant.kernels.laws import Law, law_facts


@dataclass(frozen=True)
class Part:
    """The elements of one soft body: groups first..last of a set, of which `count` elements are there."""

    body: int
    first: int
    last: int
    count: int


@dataclass
class Space:
    """Work space of a set: frames, moduli, deformation and stress at its points, energies and viscous powers of
    groups."""

    frames: np.ndarray
    moduli: np.ndarray
    energy: np.ndarray
    viscous: np.ndarray
    deformation: np.ndarray
    stress: np.ndarray


@dataclass
class ElementSet:
    """What all kinds have in common. device: where it is evaluated. law: its name; energy: the user's, for a custom
    one. first_slot, first_block,
    first_point: where its slots (numbers), blocks and groups of points begin among those of all sets."""

    kind: ClassVar[Kind]
    device: Device
    law: str
    energy: Any
    parts: list[Part]
    nodes: np.ndarray  # (groups, nodes, LANES) global node indices
    damping: np.ndarray  # (point groups, LANES), of springs (groups, LANES): beta [s]
    first_slot: int = field(default=0, init=False)
    first_block: int = field(default=0, init=False)
    first_point: int = field(default=0, init=False)

    def keep_less(self, space: Space) -> None:
        """Make less room in a space of the set, if the matrix of those who use it asks for less."""

    @property
    def facts(self) -> Law:
        """What solvers must know of the law."""
        return law_facts(self.law)

    @property
    def groups(self) -> int:
        return len(self.nodes)

    @property
    def count(self) -> int:
        """How many elements there are."""
        return sum(part.count for part in self.parts)

    @property
    def slot_count(self) -> int:
        """Numbers in its slots."""
        return self.nodes.size * 3

    @property
    def points(self) -> slice:
        """Its groups of points among those of all sets."""
        return slice(self.first_point, self.first_point + self.groups * self.kind.points)

    @cached_property
    def damped(self) -> bool:
        return bool(np.any(self.damping > 0))

    @cached_property
    def lanes(self) -> np.ndarray:
        """Where the elements (count,) lie among the lanes, group LANES + lane."""
        return np.concatenate([part.first * LANES + np.arange(part.count) for part in self.parts])

    @cached_property
    def connectivity(self) -> np.ndarray:
        """Nodes (count, nodes) of every element."""
        return from_lanes(self.nodes, self.groups * LANES)[self.lanes]

    def own_slots(self, slots: np.ndarray) -> np.ndarray:
        """Its part (groups, 3 nodes, LANES) of the slots of all sets."""
        own = slots[self.first_slot : self.first_slot + self.slot_count]
        return own.reshape(self.groups, 3 * self.kind.nodes, LANES)

    def own_blocks(self, blocks: np.ndarray) -> np.ndarray:
        """Its part (groups LANES, pairs, 9) of the blocks (k, 9) of all sets."""
        count = self.groups * LANES * self.kind.pairs
        return blocks[self.first_block : self.first_block + count].reshape(-1, self.kind.pairs, 9)

    def by_body(self, of_groups: np.ndarray, total: np.ndarray) -> None:
        """Adds numbers of its groups, or of groups of points, to those of bodies (soft,)."""
        share = len(of_groups) // max(self.groups, 1)
        for part in self.parts:
            total[part.body] += of_groups[part.first * share : part.last * share].sum()


@dataclass
class VolumeSet(ElementSet):
    """Tets of any number of nodes. All arrays but nodes are of points."""

    gradients: np.ndarray  # (point groups, 9 or 3 nodes, LANES) [1/m], zero in empty lanes
    volume: np.ndarray  # (point groups, LANES) [m3], zero in empty lanes
    density: np.ndarray  # (point groups, LANES) [kg/m3]
    lam: np.ndarray  # (point groups, LANES) [Pa], at rest
    mu: np.ndarray  # [Pa], at rest
    young: np.ndarray  # [Pa]
    poisson: np.ndarray
    yield_strain: np.ndarray  # infinite when elastic
    creep: np.ndarray  # [1/s]
    max_strain: np.ndarray

    @cached_property
    def own_law(self) -> CompiledLaw:
        return compile_law(self.device, self.law, self.energy, self.lam, self.mu, self.groups)

    def laws(self, tangled: np.ndarray | None = None) -> list[CompiledLaw]:
        """Which groups follow which law; bodies with a time left in tangled (soft,) are pulled back to shape."""
        if tangled is None or not any(tangled[part.body] > 0 for part in self.parts):
            return [self.own_law]
        return [
            arap_law(self.device, self.lam, self.mu, part.first, part.last)
            if tangled[part.body] > 0
            else self.own_law.of(part.first, part.last)
            for part in self.parts
        ]

    def space(self) -> Space:
        """Room for what is computed at its points."""
        groups = len(self.volume)
        room = [np.empty((groups, size, LANES)) for size in (21, 12)]
        of_points = [np.empty((groups if self.kind.points > 1 else 0, 9, LANES)) for _ in range(2)]
        return Space(*room, np.zeros(groups), np.zeros(groups), *of_points)

    def elastic_gradients(self, plastic: np.ndarray) -> np.ndarray:
        """Rest gradients seen from the plastic shape: F_e = F (I + e_p)^-1; plastic: (all point groups, 6, LANES).

        To first order in the strains the elastic strain is e - e_p, as in the rows of the dual solver.
        """
        own = plastic[self.points]
        if not np.any(own):
            return self.gradients
        out = np.empty_like(self.gradients)
        self.device.plastic.plastic_gradients(self.gradients, own, out)
        return out

    def rotate(self, x: np.ndarray, rotation_out: np.ndarray) -> None:
        """Rotation (point groups, 9, LANES) at positions x."""
        self.deform(x, rotation_out, np.empty((len(rotation_out), 6, LANES)))

    def frames_at(self, x: np.ndarray, rotation: np.ndarray) -> np.ndarray:
        """The frames in which damping acts, (point groups, 9, LANES), from the rotations of all sets at x."""
        return rotation[self.points]

    def find_moduli(self, laws: list[CompiledLaw], space: Space, weight: float, project: bool) -> None:
        """Twelve moduli of every point in its frame, times weight and volume."""
        share = self.kind.points
        for law in laws:
            groups = (law.first * share, law.last * share)
            law.moduli(law.law, *groups, space.frames, weight * self.volume, project, space.moduli)

    def terms(self, laws, space: Space, gradients, weight: float, frames, damping: float, project: bool):
        """The stiffness times weight, and the warped one times damping beta, in the frames last evaluated."""
        self.find_moduli(laws, space, weight, project)
        damped = self.damped and damping > 0.0 and frames is not None
        # without damping any arrays of these types do
        frames, viscous = (frames, damping * self.damping * self.volume) if damped else (self.gradients, self.volume)
        material = (self.gradients, frames, self.lam, self.mu, viscous)
        return ElementTerms(space.frames, gradients, space.moduli, damped, *material)

    @property
    def element_damping(self) -> np.ndarray:
        """beta (count,) [s]."""
        return self.point_values(self.damping[:, None])[:, 0, 0]

    @property
    def element_density(self) -> np.ndarray:
        """(count,) [kg/m3]."""
        return self.point_values(self.density[:, None])[:, 0, 0]

    def node_stiffness(self) -> np.ndarray:
        """Mean diagonal entry (count, nodes) [N/m] of the stiffness at rest of each node of an element."""
        modulus = self.point_values((self.volume * (self.lam + 4 * self.mu) / 3)[:, None])[:, :, 0]
        return np.einsum("mq,mqai,mqai->ma", modulus, self.element_gradients, self.element_gradients)

    def point_values(self, of_points: np.ndarray) -> np.ndarray:
        """Values (point groups, c, LANES) of its own points as (count, points, c)."""
        share, width = self.kind.points, of_points.shape[1]
        values = of_points.reshape(self.groups, share, width, LANES).transpose(0, 3, 1, 2)
        return values.reshape(-1, share, width)[self.lanes]

    @property
    def element_volumes(self) -> np.ndarray:
        """Volumes (count, points) [m3] that belong to the points."""
        return self.point_values(self.volume[:, None])[:, :, 0]

    @property
    def element_gradients(self) -> np.ndarray:
        """Rest gradients (count, points, nodes, 3) [1/m] of all shape functions."""
        return self.point_values(self.gradients).reshape(self.count, self.kind.points, -1, 3)


@dataclass
class Tet4Set(VolumeSet):
    """Tets of four nodes: differences to node 3 and three gradients, the rows of Dm^-1 (9 numbers)."""

    kind = TET4

    @property
    def element_gradients(self) -> np.ndarray:
        three = super().element_gradients
        return np.concatenate([three, -three.sum(axis=2, keepdims=True)], axis=2)

    def lumped_mass(self, rest: np.ndarray) -> np.ndarray:
        """rho V / 4 (count, 4) [kg] at the nodes."""
        return np.repeat(self.element_density[:, None] * self.element_volumes / 4, 4, axis=1)

    def consistent_mass(self, rest: np.ndarray) -> np.ndarray:
        """rho V / 20 (1 + delta_ij) (count, 4, 4) [kg]."""
        share = self.element_density[:, None, None] * self.element_volumes[:, :, None] / 20
        return share * (1 + np.eye(4))

    def evaluate(self, laws: list[CompiledLaw], x: np.ndarray, gradients, space: Space, slots: np.ndarray) -> None:
        """Frames and energies into the space, the energy's gradient into the slots."""
        for law in laws:
            geometry = (x, self.nodes, gradients, self.volume, space.frames, space.energy)
            law.evaluate(law.law, law.first, law.last, *geometry, self.own_slots(slots))

    def damp(self, v: np.ndarray, frames: np.ndarray, space: Space, slots: np.ndarray) -> None:
        """Adds viscous forces at velocities v to the slots; powers into the space."""
        material = (self.lam, self.mu, self.damping * self.volume)
        arguments = (v, self.nodes, self.gradients, frames, *material, space.viscous)
        self.device.hyperelastic.damp_elements(*arguments, self.own_slots(slots))

    def subtract_rates(self, v: np.ndarray, rotation: np.ndarray, target: np.ndarray) -> None:
        """target (point groups, 6, LANES) -= J v in frames `rotation`, for velocities v (n, 3)."""
        self.device.element_rates.subtract_rates(v, self.nodes, self.gradients, rotation, target)

    def warp(self, strain: np.ndarray, rotation: np.ndarray, slots: np.ndarray) -> None:
        """Slots of V J^T D e for strains (point groups, 6, LANES) in frames `rotation`."""
        arguments = (strain, rotation, self.gradients, self.lam, self.mu, self.volume)
        self.device.elements.element_elastic_impulses(*arguments, self.own_slots(slots))

    def deform(self, x: np.ndarray, rotation_out: np.ndarray, strain_out: np.ndarray) -> None:
        """Rotation (point groups, 9, LANES) and total strain (point groups, 6, LANES) at positions x."""
        arguments = (x, self.nodes, self.gradients, self.facts.rotates)
        self.device.elements.deform_elements(*arguments, rotation_out, strain_out)

    def stresses(self, laws: list[CompiledLaw], x: np.ndarray, gradients: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """F and first Piola stress P (point groups, 9, LANES) [Pa]."""
        deformation, stress = (np.empty((self.groups, 9, LANES)) for _ in range(2))
        for law in laws:
            law.stresses(law.law, law.first, law.last, x, self.nodes, gradients, deformation, stress)
        return deformation, stress

    def inverted(self, x: np.ndarray, gradients: np.ndarray) -> np.ndarray:
        """How many elements of each group (groups,) have J <= 0."""
        count = np.zeros(self.groups, np.int64)
        self.device.hyperelastic.count_inverted(x, self.nodes, gradients, self.volume, count)
        return count

    def blocks(self, terms: ElementTerms, out: np.ndarray) -> None:
        """Stiffness blocks into its part of out (k, 9)."""
        self.device.stiffness.element_stiffness(*terms, self.own_blocks(out))

    def products(self, places: np.ndarray, dtype) -> TetProducts:
        """Room for products without a matrix; places (n,): flat offset of each node."""
        data = np.zeros((1 + self.damped, self.groups, TET_DATA, LANES), dtype)
        return TetProducts(data, places[self.nodes], self.first_slot)

    def pack(self, terms: ElementTerms, products: TetProducts) -> None:
        """The data for products."""
        self.device.stiffness.pack_elements(terms.frames, terms.gradients, terms.moduli, products.data[0])
        if terms.damped:
            numbers = (terms.rotation, terms.rest_gradients, terms.lam, terms.mu, terms.damping_weight)
            self.device.stiffness.pack_damping(*numbers, products.data[1])

    def add_diagonals(self, *arguments) -> None:
        """Adds the diagonal blocks of its products; arguments as of the kernel."""
        self.device.stiffness.add_element_diagonals(*arguments)
