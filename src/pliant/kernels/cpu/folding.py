"""Second derivatives of the angles between triangles, node by node; see kernels.cpu.bending for their arrays."""

import numpy as np

from pliant.formulas.cloth import fold_slope_change
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


@kernel
def _corner(x, present, offset, group, a, k, lane):
    """Of angle a the point at its node a, p, q (k = 0, 1, 2), or across the edge (k = 3)."""
    if k < 3:
        return load3(x, 0, 3 * ((a + k) % 3), lane)
    return far_point(x, present, offset, group, a, (a + 1) % 3, (a + 2) % 3, lane)


@kernel
def _angle_hessian(x, present, offset, group, a, lane, out):
    """Second derivative of angle a as out (4, 3, 4, 3) over its nodes a, p, q, 3 + a: that of either triangle."""
    corner = np.empty((4, 3))
    for k in range(4):
        point = _corner(x, present, offset, group, a, k, lane)
        corner[k, 0], corner[k, 1], corner[k, 2] = point[0], point[1], point[2]
    out[:] = 0.0
    move = np.zeros((3, 3))
    for side in range(2):
        order = (0, 1, 2) if side == 0 else (3, 2, 1)
        points = corner[order[0]], corner[order[1]], corner[order[2]]
        for m in range(3):
            for c in range(3):
                move[:] = 0.0
                move[m, c] = 1.0
                change = fold_slope_change(
                    (points[0][0], points[0][1], points[0][2]),
                    (points[1][0], points[1][1], points[1][2]),
                    (points[2][0], points[2][1], points[2][2]),
                    (move[0, 0], move[0, 1], move[0, 2]),
                    (move[1, 0], move[1, 1], move[1, 2]),
                    (move[2, 0], move[2, 1], move[2, 2]),
                )
                for n in range(3):
                    out[order[n], 0, order[m], c] += change[3 * n]
                    out[order[n], 1, order[m], c] += change[3 * n + 1]
                    out[order[n], 2, order[m], c] += change[3 * n + 2]


@kernel
def _without_other(hessian, there):
    """Let the point across the edge, where it is no node, move with the edge's ends; hessian (4, 3, 4, 3)."""
    half = 0.5 * (1.0 - there)
    for r in range(3):
        for c in range(3):
            for m in range(4):
                far = hessian[3, r, m, c]
                hessian[1, r, m, c] += half * far
                hessian[2, r, m, c] += half * far
                hessian[3, r, m, c] = there * far
    for r in range(3):
        for c in range(3):
            for m in range(4):
                far = hessian[m, r, 3, c]
                hessian[m, r, 1, c] += half * far
                hessian[m, r, 2, c] += half * far
                hessian[m, r, 3, c] = there * far


@kernel
def add_turning(x, nodes, group, present, offset, rest, frames, weight, blocks):
    """Adds the torques of turns f times f' and the second derivatives of the angles to blocks (21, 9, LANES)."""
    d, hessian = np.empty((1, 3 * NODES, LANES)), np.empty((4, 3, 4, 3))
    gather_nodes_of(x, nodes, group, d)
    for lane in range(LANES):
        for a in range(ANGLES):
            turn = frames[group, a, lane] + rest[group, a, lane]
            torque = weight * frames[group, 3 + a, lane] * (1.0 + 0.25 * turn * turn)
            if torque == 0.0:
                continue
            _angle_hessian(d, present, offset, group, a, lane, hessian)
            _without_other(hessian, present[group, a, lane])
            for n in range(4):
                i = (a + n) % 3 if n < 3 else 3 + a
                for m in range(4):
                    j = (a + m) % 3 if m < 3 else 3 + a
                    if j > i:
                        continue
                    pair = i * (i + 1) // 2 + j
                    for r in range(3):
                        for c in range(3):
                            blocks[pair, 3 * r + c, lane] += torque * hessian[n, r, m, c]
