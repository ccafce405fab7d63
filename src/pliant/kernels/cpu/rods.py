"""Loops over the segments of rods: strains, energy and forces, damping, stiffness.

A segment touches four triples: linear and angular velocity of its first and of its second point. Angular gradients are
by the rotation vectors `turn` (b, 3) that take the points from where a step began to where they are (theory section 2).
"""

import numpy as np
from numba import prange

from pliant.formulas import rods
from pliant.formulas.matrix3 import multiply, multiply_vector, negative, scale, transpose, transpose_multiply
from pliant.formulas.rotation import (
    inverse_turn_jacobian,
    quaternion_multiply,
    quaternion_unit,
    rotation_increment,
    turn_jacobian,
)
from pliant.jit import kernel, parallel_kernel
from pliant.kernels.lanes import LANES, load3, load6_from, load9, load9_from, store3, store9
from pliant.kernels.rods import DIRECTION, END, LENGTH, MIDDLE, NUMBERS, PSI


@kernel
def _frame(rotation, body, offsets, group, first, lane):
    """The frame of an end of a segment: that of its point, and the segment's seen from there."""
    q = (rotation[body, 0], rotation[body, 1], rotation[body, 2], rotation[body, 3])
    o = (
        offsets[group, first, lane],
        offsets[group, first + 1, lane],
        offsets[group, first + 2, lane],
        offsets[group, first + 3, lane],
    )
    return quaternion_multiply(q, o)


@parallel_kernel
def move_points(position, rotation, motion, position_out, rotation_out, turn_out):
    """Places (b, 3) and frames (b, 4) of bodies after displacements and turns (2 b, 3), and these turns (b, 3)."""
    for b in prange(position.shape[0]):
        for c in range(3):
            position_out[b, c] = position[b, c] + motion[2 * b, c]
            turn_out[b, c] = motion[2 * b + 1, c]
        q = (rotation[b, 0], rotation[b, 1], rotation[b, 2], rotation[b, 3])
        increment = rotation_increment(1.0, (turn_out[b, 0], turn_out[b, 1], turn_out[b, 2]))
        new = quaternion_unit(quaternion_multiply(increment, q))
        for c in range(4):
            rotation_out[b, c] = new[c]


@parallel_kernel
def rod_frames(position, rotation, bodies, offsets, frames_out):
    """Strains and what derivatives need of them (groups, 22, LANES) at places (b, 3) and frames (b, 4) of the points;
    columns as in kernels/rods.py; bodies (groups, 2, LANES), offsets (groups, 8, LANES): frames at rest."""
    for group in prange(bodies.shape[0]):
        for lane in range(LANES):
            i, j = bodies[group, 0, lane], bodies[group, 1, lane]
            e = (
                position[j, 0] - position[i, 0],
                position[j, 1] - position[i, 1],
                position[j, 2] - position[i, 2],
            )
            a, b = _frame(rotation, i, offsets, group, 0, lane), _frame(rotation, j, offsets, group, 4, lane)
            psi, c, length, middle = rods.rod_strains(a, b, e)
            numbers = rods.turn_numbers(psi[0] * psi[0] + psi[1] * psi[1] + psi[2] * psi[2])
            store9(frames_out, group, MIDDLE, lane, middle)
            store3(frames_out, group, PSI, lane, psi)
            store3(frames_out, group, DIRECTION, lane, c)
            frames_out[group, LENGTH, lane] = length
            store3(frames_out, group, NUMBERS, lane, (numbers[0], numbers[1], numbers[2]))
            store3(frames_out, group, NUMBERS + 3, lane, (numbers[3], numbers[4], numbers[5]))


@parallel_kernel
def evaluate_rods(frames, bodies, turn, rest, natural, bending, stretch, shear, energy_out, slots_out):
    """Energies (groups,) [J] and slots (groups, 12, LANES) of its gradient [N, N m] at strains as of `rod_frames`."""
    for group in prange(frames.shape[0]):
        energy = 0.0
        for lane in range(LANES):
            psi, c, length = (
                load3(frames, group, PSI, lane),
                load3(frames, group, DIRECTION, lane),
                frames[group, LENGTH, lane],
            )
            stiffness = (load3(bending, group, 0, lane), stretch[group, lane], load3(shear, group, 0, lane))
            loads = rods.rod_loads(psi, c, length, rest[group, lane], load3(natural, group, 0, lane), *stiffness)
            b, p, tension, own = loads
            energy += own
            numbers = load6_from(frames, group, NUMBERS, lane)
            by_e, by_s, by_r = rods.rod_gradient(psi, c, length, numbers, b, p, tension)
            middle = load9(frames, group, lane)
            force = multiply_vector(middle, by_e)
            first, second = rods.end_moments(middle, by_s, by_r)
            i, j = bodies[group, 0, lane], bodies[group, 1, lane]
            store3(slots_out, group, 0, lane, (-force[0], -force[1], -force[2]))
            store3(slots_out, group, 3, lane, rods.turned_back((turn[i, 0], turn[i, 1], turn[i, 2]), first))
            store3(slots_out, group, 6, lane, force)
            store3(slots_out, group, 9, lane, rods.turned_back((turn[j, 0], turn[j, 1], turn[j, 2]), second))
        energy_out[group] = energy


@parallel_kernel
def rod_loads(frames, rest, natural, bending, stretch, shear, out):
    """Loads that a segment carries (groups, 6, LANES) in its middle frame: shear forces and tension [N], moments about
    the first two axes and torque [N m]."""
    for group in prange(frames.shape[0]):
        for lane in range(LANES):
            psi, c, length = (
                load3(frames, group, PSI, lane),
                load3(frames, group, DIRECTION, lane),
                frames[group, LENGTH, lane],
            )
            stiffness = (load3(bending, group, 0, lane), stretch[group, lane], load3(shear, group, 0, lane))
            loads = rods.rod_loads(psi, c, length, rest[group, lane], load3(natural, group, 0, lane), *stiffness)
            b, p, tension, _ = loads
            numbers = load6_from(frames, group, NUMBERS, lane)
            by_e, _, by_r = rods.rod_gradient(psi, c, length, numbers, b, p, tension)
            store3(out, group, 0, lane, by_e)
            store3(out, group, 3, lane, by_r)


@parallel_kernel
def damp_rods(v, triples, frames, rest, weights, energy_out, slots_inout):
    """Adds viscous forces at velocities v (triples, 3) in frames (groups, 22, LANES) with weights (groups, 6, LANES):
    beta times GA, GA, EA [N s] and EI, EI, GJ [N m2 s]; energies (groups,): half of the power."""
    for group in prange(triples.shape[0]):
        energy = 0.0
        for lane in range(LANES):
            x1, w1 = triples[group, 0, lane], triples[group, 1, lane]
            x2, w2 = triples[group, 2, lane], triples[group, 3, lane]
            m, c, length = (
                load9(frames, group, lane),
                load3(frames, group, DIRECTION, lane),
                frames[group, LENGTH, lane],
            )
            e, size = multiply_vector(m, scale(length, c)), rest[group, lane]
            dv = (v[x2, 0] - v[x1, 0], v[x2, 1] - v[x1, 1], v[x2, 2] - v[x1, 2])
            spins = ((v[w1, 0], v[w1, 1], v[w1, 2]), (v[w2, 0], v[w2, 1], v[w2, 2]))
            slide, bend = rods.rod_rates(m, e, size, dv, *spins)
            n = (
                weights[group, 0, lane] * slide[0],
                weights[group, 1, lane] * slide[1],
                weights[group, 2, lane] * slide[2],
            )
            b = (
                weights[group, 3, lane] * bend[0],
                weights[group, 4, lane] * bend[1],
                weights[group, 5, lane] * bend[2],
            )
            energy += 0.5 * size * (n[0] * slide[0] + n[1] * slide[1] + n[2] * slide[2])
            energy += 0.5 * size * (b[0] * bend[0] + b[1] * bend[1] + b[2] * bend[2])
            force, moment = multiply_vector(m, n), multiply_vector(m, b)
            # -(w x e) . n = -w . (e x n), half of it at either end
            turn = (
                0.5 * (force[1] * e[2] - force[2] * e[1]),
                0.5 * (force[2] * e[0] - force[0] * e[2]),
                0.5 * (force[0] * e[1] - force[1] * e[0]),
            )
            for k in range(3):
                slots_inout[group, k, lane] -= force[k]
                slots_inout[group, 3 + k, lane] += turn[k] - moment[k]
                slots_inout[group, 6 + k, lane] += force[k]
                slots_inout[group, 9 + k, lane] += turn[k] + moment[k]
        energy_out[group] = energy


@parallel_kernel
def rod_pulls(axes, tension, slots_out):
    """Slots (groups, 12, LANES) of tensions (groups, LANES) [N] along axes (groups, 3, LANES)."""
    for group in prange(axes.shape[0]):
        for lane in range(LANES):
            pull = scale(tension[group, lane], load3(axes, group, 0, lane))
            store3(slots_out, group, 0, lane, (-pull[0], -pull[1], -pull[2]))
            store3(slots_out, group, 3, lane, (0.0, 0.0, 0.0))
            store3(slots_out, group, 6, lane, pull)
            store3(slots_out, group, 9, lane, (0.0, 0.0, 0.0))


@parallel_kernel
def tensions_ahead(frames, triples, motion, rest, stretch, axes_out, out):
    """Tensions (groups, LANES) [N] after a motion (triples, 3) [m, rad], to first order, and the axes (groups, 3,
    LANES) of the segments."""
    for group in prange(frames.shape[0]):
        for lane in range(LANES):
            i, j, length = triples[group, 0, lane], triples[group, 2, lane], frames[group, LENGTH, lane]
            along = multiply_vector(load9(frames, group, lane), load3(frames, group, DIRECTION, lane))
            store3(axes_out, group, 0, lane, along)
            longer = along[0] * (motion[j, 0] - motion[i, 0]) + along[1] * (motion[j, 1] - motion[i, 1])
            longer += along[2] * (motion[j, 2] - motion[i, 2]) + length - rest[group, lane]
            out[group, lane] = stretch[group, lane] * longer / rest[group, lane]


@kernel
def _world_blocks(group, frames, project, tensions, weight, rest, natural, bending, stretch, shear, blocks):
    """Blocks by e e, d1 e, d2 e, d1 d1, d2 d1, d2 d2 (1, 54, LANES), world axes, times weight, and the moments on both
    ends (6 more)."""
    for lane in range(LANES):
        psi, c, length = (
            load3(frames, group, PSI, lane),
            load3(frames, group, DIRECTION, lane),
            frames[group, LENGTH, lane],
        )
        d, g = load3(bending, group, 0, lane), load3(shear, group, 0, lane)
        size, ea = rest[group, lane], stretch[group, lane]
        loads = rods.rod_loads(psi, c, length, size, load3(natural, group, 0, lane), d, ea, g)
        b, p, tension, _ = loads
        numbers, m = load6_from(frames, group, NUMBERS, lane), load9(frames, group, lane)
        if project:
            found = rods.positive_rod_hessian(psi, c, length, numbers, tensions[group, lane], size, d, ea, g)
        else:
            found = rods.rod_hessian(psi, c, length, numbers, b, p, tension, size, d, ea, g)
        ee, se, re, ss, rs, rr = found
        _, by_s, by_r = rods.rod_gradient(psi, c, length, numbers, b, p, tension)
        first, second = rods.end_moments(m, by_s, by_r)
        own, between = rods.combine(0.25, ss, 1.0, rr), rods.combine(0.5, rs, 0.5, transpose(rs))
        twisted = rods.combine(0.5, rs, -0.5, transpose(rs))
        store9(blocks, 0, 0, lane, rods.times(weight, rods.rotated(m, ee)))
        store9(blocks, 0, 9, lane, rods.times(weight, rods.rotated(m, rods.combine(0.5, se, -1.0, re))))
        store9(blocks, 0, 18, lane, rods.times(weight, rods.rotated(m, rods.combine(0.5, se, 1.0, re))))
        store9(blocks, 0, 27, lane, rods.times(weight, rods.rotated(m, rods.combine(1.0, own, -1.0, between))))
        off = rods.combine(1.0, rods.combine(0.25, ss, -1.0, rr), 1.0, twisted)
        store9(blocks, 0, 36, lane, rods.times(weight, rods.rotated(m, off)))
        store9(blocks, 0, 45, lane, rods.times(weight, rods.rotated(m, rods.combine(1.0, own, 1.0, between))))
        store3(blocks, 0, END, lane, scale(weight, first))
        store3(blocks, 0, END + 3, lane, scale(weight, second))


@kernel
def _store_block(out, place, pair, a):
    for k in range(9):
        out[place, pair, k] = a[k]


@parallel_kernel
def rod_blocks(frames, bodies, turn, project, tensions, weight, rest, natural, bending, stretch, shear, blocks_out):
    """The ten stiffness blocks (groups LANES, 10, 9) of every segment, pairs (i, j), j <= i, of its triples, times
    weight; project: what is positive whatever the load, with the pull of tensions (groups, LANES) [N]."""
    for group in prange(frames.shape[0]):
        blocks = np.empty((1, END + 6, LANES))
        _world_blocks(group, frames, project, tensions, weight, rest, natural, bending, stretch, shear, blocks)
        for lane in range(LANES):
            i, j, place = bodies[group, 0, lane], bodies[group, 1, lane], group * LANES + lane
            t1, t2 = (turn[i, 0], turn[i, 1], turn[i, 2]), (turn[j, 0], turn[j, 1], turn[j, 2])
            first, second = turn_jacobian(t1), turn_jacobian(t2)
            ee = load9(blocks, 0, lane)
            one = transpose_multiply(first, load9_from(blocks, 0, 9, lane))
            two = transpose_multiply(second, load9_from(blocks, 0, 18, lane))
            own = multiply(transpose_multiply(first, load9_from(blocks, 0, 27, lane)), first)
            off = multiply(transpose_multiply(second, load9_from(blocks, 0, 36, lane)), first)
            other = multiply(transpose_multiply(second, load9_from(blocks, 0, 45, lane)), second)
            if not project:
                own = rods.combine(1.0, own, 1.0, rods.turning_curvature(t1, load3(blocks, 0, END, lane)))
                other = rods.combine(1.0, other, 1.0, rods.turning_curvature(t2, load3(blocks, 0, END + 3, lane)))
            _store_block(blocks_out, place, 0, ee)
            _store_block(blocks_out, place, 1, negative(one))
            _store_block(blocks_out, place, 2, own)
            _store_block(blocks_out, place, 3, negative(ee))
            _store_block(blocks_out, place, 4, transpose(one))
            _store_block(blocks_out, place, 5, ee)
            _store_block(blocks_out, place, 6, negative(two))
            _store_block(blocks_out, place, 7, off)
            _store_block(blocks_out, place, 8, two)
            _store_block(blocks_out, place, 9, other)


@parallel_kernel
def add_rod_damping(frames, rest, weights, blocks_inout):
    """Adds the blocks of the damping of `damp_rods` with weights (groups, 6, LANES)."""
    for group in prange(frames.shape[0]):
        for lane in range(LANES):
            m, c, length = (
                load9(frames, group, lane),
                load3(frames, group, DIRECTION, lane),
                frames[group, LENGTH, lane],
            )
            e, place, size = multiply_vector(m, scale(length, c)), group * LANES + lane, rest[group, lane]
            per, w = 1.0 / size, load6_from(weights, group, 0, lane)
            slide = rods.rotated(m, (per * w[0], 0.0, 0.0, 0.0, per * w[1], 0.0, 0.0, 0.0, per * w[2]))
            bend = rods.rotated(m, (per * w[3], 0.0, 0.0, 0.0, per * w[4], 0.0, 0.0, 0.0, per * w[5]))
            arm = rods.skew((0.5 * e[0], 0.5 * e[1], 0.5 * e[2]))
            # dv - w x e = dv + [e]x w: by a spin the rate changes by [e/2]x at either end
            crossed = negative(multiply(arm, slide))
            both = negative(multiply(multiply(arm, slide), arm))
            parts = (slide, negative(crossed), rods.combine(1.0, both, 1.0, bend), negative(slide), transpose(crossed))
            more = (slide, negative(crossed), rods.combine(1.0, both, -1.0, bend), crossed)
            for k in range(9):
                blocks_inout[place, 0, k] += parts[0][k]
                blocks_inout[place, 1, k] += parts[1][k]
                blocks_inout[place, 2, k] += parts[2][k]
                blocks_inout[place, 3, k] += parts[3][k]
                blocks_inout[place, 4, k] += parts[4][k]
                blocks_inout[place, 5, k] += more[0][k]
                blocks_inout[place, 6, k] += more[1][k]
                blocks_inout[place, 7, k] += more[2][k]
                blocks_inout[place, 8, k] += more[3][k]
                blocks_inout[place, 9, k] += parts[2][k]


@kernel
def moments_of(turn, gradient_inout):
    """Gradients (b, 3) by rotation vectors `turn` as those by spins."""
    for b in range(turn.shape[0]):
        m = inverse_turn_jacobian((turn[b, 0], turn[b, 1], turn[b, 2]))
        g = (gradient_inout[b, 0], gradient_inout[b, 1], gradient_inout[b, 2])
        found = multiply_vector(transpose(m), g)
        for c in range(3):
            gradient_inout[b, c] = found[c]
