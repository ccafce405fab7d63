"""Pieces of rods: where the segments beside a point ask for them."""

import math

from pliant.formulas.matrix3 import add, cross, dot, norm, scale, subtract, transpose_multiply_vector
from pliant.formulas.rotation import quaternion_matrix, quaternion_multiply, rotation_vector
from pliant.jit import kernel
from pliant.kernels.shapes import BOX

# How far pieces are moved towards their points at most, in parts of how wide they are: those of neighbours, which else
# end in one place of the segment between them, overlap then, whatever way each is moved.
MOVED = 0.7


@kernel
def _triple(a, i):
    return (a[i, 0], a[i, 1], a[i, 2])


@kernel
def _write(a, i, value):
    a[i, 0], a[i, 1], a[i, 2] = value


@kernel
def _towards(third):
    """The quaternion of the smallest turn that takes (0, 0, 1) to a unit vector."""
    w = 1.0 + third[2]
    if w < 1e-12:
        return (0.0, 1.0, 0.0, 0.0)
    size = math.sqrt(w * w + third[0] * third[0] + third[1] * third[1])
    return (w / size, -third[1] / size, third[0] / size, 0.0)


@kernel
def _straight(behind, before, wide):
    """The middle, direction and half length of a straight line between two places beside a point, at the origin, and
    the way across it from it to the point."""
    along, middle = subtract(before, behind), scale(0.5, add(before, behind))
    size = norm(along)
    if size <= 1e-9 * wide:
        return middle, (0.0, 0.0, 1.0), 0.5 * size, (0.0, 0.0, 0.0)
    direction = scale(1.0 / size, along)
    return middle, direction, 0.5 * size, subtract(scale(dot(middle, direction), direction), middle)


@kernel
def place_pieces(
    body, far, share, little, position, rotation, wide, principal, half, principal_inout, centre_inout, half_out
):  # fmt: skip
    """Where pieces (k,) of the bodies `body`, with these positions (b, 3) and rotations (b, 4), lie: between points
    share (k, 2) of the ways to the bodies far (k, 2), behind and before them, but moved towards their bodies by all of
    a small way, and less and less of a long one, up to MOVED of their width; how many have changed.

    A piece, `wide` (k,) [m] to its sides, is as half (k,) [m] long to either side of its middle as it was made, with
    rotations principal (b, 4) from principal axes to its own and its body at centre_inout (b, 3) [m] in these, and
    stays so where its ends lie within the part `little` of that of where they ought to; the others get lengths,
    rotations and places of their own.
    """
    changed = 0
    for k in range(len(body)):
        i, here = body[k], _triple(position, body[k])
        behind = scale(share[k, 0], subtract(_triple(position, far[k, 0]), here))
        before = scale(share[k, 1], subtract(_triple(position, far[k, 1]), here))
        middle, direction, long, way = _straight(behind, before, wide[k])
        off = norm(way)
        moved = off / math.hypot(1.0, off / (MOVED * wide[k]))
        middle = add(middle, scale(moved / max(off, 1e-300), way))
        long += min(moved * off / max(long, 1e-300), moved)  # what ends moved outwards lack in a turn
        half_out[k] = half[k]
        q, p = (rotation[i, 0], rotation[i, 1], rotation[i, 2], rotation[i, 3]), principal[i]
        frame = quaternion_matrix(quaternion_multiply(q, (p[0], -p[1], -p[2], -p[3])))
        middle, direction = transpose_multiply_vector(frame, middle), transpose_multiply_vector(frame, direction)
        was, reach = scale(-1.0, _triple(centre_inout, i)), scale(long, direction)
        apart = norm(subtract(subtract(middle, reach), (was[0], was[1], was[2] - half[k])))
        apart = max(apart, norm(subtract(add(middle, reach), (was[0], was[1], was[2] + half[k]))))
        if apart <= little * half[k]:
            continue
        changed += 1
        half_out[k], turn = long, _towards(direction)
        _write(centre_inout, i, scale(-1.0, transpose_multiply_vector(quaternion_matrix(turn), middle)))
        new = quaternion_multiply((turn[0], -turn[1], -turn[2], -turn[3]), (p[0], p[1], p[2], p[3]))
        for c in range(4):
            principal_inout[i, c] = new[c]
    return changed


@kernel
def size_pieces(body, code, centre, half, parameter_inout, radius_inout, inner_inout, lever_inout):
    """Sizes (b, 4), radii of balls around them (b,) and in them, and levers of the bodies `body` (k,), capsules and
    boxes with their bodies at centre (b, 3) and half (k,) [m] long to both sides (see `Solids`)."""
    for k in range(len(body)):
        i, off = body[k], norm(_triple(centre, body[k]))
        if code[i] == BOX:
            parameter_inout[i, 2] = half[k]
            wide, high = parameter_inout[i, 0], parameter_inout[i, 1]
            radius_inout[i] = off + math.sqrt(wide * wide + high * high + half[k] * half[k])
            inner_inout[i] = max(min(wide, high, half[k]) - off, 0.0)
        else:
            parameter_inout[i, 1] = half[k]
            radius_inout[i], inner_inout[i] = off + half[k] + parameter_inout[i, 0], 0.0
        lever_inout[i] = radius_inout[i]


@kernel
def corners_off(body, position, frame, origin, out):
    """How far (k,) [m] the bodies `body` lie off the axes of their pieces, at origins (b, 3) with frames (b, 9)."""
    for k in range(len(body)):
        i = body[k]
        turned = (
            frame[i, 0], frame[i, 1], frame[i, 2], frame[i, 3], frame[i, 4],
            frame[i, 5], frame[i, 6], frame[i, 7], frame[i, 8],
        )  # fmt: skip
        there = transpose_multiply_vector(turned, subtract(_triple(position, i), _triple(origin, i)))
        out[k] = math.hypot(there[0], there[1])


@kernel
def move_pieces(body, far, share, position, velocity, spin_out, velocity_out):
    """Velocities (b, 3) and spins (b, 3) of the bodies `body` (k,), with velocity (b, 3), as their pieces move, which
    follow the segments: from points share (k, 2) of the ways to the bodies far (k, 2)."""
    for k in range(len(body)):
        i = body[k]
        here, own = _triple(position, i), _triple(velocity, i)
        behind = scale(share[k, 0], subtract(_triple(position, far[k, 0]), here))
        before = scale(share[k, 1], subtract(_triple(position, far[k, 1]), here))
        slow = scale(share[k, 0], subtract(_triple(velocity, far[k, 0]), own))
        fast = scale(share[k, 1], subtract(_triple(velocity, far[k, 1]), own))
        along = subtract(before, behind)
        spin = scale(1.0 / max(dot(along, along), 1e-300), cross(along, subtract(fast, slow)))
        middle, drift = scale(0.5, add(behind, before)), scale(0.5, add(slow, fast))
        _write(spin_out, i, spin)
        _write(velocity_out, i, add(own, subtract(drift, cross(spin, middle))))


@kernel
def _shape_turn(rotation, principal, i):
    """The quaternion of a body's shape."""
    q = (rotation[i, 0], rotation[i, 1], rotation[i, 2], rotation[i, 3])
    return quaternion_multiply(q, (principal[i, 0], -principal[i, 1], -principal[i, 2], -principal[i, 3]))


@kernel
def sweep_pieces(body, start, end, rotation_out, principal_out, motion_out, turn_out):
    """How the pieces of the bodies `body` (k,) get from where they are at the start of a way to where they are at its
    end; start, end: rotations (b, 4) of bodies, from their principal axes to those of shapes (b, 4), and origins of
    shapes (b, 3). Motions and turns (b, 3) are those of the pieces, in whose frames the bodies then are: by rotations
    and principal axes (b, 4)."""
    for k in range(len(body)):
        i = body[k]
        first, last = _shape_turn(start[0], start[1], i), _shape_turn(end[0], end[1], i)
        _write(motion_out, i, subtract(_triple(end[2], i), _triple(start[2], i)))
        _write(turn_out, i, rotation_vector(quaternion_multiply(last, (first[0], -first[1], -first[2], -first[3]))))
        for c in range(4):
            rotation_out[i, c], principal_out[i, c] = first[c], (1.0 if c == 0 else 0.0)
