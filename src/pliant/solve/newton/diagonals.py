"""Diagonal blocks of the primal system: their inverses, and the bound of the spectrum that follows from them."""

import numpy as np

from pliant.kernels.matrices import RowTerms, SlicedMatrix


class Diagonals:
    """The inverse diagonal blocks of a matrix as it was assembled, without rows."""

    def __init__(self, device, matrix: SlicedMatrix, extra: np.ndarray, free: np.ndarray):
        """extra (slices, 9, LANES): what the operator has beyond the matrix. free: flat."""
        self.kernels, self.matrix, self.extra, self.free = device.linalg, matrix, extra, free
        self.bare, self.work = np.empty_like(extra), extra.copy()
        self.touched = np.zeros((len(extra), extra.shape[2]), np.int8)
        self.kernels.sliced.invert_diagonals(matrix.start, matrix.values, extra, self.bare)

    def write(self, rows: RowTerms, out: np.ndarray) -> None:
        """Inverse diagonal blocks (slices, 9, LANES) with what rows add, of the few triples on which they act."""
        np.copyto(out, self.bare)
        if len(rows.start) > 1:
            numbers = (self.matrix.start, self.matrix.values, self.extra, self.work, self.touched, out)
            self.kernels.row_diagonals.invert_touched(rows, self.free, *numbers)


def lowest_bound(pattern, inverse: np.ndarray, free: np.ndarray, mass: np.ndarray) -> float:
    """A lower bound of the spectrum of a preconditioned matrix, 0 where there is none: what mass blocks (n, 3, 3) are
    of the diagonal blocks of the preconditioner, inverse (slices, 9, LANES), to which all else of it only adds."""
    rows = [pattern.unpack(np.ascontiguousarray(inverse[:, 3 * r : 3 * r + 3])) for r in range(3)]
    both = free[:, :, None] * free[:, None, :]
    mass = both * mass + np.eye(3) * (1.0 - both)
    ratio = np.trace(np.linalg.solve(mass, np.linalg.inv(np.stack(rows, axis=1))), axis1=1, axis2=2)
    return 1.0 / ratio.max(initial=1.0) if np.isfinite(ratio).all() and (ratio > 0.0).all() else 0.0
