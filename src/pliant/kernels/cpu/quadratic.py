"""Loops over tets of ten nodes: gradients at their points, forces from stresses there, stiffness.

An element has POINTS points, which lie one group after the other: point p of the elements in group g is group
g POINTS + p of an array of points. Gradients (groups POINTS, 30, LANES) are those of all ten shape functions; node 3 is
left out of sums over differences to it. The stiffness at a point is that of kernels.cpu.stiffness.
"""

import numpy as np
from numba import prange

from pliant.formulas.elements import element_stress, stiffness_block, strain_rate
from pliant.formulas.hyperelastic import principal_block, principal_differential, world_block
from pliant.formulas.matrix3 import (
    determinant,
    multiply,
    multiply_vector,
    transpose_multiply,
    transpose_multiply_vector,
)
from pliant.formulas.svd import nearest_rotation
from pliant.jit import formula, kernel, parallel_kernel
from pliant.kernels.cpu.elements import IDENTITY
from pliant.kernels.elements import FIRST_MODULUS, QUADRATIC_DATA
from pliant.kernels.lanes import LANES, load3, load6_from, load9, load9_from, store3, store9, store_group

NODES, POINTS = 10, 4


@kernel
def _add_gradient(d, gradients, at, f):
    """f (9, LANES) = sum of d_a g_a^T with differences d (30, LANES) and the gradients of a group of points."""
    for k in range(9):
        for lane in range(LANES):
            f[k, lane] = 0
    for a in range(NODES):
        for r in range(3):
            for c in range(3):
                for lane in range(gradients.shape[2]):
                    f[3 * r + c, lane] += d[3 * a + r, lane] * gradients[at, 3 * a + c, lane]


@parallel_kernel
def point_gradients(values, nodes, gradients, out):
    """Gradients (groups POINTS, 9, LANES) of a field (n, 3) at all points: F at positions."""
    for group in prange(nodes.shape[0]):
        d, f = np.empty((3 * NODES, LANES)), np.empty((9, LANES))
        for lane in range(LANES):
            last = nodes[group, 3, lane]
            for a in range(NODES):
                node = nodes[group, a, lane]
                for c in range(3):
                    d[3 * a + c, lane] = values[node, c] - values[last, c]
        for p in range(POINTS):
            _add_gradient(d, gradients, group * POINTS + p, f)
            for k in range(9):
                for lane in range(LANES):
                    out[group * POINTS + p, k, lane] = f[k, lane]


@parallel_kernel
def scatter_points(stress, gradients, add, slots_inout):
    """Slots (groups, 30, LANES) = sums over points of P g_a, stress P (groups POINTS, 9, LANES) times its volume; add:
    to what they hold."""
    for group in prange(slots_inout.shape[0]):
        total = np.zeros((3 * NODES, LANES))
        for at in range(group * POINTS, group * POINTS + POINTS):
            for a in range(NODES):
                for r in range(3):
                    for lane in range(gradients.shape[2]):
                        total[3 * a + r, lane] += (
                            stress[at, 3 * r, lane] * gradients[at, 3 * a, lane]
                            + stress[at, 3 * r + 1, lane] * gradients[at, 3 * a + 1, lane]
                            + stress[at, 3 * r + 2, lane] * gradients[at, 3 * a + 2, lane]
                        )
        for k in range(3 * NODES):
            for lane in range(LANES):
                slots_inout[group, k, lane] = total[k, lane] + (slots_inout[group, k, lane] if add else 0.0)


@parallel_kernel
def deform_points(deformation, rotates, rotation_out, strain_out):
    """Rotation (points, 9, LANES), the unit matrix unless `rotates`, and strain (points, 6, LANES) of F."""
    for at in prange(deformation.shape[0]):
        for lane in range(LANES):
            f = load9(deformation, at, lane)
            r = nearest_rotation(f) if rotates else IDENTITY
            s = transpose_multiply(r, f)
            store9(rotation_out, at, 0, lane, r)
            store3(strain_out, at, 0, lane, (s[0] - 1.0, s[4] - 1.0, s[8] - 1.0))
            store3(strain_out, at, 3, lane, (s[5] + s[7], s[2] + s[6], s[1] + s[3]))


@parallel_kernel
def damp_points(rates, rotation, lam, mu, weight, energy_out, stress_out):
    """Viscous stresses (points, 9, LANES) of the warped stiffness, times weight (points, LANES), at velocity gradients
    (points, 9, LANES); energies (points,): half of the power."""
    for at in prange(rates.shape[0]):
        energy = 0.0
        for lane in range(LANES):
            r, w = load9(rotation, at, lane), weight[at, lane]
            e = strain_rate(load9(rates, at, lane), r, IDENTITY)
            s = element_stress(e, w * lam[at, lane], w * mu[at, lane])
            store9(stress_out, at, 0, lane, multiply(r, (s[0], s[5], s[4], s[5], s[1], s[3], s[4], s[3], s[2])))
            work = s[0] * e[0] + s[1] * e[1] + s[2] * e[2] + s[3] * e[3] + s[4] * e[4] + s[5] * e[5]
            energy += 0.5 * work
        energy_out[at] = energy


@parallel_kernel
def warped_points(strain, rotation, lam, mu, weight, stress_out):
    """Stresses R D e (points, 9, LANES) times weight (points, LANES) of strains (points, 6, LANES) in their frames."""
    for at in prange(strain.shape[0]):
        for lane in range(LANES):
            w = weight[at, lane]
            s = element_stress(load6_from(strain, at, 0, lane), w * lam[at, lane], w * mu[at, lane])
            stress = (s[0], s[5], s[4], s[5], s[1], s[3], s[4], s[3], s[2])
            store9(stress_out, at, 0, lane, multiply(load9(rotation, at, lane), stress))


@kernel
def inverted_points(deformation, volume, out):
    """Number (groups,) of elements with J <= 0 at one of their points."""
    for group in range(out.shape[0]):
        count = 0
        for lane in range(LANES):
            lowest = 1.0
            for at in range(group * POINTS, group * POINTS + POINTS):
                if volume[at, lane] > 0.0:
                    lowest = min(lowest, determinant(load9(deformation, at, lane)))
            count += 1 if lowest <= 0.0 else 0
        out[group] = count


@formula
def _pack_point(at, frames, gradients, moduli, out, place):
    """Data (51, LANES) of a group of points into out (k, 51, LANES) at `place`."""
    for k in range(9):
        for lane in range(LANES):
            out[place, k, lane] = frames[at, k, lane]
    for k in range(12):
        for lane in range(LANES):
            out[place, FIRST_MODULUS + k, lane] = moduli[at, k, lane]
    for a in range(NODES):
        for lane in range(LANES):
            v = load9_from(frames, at, 12, lane)
            store3(out, place, 9 + 3 * a, lane, transpose_multiply_vector(v, load3(gradients, at, 3 * a, lane)))


@formula
def _add9(block, lane, k):
    old = load9(block, 0, lane)
    store3(block, 0, 0, lane, (old[0] + k[0], old[1] + k[1], old[2] + k[2]))
    store3(block, 0, 3, lane, (old[3] + k[3], old[4] + k[4], old[5] + k[5]))
    store3(block, 0, 6, lane, (old[6] + k[6], old[7] + k[7], old[8] + k[8]))


@formula
def _point_block(data, at, i, j, lane):
    """Block (9) of nodes i, j at one point, from its data."""
    a, symmetric = load6_from(data, at, FIRST_MODULUS, lane), load3(data, at, FIRST_MODULUS + 6, lane)
    skew = load3(data, at, FIRST_MODULUS + 9, lane)
    g, h = load3(data, at, 9 + 3 * i, lane), load3(data, at, 9 + 3 * j, lane)
    return world_block(load9(data, at, lane), principal_block(g, h, a, symmetric, skew))


@kernel
def _add_pair(data, p, i, j, block):
    for lane in range(LANES):
        _add9(block, lane, _point_block(data, p, i, j, lane))


@kernel
def _add_damping_pair(at, i, j, rotation, gradients, lam, mu, weight, block):
    for lane in range(LANES):
        r, w = load9(rotation, at, lane), weight[at, lane]
        a = multiply_vector(r, load3(gradients, at, 3 * i, lane))
        b = multiply_vector(r, load3(gradients, at, 3 * j, lane))
        _add9(block, lane, stiffness_block(a, b, w * lam[at, lane], w * mu[at, lane]))


@parallel_kernel
def point_stiffness(frames, gradients, moduli, damped, rest_gradients, rotation, lam, mu, damping_weight, blocks_out):
    """The 55 stiffness blocks (groups LANES, 55, 9) of every element, pairs (i, j), j <= i, of its nodes in turn; the
    arguments are those of ElementTerms, at the points."""
    for group in prange(frames.shape[0] // POINTS):
        data, block = np.empty((POINTS, QUADRATIC_DATA, LANES)), np.empty((1, 9, LANES))
        for p in range(POINTS):
            _pack_point(group * POINTS + p, frames, gradients, moduli, data, p)
        pair = 0
        for i in range(NODES):
            for j in range(i + 1):
                for k in range(9):
                    for lane in range(LANES):
                        block[0, k, lane] = 0.0
                for p in range(POINTS):
                    _add_pair(data, p, i, j, block)
                    if damped:
                        at = group * POINTS + p
                        _add_damping_pair(at, i, j, rotation, rest_gradients, lam, mu, damping_weight, block)
                for lane in range(LANES):
                    for k in range(9):
                        blocks_out[group * LANES + lane, pair, k] = block[0, k, lane]
                pair += 1


@parallel_kernel
def pack_points(frames, gradients, moduli, data_out):
    """Data for products (points, 51, LANES) of every point."""
    for at in prange(frames.shape[0]):
        data = np.empty((1, QUADRATIC_DATA, LANES))
        _pack_point(at, frames, gradients, moduli, data, 0)
        store_group(data, at, data_out)


@parallel_kernel
def point_products(data, places, x, slots_out):
    """Slots (groups, 30, LANES) of the stiffness times x, flat; data and places as in QuadraticProducts."""
    for group in prange(places.shape[0]):
        d, f = np.empty((3 * NODES, LANES), x.dtype), np.empty((1, 9, LANES), x.dtype)
        out, q = np.zeros((3 * NODES, LANES), x.dtype), np.empty((1, 9, LANES), x.dtype)
        for lane in range(LANES):
            last = places[group, 3, lane]
            for a in range(NODES):
                at = places[group, a, lane]
                for c in range(3):
                    d[3 * a + c, lane] = x[at + c * LANES] - x[last + c * LANES]
        for term in range(data.shape[0]):
            for point in range(group * POINTS, group * POINTS + POINTS):
                numbers = data[term]
                _add_gradient(d, numbers[:, 9:FIRST_MODULUS], point, f[0])
                for lane in range(LANES):
                    u, moved = load9(numbers, point, lane), load9(f, 0, lane)
                    a = load6_from(numbers, point, FIRST_MODULUS, lane)
                    symmetric = load3(numbers, point, FIRST_MODULUS + 6, lane)
                    skew = load3(numbers, point, FIRST_MODULUS + 9, lane)
                    p = principal_differential(transpose_multiply(u, moved), a, symmetric, skew)
                    store9(q, 0, 0, lane, multiply(u, p))
                for a in range(NODES):
                    for r in range(3):
                        for lane in range(numbers.shape[2]):
                            out[3 * a + r, lane] += (
                                q[0, 3 * r, lane] * numbers[point, 9 + 3 * a, lane]
                                + q[0, 3 * r + 1, lane] * numbers[point, 10 + 3 * a, lane]
                                + q[0, 3 * r + 2, lane] * numbers[point, 11 + 3 * a, lane]
                            )
        slots_out[group] = out


@kernel
def add_point_diagonals(data, first, start, adjacency, places, free, out):
    """Adds the elements' diagonal blocks of every node, where it is free, to out (slices, 9, LANES); first: the first
    slot of these elements."""
    one, last = np.empty((1, 9, 1)), first + data.shape[1] // POINTS * 3 * NODES * LANES
    for node in range(places.shape[0]):
        at = places[node]
        for k in range(start[node], start[node + 1]):
            if adjacency[k] < first or adjacency[k] >= last:
                continue
            lane, slot = (adjacency[k] - first) % LANES, (adjacency[k] - first) // LANES
            group, i = slot // (3 * NODES), slot % (3 * NODES) // 3
            for term in range(data.shape[0]):
                for point in range(group * POINTS, group * POINTS + POINTS):
                    store9(one, 0, 0, 0, _point_block(data[term], point, i, i, lane))
                    for r in range(3):
                        for c in range(3):
                            both = free[at + r * LANES] * free[at + c * LANES]
                            out[at // (3 * LANES), 3 * r + c, at % LANES] += both * one[0, 3 * r + c, 0]
