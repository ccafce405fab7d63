"""Loops over springs between two nodes: energy, forces, damping along the axis, stiffness."""

from numba import prange

from pliant.formulas.springs import spring_axis, spring_block, spring_moduli
from pliant.jit import kernel, parallel_kernel
from pliant.kernels.lanes import LANES, load3, load6, store3

# Where the entries of a symmetric matrix xx, yy, zz, yz, xz, xy stand in a block of nine.
SYMMETRIC = (0, 5, 4, 5, 1, 3, 4, 3, 2)


@parallel_kernel
def spring_frames(x, nodes, frames_out):
    """Unit axis from node 0 to node 1, and length [m] (groups, 4, LANES)."""
    for group in prange(nodes.shape[0]):
        for lane in range(LANES):
            i, j = nodes[group, 0, lane], nodes[group, 1, lane]
            n, length = spring_axis((x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]))
            store3(frames_out, group, 0, lane, n)
            frames_out[group, 3, lane] = length


@parallel_kernel
def evaluate_springs(frames, stiffness, rest, energy_out, slots_out):
    """Energies (groups,) [J] of k/2 (L - L0)^2 and the slots (groups, 6, LANES) of its gradient [N]; stiffness k [N/m]
    and rest length (groups, LANES)."""
    for group in prange(frames.shape[0]):
        energy = 0.0
        for lane in range(LANES):
            n, stretch = load3(frames, group, 0, lane), frames[group, 3, lane] - rest[group, lane]
            pull = stiffness[group, lane] * stretch
            energy += 0.5 * pull * stretch
            store3(slots_out, group, 0, lane, (-pull * n[0], -pull * n[1], -pull * n[2]))
            store3(slots_out, group, 3, lane, (pull * n[0], pull * n[1], pull * n[2]))
        energy_out[group] = energy


@parallel_kernel
def damp_springs(v, nodes, axes, weight, energy_out, slots_inout):
    """Adds the viscous forces weight (n . (v1 - v0)) n along axes (groups, 4, LANES), of the relative velocity the part
    along the axis only (theory section 7, erratum of C 1.3); energies (groups,): half of the power."""
    for group in prange(nodes.shape[0]):
        energy = 0.0
        for lane in range(LANES):
            i, j, n = nodes[group, 0, lane], nodes[group, 1, lane], load3(axes, group, 0, lane)
            rate = n[0] * (v[j, 0] - v[i, 0]) + n[1] * (v[j, 1] - v[i, 1]) + n[2] * (v[j, 2] - v[i, 2])
            pull = weight[group, lane] * rate
            energy += 0.5 * pull * rate
            for c in range(3):
                slots_inout[group, c, lane] -= pull * n[c]
                slots_inout[group, 3 + c, lane] += pull * n[c]
        energy_out[group] = energy


@parallel_kernel
def spring_blocks(frames, stiffness, rest, weight, project, damped, axes, damping_weight, out):
    """Block (groups, 6, LANES) of both ends of every spring, times weight; project: without its negative part. If
    `damped`, with damping_weight (groups, LANES) along axes (groups, 4, LANES)."""
    for group in prange(frames.shape[0]):
        for lane in range(LANES):
            along, across = spring_moduli(frames[group, 3, lane], rest[group, lane], stiffness[group, lane])
            across = max(across, 0.0) if project else across
            block = spring_block(load3(frames, group, 0, lane), weight * along, weight * across)
            for c in range(6):
                out[group, c, lane] = block[c]
            if damped:
                block = spring_block(load3(axes, group, 0, lane), damping_weight[group, lane], 0.0)
                for c in range(6):
                    out[group, c, lane] += block[c]


@kernel
def spread_blocks(data, blocks_out):
    """The three stiffness blocks (groups LANES, 3, 9) of every spring, pairs (0, 0), (1, 0), (1, 1), from data (groups,
    6, LANES)."""
    for group in range(data.shape[0]):
        for lane in range(LANES):
            for k in range(9):
                value = data[group, SYMMETRIC[k], lane]
                blocks_out[group * LANES + lane, 0, k] = value
                blocks_out[group * LANES + lane, 1, k] = -value
                blocks_out[group * LANES + lane, 2, k] = value


@parallel_kernel
def spring_products(data, places, x, slots_out):
    """Slots (groups, 6, LANES) of the stiffness times x, flat; data and places as in SpringProducts."""
    for group in prange(places.shape[0]):
        for lane in range(LANES):
            i, j, b = places[group, 0, lane], places[group, 1, lane], load6(data, group, lane)
            d0, d1 = x[j] - x[i], x[j + LANES] - x[i + LANES]
            d2 = x[j + 2 * LANES] - x[i + 2 * LANES]
            f = (b[0] * d0 + b[5] * d1 + b[4] * d2, b[5] * d0 + b[1] * d1 + b[3] * d2)
            f = (f[0], f[1], b[4] * d0 + b[3] * d1 + b[2] * d2)
            store3(slots_out, group, 0, lane, (-f[0], -f[1], -f[2]))
            store3(slots_out, group, 3, lane, f)


@kernel
def add_spring_diagonals(data, first, start, adjacency, places, free, out):
    """Adds the springs' diagonal blocks of every node, where it is free, to out (slices, 9, LANES); first: the first
    slot of these springs."""
    last = first + data.shape[0] * 6 * LANES
    for node in range(places.shape[0]):
        at = places[node]
        for k in range(start[node], start[node + 1]):
            if adjacency[k] < first or adjacency[k] >= last:
                continue
            lane, group = (adjacency[k] - first) % LANES, (adjacency[k] - first) // (6 * LANES)
            for r in range(3):
                for c in range(3):
                    both = free[at + r * LANES] * free[at + c * LANES]
                    value = both * data[group, SYMMETRIC[3 * r + c], lane]
                    out[at // (3 * LANES), 3 * r + c, at % LANES] += value
