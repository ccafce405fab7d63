"""Rotations of single bodies in NumPy: unit quaternions (w, x, y, z) and matrices (3, 3); lengths of vectors."""

import numpy as np


def lengths(vectors: np.ndarray) -> np.ndarray:
    """Lengths (k,) of vectors (k, 3), in a fraction of the time that norms along an axis take."""
    return np.sqrt(np.einsum("ki,ki->k", vectors, vectors))


def largest_parts(vectors: np.ndarray) -> np.ndarray:
    """The largest components (k,), by their size, of vectors (k, 3), likewise."""
    sizes = np.abs(vectors)
    return np.maximum(np.maximum(sizes[:, 0], sizes[:, 1]), sizes[:, 2])


def rotation_matrix(quaternion) -> np.ndarray:
    """Rotation matrix (3, 3) of a unit quaternion (w, x, y, z)."""
    w, x, y, z = quaternion
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def nearest_rotation(matrix: np.ndarray) -> np.ndarray:
    """The rotation (3, 3) nearest to a matrix, its polar factor with determinant +1 (Kabsch 1976); the unit matrix for
    one that is not finite."""
    if not np.all(np.isfinite(matrix)):
        return np.eye(3)
    left, _, right = np.linalg.svd(matrix)
    left[:, 2] *= np.sign(np.linalg.det(left @ right))
    return left @ right


def matrix_quaternion(matrix: np.ndarray) -> np.ndarray:
    """Unit quaternion (w, x, y, z) of a rotation matrix, w >= 0."""
    m = matrix
    k = np.array(
        [
            [m[0, 0] + m[1, 1] + m[2, 2], m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]],
            [m[2, 1] - m[1, 2], m[0, 0] - m[1, 1] - m[2, 2], m[0, 1] + m[1, 0], m[0, 2] + m[2, 0]],
            [m[0, 2] - m[2, 0], m[0, 1] + m[1, 0], m[1, 1] - m[0, 0] - m[2, 2], m[1, 2] + m[2, 1]],
            [m[1, 0] - m[0, 1], m[0, 2] + m[2, 0], m[1, 2] + m[2, 1], m[2, 2] - m[0, 0] - m[1, 1]],
        ]
    )
    quaternion = np.linalg.eigh(k)[1][:, -1]
    return quaternion if quaternion[0] >= 0 else -quaternion


def multiply_quaternions(a, b) -> np.ndarray:
    """Quaternion product a b."""
    w, v = (
        a[0] * b[0] - np.dot(a[1:], b[1:]),
        a[0] * np.asarray(b[1:]) + b[0] * np.asarray(a[1:]) + np.cross(a[1:], b[1:]),
    )
    return np.concatenate([[w], v])


def axis_quaternion(axis) -> np.ndarray:
    """A unit quaternion that turns z into the direction of `axis`."""
    x, y, z = np.asarray(axis, dtype=float) / np.linalg.norm(axis)
    if z < -1 + 1e-12:
        return np.array([0.0, 1.0, 0.0, 0.0])
    quaternion = np.array([1 + z, -y, x, 0.0])
    return quaternion / np.linalg.norm(quaternion)


def conjugate(quaternion) -> np.ndarray:
    """The inverse of a unit quaternion."""
    return np.asarray(quaternion) * np.array([1.0, -1.0, -1.0, -1.0])
