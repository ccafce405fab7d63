"""The primal system without its matrix: products straight from the elements (S algorithm 2), block Jacobi."""

import numpy as np

from pliant.kernels.cpu.linalg.pcg import ElementMatrix
from pliant.kernels.cpu.stiffness import DATA, ElementTerms, add_element_diagonals, pack_damping, pack_elements
from pliant.kernels.lanes import LANES
from pliant.rows.table import Rows
from pliant.solve.newton.primal_system import PrimalSystem


class MatrixFreeSystem(PrimalSystem):
    """The matrix of a model whose elements are not assembled: 30 float32 numbers each."""

    def __init__(self, model):
        super().__init__(model, Rows.empty(model.joints.start), "matrix-free")

    def _make_room(self, model, dtype) -> None:
        groups = len(model.volume)
        self.blocks = np.zeros((1, 10, 9), dtype)  # none are assembled
        self.data = np.zeros((1 + bool(np.any(model.damping > 0)), groups, DATA, LANES), dtype)
        places = self.offsets[model.element_nodes]
        slots = np.zeros(groups * 12 * LANES + 1, dtype)
        own = self.offsets[: self.node_count]
        self.adjacency = (model.adjacency_start, model.adjacency, own)
        values = np.empty((len(self.pattern.column), 9, LANES), dtype)
        numbers = (self.pattern.start, self.pattern.column, values)
        self.matrix = ElementMatrix(*numbers, self.data, places, slots, *self.adjacency)

    def _pattern_elements(self, model) -> np.ndarray:
        """Only mass and rigid bodies have blocks of their own."""
        return model.tets[:0]

    def take(self, terms: ElementTerms) -> None:
        pack_elements(terms.frames, terms.gradients, terms.moduli, self.data[0])
        if terms.damped:
            geometry = (terms.rotation, terms.rest_gradients)
            pack_damping(*geometry, terms.lam, terms.mu, terms.damping_weight, self.data[1])

    def _extra_diagonals(self) -> np.ndarray:
        extra = super()._extra_diagonals()
        for data in self.data:
            add_element_diagonals(data, *self.adjacency, self.packed_free.ravel(), extra)
        return extra
