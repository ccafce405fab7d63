"""3x3 algebra on tuples: a vector is (x, y, z), a matrix is nine numbers row by row, a symmetric one six.

Symmetric order is Voigt's: xx, yy, zz, yz, xz, xy. No literal constants here, so float32 stays float32 (but in
`positive_inverse`).
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
def outer(s, v):
    """s v^T (9)."""
    return (
        s[0] * v[0],
        s[0] * v[1],
        s[0] * v[2],
        s[1] * v[0],
        s[1] * v[1],
        s[1] * v[2],
        s[2] * v[0],
        s[2] * v[1],
        s[2] * v[2],
    )


@formula
def negative(a):
    """-a (9)."""
    return (-a[0], -a[1], -a[2], -a[3], -a[4], -a[5], -a[6], -a[7], -a[8])


@formula
def add_matrices(a, b):
    """a + b (9)."""
    return (
        a[0] + b[0],
        a[1] + b[1],
        a[2] + b[2],
        a[3] + b[3],
        a[4] + b[4],
        a[5] + b[5],
        a[6] + b[6],
        a[7] + b[7],
        a[8] + b[8],
    )


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
def positive_definite(s):
    """Whether a symmetric matrix (xx, yy, zz, yz, xz, xy) is, by its leading minors."""
    minor = s[0] * s[1] - s[5] * s[5]
    first, second = s[5] * s[3] - s[1] * s[4], s[4] * s[5] - s[0] * s[3]
    return s[0] > 0.0 and minor > 0.0 and s[4] * first + s[3] * second + s[2] * minor > 0.0


@formula
def symmetric_inverse(s):
    """Inverse of a symmetric positive matrix in Voigt order, of any size: no product of three of its numbers."""
    l10, l20 = s[5] / s[0], s[4] / s[0]
    d1, rest = s[1] - l10 * s[5], s[3] - l20 * s[5]
    l21 = rest / d1
    one = s[0] / s[0]
    pivots = (one / s[0], one / d1, one / (s[2] - l20 * s[4] - l21 * rest))
    return _inverse_of_factors(l10, l20, l21, pivots)


@formula
def positive_inverse(s, least):
    """A positive matrix in Voigt order, in float64: the inverse of s where s is positive.

    Pivots count by their size, and for no less than the part `least` of their diagonal number (below that they are
    rounding); components that have nothing at all stay zero.
    """
    i0 = _positive_reciprocal(s[0], s[0], least)
    l10, l20 = s[5] * i0, s[4] * i0
    i1 = _positive_reciprocal(s[1] - l10 * s[5], s[1], least)
    rest = s[3] - l20 * s[5]
    l21 = rest * i1
    i2 = _positive_reciprocal(s[2] - l20 * s[4] - l21 * rest, s[2], least)
    return _inverse_of_factors(l10, l20, l21, (i0, i1, i2))


@formula
def _positive_reciprocal(pivot, whole, least):
    size = max(abs(pivot), least * abs(whole))
    return 1.0 / size if size > 0.0 else 0.0


@formula
def _inverse_of_factors(l10, l20, l21, inverse_pivots):
    """(L D L^T)^-1 in Voigt order from the unit triangle L and 1 / D."""
    i0, i1, i2 = inverse_pivots
    m20 = l10 * l21 - l20
    zx, zy = m20 * i2, -l21 * i2
    yx = -l10 * i1 - l21 * zx
    return (i0 + l10 * l10 * i1 + m20 * zx, i1 + l21 * l21 * i2, i2, zy, zx, yx)
