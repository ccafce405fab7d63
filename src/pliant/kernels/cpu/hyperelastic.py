"""Loops over tetrahedra of one law: energy, elastic forces, projected stiffness (S chapter 4)."""

import numpy as np
from numba import prange

from pliant.formulas.elements import (
    element_gradient,
    element_impulses,
    element_stress,
    stiffness_block,
    strain_rate,
)
from pliant.formulas.hyperelastic import nodal_gradients, positive_moduli, principal_block
from pliant.formulas.hyperelastic import world_block as to_world
from pliant.formulas.matrix3 import multiply_vector, transpose_multiply_vector
from pliant.jit import formula, parallel_kernel
from pliant.kernels.cpu.elements import IDENTITY, gather_differences
from pliant.kernels.lanes import LANES, load3, load6, load9, load9_from, store3, store9
from pliant.kernels.laws import deform, stiffness_moduli

# Pairs (i, j), j <= i, of an element's nodes, in the order of its ten stiffness blocks.
PAIRS = 10


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
        # an empty lane has no volume, whatever its energy density
        out[0, 33, lane] = w * e if w > 0.0 else 0.0


@parallel_kernel
def evaluate_elements(law, first, last, x, nodes, gradients, volume, frames_out, energy_out, slots_out):
    """At positions x (n, 3), for groups first..last: frames (groups, 21, LANES: U, s, V), energies of the groups [J],
    and the slots (groups, 12, LANES: 4 nodes x 3) of the energy's gradient [N]."""
    for group in prange(first, last):
        d, out = np.empty((9, LANES)), np.empty((1, 34, LANES))
        gather_differences(x, nodes, group, d)
        _evaluate_lanes(law, group, d, gradients, volume, out)
        for k in range(21):
            frames_out[group, k] = out[0, k]
        for k in range(12):
            slots_out[group, k] = out[0, 21 + k]
        energy_out[group] = out[0, 33].sum()


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
            deformation_out[group, k] = out[0, k]
            stress_out[group, k] = out[0, 9 + k]


@formula
def _moduli_lanes(law, group, frames, gradients, weight, project, out):
    """For one group: the twelve moduli (projected or not) times weight, and gradients seen in V (4 nodes x 3)."""
    for lane in range(LANES):
        s, v = load3(frames, 0, 9, lane), load9_from(frames, 0, 12, lane)
        a, symmetric, skew = stiffness_moduli(law, s, group, lane)
        if project:
            a, symmetric, skew = positive_moduli(a, symmetric, skew)
        w = weight[group, lane]
        store3(out, 0, 0, lane, (w * a[0], w * a[1], w * a[2]))
        store3(out, 0, 3, lane, (w * a[3], w * a[4], w * a[5]))
        store3(out, 0, 6, lane, (w * symmetric[0], w * symmetric[1], w * symmetric[2]))
        store3(out, 0, 9, lane, (w * skew[0], w * skew[1], w * skew[2]))
        g0 = transpose_multiply_vector(v, load3(gradients, group, 0, lane))
        g1 = transpose_multiply_vector(v, load3(gradients, group, 3, lane))
        g2 = transpose_multiply_vector(v, load3(gradients, group, 6, lane))
        store9(out, 0, 12, lane, (g0[0], g0[1], g0[2], g1[0], g1[1], g1[2], g2[0], g2[1], g2[2]))
        store3(out, 0, 21, lane, (-(g0[0] + g1[0] + g2[0]), -(g0[1] + g1[1] + g2[1]), -(g0[2] + g1[2] + g2[2])))


@formula
def _pair_lanes(i, j, frames, data, block):
    """Block (1, 9, LANES) of the pair (i, j) of one group."""
    for lane in range(LANES):
        a, symmetric = load6(data, 0, lane), load3(data, 0, 6, lane)
        skew = load3(data, 0, 9, lane)
        g, h = load3(data, 0, 12 + 3 * i, lane), load3(data, 0, 12 + 3 * j, lane)
        store9(block, 0, 0, lane, to_world(load9(frames, 0, lane), principal_block(g, h, a, symmetric, skew)))


@formula
def _damping_lanes(group, i, j, rotation, gradients, lam, mu, weight, block):
    """Adds the warped stiffness times weight of the pair (i, j) of one group to its block (1, 9, LANES)."""
    for lane in range(LANES):
        r, w = load9(rotation, group, lane), weight[group, lane]
        g0, g1 = load3(gradients, group, 0, lane), load3(gradients, group, 3, lane)
        g2 = load3(gradients, group, 6, lane)
        g3 = (-(g0[0] + g1[0] + g2[0]), -(g0[1] + g1[1] + g2[1]), -(g0[2] + g1[2] + g2[2]))
        a = g0 if i == 0 else (g1 if i == 1 else (g2 if i == 2 else g3))
        b = g0 if j == 0 else (g1 if j == 1 else (g2 if j == 2 else g3))
        k = stiffness_block(multiply_vector(r, a), multiply_vector(r, b), w * lam[group, lane], w * mu[group, lane])
        old = load9(block, 0, lane)
        store3(block, 0, 0, lane, (old[0] + k[0], old[1] + k[1], old[2] + k[2]))
        store3(block, 0, 3, lane, (old[3] + k[3], old[4] + k[4], old[5] + k[5]))
        store3(block, 0, 6, lane, (old[6] + k[6], old[7] + k[7], old[8] + k[8]))


@parallel_kernel
def element_stiffness(
    law, first, last, frames, gradients, weight, project, damped, rotation, lam, mu, damping_weight, blocks_out
):
    """The ten stiffness blocks (groups LANES, 10, 9) of groups first..last, times weight (groups, LANES).

    project: make every element's stiffness positive semi-definite.

    damped: add the warped stiffness at `rotation` times damping_weight (groups, LANES).
    """
    for group in prange(first, last):
        own, data, block = np.empty((1, 21, LANES)), np.empty((1, 24, LANES)), np.empty((1, 9, LANES))
        own[0] = frames[group]
        _moduli_lanes(law, group, own, gradients, weight, project, data)
        pair = 0
        for i in range(4):
            for j in range(i + 1):
                _pair_lanes(i, j, own, data, block)
                if damped:
                    _damping_lanes(group, i, j, rotation, gradients, lam, mu, damping_weight, block)
                for lane in range(LANES):
                    for k in range(9):
                        blocks_out[group * LANES + lane, pair, k] = block[0, k, lane]
                pair += 1


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
        s0, s1, s2 = 0.0, 0.0, 0.0
        for k in range(start[node], start[node + 1]):
            offset = adjacency[k]
            s0 += slots[offset]
            s1 += slots[offset + LANES]
            s2 += slots[offset + 2 * LANES]
        out[node, 0], out[node, 1], out[node, 2] = s0, s1, s2
