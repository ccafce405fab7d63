"""Loops over triangles of sheets whose stretches are unknowns of their own (T 3.5; theory section 6).

All is seen in the axes E1, E2 of the rest triangle: F takes these to two vectors (6 numbers), a rotation (9) has their
turned images and the normal as columns, a stretch is a symmetric 2x2 matrix in the corner of a 3x3 one. Gradients are
those of nodes 0 and 1 along E1 and E2, and nothing (6). Data (20) are those of kernels.cpu.cloth.
"""

import numpy as np
from numba import prange

from pliant.formulas.cloth import sheet_frame
from pliant.formulas.hyperelastic import LEAST_SUM, skew_modulus
from pliant.formulas.matrix3 import add, dot, multiply, scale, subtract
from pliant.jit import formula, parallel_kernel
from pliant.kernels.cpu.cloth import gather_pairs
from pliant.kernels.cpu.mixed import group_age
from pliant.kernels.lanes import LANES, copy_components, load3, load9, load9_from, store3, store9
from pliant.kernels.sheets import TRIANGLE_DATA

# The first of the moduli of turns among the data of a triangle.
SKEW = 17


@formula
def _images(d, gradients, group, lane):
    """Where E1 and E2 go, from the differences of nodes."""
    d0, d1 = load3(d, 0, 0, lane), load3(d, 0, 3, lane)
    g0, g1 = load3(gradients, group, 0, lane), load3(gradients, group, 3, lane)
    return add(scale(g0[0], d0), scale(g1[0], d1)), add(scale(g0[1], d0), scale(g1[1], d1))


@parallel_kernel
def sheet_gradients(x, nodes, gradients, out):
    """F (groups, 6, LANES) at positions x (n, 3)."""
    for group in prange(nodes.shape[0]):
        d = np.empty((1, 6, LANES))
        gather_pairs(x, nodes, group, d)
        for lane in range(LANES):
            a, b = _images(d, gradients, group, lane)
            store3(out, group, 0, lane, a)
            store3(out, group, 3, lane, b)


@formula
def _nearest(a, b):
    """The rotation (9) nearest to the map that takes E1, E2 to a, b."""
    _, _, u1, u2, n, c, s = sheet_frame(a, b)
    first, second = subtract(scale(c, u1), scale(s, u2)), add(scale(s, u1), scale(c, u2))
    return (first[0], second[0], n[0], first[1], second[1], n[1], first[2], second[2], n[2])


@parallel_kernel
def sheet_rotations(deformation, out):
    """Rotations (groups, 9, LANES) nearest to F (groups, 6, LANES)."""
    for group in prange(deformation.shape[0]):
        for lane in range(LANES):
            rotation = _nearest(load3(deformation, group, 0, lane), load3(deformation, group, 3, lane))
            store9(out, group, 0, lane, rotation)


@parallel_kernel
def sheet_procrustes(deformation, stress, stretch, alpha, out):
    """Rotations (groups, 9, LANES) nearest to (l / beta + F) S^T, beta = alpha |l| (T equation 7, with the stretch of
    the plane alone, 3.5)."""
    for group in prange(deformation.shape[0]):
        for lane in range(LANES):
            largest = 0.0
            for k in range(6):
                largest = max(largest, abs(stress[group, k, lane]))
            pull = 1.0 / (alpha * largest) if largest > 0.0 else 0.0
            a = add(load3(deformation, group, 0, lane), scale(pull, load3(stress, group, 0, lane)))
            b = add(load3(deformation, group, 3, lane), scale(pull, load3(stress, group, 3, lane)))
            x, c, y = stretch[group, 0, lane], stretch[group, 1, lane], stretch[group, 4, lane]
            rotation = _nearest(add(scale(x, a), scale(c, b)), add(scale(c, a), scale(y, b)))
            store9(out, group, 0, lane, rotation)


@parallel_kernel
def place_stretches(stretch, x_out):
    """Places (groups LANES, 3, 3) of three nodes that a triangle of unit axes, stretched by S, would have."""
    for group in prange(stretch.shape[0]):
        for lane in range(LANES):
            at = group * LANES + lane
            for c in range(3):
                x_out[at, 0, c], x_out[at, 1, c] = stretch[group, c, lane], stretch[group, 3 + c, lane]


@formula
def _columns(r):
    """The columns of a matrix (9)."""
    return (r[0], r[3], r[6]), (r[1], r[4], r[7]), (r[2], r[5], r[8])


@parallel_kernel
def principal_stresses(frames, slots, volume, data_inout, out):
    """Principal stresses (groups, 2, LANES), times volume, from the slots (groups, 9, LANES) of stretches with frames
    (groups, 21, LANES); where there is no volume (groups, LANES) neither these nor the moduli of the data (groups, 20,
    LANES)."""
    for group in prange(frames.shape[0]):
        for lane in range(LANES):
            u1, u2, _ = _columns(load9(frames, group, lane))
            one, two = load3(slots, group, 0, lane), load3(slots, group, 3, lane)
            p1 = dot(u1, add(scale(frames[group, 12, lane], one), scale(frames[group, 15, lane], two)))
            p2 = dot(u2, add(scale(frames[group, 13, lane], one), scale(frames[group, 16, lane], two)))
            there = volume[group, lane] > 0.0
            out[group, 0, lane], out[group, 1, lane] = p1 if there else 0.0, p2 if there else 0.0
            for k in range(13, TRIANGLE_DATA):
                data_inout[group, k, lane] = data_inout[group, k, lane] if there else 0.0


@formula
def _expanded_lane(a, b, r, group, lane, frames, data, principal):
    """What E1 and E2 are pulled by, and the energy beyond that at the stretch, of one triangle with F and rotation."""
    u1, u2, n = _columns(multiply(r, load9(data, group, lane)))
    # v1 and v2 along E1 and E2
    v00, v10 = frames[group, 12, lane], frames[group, 15, lane]
    v01, v11 = frames[group, 13, lane], frames[group, 16, lane]
    along, across = add(scale(v00, a), scale(v10, b)), add(scale(v01, a), scale(v11, b))
    d00, d11 = dot(u1, along) - frames[group, 9, lane], dot(u2, across) - frames[group, 10, lane]
    d01, d10, d20, d21 = dot(u1, across), dot(u2, along), dot(n, along), dot(n, across)
    m, p1, p2 = load3(data, group, 13, lane), principal[group, 0, lane], principal[group, 1, lane]
    even, odd = 0.5 * data[group, 16, lane] * (d01 + d10), 0.5 * data[group, 17, lane] * (d01 - d10)
    p00, p11 = m[0] * d00 + m[2] * d11, m[2] * d00 + m[1] * d11
    q0, q1 = data[group, 18, lane] * d20, data[group, 19, lane] * d21
    energy = d00 * (p1 + 0.5 * p00) + d11 * (p2 + 0.5 * p11)
    energy += 0.5 * (d01 * (even + odd) + d10 * (even - odd) + d20 * q0 + d21 * q1)
    first = add(add(scale(p1 + p00, u1), scale(even - odd, u2)), scale(q0, n))
    second = add(add(scale(even + odd, u1), scale(p2 + p11, u2)), scale(q1, n))
    return add(scale(v00, first), scale(v01, second)), add(scale(v10, first), scale(v11, second)), energy


@formula
def _store_forces(one, two, gradients, group, lane, out):
    """Slots (9) of a triangle whose E1 and E2 are pulled by one and two."""
    g0, g1 = load3(gradients, group, 0, lane), load3(gradients, group, 3, lane)
    i0, i1 = add(scale(g0[0], one), scale(g0[1], two)), add(scale(g1[0], one), scale(g1[1], two))
    store3(out, group, 0, lane, i0)
    store3(out, group, 3, lane, i1)
    store3(out, group, 6, lane, (-(i0[0] + i1[0]), -(i0[1] + i1[1]), -(i0[2] + i1[2])))


@parallel_kernel
def foresee_sheets(deformation, frames, data_inout, principal, rotation):
    """Skew moduli and those of turns out of the plane, the last rows of data (groups, 20, LANES), of the stresses that
    the quadratic with the rotations so far has at F (groups, 6, LANES): multipliers, not stresses of a law."""
    for group in prange(deformation.shape[0]):
        for lane in range(LANES):
            u1, u2, _ = _columns(multiply(load9(rotation, group, lane), load9(data_inout, group, lane)))
            a, b = load3(deformation, group, 0, lane), load3(deformation, group, 3, lane)
            along = add(scale(frames[group, 12, lane], a), scale(frames[group, 15, lane], b))
            across = add(scale(frames[group, 13, lane], a), scale(frames[group, 16, lane], b))
            s1, s2, m = frames[group, 9, lane], frames[group, 10, lane], load3(data_inout, group, 13, lane)
            d0, d1 = dot(u1, along) - s1, dot(u2, across) - s2
            p1, p2 = (
                principal[group, 0, lane] + m[0] * d0 + m[2] * d1,
                principal[group, 1, lane] + m[2] * d0 + m[1] * d1,
            )
            data_inout[group, 17, lane] = max(skew_modulus(s1, s2, p1, p2), 0.0)
            data_inout[group, 18, lane] = max(p1, 0.0) / max(s1, LEAST_SUM)
            data_inout[group, 19, lane] = max(p2, 0.0) / max(s2, LEAST_SUM)


@parallel_kernel
def sheet_ages(rotation, data, before, out):
    """How much triangles differ from when they were assembled, (groups,)."""
    for group in prange(rotation.shape[0]):
        out[group] = group_age(group, rotation, data, SKEW, before, np.empty((1, 2, LANES)))


@formula
def _turn_lanes(d, gradients, group, own):
    """F of one group from differences (1, 6, LANES) into rows 0 to 5 of own (1, 25, LANES), its rotations into 6 to
    14."""
    for lane in range(LANES):
        a, b = _images(d, gradients, group, lane)
        store3(own, 0, 0, lane, a)
        store3(own, 0, 3, lane, b)
        store9(own, 0, 6, lane, _nearest(a, b))


@formula
def _force_lanes(group, gradients, frames, data, principal, own):
    """Slots of one group into rows 15 to 23 of own (1, 25, LANES), its energies into the last."""
    for lane in range(LANES):
        a, b, r = load3(own, 0, 0, lane), load3(own, 0, 3, lane), load9_from(own, 0, 6, lane)
        one, two, own[0, 24, lane] = _expanded_lane(a, b, r, group, lane, frames, data, principal)
        g0, g1 = load3(gradients, group, 0, lane), load3(gradients, group, 3, lane)
        i0, i1 = add(scale(g0[0], one), scale(g0[1], two)), add(scale(g1[0], one), scale(g1[1], two))
        store3(own, 0, 15, lane, i0)
        store3(own, 0, 18, lane, i1)
        store3(own, 0, 21, lane, (-(i0[0] + i1[0]), -(i0[1] + i1[1]), -(i0[2] + i1[2])))


@parallel_kernel
def fit_sheets(x, nodes, gradients, frames, data, principal, energy, before, rotation, age_out, energy_out, slots_out):
    """Triangles expanded at stretches with frames (groups, 21, LANES), data (groups, 20, LANES), principal stresses
    (groups, 2, LANES) and energies (groups,) [J]: the rotations (groups, 9, LANES) nearest to F at positions x (n, 3),
    how much they differ from those `before` (Assembled), and with these rotations the energies (groups,) [J] of the
    quadratic and the slots (groups, 9, LANES) of its gradient [N]."""
    for group in prange(nodes.shape[0]):
        d, own = np.empty((1, 6, LANES)), np.empty((1, 25, LANES))
        gather_pairs(x, nodes, group, d)
        _turn_lanes(d, gradients, group, own)
        _force_lanes(group, gradients, frames, data, principal, own)
        total = energy[group]
        copy_components(own, 0, 6, 9, rotation, group, 0)
        copy_components(own, 0, 15, 9, slots_out, group, 0)
        for lane in range(LANES):
            total += own[0, 24, lane]
        energy_out[group] = total
        age_out[group] = group_age(group, rotation, data, SKEW, before, own)


@parallel_kernel
def quadratic_sheets(x, nodes, gradients, frames, data, principal, energy, rotation, stress_out, energy_out, slots_out):
    """As `fit_sheets`, with rotations (groups, 9, LANES) as they are; stresses (groups, 6, LANES), times volume: what
    the axes are pulled by."""
    for group in prange(nodes.shape[0]):
        d, total = np.empty((1, 6, LANES)), np.empty(LANES)
        gather_pairs(x, nodes, group, d)
        for lane in range(LANES):
            a, b = _images(d, gradients, group, lane)
            r = load9(rotation, group, lane)
            one, two, total[lane] = _expanded_lane(a, b, r, group, lane, frames, data, principal)
            store3(stress_out, group, 0, lane, one)
            store3(stress_out, group, 3, lane, two)
            _store_forces(one, two, gradients, group, lane, slots_out)
        energy_out[group] = energy[group] + total.sum()


@parallel_kernel
def turn_data(rotation, data, weight, data_out, rotation_out, skew_out):
    """Data (groups, 20, LANES) at stretches, turned by rotations (groups, 9, LANES), their moduli times weight;
    rotations and skew moduli (groups, 3, LANES) as they are."""
    for group in prange(rotation.shape[0]):
        for lane in range(LANES):
            store9(data_out, group, 0, lane, multiply(load9(rotation, group, lane), load9(data, group, lane)))
        for k in range(9, TRIANGLE_DATA):
            factor = weight if k >= 13 else 1.0
            for lane in range(LANES):
                data_out[group, k, lane] = factor * data[group, k, lane]
        copy_components(rotation, group, 0, 9, rotation_out, group, 0)
        copy_components(data, group, SKEW, 3, skew_out, group, 0)


@parallel_kernel
def follow_sheets(deformation, rotation, share, before, stretch_out, misfit_out):
    """Stretches S (groups, 9, LANES) the part `share` of the way from those before to the symmetric part of R^T F;
    misfits (groups,): the largest entry of R S - F with them."""
    for group in prange(deformation.shape[0]):
        worst = 0.0
        for lane in range(LANES):
            r1, r2, _ = _columns(load9(rotation, group, lane))
            a, b = load3(deformation, group, 0, lane), load3(deformation, group, 3, lane)
            x, y, c = before[group, 0, lane], before[group, 4, lane], before[group, 1, lane]
            x, y = x + share * (dot(r1, a) - x), y + share * (dot(r2, b) - y)
            c += share * (0.5 * (dot(r1, b) + dot(r2, a)) - c)
            store9(stretch_out, group, 0, lane, (x, c, 0.0, c, y, 0.0, 0.0, 0.0, 0.0))
            left = subtract(add(scale(x, r1), scale(c, r2)), a)
            right = subtract(add(scale(c, r1), scale(y, r2)), b)
            for k in range(3):
                worst = max(worst, abs(left[k]), abs(right[k]))
        misfit_out[group] = worst
