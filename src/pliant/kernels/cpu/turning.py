"""Soft bodies as wholes: steps that turn them, and what steps do to them beside that."""

import math

from pliant.formulas.matrix3 import (
    add,
    cross,
    dot,
    positive_inverse,
    scale,
    subtract,
    symmetric_multiply_vector,
    transpose_multiply_vector,
)
from pliant.formulas.svd import nearest_rotation
from pliant.jit import kernel

# Pivots of a moment of inertia below this part of their diagonal number are rounding.
LEAST_PIVOT = 1e-9


@kernel
def _triple(x, i):
    return (x[i, 0], x[i, 1], x[i, 2])


@kernel
def _mean(values, share, first, last):
    """The mean of values[first:last] (n, 3) by their shares (n,)."""
    m0 = m1 = m2 = 0.0
    for i in range(first, last):
        m0 += share[i] * values[i, 0]
        m1 += share[i] * values[i, 1]
        m2 += share[i] * values[i, 2]
    return (m0, m1, m2)


@kernel
def _turn(x, h, u, direction, share, first, last, centre, along):
    """The turn by which a body goes a direction further than u, the best in the sense of least squares, as a vector of
    the length of its tangent; its nodes are around a centre where u leads, and go `along` on the whole."""
    a0 = a1 = a2 = a3 = a4 = a5 = m0 = m1 = m2 = 0.0
    for i in range(first, last):
        r = subtract(add(_triple(x, i), scale(h, _triple(u, i))), centre)
        m = cross(r, subtract(scale(h, _triple(direction, i)), along))
        s = share[i]
        a0 += s * (r[1] * r[1] + r[2] * r[2])
        a1 += s * (r[0] * r[0] + r[2] * r[2])
        a2 += s * (r[0] * r[0] + r[1] * r[1])
        a3, a4, a5 = a3 - s * r[1] * r[2], a4 - s * r[0] * r[2], a5 - s * r[0] * r[1]
        m0, m1, m2 = m0 + s * m[0], m1 + s * m[1], m2 + s * m[2]
    return symmetric_multiply_vector(positive_inverse((a0, a1, a2, a3, a4, a5), LEAST_PIVOT), (m0, m1, m2))


@kernel
def bend(x, h, u, direction, ranges, share, sizes, straight, new_inout):
    """Velocities (triples, 3) a direction further than u, of bodies that this turns far, in a step of h [s] from nodes
    at x (n, 3) [m]: as a translation, a turn, and the rest. Others stay as they are.

    ranges (b, 2): nodes of bodies; share (n,) of their masses; sizes (b,) [m]; straight: way relative to the size, and
    angle [rad], up to which steps are straight.
    """
    for b in range(len(ranges)):
        first, last, longest = ranges[b, 0], ranges[b, 1], 0.0
        for i in range(first, last):
            longest = max(longest, dot(_triple(direction, i), _triple(direction, i)))
        if not h * math.sqrt(longest) > straight * sizes[b]:
            continue
        along = scale(h, _mean(direction, share, first, last))
        centre = add(_mean(x, share, first, last), scale(h, _mean(u, share, first, last)))
        turn = _turn(x, h, u, direction, share, first, last, centre, along)
        tangent = math.sqrt(dot(turn, turn))
        if not straight < tangent < math.inf:
            continue
        # the rotation nearest to a linear one by `tangent` turns by the angle of which that is the tangent
        axis, cosine = scale(1.0 / tangent, turn), 1.0 / math.sqrt(1.0 + tangent * tangent)
        sine, versine = tangent * cosine, tangent * tangent * cosine * cosine / (1.0 + cosine)
        for i in range(first, last):
            r = subtract(add(_triple(x, i), scale(h, _triple(u, i))), centre)
            way = subtract(subtract(scale(h, _triple(direction, i)), along), cross(turn, r))
            whole = add(r, way)
            across = cross(axis, whole)
            way = add(way, add(scale(sine, across), scale(versine, cross(axis, across))))
            for c in range(3):
                new_inout[i, c] = u[i, c] + (along[c] + way[c]) / h


@kernel
def leave_turns_out(x, h, u, ranges, share, sizes, straight, out):
    """Velocities (triples, 3) that do to elements what u does in a step of h [s] from nodes at x (n, 3) [m]: of bodies
    that it turns far, without their turn and their translation, seen where the step ends. Others stay as they are. The
    rest as of `bend`."""
    for b in range(len(ranges)):
        first, last, longest = ranges[b, 0], ranges[b, 1], 0.0
        along = _mean(u, share, first, last)
        for i in range(first, last):
            way = subtract(_triple(u, i), along)
            longest = max(longest, abs(way[0]), abs(way[1]), abs(way[2]))
        if not straight * sizes[b] < h * longest < math.inf:
            continue
        centre = _mean(x, share, first, last)
        c = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        for i in range(first, last):
            arm = subtract(_triple(x, i), centre)
            end, p = add(arm, scale(h, subtract(_triple(u, i), along))), scale(share[i] / sizes[b] ** 2, arm)
            c = (
                c[0] + p[0] * end[0], c[1] + p[0] * end[1], c[2] + p[0] * end[2],
                c[3] + p[1] * end[0], c[4] + p[1] * end[1], c[5] + p[1] * end[2],
                c[6] + p[2] * end[0], c[7] + p[2] * end[1], c[8] + p[2] * end[2],
            )  # fmt: skip
        rotation = nearest_rotation(c)
        for i in range(first, last):
            arm = subtract(_triple(x, i), centre)
            turned = transpose_multiply_vector(rotation, arm)
            for k in range(3):
                out[i, k] = u[i, k] - along[k] + (arm[k] - turned[k]) / h
