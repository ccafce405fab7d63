"""Box-constrained quadratic problems and frictional contact problems given by a plain matrix.

The engine's own problems are matrix-free; this is the same two methods for a dense matrix that somebody else assembled.
"""

from dataclasses import dataclass

import numpy as np

from pliant.errors import SolverError
from pliant.kernels.device import HOST
from pliant.kernels.operators import DenseOperator, Friction, no_friction

POWER_ITERATIONS = 30
METHODS = ("mprgp", "pgs")


@dataclass(frozen=True)
class BoxInfo:
    """What a solve took: matrix products (MPRGP) or sweeps (PGS), relative residual, whether it met the tolerance."""

    method: str
    iterations: int
    residual: float
    converged: bool
    refreshes: int = 0


def solve_box_qp(
    matrix,
    b,
    low=-np.inf,
    high=np.inf,
    friction=None,
    *,
    method: str = "mprgp",
    cone: bool = True,
    tolerance: float = 1e-10,
    max_iterations: int = 100_000,
) -> tuple[np.ndarray, BoxInfo]:
    """Solve min 1/2 x A x - b x with low <= x <= high, or a contact problem with Coulomb friction; returns x, info.

    matrix (n, n): symmetric positive semidefinite for "mprgp"; "pgs" takes any matrix with positive diagonal and solves
    the complementarity problem w = A x - b, but converges only for some. b (n,); low, high (n,) or one number.
    friction (contacts,): Coulomb's coefficients; the rows 3k, 3k + 1, 3k + 2 are then the normal and the two tangents
    of contact k, bounded by 0 <= normal and |tangents| <= coefficient * normal (a disc, or a square with cone=False),
    and low and high only apply to rows after the contacts.
    tolerance: of the projected gradient relative to b, both scaled by 1 / sqrt(diagonal).
    A row whose diagonal entry is zero has no curvature: its variable goes to the bound that b asks for.
    """
    matrix, b = np.ascontiguousarray(matrix, dtype=float), np.array(b, dtype=float)
    if b.ndim != 1 or matrix.shape != (len(b), len(b)):
        raise SolverError(f"a box problem needs a square matrix and a vector, got {matrix.shape} and {b.shape}")
    if method not in METHODS:
        raise SolverError(f"method must be one of {', '.join(METHODS)}, got {method!r}")
    if not (np.all(np.isfinite(matrix)) and np.all(np.isfinite(b))):
        raise SolverError("the matrix and the right-hand side of a box problem must be finite")
    low, high = (np.broadcast_to(np.asarray(bound, float), b.shape).copy() for bound in (low, high))
    coefficient = np.zeros(0) if friction is None else np.atleast_1d(np.asarray(friction, dtype=float))
    _bound_contacts(coefficient, low, high)
    if np.any(low > high) or np.any(np.isnan(low) | np.isnan(high)):
        raise SolverError("the bounds of a box problem must satisfy low <= high")
    diagonal = np.diag(matrix).copy()
    flat = _flat_rows(matrix, diagonal, method)
    scale = 1 / np.sqrt(np.where(flat, 1.0, diagonal))
    x = np.clip(np.zeros(len(b)), low, high)
    x[flat] = _flat_values(b[flat], low[flat], high[flat])
    low[flat] = high[flat] = x[flat]
    scaled_low, scaled_high = low / scale, high / scale
    y, work = x / scale, np.empty((4, len(b)))
    operator, right = DenseOperator(matrix, scale), b * scale

    def unscaled() -> np.ndarray:
        """x, exactly on a bound where y is on it."""
        rest = np.arange(len(b)) >= 3 * len(coefficient)
        result = np.where(rest & (y >= scaled_high), high, scale * y)
        return np.where(rest & (y <= scaled_low), low, result)

    contacts = _friction(coefficient, diagonal, cone)
    if method == "pgs":
        sweeps, residual, _ = HOST.linalg.pgs.solve_pgs(
            operator, right, scaled_low, scaled_high, contacts, y, work, tolerance, max_iterations
        )
        return unscaled(), BoxInfo(method, sweeps, residual, residual <= tolerance)
    direction = right + 1e-3 * np.abs(right).max(initial=1e-30)
    products, residual, refreshes, _ = HOST.linalg.mprgp.solve_mprgp(
        operator,
        right,
        scaled_low,
        scaled_high,
        contacts,
        y,
        work,
        tolerance,
        max_iterations,
        direction,
        POWER_ITERATIONS,
    )
    return unscaled(), BoxInfo(method, products, residual, residual <= tolerance, refreshes)


def _bound_contacts(coefficient: np.ndarray, low: np.ndarray, high: np.ndarray) -> None:
    """Bounds of the contacts' rows: the tangents start at zero, the solve opens them."""
    last = 3 * len(coefficient)
    if last > len(low):
        raise SolverError(f"{len(coefficient)} contacts need {last} rows, the matrix has {len(low)}")
    if np.any(coefficient < 0) or not np.all(np.isfinite(coefficient)):
        raise SolverError("friction coefficients must be finite and not negative")
    low[:last] = 0.0
    high[:last] = np.tile([np.inf, 0.0, 0.0], len(coefficient))


def _flat_rows(matrix: np.ndarray, diagonal: np.ndarray, method: str) -> np.ndarray:
    """Which rows vanish; refuses what the method cannot solve."""
    size = np.abs(matrix).max(initial=0.0)
    flat = diagonal <= 0
    if np.any(diagonal < 0) or np.any(np.abs(matrix[flat]) > 1e-14 * size):
        raise SolverError("a box problem needs a positive diagonal (or rows that are zero altogether)")
    if method == "mprgp" and np.abs(matrix - matrix.T).max(initial=0.0) > 1e-10 * size:
        raise SolverError("MPRGP needs a symmetric matrix; this one is not (PGS may do)")
    return flat


def _flat_values(b: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Minimisers of -b x within the bounds."""
    value = np.where(b > 0, high, np.where(b < 0, low, np.clip(0.0, low, high)))
    if not np.all(np.isfinite(value)):
        raise SolverError("the box problem has no minimum: a variable without curvature has no bound in its way")
    return value


def _friction(coefficient: np.ndarray, diagonal: np.ndarray, cone: bool) -> Friction:
    if not len(coefficient):
        return no_friction()
    normal = 3 * np.arange(len(coefficient))
    step = np.maximum(np.maximum(diagonal[normal + 1], diagonal[normal + 2]), np.finfo(float).tiny)
    return Friction(normal, normal + 1, normal + 2, coefficient, step, cone)
