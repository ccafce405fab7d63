"""Second derivatives of the angles between triangles, node by node; see kernels.cpu.bending for their arrays."""

import numpy as np

from pliant.formulas.cloth import fold_curvature
from pliant.formulas.matrix3 import add, scale
from pliant.jit import formula, kernel
from pliant.kernels.lanes import LANES, load3

NODES, ANGLES = 6, 3


@kernel
def gather_nodes_of(values, nodes, group, out):
    """Values (1, 18, LANES) of the six nodes of a group."""
    for lane in range(LANES):
        for i in range(NODES):
            node = nodes[group, i, lane]
            for c in range(3):
                out[0, 3 * i + c, lane] = values[node, c]


@formula
def far_point(x, present, offset, group, a, p, q, lane):
    """The point (3) across edge a."""
    there, d = present[group, a, lane], load3(x, 0, 9 + 3 * a, lane)
    middle = scale(0.5, add(load3(x, 0, 3 * p, lane), load3(x, 0, 3 * q, lane)))
    return add(scale(there, d), scale(1.0 - there, add(middle, load3(offset, group, 3 * a, lane))))


@formula
def _put_triangle(numbers, side, lane, torque, found):
    """Numbers a, b, d, g (10, LANES) of one of the two triangles at an edge, times the torque."""
    a, b, d, g, _ = found
    live = torque != 0.0  # nothing where there is none, however thin the triangle
    for c in range(3):
        numbers[side, c, lane] = torque * a[c] if live else 0.0
        numbers[side, 3 + c, lane] = b[c] if live else 0.0
        numbers[side, 6 + c, lane] = d[c] if live else 0.0
    numbers[side, 9, lane] = g if live else 0.0


@kernel
def _angle_curvature(x, present, offset, group, a, torque, numbers, shares):
    """Of the two triangles at edge a numbers (2, 10, LANES) as fold_curvature has them, times the torque (LANES), and
    shares c (2, 4, LANES) of the nodes a, p, q, 3 + a. A point across the edge that is no node moves with its ends."""
    p, q = (a + 1) % 3, (a + 2) % 3
    for lane in range(LANES):
        apex, start, end = load3(x, 0, 3 * a, lane), load3(x, 0, 3 * p, lane), load3(x, 0, 3 * q, lane)
        other, there = far_point(x, present, offset, group, a, p, q, lane), present[group, a, lane]
        own, far = fold_curvature(apex, start, end), fold_curvature(other, end, start)
        _put_triangle(numbers, 0, lane, torque[lane], own)
        _put_triangle(numbers, 1, lane, torque[lane], far)
        half = 0.5 * (1.0 - there)
        shares[0, 0, lane], shares[0, 1, lane], shares[0, 2, lane], shares[0, 3, lane] = 1.0, own[4] - 1.0, -own[4], 0.0
        shares[1, 0, lane], shares[1, 1, lane] = 0.0, half - far[4]
        shares[1, 2, lane], shares[1, 3, lane] = half + far[4] - 1.0, there


@formula
def _sign(side, n):
    """k of node n = 0, 1, 2, 3 (a, p, q, 3 + a) in one of the two triangles at an edge."""
    if n == 0 or n == 3:
        return 0.0
    return -1.0 if (n == 1) == (side == 0) else 1.0


@kernel
def _add_curvature(numbers, shares, n, m, pair, blocks):
    """Adds the block between nodes n and m of an angle to blocks (21, 9, LANES)."""
    for side in range(2):
        kn, km = _sign(side, n), _sign(side, m)
        for r in range(3):
            for c in range(3):
                for lane in range(LANES):
                    cn, cm = shares[side, n, lane], shares[side, m, lane]
                    ar, ac = numbers[side, r, lane], numbers[side, c, lane]
                    both = numbers[side, 3 + r, lane] * ac + ar * numbers[side, 3 + c, lane]
                    own = (cn * cm + kn * km * numbers[side, 9, lane]) * both
                    own += cn * km * numbers[side, 6 + r, lane] * ac + kn * cm * ar * numbers[side, 6 + c, lane]
                    blocks[pair, 3 * r + c, lane] += own


@kernel
def add_turning(x, nodes, group, present, offset, rest, frames, weight, blocks):
    """Adds the torques of turns f times f' and the second derivatives of the angles to blocks (21, 9, LANES)."""
    d, torque = np.empty((1, 3 * NODES, LANES)), np.empty(LANES)
    numbers, shares = np.empty((2, 10, LANES)), np.empty((2, 4, LANES))
    gather_nodes_of(x, nodes, group, d)
    for a in range(ANGLES):
        for lane in range(LANES):
            turn = frames[group, a, lane] + rest[group, a, lane]
            torque[lane] = weight * frames[group, 3 + a, lane] * (1.0 + 0.25 * turn * turn)
        _angle_curvature(d, present, offset, group, a, torque, numbers, shares)
        for n in range(4):
            i = (a + n) % 3 if n < 3 else 3 + a
            for m in range(4):
                j = (a + m) % 3 if m < 3 else 3 + a
                if j <= i:
                    _add_curvature(numbers, shares, n, m, i * (i + 1) // 2 + j, blocks)
