"""Loops over points of elements whose stretches are unknowns of their own (T; theory section 6).

An element is expanded at a stretch S and a rotation R: with S = U s V^T its frames are R U and V, and its energy is
quadratic in F around R S. Nothing here depends on the law: its stress and moduli at S come from its own kernels.
"""

import numpy as np
from numba import prange

from pliant.formulas.elements import element_gradient
from pliant.formulas.hyperelastic import nodal_gradients, principal_differential, skew_modulus
from pliant.formulas.matrix3 import (
    multiply,
    multiply_transpose,
    positive_inverse,
    rotate_symmetric_diagonal,
    symmetric_multiply_vector,
    transpose_multiply,
)
from pliant.formulas.svd import polar_step, signed_svd
from pliant.jit import formula, parallel_kernel
from pliant.kernels.cpu.elements import gather_differences
from pliant.kernels.lanes import LANES, copy_components, load3, load6, load9, load9_from, store3, store9
from pliant.kernels.mixed import LARGEST_STIFFENING, LARGEST_TURN

# Newton steps towards a rotation at most, the change that is the last, whose square is below rounding, and the volume
# ratio below which singular values are taken instead.
MOST_STEPS, SETTLED, FLAT = 12, 1e-8, 1e-3
# Pivots of moduli that count as nothing, relative to their diagonal numbers.
LEAST_PIVOT = 1e-12
# The first of the skew moduli among those of a point.
SKEW = 9


@parallel_kernel
def tet_gradients(x, nodes, gradients, out):
    """F (groups, 9, LANES) of tets of four nodes at positions x (n, 3)."""
    for group in prange(nodes.shape[0]):
        d = np.empty((9, LANES))
        gather_differences(x, nodes, group, d)
        for lane in range(LANES):
            d0, d1 = (d[0, lane], d[1, lane], d[2, lane]), (d[3, lane], d[4, lane], d[5, lane])
            f = element_gradient(d0, d1, (d[6, lane], d[7, lane], d[8, lane]), load9(gradients, group, lane))
            store9(out, group, 0, lane, f)


@formula
def _polar(f):
    """The rotation of F (9)."""
    u, _, v = signed_svd(f)
    return multiply_transpose(u, v)


@parallel_kernel
def nearest_rotations(deformation, out):
    """Rotations (points, 9, LANES) nearest to matrices (points, 9, LANES)."""
    for at in prange(deformation.shape[0]):
        for lane in range(LANES):
            store9(out, at, 0, lane, _polar(load9(deformation, at, lane)))


@parallel_kernel
def procrustes(deformation, stress, stretch, alpha, out):
    """Rotations (points, 9, LANES) nearest to (l / beta + F) S^T, beta = alpha |l| (T equation 7); stress: volume l."""
    for at in prange(deformation.shape[0]):
        for lane in range(LANES):
            f, l, largest = load9(deformation, at, lane), load9(stress, at, lane), 0.0
            for k in range(9):
                largest = max(largest, abs(stress[at, k, lane]))
            scale = 1.0 / (alpha * largest) if largest > 0.0 else 0.0
            pulled = (
                f[0] + scale * l[0],
                f[1] + scale * l[1],
                f[2] + scale * l[2],
                f[3] + scale * l[3],
                f[4] + scale * l[4],
                f[5] + scale * l[5],
                f[6] + scale * l[6],
                f[7] + scale * l[7],
                f[8] + scale * l[8],
            )
            store9(out, at, 0, lane, _polar(multiply_transpose(pulled, load9(stretch, at, lane))))


@formula
def _expanded_lane(f, r, at, lane, frames, moduli, principal):
    """The stress (9) and the energy beyond that at the stretch of one point with F and rotation R."""
    u, v = multiply(r, load9(frames, at, lane)), load9_from(frames, at, 12, lane)
    s, p = load3(frames, at, 9, lane), load3(principal, at, 0, lane)
    a = multiply(transpose_multiply(u, f), v)
    a = (a[0] - s[0], a[1], a[2], a[3], a[4] - s[1], a[5], a[6], a[7], a[8] - s[2])
    own = load6(moduli, at, lane)
    d = principal_differential(a, own, load3(moduli, at, 6, lane), load3(moduli, at, 9, lane))
    e = a[0] * (p[0] + 0.5 * d[0]) + a[4] * (p[1] + 0.5 * d[4]) + a[8] * (p[2] + 0.5 * d[8])
    e += 0.5 * (a[1] * d[1] + a[2] * d[2] + a[3] * d[3] + a[5] * d[5] + a[6] * d[6] + a[7] * d[7])
    d = (d[0] + p[0], d[1], d[2], d[3], d[4] + p[1], d[5], d[6], d[7], d[8] + p[2])
    return multiply_transpose(multiply(u, d), v), e


@formula
def _deform_lanes(d, gradients, group, own):
    """F of one group from differences d (9, LANES), into rows 0 to 8 of own (1, 31, LANES)."""
    for lane in range(LANES):
        d0, d1 = (d[0, lane], d[1, lane], d[2, lane]), (d[3, lane], d[4, lane], d[5, lane])
        f = element_gradient(d0, d1, (d[6, lane], d[7, lane], d[8, lane]), load9(gradients, group, lane))
        store9(own, 0, 0, lane, f)


@formula
def _turn_lanes(own):
    """The rotations of one group with F in rows 0 to 8 of own (1, 31, LANES), into rows 9 to 17: by Newton steps, or by
    singular values where one of them is turned inside out or nearly flat."""
    for k in range(9):
        for lane in range(LANES):
            own[0, 9 + k, lane] = own[0, k, lane]
    for _ in range(MOST_STEPS):
        for lane in range(LANES):
            a = load9_from(own, 0, 9, lane)
            r, own[0, 18, lane] = polar_step(a)
            store9(own, 0, 9, lane, r)
            first = abs(r[0] - a[0]) + abs(r[1] - a[1]) + abs(r[2] - a[2])
            second = abs(r[3] - a[3]) + abs(r[4] - a[4]) + abs(r[5] - a[5])
            own[0, 19, lane] = first + second + abs(r[6] - a[6]) + abs(r[7] - a[7]) + abs(r[8] - a[8])
        least, moved = 1.0, 0.0  # in a loop of their own: the one above vectorises
        for lane in range(LANES):
            least, moved = min(least, own[0, 18, lane]), max(moved, own[0, 19, lane])
        if least < FLAT:
            break
        if moved < SETTLED:
            return
    for lane in range(LANES):
        store9(own, 0, 9, lane, _polar(load9(own, 0, lane)))


@formula
def _force_lanes(group, gradients, frames, moduli, principal, own):
    """The slots of one group, into rows 18 to 29 of own (1, 31, LANES), and its energies, into the last, from F and R
    in its first rows."""
    for lane in range(LANES):
        f, r = load9(own, 0, lane), load9_from(own, 0, 9, lane)
        p, own[0, 30, lane] = _expanded_lane(f, r, group, lane, frames, moduli, principal)
        i = nodal_gradients(p, load9(gradients, group, lane))
        store9(own, 0, 18, lane, i)
        store3(own, 0, 27, lane, (-(i[0] + i[3] + i[6]), -(i[1] + i[4] + i[7]), -(i[2] + i[5] + i[8])))


@formula
def _foresee_lanes(group, rotation, frames, principal, own, moduli_inout):
    """Of one group with F in rows 0 to 8 of own (1, 31, LANES): the skew moduli, in rows 9 to 11, of the stresses that
    the quadratic with the rotations so far has there: multipliers, not stresses of a law."""
    for lane in range(LANES):
        r, v, s = load9(rotation, group, lane), load9_from(frames, group, 12, lane), load3(frames, group, 9, lane)
        a = multiply(transpose_multiply(multiply(r, load9(frames, group, lane)), load9(own, 0, lane)), v)
        m, p = load6(moduli_inout, group, lane), load3(principal, group, 0, lane)
        d = (a[0] - s[0], a[4] - s[1], a[8] - s[2])
        q0 = p[0] + m[0] * d[0] + m[5] * d[1] + m[4] * d[2]
        q1 = p[1] + m[5] * d[0] + m[1] * d[1] + m[3] * d[2]
        q2 = p[2] + m[4] * d[0] + m[3] * d[1] + m[2] * d[2]
        moduli_inout[group, 9, lane] = max(skew_modulus(s[1], s[2], q1, q2), 0.0)
        moduli_inout[group, 10, lane] = max(skew_modulus(s[0], s[2], q0, q2), 0.0)
        moduli_inout[group, 11, lane] = max(skew_modulus(s[0], s[1], q0, q1), 0.0)


@formula
def group_age(group, rotation, moduli, first, before, work):
    """How much one group differs from when it was assembled, in parts of what is too much: its rotations, and its skew
    moduli, from component `first` on, times speed, which makes them relative to masses; work (1, 2 or more, LANES)."""
    for lane in range(LANES):
        work[0, 0, lane], work[0, 1, lane] = 0.0, 0.0
    for k in range(9):
        for lane in range(LANES):
            turn = abs(rotation[group, k, lane] - before.rotation[group, k, lane])
            work[0, 0, lane] = max(work[0, 0, lane], turn)
    for k in range(3):
        for lane in range(LANES):
            stiffer = abs(moduli[group, first + k, lane] - before.skew[group, k, lane]) * before.speed[group, lane]
            work[0, 1, lane] = max(work[0, 1, lane], stiffer)
    age = 0.0
    for lane in range(LANES):
        age = max(age, work[0, 0, lane] / LARGEST_TURN, work[0, 1, lane] / LARGEST_STIFFENING)
    return age


@parallel_kernel
def fit_tets(
    x, nodes, gradients, frames, moduli, principal, energy, foresee, before, rotation, age_out, energy_out, slots_out
):
    """Tets of four nodes, expanded at stretches with frames (groups, 21, LANES), moduli (groups, 12, LANES), principal
    stresses (groups, 3, LANES), both times volume, and energies (groups,) [J]: the rotations (groups, 9, LANES) nearest
    to F at positions x (n, 3), how much they differ from those `before` (Assembled), and with these rotations the
    energies (groups,) [J] of the quadratic and the slots (groups, 12, LANES) of its gradient [N]. foresee: with the
    skew moduli of the stresses at x with the rotations so far."""
    for group in prange(nodes.shape[0]):
        d, own = np.empty((9, LANES)), np.empty((1, 31, LANES))
        gather_differences(x, nodes, group, d)
        _deform_lanes(d, gradients, group, own)
        if foresee:
            _foresee_lanes(group, rotation, frames, principal, own, moduli)
        _turn_lanes(own)
        _force_lanes(group, gradients, frames, moduli, principal, own)
        total = energy[group]
        copy_components(own, 0, 9, 9, rotation, group, 0)
        copy_components(own, 0, 18, 12, slots_out, group, 0)
        for lane in range(LANES):
            total += own[0, 30, lane]
        energy_out[group] = total
        age_out[group] = group_age(group, rotation, moduli, SKEW, before, own)


@parallel_kernel
def quadratic_tets(x, nodes, gradients, frames, moduli, principal, energy, rotation, energy_out, slots_out):
    """As `fit_tets`, with rotations (groups, 9, LANES) as they are."""
    for group in prange(nodes.shape[0]):
        d, own = np.empty((9, LANES)), np.empty((1, 31, LANES))
        gather_differences(x, nodes, group, d)
        _deform_lanes(d, gradients, group, own)
        copy_components(rotation, group, 0, 9, own, 0, 9)
        _force_lanes(group, gradients, frames, moduli, principal, own)
        total = energy[group]
        copy_components(own, 0, 18, 12, slots_out, group, 0)
        for lane in range(LANES):
            total += own[0, 30, lane]
        energy_out[group] = total


@parallel_kernel
def principal_stresses(frames, stress, volume, moduli_inout, out):
    """The diagonal (points, 3, LANES) of U^T P V of stresses (points, 9, LANES) in frames (points, 21, LANES); where
    there is no volume (points, LANES) neither stresses nor moduli (points, 12, LANES)."""
    for at in prange(frames.shape[0]):
        for lane in range(LANES):
            u, v = load9(frames, at, lane), load9_from(frames, at, 12, lane)
            p, there = multiply(transpose_multiply(u, load9(stress, at, lane)), v), volume[at, lane] > 0.0
            store3(out, at, 0, lane, (p[0] if there else 0.0, p[4] if there else 0.0, p[8] if there else 0.0))
            for k in range(12):
                moduli_inout[at, k, lane] = moduli_inout[at, k, lane] if there else 0.0


@parallel_kernel
def foresee_points(deformation, frames, moduli, principal, rotation):
    """The skew moduli of points of the stresses that the quadratic with the rotations so far has at F."""
    for at in prange(deformation.shape[0]):
        own = np.empty((1, 9, LANES))
        for k in range(9):
            for lane in range(LANES):
                own[0, k, lane] = deformation[at, k, lane]
        _foresee_lanes(at, rotation, frames, principal, own, moduli)


@parallel_kernel
def ages(rotation, moduli, before, out):
    """How much points differ from when they were assembled, (points,)."""
    for at in prange(rotation.shape[0]):
        out[at] = group_age(at, rotation, moduli, SKEW, before, np.empty((1, 2, LANES)))


@parallel_kernel
def turn_points(rotation, frames, moduli, weight, frames_out, moduli_out, rotation_out, skew_out):
    """Frames (points, 21, LANES) at stretches, turned by rotations (points, 9, LANES), and moduli (points, 12, LANES)
    times weight; rotations and skew moduli (points, 3, LANES) as they are."""
    for at in prange(rotation.shape[0]):
        for lane in range(LANES):
            store9(frames_out, at, 0, lane, multiply(load9(rotation, at, lane), load9(frames, at, lane)))
        copy_components(frames, at, 9, 12, frames_out, at, 9)
        for k in range(12):
            for lane in range(LANES):
                moduli_out[at, k, lane] = weight * moduli[at, k, lane]
        copy_components(rotation, at, 0, 9, rotation_out, at, 0)
        copy_components(moduli, at, SKEW, 3, skew_out, at, 0)


@parallel_kernel
def quadratic_points(deformation, frames, moduli, principal, energy, rotation, stress_out, energy_out):
    """Stresses (points, 9, LANES), times volume, and energies (points,) [J] at F of points expanded as in `fit_tets`,
    with rotations (points, 9, LANES)."""
    for at in prange(deformation.shape[0]):
        total = np.empty(LANES)
        for lane in range(LANES):
            f, r = load9(deformation, at, lane), load9(rotation, at, lane)
            p, total[lane] = _expanded_lane(f, r, at, lane, frames, moduli, principal)
            store9(stress_out, at, 0, lane, p)
        energy_out[at] = energy[at] + total.sum()


@parallel_kernel
def seen_stretches(deformation, rotation, share, before, stretch_out, misfit_out):
    """Stretches S (points, 9, LANES) the part `share` of the way from those before to the symmetric part of R^T F;
    misfits (points,): the largest entry of R S - F with them."""
    for at in prange(deformation.shape[0]):
        worst = 0.0
        for lane in range(LANES):
            r, f = load9(rotation, at, lane), load9(deformation, at, lane)
            seen, s = transpose_multiply(r, f), load9(before, at, lane)
            a, b, c = 0.5 * (seen[5] + seen[7]), 0.5 * (seen[2] + seen[6]), 0.5 * (seen[1] + seen[3])
            goal = (seen[0], c, b, c, seen[4], a, b, a, seen[8])
            s = (
                s[0] + share * (goal[0] - s[0]),
                s[1] + share * (goal[1] - s[1]),
                s[2] + share * (goal[2] - s[2]),
                s[3] + share * (goal[3] - s[3]),
                s[4] + share * (goal[4] - s[4]),
                s[5] + share * (goal[5] - s[5]),
                s[6] + share * (goal[6] - s[6]),
                s[7] + share * (goal[7] - s[7]),
                s[8] + share * (goal[8] - s[8]),
            )
            store9(stretch_out, at, 0, lane, s)
            back = multiply(r, s)
            for k in range(9):
                worst = max(worst, abs(back[k] - f[k]))
        misfit_out[at] = worst


@parallel_kernel
def settle_stretches(deformation, rotation, frames_inout, stretch_out, misfit_out):
    """Stretches S = V s V^T (points, 9, LANES) of F = U s V^T, by its frames (points, 21, LANES), which become those of
    S; misfits as `seen_stretches`."""
    for at in prange(deformation.shape[0]):
        worst = 0.0
        for lane in range(LANES):
            v = load9_from(frames_inout, at, 12, lane)
            a = rotate_symmetric_diagonal(v, load3(frames_inout, at, 9, lane))
            stretch = (a[0], a[5], a[4], a[5], a[1], a[3], a[4], a[3], a[2])
            store9(stretch_out, at, 0, lane, stretch)
            store9(frames_inout, at, 0, lane, v)
            back, f = multiply(load9(rotation, at, lane), stretch), load9(deformation, at, lane)
            for k in range(9):
                worst = max(worst, abs(back[k] - f[k]))
        misfit_out[at] = worst


@parallel_kernel
def scatter_tets(stress, gradients, slots_out):
    """Slots (groups, 12, LANES) of tets of four nodes with stresses (groups, 9, LANES) times volume: J^T l."""
    for group in prange(stress.shape[0]):
        for lane in range(LANES):
            i = nodal_gradients(load9(stress, group, lane), load9(gradients, group, lane))
            store9(slots_out, group, 0, lane, i)
            last = (-(i[0] + i[3] + i[6]), -(i[1] + i[4] + i[7]), -(i[2] + i[5] + i[8]))
            store3(slots_out, group, 9, lane, last)


@parallel_kernel
def add_compliance(frames, moduli, softness, l, out):
    """Adds (W H^-1 W^T + K) l (points, 9, LANES) of multipliers l times volume, in frames (points, 21, LANES) and
    moduli (points, 12, LANES) times volume; softness (points, LANES): what K is in the three directions of turns."""
    for at in prange(l.shape[0]):
        for lane in range(LANES):
            u, v, soft = load9(frames, at, lane), load9_from(frames, at, 12, lane), softness[at, lane]
            own, even = load6(moduli, at, lane), load3(moduli, at, 6, lane)
            a = multiply(transpose_multiply(u, load9(l, at, lane)), v)
            d = symmetric_multiply_vector(positive_inverse(own, LEAST_PIVOT), (a[0], a[4], a[8]))
            b = 0.5 * (a[5] + a[7]) / even[0] if even[0] > 0.0 else 0.0
            c = 0.5 * (a[2] + a[6]) / even[1] if even[1] > 0.0 else 0.0
            e = 0.5 * (a[1] + a[3]) / even[2] if even[2] > 0.0 else 0.0
            x, y, z = 0.5 * soft * (a[5] - a[7]), 0.5 * soft * (a[2] - a[6]), 0.5 * soft * (a[1] - a[3])
            seen = (d[0], e + z, c + y, e - z, d[1], b + x, c - y, b - x, d[2])
            back = multiply_transpose(multiply(u, seen), v)
            for k in range(9):
                out[at, k, lane] += back[k]
