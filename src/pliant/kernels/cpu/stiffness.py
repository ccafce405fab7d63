"""Loops over tetrahedra of any law, given their moduli: stiffness blocks, or products without them (S algorithm 2).

The stiffness of an element is a pair of frames U, V and twelve moduli (formulas.hyperelastic). Data for products, (30,
LANES) for a group: U (9), the gradients of nodes 0, 1, 2 seen in V (9), moduli (12), all times what they weigh.
"""

import numpy as np
from numba import prange

from pliant.formulas.elements import element_gradient, stiffness_block
from pliant.formulas.hyperelastic import nodal_gradients, principal_block, principal_differential
from pliant.formulas.hyperelastic import world_block as to_world
from pliant.formulas.matrix3 import multiply_vector, transpose_multiply_vector
from pliant.jit import formula, kernel, parallel_kernel
from pliant.kernels.elements import TET_DATA
from pliant.kernels.lanes import LANES, load3, load6_from, load9, load9_from, store3, store9, store_group


@formula
def _copy_lanes(source, group, rows, out, first):
    """The first rows of one group into rows of out (1, k, LANES) from `first` on. (Assigned slices compile slowly.)"""
    for k in range(rows):
        for lane in range(LANES):
            out[0, first + k, lane] = source[group, k, lane]


@formula
def _seen_gradients(group, frames, gradients, out, first):
    """Gradients of nodes 0, 1, 2 of one group seen in V (9, LANES), from row `first` of out on."""
    for lane in range(LANES):
        v = load9_from(frames, group, 12, lane)
        store3(out, 0, first, lane, transpose_multiply_vector(v, load3(gradients, group, 0, lane)))
        store3(out, 0, first + 3, lane, transpose_multiply_vector(v, load3(gradients, group, 3, lane)))
        store3(out, 0, first + 6, lane, transpose_multiply_vector(v, load3(gradients, group, 6, lane)))


@formula
def _last_gradient(data, group, first, lane):
    """Minus the sum of the three gradients from row `first` on: that of node 3."""
    g = load9_from(data, group, first, lane)
    return (-(g[0] + g[3] + g[6]), -(g[1] + g[4] + g[7]), -(g[2] + g[5] + g[8]))


@formula
def _pair_lanes(i, j, data, block):
    """Block (1, 9, LANES) of the pair (i, j) of one group; data (1, 33, LANES): with the gradient of node 3 inserted
    before the moduli."""
    for lane in range(LANES):
        a, symmetric, skew = load6_from(data, 0, 21, lane), load3(data, 0, 27, lane), load3(data, 0, 30, lane)
        g, h = load3(data, 0, 9 + 3 * i, lane), load3(data, 0, 9 + 3 * j, lane)
        store9(block, 0, 0, lane, to_world(load9(data, 0, lane), principal_block(g, h, a, symmetric, skew)))


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
def element_stiffness(frames, gradients, moduli, damped, rest_gradients, rotation, lam, mu, damping_weight, blocks_out):
    """The ten stiffness blocks (groups LANES, 10, 9) of every element, pairs (i, j), j <= i, of its nodes in turn; the
    arguments are those of ElementTerms."""
    for group in prange(frames.shape[0]):
        data, block = np.empty((1, 33, LANES)), np.empty((1, 9, LANES))
        _copy_lanes(frames, group, 9, data, 0)
        _copy_lanes(moduli, group, 12, data, 21)
        _seen_gradients(group, frames, gradients, data, 9)
        for lane in range(LANES):
            store3(data, 0, 18, lane, _last_gradient(data, 0, 9, lane))
        pair = 0
        for i in range(4):
            for j in range(i + 1):
                _pair_lanes(i, j, data, block)
                if damped:
                    _damping_lanes(group, i, j, rotation, rest_gradients, lam, mu, damping_weight, block)
                for lane in range(LANES):
                    for k in range(9):
                        blocks_out[group * LANES + lane, pair, k] = block[0, k, lane]
                pair += 1


@parallel_kernel
def pack_elements(frames, gradients, moduli, data_out):
    """Data for products (groups, 30, LANES) of every element."""
    for group in prange(frames.shape[0]):
        data = np.empty((1, TET_DATA, LANES))
        _copy_lanes(frames, group, 9, data, 0)
        _copy_lanes(moduli, group, 12, data, 18)
        _seen_gradients(group, frames, gradients, data, 9)
        store_group(data, group, data_out)


@parallel_kernel
def pack_damping(rotation, gradients, lam, mu, weight, data_out):
    """Data for products (groups, 30, LANES) with the warped stiffness at `rotation`, times weight (groups, LANES)."""
    for group in prange(rotation.shape[0]):
        for k in range(9):
            for lane in range(LANES):
                data_out[group, k, lane], data_out[group, 9 + k, lane] = (
                    rotation[group, k, lane],
                    gradients[group, k, lane],
                )
        for lane in range(LANES):
            w = weight[group, lane]
            volume, shear = w * lam[group, lane], w * mu[group, lane]
            both = volume + 2.0 * shear
            store3(data_out, group, 18, lane, (both, both, both))
            store3(data_out, group, 21, lane, (volume, volume, volume))
            store3(data_out, group, 24, lane, (2.0 * shear, 2.0 * shear, 2.0 * shear))
            store3(data_out, group, 27, lane, (0.0, 0.0, 0.0))


@formula
def _product_lanes(group, data, d, out):
    """Adds the forces (1, 12, LANES) on the four nodes of a group whose nodes 0, 1, 2 move by d (1, 9, LANES) beside
    node 3."""
    for lane in range(LANES):
        u, g = load9(data, group, lane), load9_from(data, group, 9, lane)
        a0 = transpose_multiply_vector(u, load3(d, 0, 0, lane))
        a1 = transpose_multiply_vector(u, load3(d, 0, 3, lane))
        a2 = transpose_multiply_vector(u, load3(d, 0, 6, lane))
        a, symmetric = load6_from(data, group, 18, lane), load3(data, group, 24, lane)
        p = principal_differential(element_gradient(a0, a1, a2, g), a, symmetric, load3(data, group, 27, lane))
        i = nodal_gradients(p, g)
        i0 = multiply_vector(u, (i[0], i[1], i[2]))
        i1 = multiply_vector(u, (i[3], i[4], i[5]))
        i2 = multiply_vector(u, (i[6], i[7], i[8]))
        _add3(out, 0, lane, i0)
        _add3(out, 3, lane, i1)
        _add3(out, 6, lane, i2)
        _add3(out, 9, lane, (-(i0[0] + i1[0] + i2[0]), -(i0[1] + i1[1] + i2[1]), -(i0[2] + i1[2] + i2[2])))


@formula
def _add3(out, first, lane, v):
    out[0, first, lane] += v[0]
    out[0, first + 1, lane] += v[1]
    out[0, first + 2, lane] += v[2]


@parallel_kernel
def element_products(data, places, x, slots_out):
    """Slots (groups, 12, LANES) of the stiffness times x, flat; data and places as in TetProducts."""
    for group in prange(places.shape[0]):
        d, out = np.empty((1, 9, LANES), x.dtype), np.zeros((1, 12, LANES), x.dtype)
        for lane in range(LANES):
            last = places[group, 3, lane]
            for i in range(3):
                at = places[group, i, lane]
                for c in range(3):
                    d[0, 3 * i + c, lane] = x[at + c * LANES] - x[last + c * LANES]
        for term in range(data.shape[0]):
            _product_lanes(group, data[term], d, out)
        store_group(out, group, slots_out)


@parallel_kernel
def add_slots(start, adjacency, places, slots, free, out):
    """Adds the sums of each node's slots, where it is free, to flat vectors; places (n,): offset of each node."""
    for node in prange(places.shape[0]):
        s0, s1, s2 = out.dtype.type(0), out.dtype.type(0), out.dtype.type(0)
        for k in range(start[node], start[node + 1]):
            offset = adjacency[k]
            s0 += slots[offset]
            s1 += slots[offset + LANES]
            s2 += slots[offset + 2 * LANES]
        at = places[node]
        out[at] += free[at] * s0
        out[at + LANES] += free[at + LANES] * s1
        out[at + 2 * LANES] += free[at + 2 * LANES] * s2


@kernel
def add_element_diagonals(data, first, start, adjacency, places, free, out):
    """Adds the elements' diagonal blocks of every node, where it is free, to out (slices, 9, LANES); first: the first
    slot of these elements."""
    one, last = np.empty((1, 9, 1)), first + data.shape[1] * 12 * LANES
    for node in range(places.shape[0]):
        at = places[node]
        for k in range(start[node], start[node + 1]):
            if adjacency[k] < first or adjacency[k] >= last:
                continue
            lane, slot = (adjacency[k] - first) % LANES, (adjacency[k] - first) // LANES
            group, i = slot // 12, slot % 12 // 3
            for term in range(data.shape[0]):
                numbers = data[term]
                g = load3(numbers, group, 9 + 3 * i, lane) if i < 3 else _last_gradient(numbers, group, 9, lane)
                a, symmetric = load6_from(numbers, group, 18, lane), load3(numbers, group, 24, lane)
                block = principal_block(g, g, a, symmetric, load3(numbers, group, 27, lane))
                store9(one, 0, 0, 0, to_world(load9(numbers, group, lane), block))
                for r in range(3):
                    for c in range(3):
                        both = free[at + r * LANES] * free[at + c * LANES]
                        out[at // (3 * LANES), 3 * r + c, at % LANES] += both * one[0, 3 * r + c, 0]
