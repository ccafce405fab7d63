"""Loops over triples that a step needs many times: its inertia, what weighs its errors, the squares of its balance."""

import math

import numpy as np

from pliant.formulas.matrix3 import positive_inverse
from pliant.jit import kernel
from pliant.kernels.cpu.linalg.triples import LEAST_PIVOT
from pliant.kernels.cpu.rows import row_rates
from pliant.kernels.cpu.table import row_mobilities
from pliant.kernels.joints import BODY
from pliant.kernels.lanes import LANES


@kernel
def mass_blocks(node_mass, body_mass, static, inverse, blocks_out):
    """Blocks (n + 2 b, 3, 3), which are zero, of masses (n,) and (b,), and of the inverses (2 b, 6) of inertias, which
    are those of the odd rows; of static bodies there are none."""
    n = node_mass.shape[0]
    for i in range(n):
        for c in range(3):
            blocks_out[i, c, c] = node_mass[i]
    for b in range(body_mass.shape[0]):
        if static[b]:
            continue
        for c in range(3):
            blocks_out[n + 2 * b, c, c] = body_mass[b]
        s, own = inverse[2 * b + 1], blocks_out[n + 2 * b + 1]
        i = positive_inverse((s[0], s[1], s[2], s[3], s[4], s[5]), LEAST_PIVOT)
        own[0, 0], own[1, 1], own[2, 2] = i[0], i[1], i[2]
        own[1, 2] = own[2, 1] = i[3]
        own[0, 2] = own[2, 0] = i[4]
        own[0, 1] = own[1, 0] = i[5]


@kernel
def inertia_terms(mass, push, u, gradient_out):
    """1/2 u^T M u - u^T push [J] with mass blocks (triples, 3, 3), and its gradient M u - push (triples, 3)."""
    value = 0.0
    for i in range(u.shape[0]):
        for r in range(3):
            moved = mass[i, r, 0] * u[i, 0] + mass[i, r, 1] * u[i, 1] + mass[i, r, 2] * u[i, 2]
            gradient_out[i, r] = moved - push[i, r]
            value += u[i, r] * (0.5 * moved - push[i, r])
    return value


@kernel
def balance_weights(inverse_mass, stiffness, free, out):
    """out (triples, 3): mobilities of free components: inverse masses (triples, 6: the diagonal counts) with stiffness
    (triples,) times h^2 added to the masses."""
    for i in range(out.shape[0]):
        largest = max(inverse_mass[i, 0], inverse_mass[i, 1], inverse_mass[i, 2])
        for c in range(3):
            out[i, c] = free[i, c] * inverse_mass[i, c] / (1.0 + stiffness[i] * largest)


@kernel
def balance_squares(mass, u, predicted, before, internal, h, rows, weight):
    """Weighted squares of a step's balance M (u - u*) + h f - J^T lambda, and of its parts: inertia, applied impulses
    M (u* - u_before), internal ones and those of rows. internal (n, 3) [N] is of the first triples."""
    balance, inertia, applied, elastic, joined = 0.0, 0.0, 0.0, 0.0, 0.0
    n = internal.shape[0]
    for i in range(u.shape[0]):
        a0, a1, a2 = u[i, 0] - predicted[i, 0], u[i, 1] - predicted[i, 1], u[i, 2] - predicted[i, 2]
        b0, b1, b2 = predicted[i, 0] - before[i, 0], predicted[i, 1] - before[i, 1], predicted[i, 2] - before[i, 2]
        for r in range(3):
            own = mass[i, r, 0] * a0 + mass[i, r, 1] * a1 + mass[i, r, 2] * a2
            push = mass[i, r, 0] * b0 + mass[i, r, 1] * b1 + mass[i, r, 2] * b2
            force = h * internal[i, r] if i < n else 0.0
            left, w = own + force - rows[i, r], weight[i, r]
            balance += left * left * w
            inertia += own * own * w
            applied += push * push * w
            elastic += force * force * w
            joined += rows[i, r] * rows[i, r] * w
    return balance, inertia, applied, elastic, joined


@kernel
def rounding_square(stiffness, x, part, weight):
    """Weighted square of the impulses that rounding makes: part of stiffness (n,) times the nodes' distance x (n, 3)
    from the origin, in every component; weight (triples, 3)."""
    total = 0.0
    for i in range(x.shape[0]):
        kick = part * stiffness[i] * max(abs(x[i, 0]), abs(x[i, 1]), abs(x[i, 2]))
        total += kick * kick * (weight[i, 0] + weight[i, 1] + weight[i, 2])
    return total


@kernel
def rounding_energy(stiffness, mass, x, part, h):
    """Twice the energy [J] of the motion that such impulses make of nodes with masses (n,), which their stiffness
    (n,) [N/m] holds."""
    total = 0.0
    for i in range(x.shape[0]):
        kick = h * part * stiffness[i] * max(abs(x[i, 0]), abs(x[i, 1]), abs(x[i, 2]))
        total += kick * kick / (mass[i] + h * h * stiffness[i])
    return total


@kernel
def _add_pull(anchors, k, pull, reach, node_count, stiffness_inout):
    """The part of it on one side of a block."""
    if anchors.kind[k] == BODY:
        first = node_count + 2 * anchors.held[k, 0]
        stiffness_inout[first] += pull / reach
        stiffness_inout[first + 1] += pull * reach


@kernel
def add_pulls(blocks, points, reach, impulse, h, node_count, stiffness_inout):
    """Adds what bodies resist sideways with, h times the impulses (slices, 3, LANES) of the blocks `points` (k,) that
    pull at them over their reach (n,) [m], to the stiffness times h^2 (triples,)."""
    for k in points:
        s, lane = blocks.slice[k], blocks.lane[k]
        square = impulse[s, 0, lane] ** 2 + impulse[s, 1, lane] ** 2 + impulse[s, 2, lane] ** 2
        pull = h * math.sqrt(square)
        _add_pull(blocks.a, k, pull, reach[k], node_count, stiffness_inout)
        _add_pull(blocks.b, k, pull, reach[k], node_count, stiffness_inout)


@kernel
def row_errors(
    start, triples, jacobian, target, compliance, low, high, friction, weight, u, joint_rate, impulse, no_mobility
):
    """Sum of squares of the rows' errors in velocity, over their mobilities: what impulses (slices, 3, LANES) would
    change by in a step towards the rows' answers within their bounds.

    weight (triples, 3): inverse masses; joint_rate (joint slices, 3, LANES): rates of joints that are not linear in u;
    no_mobility: of rows that can move nothing, relative to the largest.
    """
    mobility, rate = np.empty(impulse.shape), np.empty(impulse.shape)
    inverse = np.zeros((weight.shape[0], 6))
    for i in range(weight.shape[0]):
        for c in range(3):
            inverse[i, c] = weight[i, c]
    row_mobilities(start, triples, jacobian, inverse, mobility)
    joints = joint_rate.shape[0]
    row_rates(start[joints:], triples, jacobian, u, rate[joints:])
    largest, total = 0.0, 0.0
    for s in range(impulse.shape[0]):
        for row in range(3):
            for lane in range(LANES):
                largest = max(largest, mobility[s, row, lane])
                if s < joints:
                    rate[s, row, lane] = joint_rate[s, row, lane]
    for s in range(impulse.shape[0]):
        for row in range(3):
            for lane in range(LANES):
                if not mobility[s, row, lane] > no_mobility * largest or (row > 0 and friction[s, lane] != 0.0):
                    continue  # slip is no error
                l = impulse[s, row, lane]
                lacking = target[s, row, lane] - rate[s, row, lane] - compliance[s, row, lane] * l
                wanted = l + lacking / mobility[s, row, lane]
                change = min(max(wanted, low[s, row, lane]), high[s, row, lane]) - l
                total += change * change * mobility[s, row, lane]
    return total
