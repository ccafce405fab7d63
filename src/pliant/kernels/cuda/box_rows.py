"""What MPRGP does with impulses row by row, and with contacts (twin of kernels.cpu.linalg.mprgp and friction)."""

import math
from typing import NamedTuple

from numba import float64

from pliant.kernels.cuda.warp import device, get, get3, put

# Growth of a bound, relative, with which an impulse on it moves along.
SMALL_MOVE = 1e-3


class Vectors(NamedTuple):
    """Vectors of a box problem: impulses, right side, bounds, gradient, direction, free gradient, a product, the
    direction of power iterations; (n,), or at hand of a block of threads, a column to each of its units."""

    x: object
    b: object
    low: object
    high: object
    g: object
    p: object
    phi: object
    product: object
    direction: object


class Contacts(NamedTuple):
    """Of rows, at the normals of contacts: coefficients of friction (0: none), the larger diagonal entry of the
    tangents, and radii of the discs; scales of all rows (n,)."""

    friction: object
    diagonal: object
    radius: object
    scale: object


@device
def clamped(value, low, high):
    """The value within bounds."""
    return min(max(value, low), high)


@device
def split_row(v, i, inverse):
    """The free gradient of a row, written; its square, that of the chopped one, its product with `product`, and the
    reduced products of both (steps of length 1 / inverse stay within the box)."""
    x, g, low, high, zero = get(v.x, i), get(v.g, i), get(v.low, i), get(v.high, i), float64(0.0)
    at_low, at_high = x <= low, x >= high
    active = at_low or at_high
    free = zero if active else float64(g)
    chopped = float64(g) if active else zero
    chopped = min(chopped, zero) if at_low else chopped
    chopped = max(chopped, zero) if at_high else chopped
    put(v.phi, i, free)
    if g > zero:
        reduced, blocked = min((x - low) * inverse, float64(g)), at_low
    else:
        reduced, blocked = max((x - high) * inverse, float64(g)), at_high
    along = zero if blocked else reduced * g
    of_free, of_chopped = (zero, along) if active else (along, zero)
    return free * free, chopped * chopped, free * get(v.product, i), of_free, of_chopped


@device
def released(v, i):
    """The part of a row's gradient that moves it off its bound."""
    x, zero = get(v.x, i), float64(0.0)
    at_low, at_high = x <= get(v.low, i), x >= get(v.high, i)
    chopped = float64(get(v.g, i)) if at_low or at_high else zero
    chopped = min(chopped, zero) if at_low else chopped
    return max(chopped, zero) if at_high else chopped


@device
def room_left(v, i):
    """The longest step along -p that keeps a row within its bounds."""
    p = get(v.p, i)
    if p > 0.0:
        return float64(get(v.x, i) - get(v.low, i)) / p
    if p < 0.0:
        return float64(get(v.x, i) - get(v.high, i)) / p
    return math.inf


@device
def move_row(v, i, step):
    """x -= step p, g -= step product, within the bounds."""
    put(v.x, i, clamped(get(v.x, i) - step * get(v.p, i), get(v.low, i), get(v.high, i)))
    put(v.g, i, get(v.g, i) - step * get(v.product, i))


@device
def along(value, beta, before):
    """value + beta before; without beta whatever was there before counts for nothing, be it a number or not."""
    return value + beta * before if beta != 0.0 else float64(value)


@device
def glide_row(v, i, q, step, beta):
    """A step of conjugate gradients along p by recurrences from q = A A g: A p is phi, A A p the direction, A g the
    product, of which nothing counts without beta. The square of the new gradient, and it times its product."""
    g, w, x = get(v.g, i), get(v.product, i), get(v.x, i)
    p, s, z = g + beta * get(v.p, i), w + beta * get(v.phi, i), q + beta * get(v.direction, i)
    g, w = g - step * s, w - step * z
    put(v.p, i, p)
    put(v.phi, i, s)
    put(v.direction, i, z)
    put(v.x, i, x - step * p)
    put(v.g, i, g)
    put(v.product, i, w)
    return g * g, g * w


@device
def expand_row(v, i, step, length):
    """A move up to the first bound, and from there along the free gradient, within the bounds."""
    move_row(v, i, step)
    x, low, high = get(v.x, i), get(v.low, i), get(v.high, i)
    free = 0.0 if x <= low or x >= high else length * get(v.g, i)
    put(v.x, i, clamped(x - free, low, high))


@device
def projected_square(v, i):
    """The square of a row's projected gradient."""
    x, g, zero = get(v.x, i), float64(get(v.g, i)), float64(0.0)
    g = min(g, zero) if x <= get(v.low, i) else g
    g = max(g, zero) if x >= get(v.high, i) else g
    return g * g


# ---- contacts with friction; i: the normal row among vectors at hand, whose tangents follow a stride apart


@device
def bound_row(v, i, bound):
    """Bounds -bound, bound; an impulse on a bound that hardly moves stays on it, any other stays inside."""
    old, x = get(v.high, i), get(v.x, i)
    on_low, on_high = x <= get(v.low, i), x >= old
    put(v.low, i, -bound)
    put(v.high, i, bound)
    low, high = get(v.low, i), get(v.high, i)
    if (on_low or on_high) and bound < (1.0 + SMALL_MOVE) * old:
        put(v.x, i, low if on_low else high)
    else:
        put(v.x, i, clamped(x, low, high))


@device
def refresh_contact(v, contacts, s, row, i, stride, relaxation, cone):
    """Bounds of the tangent rows from the present impulses and gradients; radii go a part of the way to mu n. s: scales
    of the three rows."""
    x, g, d = get3(v.x, i, stride), get3(v.g, i, stride), get(contacts.diagonal, row)
    goal, old = get(contacts.friction, row) * max(s[0] * x[0], 0.0), get(contacts.radius, row)
    limit = old + relaxation * (goal - old)
    put(contacts.radius, row, limit)
    first, second = limit, limit
    if cone:
        w1, w2 = s[1] * x[1] - g[1] / s[1] / d, s[2] * x[2] - g[2] / s[2] / d
        length = math.sqrt(w1 * w1 + w2 * w2)
        if length > limit:
            first, second = limit * abs(w1) / length, limit * abs(w2) / length
    bound_row(v, i + stride, first / s[1])
    bound_row(v, i + 2 * stride, second / s[2])


@device
def in_disc(limit, t1, t2, cone):
    """Tangent impulses brought within Coulomb's bounds."""
    if cone:
        length = math.sqrt(t1 * t1 + t2 * t2)
        shrink = limit / length if length > limit else 1.0
        return t1 * shrink, t2 * shrink
    return clamped(t1, -limit, limit), clamped(t2, -limit, limit)


@device
def tangent_gap(v, contacts, s, row, i, stride, cone):
    """Squared natural residual of the tangent rows, in scaled variables."""
    x, g, d = get3(v.x, i, stride), get3(v.g, i, stride), get(contacts.diagonal, row)
    limit = get(contacts.friction, row) * max(s[0] * x[0], 0.0)
    t1, t2 = s[1] * (x[1] - g[1] / (s[1] * s[1]) / d), s[2] * (x[2] - g[2] / (s[2] * s[2]) / d)
    t1, t2 = in_disc(limit, t1, t2, cone)
    a, b = x[1] - t1 / s[1], x[2] - t2 / s[2]
    return float64(a * a + b * b)


@device
def enter_disc(v, contacts, s, row, i, stride, cone):
    """Tangent impulses exactly within Coulomb's bounds."""
    x = get3(v.x, i, stride)
    limit = get(contacts.friction, row) * max(s[0] * x[0], 0.0)
    t1, t2 = in_disc(limit, s[1] * x[1], s[2] * x[2], cone)
    put(v.x, i + stride, t1 / s[1])
    put(v.x, i + 2 * stride, t2 / s[2])
