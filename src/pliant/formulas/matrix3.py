"""3x3 algebra on tuples: a vector is (x, y, z), a matrix is nine numbers row by row, a symmetric one six.

Symmetric order is Voigt's: xx, yy, zz, yz, xz, xy. No literal constants here, so float32 stays float32.
"""

import math

from pliant.jit import formula


@formula
def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@formula
def cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


@formula
def add(a, b):
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


@formula
def subtract(a, b):
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


@formula
def scale(s, a):
    return (s * a[0], s * a[1], s * a[2])


@formula
def norm(a):
    return math.sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2])


@formula
def transpose(a):
    return (a[0], a[3], a[6], a[1], a[4], a[7], a[2], a[5], a[8])


@formula
def multiply_vector(a, v):
    """a v"""
    return (
        a[0] * v[0] + a[1] * v[1] + a[2] * v[2],
        a[3] * v[0] + a[4] * v[1] + a[5] * v[2],
        a[6] * v[0] + a[7] * v[1] + a[8] * v[2],
    )


@formula
def transpose_multiply_vector(a, v):
    """a^T v"""
    return (
        a[0] * v[0] + a[3] * v[1] + a[6] * v[2],
        a[1] * v[0] + a[4] * v[1] + a[7] * v[2],
        a[2] * v[0] + a[5] * v[1] + a[8] * v[2],
    )


@formula
def multiply(a, b):
    """a b"""
    return (
        a[0] * b[0] + a[1] * b[3] + a[2] * b[6],
        a[0] * b[1] + a[1] * b[4] + a[2] * b[7],
        a[0] * b[2] + a[1] * b[5] + a[2] * b[8],
        a[3] * b[0] + a[4] * b[3] + a[5] * b[6],
        a[3] * b[1] + a[4] * b[4] + a[5] * b[7],
        a[3] * b[2] + a[4] * b[5] + a[5] * b[8],
        a[6] * b[0] + a[7] * b[3] + a[8] * b[6],
        a[6] * b[1] + a[7] * b[4] + a[8] * b[7],
        a[6] * b[2] + a[7] * b[5] + a[8] * b[8],
    )


@formula
def transpose_multiply(a, b):
    """a^T b"""
    return multiply(transpose(a), b)


@formula
def multiply_transpose(a, b):
    """a b^T"""
    return multiply(a, transpose(b))


@formula
def determinant(a):
    return a[0] * (a[4] * a[8] - a[5] * a[7]) - a[1] * (a[3] * a[8] - a[5] * a[6]) + a[2] * (a[3] * a[7] - a[4] * a[6])


@formula
def symmetric_multiply_vector(s, v):
    """s v for a symmetric matrix in Voigt order."""
    return (
        s[0] * v[0] + s[5] * v[1] + s[4] * v[2],
        s[5] * v[0] + s[1] * v[1] + s[3] * v[2],
        s[4] * v[0] + s[3] * v[1] + s[2] * v[2],
    )


@formula
def rotate_symmetric_diagonal(a, d):
    """a diag(d) a^T as a symmetric matrix in Voigt order (a body inertia seen in world axes)."""
    return (
        a[0] * d[0] * a[0] + a[1] * d[1] * a[1] + a[2] * d[2] * a[2],
        a[3] * d[0] * a[3] + a[4] * d[1] * a[4] + a[5] * d[2] * a[5],
        a[6] * d[0] * a[6] + a[7] * d[1] * a[7] + a[8] * d[2] * a[8],
        a[3] * d[0] * a[6] + a[4] * d[1] * a[7] + a[5] * d[2] * a[8],
        a[0] * d[0] * a[6] + a[1] * d[1] * a[7] + a[2] * d[2] * a[8],
        a[0] * d[0] * a[3] + a[1] * d[1] * a[4] + a[2] * d[2] * a[5],
    )


@formula
def symmetric_inverse(s):
    """Inverse of a symmetric matrix in Voigt order."""
    a, b, c, d, e, f = s
    aa, bb, cc = b * c - d * d, a * c - e * e, a * b - f * f
    dd, ee, ff = e * f - a * d, d * f - b * e, d * e - c * f
    determinant_ = a * aa + f * ff + e * ee
    return (
        aa / determinant_,
        bb / determinant_,
        cc / determinant_,
        dd / determinant_,
        ee / determinant_,
        ff / determinant_,
    )
