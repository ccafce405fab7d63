"""Loops over points of elements whose stretches are unknowns of their own (T; theory section 6).

An element is expanded at a stretch S and a rotation R: with S = U s V^T its frames are R U and V, and its energy is
quadratic in F around R S. Nothing here depends on the law: its stress and moduli at S come from its own kernels.
"""

import numpy as np
from numba import prange

from pliant.formulas.elements import element_gradient
from pliant.formulas.hyperelastic import nodal_gradients, principal_differential
from pliant.formulas.matrix3 import multiply, multiply_transpose, transpose_multiply
from pliant.formulas.svd import signed_svd
from pliant.jit import formula, parallel_kernel
from pliant.kernels.cpu.elements import gather_differences
from pliant.kernels.lanes import LANES, load3, load6, load9, load9_from, store3, store9


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


@parallel_kernel
def scatter_tets(stress, gradients, slots_out):
    """Slots (groups, 12, LANES) of tets of four nodes from stresses (groups, 9, LANES) times volume."""
    for group in prange(stress.shape[0]):
        for lane in range(LANES):
            i = nodal_gradients(load9(stress, group, lane), load9(gradients, group, lane))
            store9(slots_out, group, 0, lane, i)
            last = (-(i[0] + i[3] + i[6]), -(i[1] + i[4] + i[7]), -(i[2] + i[5] + i[8]))
            store3(slots_out, group, 9, lane, last)


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
def procrustes(deformation, stress, stretch, weight, alpha, out):
    """Rotations (points, 9, LANES) nearest to (l / beta + F) S^T, beta = alpha |l| (T equation 7); stress: l times
    weight (points, LANES)."""
    for at in prange(deformation.shape[0]):
        for lane in range(LANES):
            f, l = load9(deformation, at, lane), load9(stress, at, lane)
            largest = 0.0
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


@parallel_kernel
def turn_points(rotation, frames, stress, frames_out, stress_out):
    """Frames (points, 21, LANES) and stresses (points, 9, LANES) at stretches, turned by rotations (points, 9,
    LANES)."""
    for at in prange(rotation.shape[0]):
        for lane in range(LANES):
            r = load9(rotation, at, lane)
            store9(frames_out, at, 0, lane, multiply(r, load9(frames, at, lane)))
            store9(stress_out, at, 0, lane, multiply(r, load9(stress, at, lane)))
        for k in range(9, 21):
            for lane in range(LANES):
                frames_out[at, k, lane] = frames[at, k, lane]


@parallel_kernel
def quadratic_points(deformation, frames, moduli, stress, energy, stress_out, energy_out):
    """Stresses (points, 9, LANES), times volume, and energies (points,) [J] at F of points expanded in frames (points,
    21, LANES) with moduli (points, 12, LANES) times volume, where they had this stress and this energy."""
    for at in prange(deformation.shape[0]):
        total = np.zeros(LANES)
        for lane in range(LANES):
            u, s, v = load9(frames, at, lane), load3(frames, at, 9, lane), load9_from(frames, at, 12, lane)
            a = multiply(transpose_multiply(u, load9(deformation, at, lane)), v)
            a = (a[0] - s[0], a[1], a[2], a[3], a[4] - s[1], a[5], a[6], a[7], a[8] - s[2])
            own = load6(moduli, at, lane)
            d = principal_differential(a, own, load3(moduli, at, 6, lane), load3(moduli, at, 9, lane))
            p = multiply(transpose_multiply(u, load9(stress, at, lane)), v)
            change = multiply_transpose(multiply(u, d), v)
            before = load9(stress, at, lane)
            for k in range(9):
                stress_out[at, k, lane] = before[k] + change[k]
                total[lane] += a[k] * (p[k] + 0.5 * d[k])
        energy_out[at] = energy[at] + total.sum()


@parallel_kernel
def seen_stretches(deformation, rotation, share, stretch_inout, misfit_out):
    """Let stretches S (points, 9, LANES) go the part `share` of the way to the symmetric part of R^T F; misfits
    (points,): the largest entry of R S - F after it."""
    for at in prange(deformation.shape[0]):
        worst = 0.0
        for lane in range(LANES):
            r, f = load9(rotation, at, lane), load9(deformation, at, lane)
            seen, s = transpose_multiply(r, f), load9(stretch_inout, at, lane)
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
            store9(stretch_inout, at, 0, lane, s)
            back = multiply(r, s)
            for k in range(9):
                worst = max(worst, abs(back[k] - f[k]))
        misfit_out[at] = worst
