"""The linear tetrahedron as six rows (theory section 3): strain, its transpose, compliance, plasticity, stiffness.

Nodes 0..3, rest gradients g0, g1, g2 (nine numbers, the rows of B = Dm^-1), g3 = -(g0 + g1 + g2). Strain order is
Voigt's (xx, yy, zz, yz, xz, xy) with engineering shear. `basis` (9 numbers, orthogonal) rotates the three normal
components: identity, or the eigenvectors of the isotropic law, which make the compliance diagonal (BV after eq. 36).
"""

import math

from pliant.formulas.matrix3 import multiply, multiply_vector, transpose_multiply, transpose_multiply_vector
from pliant.jit import formula


@formula
def element_gradient(d0, d1, d2, g):
    """Gradient sum_i d_i g_i^T (9) of a linear field, from its differences d_i = a_i - a_3 and the rest gradients g."""
    return (
        d0[0] * g[0] + d1[0] * g[3] + d2[0] * g[6],
        d0[0] * g[1] + d1[0] * g[4] + d2[0] * g[7],
        d0[0] * g[2] + d1[0] * g[5] + d2[0] * g[8],
        d0[1] * g[0] + d1[1] * g[3] + d2[1] * g[6],
        d0[1] * g[1] + d1[1] * g[4] + d2[1] * g[7],
        d0[1] * g[2] + d1[1] * g[5] + d2[1] * g[8],
        d0[2] * g[0] + d1[2] * g[3] + d2[2] * g[6],
        d0[2] * g[1] + d1[2] * g[4] + d2[2] * g[7],
        d0[2] * g[2] + d1[2] * g[5] + d2[2] * g[8],
    )


@formula
def strain_rate(gradient, rotation, basis):
    """J a: the six strain rates of R^T (velocity gradient)."""
    s = transpose_multiply(rotation, gradient)
    normal = multiply_vector(basis, (s[0], s[4], s[8]))
    return (normal[0], normal[1], normal[2], s[5] + s[7], s[2] + s[6], s[1] + s[3])


@formula
def corotated_strain(f, rotation, basis):
    """e = B6 (R^T x - X): the six strains of R^T F - I (theory section 3; rest positions are not rotated)."""
    s = transpose_multiply(rotation, f)
    normal = multiply_vector(basis, (s[0] - 1.0, s[4] - 1.0, s[8] - 1.0))
    return (normal[0], normal[1], normal[2], s[5] + s[7], s[2] + s[6], s[1] + s[3])


@formula
def element_impulses(impulse, rotation, g, basis):
    """J^T lambda: impulses of nodes 0, 1, 2 (nine numbers); that of node 3 is minus their sum."""
    n = transpose_multiply_vector(basis, (impulse[0], impulse[1], impulse[2]))
    stress = (n[0], impulse[5], impulse[4], impulse[5], n[1], impulse[3], impulse[4], impulse[3], n[2])
    world = multiply(rotation, stress)
    i0 = multiply_vector(world, (g[0], g[1], g[2]))
    i1 = multiply_vector(world, (g[3], g[4], g[5]))
    i2 = multiply_vector(world, (g[6], g[7], g[8]))
    return (i0[0], i0[1], i0[2], i1[0], i1[1], i1[2], i2[0], i2[1], i2[2])


@formula
def element_compliance(impulse, single, coupled, ones):
    """R_c lambda for the isotropic law: single = (1+nu)/(E s), coupled = -nu/(E s), s = h (h+beta) V; ones = basis
    (1,1,1)."""
    total = coupled * (ones[0] * impulse[0] + ones[1] * impulse[1] + ones[2] * impulse[2])
    double = single + single
    return (
        single * impulse[0] + total * ones[0],
        single * impulse[1] + total * ones[1],
        single * impulse[2] + total * ones[2],
        double * impulse[3],
        double * impulse[4],
        double * impulse[5],
    )


@formula
def element_stress(strain, lam, mu):
    """sigma = D e in Voigt order (tensor shear stress from engineering shear strain), identity basis."""
    trace = lam * (strain[0] + strain[1] + strain[2])
    return (
        trace + 2.0 * mu * strain[0],
        trace + 2.0 * mu * strain[1],
        trace + 2.0 * mu * strain[2],
        mu * strain[3],
        mu * strain[4],
        mu * strain[5],
    )


@formula
def strain_norm(e):
    return math.sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2] + e[3] * e[3] + e[4] * e[4] + e[5] * e[5])


@formula
def plastic_update(strain, plastic, yield_strain, creep_fraction, max_strain):
    """New plastic strain (BV algorithm 1); creep_fraction = min(h creep, 1)."""
    e0, e1, e2 = strain[0] - plastic[0], strain[1] - plastic[1], strain[2] - plastic[2]
    e3, e4, e5 = strain[3] - plastic[3], strain[4] - plastic[4], strain[5] - plastic[5]
    flow = creep_fraction if strain_norm((e0, e1, e2, e3, e4, e5)) > yield_strain else 0.0
    p = (
        plastic[0] + flow * e0,
        plastic[1] + flow * e1,
        plastic[2] + flow * e2,
        plastic[3] + flow * e3,
        plastic[4] + flow * e4,
        plastic[5] + flow * e5,
    )
    size = strain_norm(p)
    shrink = max_strain / size if size > max_strain else 1.0
    return (shrink * p[0], shrink * p[1], shrink * p[2], shrink * p[3], shrink * p[4], shrink * p[5])


@formula
def stiffness_block(a, b, lam, mu):
    """Block (i, j) of V^-1 K_R for rotated gradients a = R g_i, b = R g_j: lam a b^T + mu b a^T + mu (a.b) I (9)."""
    ab = mu * (a[0] * b[0] + a[1] * b[1] + a[2] * b[2])
    return (
        (lam + mu) * a[0] * b[0] + ab,
        lam * a[0] * b[1] + mu * b[0] * a[1],
        lam * a[0] * b[2] + mu * b[0] * a[2],
        lam * a[1] * b[0] + mu * b[1] * a[0],
        (lam + mu) * a[1] * b[1] + ab,
        lam * a[1] * b[2] + mu * b[1] * a[2],
        lam * a[2] * b[0] + mu * b[2] * a[0],
        lam * a[2] * b[1] + mu * b[2] * a[1],
        (lam + mu) * a[2] * b[2] + ab,
    )
