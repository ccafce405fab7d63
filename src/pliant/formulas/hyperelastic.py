"""From principal stretches to stresses and stiffness of an isotropic element (S 4.3; Smith, de Goes and Kim 2019).

With F = U diag(s) V^T and principal stresses p = dpsi/ds, P = U diag(p) V^T. In the frames U, V a change of F moves the
diagonal by A = d2psi/ds2 and each pair (i, j) of off-diagonal entries by two moduli: `symmetric` (p_i - p_j) / (s_i -
s_j) on their symmetric part and `skew` (p_i + p_j) / (s_i + s_j) on their skew part. Pairs are in the order 12, 02, 01.
A linear law is the same with U = V = I, symmetric = 2 mu, skew = 0.
"""

from pliant.formulas.matrix3 import multiply, multiply_transpose, multiply_vector, transpose_multiply
from pliant.formulas.svd import positive_part
from pliant.jit import formula

# Stretches closer than this have the limit of the symmetric modulus taken.
CLOSE = 1e-5
# Least sum of two stretches in the skew modulus: beyond lies the jump of the rotation of an inverted element.
LEAST_SUM = 1e-6


@formula
def principal_stress(u, p, v):
    """P = U diag(p) V^T (9)."""
    scaled = (u[0] * p[0], u[1] * p[1], u[2] * p[2], u[3] * p[0], u[4] * p[1], u[5] * p[2], u[6] * p[0], u[7] * p[1])
    return multiply_transpose((*scaled, u[8] * p[2]), v)


@formula
def symmetric_modulus(si, sj, pi, pj, dii, djj, dij):
    """(p_i - p_j) / (s_i - s_j), or its limit."""
    difference = si - sj
    close = abs(difference) < CLOSE
    return 0.5 * (dii + djj) - dij if close else (pi - pj) / (1.0 if close else difference)


@formula
def skew_modulus(si, sj, pi, pj):
    """(p_i + p_j) / (s_i + s_j)"""
    return (pi + pj) / max(si + sj, LEAST_SUM)


@formula
def moduli(s, p, d):
    """A (6), symmetric (3) and skew (3) moduli from stretches, principal stresses and their derivatives."""
    return (
        d,
        (
            symmetric_modulus(s[1], s[2], p[1], p[2], d[1], d[2], d[3]),
            symmetric_modulus(s[0], s[2], p[0], p[2], d[0], d[2], d[4]),
            symmetric_modulus(s[0], s[1], p[0], p[1], d[0], d[1], d[5]),
        ),
        (
            skew_modulus(s[1], s[2], p[1], p[2]),
            skew_modulus(s[0], s[2], p[0], p[2]),
            skew_modulus(s[0], s[1], p[0], p[1]),
        ),
    )


@formula
def positive_moduli(a, symmetric, skew):
    """The nearest moduli of a positive semi-definite stiffness."""
    return (
        positive_part(a),
        (max(symmetric[0], 0.0), max(symmetric[1], 0.0), max(symmetric[2], 0.0)),
        (max(skew[0], 0.0), max(skew[1], 0.0), max(skew[2], 0.0)),
    )


@formula
def principal_differential(f, a, symmetric, skew):
    """U^T dP V (9) for f = U^T dF V (9)."""
    s12, k12 = 0.5 * symmetric[0] * (f[5] + f[7]), 0.5 * skew[0] * (f[5] - f[7])
    s02, k02 = 0.5 * symmetric[1] * (f[2] + f[6]), 0.5 * skew[1] * (f[2] - f[6])
    s01, k01 = 0.5 * symmetric[2] * (f[1] + f[3]), 0.5 * skew[2] * (f[1] - f[3])
    return (
        a[0] * f[0] + a[5] * f[4] + a[4] * f[8],
        s01 + k01,
        s02 + k02,
        s01 - k01,
        a[5] * f[0] + a[1] * f[4] + a[3] * f[8],
        s12 + k12,
        s02 - k02,
        s12 - k12,
        a[4] * f[0] + a[3] * f[4] + a[2] * f[8],
    )


@formula
def stress_differential(df, u, v, a, symmetric, skew):
    """dP (9) for a change dF (9) of the deformation gradient (S algorithm 2)."""
    p = principal_differential(transpose_multiply(u, multiply(df, v)), a, symmetric, skew)
    return multiply_transpose(multiply(u, p), v)


@formula
def principal_block(g, k, a, symmetric, skew):
    """Block of the stiffness per volume of two nodes with gradients g, k seen in V, in the frame U (9)."""
    plus = (0.5 * (symmetric[0] + skew[0]), 0.5 * (symmetric[1] + skew[1]), 0.5 * (symmetric[2] + skew[2]))
    minus = (0.5 * (symmetric[0] - skew[0]), 0.5 * (symmetric[1] - skew[1]), 0.5 * (symmetric[2] - skew[2]))
    q0, q1, q2 = g[0] * k[0], g[1] * k[1], g[2] * k[2]
    return (
        a[0] * q0 + plus[2] * q1 + plus[1] * q2,
        a[5] * g[0] * k[1] + minus[2] * g[1] * k[0],
        a[4] * g[0] * k[2] + minus[1] * g[2] * k[0],
        a[5] * g[1] * k[0] + minus[2] * g[0] * k[1],
        a[1] * q1 + plus[2] * q0 + plus[0] * q2,
        a[3] * g[1] * k[2] + minus[0] * g[2] * k[1],
        a[4] * g[2] * k[0] + minus[1] * g[0] * k[2],
        a[3] * g[2] * k[1] + minus[0] * g[1] * k[2],
        a[2] * q2 + plus[1] * q0 + plus[0] * q1,
    )


@formula
def world_block(u, block):
    """U block U^T (9)."""
    return multiply_transpose(multiply(u, block), u)


@formula
def nodal_gradients(p, g):
    """dpsi/dx of nodes 0, 1, 2 (nine numbers) from P and the rest gradients g (9); that of node 3 is minus their
    sum."""
    i0 = multiply_vector(p, (g[0], g[1], g[2]))
    i1 = multiply_vector(p, (g[3], g[4], g[5]))
    i2 = multiply_vector(p, (g[6], g[7], g[8]))
    return (i0[0], i0[1], i0[2], i1[0], i1[1], i1[2], i2[0], i2[1], i2[2])
