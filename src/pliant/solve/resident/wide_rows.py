"""Row blocks of a step as a device's linear systems take them: what they hold, and rigid bodies eliminated.

Rows add J^T G J to the matrix. Of nodes s and rigid bodies r, of which there are few, the latter are eliminated: with
A_rr = M_r + J_r^T G J_r the nodes see J_s^T W J_s, W = G - G J_r A_rr^-1 J_r^T G.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse import bsr_matrix, csr_matrix

from pliant.rows.table import Rows

# Places of the six numbers of a symmetric block (xx, yy, zz, yz, xz, xy) in a full one, and back.
FULL, HALF = (0, 5, 4, 5, 1, 3, 4, 3, 2), (0, 4, 8, 5, 2, 1)
# Eigenvalues of the rigid bodies' matrix below this part of the largest are taken for it.
LEAST = 1e-14
# Numbers of rigid bodies up to which their matrix is factorised by loops of its own, beyond by a library that is
# quicker with large ones.
SMALL = 150


@dataclass
class ActiveRows:
    """Row blocks (m) with a curvature: weight (m, 3, 3); of their entries, sorted by block, block, triple (k,) and
    jacobian (k, 3, 3) over free components; joint (m,): whether a joint's."""

    weight: np.ndarray
    joint: np.ndarray
    block: np.ndarray
    triple: np.ndarray
    jacobian: np.ndarray

    @classmethod
    def of(cls, rows: Rows, curvature: np.ndarray, free: np.ndarray, joint_slices: int) -> "ActiveRows":
        """Those of a table with curvatures (slices, 6, LANES); free (triples, 3)."""
        active = np.any(curvature != 0, axis=1)
        slice_, lane = np.nonzero(active)
        number = np.cumsum(active.ravel()).reshape(active.shape) - 1
        owner = np.repeat(np.arange(rows.slices), np.diff(rows.start))
        entry, at = np.nonzero(active[owner])
        triple = rows.triples[entry, at].astype(np.int64)
        jacobian = rows.jacobian[entry, :, at].reshape(-1, 3, 3) * free[triple][:, None, :]
        block, there = number[owner[entry], at], np.any(jacobian, axis=(1, 2))
        order = np.flatnonzero(there)[np.argsort(block[there], kind="stable")]
        weight = curvature[slice_, :, lane][:, FULL].reshape(-1, 3, 3)
        return cls(weight, slice_ < joint_slices, block[order], triple[order], jacobian[order])

    def these(self, which: np.ndarray) -> "ActiveRows":
        """The row blocks of these numbers, in their order."""
        place = np.full(len(self.weight), -1)
        place[which] = np.arange(len(which))
        own = np.flatnonzero(place[self.block] >= 0)
        own = own[np.argsort(place[self.block[own]], kind="stable")]
        entries = (place[self.block[own]], self.triple[own], self.jacobian[own])
        return ActiveRows(self.weight[which], self.joint[which], *entries)

    def entries(self, which: np.ndarray) -> "ActiveRows":
        """All row blocks with the entries (k,) that a mask says."""
        return ActiveRows(self.weight, self.joint, self.block[which], self.triple[which], self.jacobian[which])

    def matrix(self, place: np.ndarray, width: int) -> csr_matrix:
        """The Jacobian (3 m, width), with triples at `place` (triples,)."""
        row = 3 * self.block[:, None, None] + np.arange(3)[:, None]
        column = place[self.triple][:, None, None] + np.arange(3)
        where = [np.broadcast_to(each, self.jacobian.shape).ravel() for each in (row, column)]
        return csr_matrix((self.jacobian.ravel(), where), shape=(3 * len(self.weight), width))

    def weights(self) -> bsr_matrix:
        """G (3 m, 3 m)."""
        m = len(self.weight)
        return bsr_matrix((self.weight, np.arange(m), np.arange(m + 1)), shape=(3 * m, 3 * m))

    def diagonals(self) -> np.ndarray:
        """J^T G J of every entry (k, 6)."""
        found = np.einsum("kri,krs,ksj->kij", self.jacobian, self.weight[self.block], self.jacobian, optimize=True)
        return found.reshape(-1, 9)[:, HALF]


class RigidPart:
    """The free rigid bodies of a linear system: A_rr with what rows make of it, solved exactly."""

    def __init__(self, bodies: np.ndarray, node_count: int, triple_count: int, linalg):
        """bodies: numbers of those that are free; linalg: kernels of dense matrices."""
        self.linalg = linalg
        self.triples = (node_count + 2 * bodies[:, None] + np.arange(2)).ravel()
        self.place = np.full(triple_count, -1)
        self.place[self.triples] = 3 * np.arange(len(self.triples))
        self.size, self.positive = 3 * len(self.triples), True

    def take(self, mass: np.ndarray, rows: ActiveRows) -> None:
        """Take mass blocks (triples, 3, 3) and row blocks for the next solves."""
        own = rows.entries(self.place[rows.triple] >= 0)
        self.rows, self.jacobian = rows, own.matrix(self.place, self.size)
        self.pushing = (own.weights() @ self.jacobian).toarray()  # G J_r
        matrix = self.jacobian.T @ self.pushing
        self.mass = mass[self.triples]
        for k, block in enumerate(self.mass):
            matrix[3 * k : 3 * k + 3, 3 * k : 3 * k + 3] += block
        self.diagonal = np.stack([matrix[k : k + 3, k : k + 3] for k in range(0, self.size, 3)])
        self._factorise(0.5 * (matrix + matrix.T))

    def _factorise(self, matrix: np.ndarray) -> None:
        """Factors, or, where bodies under load would give way, those of the matrix without negative directions."""
        self.positive = self._take_factors(matrix)
        if not self.positive:
            values, vectors = np.linalg.eigh(matrix)
            values = np.maximum(np.abs(values), LEAST * np.abs(values).max())
            self._take_factors(np.einsum("ik,k,jk->ij", vectors, values, vectors))

    def _take_factors(self, matrix: np.ndarray) -> bool:
        """Whether the matrix is positive, and so has factors."""
        if self.size <= SMALL:
            self.factor = matrix.copy()
            return self.linalg.dense.factorise_lower(self.factor)
        try:
            self.factor = cho_factor(matrix, lower=True, check_finite=False)
        except np.linalg.LinAlgError:
            return False
        return True

    def solve(self, right: np.ndarray) -> np.ndarray:
        """A_rr^-1 times numbers (size,) or (size, k)."""
        if self.size > SMALL:
            return cho_solve(self.factor, right, check_finite=False)
        found = np.array(right, order="C").reshape(self.size, -1)
        self.linalg.elimination.solve_columns(self.factor, found)
        return found.reshape(right.shape)

    def local_square(self, g: np.ndarray) -> float:
        """g^T D^-1 g of triples (b, 3) with the diagonal blocks D."""
        if not self.size:
            return 0.0
        answer = np.linalg.solve(self.diagonal, g[:, :, None])[:, :, 0]
        return float(np.sum(g * answer))

    def response(self, which: np.ndarray) -> np.ndarray:
        """A_rr^-1 J_r^T G (size, 3 k) of some row blocks (k,): what rates of these move bodies by."""
        rows = (3 * which[:, None] + np.arange(3)).ravel()
        return self.solve(self.pushing[rows].T)

    def weight(self, which: np.ndarray) -> np.ndarray:
        """W (3 k, 3 k) of some row blocks: their weights less what bodies give way."""
        rows = (3 * which[:, None] + np.arange(3)).ravel()
        given_way = np.einsum("ik,kj->ij", self.pushing[rows], self.response(which))
        return self.rows.these(which).weights().toarray() - given_way
