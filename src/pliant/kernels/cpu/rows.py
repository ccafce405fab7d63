"""Loops over row blocks for the primal form: J^T G J into blocks, J^T into impulses, impulses from velocities."""

import math

import numpy as np

from pliant.formulas.contact import bounded_impulse, cone_impulse
from pliant.formulas.matrix3 import symmetric_multiply_vector
from pliant.jit import kernel
from pliant.kernels.lanes import LANES, load6


@kernel
def add_row_blocks(first, second, place, jacobian, weight, block_index, values_inout):
    """Adds J_i^T G J_j for pairs of entries (first, second) of row blocks at place (slice, lane) to the blocks named.

    weight (slices, 6, LANES) is G, symmetric in Voigt order; a block index k < 0 stands for block -2 - k, stored
    transposed.
    """
    for k in range(first.shape[0]):
        i, j, s, lane = first[k], second[k], place[k, 0], place[k, 1]
        index, g = block_index[k], load6(weight, s, lane)
        for c in range(3):
            column = symmetric_multiply_vector(
                g, (jacobian[j, c, lane], jacobian[j, 3 + c, lane], jacobian[j, 6 + c, lane])
            )
            for r in range(3):
                total = (
                    jacobian[i, r, lane] * column[0]
                    + jacobian[i, 3 + r, lane] * column[1]
                    + jacobian[i, 6 + r, lane] * column[2]
                )
                if index >= 0:
                    values_inout[index, r, c] += total
                else:
                    values_inout[-2 - index, c, r] += total


@kernel
def add_row_impulses(start, triples, jacobian, impulse, out):
    """out (triples, 3) += J^T impulse; impulse (slices, 3, LANES)."""
    add_scaled_impulses(start, triples, jacobian, impulse, 1.0, out)


@kernel
def add_scaled_impulses(start, triples, jacobian, impulse, scale, out):
    """out (triples, 3) += scale J^T impulse; impulse (slices, 3, LANES)."""
    for s in range(start.shape[0] - 1):
        for entry in range(start[s], start[s + 1]):
            for lane in range(LANES):
                l = (scale * impulse[s, 0, lane], scale * impulse[s, 1, lane], scale * impulse[s, 2, lane])
                if l[0] == 0.0 and l[1] == 0.0 and l[2] == 0.0:
                    continue
                triple = triples[entry, lane]
                for c in range(3):
                    own = jacobian[entry, c, lane] * l[0] + jacobian[entry, 3 + c, lane] * l[1]
                    out[triple, c] += own + jacobian[entry, 6 + c, lane] * l[2]


@kernel
def _row_rate(start, triples, jacobian, velocity, s, row, lane):
    """J u of one row."""
    rate = 0.0
    for entry in range(start[s], start[s + 1]):
        triple = triples[entry, lane]
        for c in range(3):
            rate += jacobian[entry, 3 * row + c, lane] * velocity[triple, c]
    return rate


@kernel
def row_rates(start, triples, jacobian, velocity, out):
    """out (slices, 3, LANES) = J u for velocities (triples, 3)."""
    for s in range(start.shape[0] - 1):
        for row in range(3):
            for lane in range(LANES):
                out[s, row, lane] = _row_rate(start, triples, jacobian, velocity, s, row, lane)


@kernel
def row_impulses(start, triples, jacobian, target, weight, velocity, out):
    """out (slices * 3 * LANES,) = W (b - J u): the impulses of eliminated rows."""
    for s in range(start.shape[0] - 1):
        for row in range(3):
            for lane in range(LANES):
                rate = _row_rate(start, triples, jacobian, velocity, s, row, lane)
                out[(s * 3 + row) * LANES + lane] = weight[s, row, lane] * (target[s, row, lane] - rate)


@kernel
def row_response(
    start,
    triples,
    jacobian,
    target,
    low,
    high,
    friction,
    compliance,
    velocity,
    joint_slices,
    joint_rate,
    slip_out,
    impulse_out,
    curvature_out,
):
    """Impulses (slices, 3, LANES) and curvatures G (slices, 6, LANES) of soft rows at a velocity (triples, 3); returns
    the potentials [J] of the joints' rows and of the others (theory section 2, primal form).

    compliance (slices, 3, LANES): R > 0. joint_rate (joint_slices, 3, LANES): rates of the first slices, which are not
    linear in the velocity. slip_out (slices, LANES): tangential speed [m/s] of rough contacts.
    """
    energy, of_joints = 0.0, 0.0
    rate, rest = np.empty(3), np.empty(3)
    for s in range(start.shape[0] - 1):
        if s == joint_slices:
            of_joints, energy = energy, 0.0
        for lane in range(LANES):
            for row in range(3):
                if s < joint_slices:
                    rate[row] = joint_rate[s, row, lane]
                else:
                    rate[row] = _row_rate(start, triples, jacobian, velocity, s, row, lane)
                rest[row] = target[s, row, lane] - rate[row]
            if friction[s, lane] > 0.0:
                normal, tangent = compliance[s, 0, lane], compliance[s, 1, lane]
                y = (rest[0] / normal, rest[1] / tangent, rest[2] / tangent)
                l, g, e = cone_impulse(y, friction[s, lane], normal, tangent)
                for c in range(3):
                    impulse_out[s, c, lane] = l[c]
                for c in range(6):
                    curvature_out[s, c, lane] = g[c]
                slip_out[s, lane] = math.sqrt(rate[1] * rate[1] + rate[2] * rate[2])
                energy += e
                continue
            for row in range(3):
                l, g, e = bounded_impulse(
                    rest[row], 1.0 / compliance[s, row, lane], low[s, row, lane], high[s, row, lane]
                )
                impulse_out[s, row, lane], curvature_out[s, row, lane] = l, g
                energy += e
    if joint_slices == start.shape[0] - 1:
        of_joints, energy = energy, 0.0
    return of_joints, energy
