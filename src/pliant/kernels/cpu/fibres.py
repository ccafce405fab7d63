"""Loops over fibres within triangles: springs between weighted sums of three nodes (formulas.springs).

A fibre along a unit direction a of the rest triangle is stretched to y = sum c_i x_i with weights c_i = g_i . a
(groups, 3, LANES), and has the energy k/2 (|y| - 1)^2. Frames (groups, 4, LANES): direction of y, and its length. Data
for products (9, LANES): the block of y (6), and the weights.
"""

from numba import prange

from pliant.formulas.matrix3 import dot, scale
from pliant.formulas.springs import spring_axis, spring_block, spring_moduli
from pliant.jit import formula, kernel, parallel_kernel
from pliant.kernels.cpu.springs import SYMMETRIC
from pliant.kernels.lanes import LANES, load3, load6, store3

NODES = 3


@formula
def _sum(values, nodes, weights, group, lane):
    """sum c_i a_i (3)."""
    i, j, k = nodes[group, 0, lane], nodes[group, 1, lane], nodes[group, 2, lane]
    c = load3(weights, group, 0, lane)
    return (
        c[0] * values[i, 0] + c[1] * values[j, 0] + c[2] * values[k, 0],
        c[0] * values[i, 1] + c[1] * values[j, 1] + c[2] * values[k, 1],
        c[0] * values[i, 2] + c[1] * values[j, 2] + c[2] * values[k, 2],
    )


@parallel_kernel
def fibre_frames(x, nodes, weights, frames_out):
    """Directions and stretches (groups, 4, LANES) at positions x (n, 3)."""
    for group in prange(nodes.shape[0]):
        for lane in range(LANES):
            n, length = spring_axis(_sum(x, nodes, weights, group, lane))
            store3(frames_out, group, 0, lane, n)
            frames_out[group, 3, lane] = length


@parallel_kernel
def evaluate_fibres(frames, weights, stiffness, energy_out, slots_out):
    """Energies (groups,) [J] and slots (groups, 9, LANES) [N]; stiffness k (groups, LANES) [J]."""
    for group in prange(frames.shape[0]):
        energy = 0.0
        for lane in range(LANES):
            stretch = frames[group, 3, lane] - 1.0
            pull = stiffness[group, lane] * stretch
            energy += 0.5 * pull * stretch
            force = scale(pull, load3(frames, group, 0, lane))
            for i in range(NODES):
                store3(slots_out, group, 3 * i, lane, scale(weights[group, i, lane], force))
        energy_out[group] = energy


@parallel_kernel
def damp_fibres(v, nodes, weights, frames, stiffness, energy_out, slots_inout):
    """Adds the viscous forces of stiffness (groups, LANES) along given directions; energies: half of the power."""
    for group in prange(nodes.shape[0]):
        energy = 0.0
        for lane in range(LANES):
            n = load3(frames, group, 0, lane)
            rate = dot(n, _sum(v, nodes, weights, group, lane))
            pull = stiffness[group, lane] * rate
            energy += 0.5 * pull * rate
            for i in range(NODES):
                for c in range(3):
                    slots_inout[group, 3 * i + c, lane] += pull * weights[group, i, lane] * n[c]
        energy_out[group] = energy


@parallel_kernel
def fibre_blocks(frames, weights, stiffness, weight, project, damped, axes, damping, data_out):
    """Data for products (groups, 9, LANES), times weight; project: without what is negative. If `damped`, with damping
    (groups, LANES) along axes (groups, 4, LANES)."""
    for group in prange(frames.shape[0]):
        for lane in range(LANES):
            along, across = spring_moduli(frames[group, 3, lane], 1.0, stiffness[group, lane])
            across = max(across, 0.0) if project else across
            block = spring_block(load3(frames, group, 0, lane), weight * along, weight * across)
            more = spring_block(load3(axes, group, 0, lane), damping[group, lane] if damped else 0.0, 0.0)
            for c in range(6):
                data_out[group, c, lane] = block[c] + more[c]
            store3(data_out, group, 6, lane, load3(weights, group, 0, lane))


@parallel_kernel
def fibre_stiffness(data, blocks_out):
    """The six stiffness blocks (groups LANES, 6, 9) of every triangle, pairs (i, j), j <= i, of its nodes."""
    for group in prange(data.shape[0]):
        for lane in range(LANES):
            pair = 0
            for i in range(NODES):
                for j in range(i + 1):
                    both = data[group, 6 + i, lane] * data[group, 6 + j, lane]
                    for k in range(9):
                        blocks_out[group * LANES + lane, pair, k] = both * data[group, SYMMETRIC[k], lane]
                    pair += 1


@parallel_kernel
def fibre_products(data, places, x, slots_out):
    """Slots (groups, 9, LANES) of the stiffness times x, flat; data and places as in FibreProducts."""
    for group in prange(places.shape[0]):
        for lane in range(LANES):
            b, c = load6(data, group, lane), load3(data, group, 6, lane)
            i, j, k = places[group, 0, lane], places[group, 1, lane], places[group, 2, lane]
            y0 = c[0] * x[i] + c[1] * x[j] + c[2] * x[k]
            y1 = c[0] * x[i + LANES] + c[1] * x[j + LANES] + c[2] * x[k + LANES]
            y2 = c[0] * x[i + 2 * LANES] + c[1] * x[j + 2 * LANES] + c[2] * x[k + 2 * LANES]
            f = (b[0] * y0 + b[5] * y1 + b[4] * y2, b[5] * y0 + b[1] * y1 + b[3] * y2)
            f = (f[0], f[1], b[4] * y0 + b[3] * y1 + b[2] * y2)
            store3(slots_out, group, 0, lane, scale(c[0], f))
            store3(slots_out, group, 3, lane, scale(c[1], f))
            store3(slots_out, group, 6, lane, scale(c[2], f))


@kernel
def add_fibre_diagonals(data, first, start, adjacency, places, free, out):
    """Adds the diagonal blocks of every node, where it is free, to out (slices, 9, LANES); first: the first slot of
    these fibres."""
    last = first + data.shape[0] * 9 * LANES
    for node in range(places.shape[0]):
        at = places[node]
        for k in range(start[node], start[node + 1]):
            if adjacency[k] < first or adjacency[k] >= last:
                continue
            lane, slot = (adjacency[k] - first) % LANES, (adjacency[k] - first) // LANES
            group, i = slot // 9, slot % 9 // 3
            square = data[group, 6 + i, lane] * data[group, 6 + i, lane]
            for r in range(3):
                for c in range(3):
                    both = square * free[at + r * LANES] * free[at + c * LANES]
                    out[at // (3 * LANES), 3 * r + c, at % LANES] += both * data[group, SYMMETRIC[3 * r + c], lane]
