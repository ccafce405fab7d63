"""Loops over tetrahedra of one law: energy, elastic forces, moduli, stresses (S chapter 4)."""

import numpy as np
from numba import prange

from pliant.formulas.elements import element_gradient, element_impulses, element_stress, strain_rate
from pliant.formulas.hyperelastic import nodal_gradients
from pliant.formulas.matrix3 import determinant, positive_definite
from pliant.formulas.svd import positive_part
from pliant.jit import formula, kernel_in, parallel_kernel
from pliant.kernels.cpu.elements import IDENTITY, gather_differences
from pliant.kernels.lanes import LANES, load3, load6_from, load9, store3, store9
from pliant.kernels.laws import deform, stiffness_moduli


@formula
def _evaluate_lanes(law, group, d, gradients, volume, out):
    """Of one group with node differences d (9, LANES): U, s, V, slots and energy (34, LANES)."""
    for lane in range(LANES):
        d0, d1 = (d[0, lane], d[1, lane], d[2, lane]), (d[3, lane], d[4, lane], d[5, lane])
        g = load9(gradients, group, lane)
        f = element_gradient(d0, d1, (d[6, lane], d[7, lane], d[8, lane]), g)
        w = volume[group, lane]
        u, s, v, p, e = deform(law, f, group, lane)
        i = nodal_gradients(
            (w * p[0], w * p[1], w * p[2], w * p[3], w * p[4], w * p[5], w * p[6], w * p[7], w * p[8]), g
        )
        store9(out, 0, 0, lane, u)
        store3(out, 0, 9, lane, s)
        store9(out, 0, 12, lane, v)
        store9(out, 0, 21, lane, i)
        store3(out, 0, 30, lane, (-(i[0] + i[3] + i[6]), -(i[1] + i[4] + i[7]), -(i[2] + i[5] + i[8])))
        # what is no number (a user's ln J) is a barrier; an empty lane has no volume, whatever its energy density
        e = e if e == e else np.inf
        out[0, 33, lane] = w * e if w > 0.0 else 0.0


@parallel_kernel
def evaluate_elements(law, first, last, x, nodes, gradients, volume, frames_out, energy_out, slots_out):
    """At positions x (n, 3), for groups first..last: frames (groups, 21, LANES: U, s, V), energies of the groups [J],
    and the slots (groups, 12, LANES: 4 nodes x 3) of the energy's gradient [N]."""
    for group in prange(first, last):
        d, out = np.empty((9, LANES)), np.empty((1, 34, LANES))
        gather_differences(x, nodes, group, d)
        _evaluate_lanes(law, group, d, gradients, volume, out)
        energy = 0.0
        for lane in range(LANES):
            energy += out[0, 33, lane]
        energy_out[group] = energy
        for k in range(21):
            for lane in range(LANES):
                frames_out[group, k, lane] = out[0, k, lane]
        for k in range(12):
            for lane in range(LANES):
                slots_out[group, k, lane] = out[0, 21 + k, lane]


@formula
def _evaluate_point_lanes(law, at, deformation, volume, out):
    """Of one group of points with F: U, s, V, volume times P, and energy (31, LANES)."""
    for lane in range(LANES):
        w = volume[at, lane]
        u, s, v, p, e = deform(law, load9(deformation, at, lane), at, lane)
        store9(out, 0, 0, lane, u)
        store3(out, 0, 9, lane, s)
        store9(out, 0, 12, lane, v)
        store3(out, 0, 21, lane, (w * p[0], w * p[1], w * p[2]))
        store3(out, 0, 24, lane, (w * p[3], w * p[4], w * p[5]))
        store3(out, 0, 27, lane, (w * p[6], w * p[7], w * p[8]))
        e = e if e == e else np.inf
        out[0, 30, lane] = w * e if w > 0.0 else 0.0


@parallel_kernel
def evaluate_points(law, first, last, deformation, volume, frames_out, energy_out, stress_out):
    """For groups first..last of points with deformation gradients (points, 9, LANES): frames (points, 21, LANES),
    energies of the groups [J], and first Piola stresses (points, 9, LANES) times volume (points, LANES)."""
    for at in prange(first, last):
        out, energy = np.empty((1, 31, LANES)), 0.0
        _evaluate_point_lanes(law, at, deformation, volume, out)
        for lane in range(LANES):
            energy += out[0, 30, lane]
        energy_out[at] = energy
        for k in range(21):
            for lane in range(LANES):
                frames_out[at, k, lane] = out[0, k, lane]
        for k in range(9):
            for lane in range(LANES):
                stress_out[at, k, lane] = out[0, 21 + k, lane]


@parallel_kernel
def element_stresses(law, first, last, x, nodes, gradients, deformation_out, stress_out):
    """F and first Piola stress P (groups, 9, LANES) [Pa] of groups first..last at positions x (n, 3)."""
    for group in prange(first, last):
        d, out = np.empty((9, LANES)), np.empty((1, 18, LANES))
        gather_differences(x, nodes, group, d)
        for lane in range(LANES):
            d0, d1 = (d[0, lane], d[1, lane], d[2, lane]), (d[3, lane], d[4, lane], d[5, lane])
            f = element_gradient(d0, d1, (d[6, lane], d[7, lane], d[8, lane]), load9(gradients, group, lane))
            _, _, _, p, _ = deform(law, f, group, lane)
            store9(out, 0, 0, lane, f)
            store9(out, 0, 9, lane, p)
        for k in range(9):
            for lane in range(LANES):
                deformation_out[group, k, lane] = out[0, k, lane]
                stress_out[group, k, lane] = out[0, 9 + k, lane]


@parallel_kernel
def element_moduli(law, first, last, frames, weight, project, moduli_out):
    """The twelve moduli (groups, 12, LANES) of groups first..last in their frames, times weight (groups, LANES).

    project: make every element's stiffness positive semi-definite.
    """
    least = 0.0 if project else -np.inf
    for group in prange(first, last):
        out, negative = np.empty((1, 12, LANES)), 0
        for lane in range(LANES):
            a, symmetric, skew = stiffness_moduli(law, load3(frames, group, 9, lane), group, lane)
            w = weight[group, lane]
            negative += 0 if positive_definite(a) or w == 0.0 else 1
            store3(out, 0, 0, lane, (w * a[0], w * a[1], w * a[2]))
            store3(out, 0, 3, lane, (w * a[3], w * a[4], w * a[5]))
            b0, b1, b2 = max(symmetric[0], least), max(symmetric[1], least), max(symmetric[2], least)
            store3(out, 0, 6, lane, (w * b0, w * b1, w * b2))
            b0, b1, b2 = max(skew[0], least), max(skew[1], least), max(skew[2], least)
            store3(out, 0, 9, lane, (w * b0, w * b1, w * b2))
        if project and negative > 0:
            for lane in range(LANES):
                a = positive_part(load6_from(out, 0, 0, lane))
                store3(out, 0, 0, lane, (a[0], a[1], a[2]))
                store3(out, 0, 3, lane, (a[3], a[4], a[5]))
        for k in range(12):
            for lane in range(LANES):
                moduli_out[group, k, lane] = out[0, k, lane]


@parallel_kernel
def damp_elements(u, nodes, gradients, rotation, lam, mu, weight, energy_out, slots_inout):
    """Adds the viscous forces of the warped stiffness: slots += weight J^T D J u; energies: half of u times that.

    u (n, 3) velocities; weight (groups, LANES).
    """
    for group in prange(nodes.shape[0]):
        d, e = np.empty((9, LANES)), np.empty((1, 13, LANES))
        gather_differences(u, nodes, group, d)
        for lane in range(LANES):
            d0, d1 = (d[0, lane], d[1, lane], d[2, lane]), (d[3, lane], d[4, lane], d[5, lane])
            g, r = load9(gradients, group, lane), load9(rotation, group, lane)
            rate = strain_rate(element_gradient(d0, d1, (d[6, lane], d[7, lane], d[8, lane]), g), r, IDENTITY)
            w = weight[group, lane]
            s = element_stress(rate, w * lam[group, lane], w * mu[group, lane])
            i = element_impulses(s, r, g, IDENTITY)
            store9(e, 0, 0, lane, i)
            store3(e, 0, 9, lane, (-(i[0] + i[3] + i[6]), -(i[1] + i[4] + i[7]), -(i[2] + i[5] + i[8])))
            work = s[0] * rate[0] + s[1] * rate[1] + s[2] * rate[2] + s[3] * rate[3] + s[4] * rate[4] + s[5] * rate[5]
            e[0, 12, lane] = 0.5 * work
        for k in range(12):
            for lane in range(LANES):
                slots_inout[group, k, lane] += e[0, k, lane]
        energy_out[group] = e[0, 12].sum()


@parallel_kernel
def gather_nodes(slots, start, adjacency, out):
    """out (n, 3) = sums of each node's slots, in the fixed order of the adjacency."""
    for node in prange(out.shape[0]):
        s0, s1, s2, second, third = 0.0, 0.0, 0.0, slots[LANES:], slots[2 * LANES :]
        for k in range(start[node], start[node + 1]):
            offset = np.uint32(adjacency[k])  # of which the compiler knows that it counts from the start
            s0 += slots[offset]
            s1 += second[offset]
            s2 += third[offset]
        out[node, 0], out[node, 1], out[node, 2] = s0, s1, s2


@parallel_kernel
def count_inverted(x, nodes, gradients, volume, inverted_out):
    """Number (groups,) of elements with J <= 0 at positions x (n, 3)."""
    for group in prange(nodes.shape[0]):
        d, count = np.empty((9, LANES)), 0
        gather_differences(x, nodes, group, d)
        for lane in range(LANES):
            d0, d1 = (d[0, lane], d[1, lane], d[2, lane]), (d[3, lane], d[4, lane], d[5, lane])
            f = element_gradient(d0, d1, (d[6, lane], d[7, lane], d[8, lane]), load9(gradients, group, lane))
            count += 1 if determinant(f) <= 0.0 and volume[group, lane] > 0.0 else 0
        inverted_out[group] = count


# What is compiled for every law in use: energy and forces of elements and of points, moduli, stresses.
LAW_KERNELS = (evaluate_elements, evaluate_points, element_moduli, element_stresses)


def law_kernels_in(folder) -> tuple:
    """The same for a user's law, whose compiled code lies in a folder of its own."""
    return tuple(kernel_in(folder, python_function.py_func) for python_function in LAW_KERNELS)


@parallel_kernel
def changes(matrices, before, out):
    """The largest differences (points,) between entries of matrices (points, 9, LANES)."""
    for at in prange(matrices.shape[0]):
        largest = np.zeros(LANES)
        for k in range(9):
            for lane in range(LANES):
                largest[lane] = max(largest[lane], abs(matrices[at, k, lane] - before[at, k, lane]))
        out[at] = largest.max()
