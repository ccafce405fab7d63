"""A triangle of a sheet: its deformation gradient completed by its normal (T 3.5), and how two triangles fold.

The plane part of F (3x2) maps two orthonormal directions E1, E2 of the rest triangle to a and b. With its singular
values s1, s2 and the unit normals N at rest and n now, F = s1 u1 v1^T + s2 u2 v2^T + t n N^T. An isotropic law sees the
stretches (s1, s2, t). T keeps t = 1; a sheet that thins has the t at which no stress acts across it (plane stress).
Because n turns with the triangle, the energy is a function of s1, s2 alone, and its second derivative in the frames u,
v has the 2x2 moduli of the stretches, two moduli for shear and spin in the plane, and p_a / s_a for turns out of it.
"""

import math

from pliant.formulas.matrix3 import add, cross, dot, scale, subtract
from pliant.jit import formula

# Least length of what is divided by: a triangle without area has some frame, and no force.
TINY = 1e-150
# Least and largest stretch across a sheet that thins.
THINNEST, THICKEST = 0.01, 100.0
# What one step towards the stretch across the sheet may change it by.
FACTOR = 4.0


@formula
def sheet_frame(a, b):
    """Singular values s1, s2, left directions u1, u2, the normal n, and (c, s) with v1 = c E1 + s E2, v2 = -s E1 + c
    E2, of the map that takes E1, E2 to a, b (3)."""
    aa, ab, bb = dot(a, a), dot(a, b), dot(b, b)
    difference = 0.5 * (aa - bb)
    radius = math.sqrt(difference * difference + ab * ab)
    cosine = difference / max(radius, TINY) if radius > 0.0 else 1.0
    c = math.sqrt(max(0.5 * (1.0 + cosine), 0.0))
    s = math.sqrt(max(0.5 * (1.0 - cosine), 0.0))
    s = -s if ab < 0.0 else s
    image = add(scale(c, a), scale(s, b))
    s1 = math.sqrt(dot(image, image))
    u1 = scale(1.0 / max(s1, TINY), image)
    normal = cross(a, b)
    area = math.sqrt(dot(normal, normal))
    n = scale(1.0 / max(area, TINY), normal)
    return s1, area / max(s1, TINY), u1, cross(n, u1), n, c, s


@formula
def next_thickness(t, pressure, modulus):
    """A Newton step towards the stretch t at which the stress across the sheet vanishes, by at most a factor."""
    safe = modulus if modulus > 0.0 else 1.0
    far = t / FACTOR if pressure > 0.0 else t * FACTOR
    step = t - pressure / safe if modulus > 0.0 else far
    return min(max(min(max(step, t / FACTOR), t * FACTOR), THINNEST), THICKEST)


@formula
def sheet_moduli(s, p, d, free):
    """The seven moduli of a triangle: A00, A11, A01, symmetric, skew, and of turns about u2 and u1; stretches s,
    stresses p, second derivatives d of the law in the order 00, 11, 22, 12, 02, 01; free: whether the thickness
    follows."""
    inner = free and d[2] > 0.0 and s[2] > THINNEST and s[2] < THICKEST
    share = 1.0 / (d[2] if d[2] > 0.0 else 1.0) if inner else 0.0
    a00, a11, a01 = d[0] - share * d[4] * d[4], d[1] - share * d[3] * d[3], d[5] - share * d[4] * d[3]
    difference = s[0] - s[1]
    close = abs(difference) < 1e-5
    symmetric = 0.5 * (a00 + a11) - a01 if close else (p[0] - p[1]) / (1.0 if close else difference)
    skew = (p[0] + p[1]) / max(s[0] + s[1], 1e-6)
    return a00, a11, a01, symmetric, skew, p[0] / max(s[0], 1e-6), p[1] / max(s[1], 1e-6)


@formula
def positive_sheet_moduli(m):
    """The nearest moduli of a positive semi-definite stiffness."""
    half, difference = 0.5 * (m[0] + m[1]), 0.5 * (m[0] - m[1])
    radius = math.sqrt(difference * difference + m[2] * m[2])
    high, low = max(half + radius, 0.0), max(half - radius, 0.0)
    # a = mean + spread (difference, m2) / radius, with the eigenvalues clamped
    mean, spread = 0.5 * (high + low), 0.5 * (high - low) / max(radius, TINY)
    across = spread * m[2]
    along = spread * difference
    return mean + along, mean - along, across, max(m[3], 0.0), max(m[4], 0.0), max(m[5], 0.0), max(m[6], 0.0)


@formula
def sheet_block(g, k, m):
    """Block of the stiffness per volume of two nodes with gradients g, k (2) seen in v, in the frame u1, u2, n: its
    entries 00, 01, 10, 11, 22; the others are zero. m: moduli (7)."""
    plus, minus = 0.5 * (m[3] + m[4]), 0.5 * (m[3] - m[4])
    q0, q1, g01, g10 = g[0] * k[0], g[1] * k[1], g[0] * k[1], g[1] * k[0]
    return (
        m[0] * q0 + plus * q1,
        m[2] * g01 + minus * g10,
        m[2] * g10 + minus * g01,
        m[1] * q1 + plus * q0,
        m[5] * q0 + m[6] * q1,
    )


@formula
def sheet_world_block(u, b):
    """u1, u2, n (columns of u, 9) times the block of five entries, times their transpose (9)."""
    r0 = (u[0] * b[0] + u[1] * b[2], u[0] * b[1] + u[1] * b[3], u[2] * b[4])
    r1 = (u[3] * b[0] + u[4] * b[2], u[3] * b[1] + u[4] * b[3], u[5] * b[4])
    r2 = (u[6] * b[0] + u[7] * b[2], u[6] * b[1] + u[7] * b[3], u[8] * b[4])
    return (
        r0[0] * u[0] + r0[1] * u[1] + r0[2] * u[2],
        r0[0] * u[3] + r0[1] * u[4] + r0[2] * u[5],
        r0[0] * u[6] + r0[1] * u[7] + r0[2] * u[8],
        r1[0] * u[0] + r1[1] * u[1] + r1[2] * u[2],
        r1[0] * u[3] + r1[1] * u[4] + r1[2] * u[5],
        r1[0] * u[6] + r1[1] * u[7] + r1[2] * u[8],
        r2[0] * u[0] + r2[1] * u[1] + r2[2] * u[2],
        r2[0] * u[3] + r2[1] * u[4] + r2[2] * u[5],
        r2[0] * u[6] + r2[1] * u[7] + r2[2] * u[8],
    )


@formula
def fold_turn(apex, p, q, other):
    """f = 2 tan(angle / 2) of the angle between the triangles (apex, p, q) and (other, q, p): 0 where flat, positive
    for a ridge seen from the side to which their normals point, and without bound where one lies on the other."""
    e = subtract(q, p)
    first, second = cross(e, subtract(apex, p)), cross(subtract(other, q), e)
    length = math.sqrt(dot(e, e))
    sine, cosine = dot(e, cross(first, second)) / max(length, TINY), dot(first, second)
    return 2.0 * sine / max(math.sqrt(dot(first, first) * dot(second, second)) + cosine, TINY)


@formula
def fold_slope(apex, p, q):
    """What the triangle (apex, p, q) contributes to the gradient of the angle at its edge from p to q: that at its apex
    (3), and the share of q in the point of the edge below the apex. p and q have minus (1 - share) and minus share of
    it: the angle changes by the height over the distance from the edge."""
    e, arm = subtract(q, p), subtract(apex, p)
    normal, square = cross(e, arm), dot(e, e)
    size = max(dot(normal, normal), TINY)
    return scale(-math.sqrt(square) / size, normal), dot(arm, e) / max(square, TINY)


@formula
def fold_curvature(apex, p, q):
    """What the triangle (apex, p, q) contributes to the second derivative of the angle at its edge from p to q:
    (c_v c_w + g k_v k_w) (b a^T + a b^T) + c_v k_w d a^T + k_v c_w a d^T between nodes v and w, with c = (1, share - 1,
    -share) and k = (0, -1, 1) at apex, p, q. Returns a, b, d (3 each), g and the share.

    From n / h and the share as functions of the nodes: a = n / h, b = m / h, d = e / |e|^2, g = h^2 / (2 |e|^2), with
    the normal n, the height h of the apex, and m from the edge to it. Of k_v k_w n m^T / |e|^2 the symmetric part
    stands here: the others of the two triangles at an edge cancel.
    """
    e, arm = subtract(q, p), subtract(apex, p)
    normal, square = cross(e, arm), max(dot(e, e), TINY)
    share = dot(arm, e) / square
    high = max(dot(normal, normal), TINY) / square
    a, b = scale(1.0 / (high * math.sqrt(square)), normal), scale(1.0 / high, subtract(arm, scale(share, e)))
    return a, b, scale(1.0 / square, e), 0.5 * high / square, share
