"""Conservative advancement: how far solids and triangles may go before their cores meet (Mirtich 1996, ch. 2).

The cores of two convex things are separated by the plane across their closest points. As long as what both can move
along its normal does not use up their distance, they do not meet; then the closest points are found again.
"""

import numpy as np

from pliant.formulas.matrix3 import (
    add,
    dot,
    multiply_vector,
    norm,
    scale,
    subtract,
    transpose_multiply,
    transpose_multiply_vector,
)
from pliant.formulas.rotation import quaternion_matrix, quaternion_multiply, rotation_increment
from pliant.jit import kernel
from pliant.kernels.cpu.collide.gjk import APART, closest_cores
from pliant.kernels.cpu.collide.mixed import UPRIGHT
from pliant.kernels.cpu.collide.solids import core_of
from pliant.kernels.shapes import BOX, CAPSULE, CONE, CYLINDER, HULL, SPHERE, TRIANGLE

# Part of its radius by which the core of a round solid is smaller here, and of a sharp one in parts of its margin.
ROUND_DEPTH, SHARP_DEPTH = 0.5, 10.0
# Advances after which the part reached is returned as it is: it is safe at any of them.
MOST_ADVANCES = 256
# Part of the first distance that may be left when a meeting is declared.
LEFT = 0.02


@kernel
def _triple(a, i):
    return (a[i, 0], a[i, 1], a[i, 2])


@kernel
def inner_core(code, parameter, index, hulls):
    """Core of a solid that nothing may reach, and the radius [m] around it that belongs to it."""
    p = (parameter[0], parameter[1], parameter[2], parameter[3])
    solid = (code, p, index, hulls.points)
    if code in (SPHERE, CAPSULE):
        return core_of(solid, hulls, 0.0), (1.0 - ROUND_DEPTH) * parameter[0]
    sharp = code in (BOX, CYLINDER, CONE)
    return core_of(solid, hulls, SHARP_DEPTH * parameter[3] if sharp else parameter[3]), 0.0  # of hulls as built


@kernel
def core_depths(code, parameter, index, hull_depth, out):
    """How deep [m] below its surface the core of every solid begins, out (b,)."""
    for i in range(len(code)):
        if code[i] == SPHERE or code[i] == CAPSULE:
            out[i] = ROUND_DEPTH * parameter[i, 0]
        else:
            sharp = code[i] == BOX or code[i] == CYLINDER or code[i] == CONE
            out[i] = SHARP_DEPTH * parameter[i, 3] if sharp else hull_depth[index[i]] if code[i] == HULL else 0.0


@kernel
def _pose(position, rotation, to_shape, centre, motion, turn, i, t):
    """Origin and frame of the shape of body i after the part t of its motion."""
    q = (rotation[i, 0], rotation[i, 1], rotation[i, 2], rotation[i, 3])
    q = quaternion_multiply(rotation_increment(t, _triple(turn, i)), q)
    p = (to_shape[i, 0], -to_shape[i, 1], -to_shape[i, 2], -to_shape[i, 3])
    frame = quaternion_matrix(quaternion_multiply(q, p))
    place = add(_triple(position, i), scale(t, _triple(motion, i)))
    return subtract(place, multiply_vector(frame, _triple(centre, i))), frame


@kernel
def _advanced(t, distance, first, closing):
    """The part t of the way, advanced by what the distance [m] of two cores allows, which was `first` at its start and
    closes by at most `closing` [m] on the whole way; 1 where that leaves some of it."""
    if closing * (1.0 - t) < distance:
        return 1.0
    return min(t + (distance - 0.5 * LEFT * first) / closing, 1.0)


@kernel
def solid_times(pairs, code, parameter, index, hulls, bodies, motion, turn, radius, scratch, out):
    """The part of their motion, out (k,), that pairs (k, 2) of solids may go before their cores meet, else 1.

    bodies: position, rotation, rotation from principal to shape's axes, centre of all bodies; motion, turn (b, 3) [m,
    rad]: what they go; radius (b,) [m]: bounds about centres of mass.
    """
    for k in range(len(pairs)):
        a, b = pairs[k, 0], pairs[k, 1]
        core_a, round_a = inner_core(code[a], parameter[a], index[a], hulls)
        core_b, round_b = inner_core(code[b], parameter[b], index[b], hulls)
        turning = norm(_triple(turn, a)) * radius[a] + norm(_triple(turn, b)) * radius[b]
        relative = subtract(_triple(motion, a), _triple(motion, b))
        t, first, out[k] = 0.0, -1.0, 1.0
        for _ in range(MOST_ADVANCES):
            origin_a, frame_a = _pose(*bodies, motion, turn, a, t)
            origin_b, frame_b = _pose(*bodies, motion, turn, b, t)
            frame = transpose_multiply(frame_b, frame_a)
            offset = transpose_multiply_vector(frame_b, subtract(origin_a, origin_b))
            state, v, _ = closest_cores(
                core_a, hulls.points, frame, offset, core_b, hulls.points, np.inf, scratch.simplex
            )
            distance = norm(v) - round_a - round_b if state == APART else 0.0
            if first < 0.0:
                first = distance
                if first <= 0.0:
                    break  # they have met already, and are being parted
            if distance <= LEFT * first:
                out[k] = t
                break
            n = multiply_vector(frame_b, scale(1.0 / norm(v), v))
            t = _advanced(t, distance, first, turning - dot(n, relative))
            out[k] = t
            if t >= 1.0:
                break


@kernel
def triangle_times(
    pairs, triangles, start, end, code, parameter, index, hulls, bodies, motion, turn, radius, scratch, out
):
    """The same for pairs (k, 2) of triangles, whose corners move from start to end (p, 3), and solids."""
    corners = np.empty((3, 3))
    for k in range(len(pairs)):
        tri, b = pairs[k, 0], pairs[k, 1]
        core_a = core_of((np.int64(TRIANGLE), (0.0, 0.0, 0.0, 0.0), np.int64(0), hulls.points), hulls, 0.0)
        core_b, round_b = inner_core(code[b], parameter[b], index[b], hulls)
        turning = norm(_triple(turn, b)) * radius[b]
        t, first, out[k] = 0.0, -1.0, 1.0
        for _ in range(MOST_ADVANCES):
            for j in range(3):
                for c in range(3):
                    node = triangles[tri, j]
                    corners[j, c] = start[node, c] + t * (end[node, c] - start[node, c])
            origin_b, frame_b = _pose(*bodies, motion, turn, b, t)
            frame = transpose_multiply(frame_b, UPRIGHT)
            offset = transpose_multiply_vector(frame_b, scale(-1.0, origin_b))
            state, v, _ = closest_cores(core_a, corners, frame, offset, core_b, hulls.points, np.inf, scratch.simplex)
            distance = norm(v) - round_b if state == APART else 0.0
            if first < 0.0:
                first = distance
                if first <= 0.0:
                    break
            if distance <= LEFT * first:
                out[k] = t
                break
            n, fastest = multiply_vector(frame_b, scale(1.0 / norm(v), v)), -np.inf
            for j in range(3):
                node = triangles[tri, j]
                gone = subtract(_triple(end, node), _triple(start, node))
                fastest = max(fastest, -dot(n, subtract(gone, _triple(motion, b))))
            t = _advanced(t, distance, first, turning + fastest)
            out[k] = t
            if t >= 1.0:
                break
