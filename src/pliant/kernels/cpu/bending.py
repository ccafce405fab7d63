"""Loops over triangles that fold with their three neighbours: angles, energy, forces, stiffness (formulas.cloth).

A triangle has six nodes: its own 0, 1, 2, and 3 + a, the node of its neighbour across the edge opposite to node a, from
p = a + 1 to q = a + 2. Where there is no neighbour, `present` (groups, 3, LANES) is zero, and a point that keeps its
place beside the middle of the edge, offset (groups, 9, LANES) [m], stands for it. A turn is 2 tan(angle / 2). Frames
(groups, 42, LANES): turns beyond those at rest (3), their torques (3), and gradients of the turns: of turn a at nodes
a, p, q and 3 + a (36).
"""

import numpy as np
from numba import prange

from pliant.formulas.cloth import fold_slope, fold_turn
from pliant.formulas.matrix3 import add, dot, scale, subtract
from pliant.jit import formula, kernel, parallel_kernel
from pliant.kernels.cpu.folding import add_turning, far_point, gather_nodes_of
from pliant.kernels.lanes import LANES, chunks, first_of, last_of, load3, load6, store3, store_group
from pliant.kernels.sheets import BENDING_DATA

NODES, ANGLES = 6, 3
FIRST_SLOPE = 6


@formula
def _angle_lanes(x, a, p, q, present, offset, rest, group, out):
    """Angle a of a group and its gradients into out (1, 42, LANES)."""
    for lane in range(LANES):
        apex, start, end = load3(x, 0, 3 * a, lane), load3(x, 0, 3 * p, lane), load3(x, 0, 3 * q, lane)
        other = far_point(x, present, offset, group, a, p, q, lane)
        turn = fold_turn(apex, start, end, other)
        steep = 1.0 + 0.25 * turn * turn
        own, share = fold_slope(apex, start, end)
        far, far_share = fold_slope(other, end, start)
        own, far = scale(steep, own), scale(steep, far)
        there = present[group, a, lane]
        half = 0.5 * (1.0 - there)
        out[0, a, lane] = turn - rest[group, a, lane]
        first = FIRST_SLOPE + 12 * a
        store3(out, 0, first, lane, own)
        store3(out, 0, first + 3, lane, add(scale(share - 1.0, own), scale(half - far_share, far)))
        store3(out, 0, first + 6, lane, add(scale(-share, own), scale(half + far_share - 1.0, far)))
        store3(out, 0, first + 9, lane, scale(there, far))


@kernel
def _fold(x, present, offset, rest, group, out):
    """Angles and gradients of one group with nodes at x (1, 18, LANES)."""
    _angle_lanes(x, 0, 1, 2, present, offset, rest, group, out)
    _angle_lanes(x, 1, 2, 0, present, offset, rest, group, out)
    _angle_lanes(x, 2, 0, 1, present, offset, rest, group, out)


@formula
def _torque(k, e):
    """K e with a symmetric K (00, 11, 22, 12, 02, 01)."""
    return (
        k[0] * e[0] + k[5] * e[1] + k[4] * e[2],
        k[5] * e[0] + k[1] * e[1] + k[3] * e[2],
        k[4] * e[0] + k[3] * e[1] + k[2] * e[2],
    )


@formula
def _slope(frames, group, a, k, lane):
    """Gradient k of turn a: at nodes a, p, q and 3 + a."""
    return load3(frames, group, FIRST_SLOPE + 12 * a + 3 * k, lane)


@formula
def _rate(frames, group, a, lane, apex, start, end, far):
    """Rate of turn a, at whose nodes there are such velocities."""
    own = dot(_slope(frames, group, a, 0, lane), apex) + dot(_slope(frames, group, a, 1, lane), start)
    return own + dot(_slope(frames, group, a, 2, lane), end) + dot(_slope(frames, group, a, 3, lane), far)


@formula
def _rates(frames, group, v, lane):
    """Rates of the three turns of a group whose nodes move by v (1, 18, LANES)."""
    n0, n1, n2 = load3(v, 0, 0, lane), load3(v, 0, 3, lane), load3(v, 0, 6, lane)
    f0, f1, f2 = load3(v, 0, 9, lane), load3(v, 0, 12, lane), load3(v, 0, 15, lane)
    first, second = _rate(frames, group, 0, lane, n0, n1, n2, f0), _rate(frames, group, 1, lane, n1, n2, n0, f1)
    return first, second, _rate(frames, group, 2, lane, n2, n0, n1, f2)


@formula
def _pull(frames, group, t, lane, k0, k1, k2):
    """What torques t of the turns do at a node at which these have gradients k0, k1 and k2."""
    first = scale(t[0], _slope(frames, group, 0, k0, lane))
    return add(
        add(first, scale(t[1], _slope(frames, group, 1, k1, lane))), scale(t[2], _slope(frames, group, 2, k2, lane))
    )


@formula
def _store_pulls(frames, group, t, lane, out):
    """Forces of the nodes by torques t of the turns into out (1, 18, LANES)."""
    store3(out, 0, 0, lane, _pull(frames, group, t, lane, 0, 2, 1))
    store3(out, 0, 3, lane, _pull(frames, group, t, lane, 1, 0, 2))
    store3(out, 0, 6, lane, _pull(frames, group, t, lane, 2, 1, 0))
    store3(out, 0, 9, lane, scale(t[0], _slope(frames, group, 0, 3, lane)))
    store3(out, 0, 12, lane, scale(t[1], _slope(frames, group, 1, 3, lane)))
    store3(out, 0, 15, lane, scale(t[2], _slope(frames, group, 2, 3, lane)))


@parallel_kernel
def fold_frames(x, nodes, present, offset, rest, frames_out):
    """Frames (groups, 42, LANES) at positions x (n, 3); torques are left at zero."""
    for chunk in prange(chunks(nodes.shape[0])):
        d, out = np.empty((1, 3 * NODES, LANES)), np.zeros((1, BENDING_DATA, LANES))
        for group in range(first_of(chunk), last_of(chunk, nodes.shape[0])):
            gather_nodes_of(x, nodes, group, d)
            _fold(d, present, offset, rest, group, out)
            store_group(out, group, frames_out)


@kernel
def _yielded(shape, strain, plastic, group, frames, torque_inout):
    """Takes what a plastic strain takes from torques (1, 3, LANES); the energy [J] that it adds. frames (1, 42,
    LANES)."""
    energy = 0.0
    for lane in range(LANES):
        turn = load3(frames, 0, 0, lane)
        e0, e1, e2 = plastic[group, 0, lane], plastic[group, 1, lane], plastic[group, 5, lane]
        back = (
            shape[group, 0, lane] * e0 + shape[group, 1, lane] * e1 + shape[group, 2, lane] * e2,
            shape[group, 3, lane] * e0 + shape[group, 4, lane] * e1 + shape[group, 5, lane] * e2,
            shape[group, 6, lane] * e0 + shape[group, 7, lane] * e1 + shape[group, 8, lane] * e2,
        )
        own = strain[group, 0, lane] * (e0 * e0 + e1 * e1) + 2.0 * strain[group, 1, lane] * e0 * e1
        own += strain[group, 2, lane] * e2 * e2
        energy += 0.5 * own - back[0] * turn[0] - back[1] * turn[1] - back[2] * turn[2]
        store3(torque_inout, 0, 0, lane, subtract(load3(torque_inout, 0, 0, lane), back))
    return energy


@parallel_kernel
def evaluate_bending(
    x, nodes, present, offset, rest, shape, strain, plastic, stiffness, frames_out, energy_out, slots_out
):
    """Frames, as many numbers of them as there is room for, energies of the groups [J] and slots (groups, 18, LANES)
    [N] of the energy's gradient at positions x.

    The torques of the angles f are K f - S e_p with stiffness K (groups, 6, LANES), S (groups, 9, LANES) as `shape`,
    the energy 1/2 f K f - f S e_p + 1/2 e_p C e_p, with plastic (groups, 6, LANES) and strain (groups, 3, LANES) the
    moduli C of the surface strain: C00 = C11, C01, C22; plastic has no groups where nothing flows.
    """
    for chunk in prange(chunks(nodes.shape[0])):
        d, out = np.empty((1, 3 * NODES, LANES)), np.empty((1, BENDING_DATA, LANES))
        torque, force = np.empty((1, ANGLES, LANES)), np.empty((1, 3 * NODES, LANES))
        for group in range(first_of(chunk), last_of(chunk, nodes.shape[0])):
            gather_nodes_of(x, nodes, group, d)
            _fold(d, present, offset, rest, group, out)
            energy = 0.0
            for lane in range(LANES):
                turn = load3(out, 0, 0, lane)
                t = _torque(load6(stiffness, group, lane), turn)
                energy += 0.5 * (t[0] * turn[0] + t[1] * turn[1] + t[2] * turn[2])
                store3(torque, 0, 0, lane, t)
            if plastic.shape[0] > 0:
                energy += _yielded(shape, strain, plastic, group, out, torque)
            energy_out[group] = energy
            for lane in range(LANES):
                _store_pulls(out, 0, load3(torque, 0, 0, lane), lane, force)
            for k in range(min(ANGLES, frames_out.shape[1])):
                for lane in range(LANES):
                    frames_out[group, k, lane] = out[0, k, lane]
            for k in range(ANGLES, min(2 * ANGLES, frames_out.shape[1])):
                for lane in range(LANES):
                    frames_out[group, k, lane] = torque[0, k - ANGLES, lane]
            for k in range(2 * ANGLES, frames_out.shape[1]):
                for lane in range(LANES):
                    frames_out[group, k, lane] = out[0, k, lane]
            store_group(force, group, slots_out)


@parallel_kernel
def damp_bending(v, nodes, frames, stiffness, weight, energy_out, slots_inout):
    """Adds the viscous forces weight (groups, LANES) times J^T K J v in given frames; energies: half of the power."""
    for chunk in prange(chunks(nodes.shape[0])):
        d, force = np.empty((1, 3 * NODES, LANES)), np.empty((1, 3 * NODES, LANES))
        for group in range(first_of(chunk), last_of(chunk, nodes.shape[0])):
            power = 0.0
            gather_nodes_of(v, nodes, group, d)
            for lane in range(LANES):
                r = _rates(frames, group, d, lane)
                t = scale(weight[group, lane], _torque(load6(stiffness, group, lane), r))
                power += 0.5 * dot(t, r)
                _store_pulls(frames, group, t, lane, force)
            energy_out[group] = power
            for k in range(3 * NODES):
                for lane in range(LANES):
                    slots_inout[group, k, lane] += force[0, k, lane]


@parallel_kernel
def pack_bending(frames, rest, stiffness, weight, project, data_out):
    """Data for products (groups, 42, LANES): stiffness, and what the turns' own curvature makes of their torques, times
    weight (groups, LANES), and the gradients of the turns; project: without what is negative."""
    for group in prange(frames.shape[0]):
        for k in range(6):
            for lane in range(LANES):
                data_out[group, k, lane] = weight[group, lane] * stiffness[group, k, lane]
        for a in range(ANGLES):
            for lane in range(LANES):
                # f'' / f'^2 of f = 2 tan(angle / 2)
                turn = frames[group, a, lane] + rest[group, a, lane]
                more = frames[group, 3 + a, lane] * turn / (2.0 + 0.5 * turn * turn)
                data_out[group, a, lane] += weight[group, lane] * (max(more, 0.0) if project else more)
        for k in range(FIRST_SLOPE, BENDING_DATA):
            for lane in range(LANES):
                data_out[group, k, lane] = frames[group, k, lane]


@kernel
def _dense_slopes(numbers, group, out):
    """Gradients of all turns at all nodes, out (18 nodes and axes, 3, LANES): entry (3 i + c, a)."""
    for k in range(3 * NODES):
        for a in range(ANGLES):
            for lane in range(LANES):
                out[k, a, lane] = 0.0
    for a in range(ANGLES):
        for k in range(4):
            node = (a + k) % 3 if k < 3 else 3 + a
            for c in range(3):
                for lane in range(LANES):
                    out[3 * node + c, a, lane] = numbers[group, FIRST_SLOPE + 12 * a + 3 * k + c, lane]


@kernel
def _weigh(numbers, group, slopes, out):
    """out = K slopes, (18, 3, LANES) each."""
    for k in range(3 * NODES):
        for lane in range(LANES):
            store3(out, k, 0, lane, _torque(load6(numbers, group, lane), load3(slopes, k, 0, lane)))


@kernel
def _add_pair(slopes, weighted, i, j, pair, blocks):
    """Adds block (i, j) of J^T K J, whose nodes all three turns may move, to blocks (21, 9, LANES)."""
    for r in range(3):
        for lane in range(LANES):
            s = load3(slopes, 3 * i + r, 0, lane)
            x, y = load3(weighted, 3 * j, 0, lane), load3(weighted, 3 * j + 1, 0, lane)
            z = load3(weighted, 3 * j + 2, 0, lane)
            blocks[pair, 3 * r, lane] += s[0] * x[0] + s[1] * x[1] + s[2] * x[2]
            blocks[pair, 3 * r + 1, lane] += s[0] * y[0] + s[1] * y[1] + s[2] * y[2]
            blocks[pair, 3 * r + 2, lane] += s[0] * z[0] + s[1] * z[1] + s[2] * z[2]


@kernel
def _add_far_pair(slopes, weighted, i, j, pair, blocks):
    """The same of a far node i, which moves one turn alone."""
    a = i - 3
    for r in range(3):
        for lane in range(LANES):
            s = slopes[3 * i + r, a, lane]
            blocks[pair, 3 * r, lane] += s * weighted[3 * j, a, lane]
            blocks[pair, 3 * r + 1, lane] += s * weighted[3 * j + 1, a, lane]
            blocks[pair, 3 * r + 2, lane] += s * weighted[3 * j + 2, a, lane]


@kernel
def _add_blocks(numbers, group, slopes, weighted, blocks):
    """Adds J^T K J to blocks (21, 9, LANES)."""
    _dense_slopes(numbers, group, slopes)
    _weigh(numbers, group, slopes, weighted)
    pair = 0
    for i in range(NODES):
        for j in range(i + 1):
            if i < 3:
                _add_pair(slopes, weighted, i, j, pair, blocks)
            else:
                _add_far_pair(slopes, weighted, i, j, pair, blocks)
            pair += 1


@kernel
def _merge_twins(nodes, group, blocks):
    """Where two neighbours have the same far node (they meet at a corner of three triangles), its block with itself is
    the one of both and of each with the other, which is left empty; blocks (21, 9, LANES)."""
    for lane in range(LANES):
        for i in range(4, NODES):
            for j in range(3, i):
                if nodes[group, i, lane] != nodes[group, j, lane]:
                    continue
                own, both = i * (i + 1) // 2 + i, i * (i + 1) // 2 + j
                for r in range(3):
                    for c in range(3):
                        blocks[own, 3 * r + c, lane] += blocks[both, 3 * r + c, lane] + blocks[both, 3 * c + r, lane]
                for k in range(9):
                    blocks[both, k, lane] = 0.0


@parallel_kernel
def bending_stiffness(data, exact, x, nodes, present, offset, rest, frames, weight, blocks_out):
    """The 21 stiffness blocks (groups LANES, 21, 9) of every triangle, pairs (i, j), j <= i, of its nodes, from data
    (terms, groups, 42, LANES); exact: with what the torques in `frames` do as angles turn, times weight."""
    for group in prange(data.shape[1]):
        blocks, slopes = np.zeros((21, 9, LANES)), np.empty((3 * NODES, ANGLES, LANES))
        weighted = np.empty((3 * NODES, ANGLES, LANES))
        for term in range(data.shape[0]):
            _add_blocks(data[term], group, slopes, weighted, blocks)
        if exact:
            add_turning(x, nodes, group, present, offset, rest, frames, weight, blocks)
        _merge_twins(nodes, group, blocks)
        for lane in range(LANES):
            for pair in range(21):
                for k in range(9):
                    blocks_out[group * LANES + lane, pair, k] = blocks[pair, k, lane]


@parallel_kernel
def bending_products(data, places, x, slots_out):
    """Slots (groups, 18, LANES) of the stiffness times x, flat; data and places as in BendingProducts."""
    for group in prange(places.shape[0]):
        d, force = np.empty((1, 3 * NODES, LANES)), np.empty((1, 3 * NODES, LANES))
        for lane in range(LANES):
            for i in range(NODES):
                for c in range(3):
                    d[0, 3 * i + c, lane] = x[places[group, i, lane] + c * LANES]
        for k in range(3 * NODES):
            for lane in range(LANES):
                slots_out[group, k, lane] = 0.0
        for term in range(data.shape[0]):
            for lane in range(LANES):
                t = _torque(load6(data[term], group, lane), _rates(data[term], group, d, lane))
                _store_pulls(data[term], group, t, lane, force)
            for k in range(3 * NODES):
                for lane in range(LANES):
                    slots_out[group, k, lane] += force[0, k, lane]


@kernel
def add_bending_diagonals(data, first, start, adjacency, places, free, out):
    """Adds the triangles' diagonal blocks of every node, where it is free, to out (slices, 9, LANES); first: the first
    slot of these triangles."""
    last = first + data.shape[1] * 3 * NODES * LANES
    slopes, weighted = np.empty((3 * NODES, ANGLES, LANES)), np.empty((3 * NODES, ANGLES, LANES))
    for node in range(places.shape[0]):
        at = places[node]
        for k in range(start[node], start[node + 1]):
            if adjacency[k] < first or adjacency[k] >= last:
                continue
            lane, slot = (adjacency[k] - first) % LANES, (adjacency[k] - first) // LANES
            group, i = slot // (3 * NODES), slot % (3 * NODES) // 3
            for term in range(data.shape[0]):
                _dense_slopes(data[term], group, slopes)
                _weigh(data[term], group, slopes, weighted)
                for r in range(3):
                    for c in range(3):
                        total = 0.0
                        for a in range(ANGLES):
                            total += slopes[3 * i + r, a, lane] * weighted[3 * i + c, a, lane]
                        total *= free[at + r * LANES] * free[at + c * LANES]
                        out[at // (3 * LANES), 3 * r + c, at % LANES] += total
