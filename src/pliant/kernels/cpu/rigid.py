"""Loops over rigid bodies: prediction with the gyroscopic term, and integration that keeps angular momentum."""

import math

from pliant.formulas.matrix3 import (
    add,
    dot,
    multiply_vector,
    norm,
    rotate_symmetric_diagonal,
    scale,
    subtract,
    symmetric_inverse,
    symmetric_multiply_vector,
    transpose_multiply_vector,
)
from pliant.formulas.rotation import (
    cayley_step,
    late_newton,
    midpoint_newton,
    quaternion_matrix,
    quaternion_multiply,
    quaternion_rotate,
    quaternion_unit,
    rotation_increment,
    rotation_vector,
)
from pliant.jit import kernel

NEWTON_ITERATIONS = 10
# Change of a midpoint, relative, with which it is found; the largest turn [rad] that it may make (Cayley's map ends at
# pi); the turn of a part of a step that has none, and most of these.
FOUND, LONGEST_TURN, LONGEST_PART, MOST_PARTS = 1e-9, 2.4, 1.0, 1 << 12


@kernel
def _midpoint(inertia, w, h):
    """Implicit midpoint of Euler's equations with the step length of Cayley's map (theory section 1), in the body's
    frame, and whether it was found."""
    mid = w
    for _ in range(NEWTON_ITERATIONS):
        before = mid
        mid = midpoint_newton(inertia, w, mid, cayley_step(h, norm(mid)))
        if norm(subtract(mid, before)) <= 1e-15 * norm(mid):
            break
    return mid, norm(subtract(mid, before)) <= FOUND * norm(mid) and h * norm(mid) < LONGEST_TURN


@kernel
def free_midpoint(inertia, w, h):
    """Angular velocity (body frame) with which a free body turns through the step so that energy is kept too: that of
    the midpoint, and where the body turns too far for one, of the turn that several make."""
    mid, found = _midpoint(inertia, w, h)
    if found:
        return mid
    parts = 2
    while parts < MOST_PARTS and h * norm(w) > LONGEST_PART * parts:
        parts *= 2
    while parts < MOST_PARTS:
        mid, found = _midpoint_in_parts(inertia, w, h, parts)
        if found:
            return mid
        parts *= 2
    # about the angular momentum, which keeps the energy: where in its nutation the body ends, nobody could tell
    momentum = (inertia[0] * w[0], inertia[1] * w[1], inertia[2] * w[2])
    return scale(dot(w, momentum) / dot(momentum, momentum), momentum)


@kernel
def _midpoint_in_parts(inertia, w, h, parts):
    """The angular velocity (body frame) of the turn that a free body makes in so many equal parts of a step, of all
    whole turns with those that w makes, about; and whether all midpoints were found."""
    momentum, turned, part = (inertia[0] * w[0], inertia[1] * w[1], inertia[2] * w[2]), (1.0, 0.0, 0.0, 0.0), h / parts
    spin = w
    for _ in range(parts):
        mid, found = _midpoint(inertia, spin, part)
        if not found:
            return w, False
        turned = quaternion_unit(quaternion_multiply(turned, rotation_increment(part, mid)))
        own = quaternion_rotate((turned[0], -turned[1], -turned[2], -turned[3]), momentum)
        spin = (own[0] / inertia[0], own[1] / inertia[1], own[2] / inertia[2])
    turn = rotation_vector(turned)
    angle = norm(turn)
    if angle < 1e-9:
        return scale(2.0 * math.pi * round(h * norm(w) / (2.0 * math.pi)) / (h * norm(w)), w), True
    along = dot(turn, w) / angle
    whole = 2.0 * math.pi * round((h * along - angle) / (2.0 * math.pi))
    return scale((1.0 + whole / angle) / h, turn), True


@kernel
def free_late(inertia, w, h):
    """Angular velocity (body frame) at the end of a step in which a free body turns by h times just that.

    The step of BDF2 from an extrapolated state asks for it: x1 = x* + h v1, for rotations exp(h w1), is of second order
    as R1 = exp(h w1 + O(h^3)) R*, and the velocity midway would be of first. It loses energy, as implicit Euler does:
    along the turn d2/ds2 (l I^-1 l / 2) = (w x l) I^-1 (w x l) >= 0.
    """
    momentum = (inertia[0] * w[0], inertia[1] * w[1], inertia[2] * w[2])
    late = w
    for _ in range(NEWTON_ITERATIONS):
        before = late
        late = late_newton(inertia, momentum, late, h)
        if norm(subtract(late, before)) <= 1e-10 * norm(late):
            return late
    return free_midpoint(inertia, w, h)  # too far a turn


@kernel
def stiffened(inertia, tension, smallest):
    """Inverse of the inertia plus the part of h^2 K that a step of length h cannot resolve.

    A body held in tension swings at w^2 = K / I; with forces at the start of the step that is stable for h w < 2
    only, as for a light link that carries a heavy load. The share 1 - I / (h^2 K) of h^2 K brings h w down to 1 and
    leaves slower bodies as they are (after Andrews et al. 2017, geometric stiffness).
    """
    share = 1.0 - smallest / (0.5 * (tension[0] + tension[1] + tension[2]))
    return symmetric_inverse(
        (
            inertia[0] + share * tension[0],
            inertia[1] + share * tension[1],
            inertia[2] + share * tension[2],
            inertia[3] + share * tension[3],
            inertia[4] + share * tension[4],
            inertia[5] + share * tension[5],
        )
    )


@kernel
def predict_bodies(
    mass, inertia, static, rotation, angular_velocity, kicks, tension, h, late, momentum_out, mid_out, inverse_out
):
    """Angular momentum after the torques, midpoint angular velocity, and inverse inertia (6), all in world axes.

    kicks (b, 3): impulses of torques [N m s]. late: take the angular velocity of a free body at the end of the step
    instead of the midpoint's (`free_late`).
    tension (b, 6): h^2 times the stiffness against rotation that joint forces give (rows.joints); see `stiffened`.
    """
    for b in range(mass.shape[0]):
        if static[b]:
            for c in range(3):
                mid_out[b, c] = angular_velocity[b, c]
            for c in range(6):
                inverse_out[b, c] = 0.0
            continue
        r = quaternion_matrix((rotation[b, 0], rotation[b, 1], rotation[b, 2], rotation[b, 3]))
        i = (inertia[b, 0], inertia[b, 1], inertia[b, 2])
        inverse = (1.0 / i[0], 1.0 / i[1], 1.0 / i[2])
        w = transpose_multiply_vector(r, (angular_velocity[b, 0], angular_velocity[b, 1], angular_velocity[b, 2]))
        world_inertia, world_inverse = rotate_symmetric_diagonal(r, i), rotate_symmetric_diagonal(r, inverse)
        stiff = (tension[b, 0], tension[b, 1], tension[b, 2], tension[b, 3], tension[b, 4], tension[b, 5])
        if stiff[0] + stiff[1] + stiff[2] > 2.0 * min(i[0], i[1], i[2]):
            world_inverse = stiffened(world_inertia, stiff, min(i[0], i[1], i[2]))
        kick = (kicks[b, 0], kicks[b, 1], kicks[b, 2])
        kick = symmetric_multiply_vector(world_inverse, kick)
        # the gyroscopic term is that of the motion so far: joints may yet take all of a torque away
        free = free_late(i, w, h) if late else free_midpoint(i, w, h)
        mid = add(multiply_vector(r, free), kick)
        momentum = multiply_vector(r, (i[0] * w[0], i[1] * w[1], i[2] * w[2]))
        momentum = add(momentum, symmetric_multiply_vector(world_inertia, kick))
        for c in range(3):
            momentum_out[b, c], mid_out[b, c] = momentum[c], mid[c]
        for c in range(6):
            inverse_out[b, c] = world_inverse[c]


@kernel
def integrate_bodies(inertia, static, momentum, mid, turn, late, h, rotation_inout, angular_velocity_out):
    """Turns every body by h `turn` (b, 3), then gives it the angular velocity of its angular momentum.

    The impulses of the solve are I (turn - mid) at the old orientation, plus `late` (b, 3); without any, momentum is
    kept to rounding.
    """
    for b in range(static.shape[0]):
        q = (rotation_inout[b, 0], rotation_inout[b, 1], rotation_inout[b, 2], rotation_inout[b, 3])
        w = (turn[b, 0], turn[b, 1], turn[b, 2])
        new = quaternion_unit(quaternion_multiply(rotation_increment(h, w), q))
        if not static[b]:
            i = (inertia[b, 0], inertia[b, 1], inertia[b, 2])
            change = (w[0] - mid[b, 0], w[1] - mid[b, 1], w[2] - mid[b, 2])
            impulse = symmetric_multiply_vector(rotate_symmetric_diagonal(quaternion_matrix(q), i), change)
            total = add((momentum[b, 0], momentum[b, 1], momentum[b, 2]), (late[b, 0], late[b, 1], late[b, 2]))
            total = add(total, impulse)
            inverse = (1.0 / i[0], 1.0 / i[1], 1.0 / i[2])
            w = symmetric_multiply_vector(rotate_symmetric_diagonal(quaternion_matrix(new), inverse), total)
        for c in range(3):
            angular_velocity_out[b, c] = w[c]
        for c in range(4):
            rotation_inout[b, c] = new[c]


@kernel
def turn_bodies(turn, rotation_inout):
    """Turns every body by the rotation vector `turn` (b, 3)."""
    for b in range(turn.shape[0]):
        q = (rotation_inout[b, 0], rotation_inout[b, 1], rotation_inout[b, 2], rotation_inout[b, 3])
        increment = rotation_increment(1.0, (turn[b, 0], turn[b, 1], turn[b, 2]))
        new = quaternion_unit(quaternion_multiply(increment, q))
        for c in range(4):
            rotation_inout[b, c] = new[c]


@kernel
def _spin_energy(inertia, rotation, b, w):
    """Twice the energy [J] of turning with angular velocity w of body b at orientations rotation (b, 4)."""
    r = quaternion_matrix((rotation[b, 0], rotation[b, 1], rotation[b, 2], rotation[b, 3]))
    own = transpose_multiply_vector(r, w)
    return inertia[b, 0] * own[0] * own[0] + inertia[b, 1] * own[1] * own[1] + inertia[b, 2] * own[2] * own[2]


@kernel
def spin_energies(inertia, static, rotation, spin, out):
    """Energies out (b,) [J] of angular velocities (b, 3) at orientations (b, 4); none of static bodies."""
    for b in range(static.shape[0]):
        w = (spin[b, 0], spin[b, 1], spin[b, 2])
        out[b] = 0.0 if static[b] else 0.5 * _spin_energy(inertia, rotation, b, w)


@kernel
def calm_spins(inertia, static, before, spin_before, after, turn, excess, spin_inout):
    """Angular velocities (b, 3) after a step with joints: where that of the angular momentum has more energy, by a
    factor `excess`, than both the body's turning in the step and its spin before, one between it and the turning that
    has not, the nearer to the turning the more it had.

    before, after (b, 4): orientations. A body that turns far in a step carries forces of joints to where they do not
    act; the velocity that its positions had is always safe. A spin that jumped to it would not be that of a step which
    is only a little different.
    """
    for b in range(static.shape[0]):
        if static[b]:
            continue
        found = (spin_inout[b, 0], spin_inout[b, 1], spin_inout[b, 2])
        w, old = (turn[b, 0], turn[b, 1], turn[b, 2]), (spin_before[b, 0], spin_before[b, 1], spin_before[b, 2])
        turning, energy = _spin_energy(inertia, after, b, w), _spin_energy(inertia, after, b, found)
        most = excess * max(turning, _spin_energy(inertia, before, b, old))
        if energy > most:
            way = (found[0] - w[0], found[1] - w[1], found[2] - w[2])
            square = _spin_energy(inertia, after, b, way)
            # the energy at a share of the way is turning + slope share + square share^2
            slope, room = 0.5 * (energy - turning - square), max(most - turning, 0.0)
            root = math.sqrt(slope * slope + square * room)
            share = room / (root + slope) if slope > 0.0 else (root - slope) / square
            share *= most / energy
            for c in range(3):
                spin_inout[b, c] = turn[b, c] + share * way[c]
