"""All elements of a model: a list of sets, and what solvers and readers ask of them together."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from pliant.elements.sets import ElementSet, VolumeSet
from pliant.elements.springs import SpringSet
from pliant.kernels.device import Device
from pliant.kernels.lanes import LANES
from pliant.linalg.connectivity import Connectivity


@dataclass
class Elements:
    """The element sets of a model, and the cells of its meshes.

    device: where they are evaluated. cells: for every soft body its mesh's tets (m, 4) or (m, 10), or triangles (m, 3),
    with global node indices. shear_speed (soft,): speed of shear waves at rest [m/s]. point_groups: groups of points of
    all sets, among which plastic strains are kept. adjacency_start (triples + 1,), adjacency: slots of the elements by
    triple, in fixed order.
    """

    device: Device
    sets: list[ElementSet]
    cells: list[np.ndarray]
    shear_speed: np.ndarray
    triple_count: int

    def __post_init__(self):
        slot = block = point = 0
        for own in self.sets:
            own.first_slot, own.first_block, own.first_point = slot, block, point
            slot += own.slot_count
            block += own.groups * LANES * own.kind.pairs
            point += own.groups * own.kind.points
        self.slot_count, self.block_count, self.point_groups = slot, block, point

    @property
    def cell_count(self) -> int:
        """Tets and triangles of all meshes."""
        return sum(len(cells) for cells in self.cells)

    @property
    def triangle_count(self) -> int:
        """Triangles of the meshes of sheets."""
        return sum(len(cells) for cells in self.cells if cells.shape[1] == 3)

    @cached_property
    def only_sheets(self) -> bool:
        """Whether there are sheets, and no other elements than theirs."""
        return 0 < self.triangle_count == self.cell_count and not self.on_bodies

    @property
    def groups(self) -> int:
        """Groups of lanes of all sets."""
        return sum(own.groups for own in self.sets)

    @cached_property
    def volumes(self) -> list[VolumeSet]:
        """The sets whose law is a density over volumes."""
        return [own for own in self.sets if own.facts.volume]

    @cached_property
    def stiffness(self) -> float:
        """Shear moduli of all volumes [J]: of the size of what their energies are differences of. (BLAS would wake
        threads, whose spinning slows ours.)"""
        return sum(float(np.add.reduce(own.mu * own.volume, axis=None)) for own in self.volumes)

    @cached_property
    def springs(self) -> list[SpringSet]:
        """The sets of springs."""
        return [own for own in self.sets if not own.facts.volume and own.facts.row_form and not own.kind.on_bodies]

    @cached_property
    def on_bodies(self) -> bool:
        """Whether any of them join rigid bodies, as those of rods do."""
        return any(own.kind.on_bodies for own in self.sets)

    @cached_property
    def damped(self) -> bool:
        return any(own.damped for own in self.sets)

    @property
    def largest_damping(self) -> float:
        """The largest beta [s]."""
        return max((float(own.damping.max()) for own in self.sets), default=0.0)

    @cached_property
    def plastic(self) -> bool:
        """Whether any element is plastic."""
        return any(bool(np.any(np.isfinite(own.yield_strain[own.volume > 0]))) for own in self.volumes)

    @cached_property
    def undamped(self) -> "Elements":
        """The same elements without damping."""
        sets = [replace(own, damping=np.zeros_like(own.damping)) for own in self.sets]
        return replace(self, sets=sets) if self.damped else self

    @cached_property
    def without_springs(self) -> "Elements":
        """The volumes alone, for solvers to whom springs are rows."""
        return replace(self, sets=[replace(own) for own in self.volumes]) if self.springs else self

    @cached_property
    def of_nodes(self) -> "Elements":
        """Those whose triples are nodes: all but segments of rods."""
        sets = [replace(own) for own in self.sets if not own.kind.on_bodies]
        return replace(self, sets=sets) if self.on_bodies else self

    def connectivity(self) -> list[Connectivity]:
        """Which triples the elements couple, and where their blocks lie."""
        found = []
        for own in self.sets:
            first = own.first_block + own.lanes * own.kind.pairs
            found.append(Connectivity(own.connectivity, first))
        return found

    @cached_property
    def adjacency(self) -> tuple[np.ndarray, np.ndarray]:
        """CSR lists of the slots of every triple, in fixed order: start (triples + 1,) and offsets. The slot of (group,
        node, lane) of a set begins at first_slot + ((group nodes + node) 3) LANES + lane."""
        nodes, offsets = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        for own in self.sets:
            groups, width, _ = own.nodes.shape
            place = np.arange(groups * width).reshape(groups, width, 1) * 3 * LANES + np.arange(LANES)
            places = place.transpose(0, 2, 1).reshape(-1, width)[own.lanes]
            nodes.append(own.connectivity.ravel().astype(np.int64))
            offsets.append(own.first_slot + places.ravel())
        nodes, offsets = np.concatenate(nodes), np.concatenate(offsets)
        order = np.lexsort((offsets, nodes))
        start = np.zeros(self.triple_count + 1, np.int64)
        np.cumsum(np.bincount(nodes, minlength=self.triple_count), out=start[1:])
        return start, offsets[order].astype(np.int64)

    def deform(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Rotation (point groups, 9, LANES) and total strain (point groups, 6, LANES) at positions x (n, 3)."""
        rotation, strain = (np.empty((self.point_groups, size, LANES)) for size in (9, 6))
        for own in self.volumes:
            own.deform(x, rotation[own.points], strain[own.points])
            strain[own.points] *= (own.volume > 0)[:, None]  # empty lanes ask for nothing, and norms do not see them
        return rotation, strain

    def rotations(self, x: np.ndarray) -> np.ndarray:
        """The rotation alone (point groups, 9, LANES)."""
        rotation = np.empty((self.point_groups, 9, LANES))
        for own in self.volumes:
            own.rotate(x, rotation[own.points])
        return rotation

    def set_of(self, body: int) -> ElementSet:
        """The set that a soft body's elements are in."""
        return next(own for own in self.sets if any(part.body == body for part in own.parts))

    def of_body(self, body: int, of_points: np.ndarray) -> np.ndarray:
        """Values of all points (point groups, c, LANES) as those (m, points, c) of a soft body's elements; a body of
        springs has no points."""
        own = self.set_of(body)
        if not own.facts.volume:
            return np.zeros((len(self.cells[body]), 1, of_points.shape[1]))
        before = sum(part.count for part in own.parts if part.body < body)
        part = next(part for part in own.parts if part.body == body)
        return own.point_values(of_points[own.points])[before : before + part.count]

    def cell_at(self, body: int, node: int) -> int:
        """The first cell of a soft body that has a node."""
        return int(np.flatnonzero((self.cells[body] == node).any(axis=1))[0])
