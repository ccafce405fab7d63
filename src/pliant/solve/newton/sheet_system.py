"""The primal system of sheets that are flat at rest: their bending is a matrix of numbers, apart from their stretch.

Bending couples nineteen nodes with each other where stretching couples seven, by blocks that are far smaller. Here it
is the same along every axis (kernels.cpu.linalg.folds), an approximation of the matrix alone: what a step leads to is
decided by energies and forces, which stay as they are.
"""

import numpy as np

from pliant.elements.bending import BendingSet
from pliant.elements.potential import ElementPotential
from pliant.kernels.lanes import LANES
from pliant.kernels.matrices import FoldedMatrix
from pliant.linalg.connectivity import Connectivity
from pliant.linalg.sliced import sliced_pattern
from pliant.linalg.two_level import Pieces
from pliant.rows.table import Rows
from pliant.solve.newton.primal_system import PrimalSystem

# Nodes in a piece of the coarse level, and the most pieces of a sheet: one after the other across it, these have few
# others to do with, so there may be many.
PIECE_NODES, MOST_PIECES = 37, 256


class SheetSystem(PrimalSystem):
    """The matrix of a model of sheets whose turns make a matrix of numbers."""

    @classmethod
    def of(cls, model) -> "SheetSystem | None":
        """That of a model; None where something is no sheet, or does not bend, or is not flat at rest."""
        sets = model.elements.sets
        folding = [own for own in sets if isinstance(own, BendingSet)]
        if not model.elements.only_sheets or not folding or len(model.joints.family):
            return None
        flat = [own.flat_stiffness(model.rest) for own in folding]
        return None if any(each is None for each in flat) else cls(model, flat)

    def __init__(self, model, flat: list[np.ndarray]):
        """flat: numbers (groups, 21, LANES) [N/m] of the sets that fold."""
        self.flat = flat
        super().__init__(model, Rows.empty(model.joints.start), "pcg")

    def _split(self) -> tuple[list[Connectivity], list[Connectivity]]:
        """The elements that stretch, and those that fold."""
        both = list(zip(self.elements.sets, self.elements.connectivity()))
        fold = [each for own, each in both if isinstance(own, BendingSet)]
        return [each for own, each in both if not isinstance(own, BendingSet)], fold

    @staticmethod
    def cut(model) -> Pieces:
        """A model into the pieces of the coarse level."""
        return Pieces.of(model, PIECE_NODES, MOST_PIECES)

    def _pattern_elements(self) -> list[Connectivity]:
        return self._split()[0]

    def _make_room(self, dtype) -> None:
        super()._make_room(dtype)
        folding = self._split()[1]
        self.first_fold = min(int(each.first.min()) for each in folding)
        shifted = [Connectivity(each.nodes, each.first - self.first_fold) for each in folding]
        self.folds = sliced_pattern(self.device, self.count, shifted, self.pattern.place)
        self.numbers = np.zeros(self.elements.block_count - self.first_fold, dtype)
        self.fold_sums = np.zeros(len(self.folds.turned), dtype)
        fold = (self.folds.start, self.folds.column, np.zeros(self.folds.column.shape, dtype))
        self.sliced = FoldedMatrix(*self.sliced, *fold)

    def take_elements(self, potential: ElementPotential, h: float) -> None:
        """Take the stiffness of all elements, damping included, where they were last evaluated, for the next
        `assemble` in a step of h [s]."""
        self.summed = False
        flat, frames = iter(self.flat), potential.frames or [None] * len(self.elements.sets)
        for (own, laws, gradients, space), frame in zip(potential.each(), frames):
            if not isinstance(own, BendingSet):
                own.blocks(own.terms(laws, space, gradients, h * h, frame, h, True), self.blocks)
                continue
            weight = h * h + (0.0 if frame is None else h) * own.damping
            first = own.first_block - self.first_fold
            out = self.numbers[first : first + own.groups * LANES * own.kind.pairs].reshape(-1, own.kind.pairs)
            self.device.linalg.folds.weigh_folds(space.frames, own.rest_turn, next(flat), weight, out)
        kernels, pattern = self.device.linalg.folds, self.folds
        kernels.sum_folds(pattern.couple_start, pattern.source, self.numbers, self.fold_sums)
        kernels.fill_folds(pattern.entry, self.fold_sums, self.sliced.fold_values)

    def _extra_diagonals(self) -> np.ndarray:
        extra = super()._extra_diagonals()
        numbers = (self.folds.start, self.sliced.fold_values, self.packed_free)
        self.device.linalg.folds.add_fold_diagonals(*numbers, extra)
        return extra
