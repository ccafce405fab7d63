"""The lowest modes of K phi = lambda M phi, with constraints: Lanczos iterations on a shifted inverse.

Rows J with a compliance R add J^T R^-1 J to K. They are kept as rows instead, [K - s M, J^T; J, -R], so that a tiny R
costs no digits: no large stiffness is ever added to a small one.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cholesky, eigh, solve_triangular
from scipy.sparse import bmat, csc_matrix
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh, splu

from pliant.errors import SolverError

# Up to so many unknowns all modes are computed densely.
DENSE = 300
# Modes of the inverse below this part of the largest are those that the constraints suppress.
SUPPRESSED = 1e-10
# Lanczos vectors are at least so many.
VECTORS = 40


@dataclass(frozen=True)
class Pencil:
    """K and M (n, n), rows J (r, n) and their compliances R (r,), all sparse but R."""

    stiffness: csc_matrix
    mass: csc_matrix
    jacobian: csc_matrix
    compliance: np.ndarray

    @property
    def size(self) -> int:
        """How many unknowns there are."""
        return self.stiffness.shape[0]


def lowest_modes(pencil: Pencil, count: int, shift: float) -> tuple[np.ndarray, np.ndarray]:
    """The lowest eigenvalues (k,) in ascending order and their vectors (n, k), phi^T M phi = 1; k <= count: as many as
    there are. shift < 0: near the lowest ones, on the scale of those wanted."""
    inverse = _shifted_inverse(pencil, shift)
    solve = _dense if pencil.size <= DENSE else _lanczos
    nu, vectors = solve(pencil, inverse, min(count, pencil.size))
    there = nu > SUPPRESSED * nu.max(initial=0.0)
    order = np.argsort(-nu[there])[:count]
    return shift + 1 / nu[there][order], _signed(vectors[:, there][:, order])


def _shifted_inverse(pencil: Pencil, shift: float):
    """x -> (K + J^T R^-1 J - shift M)^-1 x."""
    n, rows = pencil.size, len(pencil.compliance)
    shifted = pencil.stiffness - shift * pencil.mass
    corner = csc_matrix((-pencil.compliance, (np.arange(rows), np.arange(rows))), shape=(rows, rows))
    matrix = bmat([[shifted, pencil.jacobian.T], [pencil.jacobian, corner]], format="csc") if rows else shifted.tocsc()
    factors = splu(matrix, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.01, options={"SymmetricMode": True})

    def inverse(x: np.ndarray) -> np.ndarray:
        right = np.zeros((n + rows, *x.shape[1:]))
        right[:n] = x
        return factors.solve(right)[:n]

    return inverse


def _dense(pencil: Pencil, inverse, count: int) -> tuple[np.ndarray, np.ndarray]:
    """All modes of inverse M: with M = L L^T those of the symmetric matrix L^T inverse L."""
    lower = cholesky(pencil.mass.toarray(), lower=True)
    symmetric = lower.T @ inverse(lower)
    nu, vectors = eigh(0.5 * (symmetric + symmetric.T))
    return nu, solve_triangular(lower.T, vectors)


def _lanczos(pencil: Pencil, inverse, count: int) -> tuple[np.ndarray, np.ndarray]:
    """The largest modes of inverse M."""
    operator = LinearOperator(pencil.stiffness.shape, inverse, dtype=float)
    start = inverse(np.random.default_rng(0).standard_normal(pencil.size))
    vectors = min(max(2 * count + 1, VECTORS), pencil.size)
    # eigsh knows lambda only through the inverse: with K - s M replaced by its inverse, s = 0 returns 1 / nu
    arguments = {"sigma": 0.0, "OPinv": operator, "v0": start, "ncv": vectors}
    try:
        values, modes = eigsh(pencil.stiffness, count, pencil.mass, **arguments)
    except ArpackNoConvergence as error:
        raise SolverError(f"modes: only {len(error.eigenvalues)} of {count} converged; ask for fewer") from None
    return 1 / values, modes


def _signed(vectors: np.ndarray) -> np.ndarray:
    """Vectors (n, k) whose largest component is positive: a mode has no sign of its own."""
    largest = np.argmax(np.abs(vectors), axis=0)
    return vectors * np.sign(vectors[largest, np.arange(vectors.shape[1])])
