"""A segment of an elastic rod between two points, each with a place and a frame (Cosserat's rod; Simo 1985).

The frames of the ends seen from the segment, A1 and A2, are equal at rest, with their third axis along it. Strains are
taken once, midway, in the frame M = A1 exp(psi/2): this is the reduced integration that keeps thin rods from locking.

    psi = log(A1^T A2)                      bending about the first two axes and twist about the third, times L
    l = |e|, c = M^T e / l, e = x2 - x1     length, and the direction of the segment; c = (0, 0, 1) without shear
    E = (psi - psi0)^T D (psi - psi0) / (2 L) + EA (l - L)^2 / (2 L) + L/2 (c - e3)^T G (c - e3)

Shear is an angle and stretch a length, so that no tension shears a rod. With the spins d1, d2 of the frames, all seen
in M, s = (d1 + d2)/2 and r = d2 - d1, M turns by s - nu psi x r, and psi follows S r:

    S = chi I + sigma psi psi^T, chi = (a/2) / sin(a/2), sigma = (1 - chi)/a^2, nu = tan(a/4) / (2 a), a = |psi|

(from the left Jacobians of psi/2 and psi). A Hessian is the symmetric part of how gradients change.
"""

import math

from pliant.formulas.matrix3 import (
    add,
    cross,
    dot,
    multiply,
    multiply_transpose,
    multiply_vector,
    negative,
    outer,
    scale,
    subtract,
    transpose_multiply_vector,
)
from pliant.formulas.rotation import (
    quaternion_matrix,
    quaternion_multiply,
    quaternion_unit,
    rotation_vector,
    turn_jacobian,
)
from pliant.jit import formula

# Square of an angle below which series take the place of quotients, and the shortest segment that has a direction.
SMALL, SHORTEST = 1e-2, 1e-12


@formula
def rod_strains(a, b, e):
    """Strains of a segment e (3) between frames a and b (unit quaternions): psi, c, l, and M as nine numbers."""
    sign = 1.0 if a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] >= 0.0 else -1.0
    between = quaternion_multiply((a[0], -a[1], -a[2], -a[3]), b)
    middle = quaternion_unit((a[0] + sign * b[0], a[1] + sign * b[1], a[2] + sign * b[2], a[3] + sign * b[3]))
    m = quaternion_matrix(middle)
    length = math.sqrt(dot(e, e))
    along = scale(1.0 / max(length, SHORTEST), e)
    return rotation_vector(between), transpose_multiply_vector(m, along), length, m


@formula
def turn_numbers(square):
    """chi, sigma, nu of the square of an angle, and their derivatives by it."""
    if square < SMALL:
        second = square * square
        return (
            1.0 + square / 24.0 + 7.0 * second / 5760.0 + 31.0 * second * square / 967680.0,
            -1.0 / 24.0 - 7.0 * square / 5760.0 - 31.0 * second / 967680.0,
            0.125 + square / 384.0 + second / 15360.0 + 17.0 * second * square / 10321920.0,
            1.0 / 24.0 + 7.0 * square / 2880.0 + 31.0 * second / 322560.0,
            -7.0 / 5760.0 - 31.0 * square / 483840.0,
            1.0 / 384.0 + square / 7680.0 + 17.0 * second / 3440640.0,
        )
    angle = math.sqrt(square)
    sine, cosine, tangent = math.sin(0.5 * angle), math.cos(0.5 * angle), math.tan(0.25 * angle)
    chi, nu = 0.5 * angle / sine, tangent / (2.0 * angle)
    dchi, sigma = (sine - 0.5 * angle * cosine) / (4.0 * angle * sine * sine), (1.0 - chi) / square
    dnu = ((1.0 + tangent * tangent) / 8.0 - nu) / (2.0 * square)
    return chi, sigma, nu, dchi, (-dchi - sigma) / square, dnu


@formula
def rod_loads(psi, c, length, rest, natural, bending, stretch, shear):
    """Moments D (psi - psi0)/L (3) [N m], shear p = L G (c - e3) (3) [N m], tension [N] and energy [J] of a segment of
    rest length L; natural (3): psi0; bending, shear (3): D [N m2] and G [N]; stretch: EA [N]."""
    bent = subtract(psi, natural)
    b = (bending[0] * bent[0] / rest, bending[1] * bent[1] / rest, bending[2] * bent[2] / rest)
    p = (rest * shear[0] * c[0], rest * shear[1] * c[1], rest * shear[2] * (c[2] - 1.0))
    longer = length - rest
    tension = stretch * longer / rest
    energy = 0.5 * (dot(b, bent) + p[0] * c[0] + p[1] * c[1] + p[2] * (c[2] - 1.0) + tension * longer)
    return b, p, tension, energy


@formula
def rod_gradient(psi, c, length, numbers, b, p, tension):
    """The energy's gradient in M: by e, by s and by r (3 each)."""
    chi, sigma, nu, _, _, _ = numbers
    inside = dot(c, p)
    inverse = 1.0 / max(length, SHORTEST)
    by_e = (
        (p[0] - inside * c[0]) * inverse + tension * c[0],
        (p[1] - inside * c[1]) * inverse + tension * c[1],
        (p[2] - inside * c[2]) * inverse + tension * c[2],
    )
    by_s = cross(p, c)
    turned = cross(psi, by_s)
    along = sigma * dot(psi, b)
    by_r = (
        chi * b[0] + along * psi[0] + nu * turned[0],
        chi * b[1] + along * psi[1] + nu * turned[1],
        chi * b[2] + along * psi[2] + nu * turned[2],
    )
    return by_e, by_s, by_r


@formula
def skew(v):
    """[v]x (9)."""
    return (0.0, -v[2], v[1], v[2], 0.0, -v[0], -v[1], v[0], 0.0)


@formula
def times(x, a):
    """x a (9)."""
    return (x * a[0], x * a[1], x * a[2], x * a[3], x * a[4], x * a[5], x * a[6], x * a[7], x * a[8])


@formula
def combine(x, a, y, b):
    """x a + y b (9)."""
    return (
        x * a[0] + y * b[0],
        x * a[1] + y * b[1],
        x * a[2] + y * b[2],
        x * a[3] + y * b[3],
        x * a[4] + y * b[4],
        x * a[5] + y * b[5],
        x * a[6] + y * b[6],
        x * a[7] + y * b[7],
        x * a[8] + y * b[8],
    )


@formula
def symmetric(a):
    """(a + a^T)/2 (9)."""
    xy, xz, yz = 0.5 * (a[1] + a[3]), 0.5 * (a[2] + a[6]), 0.5 * (a[5] + a[7])
    return (a[0], xy, xz, xy, a[4], yz, xz, yz, a[8])


@formula
def across(c):
    """I - c c^T (9)."""
    return (
        1.0 - c[0] * c[0],
        -c[0] * c[1],
        -c[0] * c[2],
        -c[0] * c[1],
        1.0 - c[1] * c[1],
        -c[1] * c[2],
        -c[0] * c[2],
        -c[1] * c[2],
        1.0 - c[2] * c[2],
    )


@formula
def diagonal_times(d, a):
    """diag(d) a (9)."""
    return (*scale(d[0], a[:3]), *scale(d[1], a[3:6]), *scale(d[2], a[6:]))


@formula
def psi_jacobian(psi, chi, sigma):
    """S (9)."""
    x, y, z = psi
    return (
        chi + sigma * x * x,
        sigma * x * y,
        sigma * x * z,
        sigma * x * y,
        chi + sigma * y * y,
        sigma * y * z,
        sigma * x * z,
        sigma * y * z,
        chi + sigma * z * z,
    )


@formula
def rod_hessian(psi, c, length, numbers, b, p, tension, rest, bending, stretch, shear):
    """Second derivatives in M (9 each): by e e, s e, r e, s s, r s, r r."""
    chi, sigma, nu, _, _, _ = numbers
    inverse = 1.0 / max(length, SHORTEST)
    lg = (rest * shear[0], rest * shear[1], rest * shear[2])
    turn, beside, inside = skew(c), across(c), dot(c, p)
    # k = p x c changes by Y dc, the gradient by e by Z dc and by z times what the length changes by
    y = combine(1.0, skew(p), -1.0, multiply(turn, (lg[0], 0.0, 0.0, 0.0, lg[1], 0.0, 0.0, 0.0, lg[2])))
    far = outer(c, (p[0] + lg[0] * c[0], p[1] + lg[1] * c[1], p[2] + lg[2] * c[2]))
    own = tension - inside * inverse
    z = (
        own + (lg[0] - far[0]) * inverse,
        -far[1] * inverse,
        -far[2] * inverse,
        -far[3] * inverse,
        own + (lg[1] - far[4]) * inverse,
        -far[5] * inverse,
        -far[6] * inverse,
        -far[7] * inverse,
        own + (lg[2] - far[8]) * inverse,
    )
    stiff, less = stretch / rest, inverse * inverse
    slope = (
        stiff * c[0] - (p[0] - inside * c[0]) * less,
        stiff * c[1] - (p[1] - inside * c[1]) * less,
        stiff * c[2] - (p[2] - inside * c[2]) * less,
    )
    ee = symmetric(combine(inverse, multiply(z, beside), 1.0, outer(slope, c)))
    se = times(inverse, multiply(y, beside))
    k, turned = cross(p, c), skew(psi)
    re = times(nu, multiply(turned, se))
    _, _, by_r = rod_gradient(psi, c, length, numbers, b, p, tension)
    spun = multiply(y, turn)  # Y [c]x
    ss = symmetric(spun)
    rs = combine(nu, multiply(turned, spun), -1.0, skew(by_r))
    late = multiply_transpose(turned, combine(1.0, spun, -1.0, skew(k)))
    jacobian = psi_jacobian(psi, chi, sigma)
    rr = combine(-nu, multiply(rs, turned), 1.0, multiply(_psi_change(psi, b, k, numbers, bending, rest), jacobian))
    return ee, se, re, ss, combine(0.5, rs, 0.5 * nu, late), symmetric(rr)


@formula
def _psi_change(psi, b, k, numbers, bending, rest):
    """How the gradient by r changes with psi (9)."""
    chi, sigma, nu, dchi, dsigma, dnu = numbers
    inside, turned = dot(psi, b), cross(psi, k)
    # 2 dchi b + 2 dsigma (psi.b) psi + 2 dnu psi x k, times psi^T, and sigma psi b^T
    front = (
        2.0 * (dchi * b[0] + dsigma * inside * psi[0] + dnu * turned[0]),
        2.0 * (dchi * b[1] + dsigma * inside * psi[1] + dnu * turned[1]),
        2.0 * (dchi * b[2] + dsigma * inside * psi[2] + dnu * turned[2]),
    )
    change = combine(1.0, outer(front, psi), sigma, outer(psi, b))
    change = combine(1.0, change, -nu, skew(k))
    s, per = psi_jacobian(psi, chi, sigma), 1.0 / rest
    own = sigma * inside
    return (
        change[0] + own + s[0] * bending[0] * per,
        change[1] + s[1] * bending[1] * per,
        change[2] + s[2] * bending[2] * per,
        change[3] + s[3] * bending[0] * per,
        change[4] + own + s[4] * bending[1] * per,
        change[5] + s[5] * bending[2] * per,
        change[6] + s[6] * bending[0] * per,
        change[7] + s[7] * bending[1] * per,
        change[8] + own + s[8] * bending[2] * per,
    )


@formula
def positive_rod_hessian(psi, c, length, numbers, tension, rest, bending, stretch, shear):
    """As `rod_hessian`, but what stiffness and tension alone make, which is never negative (Gauss and Newton)."""
    chi, sigma, nu, _, _, _ = numbers
    inverse = 1.0 / max(length, SHORTEST)
    lg = (rest * shear[0], rest * shear[1], rest * shear[2])
    beside, turn, turned = across(c), skew(c), skew(psi)
    stiff, pulled = diagonal_times(lg, beside), max(tension, 0.0) * inverse
    ee = multiply(beside, stiff)
    ee = combine(inverse * inverse, ee, pulled, beside)
    ee = combine(1.0, ee, stretch / rest, outer(c, c))
    se = times(-inverse, multiply(turn, stiff))
    re = times(nu, multiply(turned, se))
    ss = negative(multiply(turn, diagonal_times(lg, turn)))
    rs = times(nu, multiply(turned, ss))
    jacobian = psi_jacobian(psi, chi, sigma)
    bent = multiply(jacobian, diagonal_times((bending[0] / rest, bending[1] / rest, bending[2] / rest), jacobian))
    rr = combine(1.0, bent, -nu, multiply(rs, turned))
    return ee, se, re, ss, rs, rr


@formula
def turning_curvature(t, g):
    """What the bending of exp(t) adds to a Hessian by t where the gradient by a spin is g: the symmetric part of
    g . (dT/dt) (9), T = `turn_jacobian`."""
    square = dot(t, t)
    small = square < SMALL
    safe = 1.0 if small else square
    angle = math.sqrt(safe)
    sine, cosine = math.sin(angle), math.cos(angle)
    first = 0.5 - square / 24.0 + square * square / 720.0 if small else (1.0 - cosine) / safe
    second = 1.0 / 6.0 - square / 120.0 + square * square / 5040.0 if small else (angle - sine) / (safe * angle)
    # their derivatives by the angle, divided by it
    dfirst = -1.0 / 12.0 + square / 180.0 - square * square / 6720.0 if small else (sine / angle - 2.0 * first) / safe
    dsecond = -1.0 / 60.0 + square / 1260.0 if small else (first - 3.0 * second) / safe
    gt, inside = cross(g, t), dot(g, t)
    # g . (t x d) = (g x t) . d, and g . t x (t x d) = (t (g.t) - g t^2) . d
    w = (
        dfirst * gt[0] + dsecond * (inside * t[0] - square * g[0]) - second * g[0],
        dfirst * gt[1] + dsecond * (inside * t[1] - square * g[1]) - second * g[1],
        dfirst * gt[2] + dsecond * (inside * t[2] - square * g[2]) - second * g[2],
    )
    found, own = symmetric(outer(t, w)), second * inside
    return (found[0] + own, found[1], found[2], found[3], found[4] + own, found[5], found[6], found[7], found[8] + own)


@formula
def turned_back(t, g):
    """T^T g (3): the gradient by a rotation vector t where that by a spin is g."""
    return transpose_multiply_vector(turn_jacobian(t), g)


@formula
def rotated(m, a):
    """m a m^T (9)."""
    return multiply_transpose(multiply(m, a), m)


@formula
def rod_rates(m, e, rest, dv, w1, w2):
    """Rates in M of stretch and shear (3) [1/s] and of curvature and twist (3) [1/(m s)], linear in the velocities: dv
    of e, and the spins of both ends."""
    mean = (0.5 * (w1[0] + w2[0]), 0.5 * (w1[1] + w2[1]), 0.5 * (w1[2] + w2[2]))
    slide = scale(1.0 / rest, subtract(dv, cross(mean, e)))
    bend = scale(1.0 / rest, subtract(w2, w1))
    return transpose_multiply_vector(m, slide), transpose_multiply_vector(m, bend)


@formula
def end_moments(m, by_s, by_r):
    """The gradients by the spins of both ends (3 each), world axes, from those by s and r in M."""
    half, whole = multiply_vector(m, scale(0.5, by_s)), multiply_vector(m, by_r)
    return subtract(half, whole), add(half, whole)
