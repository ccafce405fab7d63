"""Run in a process of its own with Numba's CUDA simulator: the inverse of the coarse matrix by one block of threads,
against NumPy's, with motions that are none left out."""

import sys
from types import SimpleNamespace

import numpy as np
from numba import cuda

# instructions of a GPU: of a barrier of one block nothing is left but its own, and the simulator has no quick division
sys.modules["pliant.kernels.cuda.ptx"] = SimpleNamespace(acquire=None, release=None, load4=None, store4=None)
from pliant.kernels.cuda import coarse_inverse  # noqa: E402

coarse_inverse.make_meet = lambda blocks: cuda.jit(device=True)(lambda flags, tid, block, epoch: cuda.syncthreads())
coarse_inverse.fast_fdividef = lambda a, b: a / b


def found_inverse(matrix: np.ndarray, at_hand: bool) -> np.ndarray:
    """What one block of threads makes of a matrix (n, n)."""
    n = len(matrix)
    kernel = coarse_inverse.make_invert(1, n // 6, n, at_hand)
    inverse, zeros = np.zeros(n * n, np.float32), np.zeros(2 * coarse_inverse.PANEL * n)
    work = (matrix.ravel().copy(), zeros, np.zeros(n), inverse, np.zeros(1, np.int64), np.zeros(1, np.int64))
    kernel[1, coarse_inverse.THREADS, 0, 8 * n * n if at_hand else 0](*work)
    return inverse.reshape(n, n).astype(float)


def main() -> None:
    coarse_inverse.THREADS = 36
    rng = np.random.default_rng(0)
    for n, at_hand in (
        (18, False),
        (48, True),
    ):  # by three blocks of six pivots, and by eight
        root = rng.normal(size=(n, n + 4)) * rng.uniform(0.1, 10.0, (n, 1))
        matrix = root @ root.T
        none = (4, 9, n - 1)  # the first of two pivots, the second of two
        for k in none:
            matrix[k] = matrix[:, k] = 0.0
        there = np.setdiff1d(np.arange(n), none)
        expected = np.zeros((n, n))
        expected[np.ix_(there, there)] = np.linalg.inv(matrix[np.ix_(there, there)])
        scale = np.sqrt(np.maximum(np.diag(matrix), 1e-30))
        found = found_inverse(matrix, at_hand)
        error = scale[:, None] * (found - expected) * scale
        assert np.abs(error).max() < 1e-6 * np.abs(scale[:, None] * expected * scale).max(), n
    print("simulated")


main()
