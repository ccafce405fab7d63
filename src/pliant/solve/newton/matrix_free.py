"""The primal system without its matrix: products straight from the elements (S algorithm 2), block Jacobi."""

import numpy as np

from pliant.kernels.lanes import LANES
from pliant.kernels.matrices import ElementMatrix
from pliant.linalg.connectivity import Connectivity
from pliant.rows.table import Rows
from pliant.solve.newton.primal_system import PrimalSystem


class MatrixFreeSystem(PrimalSystem):
    """The matrix of a model whose elements are not assembled: 30 float32 numbers for a tet of four nodes."""

    def __init__(self, model):
        super().__init__(model, Rows.empty(model.joints.start), "matrix-free")

    def _make_room(self, dtype) -> None:
        self.blocks = np.zeros((1, 9), dtype)  # none are assembled
        own = self.offsets[: self.node_count]
        self.products = tuple(one.products(own, dtype) for one in self.elements.sets)
        slots = np.zeros(self.elements.slot_count + 1, dtype)
        self.adjacency = (*self.elements.adjacency, own)
        values = np.empty((len(self.pattern.column), 9, LANES), dtype)
        numbers = (self.pattern.start, self.pattern.column, values)
        self.sliced = ElementMatrix(*numbers, self.products, slots, *self.adjacency)

    def _pattern_elements(self) -> list[Connectivity]:
        """Only mass and rigid bodies have blocks of their own."""
        return []

    def take(self, terms: list) -> None:
        self.summed = False
        for own, own_terms, products in zip(self.elements.sets, terms, self.products):
            own.pack(own_terms, products)

    def _extra_diagonals(self) -> np.ndarray:
        extra = super()._extra_diagonals()
        for own, products in zip(self.elements.sets, self.products):
            own.add_diagonals(products.data, products.first, *self.adjacency, self.packed_free.ravel(), extra)
        return extra
